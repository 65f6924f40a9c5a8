"""Maya's plug-in as Maya's loader runs it, and agents that work there over HTTP."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PySide6.QtWidgets")

import shiboken6
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from dcc_bridge import skill
from dcc_bridge.qt.panel.panel import Panel
from dcc_bridge.skills.skill import describe
from tests.hosts.digests import scene_digest
from tests.hosts.fakes.live_application import LiveApplication, application, shown
from tests.hosts.fakes.maya import Maya
from tests.hosts.fakes.maya.application import MODULE
from tests.hosts.fakes.maya.shots import fill
from tests.hosts.fakes.maya.windows import Windows
from tests.hosts.plugin_contract import PlugInContract, Seat, call_skill
from tests.live import status, text
from tests.printed import nothing_printed
from tests.qt import stage

PLUG_IN = "dcc_bridge_plugin"


@pytest.fixture(scope="module")
def app() -> QApplication:
    return application()


@pytest.fixture
def maya(app: QApplication, monkeypatch: pytest.MonkeyPatch, folders: Path) -> Iterator[Maya]:
    """A Maya without its window yet, with idle events; at its end nothing of ours is left."""
    maya = Maya(monkeypatch)
    fill(maya, folders)
    idle = QTimer()
    idle.timeout.connect(maya.turn)
    idle.start(2)
    with nothing_printed(monkeypatch):
        yield maya
        idle.stop()
        maya.exit()
        if maya.windows is not None:
            maya.windows.close()
    assert shown() == []


@pytest.fixture
def live(maya: Maya) -> LiveApplication:
    """Somebody at a Maya that was started, with the bridge in it."""
    maya.run_user_setup()
    maya.show(Windows())
    return LiveApplication(running().bridge)


def running() -> Any:
    """Wait until the plug-in runs, and give it."""
    stage.until(lambda: plug_in().bridge is not None)
    return plug_in()


def kept() -> str:
    """Give the script that Maya keeps in a workspace."""
    script: str = import_module("dcc_bridge_maya.plugin")._FILL_SCRIPT
    return script


def plug_in() -> Any:
    return import_module("dcc_bridge_maya.plugin").plug_in()


class TestPlugIn(PlugInContract):
    """What it promises as every plug-in does."""

    MODULE = "dcc_bridge_maya.plugin"
    DELETE = ("delete", {"pattern": "shot_0*", "type": "camera", "under": "|cameras"})
    VERB = "Delete 3 cameras"
    AGAIN = "Delete 2 cameras"
    EDIT = ("set_values", {"items": ["key"], "values": {"translateX": 2.0}})

    @pytest.fixture
    def seat(self, live: LiveApplication, maya: Maya, cmds: Any) -> Seat:
        windows = maya.windows
        assert windows is not None

        def show_panel() -> QWidget:
            sys.modules["dcc_bridge_maya.plugin"].show_panel()
            return windows.controls["dccBridgePanel"].findChildren(Panel)[0]

        def restart() -> LiveApplication:
            cmds.unloadPlugin(PLUG_IN)
            assert maya.heard_by == {}
            assert windows.shelves == {}
            assert windows.controls == {}
            cmds.loadPlugin(PLUG_IN)
            return LiveApplication(running().bridge)

        return Seat(
            live,
            windows.main,
            Path(maya.scene.name),
            lambda: cmds.setAttr("key.translateX", cmds.getAttr("key.translateX") + 1.0),
            cmds.undo,
            show_panel,
            restart,
            lambda: cmds.delete("|cameras|shot_000"),
            lambda: cmds.file(new=True, force=True),
            "wanted to begin a new scene in place of shot.ma",
        )

    @pytest.fixture
    def batch(
        self, app: QApplication, monkeypatch: pytest.MonkeyPatch, folders: Path
    ) -> tuple[Any, Any]:
        """Give mayapy: no idle events, undo off at first."""
        maya = Maya(monkeypatch, batch=True)
        fill(maya, folders)
        maya.run_user_setup()
        assert maya.loaded == {}
        operations = import_module("dcc_bridge_maya.operations").operations
        return import_module("dcc_bridge_maya.host").MayaHost(), operations


class TestStart:
    def test_it_waits_for_the_window(self, maya: Maya) -> None:
        """UserSetup and the plug-in's own start run before it; the server starts when it is up."""
        maya.run_user_setup()
        stage.until(lambda: PLUG_IN in maya.loaded)
        for _ in range(5):
            maya.turn()
        early = plug_in().bridge

        maya.show(Windows())

        assert early is None
        assert running().bridge is not None
        assert maya.vendors == [("dcc_bridge", "0.1.0")]

    def test_nothing_starts_while_the_plug_in_initializes(self, maya: Maya) -> None:
        """By then Maya may wait for the plug-in, and the plug-in for Maya."""
        maya.show(Windows())

        maya.loadPlugin(PLUG_IN)

        assert plug_in().bridge is None
        running()

    def test_it_waits_for_a_modal_dialog_at_the_start(self, maya: Maya) -> None:
        """A dialog that is open at the start holds idle events back; then it goes on."""
        maya.show(Windows())
        assert maya.windows is not None
        modal = QDialog(maya.windows.main)
        modal.setModal(True)
        modal.show()
        maya.loadPlugin(PLUG_IN)
        stage.until(lambda: maya.windows is not None and maya.windows.is_modal)
        maya.turn()
        held = plug_in().bridge is None

        modal.close()

        assert held
        running()
        shiboken6.delete(modal)

    def test_agents_find_it_as_maya_with_its_scene(self, live: LiveApplication) -> None:
        assert live.bridge.instance.host == "Maya"
        assert live.bridge.instance.scene == "shot.ma"


class TestPanel:
    def test_a_workspace_that_comes_back_before_the_plug_in_is_filled_later(
        self, maya: Maya
    ) -> None:
        """workspaceControl: Maya runs its script at the start, before any plug-in."""
        maya.run_user_setup()
        maya.show(Windows({sys.modules["dcc_bridge_maya.plugin"].PANEL: kept()}))
        assert maya.windows is not None
        empty = maya.windows.controls["dccBridgePanel"].findChildren(Panel)

        running()

        filled = maya.windows.controls["dccBridgePanel"].findChildren(Panel)
        assert empty == []
        assert len(filled) == 1

    def test_a_workspace_that_comes_back_after_an_uninstall_stays_empty(
        self, maya: Maya, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The script that Maya keeps outlives what it imports; Maya's start has no traceback."""
        script = kept()
        monkeypatch.delitem(sys.modules, "dcc_bridge_maya")
        monkeypatch.setattr(
            sys, "path", [folder for folder in sys.path if str(MODULE) not in folder]
        )

        maya.show(Windows({"dccBridgePanel": script}))

        assert maya.windows is not None
        assert not maya.windows.controls["dccBridgePanel"].findChildren(Panel)

    def test_the_shelf_button_shows_one_panel_docked(
        self, live: LiveApplication, maya: Maya
    ) -> None:
        assert maya.windows is not None
        (command,) = maya.windows.shelves["Agents"]

        for _ in range(2):
            exec(command, {"__name__": "__main__"})

        (panel,) = maya.windows.main.findChildren(Panel)
        assert panel.parentWidget() is maya.windows.controls["dccBridgePanel"]


class TestEnd:
    def test_exit_without_an_unload_stops_it(self, live: LiveApplication, maya: Maya) -> None:
        """On exit plug-ins are not unloaded; kMayaExiting is what we are told."""
        bridge = live.bridge
        sys.modules["dcc_bridge_maya.plugin"].show_panel()

        maya.exit()
        maya.exit()

        assert maya.windows is not None
        assert maya.windows.main.findChildren(Panel) == []
        assert bridge.stopped.done()
        assert PLUG_IN in maya.loaded

    def test_an_open_question_ends_with_maya(self, live: LiveApplication, maya: Maya) -> None:
        before = scene_digest(live.host)
        future = live.go(call_skill, live, TestPlugIn.DELETE)
        live.until(lambda: bool(shown()))

        maya.exit()

        live.until(future.done)
        assert shown() == []
        assert scene_digest(live.host) == before


class TestWork:
    def test_maya_goes_on_while_the_question_waits(self, live: LiveApplication, maya: Maya) -> None:
        """Its idle events come, and another agent reads, in the middle of the first one's skill."""
        future = live.go(call_skill, live, TestPlugIn.DELETE)
        live.until(lambda: bool(shown()))
        turned: list[str] = []
        maya.executeDeferred(turned.append, "idle")

        listed = live.call("list_items")

        assert listed.structured_content is not None
        assert listed.structured_content["found"] == 8
        assert turned == ["idle"]
        assert not future.done()
        live.refuse()
        live.until(future.done)

    def test_a_skill_that_leaves_undo_off_is_told_what_became_of_the_undo_list(
        self, live: LiveApplication, cmds: Any
    ) -> None:
        """Not that it undid what others had done: the list was emptied, as it is unsafe now."""

        @skill(risk="edit")
        def careless() -> None:
            cmds.undoInfo(stateWithoutFlush=False)
            cmds.delete("|cameras|shot_000")

        cmds.setAttr("key.translateX", 1.0)
        live.bridge.registry.add(describe(careless))

        result = live.call("careless")

        assert "its undo list was emptied" in text(result)

    def test_a_modal_dialog_of_mayas_holds_the_work_back(
        self, live: LiveApplication, maya: Maya
    ) -> None:
        """Qt's events come all the same; an edit in the middle of somebody's dialog does not."""
        assert maya.windows is not None
        modal = QDialog(maya.windows.main)
        modal.setModal(True)
        modal.show()
        future = live.go(call_skill, live, TestPlugIn.EDIT)
        live.until(lambda: live.bridge.main.waiting > 0)
        held = not future.done()

        modal.close()
        live.until(future.done)

        assert held
        assert status(future.result()) == "done"
        shiboken6.delete(modal)


def test_no_file_says_where_it_is_and_none_hides_the_package() -> None:
    """Maya runs userSetup and plug-ins without ``__file__``, and puts their folder on the path."""
    names = {file.stem for file in (MODULE / "plug-ins").glob("*.py")}
    names |= {file.stem for file in (MODULE / "scripts").glob("*.py")}

    assert "dcc_bridge" not in names
    for file in ((MODULE / "plug-ins") / "dcc_bridge_plugin.py", MODULE / "scripts/userSetup.py"):
        assert "__file__" not in file.read_text()


def test_the_version_is_the_packages() -> None:
    version = tomllib.loads((MODULE.parents[1] / "pyproject.toml").read_text())["project"][
        "version"
    ]

    assert (MODULE / "dcc_bridge.mod").read_text().count(f"dcc_bridge {version} ") == 6
    assert f'"{version}"' in (MODULE / "plug-ins" / "dcc_bridge_plugin.py").read_text()


def test_the_module_file_names_a_folder_for_each_year_and_platform() -> None:
    """MAYA_MODULE_PATH: one stanza each, with the vendored packages of that Maya's Python."""
    lines = (MODULE / "dcc_bridge.mod").read_text().splitlines()
    stanzas = [line.split()[1:3] for line in lines if line.startswith("+")]
    vendored = [line.partition(":=")[2] for line in lines if line.startswith("PYTHONPATH+")]

    platforms = ("linux", "win64", "mac")
    years = ("2025", "2026")
    assert stanzas == [[f"MAYAVERSION:{y}", f"PLATFORM:{p}"] for y in years for p in platforms]
    assert vendored == [f"vendor/py311-{p}" for _ in years for p in platforms]
    assert lines.count("scripts: scripts") == len(stanzas)  # the space matters
