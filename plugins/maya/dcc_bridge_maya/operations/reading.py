"""Reads a scene of Maya: items, what they use, bounds, rules, the API. Main thread.

Traps of the reference: `exactWorldBoundingBox` without an object is that of the selection;
`polyEvaluate` answers in a sentence where there is no mesh; members of a set are components too.
"""

from __future__ import annotations

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
)

from ..plain_names import PLAIN
from ..scene import kind
from . import dg
from .dg import ask
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
_RULES: Final = (
    Rule(
        "non_manifold",
        "edges with more than two faces, or faces with the same edges",
        "run_python: cmds.delete the faces too many, by cmds.polyInfo(nme=True) or (lf=True)",
    ),
    Rule("ngons", "faces with more than four corners", "run_python: cmds.polyTriangulate(item)"),
    Rule("history", "has construction history", 'clean(what=["history"])'),
    Rule(
        "broken",
        "a constraint without a target, or a deformer of nothing",
        "delete it, or connect it again",
    ),
)
_FED: Final = (("constraint", "target", "target"), ("geometryFilter", "input", "geometry"))
_TOLD: Final = "transform camera mesh standardSurface file place2dTexture polyCube areaLight"
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
        """Return the commands that write files, but for those that Maya itself asks about."""
        return [(cmds, name, _named(keywords)) for name, keywords in _WRITERS.items()]

    def items(self, under: str | None = None) -> Iterable[str]:
        top = dg.node(under) if under else None
        paths = ask.ls(*([top] if top else []), dag=True, type="transform", long=True)
        return (path for path in paths or [] if path != top)

    def kind(self, item: str) -> str:
        return kind(dg.node(item))

    def name(self, item: str) -> str:
        return dg.short(item).rpartition(":")[2]  # the namespace says where it is

    def parent(self, item: str) -> str | None:
        return dg.above(dg.node(item))

    def users(self, thing: str) -> Iterable[str]:
        """Return what has a material, is in a set or layer, refers to a file, hangs on a node."""
        if with_file := [item for item, _, file in self.files() if file == thing]:
            return with_file
        path = dg.node(thing)
        if dg.is_of(path, "displayLayer"):
            return _transforms(ask.editDisplayLayerMembers(path, query=True, fullNames=True))
        if dg.is_of(path, "objectSet"):
            return members(path)
        if groups := shading_groups(path):
            return dict.fromkeys(item for group in groups for item in members(group))
        return dict.fromkeys(dg.long(name) for name in dg.links(path, source=False))

    def look_into(self, item: str, part: Part) -> Any:
        path = dg.node(item)
        readers = {
            "values": self._values,
            "inputs": self._inputs,
            "uses": _uses,
            "keys": self._keys,
            "counts": _counts,
            "text": _text,
        }
        return readers[part](path) if part in readers else None

    def bounds(self, item: str) -> Bounds | None:
        # Of the shapes: a light or a camera has a box too, and a group of nothing any.
        shapes = ask.ls(dg.node(item), dag=True, geometry=True, noIntermediate=True, long=True)
        if not shapes:
            return None
        x, y, z, far_x, far_y, far_z = cmds.exactWorldBoundingBox(*shapes)
        return (x, y, z), (far_x, far_y, far_z)

    def types(self) -> Iterable[str]:
        return cmds.allNodeTypes()

    def materials(self) -> Iterable[str]:
        return ask.ls(materials=True) or []

    def files(self) -> Iterable[tuple[str, str, str]]:
        for item in dg.of_type(*FILES):
            prop = FILES[dg.type_of(item)]
            if file := ask.getAttr(f"{item}.{prop}"):
                yield item, prop, str(file)
        for file in ask.file(query=True, reference=True) or []:
            item = ask.referenceQuery(file, referenceNode=True)
            yield item, "file", ask.referenceQuery(file, filename=True, unresolvedName=True)

    def rules(self) -> Iterable[Rule]:
        return _RULES

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        for item in items:
            path = dg.node(item)
            if rule == "history":
                whys = [", ".join(history(path)[:3])]
            elif rule == "broken":
                whys = [_unfed(path)]
            else:
                whys = [_mesh_failure(rule, shape) for shape in dg.shapes(path, type="mesh")]
            yield from ((item, why) for why in whys[:1] if why)

    def api(self) -> Iterator[ApiEntry]:
        types = cmds.allNodeTypes()
        for name in types:
            bases = ask.nodeType(name, inherited=True, isTypeName=True) or []
            yield ApiEntry(f"create type {name}", "type", " < ".join(reversed(bases)))
        for of in (name for name in _TOLD.split() if name in types):
            for name in ask.attributeInfo(type=of, allAttributes=True) or []:
                told = ask.attributeQuery(name, type=of, attributeType=True)
                if told == "enum":
                    told = f"enum {ask.attributeQuery(name, type=of, listEnum=True)[0]}"
                yield ApiEntry(f"{of}.{name}", "property", signature=str(told))
        for name in ask.help("[a-zA-Z]*", list=True) or []:
            try:
                lines = str(ask.help(name, language="python") or "").split()
            except RuntimeError:  # a procedure of a script has no help
                lines = []
            yield ApiEntry(f"cmds.{name}", "function", signature=" ".join(lines)[:400])


def members(group: str) -> list[str]:
    """List the transforms in a set, a face of theirs being enough; other nodes as they are."""
    return _transforms(ask.sets(group, query=True))


def _transforms(names: Iterable[str] | None) -> list[str]:
    paths = [dg.long(name.partition(".")[0]) for name in names or []]
    return list(dict.fromkeys(dg.above(p) or p if ask.ls(p, shapes=True) else p for p in paths))


def shading_groups(material: str) -> list[str]:
    """List the shading groups that a material shades."""
    return list(dict.fromkeys(dg.links(material, source=False, type="shadingEngine")))


def assigned(path: str) -> list[str]:
    """List the materials of an item's shapes."""
    groups = [group for one in dg.shapes(path) for group in dg.links(one, type="shadingEngine")]
    shaders = [name for group in groups for name in dg.links(f"{group}.surfaceShader")]
    return list(dict.fromkeys(shaders))


def history(path: str) -> list[str]:
    """List what the shapes are made by; nothing where something deforms them too."""
    names = [
        name
        for shape in dg.shapes(path)
        for name in ask.listHistory(shape, pruneDagObjects=True) or []
    ]
    if any(dg.is_of(name, "geometryFilter") for name in names):  # without it the pose is gone
        return []
    return [n for n in names if dg.is_of(n, "polyBase") or dg.is_of(n, "abstractBaseCreate")]


def _uses(path: str) -> list[str]:
    """Return materials, files and the nodes that lead into an item."""
    ends = [name for place in dg.places(path) for name in dg.links(place, destination=False)]
    nodes = [dg.long(name) for name in ends if not dg.is_of(name, "shadingEngine")]
    prop = FILES.get(dg.type_of(path))
    file = [str(ask.getAttr(f"{path}.{prop}"))] if prop else []
    return list(dict.fromkeys([*assigned(path), *nodes, *file]))


def _counts(path: str) -> dict[str, int] | None:
    counts: dict[str, int] = {}
    for shape in dg.shapes(path, type="mesh"):
        for flag, name in _COUNTED.items():
            counts[name] = counts.get(name, 0) + int(ask.polyEvaluate(shape, **{flag: True}))
    return counts or None


def _text(path: str) -> str | None:
    if dg.is_of(path, "expression"):
        return str(ask.expression(path, query=True, string=True))
    if dg.is_of(path, "script"):
        return str(ask.scriptNode(path, query=True, beforeScript=True))
    for place, prop in ((place, prop) for place in dg.places(path) for prop in ("text", "notes")):
        if dg.has(place, prop):
            return str(ask.getAttr(f"{place}.{prop}") or "") or None
    return None


def _unfed(path: str) -> str:
    """Say what does not lead into a constraint or deformer, or nothing."""
    for base, prop, what in _FED:
        if dg.is_of(path, base) and dg.has(path, prop):
            ends = dg.links(f"{path}.{prop}", destination=False)
            if all(dg.long(end) == path for end in ends):  # its own weights lead there too
                return f"has no {what}"
    return ""


def _mesh_failure(rule: str, shape: str) -> str:
    if rule == "ngons":  # "FACE      0:      0      1      3      2"; of faces, not of the shape
        lines = ask.polyInfo(f"{shape}.f[*]", faceToVertex=True) or []
        count = sum(len(line.partition(":")[2].split()) > 4 for line in lines)
        return f"{count} faces" if count else ""
    edges = len(ask.polyInfo(shape, nonManifoldEdges=True) or [])
    faces = len(ask.polyInfo(shape, laminaFaces=True) or [])
    return f"{edges} edges, {faces} lamina faces" if edges or faces else ""


def _may_write(path: str) -> bool:
    """Have the trip wire asked about a file; an exception Maya would only print."""
    try:
        sys.audit("open", path, "w", 0)
    except BridgeError:
        return False
    return True


def _named(keywords: Sequence[str]) -> Callable[..., Iterable[Any]]:
    def files(*args: Any, **kwargs: Any) -> Iterable[Any]:
        return [*args, *(kwargs[it] for it in keywords if isinstance(kwargs.get(it), str))]

    return files
