"""One confirmed deletion in a real USD scene, with a real dialog and real clients of each era."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ElicitResult
from pxr import Sdf, Usd, UsdGeom
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollBar, QWidget

from dcc_bridge.config import data_folder
from dcc_bridge.headless import Pump
from dcc_bridge.hosts.standalone import UsdSession, install
from dcc_bridge.qt.presenter import DialogPresenter
from dcc_standalone.window import MainWindow
from tests.live import ERAS, AskedFn, Live, Tap, accept, say, status
from tests.qt.pump import QtPump

ROOT = Path(__file__).parents[2]
SHOT = ROOT / "resources" / "scenes" / "shot_010_layout.usda"
SAYS: dict[str, AskedFn] = {
    "accept": accept(confirm=True),
    "decline": say("decline"),
    "cancel": say("cancel"),
}


def generated(folder: Path) -> Path:
    """Make a scene with a random number of cameras."""
    file = folder / "generated.usda"
    stage = Usd.Stage.CreateNew(str(file))
    for number in range(random.randint(1, 300)):
        UsdGeom.Camera.Define(stage, f"/World/Rig_{number % 7}/cam_{number:03}")
    UsdGeom.Cube.Define(stage, "/World/Set/box")
    stage.Save()
    return file


def cameras(session: UsdSession) -> int:
    """Count the cameras of a scene."""
    return sum(prim.GetTypeName() == "Camera" for prim in session.stage.Traverse())


def open_host(
    tmp_path: Path, scene: Path | UsdSession, *, window: bool, parent: QWidget | None = None
) -> tuple[Live, UsdSession, Any]:
    """Start a host on a scene, in a window or headless, with the standalone host's own skills."""
    session = scene if isinstance(scene, UsdSession) else UsdSession(scene, has_ui=window)
    pump = QtPump() if window else Pump()
    presenter = DialogPresenter(pump.main, session, lambda: parent) if window else None
    skills = [data_folder("plugins") / "standalone" / "skills"]
    running = Live(tmp_path, host=session, presenter=presenter, pump=pump, skills=skills)
    return running, session, presenter


def press(presenter: DialogPresenter, action: str) -> None:
    """Press a button of the dialog, as a person does: once it can be pressed."""
    exits = presenter.dialogs[0].exits
    button = {"accept": exits.verb, "decline": exits.decline, "cancel": exits.cancel}[action]
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def close(running: Live, presenter: DialogPresenter | None) -> None:
    """Stop the host, and leave no widget behind."""
    running.stop()
    if presenter is not None:
        assert isinstance(running.pump, QtPump)
        presenter.close()
        running.pump.loop.close()


@pytest.fixture(params=["bundled", "generated"])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return SHOT if request.param == "bundled" else generated(tmp_path)


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
@pytest.mark.parametrize("era", ERAS)
def test_the_dialog_decides(
    app: QApplication, tmp_path: Path, scene: Path, era: str, action: str
) -> None:
    running, session, presenter = open_host(tmp_path, scene, window=True)
    uninstall = install(session)
    before, count, tap = session.scene_digest(), cameras(session), Tap()

    async def agent() -> Any:
        async with running.client(era, accept(confirm=True), tap=tap) as client:
            return await client.call_tool("delete_prims", {})

    result = running.go(agent)
    running.until(lambda: bool(presenter.dialogs))
    asked_before_any_edit = session.scene_digest() == before
    running.until(presenter.dialogs[0].exits.verb.isEnabled)
    press(presenter, action)
    running.until(result.done)
    left = cameras(session)
    if action == "accept":
        session.undo()
    close(running, presenter)
    uninstall()

    assert count > 0
    assert asked_before_any_edit
    assert left == (0 if action == "accept" else count)
    assert status(result.result()) == ("done" if action == "accept" else "refused")
    assert session.scene_digest() == before
    assert session.undo_labels == []
    assert b"elicitation/create" not in tap.heard


def test_why_the_person_declined_reaches_the_agent(app: QApplication, tmp_path: Path) -> None:
    running, session, presenter = open_host(tmp_path, SHOT, window=True)
    uninstall = install(session)

    async def agent() -> Any:
        async with running.client() as client:
            return await client.call_tool("delete_prims", {})

    result = running.go(agent)
    running.until(lambda: bool(presenter.dialogs))
    exits = presenter.dialogs[0].exits
    QTest.mouseClick(exits.with_reason, Qt.MouseButton.LeftButton)
    QTest.keyClicks(exits.reason, "they are in the client's edit")
    QTest.keyClick(exits.reason, Qt.Key.Key_Return)
    running.until(result.done)
    close(running, presenter)
    uninstall()

    why = 'The person said no. They gave this reason: "they are in the client\'s edit".'
    assert result.result().structured_content == {"deleted": 0, "why": why}
    assert status(result.result()) == "refused"


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
@pytest.mark.parametrize("era", ERAS)
def test_the_client_decides_where_nobody_is_at_the_host(
    app: QApplication, tmp_path: Path, scene: Path, era: str, action: str
) -> None:
    running, session, _ = open_host(tmp_path, scene, window=False)
    uninstall = install(session)
    before, count, asked = session.scene_digest(), cameras(session), []

    def person(params: Any) -> Any:
        asked.append(params.message)
        said = SAYS[action](params)
        assert isinstance(said, ElicitResult)
        return said

    result = running.call("delete_prims", era=era, asked=person)
    left, steps = cameras(session), len(session.undo_labels)
    if action == "accept":
        session.undo()
    close(running, None)
    uninstall()

    assert len(asked) == 1
    assert asked[0].startswith(f"Delete {count} camera")
    assert left == (0 if action == "accept" else count)
    assert steps == (1 if action == "accept" else 0)
    assert status(result) == ("done" if action == "accept" else "refused")
    assert session.scene_digest() == before


@pytest.mark.parametrize("era", ERAS)
def test_nothing_is_deleted_where_there_is_nobody(
    app: QApplication, tmp_path: Path, scene: Path, era: str
) -> None:
    running, session, _ = open_host(tmp_path, scene, window=False)
    uninstall = install(session)
    before, tap = session.scene_digest(), Tap()

    result = running.call("delete_prims", era=era, tap=tap)
    close(running, None)
    uninstall()

    assert session.scene_digest() == before
    assert status(result) == "refused"
    assert b"elicitation/create" not in tap.heard


def test_the_host_stays_alive_while_its_dialog_is_open(app: QApplication, tmp_path: Path) -> None:
    running, session, presenter = open_host(tmp_path, SHOT, window=True)
    uninstall = install(session)

    async def delete() -> Any:
        async with running.client() as client:
            return await client.call_tool("delete_prims", {})

    result = running.go(delete)
    running.until(lambda: bool(presenter.dialogs))
    listed = running.call("list_prims", {"type_name": "Camera", "limit": 500}, label="second")
    still_open = bool(presenter.dialogs) and not result.done()
    with session.undo_step("The artist goes on working"):
        Sdf.CreatePrimInLayer(session.stage.GetRootLayer(), "/World/Note")
    running.until(presenter.dialogs[0].exits.verb.isEnabled)
    press(presenter, "accept")
    running.until(result.done)
    labels = session.undo_labels
    close(running, presenter)
    uninstall()

    assert listed.structured_content is not None
    assert len(listed.structured_content["prims"]) == 127
    assert still_open
    assert status(result.result()) == "done"
    assert labels[0] == "The artist goes on working"
    assert labels[1].startswith("Delete prims")


def test_the_viewport_can_be_orbited_and_the_outliner_scrolled_meanwhile(
    window: MainWindow, tmp_path: Path
) -> None:
    running, session, presenter = open_host(tmp_path, window.session, window=True, parent=window)
    uninstall = install(session)

    async def delete() -> Any:
        async with running.client() as client:
            return await client.call_tool("delete_prims", {})

    result = running.go(delete)
    running.until(lambda: bool(presenter.dialogs))
    before = window.viewport.grab().toImage()
    QTest.mousePress(window.viewport, Qt.MouseButton.LeftButton, pos=QPoint(200, 200))
    QTest.mouseMove(window.viewport, QPoint(320, 260))
    QTest.mouseRelease(window.viewport, Qt.MouseButton.LeftButton, pos=QPoint(320, 260))
    bar = window.outliner.findChildren(QScrollBar)[0]
    bar.setValue(bar.maximum())
    running.until(lambda: window.viewport.grab().toImage() != before)
    open_meanwhile = presenter.dialogs[0].isVisible() and not presenter.dialogs[0].isModal()
    press(presenter, "cancel")
    running.until(result.done)
    close(running, presenter)
    uninstall()

    assert open_meanwhile
    assert status(result.result()) == "refused"
