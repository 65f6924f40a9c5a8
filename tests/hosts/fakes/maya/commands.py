"""`maya.cmds` of the stand-in: the scene's commands. All raise off the main thread."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.hosts.fakes.maya import api, node_types
from tests.hosts.fakes.maya.graph import Graph
from tests.hosts.fakes.maya.scene import Node
from tests.hosts.fakes.maya.views import Views

if TYPE_CHECKING:
    from tests.hosts.fakes.maya.application import Maya

OURS = ("functions", "new", "free_name", "value_of", "local", "world")  # no commands


class Commands(Graph, Views):
    """The commands, as functions of a module: `module` makes it of them."""

    def __init__(self, maya: Maya) -> None:
        self._maya = maya
        self._thread = threading.get_ident()

    def functions(self) -> dict[str, Callable[..., Any]]:
        names = [name for name in dir(self) if not name.startswith("_") and name not in OURS]
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

    def warning(self, text: str) -> None:
        self._maya.fire("output", f"{text}\n", 3)

    def file(self, path: str = "", **flags: Any) -> Any:
        scene = self._maya.scene
        if flags.get("query"):
            if flags.get("reference"):
                return [*self._maya.references]
            return scene.name if flags.get("sceneName") else scene.modified
        if "modified" in flags:
            scene.modified = flags["modified"]
            return scene.modified
        if "rename" in flags:
            scene.name = flags["rename"]
        kinds = {
            "new": self._new,
            "open": self._open,
            "save": self._save,
            "exportAll": self._export,
            "exportSelected": self._export,
            "i": self._import,
            "reference": self._import,
            "removeReference": self._remove_reference,
        }
        given = [do(path, flags) for flag, do in kinds.items() if flags.get(flag)]
        return next((names for names in given if names is not None), path)

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
        is_scene = flags.get("type", "mayaAscii") in ("mayaAscii", "mayaBinary")
        if is_scene and not flags.get("preserveReferences"):
            raise AssertionError("an export without preserveReferences flattens references")
        if self._may("export?", path):
            if not flags.get("exportSelected"):
                self._write(Path(path))
                return
            nodes = [asdict(self._maya.scene.nodes[one]) for one in self._maya.scene.selected]
            Path(path).write_text(json.dumps(nodes))

    def _import(self, path: str, flags: dict[str, Any]) -> list[str] | None:
        """Bring nodes in, all of them in the namespace; "file is undoable".

        Import options: merged into the root namespace, what is there already gets a number.
        """
        if not self._may("create reference?" if flags.get("reference") else "import?", path):
            return None
        if not flags.get("returnNewNodes"):
            self._maya.scene.add("imported", "transform")
            return None
        things, space = json.loads(Path(path).read_text()), flags["namespace"].removeprefix(":")
        assert space or flags["mergeNamespacesOnClash"]
        with self._recorded("file"):
            tops = [self._brought(thing, space) for thing in things]
            if flags.get("reference"):
                self._maya.references[path] = self.new("reference", f"{flags['namespace']}RN").name
                for node in tops:
                    node.referenced = True
        return [self._told(node) for node in tops]

    def _brought(self, thing: Any, namespace: str) -> Node:
        """Make a transform of a name, or one with a mesh and a texture."""
        told = thing if isinstance(thing, dict) else {"name": thing}
        name = f"{namespace}:{told['name']}" if namespace else told["name"]
        top = self.new("transform", name)
        if "points" in told:
            mesh = self.new("mesh", f"{top.name}Shape", top)
            mesh.values |= {"points": told["points"], "faces": told["faces"]}
        if "texture" in told:
            self.new("file", "file1").values["fileTextureName"] = told["texture"]
        return top

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
        with self._maya.undo.recorded("namespace"):
            self._maya.scene.namespace = flags["set"]
        return None

    def autoKeyframe(self, query: bool = False, state: bool = False) -> Any:
        """Ask, or set, which is undoable."""
        if query:
            return self._maya.scene.autokey
        with self._maya.undo.recorded("autoKeyframe"):
            self._maya.scene.autokey = state
        return None

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
        pairs = []
        if not wanted:
            kinds = [node for node in scene.nodes.values() if self._is_listed(node, flags)]
            kinds = kinds if not flags.get("dag") else list(scene.nodes.values())
            pairs = [(node, scene.path(node)) for node in kinds]
        else:
            pairs = [pair for name in wanted for pair in self._matching(name)]
        if flags.get("allPaths"):
            pairs = [(node, path) for node, _ in pairs for path in scene.paths(node)]
        if flags.get("selection"):
            nodes = [scene.nodes[one] for one in scene.selected if one in scene.nodes]
            pairs = [(node, scene.path(node)) for node in nodes]
        if flags.get("dag"):
            pairs = self._deep(pairs if wanted else [p for p in pairs if p[0].parent is None])
        pairs = [(node, path) for node, path in pairs if self._is_listed(node, flags)]
        if flags.get("uuid"):
            return [node.uuid for node, _ in pairs]
        listed = []
        for node, path in pairs:
            listed.append(path if flags.get("long") else scene.short(path))
            if flags.get("showType"):
                listed.append(node.type)
        return listed

    def _deep(self, pairs: Iterable[tuple[Node, str]]) -> list[tuple[Node, str]]:
        """Give each DAG node and all below it, each node once, in the order of the outliner."""
        found: dict[str, tuple[Node, str]] = {}
        for node, path in pairs:
            if node.is_dag:
                found.setdefault(node.uuid, (node, path))
                below = ((one, f"{path}|{one.name}") for one in self._maya.scene.children(node))
                for pair in self._deep(below):
                    found.setdefault(pair[0].uuid, pair)
        return list(found.values())

    def _matching(self, name: str) -> list[tuple[Node, str]]:
        scene = self._maya.scene
        return scene.resolve(name.removeprefix(":"))

    def _is_listed(self, node: Node, flags: dict[str, Any]) -> bool:
        types = _listed(flags.get("type"))
        exact = _listed(flags.get("exactType"))
        role = self.getClassification(node.type)[0]
        kinds = {
            "cameras": node.is_of("camera"),
            "lights": node.is_of("light"),
            "shapes": node.is_of("shape"),
            "transforms": node.is_of("transform"),
            "geometry": node.is_of("geometryShape"),
            "noIntermediate": not node.values.get("intermediateObject"),
            "materials": role.startswith("shader/surface"),
            "textures": role.startswith("texture"),
            "assemblies": node.parent is None and node.is_of("transform"),
            "defaultNodes": node.is_default,
        }
        is_of = not types or any(node.is_of(one) for one in types)
        is_exact = not exact or node.type in exact
        return is_of and is_exact and all(fits for flag, fits in kinds.items() if flags.get(flag))

    def objExists(self, name: str) -> bool:
        return bool(self._matching(name))

    def nodeType(
        self, name: str, inherited: bool = False, isTypeName: bool = False
    ) -> list[str] | str:
        """Name a node's type, or what it derives from, the widest first."""
        assert "." not in name, "it takes a node"
        type_name = name if isTypeName else self._one(name).type
        return [*node_types.bases(type_name)] if inherited else type_name

    def _one(self, name: str) -> Node:
        return self._path(name)[0]

    def _path(self, name: str) -> tuple[Node, str]:
        found = self._maya.scene.resolve(name.removeprefix(":"))
        if not found:
            raise RuntimeError(f"No object matches name: {name}")
        if len(found) > 1:
            raise RuntimeError(f"More than one object matches name: {name}")
        return found[0]

    def listRelatives(self, names: Any, **flags: Any) -> list[str] | None:
        """List relatives. It gives None for none."""
        scene = self._maya.scene
        found: list[tuple[Node, str]] = []
        for name in [names] if isinstance(names, str) else names:
            node, path = self._path(name)
            if flags.get("parent"):
                above = path.rpartition("|")[0]
                found += [self._path(above)] if above else []
            elif flags.get("allDescendents"):
                found += self._deep([(node, path)])[1:]
            else:
                found += [(one, f"{path}|{one.name}") for one in scene.children(node)]
        if flags.get("shapes"):
            found = [pair for pair in found if pair[0].is_of("shape")]
        if flags.get("noIntermediate"):
            found = [pair for pair in found if not pair[0].values.get("intermediateObject")]
        if of := flags.get("type"):
            found = [pair for pair in found if pair[0].is_of(of)]
        full = flags.get("fullPath")
        return [path if full else scene.short(path) for _, path in found] or None

    def lockNode(self, name: str, query: bool = False, lock: bool = False) -> list[bool]:
        if not query:
            self._one(name).locked = lock
        return [self._one(name).locked]

    def referenceQuery(self, name: str, **flags: Any) -> Any:
        """Ask of a node whether it is referenced, or of a file or reference node."""
        if flags.get("isNodeReferenced"):
            return self._one(name).referenced
        files = self._maya.references
        if flags.get("referenceNode"):
            return files[name]
        if flags.get("unresolvedName"):
            return name
        found = [file for file, node in files.items() if node == name]
        if not found:
            raise RuntimeError(f"'{name}' is not associated with a reference file.")
        return found[0]

    def camera(self, name: str, query: bool = False, **flags: bool) -> Any:
        """Ask whether it is Maya's own, or for its angle, in the unit of the interface."""
        node = self._one(name)
        if flags.get("startupCamera"):
            return node.startup
        film = node.values["verticalFilmAperture"] * 25.4
        angle = 2 * math.atan(film / (2 * node.values["focalLength"]))
        return math.degrees(angle) if self._maya.scene.settings["angle"] == "deg" else angle

    def expression(self, name: str, query: bool, string: bool) -> str:
        return str(self._one(name).values["expression"])

    def help(self, name: str, list: bool = False, language: str = "mel") -> Any:
        if list:
            return ["polyCube", "aScriptsProcedure", *node_types.COMMANDS]
        if name != "polyCube":
            raise RuntimeError("no help for a procedure")
        return "\nSynopsis: polyCube [flags]\nFlags:\n   -h -height  Length\n"

    def translator(self, name: str = "", query: bool = True, **flags: bool) -> Any:
        """Tell what the plug-ins that are loaded read and write."""
        if flags.get("list"):
            return [*self._maya.translators]
        way, filters = self._maya.translators[name]
        return filters if flags.get("filter") else next(iter(flags)) in way

    # ---- edits

    def rename(self, name: str, new: str) -> str:
        """Rename; what is taken gets a number, and a shape of its name goes along."""
        node = self._one(name)
        parent = self._maya.scene.nodes.get(node.parent or "")
        full = new.removeprefix(":")
        full = full if full == node.name else self.free_name(full, parent, node.type)
        with self._maya.undo.recorded("rename"):
            for one in self._maya.scene.children(node):
                if one.is_of("shape") and one.name == f"{node.name}Shape":
                    one.name = f"{full}Shape"
            node.name = full
        self._maya.fire("NameChanged")
        return self._told(node)

    def delete(self, *names: Any, constructionHistory: bool = False) -> None:
        """Delete nodes with all below them, or what they are made by, deformers too."""
        wanted = [one for name in names for one in ([name] if isinstance(name, str) else name)]
        nodes = [self._one(name) for name in wanted]
        if constructionHistory:
            with self._maya.undo.recorded("delete", destroys=True):
                self._unmake(nodes)
            return
        scene = self._maya.scene
        below = [each for node in nodes for each in (node, *scene.below(node))]
        gone = list({node.uuid: node for node in below}.values())
        gone += [one for one in scene.nodes.values() if one.drives in {node.uuid for node in gone}]
        with self._maya.undo.recorded("delete", destroys=True):
            for node in gone:
                self._remove(node)
            scene.modified = True

    def _unmake(self, nodes: Iterable[Node]) -> None:
        for shape in (one for node in nodes for one in (node, *self._maya.scene.below(node))):
            if "inMesh" in shape.inputs:
                names = self.listHistory(shape.uuid, pruneDagObjects=True) or []
                for creator in [self._one(name) for name in names]:
                    self._remove(creator)

    def _remove(self, node: Node) -> None:
        """Remove a node: who listens is told while it is there, and of a parent first.

        In which order Maya tells is not documented; this is the worse one, as what was below has
        lost its path by then.
        """
        scene = self._maya.scene
        for curve in [one for one in scene.nodes.values() if one.drives == node.uuid]:
            self._maya.fire_link(False, (curve, "output"), (node, "input"))
        for own, other, given in self._ends_in(node):
            self._maya.fire_link(False, (other, given), (node, own))
        for own, other, taken in self._ends_out(node):
            self._maya.fire_link(False, (node, own), (other, taken))
        self._maya.fire_node("node removed", node)
        scene.nodes.pop(node.uuid, None)
        for other in scene.nodes.values():
            for own in [own for own, giver in other.inputs.items() if giver[0] == node.uuid]:
                del other.inputs[own]
            other.members = [one for one in other.members if one.partition(".")[0] != node.uuid]
            other.more_parents = [one for one in other.more_parents if one != node.uuid]

    def viewFit(self) -> None:
        """Fit the view to what is selected; it is undoable."""
        framed = list(self.ls(selection=True, long=True))
        with self._maya.undo.recorded("viewFit"):
            self._maya.framed = framed


def _listed(*types: Any) -> list[str]:
    return [one for of in types if of for one in ([of] if isinstance(of, str) else of)]
