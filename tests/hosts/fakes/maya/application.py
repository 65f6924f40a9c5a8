"""The stand-in itself: its start, its idle events, its windows, its plug-ins, its end."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.hosts.fakes.maya import api
from tests.hosts.fakes.maya.commands import Commands
from tests.hosts.fakes.maya.scene import Node, Scene, Undo
from tests.hosts.fakes.maya.views import PERSONS

if TYPE_CHECKING:
    from tests.hosts.fakes.maya.windows import Windows

MODULE = Path(__file__).parents[4] / "plugins" / "maya"
OURS = "dcc_bridge_maya"


class Maya:
    """A Maya session."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, batch: bool = False) -> None:
        self.batch = batch  # it is mayapy: no window, no idle events, undo off
        self.scene = Scene()  # its nodes
        self.undo = Undo(self.scene, self.fire, self.fire_node, on=not batch)  # its undo queue
        self.framed: list[str] = []  # what the view was fitted to last
        # What listens, by its number.
        self.heard_by: dict[int, tuple[str, Callable[..., object]]] = {}
        self.idle: list[Callable[[], object]] = []  # what waits for an idle event
        self.loaded: dict[str, dict[str, Any]] = {}  # the plug-ins
        self.vendors: list[tuple[str, str]] = []  # who registered a plug-in, in which version
        self.windows: Windows | None = None  # what there is to see; None in batch
        # The files that are referenced, each with its reference node.
        self.references: dict[str, str] = {}
        # What is read and written, by the plug-ins that are loaded.
        self.translators: dict[str, tuple[tuple[str, ...], str]] = {
            "mayaAscii": (("readSupport", "writeSupport"), "*.ma"),
            "OBJ": (("readSupport",), "*.obj"),
            "OBJexport": (("writeSupport",), "*.obj"),
            "FBX export": (("writeSupport",), "*.fbx"),
            "image": (("readSupport",), "*.*"),
        }
        # The views, with what was set of each.
        self.panels: dict[str, dict[str, Any]] = {PERSONS: {"camera": "persp"}}
        self.focus = PERSONS  # the panel that has it
        self.drawn: list[dict[str, Any]] = []  # what playblasts were made of
        self._numbers = itertools.count(1)
        self.undo.tell_edits = self._edits
        self._install(monkeypatch)

    # ---- what happens in it

    def run_user_setup(self) -> None:
        """Run ``userSetup.py`` as Maya does: before its window, and without a ``__file__``."""
        self._run(MODULE / "scripts" / "userSetup.py", "__main__")

    def show(self, windows: Windows) -> None:
        """Bring the window up; the workspace is restored before any plug-in that is deferred."""
        self.windows = windows
        windows.restore()

    def turn(self) -> None:
        """Have an idle event. In batch there is none; a modal dialog holds it back."""
        if self.batch or (self.windows is not None and self.windows.is_modal):
            return
        waiting, self.idle = self.idle, []
        for one in waiting:
            one()

    def exit(self) -> None:
        """Exit by the menu: it is told, and no plug-in is unloaded."""
        self.fire("exiting")

    def fire(self, event: str, *told: object) -> None:
        for wanted, fn in list(self.heard_by.values()):
            if wanted == event:
                fn(*told, None)

    def fire_link(self, made: bool, source: tuple[Node, str], target: tuple[Node, str]) -> None:
        """Tell of a connection: `MDGMessage.addConnectionCallback`, made or broken."""
        self.fire("connection", api.Plug(self, *source), api.Plug(self, *target), made)

    def fire_node(self, event: str, node: Node) -> None:
        self.fire(event, api.ObjectOfNode(self, node))

    def _edits(self) -> Callable[[], None]:
        """Tell of what is set."""
        heard = {event for event, _ in self.heard_by.values()}
        nodes = [it for it in self.scene.nodes.values() if f"attribute of {it.uuid}" in heard]
        before = [(it, dict(it.values)) for it in nodes]

        def tell() -> None:
            for node, values in before:
                plug = SimpleNamespace(node=lambda node=node: api.ObjectOfNode(self, node))
                event = f"attribute of {node.uuid}"
                if node.values != values:
                    self.fire(event, 0x8, plug, plug)

        return tell

    def may(self, event: str, *told: object) -> bool:
        """Ask who listens for a check; one False is enough. An exception is only printed."""
        answers = []
        for wanted, fn in list(self.heard_by.values()):
            try:
                answers += [fn(*told, None)] if wanted == event else []
            except Exception as error:  # noqa: BLE001 - whatever a callback raises
                print(error)
        return all(answers)

    def listen(self, event: str, fn: Callable[..., object]) -> int:
        number = next(self._numbers)
        self.heard_by[number] = (event, fn)
        return number

    # ---- its modules

    def evalDeferred(self, fn: Callable[[], object], lowestPriority: bool = False) -> None:
        """Wait for an idle event; what is deferred in batch never runs."""
        self.idle.append(fn)

    def executeDeferred(self, fn: Callable[..., object], *args: Any) -> None:
        """Wait for an idle event; may be called on any thread."""
        self.idle.append(lambda: fn(*args))

    def loadPlugin(self, name: str, quiet: bool = False) -> list[str]:
        """Load a plug-in's file, without a ``__file__``."""
        names = self._run(MODULE / "plug-ins" / f"{name}.py", name)
        assert "maya_useNewAPI" in names, "Maya would give it the objects of the old API"
        self.loaded[name] = names
        names["initializePlugin"](object())
        return [name]

    def unloadPlugin(self, name: str) -> None:
        self.loaded.pop(name)["uninitializePlugin"](object())

    def _run(self, file: Path, name: str) -> dict[str, Any]:
        names: dict[str, Any] = {"__name__": name}
        exec(compile(file.read_text(), f"<{file.name}>", "exec"), names)
        return names

    def _install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.commands = Commands(self)
        commands = self.commands.functions() | {
            "evalDeferred": self.evalDeferred,
            "loadPlugin": self.loadPlugin,
            "unloadPlugin": self.unloadPlugin,
            "workspaceControl": lambda *a, **k: self.seen().workspaceControl(*a, **k),
            "shelfLayout": lambda *a, **k: self.seen().shelfLayout(*a, **k),
            "shelfButton": lambda **k: self.seen().shelfButton(**k),
        }
        parts: dict[str, dict[str, Any]] = {
            "maya": {},
            "maya.cmds": commands,
            "maya.utils": {"executeDeferred": self.executeDeferred},
            "maya.mel": {"eval": lambda line: "ShelfLayout"},
            "maya.api": {},
            "maya.api.OpenMaya": api.contents(self),
            "maya.api.OpenMayaAnim": api.of_animation(self),
            "maya.OpenMayaUI": {"MQtUtil": _MQtUtil(self)},
        }
        for name, contents in parts.items():
            module = ModuleType(name)
            vars(module).update(contents)
            above, _, last = name.rpartition(".")
            if above:
                setattr(sys.modules[above], last, module)
            monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.syspath_prepend(str(MODULE / "scripts"))
        monkeypatch.syspath_prepend(str(MODULE))
        ours = [name for name in sys.modules if name.partition(".")[0] == OURS]
        for name in ours:
            monkeypatch.delitem(sys.modules, name, raising=False)
            above, _, last = name.rpartition(".")
            if above in sys.modules:  # a package would give the module of the session before
                monkeypatch.delattr(sys.modules[above], last, raising=False)

    def seen(self) -> Windows:
        """Give its windows; RuntimeError where it has none."""
        if self.windows is None:
            raise RuntimeError("There is no window in this Maya.")
        return self.windows


class _MQtUtil:
    """What Maya tells of its Qt: numbers, which are addresses, or None."""

    def __init__(self, maya: Maya) -> None:
        self._maya = maya

    def mainWindow(self) -> int | None:
        windows = self._maya.windows
        return windows.address(windows.main) if windows is not None else None

    def getCurrentParent(self) -> int | None:
        windows = self._maya.windows
        return windows.address(windows.filled) if windows and windows.filled else None

    def findControl(self, name: str) -> int | None:
        windows = self._maya.windows
        control = windows.controls.get(name) if windows is not None else None
        return windows.address(control) if windows and control else None

    def addWidgetToMayaLayout(self, widget: int, control: int) -> None:
        if self._maya.windows is not None:
            self._maya.windows.put(widget, control)
