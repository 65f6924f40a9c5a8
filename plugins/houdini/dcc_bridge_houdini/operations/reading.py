"""Reads a scene of Houdini: its nodes, what they use, and what is wrong. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

import hou

from dcc_bridge.spi import (
    ApiEntry,
    ApiSearch,
    Bounds,
    Building,
    Checking,
    CodeContext,
    Keyframes,
    Part,
    PlainNames,
    Rule,
    SocketLink,
    Value,
    triple,
)

from .. import host as houdini
from ..plain_names import PLAIN
from .values import held, value_of

_MOST_KEYS: Final = 100
_MOST_LOOKED_AT: Final = 10_000
_UNNAMED: Final = ("saveAndIncrementFileName", "saveAndBackup", "saveAsBackup")
_PICTURES: Final = ("sopoutput", "vm_picture", "picture", "lopoutput", "outputimage", "copoutput")
COOKS: Final = Rule("cooks", "Houdini reports an error", "set_values or connect, as the error says")


class _Reads(ApiSearch, Building, Checking, CodeContext, Keyframes):
    """The operations on what there is."""

    def namespace(self) -> dict[str, Any]:
        return {"hou": hou}

    def plain_names(self) -> PlainNames:
        return PLAIN

    @contextmanager
    def in_context(self, warnings: list[str]) -> Iterator[None]:
        """Keep what nodes say of their last cook now and did not say before."""
        before = {*_complaints()}
        yield
        warnings += [it for it in _complaints() if it not in before]

    def writers(self) -> Sequence[tuple[Any, str, Any]]:
        """Return the functions of `hou` that write files; nodes that cook write theirs unasked."""
        rows = [
            (hou.hipFile, "save", lambda path=None, *_, **__: [path or hou.hipFile.path()]),
            *((hou.hipFile, name, lambda *_, **__: [None]) for name in _UNNAMED),
            *((it, "saveItemsToFile", lambda _, __, file, *___: [file]) for it in _of("OpNode")),
            *((it, "saveToFile", lambda _, file, *__: [file]) for it in _of("Geometry")),
            *((it, "render", _rendered) for it in _of("RopNode")),
        ]
        return [row for row in rows if row[1] in vars(row[0])]

    def items(self, under: str | None = None) -> Iterator[str]:
        """Return the paths of nodes, level by level; what is inside locked assets is theirs."""
        return (node.path() for node in below(find(under or "/")))

    def kind(self, item: str) -> str:
        return find(item).type().name()

    def name(self, item: str) -> str:
        return item.rpartition("/@")[2] if "/@" in item else find(item).name()

    def parent(self, item: str) -> str | None:
        """Return the object that one follows, or the network that a node is in."""
        node = find(item)
        followed = node.inputs()[:1] if isinstance(node, hou.ObjNode) else ()
        above = followed[0] if followed and followed[0] is not None else node.parent()
        return None if above is None or above.path() == "/" else above.path()

    def users(self, thing: str) -> Iterator[str]:
        """Yield the nodes that take a node's output or refer to it, or that read a file."""
        by_file = [item for item, _, path in self.files() if path == thing]
        if by_file:
            yield from dict.fromkeys(by_file)
            return
        network, is_set, name = thing.rpartition("/@")
        if is_set and (group := find(network).nodeGroup(name)) is not None:
            users = [*group.nodes()]
        else:
            users = [*find(thing).outputs(), *find(thing).dependents(False)]
        yield from dict.fromkeys(user.path() for user in users if user.path() != thing)

    def look_into(self, item: str, part: Part) -> Any:
        node = find(item)
        match part:
            case "values":
                return {each.name(): _told(each) for each in node.parmTuples() if _is_told(each)}
            case "inputs":
                return [_link(each) for each in node.inputConnections()]
            case "uses":
                used = [each for each in (*node.inputs(), *node.references(False)) if each]
                files = [path for name, _, path in self.files() if name == item]
                nodes = dict.fromkeys(each.path() for each in used if each.path() != item)
                return [*nodes, *files]
            case "keys":
                names = [name for parms in node.parmTuples() for name in _keyed(parms)]
                return {name: self.keys(item, name)[:_MOST_KEYS] for name in names} or None
            case "counts":
                return _counts(node)
            case "text":
                texts = {parm.name(): text for parm in node.parms() if (text := held(parm))}
                return texts | ({"comment": node.comment()} if node.comment() else {}) or None
        return None

    def bounds(self, item: str) -> Bounds | None:
        """Return the box of an object's displayed shape in the world, and of all that is inside."""
        boxes = [box for node in _shown(find(item)) if (box := _box(node)) is not None]
        if not boxes:
            return None
        lows, highs = (list(zip(*corners, strict=True)) for corners in zip(*boxes, strict=True))
        return triple(map(min, lows)), triple(map(max, highs))

    def types(self) -> list[str]:
        categories = hou.nodeTypeCategories().values()
        return list(dict.fromkeys(name for it in categories for name in it.nodeTypes()))

    def files(self) -> Iterator[tuple[str, str, str]]:
        for parm, path in hou.fileReferences():
            if parm is not None:  # what no parameter names is an asset's library
                yield parm.node().path(), parm.name(), path

    # ---- check and find_api

    def rules(self) -> tuple[Rule, ...]:
        return (COOKS,)

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        for item in items:
            yield item, " ".join(find(item).errors())

    def api(self) -> Iterator[ApiEntry]:
        for category in hou.nodeTypeCategories().values():
            for name, kind in category.nodeTypes().items():
                yield ApiEntry(f"create type {name}", "type", kind.description(), category.name())
                for template in kind.parmTemplates():
                    form = template.type().name()
                    size = f"{form}[{template.numComponents()}]"
                    yield ApiEntry(f"{name}.{template.name()}", "property", template.label(), size)


def find(path: str) -> hou.OpNode:
    """Find a node; LookupError names those that are near."""
    try:
        return houdini.find(path)
    except LookupError as error:
        above, _, name = path.rpartition("/")
        network = hou.node(above or "/")
        names = [child.name() for child in network.children()] if network is not None else []
        near = ", ".join(f"{above}/{each}" for each in get_close_matches(name, names, 3))
        raise LookupError(str(error) + (f" Near: {near}." if near else "")) from None


def _of(name: str) -> list[type]:
    """Return a class of ``hou``, if this version has it."""
    return [vars(hou)[name]] if name in vars(hou) else []


def _rendered(node: hou.RopNode, *_: object, **options: Any) -> list[str | None]:
    """Return the paths that a node would write to, as far as its parameters say."""
    parms = filter(None, map(node.parm, _PICTURES))
    return [options.get("output_file") or next((it.evalAsString() for it in parms), None)]


def _complaints() -> Iterator[str]:
    """Say which nodes have an error or a warning; of a large scene only those at the top."""
    for node in islice(below(find("/")), _MOST_LOOKED_AT):
        yield from (f"{node.path()}: {text}" for text in (*node.errors(), *node.warnings()))


def below(node: hou.Node) -> Iterator[hou.Node]:
    """Walk what is inside a node, and of an object what follows it, level by level."""
    ahead, seen = [node], set[str]()
    for above in ahead:  # the list grows meanwhile
        followers = above.outputs() if isinstance(above, hou.ObjNode) else ()
        is_open = not (isinstance(above, hou.OpNode) and above.isLockedHDA())
        for each in (*(above.children() if is_open else ()), *followers):
            if each.path() not in seen:
                seen.add(each.path())
                ahead.append(each)
                yield each


def _keyed(parms: hou.ParmTuple) -> list[str]:
    """Name what has keys: all of a tuple, or some of it."""
    names = [parm.name() for parm in parms if parm.keyframes()]
    return [parms.name()] if len(names) == len(parms) else names


def _told(parms: hou.ParmTuple) -> Value:
    why = next((text for parm in parms if (text := held(parm))), "")
    return Value(value_of(parms), parms.parmTemplate().type().name(), why)


def _is_told(parms: hou.ParmTuple) -> bool:
    kinds = hou.parmTemplateType
    is_value = parms.parmTemplate().type() in (
        *(kinds.Int, kinds.Float, kinds.String, kinds.Toggle, kinds.Menu),
    )
    return is_value and not parms.isHidden()


def _link(it: hou.OpNodeConnection) -> SocketLink:
    source, target = it.inputNode(), it.outputNode()
    assert source is not None
    assert target is not None
    return SocketLink(source.path(), it.outputName(), target.path(), it.inputName())


def _counts(node: hou.OpNode) -> dict[str, Any] | None:
    counts: dict[str, Any] = {"children": len(node.children())} if node.children() else {}
    shape = geometry_of(node)
    if shape is not None:
        counts["points"] = shape.intrinsicValue("pointcount")
        counts["faces"] = shape.intrinsicValue("primitivecount")
        counts["vertices"] = shape.intrinsicValue("vertexcount")
    return counts or None


def geometry_of(node: hou.Node) -> hou.Geometry | None:
    """Return what an object displays, or what a node in one makes."""
    shown = node.displayNode() if isinstance(node, hou.ObjNode) else node
    return shown.geometry() if isinstance(shown, hou.SopNode) else None


def _shown(node: hou.OpNode) -> Iterable[hou.Node]:
    """Return what has a shape: the node itself, and the objects below it."""
    return [node, *(each for each in below(node) if isinstance(each, hou.ObjNode))]


def _box(node: hou.Node) -> Bounds | None:
    shape = geometry_of(node)
    if shape is None or not shape.intrinsicValue("pointcount"):
        return None
    above = node if isinstance(node, hou.ObjNode) else node.parent()
    world = above.worldTransform() if isinstance(above, hou.ObjNode) else None
    box = shape.boundingBox(world)
    return triple(box.minvec()), triple(box.maxvec())
