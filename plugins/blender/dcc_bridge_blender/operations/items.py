"""Items: found by name, with the items below them and their sockets. Main thread."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, Final

import bpy

from ..names import name_of, names_of, text_of
from ..objects import block, identity, item_of, lists, tree_of

_MAX_COMPARED: Final = 5000  # names that are compared with one that is not found


def scene() -> Any:
    """Return the scene that is open."""
    return bpy.context.scene


def require(item: str) -> Any:
    """Return the object, data or node of that name.

    Raises:
        LookupError: There is no such item; the error names similar ones.
    """
    thing = block(item)
    if thing is not None:
        return thing
    prefix, colon, _ = item.partition(":")
    kind = "object"
    if colon:
        kind = prefix
    if colon and prefix in lists():
        near = _near_data(item, prefix)
    else:
        near = get_close_matches(item, names_of(bpy.data.objects)[:_MAX_COMPARED], 3)
    hint = "."
    if near:
        hint = f"; near: {', '.join(near)}."
    raise LookupError(f"There is no {kind} {item!r}{hint}")


def _near_data(item: str, prefix: str) -> list[str]:
    """Return data, and nodes of the owner that the item names, with similar names."""
    known = [item_of(thing) for thing in getattr(bpy.data, lists()[prefix])]
    owner, _, _ = item.rpartition("/")
    if owner:
        tree = tree_of(block(owner))
        if tree:
            known += [f"{owner}/{node}" for node in names_of(tree.nodes)]
    return get_close_matches(item, known, 4, 0.5) or known[:4]


def require_object(item: str, what: str = "placed") -> bpy.types.Object:
    """Return an object.

    Args:
        item: The object.
        what: What other data cannot be, for the error.

    Raises:
        LookupError: There is no such item.
        ValueError: The item is no object.
    """
    thing = require(item)
    if isinstance(thing, bpy.types.Object):
        return thing
    raise ValueError(f"{item} is no object and cannot be {what}.")


def require_own(item: str, thing: Any) -> None:
    """Raise ValueError for a thing that is linked from another file."""
    library = thing.id_data.library
    if library is None:
        return
    path = text_of(library, "filepath")
    raise ValueError(f"{item} is linked from {path} and cannot be changed.")


def require_tree(item: str) -> Any:
    """Return the node tree that a node is in, or that other data has.

    Raises:
        LookupError: There is no such item.
        ValueError: The item has no nodes.
    """
    thing = require(item)
    if isinstance(thing, bpy.types.Node):
        return thing.id_data
    tree = tree_of(thing)
    if tree is None:
        raise ValueError(f"{item} has no nodes.")
    return tree


def owner_of(item: str) -> str:
    """Return the item that a node belongs to; for other items, the item itself."""
    thing = require(item)
    if not isinstance(thing, bpy.types.Node):
        return item
    return item[: -len(name_of(thing)) - 1]


def collections_of(collection: bpy.types.Collection) -> list[bpy.types.Collection]:
    """Return the collections that have a collection as a child."""
    return [parent for parent in bpy.data.collections if collection in list(parent.children)]


def sockets_of(sockets: Iterable[Any]) -> dict[str, Any]:
    """Return the enabled sockets by name; sockets with the same name, by their identifiers."""
    shown = [socket for socket in sockets if socket.enabled]
    counts = Counter(map(name_of, shown))
    named = {}
    for socket in shown:
        name = name_of(socket)
        if counts[name] > 1:
            name = socket.identifier
        named[name] = socket
    return named


def free_name(name: str, taken: Any) -> str:
    """Return a name that is not taken, numbered as Blender does where it is."""
    number = 0
    free = name
    while free in taken:
        number += 1
        free = f"{name}.{number:03}"
    return free


class Family:
    """The children of each object; `Object.children` looks at all objects each time."""

    def __init__(self) -> None:
        self._change_count: int | None = None
        self._children = defaultdict[int, list[str]](list)

    def children(self, thing: bpy.types.Object, changes: int) -> list[bpy.types.Object]:
        """Return the children of an object.

        Args:
            thing: The object.
            changes: The number of changes until now: with another one all objects are read again.
        """
        if changes != self._change_count:
            self._children.clear()
            for child in bpy.data.objects:
                if child.parent is not None:
                    self._children[identity(child.parent)].append(item_of(child))
            self._change_count = changes
        children = map(block, self._children.get(identity(thing), ()))
        return [child for child in children if child is not None]

    def forget(self) -> None:
        """Have all objects read again, as names or parents have changed."""
        self._change_count = None
