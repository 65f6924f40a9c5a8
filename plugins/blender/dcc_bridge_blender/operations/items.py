"""Items: what is there by that name, what is below it, and its sockets. Main thread."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import bpy

from ..names import name_of, names_of, text_of
from ..objects import block, identity, item_of, lists, tree_of


def scene() -> Any:
    """Give the scene that is open."""
    return bpy.context.scene


def require(item: str) -> Any:
    """Give the object, data or node of that name; LookupError says which are near."""
    if (thing := block(item)) is not None:
        return thing
    word, colon, _ = item.partition(":")
    near = get_close_matches(item, names_of(bpy.data.objects)[:5000], 3)
    if colon and word in lists():
        known = [item_of(it) for it in getattr(bpy.data, lists()[word])]
        owner, _, _ = item.rpartition("/")
        tree = tree_of(block(owner)) if owner else None
        known += [f"{owner}/{node}" for node in names_of(tree.nodes)] if tree else []
        near = get_close_matches(item, known, 4, 0.5) or known[:4]
    hint = f"; near: {', '.join(near)}." if near else "."
    raise LookupError(f"There is no {'object' if not colon else word} {item!r}{hint}")


def require_object(item: str, what: str = "placed") -> bpy.types.Object:
    """Give an object; ValueError for other data, which cannot be `what`."""
    thing = require(item)
    if isinstance(thing, bpy.types.Object):
        return thing
    raise ValueError(f"{item} is no object and cannot be {what}.")


def require_own(item: str, thing: Any) -> None:
    """Raise ValueError for what is linked from another file."""
    if (library := thing.id_data.library) is not None:
        path = text_of(library, "filepath")
        raise ValueError(f"{item} is linked from {path} and cannot be changed.")


def require_tree(item: str) -> Any:
    """Give the node tree that an item is in, or that it has; ValueError: it has none."""
    thing = require(item)
    tree = thing.id_data if isinstance(thing, bpy.types.Node) else tree_of(thing)
    if tree is None:
        raise ValueError(f"{item} has no nodes.")
    return tree


def owner_of(item: str) -> str:
    """Give the item whose nodes a node is one of; any other item itself."""
    thing = require(item)
    return item[: -len(name_of(thing)) - 1] if isinstance(thing, bpy.types.Node) else item


def collections_of(collection: bpy.types.Collection) -> list[bpy.types.Collection]:
    """Give the collections that one is in."""
    return [it for it in bpy.data.collections if collection in list(it.children)]


def sockets_of(sockets: Iterable[Any]) -> dict[str, Any]:
    """Give sockets by name, those of the same name by what tells them apart."""
    shown = [it for it in sockets if it.enabled]
    counts = Counter(map(name_of, shown))
    named = [(name_of(it), it) for it in shown]
    return {name if counts[name] == 1 else it.identifier: it for name, it in named}


def free_name(name: str, taken: Any) -> str:
    """Give a name that is free, by Blender's own way to number."""
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}.{number:03}"
    return free


class Family:
    """The children of each object; `Object.children` looks at all objects each time."""

    def __init__(self) -> None:
        self._key: int | None = None
        self._children = defaultdict[int, list[str]](list)

    def children(self, thing: bpy.types.Object, changes: int) -> list[bpy.types.Object]:
        """Give the children of an object; `changes` is another number after each change."""
        if changes != self._key:
            self._children.clear()
            for each in bpy.data.objects:
                if each.parent is not None:
                    self._children[identity(each.parent)].append(item_of(each))
            self._key = changes
        found = map(block, self._children.get(identity(thing), ()))
        return [it for it in found if it is not None]

    def forget(self) -> None:
        """Look again: names or parents are others."""
        self._key = None
