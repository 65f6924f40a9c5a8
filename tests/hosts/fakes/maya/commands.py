"""`maya.cmds` of the stand-in: the scene's commands. All raise off the main thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from tests.hosts.fakes.maya import api
from tests.hosts.fakes.maya.scene import Node
from tests.hosts.fakes.pixel import PNG

if TYPE_CHECKING:
    from tests.hosts.fakes.maya.application import Maya

SHAPES = ("camera", "mesh", "nurbsCurve", "directionalLight")


class Commands:
    """The commands, as functions of a module: `module` makes it of them."""

    def __init__(self, maya: Maya) -> None:
        self._maya = maya
        self._thread = threading.get_ident()

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Give each by its name, guarded."""
        names = [name for name in dir(self) if not name.startswith("_") and name != "functions"]
        return {name: self._guarded(name, getattr(self, name)) for name in names}

    def _guarded(self, name: str, command: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **flags: Any) -> Any:
            if threading.get_ident() != self._thread:
                raise RuntimeError(f"{name} can only be called from the main thread.")
            return command(*args, **flags)

        return call

    # ---- the application

    def about(self, version: bool = False, batch: bool = False) -> Any:
        return "2025" if version else self._maya.batch

    def file(self, path: str = "", **flags: Any) -> Any:
        scene = self._maya.scene
        if flags.get("query"):
            return scene.name if flags.get("sceneName") else scene.modified
        if "rename" in flags:
            scene.name = flags["rename"]
        kinds = {
            "new": self._new,
            "open": self._open,
            "save": self._save,
            "exportAll": self._export,
            "i": self._import,
            "removeReference": self._remove_reference,
        }
        for do in (do for flag, do in kinds.items() if flags.get(flag)):
            do(path, flags)
        return path

    def _may(self, check: str, *path: str) -> bool:
        """Ask before; what the command gives after a no is nowhere said: here, what it always does.

        A script that looks at nothing goes on as if it were done.
        """
        return self._maya.may(check, *map(api.FileObject, path))

    def _new(self, path: str, flags: dict[str, Any]) -> None:
        assert flags.get("force"), "unsaved changes raise an error in batch without force"
        """Begin a new scene; whether each node is told of then is nowhere said: here it is."""
        if self._may("new?"):
            for node in list(self._maya.scene.nodes.values()):
                self._remove(node)
            self._maya.scene.name = ""
            self._maya.undo.flush()

    def _open(self, path: str, flags: dict[str, Any]) -> None:
        if not flags.get("force"):
            raise AssertionError("unsaved changes raise an error in batch without force")
        if not self._may("open?", path):
            return
        try:
            self._maya.scene.read(Path(path))
        except ValueError:
            raise RuntimeError(f"Error reading file: {path}") from None
        self._maya.undo.flush()

    def _save(self, path: str, flags: dict[str, Any]) -> None:
        if self._may("save?"):
            self._write(Path(self._maya.scene.name))
            self._maya.scene.modified = False

    def _export(self, path: str, flags: dict[str, Any]) -> None:
        if not flags.get("preserveReferences"):
            raise AssertionError("an export without preserveReferences flattens references")
        if self._may("export?", path):
            self._write(Path(path))

    def _import(self, path: str, flags: dict[str, Any]) -> None:
        if self._may("import?", path):
            self._maya.scene.add("imported", "transform")  # whether undo takes it out is not said

    def _remove_reference(self, path: str, flags: dict[str, Any]) -> None:
        self._maya.fire("remove reference")

    def _write(self, path: Path) -> None:
        if not path.parent.is_dir():
            raise RuntimeError(f"Could not save file: {path}")
        self._maya.scene.write(path)

    def namespaceInfo(self, currentNamespace: bool, absoluteName: bool) -> str:
        return self._maya.scene.namespace

    def namespace(self, **flags: Any) -> Any:
        """Set the current one, which is undoable, or ask for one."""
        if "exists" in flags:
            return flags["exists"] in (":", ":shot")

        def edit() -> None:
            self._maya.scene.namespace = flags["set"]

        return self._maya.undo.record("namespace", edit)

    def autoKeyframe(self, query: bool = False, state: bool = False) -> Any:
        """Ask, or set, which is undoable."""
        if query:
            return self._maya.scene.autokey

        def edit() -> None:
            self._maya.scene.autokey = state

        return self._maya.undo.record("autoKeyframe", edit)

    def currentUnit(self, **flags: Any) -> str:
        return {"linear": "cm", "angle": "deg", "time": "film"}[self._flag(flags)]

    def playbackOptions(self, **flags: Any) -> float:
        return {"minTime": 1.0, "maxTime": 120.0}[self._flag(flags)]

    def currentTime(self, query: bool = False) -> float:
        return 12.0

    @staticmethod
    def _flag(flags: dict[str, Any]) -> str:
        return next(name for name in flags if name != "query")

    # ---- undo

    def undoInfo(self, **flags: Any) -> Any:
        undo = self._maya.undo
        if flags.get("query"):
            assert not undo.depth or "state" in flags, "nobody says what it is in an open chunk"
            told = {
                "query": len(undo.done),
                "state": undo.on,
                "infinity": undo.most is None,
                "length": 50 if undo.most is None else undo.most,
                "undoQueueEmpty": not undo.done,
                "undoName": undo.done[-1][0] if undo.done else "",
                "redoName": undo.undone[-1][0] if undo.undone else "",
            }
            return told[next((flag for flag in flags if flag != "query"), "query")]
        if "openChunk" in flags:
            undo.open(flags.get("chunkName", ""))
        elif "closeChunk" in flags:
            undo.close()
        elif "state" in flags:
            undo.flush()
            undo.on = flags["state"]
        else:
            undo.on = flags["stateWithoutFlush"]
        return None

    def undo(self) -> None:
        self._maya.undo.undo()

    def redo(self) -> None:
        self._maya.undo.redo()

    def flushUndo(self) -> None:
        self._maya.undo.flush()

    # ---- nodes

    def ls(self, *names: Any, **flags: Any) -> list[str]:
        """List nodes. With an empty list it lists all of them, as with no list at all."""
        scene = self._maya.scene
        wanted = [one for name in names for one in ([name] if isinstance(name, str) else name)]
        nodes: Iterable[Node] = scene.nodes.values()
        if wanted:
            nodes = [node for name in wanted for node in self._matching(name)]
        if flags.get("selection"):
            nodes = [scene.nodes[one] for one in scene.selected if one in scene.nodes]
        nodes = [node for node in nodes if self._is_listed(node, flags)]
        return [node.uuid if flags.get("uuid") else scene.path(node) for node in nodes]

    def _matching(self, name: str) -> list[Node]:
        every = self._maya.scene.nodes.values()
        if "*" in name or "?" in name:
            return [node for node in every if fnmatchcase(node.name, name)]
        return self._maya.scene.find(name)

    @staticmethod
    def _is_listed(node: Node, flags: dict[str, Any]) -> bool:
        types = {
            "type": flags.get("type"),
            "cameras": "camera" if flags.get("cameras") else None,
            "lights": "directionalLight" if flags.get("lights") else None,
        }
        is_top = node.parent is None and node.type == "transform"
        is_one = not flags.get("assemblies") or is_top
        return is_one and all(of in (None, node.type) for of in types.values())

    def objExists(self, name: str) -> bool:
        return bool(self._matching(name))

    def nodeType(self, name: str) -> str:
        return self._one(name).type

    def _one(self, name: str) -> Node:
        found = self._maya.scene.find(name)
        if not found:
            raise RuntimeError(f"No object matches name: {name}")
        if len(found) > 1:
            raise RuntimeError(f"More than one object matches name: {name}")
        return found[0]

    def listRelatives(self, names: Any, **flags: Any) -> list[str] | None:
        """List relatives. It gives None for none."""
        scene, found = self._maya.scene, []
        for name in [names] if isinstance(names, str) else names:
            node = self._one(name)
            if flags.get("parent"):
                found += [scene.nodes[node.parent]] if node.parent else []
            elif flags.get("allDescendents"):
                found += scene.below(node)
            elif flags.get("shapes"):
                found += [one for one in scene.children(node) if one.type in SHAPES]
            else:
                found += scene.children(node)
        of = flags.get("type")
        return [scene.path(node) for node in found if of in (None, node.type)] or None

    def lockNode(self, name: str, query: bool = False, lock: bool = False) -> list[bool]:
        if not query:
            self._one(name).locked = lock
        return [self._one(name).locked]

    def referenceQuery(self, name: str, isNodeReferenced: bool = False) -> bool:
        return self._one(name).referenced

    def camera(self, name: str, query: bool = False, startupCamera: bool = False) -> bool:
        return self._one(name).startup

    # ---- attributes

    def listAttr(self, name: str, **flags: Any) -> list[str] | None:
        return list(self._one(name).values) or None

    def attributeQuery(self, attribute: str, node: str, exists: bool) -> bool:
        return attribute in self._one(node).values

    def getAttr(self, plug: str, **flags: Any) -> Any:
        name, _, attribute = plug.rpartition(".")
        return not self._one(name).locked if flags else self._one(name).values[attribute]

    def setAttr(self, plug: str, *values: Any, **flags: Any) -> None:
        name, _, attribute = plug.rpartition(".")
        node = self._one(name)
        if isinstance(node.values[attribute], float) and isinstance(values[0], str):
            raise RuntimeError(f"setAttr: '{plug}' is not a string attribute.")

        def edit() -> None:
            node.values[attribute] = values[0] if len(values) == 1 else [values]
            self._maya.scene.modified = True

        self._maya.undo.record("setAttr", edit)

    def listConnections(self, name: str, **flags: Any) -> list[str] | None:
        return None

    # ---- edits

    def createNode(self, type_name: str, name: str) -> str:
        scene = self._maya.scene
        made = self._maya.undo.record("createNode", lambda: scene.add(name, type_name))
        self._maya.fire_node("node added", made)
        return scene.path(made)

    def rename(self, name: str, new: str) -> str:
        node = self._one(name)
        if node.locked or node.referenced:
            raise RuntimeError("Cannot rename a locked or read only node.")
        taken = {one.name for one in self._maya.scene.nodes.values() if one.parent == node.parent}
        number = next(n for n in range(1000) if new + (str(n) if n else "") not in taken)

        def edit() -> None:
            node.name = new + (str(number) if number else "")

        self._maya.undo.record("rename", edit)
        self._maya.fire("NameChanged")
        return node.name

    def delete(self, names: Any) -> None:
        nodes = [self._one(name) for name in ([names] if isinstance(names, str) else names)]
        if any(node.locked or node.referenced for node in nodes):
            raise RuntimeError("Cannot delete locked or read only nodes.")
        scene = self._maya.scene
        below = [each for node in nodes for each in (node, *scene.below(node))]
        gone = list({node.uuid: node for node in below}.values())
        gone += [one for one in scene.nodes.values() if one.drives in {node.uuid for node in gone}]

        def edit() -> None:
            for node in gone:
                self._remove(node)
            scene.modified = True

        self._maya.undo.record("delete", edit, destroys=True)

    def _remove(self, node: Node) -> None:
        """Remove a node: who listens is told while it is there, and of a parent first.

        In which order Maya tells is not documented; this is the worse one, as what was below has
        lost its path by then.
        """
        scene = self._maya.scene
        for curve in [one for one in scene.nodes.values() if one.drives == node.uuid]:
            ends = [api.ObjectOfNode(self._maya, one) for one in (curve, node)]
            plugs = [SimpleNamespace(node=lambda end=end: end) for end in ends]
            self._maya.fire("connection", *plugs, False)
        self._maya.fire_node("node removed", node)
        scene.nodes.pop(node.uuid, None)

    def select(self, *names: str) -> None:
        """Select; it is undoable."""
        chosen = [self._one(name).uuid for name in names]

        def edit() -> None:
            self._maya.scene.selected = chosen

        self._maya.undo.record("select", edit)
        self._maya.fire("SelectionChanged")

    def viewFit(self) -> None:
        """Fit the view to what is selected; it is undoable."""
        framed = list(self.ls(selection=True))

        def edit() -> None:
            self._maya.framed = framed

        self._maya.undo.record("viewFit", edit)

    def playblast(self, completeFilename: str, **flags: Any) -> str:
        assert not flags["viewer"], "a viewer of its own would open on the artist's screen"
        Path(completeFilename).write_bytes(PNG)
        return completeFilename
