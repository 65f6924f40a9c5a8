"""Houdini's plug-in as Houdini runs it, and agents that work there over HTTP."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets")

import shiboken6
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow

from dcc_bridge.cli import leaves
from dcc_bridge.qt.panel.panel import Panel
from tests.hosts.fakes.houdini import Houdini
from tests.hosts.fakes.houdini.application import MODULE
from tests.hosts.fakes.houdini.panes import PythonPanel
from tests.hosts.fakes.live_application import LiveApplication, application, shown
from tests.hosts.plugin_contract import PlugInContract, Seat
from tests.houdini.test_host import fill
from tests.live import status
from tests.printed import nothing_printed
from tests.qt import stage

PACKAGE = "dcc_bridge_houdini"


@pytest.fixture(scope="module")
def app() -> QApplication:
    return application()


@pytest.fixture
def houdini(app: QApplication, monkeypatch: pytest.MonkeyPatch, folders: Path) -> Iterator[Houdini]:
    """A Houdini with its window and its event loop; at its end nothing of ours is left."""
    houdini = Houdini(monkeypatch)
    fill(houdini, folders)
    houdini.window = QMainWindow()
    houdini.window.resize(1000, 700)
    houdini.window.show()
    idle = QTimer()
    idle.timeout.connect(houdini.turn)
    idle.start(10)
    with nothing_printed(monkeypatch):
        yield houdini
        if "dcc_bridge_houdini.plugin" in sys.modules:
            sys.modules["dcc_bridge_houdini.plugin"].stop()
        idle.stop()
        shiboken6.delete(houdini.window)
    assert shown() == []
    assert houdini.polled == []
    assert houdini.posted == []


@pytest.fixture
def live(houdini: Houdini) -> LiveApplication:
    """Somebody at a Houdini that was started, with the bridge in it."""
    houdini.start()
    return LiveApplication(running().bridge)


@pytest.fixture
def hou(houdini: Houdini) -> Any:
    return sys.modules["hou"]


def running() -> Any:
    """Wait until the plug-in runs, and give it."""
    module: Any = import_module("dcc_bridge_houdini.plugin")
    stage.until(lambda: module.plug_in().bridge is not None)
    return module.plug_in()


class TestPlugIn(PlugInContract):
    """What it promises as every plug-in does."""

    MODULE = "dcc_bridge_houdini.plugin"
    DELETE = ("delete", {"pattern": "cam*", "type": "cam"})
    VERB = AGAIN = "Delete 3 cams"
    EDIT = ("set_values", {"items": ["/obj/key"], "values": {"tx": 2.0}})

    @pytest.fixture
    def seat(self, live: LiveApplication, houdini: Houdini, hou: Any) -> Seat:
        module: Any = sys.modules["dcc_bridge_houdini.plugin"]
        tx = hou.node("/obj/key").parm("tx")
        assert houdini.window is not None

        def restart() -> LiveApplication:
            module.stop()
            assert houdini.polled == []
            module.start_when_ready()
            return LiveApplication(running().bridge)

        return Seat(
            live,
            houdini.window,
            Path(houdini.scene.path),
            lambda: tx.set(tx.eval() + 1.0),
            hou.undos.performUndo,
            houdini.open_panel,
            restart,
            lambda: houdini.load(Path("other.hip")),  # no reference to a node outlives it
            lambda: hou.hipFile.clear(suppress_save_prompt=True),
            "begin a new scene. Nobody approved this, but Houdini cannot refuse it",
        )

    @pytest.fixture
    def batch(
        self, app: QApplication, monkeypatch: pytest.MonkeyPatch, folders: Path
    ) -> tuple[Any, Any]:
        """Give hython: no hou.ui, no hdefereval."""
        houdini = Houdini(monkeypatch, batch=True)
        fill(houdini, folders)
        houdini.start()
        operations = import_module("dcc_bridge_houdini.operations").operations
        return import_module("dcc_bridge_houdini.host").HoudiniHost(), operations


class TestStart:
    @pytest.mark.parametrize("python", ["3.11", "3.13"])
    def test_each_of_houdinis_pythons_finds_its_own_file(
        self, houdini: Houdini, python: str
    ) -> None:
        """uiready.py is read in the folder of the running interpreter only."""
        houdini.start(python)

        assert running().bridge is not None

    def test_both_files_say_the_same(self) -> None:
        files = sorted(MODULE.glob("python*libs/uiready.py"))

        assert len(files) == 2
        assert files[0].read_bytes() == files[1].read_bytes()
        assert b"__file__" not in files[0].read_bytes()

    def test_it_starts_in_the_next_turn_and_once(self, houdini: Houdini) -> None:
        """hou.ui.postEventCallback: not while Houdini still runs its start scripts."""
        houdini.start()
        houdini.start()
        early = sys.modules["dcc_bridge_houdini.plugin"].plug_in().bridge

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
        assert leaves.targets()["houdini"].sources[-1] == (PACKAGE, f"scripts/python/{PACKAGE}")
        assert (MODULE / PACKAGE / "plugin.py").is_file()
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

    def test_the_shelf_button_opens_one_pane_and_brings_it_to_the_front(
        self, live: LiveApplication, houdini: Houdini
    ) -> None:
        houdini.press_shelf()
        houdini.press_shelf()

        (pane,) = (tab for tab in houdini.tabs if isinstance(tab, PythonPanel))
        assert pane.interface == "dcc_bridge"
        assert pane.raised == 1


class TestWork:
    def test_a_wake_that_is_lost_is_made_good_by_the_event_loop(
        self, live: LiveApplication, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """hou.ui.addEventLoopCallback: every 50 ms, whatever became of Qt's event."""
        monkeypatch.setattr(live.bridge.main, "_wake_host", lambda delay: None)

        result = live.call("list_items")

        assert status(result) == "done"
