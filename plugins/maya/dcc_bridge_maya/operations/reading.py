"""Reads a scene of Maya: items, what they use, bounds, rules, the API. Main thread.

Traps in Maya's reference: `exactWorldBoundingBox` without an object is the box of the selection.
`polyEvaluate` returns a sentence if there is no mesh. Members of a set can be components.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final

from maya import cmds
from maya.api import OpenMaya

from dcc_bridge.spi import (
    ApiEntry,
    ApiSearch,
    Bounds,
    BridgeError,
    Checking,
    CodeContext,
    Part,
    PlainNames,
    Rule,
    Said,
    other_value,
    read_each,
)

from ..plain_names import PLAIN
from ..scene import kind
from . import dg
from .dg import ask
from .said import SAID
from .values import _Values

FILES: Final = {
    "file": "fileTextureName",
    "imagePlane": "imageName",
    "AlembicNode": "abc_File",
    "gpuCache": "cacheFileName",
    "audio": "filename",
    "mayaUsdProxyShape": "filePath",
}
"""The attributes that name a file, by the types of nodes."""
_DELETE_FACES: Final = "run_python: cmds.delete(cmds.polyInfo(item, nme=True))"
_TRIANGULATE: Final = "run_python: cmds.polyTriangulate(item)"
_CLEAN_HISTORY: Final = 'clean(what=["history"])'
_RULES: Final = (
    Rule(
        "non_manifold",
        "These meshes have edges with more than two faces, or faces with the same edges; "
        f"{_DELETE_FACES}, or the same with lf=True, deletes them.",
        _DELETE_FACES,
    ),
    Rule(
        "ngons",
        f"Faces of these meshes have more than four corners; {_TRIANGULATE} cuts them up.",
        _TRIANGULATE,
    ),
    Rule(
        "history",
        f"These items have construction history; {_CLEAN_HISTORY} deletes it.",
        _CLEAN_HISTORY,
    ),
    Rule(
        "broken",
        "These constraints have no target, or these deformers deform nothing; delete(items) "
        "removes them, and connect gives them a target.",
        "delete(items)",
    ),
)
_NEEDED_INPUTS: Final = (
    ("constraint", "target", "target"),
    ("geometryFilter", "input", "geometry"),
)
"""Types of nodes that work on an input, with its attribute and the word for it."""
_API_TYPES: Final = "transform camera mesh standardSurface file place2dTexture polyCube areaLight"
"""The types whose attributes are in the API."""
_ITEM_TYPES: Final = ("transform", "camera", "areaLight")
"""Those of them whose attributes items have."""
_NUMBERS: Final = ("double", "float", "bool", "doubleAngle", "doubleLinear")
_MAX_HELP_CHARACTERS: Final = 400  # of a command's help in the API
_COUNTED: Final = {"vertex": "vertices", "edge": "edges", "face": "faces", "triangle": "triangles"}


_WRITERS: Final[Mapping[str, Sequence[str]]] = {
    "playblast": ("filename", "f", "completeFilename", "cf"),
    "saveImage": ("image",),
    "cacheFile": ("fileName", "f"),
    "AbcExport": ("jobArg", "j"),
    "mayaUSDExport": ("file", "f"),
    "sysFile": ("copy", "cp", "move", "mov", "rename", "ren", "makeDir", "md"),
}
"""Commands, and the keywords that name their files; `sysFile` writes the file that it is given."""


class _Reading(_Values, ApiSearch, Checking, CodeContext):
    """The operations that read a scene."""

    def namespace(self) -> dict[str, Any]:
        """Return the commands, and the API as ``om``."""
        return {"cmds": cmds, "om": OpenMaya}

    def plain_names(self) -> PlainNames:
        return PLAIN

    @contextmanager
    def in_context(self, warnings: list[str]) -> Iterator[None]:
        """Keep what Maya warns of; refuse a save and an export to a file that was not declared.

        `MCommandMessage` tells of what is printed, and `MSceneMessage` asks before a file is
        written. That another scene is opened, `dcc_bridge_maya.scene` refuses.
        """
        prints, scene = OpenMaya.MCommandMessage, OpenMaya.MSceneMessage

        def note(text: str, kind: int, *_: object) -> None:
            if kind in (prints.kWarning, prints.kError):
                warnings.append(text.strip())

        def saving(*_: object) -> bool:
            return _may_write(str(cmds.file(query=True, sceneName=True)))

        def exporting(file: Any, *_: object) -> bool:
            return _may_write(file.resolvedFullName())

        with ExitStack() as stack:
            end = OpenMaya.MMessage.removeCallback
            stack.callback(end, prints.addCommandOutputCallback(note))
            stack.callback(end, scene.addCheckCallback(scene.kBeforeSaveCheck, saving))
            file_check = scene.addCheckFileCallback(scene.kBeforeExportCheck, exporting)
            stack.callback(end, file_check)
            yield

    def writers(self) -> Sequence[tuple[Any, str, Any]]:
        """Return the commands that write files, except those for which Maya has a check."""
        return [(cmds, name, _named(keywords)) for name, keywords in _WRITERS.items()]

    def items(self, under: str | None = None) -> Iterable[str]:
        """Return the transforms of the scene, or of those below a node."""
        top = dg.node(under) if under else None
        roots = [top] if top else []
        paths = ask.ls(*roots, dag=True, type="transform", long=True)
        return (path for path in paths or [] if path != top)

    def kind(self, item: str) -> str:
        """Return a node's type, or of a transform its shape's."""
        return kind(dg.node(item))

    def name(self, item: str) -> str:
        """Return a node's name without its namespace."""
        return dg.short_name(item).rpartition(":")[2]

    def parent(self, item: str) -> str | None:
        """Return the path of a node's parent; None if it has none."""
        return dg.parent_of(dg.node(item))

    def users(self, thing: str) -> Iterable[str]:
        """Return the users of a file, material or other node, or the members of a set or layer.

        Args:
            thing: The path of a file, or a node.

        Raises:
            LookupError: There is no such file and no such node.
        """
        of_file = [item for item, _, file in self.files() if file == thing]
        if of_file:
            return of_file
        path = dg.node(thing)
        if dg.is_of(path, "displayLayer"):
            return _transforms(ask.editDisplayLayerMembers(path, query=True, fullNames=True))
        if dg.is_of(path, "objectSet"):
            return members(path)
        groups = shading_groups(path)
        if not groups:
            return dict.fromkeys(dg.long_path(name) for name in dg.links(path, source=False))
        items = list[str]()
        for group in groups:
            items += members(group)
        return dict.fromkeys(items)

    def look_into(self, item: str, part: Part) -> Any:
        """Return one part of the facts about an item; None if there are no such facts."""
        path = dg.node(item)
        readers = {
            "values": self._values,
            "inputs": self._inputs,
            "uses": _uses,
            "keys": self._keys,
            "counts": _counts,
            "text": _text,
        }
        if part not in readers:
            return None
        return readers[part](path)

    def bounds(self, item: str) -> Bounds | None:
        """Return the box of the geometry of an item and all below it; None if there is none."""
        # Of geometry only: Maya also has a box of a light or a camera, and any of an empty group.
        shapes = ask.ls(dg.node(item), dag=True, geometry=True, noIntermediate=True, long=True)
        if not shapes:
            return None
        x, y, z, far_x, far_y, far_z = cmds.exactWorldBoundingBox(*shapes)
        return (x, y, z), (far_x, far_y, far_z)

    def types(self) -> Iterable[str]:
        """Return the types of nodes that Maya and its loaded plug-ins can make."""
        return cmds.allNodeTypes()

    def materials(self) -> Iterable[str]:
        """Return the materials of the scene."""
        return ask.ls(materials=True) or []

    def files(self) -> Iterable[tuple[str, str, str]]:
        """Yield the files that nodes use, and the files of references.

        Yields:
            The node, its attribute, and the path of the file.
        """
        for item in dg.nodes_of_type(*FILES):
            prop = FILES[dg.type_of(item)]
            file = ask.getAttr(f"{item}.{prop}")
            if file:
                yield item, prop, str(file)
        for _, of_reference in read_each(ask.file(query=True, reference=True) or [], _reference):
            yield of_reference

    def rules(self) -> Iterable[Rule]:
        """Return the rules that a scene can be checked by."""
        return _RULES

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the items that fail a rule, each with its fault."""
        for item, fault in read_each(items, lambda item: _fault(rule, dg.node(item))):
            if fault:
                yield item, fault

    def api(self) -> Iterator[ApiEntry]:
        """Yield the types of nodes, the attributes of some of them, and the commands."""
        types = cmds.allNodeTypes()
        for name in types:
            bases = ask.nodeType(name, inherited=True, isTypeName=True) or []
            example = f"create {json.dumps({'things': [{'type': name}]})}"
            text = " < ".join(reversed(bases))
            yield ApiEntry(f"create type {name}", "type", text, example=example)
        for node_type in _API_TYPES.split():
            if node_type in types:
                yield from _attributes(node_type)
        for name in ask.help("[a-zA-Z]*", list=True) or []:
            try:
                words = str(ask.help(name, language="python") or "").split()
            except RuntimeError:  # a procedure of a script has no help
                words = []
            text = " ".join(words)[:_MAX_HELP_CHARACTERS]
            yield ApiEntry(f"cmds.{name}", "function", signature=text)

    def said(self) -> Mapping[str, Said]:
        return SAID


def _reference(file: str) -> tuple[str, str, str]:
    """Return the node of a reference, its attribute, and the path of the file as it is written."""
    item = ask.referenceQuery(file, referenceNode=True)
    return item, "file", ask.referenceQuery(file, filename=True, unresolvedName=True)


def _attributes(node_type: str) -> Iterator[ApiEntry]:
    """Yield the attributes of a type of nodes."""
    for name in ask.attributeInfo(type=node_type, allAttributes=True) or []:
        signature = str(ask.attributeQuery(name, type=node_type, attributeType=True))
        if signature == "enum":
            labels = ask.attributeQuery(name, type=node_type, listEnum=True)[0]
            signature = f"enum {labels}"
        example = _set_example(node_type, name, signature)
        yield ApiEntry(f"{node_type}.{name}", "property", signature=signature, example=example)


def _set_example(node_type: str, name: str, signature: str) -> str:
    """Return a call that sets an attribute of an item; "" for one that is no plain number."""
    if node_type not in _ITEM_TYPES or signature not in _NUMBERS:
        return ""
    if not ask.attributeQuery(name, type=node_type, keyable=True):
        return ""
    defaults = ask.attributeQuery(name, type=node_type, listDefault=True)
    if not defaults:
        return ""
    value = other_value(bool(defaults[0]) if signature == "bool" else defaults[0])
    item = "<item>" if node_type == "transform" else f"<{node_type}>"
    return f"set_values {json.dumps({'changes': [{'item': item, 'prop': name, 'value': value}]})}"


def members(group: str) -> list[str]:
    """Return the transforms of which a shape or component is in a set, and its other members."""
    return _transforms(ask.sets(group, query=True))


def _transforms(names: Iterable[str] | None) -> list[str]:
    """Return nodes by their long paths, with transforms in place of shapes and components."""
    paths = list[str]()
    for name in names or []:
        path = dg.long_path(name.partition(".")[0])
        if ask.ls(path, shapes=True):
            path = dg.parent_of(path) or path
        paths.append(path)
    return list(dict.fromkeys(paths))


def shading_groups(material: str) -> list[str]:
    """Return the shading groups that a material shades."""
    return list(dict.fromkeys(dg.links(material, source=False, type="shadingEngine")))


def assigned(path: str) -> list[str]:
    """Return the materials of an item's shapes."""
    groups = list[str]()
    for shape in dg.shapes(path):
        groups += dg.links(shape, type="shadingEngine")
    shaders = list[str]()
    for group in groups:
        shaders += dg.links(f"{group}.surfaceShader")
    return list(dict.fromkeys(shaders))


def history(path: str) -> list[str]:
    """Return the nodes that made an item's shapes; none if something deforms the shapes too."""
    names = list[str]()
    for shape in dg.shapes(path):
        names += ask.listHistory(shape, pruneDagObjects=True) or []
    if any(dg.is_of(name, "geometryFilter") for name in names):
        return []  # without its history the pose would be gone
    return [name for name in names if _makes_shapes(name)]


def _makes_shapes(name: str) -> bool:
    return dg.is_of(name, "polyBase") or dg.is_of(name, "abstractBaseCreate")


def _uses(path: str) -> list[str]:
    """Return the materials and the file of an item, and the nodes connected into it."""
    sources = list[str]()
    for owner in dg.attribute_nodes(path):
        sources += dg.links(owner, destination=False)
    used = assigned(path)
    used += [dg.long_path(name) for name in sources if not dg.is_of(name, "shadingEngine")]
    prop = FILES.get(dg.type_of(path))
    if prop:
        used.append(str(ask.getAttr(f"{path}.{prop}")))
    return list(dict.fromkeys(used))


def _counts(path: str) -> dict[str, int] | None:
    """Return how many vertices, edges, faces and triangles an item's meshes have."""
    counts: dict[str, int] = {}
    for shape in dg.shapes(path, type="mesh"):
        for flag, name in _COUNTED.items():
            count = int(ask.polyEvaluate(shape, **{flag: True}))
            counts[name] = counts.get(name, 0) + count
    return counts or None


def _text(path: str) -> str | None:
    """Return the text of an expression or script, or an item's text or notes."""
    if dg.is_of(path, "expression"):
        return str(ask.expression(path, query=True, string=True))
    if dg.is_of(path, "script"):
        return str(ask.scriptNode(path, query=True, beforeScript=True))
    for owner in dg.attribute_nodes(path):
        for prop in ("text", "notes"):
            if dg.has(owner, prop):
                return str(ask.getAttr(f"{owner}.{prop}") or "") or None
    return None


def _fault(rule: str, path: str) -> str:
    """Return the fault of an item by a rule; "" if it passes. Only the first mesh is looked at."""
    if rule == "history":
        return ", ".join(history(path)[:3])
    if rule == "broken":
        return _missing_input(path)
    meshes = dg.shapes(path, type="mesh")
    if not meshes:
        return ""
    return _mesh_fault(rule, meshes[0])


def _missing_input(path: str) -> str:
    """Return which input a constraint or deformer lacks: "has no target"; "" if it lacks none."""
    for base, prop, what in _NEEDED_INPUTS:
        if dg.is_of(path, base) and dg.has(path, prop):
            sources = dg.links(f"{path}.{prop}", destination=False)
            # The node's own weights are connected there too.
            if all(dg.long_path(source) == path for source in sources):
                return f"has no {what}"
    return ""


def _mesh_fault(rule: str, shape: str) -> str:
    """Return the fault of a mesh by a rule; "" if it passes."""
    if rule == "ngons":
        # A line for each face, "FACE      0:      0      1      3      2"; of faces, not the shape.
        lines = ask.polyInfo(f"{shape}.f[*]", faceToVertex=True) or []
        count = sum(len(line.partition(":")[2].split()) > 4 for line in lines)
        return f"{count} faces" if count else ""
    edges = len(ask.polyInfo(shape, nonManifoldEdges=True) or [])
    faces = len(ask.polyInfo(shape, laminaFaces=True) or [])
    if not edges and not faces:
        return ""
    return f"{edges} edges, {faces} lamina faces"


def _may_write(path: str) -> bool:
    """Return whether the body may write a file: an audit event asks, and Maya must get no error."""
    try:
        sys.audit("open", path, "w", 0)
    except BridgeError:
        return False
    return True


def _named(keywords: Sequence[str]) -> Callable[..., Iterable[Any]]:
    def files(*args: Any, **kwargs: Any) -> Iterable[Any]:
        return [*args, *(kwargs[it] for it in keywords if isinstance(kwargs.get(it), str))]

    return files
