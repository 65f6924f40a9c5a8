"""The stand-in itself: its start, its event loop, its files, its panes, its end."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.hosts.fakes.houdini import geometry, nodes, types
from tests.hosts.fakes.houdini.nodes import OpNode
from tests.hosts.fakes.houdini.panes import NetworkEditor, PythonPanel, Rect
from tests.hosts.fakes.houdini.scene import Kept, Scene, Undos
from tests.hosts.fakes.houdini.viewport import SETS, SceneViewer, Vector3

MODULE = Path(__file__).parents[4] / "plugins" / "houdini"
OURS = "dcc_bridge_houdini"
NODE_EVENTS = (
    *("ParmTupleChanged", "ParmTupleAnimated", "ParmTupleLockChanged", "InputRewired"),
    *("FlagChanged", "NameChanged"),
)
FILE_EVENTS = ("Load", "Clear", "Merge", "Save")
LICENCES = {"Commercial": ".hip", "Indie": ".hiplc", "Apprentice": ".hipnc"}


class Houdini:
    """A Houdini session."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, *, batch: bool = False, licence: str = "Commercial"
    ) -> None:
        self.batch = batch  # it is hython: no ``hou.ui``, no event loop
        self.scene = Scene()  # its nodes
        self.undos = Undos(self.scene)  # its undo stack
        self.window: Any = None  # its main window
        # What is called in the next turn of its event loop, once.
        self.posted: list[Callable[[], None]] = []
        self.polled: list[Callable[[], None]] = []  # what is called in each turn
        self.update_mode = "AutoUpdate"  # when it cooks
        self.tabs: list[Any] = [NetworkEditor(), SceneViewer(self)]  # its panes
        self._licence = licence
        self._file_events: list[Callable[[str], None]] = []
        self._selected: list[Callable[[Any], None]] = []
        self.node_events: dict[int, list[tuple[str, Callable[..., None]]]] = {}
        self.undos.tell_edits = self._edits
        self._install(monkeypatch)

    # ---- what happens in it

    def start(self, python: str = "3.11") -> None:
        """Come up, and run ``uiready.py``: without a ``__file__``, of its own Python only."""
        for file in MODULE.glob("python*libs/uiready.py"):
            if file.parent.name == f"python{python}libs" and not self.batch:
                self._run(file.read_text())

    def turn(self) -> None:
        """Turn the event loop: what was posted once, what is polled each time."""
        posted, self.posted = self.posted, []
        for one in [*posted, *self.polled]:
            one()

    def load(self, path: Path) -> None:
        """Load a file: every reference to a node is dead from now on."""
        self.scene.generation += 1
        self.scene.path, self.scene.is_new = path.as_posix(), False
        self.undos.clear()
        self.tell_file("AfterLoad")

    def tell_file(self, event: str) -> None:
        """Tell who listens for files.

        `hou.hipFile.addEventCallback` has no way to refuse; that an exception is only printed is
        assumed.
        """
        for tell in list(self._file_events):
            try:
                tell(event)
            except Exception as error:  # noqa: BLE001 - whatever a callback raises
                print(error)

    def _clear(self, suppress_save_prompt: bool = False) -> None:
        self.tell_file("BeforeClear")
        kept = {key: node for key, node in self.scene.nodes.items() if node.path.count("/") == 1}
        self.scene.nodes, self.scene.is_new = kept, True
        self.undos.clear()
        self.tell_file("AfterClear")

    def _merge(self, path: str, **flags: Any) -> None:
        self.tell_file("BeforeMerge")
        self.undos.record("Merge", lambda: self.scene.add("/obj/merged", "null"))
        self.tell_file("AfterMerge")

    def _open(self, path: str, suppress_save_prompt: bool = False) -> None:
        self.tell_file("BeforeLoad")
        try:
            self.scene.read(Path(path))
        except ValueError:
            raise nodes.OperationFailed(f"Unable to open file: {path}") from None
        self.load(Path(path))

    def _edits(self) -> Callable[[], None]:
        """Tell the nodes' own listeners of parameters, keys, wires and flags."""
        before = [
            (it, *_state(it)) for it in self.scene.nodes.values() if it.id in self.node_events
        ]

        def tell() -> None:
            for kept, *old_state in before:
                for event, old, new in zip(NODE_EVENTS, old_state, _state(kept), strict=True):
                    listeners = self.node_events.get(kept.id, ()) if old != new else ()
                    for wanted, fn in [*listeners]:
                        if wanted == event and kept.id in self.scene.nodes:
                            fn(node=nodes.reference(self, kept), event_type=event)

        return tell

    def open_panel(self) -> Any:
        """Have a pane show our Python panel."""
        root = ElementTree.parse(MODULE / "python_panels" / "dcc_bridge.pypanel").getroot()
        names = self._run(root.findtext("interface/script") or "")
        return names["onCreateInterface"]()

    def press_shelf(self) -> None:
        root = ElementTree.parse(MODULE / "toolbar" / "dcc_bridge.shelf").getroot()
        self._run(root.findtext("tool/script") or "")

    def tell_selection(self) -> None:
        for tell in list(self._selected):
            tell([])

    # ---- hou

    def node(self, path: str) -> OpNode | None:
        kept = self.scene.at(path)
        return nodes.reference(self, kept) if kept is not None else None

    def objects(self) -> list[OpNode]:
        return [nodes.reference(self, kept) for kept in self.scene.nodes.values()]

    def _by_id(self, session_id: int) -> OpNode | None:
        kept = self.scene.nodes.get(session_id)
        return nodes.reference(self, kept) if kept is not None else None

    def hscript(self, command: str) -> tuple[str, str]:
        """Run ``mwrite -n "path"``: a copy, which leaves the scene its name.

        HScript takes what follows a dollar for a variable and what stands in backticks for an
        expression, between double quotes too, unless there is a backslash before it.
        """
        found = re.fullmatch(r'mwrite -n "((?:[^"\\$`]|\\.)*)"', command)
        assert found, f"what would Houdini do with {command}"
        path = Path(re.sub(r"\\(.)", r"\1", found[1]))
        self.tell_file("BeforeSave")  # that it is told of as a save is assumed
        if not path.parent.is_dir():
            return "", f"Unable to open file {path}\n"
        self.scene.write(path)
        return "", ""

    def _save(self, path: str = "", save_to_recent_files: bool = True) -> None:
        """Save; with a path the scene has that name from then on, with the licence's suffix."""
        self.tell_file("BeforeSave")
        target = Path(path or self.scene.path).with_suffix(LICENCES[self._licence])
        self.scene.write(target)
        self.scene.path, self.scene.is_new, self.scene.modified = target.as_posix(), False, False

    def _set_fps(
        self,
        fps: float,
        modify_frame_count: bool = True,
        preserve_keyframes: bool = False,
        preserve_frame_start: bool = False,
    ) -> None:
        """`hou.setFps`: unless it is told otherwise, the range lasts as many seconds as before."""
        factor, (start, end) = fps / self.scene.fps, self.scene.range
        start = start if preserve_frame_start else (start - 1) * factor + 1
        self.scene.range = start, end * factor if modify_frame_count else end
        self.scene.fps, self.scene.frame = fps, (self.scene.frame - 1) * factor + 1

    def _files(self) -> list[tuple[Any, str]]:
        every = [(self.node(it.path), it.parms.get("file")) for it in self.scene.nodes.values()]
        return [(node.parm("file"), path) for node, path in every if node and path]

    def _move(self, moved: Sequence[OpNode], into: OpNode) -> tuple[OpNode, ...]:
        (node,) = moved
        into._check_unlocked()
        old, new = node.path(), into._free(node.name())
        with self.undos.recorded("Move"):
            for kept in [node._kept, *self.scene.below(old)]:
                kept.path = new + kept.path[len(old) :]
        found = self.node(new)
        assert found is not None
        return (found,)

    def _make(self) -> dict[str, Any]:
        file = SimpleNamespace(
            path=lambda: self.scene.path,
            isNewFile=lambda: self.scene.is_new,
            hasUnsavedChanges=lambda: self.batch or self.scene.modified,
            save=self._save,
            load=self._open,
            clear=self._clear,
            merge=self._merge,
            addEventCallback=self._file_events.append,
            removeEventCallback=self._file_events.remove,
        )
        return {
            **{e.__name__: e for e in vars(nodes).values() if _is_error(e)},
            **{name: getattr(nodes, name) for name in ("OpNode", "ObjNode", "SopNode", "Keyframe")},
            "nodeTypeCategories": types.categories,
            "FloatParmTemplate": types.FloatTemplate,
            "parmTemplateType": SimpleNamespace(**types.FORMS),
            "exprLanguage": SimpleNamespace(Hscript="Hscript", Python="Python"),
            "hmath": SimpleNamespace(
                buildTransform=geometry.build, identityTransform=lambda: geometry.build({})
            ),
            "Vector3": Vector3,
            "Matrix3": list,
            "displaySetType": SimpleNamespace(**{name: name for name in SETS}),
            "glShadingType": SimpleNamespace(Wire="Wire", Smooth="Smooth"),
            "geometryViewportType": SimpleNamespace(Perspective="Perspective", Top="Top"),
            "Geometry": geometry.Geometry,
            "fileReferences": self._files,
            "moveNodesTo": self._move,
            "BoundingRect": Rect,
            "NetworkEditor": NetworkEditor,
            "SceneViewer": SceneViewer,
            "PythonPanel": PythonPanel,
            "paneTabType": SimpleNamespace(
                NetworkEditor=NetworkEditor, SceneViewer=SceneViewer, PythonPanel=PythonPanel
            ),
            "hipFileEventType": SimpleNamespace(
                **{f"{w}{what}": f"{w}{what}" for w in ("Before", "After") for what in FILE_EVENTS}
            ),
            "nodeEventType": SimpleNamespace(
                **dict(zip(NODE_EVENTS, NODE_EVENTS, strict=True)),
                ParmTupleChannelChanged="ParmTupleChannelChanged",
                SpareParmTemplatesChanged="SpareParmTemplatesChanged",
            ),
            "applicationVersionString": lambda: "21.0.512",
            "isUIAvailable": lambda: not self.batch,
            "licenseCategory": lambda: SimpleNamespace(name=lambda: self._licence),
            "hipFile": file,
            "undos": self.undos,
            "node": self.node,
            "nodeBySessionId": self._by_id,
            "updateModeSetting": lambda: self.update_mode,
            "setUpdateMode": lambda mode: setattr(self, "update_mode", mode),
            "hscript": self.hscript,
            "selectedNodes": lambda: tuple(
                nodes.reference(self, kept) for kept in self.scene.nodes.values() if kept.selected
            ),
            "clearAllSelected": self._clear_selection,
            "playbar": SimpleNamespace(
                frameRange=lambda: self.scene.range,
                setFrameRange=lambda start, end: setattr(self.scene, "range", (start, end)),
            ),
            "frame": lambda: self.scene.frame,
            "setFrame": lambda frame: setattr(self.scene, "frame", frame),
            "fps": lambda: self.scene.fps,
            "setFps": self._set_fps,
            "sopNodeTypeCategory": lambda: types.categories()["Sop"],
            "qt": SimpleNamespace(mainWindow=lambda: self.window),
            "pypanel": SimpleNamespace(interfaceByName=lambda name: name),
        }

    def _make_ui(self) -> Any:
        def remove_polled(callback: Callable[[], None]) -> None:
            self.polled.remove(callback)

        def tab_of(kind: type) -> Any:
            return next((tab for tab in self.tabs if isinstance(tab, kind)), None)

        def add_tab(kind: Callable[[], Any]) -> Any:
            self.tabs.append(kind())
            return self.tabs[-1]

        return SimpleNamespace(
            postEventCallback=lambda callback: self.posted.append(callback),
            addEventLoopCallback=self.polled.append,
            removeEventLoopCallback=remove_polled,
            addSelectionCallback=self._selected.append,
            removeSelectionCallback=self._selected.remove,
            paneTabOfType=tab_of,
            paneTabs=lambda: tuple(self.tabs),
            curDesktop=lambda: SimpleNamespace(createFloatingPaneTab=add_tab),
        )

    def _clear_selection(self) -> None:
        with self.undos.recorded("Select"):
            for kept in self.scene.nodes.values():
                kept.selected = False
        self.tell_selection()

    def _run(self, script: str) -> dict[str, Any]:
        names: dict[str, Any] = {"__name__": "__main__"}
        exec(script, names)
        return names

    def _install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        hou = ModuleType("hou")
        vars(hou).update(self._make())
        if not self.batch:
            vars(hou)["ui"] = self._make_ui()
        monkeypatch.setitem(sys.modules, "hou", hou)
        # in hython its import fails, as it imports the UI
        late = ModuleType("hdefereval") if not self.batch else None
        monkeypatch.setitem(sys.modules, "hdefereval", late)
        monkeypatch.syspath_prepend(str(MODULE))
        ours = [name for name in sys.modules if name.partition(".")[0] == OURS]
        for name in ours:
            monkeypatch.delitem(sys.modules, name, raising=False)
            above, _, last = name.rpartition(".")
            if above in sys.modules:  # a package would give the module of the session before
                monkeypatch.delattr(sys.modules[above], last, raising=False)


def _state(kept: Kept) -> tuple[Any, ...]:
    return copy.deepcopy(
        (kept.parms, kept.keys, kept.locked, kept.wires, kept.flags, kept.path.rpartition("/")[2])
    )


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, nodes.Error)
