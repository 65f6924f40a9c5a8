"""The content of an item, and its references: links, uses, keys and texts. Main thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import bpy

from dcc_bridge.spi import SocketLink, read_each

from ..action_curves import all_curves
from ..names import UNREADABLE_TEXT, body_of, name_of, text_of
from ..objects import item_of, tree_of
from . import values
from .items import owner_of, sockets_of
from .properties import slot_at

_MAX_KEYS: Final = 100  # of a property


def links(item: str, thing: Any) -> Iterator[SocketLink]:
    """Yield the links into a node, or all links of a tree."""
    is_node = isinstance(thing, bpy.types.Node)
    tree = thing.id_data if is_node else tree_of(thing)
    if not tree:
        return
    owner = owner_of(item)
    for link in tree.links:
        if not is_node or link.to_node == thing:
            yield SocketLink(
                f"{owner}/{name_of(link.from_node)}",
                _socket_name(link.from_node.outputs, link.from_socket),
                f"{owner}/{name_of(link.to_node)}",
                _socket_name(link.to_node.inputs, link.to_socket),
            )


def _socket_name(sockets: Any, socket: Any) -> str:
    for name, each in sockets_of(sockets).items():
        if each == socket:
            return name
    return name_of(socket)  # a link stays where the type of its node has disabled the socket


def uses(thing: Any) -> Iterator[str]:
    """Yield the data, files and objects that something refers to."""
    owners = [thing, *getattr(thing, "modifiers", ()), *getattr(thing, "constraints", ())]
    if isinstance(thing, bpy.types.Object):
        for slot in thing.material_slots:
            if slot.material:
                yield item_of(slot.material)
        yield from map(item_of, thing.users_collection)
    tree = tree_of(thing)
    if tree:
        owners += tree.nodes
    for owner in owners:
        for used in _referred(owner):
            if used not in (thing, tree, thing.id_data):
                yield from _item_and_file(used)


def _referred(owner: Any) -> Iterator[bpy.types.ID]:
    """Yield the data that the pointers of a struct lead to.

    The settings of an add-on are left out: reading them creates them.
    """
    for rna in owner.bl_rna.properties:
        if rna.type != "POINTER":
            continue
        kind = getattr(bpy.types, rna.fixed_type.identifier, object)
        if not issubclass(kind, bpy.types.ID):
            continue
        used = getattr(owner, rna.identifier, None)
        if isinstance(used, bpy.types.ID):
            yield used


def _item_and_file(used: bpy.types.ID) -> Iterator[str]:
    yield item_of(used)
    if isinstance(used, bpy.types.Image):
        path = text_of(used, "filepath")
        if path:
            yield path


def keys(item: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield the animated properties of an item, its data and its nodes, with their keys."""
    own: Any = getattr(thing, "data", None)
    for data, prefix in ((thing, ""), (own, "data."), (tree_of(thing), "")):
        if not isinstance(data, bpy.types.ID):
            continue
        paths = dict.fromkeys(text_of(curve, "data_path") for curve in all_curves(data))
        readable_paths = (path for path in paths if path != UNREADABLE_TEXT)
        for path, keyed in read_each(readable_paths, partial(_keys_at, item, data)):
            yield prefix + path, keyed


def _keys_at(item: str, data: bpy.types.ID, path: str) -> list[list[Any]]:
    """Return the first keys at a path of an animated data-block.

    Raises:
        ValueError: The path leads nowhere: what it animated was removed.
    """
    slot = slot_at(item, data, path)
    if slot is None:
        raise ValueError("its keys lead to nothing")
    return [list(key) for key in values.read_keys(slot)[:_MAX_KEYS]]


def text(thing: Any) -> str | None:
    """Return the lines of a text, the body of a text object, or the drivers; or None."""
    if isinstance(thing, bpy.types.Text):
        return body_of(thing)
    if getattr(thing, "type", "") == "FONT":
        return text_of(thing.data, "body")
    lines = []
    for curve in getattr(getattr(thing, "animation_data", None), "drivers", ()):
        path = text_of(curve, "data_path")
        expression = text_of(curve.driver, "expression")
        lines.append(f"{path}[{curve.array_index}] = {expression}")
    return "\n".join(lines) or None
