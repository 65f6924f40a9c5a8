"""Reads a scene of Houdini: its nodes, what they use, and what is wrong. Main thread."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
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
    Said,
    SocketLink,
    other_value,
    read_each,
    triple,
)

from .. import host as houdini
from ..plain_names import PLAIN
from .said import said_of
from .values import lock_reason, value_with_lock

_MAX_KEYS: Final = 100  # of each parameter, when an agent looks into an item
_MAX_COMPLAINING: Final = 10_000  # nodes whose errors and warnings are read
_UNNAMED: Final = ("saveAndIncrementFileName", "saveAndBackup", "saveAsBackup")
_PICTURES: Final = ("sopoutput", "vm_picture", "picture", "lopoutput", "outputimage", "copoutput")
_NETWORKS: Final = {"Vop": "/mat", "Lop": "/stage", "Driver": "/out"}
"""The networks that each scene has, by the category of the nodes in them."""
_SET_VALUES: Final = "set_values(items=[item], values={parm: value})"
COOKS: Final = Rule(
    "cooks",
    f"Houdini cannot cook these nodes; {_SET_VALUES}, or connect, changes what the error names.",
    _SET_VALUES,
)


class _Reads(ApiSearch, Building, Checking, CodeContext, Keyframes):
    """The operations that read a scene."""

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
        """Return the paths of nodes, level by level, except those inside locked assets."""
        return (node.path() for node in descendants(find(under or "/")))

    def kind(self, item: str) -> str:
        """Return the type of a node: "geo"."""
        return find(item).type().name()

    def name(self, item: str) -> str:
        """Return the name of a node, or of a set ("/obj/@name")."""
        if "/@" in item:
            return item.rpartition("/@")[2]
        return find(item).name()

    def parent(self, item: str) -> str | None:
        """Return the object that an object follows, or else the network that a node is in."""
        node = find(item)
        above = node.parent()
        if isinstance(node, hou.ObjNode):
            inputs = node.inputs()
            if inputs and inputs[0] is not None:
                above = inputs[0]
        if above is None or above.path() == "/":
            return None
        return above.path()

    def users(self, thing: str) -> Iterator[str]:
        """Yield the users of a file or node, or the members of a set.

        Args:
            thing: The path of a file, of a node, or of a set ("/obj/@name").

        Raises:
            LookupError: There is no such file and no such node.
        """
        of_file = [item for item, _, path in self.files() if path == thing]
        if of_file:
            yield from dict.fromkeys(of_file)
            return
        network, separator, name = thing.rpartition("/@")
        group = find(network).nodeGroup(name) if separator else None
        if group is not None:
            users: list[Any] = [*group.nodes()]
        else:
            users = [*find(thing).outputs(), *find(thing).dependents(False)]
        yield from dict.fromkeys(user.path() for user in users if user.path() != thing)

    def look_into(self, item: str, part: Part) -> Any:
        """Return one part of the facts about a node; None if there are no such facts."""
        node = find(item)
        match part:
            case "values":
                tuples = {parms.name(): parms for parms in node.parmTuples() if _is_listed(parms)}
                return dict(read_each(tuples, lambda name: value_with_lock([*tuples[name]])))
            case "inputs":
                return [_link(connection) for connection in node.inputConnections()]
            case "uses":
                return self._uses(item)
            case "keys":
                return self._keys(item) or None
            case "counts":
                return _counts(node)
            case "text":
                return _text(node) or None
        return None

    def _uses(self, item: str) -> list[str]:
        """Return the nodes and files that a node uses."""
        node = find(item)
        nodes = [each for each in (*node.inputs(), *node.references(False)) if each]
        paths = dict.fromkeys(each.path() for each in nodes if each.path() != item)
        files = [path for name, _, path in self.files() if name == item]
        return [*paths, *files]

    def _keys(self, item: str) -> dict[str, list[tuple[float, Any]]]:
        """Return the first keys of each keyed parameter or tuple of a node."""
        keys = dict[str, list[tuple[float, Any]]]()
        for parms in find(item).parmTuples():
            for name, keyed in read_each(_keyed(parms), partial(self.keys, item)):
                keys[name] = keyed[:_MAX_KEYS]
        return keys

    def bounds(self, item: str) -> Bounds | None:
        """Return the box in the world of the shapes of a node and of all objects below it."""
        boxes = [_box(node) for node in _with_shapes(find(item))]
        lows = [box[0] for box in boxes if box is not None]
        highs = [box[1] for box in boxes if box is not None]
        if not lows:
            return None
        low = [min(numbers) for numbers in zip(*lows, strict=True)]
        high = [max(numbers) for numbers in zip(*highs, strict=True)]
        return triple(low), triple(high)

    def types(self) -> list[str]:
        """Return the types of nodes of all categories."""
        names = list[str]()
        for category in hou.nodeTypeCategories().values():
            names += category.nodeTypes()
        return list(dict.fromkeys(names))

    def files(self) -> Iterator[tuple[str, str, str]]:
        """Yield the files that nodes use.

        Yields:
            The node, its parameter, and the path of the file.
        """
        for parm, path in hou.fileReferences():
            if parm is not None:  # else the file is an asset's library
                yield parm.node().path(), parm.name(), path

    # ---- check and find_api

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules that a scene can be checked by."""
        return (COOKS,)

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield each node with its errors; "" for a node without an error."""
        yield from read_each(items, lambda item: " ".join(find(item).errors()))

    def api(self) -> Iterator[ApiEntry]:
        """Yield the types of nodes with their parameters."""
        for category in hou.nodeTypeCategories().values():
            for name, kind in category.nodeTypes().items():
                example = _create_example(name, category.name())
                text = kind.description()
                yield ApiEntry(f"create type {name}", "type", text, category.name(), example, text)
                for template in kind.parmTemplates():
                    signature = f"{template.type().name()}[{template.numComponents()}]"
                    key = f"{name}.{template.name()}"
                    example = _set_example(name, category.name(), template)
                    label = template.label()
                    yield ApiEntry(key, "property", label, signature, example, label)

    def said(self) -> Mapping[str, Said]:
        return said_of(self.types())


def _set_example(kind: str, category: str, template: hou.ParmTemplate) -> str:
    """Return a call that sets a parameter of an object; "" for one that is no single number."""
    if category != "Object" or not isinstance(template, hou.FloatParmTemplate):
        return ""
    if template.numComponents() != 1:
        return ""
    value = other_value(template.defaultValue()[0])
    change = {"item": f"<{kind}>", "prop": template.name(), "value": value}
    return f"set_values {json.dumps({'changes': [change]})}"


def _create_example(kind: str, category: str) -> str:
    """Return the call that creates a node; "" for a type of a network that may not be there."""
    thing = {"type": kind}
    if category in _NETWORKS:
        thing["under"] = _NETWORKS[category]
    elif category not in ("Object", "Sop"):
        return ""
    return f"create {json.dumps({'things': [thing]})}"


def find(path: str) -> hou.OpNode:
    """Return the node at a path.

    Raises:
        LookupError: There is no such node. The message names near ones.
    """
    try:
        return houdini.find(path)
    except LookupError as error:
        above, _, name = path.rpartition("/")
        network = hou.node(above or "/")
        names = [child.name() for child in network.children()] if network is not None else []
        near = ", ".join(f"{above}/{each}" for each in get_close_matches(name, names, 3))
        hint = f" Names like it: {near}." if near else ""
        raise LookupError(f"{error}{hint}") from None


def _of(name: str) -> list[type]:
    """Return a class of ``hou``, if this version has it."""
    return [vars(hou)[name]] if name in vars(hou) else []


def _rendered(node: hou.RopNode, *_: object, **options: Any) -> list[str | None]:
    """Return the paths that a node would write to, as far as its parameters say."""
    parms = filter(None, map(node.parm, _PICTURES))
    return [options.get("output_file") or next((it.evalAsString() for it in parms), None)]


def _complaints() -> Iterator[str]:
    """Yield the errors and warnings of nodes; of a large scene only of the uppermost nodes."""
    for node in islice(descendants(find("/")), _MAX_COMPLAINING):
        for text in (*node.errors(), *node.warnings()):
            yield f"{node.path()}: {text}"


def descendants(node: hou.Node) -> Iterator[hou.Node]:
    """Yield the nodes inside a node and the followers of an object, level by level."""
    queue = [node]
    seen = set[str]()
    for above in queue:  # the list grows meanwhile
        for each in (*_insides(above), *_followers(above)):
            if each.path() not in seen:
                seen.add(each.path())
                queue.append(each)
                yield each


def _insides(node: hou.Node) -> Sequence[hou.Node]:
    """Return the nodes directly inside a node; none of a locked asset."""
    if isinstance(node, hou.OpNode) and node.isLockedHDA():
        return ()
    return node.children()


def _followers(node: hou.Node) -> Sequence[hou.Node]:
    """Return the objects that follow an object."""
    if not isinstance(node, hou.ObjNode):
        return ()
    return node.outputs()


def _keyed(parms: hou.ParmTuple) -> list[str]:
    """Return the names of the keyed parameters of a tuple, or of the tuple if all are keyed."""
    names = [parm.name() for parm in parms if parm.keyframes()]
    if len(names) == len(parms):
        return [parms.name()]
    return names


def _is_listed(parms: hou.ParmTuple) -> bool:
    """Return whether a person sees a tuple, and JSON can carry its values."""
    kinds = hou.parmTemplateType
    listed = (kinds.Int, kinds.Float, kinds.String, kinds.Toggle, kinds.Menu)
    return parms.parmTemplate().type() in listed and not parms.isHidden()


def _link(connection: hou.OpNodeConnection) -> SocketLink:
    source = connection.inputNode()
    target = connection.outputNode()
    assert source is not None
    assert target is not None
    return SocketLink(source.path(), connection.outputName(), target.path(), connection.inputName())


def _text(node: hou.OpNode) -> dict[str, str]:
    """Return why parameters are locked, by their names, and the node's comment."""
    texts = dict[str, str]()
    for parm in node.parms():
        lock = lock_reason(parm)
        if lock:
            texts[parm.name()] = lock
    if node.comment():
        texts["comment"] = node.comment()
    return texts


def _counts(node: hou.OpNode) -> dict[str, Any] | None:
    """Return how many children a node has, and how many points, faces and vertices its shape."""
    counts: dict[str, Any] = {}
    if node.children():
        counts["children"] = len(node.children())
    shape = geometry_of(node)
    if shape is not None:
        counts["points"] = shape.intrinsicValue("pointcount")
        counts["faces"] = shape.intrinsicValue("primitivecount")
        counts["vertices"] = shape.intrinsicValue("vertexcount")
    return counts or None


def geometry_of(node: hou.Node) -> hou.Geometry | None:
    """Return the shape that an object displays, or that a node in an object makes."""
    shown = node.displayNode() if isinstance(node, hou.ObjNode) else node
    if not isinstance(shown, hou.SopNode):
        return None
    return shown.geometry()


def _with_shapes(node: hou.OpNode) -> Iterable[hou.Node]:
    """Return the nodes that may have a shape: the node itself, and the objects below it."""
    return [node, *(each for each in descendants(node) if isinstance(each, hou.ObjNode))]


def _box(node: hou.Node) -> Bounds | None:
    """Return the box of a node's shape in the world; None if the shape has no points."""
    shape = geometry_of(node)
    if shape is None or not shape.intrinsicValue("pointcount"):
        return None
    above = node if isinstance(node, hou.ObjNode) else node.parent()
    world = above.worldTransform() if isinstance(above, hou.ObjNode) else None
    box = shape.boundingBox(world)
    return triple(box.minvec()), triple(box.maxvec())
