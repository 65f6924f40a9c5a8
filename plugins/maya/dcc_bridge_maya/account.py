"""The account of an undo step: what is different in the scene, with values before and now.

A `Snapshot` is taken as a step begins, and compared once the step is closed. Maya reports no value
before it changes, so the values of the first nodes are read: those of the Channel Box, the names of
files, and attributes that somebody added. Of other nodes only the change is told. All statements
about Maya come from Autodesk's reference of its commands; none was run in Maya. Main thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from maya import cmds

from dcc_bridge.spi import SCENE, Account, path_changes, readable, value_change

from .losses import BOOKKEEPING
from .operations import dg
from .operations.dg import ask
from .operations.plug_values import plain
from .operations.scene_settings import read_setting
from .operations.values import keys_of_plug

_MAX_READ: Final = 500  # nodes whose values are compared
_MAX_WATCHED: Final = 10_000  # further nodes of which it is told that they changed
_SETTINGS: Final = ("frame", "start", "end", "fps", "camera", "size", "units")
_LISTED: Final = ("keyable", "channelBox", "usedAsFilename", "userDefined")
_MEMBERS: Final = ("dagSetMembers", "dnSetMembers")  # told of the members
_NO_VALUE: Final = (RuntimeError, ValueError, TypeError)  # an attribute has none, or is not there


class Node(NamedTuple):
    """A node as `census` lists it.

    Attributes:
        path: The long path, or the name of a node that is not in the DAG.
        type: The node's type.
    """

    path: str
    type: str


@dataclass
class _Facts:
    """The facts of a node that are compared.

    Attributes:
        values: The values as Maya returns them, by the names of attributes.
        sources: The keys or the source of each connected attribute.
        groups: The materials, sets and layer that the node is in.
    """

    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)


def census() -> dict[str, Node]:
    """Return all nodes by UUID; further nodes of the same UUID by UUID and name."""
    nodes: dict[str, Node] = {}
    listed = ask.ls(long=True, showType=True) or []  # each node's name and type, in turn
    names = listed[::2]
    ids = cmds.ls(names, uuid=True) or []
    for uuid, name, kind in zip(ids, names, listed[1::2], strict=True):
        key = f"{uuid} {name}" if uuid in nodes else uuid  # of a file that is referenced twice
        nodes[key] = Node(name, kind)
    return nodes


class Snapshot:
    """The values of a scene as a step began, as far as they are read."""

    def __init__(self) -> None:
        self._is_shape: dict[str, bool] = {}  # by type
        self._nodes = census()
        self._settings = _settings()
        self._units = _units()
        told = [key for key, node in self._nodes.items() if self._is_told(node)]
        self._facts: dict[str, _Facts] = {}
        for key in told[:_MAX_READ]:
            facts = readable(self._nodes[key].path, self._read, self._nodes[key])
            if facts is not None:
                self._facts[key] = facts
        self.others = [self._nodes[key].path for key in told[_MAX_READ:][:_MAX_WATCHED]]
        """The nodes whose values were not read."""

    def account(self, touched: Collection[str]) -> Account:
        """Return what is different now.

        Args:
            touched: The UUIDs of those of `others` of which an attribute was set.
        """
        now = census()
        items = path_changes(self._items(self._nodes), self._items(now), "|")
        created = [*items.created, *self._lone_shapes(now, self._nodes)]
        deleted = [*items.deleted, *self._lone_shapes(self._nodes, now)]
        changed = [*items.changed, *self._changed_settings()]
        for key, facts in self._facts.items():
            if key in now:
                changed += readable(now[key].path, self._changes, now[key], facts) or ()
        for key, node in now.items():
            if key.partition(" ")[0] in touched:
                changed.append(node.path)
        return Account(created, changed, deleted)

    def _is_told(self, node: Node) -> bool:
        """Return whether a person knows of such a node; of keys its attribute tells."""
        return node.type not in BOOKKEEPING and not node.type.startswith("animCurve")

    def _is_of_shape(self, node: Node) -> bool:
        if node.type not in self._is_shape:
            bases = ask.nodeType(node.type, inherited=True, isTypeName=True) or []
            self._is_shape[node.type] = "shape" in bases
        return self._is_shape[node.type]

    def _items(self, nodes: Mapping[str, Node]) -> dict[str, str]:
        """Return the paths of the nodes that are told by themselves: not shapes."""
        items = {}
        for key, node in nodes.items():
            if self._is_told(node) and not self._is_of_shape(node):
                items[key] = node.path
        return items

    def _lone_shapes(self, nodes: Mapping[str, Node], others: Mapping[str, Node]) -> Iterator[str]:
        """Yield the shapes that only the first nodes have, of transforms that all have."""
        paths = {node.path for key, node in nodes.items() if key in others}
        for key, node in nodes.items():
            if key not in others and self._is_of_shape(node) and dg.parent_of(node.path) in paths:
                yield node.path

    def _changed_settings(self) -> Iterator[str]:
        now = _settings()
        for name, before in self._settings.items():
            if now.get(name) != before:
                yield value_change(SCENE, name, before, now.get(name))

    # ---- the facts of a node

    def _read(self, node: Node, known: Collection[str] = ()) -> _Facts:
        """Return the facts of a node.

        Args:
            node: The node.
            known: Attributes to read, though they may not be listed any more.
        """
        facts = _Facts()
        for name in dict.fromkeys([*_attributes(node.path), *known]):
            with suppress(*_NO_VALUE):
                facts.values[name] = ask.getAttr(f"{node.path}.{name}")
        links = dg.links(node.path, destination=False, plugs=True, connections=True)
        for target, source in zip(links[::2], links[1::2], strict=True):
            name = target.partition(".")[2]
            if not name.startswith(_MEMBERS):
                facts.sources[name] = _source(f"{node.path}.{name}", source)
        facts.groups = _groups(node.path)
        return facts

    def _changes(self, node: Node, before: _Facts) -> list[str]:
        """Return what changed in a node that was there before."""
        now = self._read(node, before.values)
        changed: list[str] = []
        if self._units == _units():  # else all numbers are others
            changed += self._changed_values(node, before, now)
        for name in {**before.sources, **now.sources}:
            old = before.sources.get(name)
            new = now.sources.get(name)
            if old and new and self._units != _units():
                continue
            if old != new:
                old = old or _told(node.path, name, before)
                new = new or _told(node.path, name, now)
                changed.append(value_change(self._item(node, name), name, old, new))
        for name in {**before.groups, **now.groups}:
            old_groups = before.groups.get(name)
            new_groups = now.groups.get(name)
            if old_groups != new_groups:
                changed.append(value_change(self._item(node, name), name, old_groups, new_groups))
        return changed

    def _changed_values(self, node: Node, before: _Facts, now: _Facts) -> Iterator[str]:
        differing = []
        for name in {**before.values, **now.values}:
            is_driven = any(_covers(source, name) for source in (*before.sources, *now.sources))
            if not is_driven and before.values.get(name) != now.values.get(name):
                differing.append(name)
        for name, parts in _compounds(node.path, differing).items():
            old = [_told(node.path, part, before) for part in parts]
            new = [_told(node.path, part, now) for part in parts]
            if len(parts) == 1:
                yield value_change(self._item(node, name), name, old[0], new[0])
            else:
                yield value_change(self._item(node, name), name, old, new)

    def _item(self, node: Node, name: str) -> str:
        """Return the item that has an attribute of a node: of a shape, its transform."""
        above = dg.parent_of(node.path)
        if above is None or not self._is_of_shape(node) or dg.has(above, name):
            return node.path
        return above


def _attributes(path: str) -> list[str]:
    """Return the names of the attributes that are compared."""
    names: list[str] = []
    for flag in _LISTED:
        names += ask.listAttr(path, **{flag: True}) or []
    return [name for name in names if "." not in name]


def _settings() -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name in _SETTINGS:
        with suppress(*_NO_VALUE):
            settings[name] = read_setting(name)
    return settings


def _units() -> list[Any]:
    return [cmds.currentUnit(query=True, linear=True), cmds.currentUnit(query=True, angle=True)]


def _source(plug: str, source: str) -> str:
    """Return the keys of an attribute, or what it is connected to.

    Args:
        plug: The attribute.
        source: The attribute that is connected to it.
    """
    if not dg.is_of(source.partition(".")[0], "animCurve"):
        return f"connected to {source}"
    keys = [f"{frame:g}: {value:g}" for frame, value in keys_of_plug(plug).items()]
    return f"keys {', '.join(keys)}"


def _groups(path: str) -> dict[str, list[str]]:
    """Return the materials, sets and layer of a node."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(dg.links(path, source=False, type="objectSet")):
        if not dg.is_of(name, "shadingEngine"):
            groups.setdefault("sets", []).append(name)
            continue
        shaders = dg.links(f"{name}.surfaceShader", destination=False) or [name]
        groups.setdefault("material", []).append(shaders[0])
    layers = dg.links(path, type="displayLayer")
    if layers:
        groups["layer"] = layers[:1]
    return groups


def _covers(source: str, name: str) -> bool:
    """Return whether a connection of one attribute is of another one, or of its compound."""
    return name == source or name[:-1] == source


def _told(path: str, name: str, facts: _Facts) -> Any:
    """Return a value that was read, as an agent knows it; None if there was none."""
    if name not in facts.values:
        return None
    value = facts.values[name]
    with suppress(*_NO_VALUE):  # the attribute is gone
        return plain(f"{path}.{name}", value)
    return value


def _compounds(path: str, names: Collection[str]) -> dict[str, list[str]]:
    """Return attributes with their parts: of a compound of which several parts are among them."""
    parts_by_name: dict[str, list[str]] = {}
    for name in names:
        owner = ""
        with suppress(*_NO_VALUE):  # the attribute is gone
            owner = (dg.about(f"{path}.{name}", listParent=True) or [""])[0]
        parts = [plug.partition(".")[2] for plug in dg.parts(f"{path}.{owner}")] if owner else []
        if sum(part in names for part in parts) > 1:
            parts_by_name[owner] = parts
        else:
            parts_by_name[name] = [name]
    return parts_by_name
