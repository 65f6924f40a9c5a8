"""Finds materials that look the same, and replaces them by one of them. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import bpy

from ..names import name_of
from ..objects import item_of, tree_of
from . import properties
from .items import require

_IDENTIFYING: Final = {"name", "name_full", "session_uid", "is_evaluated"}
"""Properties that differ between materials that look the same."""
_EDITOR_PREFIXES: Final = ("location", "select", "width", "height")
"""The beginnings of the names of properties that only the node editor shows."""


def duplicate_materials() -> Iterator[Any]:
    """Yield the materials that look like another one with a shorter or earlier name."""
    shortest: dict[object, Any] = {}
    for material in sorted(_materials(), key=_length_and_name):
        if shortest.setdefault(_look_of(material), material) != material:
            yield material


def replace_materials(items: Sequence[str]) -> None:
    """Make the users of materials use one that looks the same and is not among the items."""
    others: dict[object, Any] = {}
    for material in _materials():
        if item_of(material) not in items:
            others.setdefault(_look_of(material), material)
    for item in items:
        material = require(item)
        material.user_remap(others[_look_of(material)])


def _materials() -> list[Any]:
    return [material for material in bpy.data.materials if not material.library]


def _length_and_name(material: Any) -> tuple[int, str]:
    name = name_of(material)
    return len(name), name


def _look_of(material: Any) -> object:
    """Return a key that is equal for materials that look the same."""
    facts = []
    for name, slot in properties.slots("", material).items():
        if name not in _IDENTIFYING:
            facts.append((name, repr(slot.read())))
    tree = tree_of(material)
    if tree is None:
        return tuple(facts)
    return tuple(facts), tuple(_node_facts(tree)), tuple(sorted(_link_facts(tree)))


def _node_facts(tree: Any) -> Iterator[tuple[str, str, str]]:
    for node in tree.nodes:
        for name, slot in properties.slots("", node).items():
            if not name.startswith(_EDITOR_PREFIXES):
                yield name_of(node), name, repr(slot.read())


def _link_facts(tree: Any) -> Iterator[tuple[str, str, str, str]]:
    for link in tree.links:
        yield (
            name_of(link.from_node),
            link.from_socket.identifier,
            name_of(link.to_node),
            link.to_socket.identifier,
        )
