"""Houdini's plug-in as Houdini runs it, and agents that work there over HTTP."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ImageContent

pytest.importorskip("PySide6.QtWidgets")

import shiboken6
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow

from dcc_bridge import headless, skill
from dcc_bridge.qt.panel import Panel
from dcc_bridge.skills.skill import describe
from tests.hosts.digests import scene_digest
from tests.hosts.fakes.desk import Desk, application, shown
from tests.hosts.fakes.houdini import Houdini
from tests.hosts.fakes.houdini.application import MODULE
from tests.hosts.fakes.houdini.panes import PythonPanel
from tests.hosts.test_houdini import fill
from tests.live import status, text
from tests.printed import nothing_printed
from tests.qt import stage


@pytest.fixture(scope="module")
def app() -> QApplication:
    return application()


@pytest.fixture
def houdini(
    app: QApplication, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Houdini]:
    """A Houdini with its window and its event loop; at its end nothing of ours is left."""
    monkeypatch.setenv("DCC_BRIDGE_RUNTIME", str(tmp_path / "runtime"))
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path / "audit"))
    houdini = Houdini(monkeypatch)
    fill(houdini, tmp_path)
    houdini.window = QMainWindow()
    houdini.window.resize(1000, 700)
    houdini.window.show()
    idle = QTimer()
    idle.timeout.connect(houdini.turn)
    idle.start(10)
    with nothing_printed(monkeypatch):
        yield houdini
        if "dcc_bridge_houdini" in sys.modules:
            sys.modules["dcc_bridge_houdini"].stop()
        idle.stop()
        shiboken6.delete(houdini.window)
    assert shown() == []
    assert (houdini.polled, houdini.posted) == ([], [])


@pytest.fixture
def desk(houdini: Houdini) -> Desk:
    """Somebody at a Houdini that was started, with the bridge in it."""
    houdini.start()
    return Desk(running().bridge)


@pytest.fixture
def hou(houdini: Houdini) -> Any:
    return sys.modules["hou"]


def running() -> Any:
    """Wait until the plug-in runs, and give it."""
    module: Any = import_module("dcc_bridge_houdini")
    stage.until(lambda: module.plug_in().bridge is not None)
    return module.plug_in()


class TestStart:
    @pytest.mark.parametrize("python", ["3.11", "3.13"])
    def test_each_of_houdinis_pythons_finds_its_own_file(
        self, houdini: Houdini, python: str
    ) -> None:
        """uiready.py is read in the folder of the running interpreter only."""
        houdini.start(python)

        assert running().bridge is not None

    def test_both_files_say_the_same(self) -> None:
        """Nobody mends one of them alone."""
        files = sorted(MODULE.glob("python*libs/uiready.py"))

        assert len(files) == 2
        assert files[0].read_bytes() == files[1].read_bytes()
        assert b"__file__" not in files[0].read_bytes()

    def test_it_starts_in_the_next_turn_and_once(self, houdini: Houdini) -> None:
        """hou.ui.postEventCallback: not while Houdini still runs its start scripts."""
        houdini.start()
        houdini.start()
        early = sys.modules["dcc_bridge_houdini"].plug_in().bridge

        bridge = running().bridge
        houdini.turn()

        assert early is None
        assert running().bridge is bridge
        assert len(houdini.polled) == 1

    def test_the_package_file_names_our_folder(self) -> None:
        """$HOUDINI_PACKAGE_PATH is where the file is; the folder beside it is on Houdini's path."""
        told = json.loads((MODULE / "dcc_bridge.json").read_text())

        ours, path = told["env"]
        assert ours == {"DCC_BRIDGE": "$HOUDINI_PACKAGE_PATH/dcc_bridge"}
        assert path["PYTHONPATH"]["value"] == "$DCC_BRIDGE/scripts/python"
        assert (MODULE / "scripts" / "python" / "dcc_bridge_houdini.py").is_file()
        assert told["hpath"] == "$DCC_BRIDGE"


class TestPanel:
    def test_a_pane_that_comes_back_before_the_bridge_says_so(self, houdini: Houdini) -> None:
        """A desktop may open it first; it has words then and not a traceback."""
        early = houdini.open_panel()

        houdini.start()
        running()
        late = houdini.open_panel()

        assert isinstance(early, QLabel)
        assert isinstance(late, Panel)
        shiboken6.delete(early)

    def test_the_shelf_button_opens_one_pane(self, desk: Desk, houdini: Houdini) -> None:
        """Pressed again it brings that one to the front."""
        houdini.press_shelf()
        houdini.press_shelf()

        (pane,) = (tab for tab in houdini.tabs if isinstance(tab, PythonPanel))
        assert (pane.interface, pane.raised) == ("dcc_bridge", 1)


class TestWork:
    def test_consent_in_a_dialog_over_houdinis_window(
        self, desk: Desk, houdini: Houdini, hou: Any
    ) -> None:
        """The agent asks, the person agrees, three are gone; Houdini's undo brings them back."""
        before = scene_digest(desk.host)
        future = desk.go(_delete, desk)

        parent = desk.dialog.parentWidget()
        said = desk.agree()
        desk.until(future.done)

        assert parent is houdini.window
        assert said == "Delete 3 nodes"
        assert future.result().structured_content == {"deleted": 3}
        assert hou.node("/obj/cam0") is None
        assert "Delete nodes" in hou.undos.undoLabels()[0]
        hou.undos.performUndo()
        assert scene_digest(desk.host) == before

    def test_a_refusal_changes_nothing(self, desk: Desk, hou: Any) -> None:
        """Not even the undo stack."""
        before = scene_digest(desk.host)
        future = desk.go(_delete, desk)

        desk.refuse()
        desk.until(future.done)

        assert "said no" in text(future.result()) or "declined" in text(future.result())
        assert scene_digest(desk.host) == before
        assert hou.undos.undoLabels() == ()

    def test_a_scene_that_is_loaded_under_the_question_is_another_one(
        self, desk: Desk, houdini: Houdini, tmp_path: Path
    ) -> None:
        """No reference outlives the load: it is asked again about the nodes that are there."""
        future = desk.go(_delete, desk)
        first = desk.dialog.question.id
        houdini.load(tmp_path / "other.hip")
        desk.agree()

        desk.until(lambda: any(one.question.id != first for one in shown()))
        desk.refuse()
        desk.until(future.done)

        assert status(future.result()) != "done"
        assert len(houdini.scene.children("/obj")) == 5

    def test_what_fails_is_rolled_back(self, desk: Desk, hou: Any) -> None:
        """Half an edit is undone, with Houdini's own undo; what the person did before stays."""

        @skill(risk="edit")
        def half() -> None:
            hou.node("/obj/key").parm("tx").set(3.0)
            hou.node("/obj/cam0").destroy()
            raise RuntimeError("the disk is full")

        hou.node("/obj/key").parm("tx").set(1.0)
        before = scene_digest(desk.host)
        desk.bridge.registry.add(describe(half))

        result = desk.call("half")

        assert "the disk is full" in text(result)
        assert scene_digest(desk.host) == before
        assert hou.undos.undoLabels() == ("Parameter Change",)

    def test_what_cannot_be_done_is_said(self, desk: Desk) -> None:
        """Houdini's own words reach the agent, and nothing changes."""
        before = scene_digest(desk.host)

        locked = desk.call("rename_node", {"node": "/obj/asset/inner", "new_name": "x"})
        wrong = desk.call("set_parameter", {"node": "/obj/key", "name": "tx", "value": "far"})

        assert "cannot be called" in text(locked)
        assert "cannot be set" in text(wrong)
        assert scene_digest(desk.host) == before

    def test_the_skills_read_and_edit(self, desk: Desk, hou: Any) -> None:
        """List, inspect, set and rename, each undone by one undo."""
        listed = desk.call("list_nodes", {"type_name": "cam", "deep": True})
        seen = desk.call("inspect_node", {"node": "/obj/cam0"})
        put = desk.call("set_parameter", {"node": "/obj/key", "name": "tx", "value": 4.0})
        named = desk.call("rename_node", {"node": "/obj/key", "new_name": "rim"})
        for _ in range(2):
            hou.undos.performUndo()

        assert listed.structured_content["found"] == 4
        assert seen.structured_content["parameters"] == {"focal": 50.0}
        assert (put.structured_content["before"], put.structured_content["after"]) == (0.0, 4.0)
        assert named.structured_content["new"] == "/obj/rim"
        assert hou.node("/obj/key").parm("tx").eval() == 0.0

    def test_a_save_keeps_what_it_writes_over(self, desk: Desk, houdini: Houdini, hou: Any) -> None:
        """The person is asked, and the old bytes are kept beside the scene."""
        file = Path(houdini.scene.path)
        old = file.read_bytes()
        hou.node("/obj/key").parm("tx").set(9.0)
        future = desk.go(_save, desk)

        desk.agree()
        desk.until(future.done)

        kept = Path(future.result().structured_content["copy"]) / file.name
        assert kept.read_bytes() == old != file.read_bytes()

    def test_a_flipbook_is_an_image(self, desk: Desk) -> None:
        """The agent sees what the artist sees; the person's own settings stay."""
        (image,) = desk.call("flipbook").content

        assert isinstance(image, ImageContent)
        assert image.mime_type == "image/png"

    def test_a_wake_that_is_lost_is_made_good_by_the_event_loop(
        self, desk: Desk, houdini: Houdini, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """hou.ui.addEventLoopCallback: every 50 ms, whatever became of Qt's event."""
        monkeypatch.setattr(desk.bridge.main, "_wake_host", lambda delay: None)

        result = desk.call("list_nodes")

        assert status(result) == "done"


def test_twenty_stops_leave_nothing_behind(desk: Desk, houdini: Houdini, tmp_path: Path) -> None:
    """Each time its callbacks, its widgets and its place in the list are gone."""
    module: Any = sys.modules["dcc_bridge_houdini"]
    for _ in range(20):
        panel, bridge = houdini.open_panel(), running().bridge
        module.stop()
        assert not shiboken6.isValid(panel)
        assert bridge.stopped.done()
        assert (houdini.polled, list((tmp_path / "runtime").glob("*.json"))) == ([], [])
        module.start_when_ready()
        running()

    assert Desk(running().bridge).call("list_nodes").is_error is False


def test_hython_serves_without_a_ui_and_refuses_what_needs_a_person(
    app: QApplication, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No hou.ui, no hdefereval: a delete is refused, an edit can be undone."""
    monkeypatch.setenv("DCC_BRIDGE_RUNTIME", str(tmp_path / "runtime"))
    monkeypatch.setenv("DCC_BRIDGE_AUDIT", str(tmp_path / "audit"))
    houdini = Houdini(monkeypatch, batch=True)
    fill(houdini, tmp_path)
    houdini.start()
    ends: list[Any] = []

    def ready(bridge: Any) -> None:
        desk = Desk(bridge)
        ends.extend([desk.go(_delete, desk), desk.go(_set, desk)])

    host = import_module("dcc_bridge.hosts.houdini").HoudiniHost()
    skills = [import_module("dcc_bridge_houdini").SKILLS]
    headless.serve(host, skills, lambda: all(end.done() for end in ends), ready)

    refused, edited = (end.result() for end in ends)
    assert houdini.node("/obj/cam0") is not None
    assert status(refused) != "done"
    assert status(edited) == "done"
    assert len(houdini.undos.done) == 1


async def _delete(desk: Desk) -> Any:
    async with desk.client() as session:
        return await session.call_tool("delete_nodes", {"pattern": "cam*"})


async def _save(desk: Desk) -> Any:
    async with desk.client() as session:
        return await session.call_tool("save_scene", {})


async def _set(desk: Desk) -> Any:
    told = {"node": "/obj/key", "name": "tx", "value": 2.0}
    async with desk.client() as session:
        return await session.call_tool("set_parameter", told)
