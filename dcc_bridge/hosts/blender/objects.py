"""Objects, as items: found by name, described, and told apart. Main thread."""

from __future__ import annotations

import difflib
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

import bpy

_LINKED: Final = re.compile(r"(.*) \[(.+)\]", re.DOTALL)
_Families = dict[bpy.types.Object, list[bpy.types.Object]]
_KEPT: Final = ("collections", "scenes", "materials", "images", "node_groups", "texts")
"""What a person misses, besides objects; an object's own data goes with it."""
_MOST: Final = 200
"""Names of children, modifiers and so on that are told of one object."""


def item_of(thing: bpy.types.ID) -> str:
    """Give the item that an object is."""
    return f"{thing.name} [{thing.library.filepath}]" if thing.library else thing.name


def find(item: str) -> bpy.types.Object | None:
    """Give the object of that name, or None."""
    objects = bpy.data.objects
    linked = _LINKED.fullmatch(item)
    if linked is not None:
        for thing in objects:
            if thing.library and item_of(thing) == item:
                return thing
    local = objects.get(item)
    return local if local is not None and not local.library else None


def require(item: str) -> bpy.types.Object:
    """Give the object of that name.

    Raises:
        LookupError: There is none; says which ones have a similar name.
    """
    thing = find(item)
    if thing is not None:
        return thing
    near = difflib.get_close_matches(item, bpy.data.objects.keys()[:5000], 3)
    hint = f" There is {', '.join(near)}." if near else ""
    raise LookupError(f"There is no object {item!r} in this file.{hint}")


def identity(thing: bpy.types.ID) -> int:
    """Give what tells a data-block from another one that took its name."""
    uid: int = getattr(thing, "session_uid", None) or thing.as_pointer()  # since 4.1
    return uid


class Inventory:
    """What was in a file at one moment: some 6 ms for 20,000 objects, and as much to compare."""

    def __init__(self) -> None:
        """Look at the file that is open."""
        self._names = {name: getattr(bpy.data, name).keys() for name in ("objects", *_KEPT)}
        self._ids = _ids()

    def missing(self) -> list[str]:
        """Name what is not there any more, the objects first."""
        now = Inventory()
        lists = [(old, now._names[name]) for name, old in self._names.items()]
        gone = [name for old, new in lists if old != new for name in Counter(old) - Counter(new)]
        if self._ids != now._ids:  # another one may have taken the name
            names = dict(zip(now._ids, now._names["objects"], strict=True))
            known = zip(self._ids, self._names["objects"], strict=True)
            gone = [name for one, name in known if names.get(one) != name] + gone
        return list(dict.fromkeys(gone))


def _ids() -> array[int]:
    """Give what tells each object from all others; nothing where Blender has no such thing."""
    if "session_uid" not in bpy.types.ID.bl_rna.properties:  # since 4.1
        return array("i")
    ids = array("i", bytes(4 * len(bpy.data.objects)))
    bpy.data.objects.foreach_get("session_uid", ids)
    return ids


def local(items: Iterable[str]) -> set[str]:
    """Give the names of items, without their libraries."""
    return {linked[1] if (linked := _LINKED.fullmatch(item)) else item for item in items}


def below(thing: bpy.types.Object) -> list[bpy.types.Object]:
    """Give all that is parented to an object, and to that."""
    return _below(thing, _families())


def facts(items: Sequence[str]) -> list[list[Any]]:
    """Tell what a person agrees to change."""
    families = _families()
    return [_facts(item, families) for item in items]


def description(item: str) -> dict[str, Any]:
    """Describe an object, for an agent.

    Raises:
        LookupError: There is none of that name.
    """
    thing = require(item)
    return {
        "name": thing.name,
        "type": thing.type,
        "data": thing.data.name if thing.data else None,
        "library": thing.library.filepath if thing.library else None,
        "parent": item_of(thing.parent) if thing.parent else None,
        "children": [item_of(child) for child in thing.children][:_MOST],
        "collections": [collection.name for collection in thing.users_collection],
        "location": _rounded(thing.location),
        "rotation": _rounded(thing.rotation_euler),
        "scale": _rounded(thing.scale),
        "dimensions": _rounded(thing.dimensions),
        "hidden": thing.hide_viewport,
        "hidden_in_renders": thing.hide_render,
        "modifiers": [f"{part.name} ({part.type})" for part in thing.modifiers][:_MOST],
        "materials": [slot.material.name for slot in thing.material_slots if slot.material],
        "custom": sorted(thing.keys())[:_MOST],
    }


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 6) for value in values]


def _facts(item: str, families: _Families) -> list[Any]:
    thing = find(item)
    if thing is None:
        return [item, "gone"]
    under = sorted((item_of(obj), identity(obj), obj.type) for obj in _below(thing, families))
    parent = item_of(thing.parent) if thing.parent else None
    channels: list[Any] = [thing.lock_location, thing.lock_rotation, thing.lock_scale]
    locks = [[lock for axes in channels for lock in axes], thing.hide_select]
    return [item, identity(thing), thing.type, parent, locks, under]


def _families() -> _Families:
    """Give the children of each; ``Object.children`` looks at all objects each time it is asked."""
    families: _Families = {}
    for thing in bpy.data.objects:
        if thing.parent is not None:
            families.setdefault(thing.parent, []).append(thing)
    return families


def _below(thing: bpy.types.Object, families: _Families) -> list[bpy.types.Object]:
    descendants = list(families.get(thing, ()))
    for child in descendants:  # the list grows meanwhile
        descendants += families.get(child, ())
    return descendants
