"""One confirmed deletion in a real USD scene, with a real dialog and real clients of each era."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ElicitResult
from pxr import Sdf
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QScrollBar, QWidget

from dcc_bridge.headless import Pump
from dcc_bridge.qt.presenter import DialogPresenter
from dcc_bridge.qt.question_dialog import QuestionDialog
from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from dcc_bridge_usd.window.main_window import MainWindow
from tests.live import ERAS, AskedFn, Live, Tap, accept, say, status, text
from tests.qt.pump import QtPump
from tests.tiers import sampled

ROOT = Path(__file__).parents[3]
SHOT = ROOT / "resources" / "scenes" / "shot_010_layout.usda"
CAMERAS = {"pattern": "*", "type": "Camera"}
SAYS: dict[str, AskedFn] = {
    "accept": accept(confirm=True),
    "decline": say("decline"),
    "cancel": say("cancel"),
}


def cameras(session: UsdSession) -> int:
    return sum(prim.GetTypeName() == "Camera" for prim in session.stage.Traverse())


@dataclass(frozen=True)
class ServedScene:
    """A host that serves a scene with its own skills."""

    running: Live
    session: UsdSession
    presenter: DialogPresenter | None

    @property
    def dialog(self) -> QuestionDialog:
        self.running.until(self.is_asking)
        assert self.presenter is not None
        return self.presenter.dialogs[0]

    def is_asking(self) -> bool:
        return self.presenter is not None and bool(self.presenter.dialogs)

    def delete(self, era: str = ERAS[-1], tap: Tap | None = None) -> Future[Any]:
        """Have an agent delete the cameras, which could ask its own person."""

        async def agent() -> Any:
            async with self.running.client(era, accept(confirm=True), tap=tap) as client:
                return await client.call_tool("delete", CAMERAS)

        return self.running.go(agent)

    def press(self, action: str, result: Future[Any]) -> Any:
        """Press a button of the dialog once it can be pressed, and give the result of the call."""
        exits = self.dialog.exits
        self.running.until(exits.verb.isEnabled)
        button = {"accept": exits.verb, "decline": exits.decline, "cancel": exits.cancel}[action]
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        self.running.until(result.done)
        return result.result()


@contextmanager
def serving(
    folder: Path, scene: Path | UsdSession, *, window: bool, parent: QWidget | None = None
) -> Iterator[ServedScene]:
    """Serve a scene, in a window or headless; no widget is left behind."""
    session = scene if isinstance(scene, UsdSession) else UsdSession(scene, has_ui=window)
    pump = QtPump() if window else Pump()
    presenter = DialogPresenter(pump.main, session, lambda: parent) if window else None
    running = Live(folder, host=session, presenter=presenter, pump=pump, operations=operations)
    uninstall = install(session)
    try:
        yield ServedScene(running, session, presenter)
    finally:
        running.stop()
        if presenter is not None:
            assert isinstance(pump, QtPump)
            presenter.close()
            pump.loop.close()
        uninstall()


# Every word of every column is tried always, every combination in the long run.
every_answer = pytest.mark.parametrize(
    ("era", "action"),
    sampled(
        [
            (ERAS[0], "cancel"),
            (ERAS[1], "decline"),
            (ERAS[1], "accept"),
            (ERAS[2], "decline"),
            (ERAS[2], "accept"),
        ],
        *(ERAS, SAYS),
    ),
)


@pytest.mark.core
@every_answer
def test_the_dialog_decides(app: QApplication, tmp_path: Path, era: str, action: str) -> None:
    tap = Tap()
    with serving(tmp_path, SHOT, window=True) as served:
        session = served.session
        before = session.scene_digest()
        count = cameras(session)
        result = served.delete(era, tap)
        assert served.dialog
        asked_before_any_edit = session.scene_digest() == before
        ended = served.press(action, result)
        left = cameras(session)
        if action == "accept":
            session.undo()

    assert count > 0
    assert asked_before_any_edit
    assert left == (0 if action == "accept" else count)
    assert status(ended) == ("done" if action == "accept" else "refused")
    assert session.scene_digest() == before
    assert session.undo_labels == []
    assert b"elicitation/create" not in tap.heard


def test_why_the_person_declined_reaches_the_agent(app: QApplication, tmp_path: Path) -> None:
    with serving(tmp_path, SHOT, window=True) as served:
        result = served.delete()
        exits = served.dialog.exits
        exits.with_reason.trigger()
        QTest.keyClicks(exits.reason, "they are in the client's edit")
        QTest.keyClick(exits.reason, Qt.Key.Key_Return)
        served.running.until(result.done)

    why = "they are in the client's edit"
    assert why in text(result.result())
    assert status(result.result()) == "refused"


@every_answer
def test_the_client_decides_where_nobody_is_at_the_host(
    app: QApplication, tmp_path: Path, era: str, action: str
) -> None:
    asked = []

    def person(params: Any) -> Any:
        asked.append(params.message)
        answer = SAYS[action](params)
        assert isinstance(answer, ElicitResult)
        return answer

    with serving(tmp_path, SHOT, window=False) as served:
        session = served.session
        before = session.scene_digest()
        count = cameras(session)
        result = served.running.call("delete", CAMERAS, era=era, asked=person)
        left = cameras(session)
        steps = len(session.undo_labels)
        if action == "accept":
            session.undo()

    assert len(asked) == 1
    assert asked[0].startswith(f"Delete {count} camera")
    assert left == (0 if action == "accept" else count)
    assert steps == (1 if action == "accept" else 0)
    assert status(result) == ("done" if action == "accept" else "refused")
    assert session.scene_digest() == before


@pytest.mark.parametrize("era", sampled(ERAS[1:], ERAS))
def test_nothing_is_deleted_where_there_is_nobody(
    app: QApplication, tmp_path: Path, era: str
) -> None:
    tap = Tap()
    with serving(tmp_path, SHOT, window=False) as served:
        before = served.session.scene_digest()
        result = served.running.call("delete", CAMERAS, era=era, tap=tap)

    assert served.session.scene_digest() == before
    assert "Nobody could be asked" in text(result)
    assert status(result) == "refused"
    assert b"elicitation/create" not in tap.heard


def test_the_host_stays_alive_while_its_dialog_is_open(app: QApplication, tmp_path: Path) -> None:
    with serving(tmp_path, SHOT, window=True) as served:
        result = served.delete()
        assert served.dialog
        every = {"type": "Camera", "limit": 500}
        listed = served.running.call("list_items", every, label="second")
        still_open = served.is_asking() and not result.done()
        with served.session.undo_step("The artist goes on working"):
            Sdf.CreatePrimInLayer(served.session.stage.GetRootLayer(), "/World/Note")
        ended = served.press("accept", result)
        labels = served.session.undo_labels

    assert listed.structured_content is not None
    assert listed.structured_content["listed"] == 127
    assert still_open
    assert status(ended) == "done"
    assert labels[0] == "The artist goes on working"
    assert labels[1].startswith("Delete")


def test_the_viewport_can_be_orbited_and_the_outliner_scrolled_meanwhile(
    window: MainWindow, tmp_path: Path
) -> None:
    viewport = window.viewport
    with serving(tmp_path, window.session, window=True, parent=window) as served:
        result = served.delete()
        dialog = served.dialog
        before = viewport.grab().toImage()
        QTest.mousePress(viewport, Qt.MouseButton.LeftButton, pos=QPoint(200, 200))
        QTest.mouseMove(viewport, QPoint(320, 260))
        QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=QPoint(320, 260))
        bar = window.outliner.findChildren(QScrollBar)[0]
        bar.setValue(bar.maximum())
        served.running.until(lambda: viewport.grab().toImage() != before)
        open_meanwhile = dialog.isVisible() and not dialog.isModal()
        ended = served.press("cancel", result)

    assert open_meanwhile
    assert status(ended) == "refused"
