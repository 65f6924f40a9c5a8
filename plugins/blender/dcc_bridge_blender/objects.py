"""Objects and other data, as items: found by name, described, and told apart. Main thread.

An object is named plainly, other data with what it is, and a node by its owner:
``material:Steel``, ``collection:Set [//set.blend]``, ``material:Steel/Mix``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Hashable, Iterable, Sequence
from functools import cache
from typing import Any, Final

import bpy

from .names import (
    UNREADABLE,
    custom_keys,
    name_of,
    named,
    names_of,
    text_of,
)

HAS_IDS: Final = "session_uid" in bpy.types.ID.bl_rna.properties  # since 4.1
_LINKED: Final = re.compile(r"(.*) \[(.+)\]", re.DOTALL)
_Families = dict[bpy.types.Object, list[bpy.types.Object]]
KEPT: Final = ("collections", "scenes", "materials", "images", "node_groups", "texts")
"""What a person misses, besides objects; an object's own data goes with it."""
_EMBEDDING: Final = ("scene", "material")  # what has nodes in itself, of these
known: Final[dict[str, bpy.types.Object]] = {}
"""Objects by item, as they were found: Blender looks at all names each time that it is asked."""
_MOST: Final = 200  # names of children, modifiers and so on that are told of one object


def item_of(thing: bpy.types.ID) -> str:
    """Give the item that an object is, or other data."""
    word = "" if isinstance(thing, bpy.types.Object) else word_of(thing)
    library = text_of(thing.library, "filepath") if thing.library else None
    return item_named(word, name_of(thing), library)


def item_named(word: str, name: str, library: str | None) -> str:
    """Return the item of a name.

    Args:
        word: What an item of that kind begins with; nothing for an object.
        name: The name.
        library: The file that it is linked from, if it is.
    """
    item = f"{word}:{name}" if word else name
    return f"{item} [{library}]" if library else item


def local_name(item: str) -> str:
    """Return an item's name without its library."""
    linked = _LINKED.fullmatch(item)
    return linked[1] if linked else item


def word_of(thing: bpy.types.ID) -> str:
    """Give what an item of data begins with: "material"."""
    kinds = [kind.__name__.lower() for kind in type(thing).__mro__]  # a point light is a light
    return next(kind for kind in kinds if kind in lists())


@cache
def lists() -> dict[str, str]:
    """Give the list of `bpy.data` of each kind of data: "materials" of "material"."""
    rna: Any = bpy.types.BlendData.bl_rna
    kinds = [p for p in rna.properties if p.type == "COLLECTION"]
    return {p.fixed_type.identifier.lower(): p.identifier for p in kinds}


@cache
def has_property(name: str, prop: str) -> bool:
    """Return whether the data-blocks of a list of `bpy.data` have a property."""
    rna: Any = bpy.types.BlendData.bl_rna
    return prop in rna.properties[name].fixed_type.properties


def data(name: str) -> Any:
    """Return a list of `bpy.data`; of the images those that are no result of a render.

    Blender makes and drops "Render Result" and "Viewer Node" as it draws: no edit owns them.
    """
    things = getattr(bpy.data, name)
    if name != "images" or all(it.source != "VIEWER" for it in things):
        return things
    return [it for it in things if it.source != "VIEWER"]


def block(item: str) -> Any:
    """Give the object, other data or node of that name, or None."""
    thing = find(item)
    word, colon, name = item.partition(":")
    if thing is not None or not colon or word not in lists():
        return thing
    thing = _searched(getattr(bpy.data, lists()[word]), name, item)
    if thing is not None or _LINKED.fullmatch(name):
        return thing
    ends = [at for at, letter in enumerate(item) if letter == "/"]
    owners = ((tree_of(block(item[:at])), item[at + 1 :]) for at in reversed(ends))
    found = (_node(tree, node) for tree, node in owners if tree)
    return next((node for node in found if node is not None), None)


def _node(tree: Any, name: str) -> Any:
    if name.endswith(UNREADABLE):
        return named(tree.nodes, name)
    return tree.nodes.get(name)


def tree_of(thing: Any) -> Any:
    """Give the node tree of data, or None."""
    if isinstance(thing, bpy.types.NodeTree):
        return thing
    return getattr(thing, "node_tree", None) or getattr(thing, "compositing_node_group", None)


def kind_of(thing: Any) -> str:
    """Give a type as Blender calls it: "MESH", "MATERIAL", "ShaderNodeMix"."""
    if isinstance(thing, bpy.types.Node):
        return thing.bl_idname
    return thing.type if isinstance(thing, bpy.types.Object) else word_of(thing).upper()


def find(item: str) -> bpy.types.Object | None:
    """Give the object of that name, or None."""
    try:
        if item in known and item_of(known[item]) == item:
            return known[item]
    except ReferenceError:  # it is gone, or an undo has put another one in its place
        del known[item]
    thing: bpy.types.Object | None = _searched(bpy.data.objects, item, item)
    if thing is not None:
        known[item] = thing
    return thing


def _searched(things: Any, name: str, item: str) -> Any:
    linked = (it for it in things if it.library and item_of(it) == item)
    thing = next(linked, None) if _LINKED.fullmatch(name) else None
    if thing is None and name.endswith(UNREADABLE):
        return named((it for it in things if not it.library), name)
    local = things.get(name) if thing is None else None
    return local if local is not None and not local.library else thing


def require(item: str) -> bpy.types.Object:
    """Give the object of that name; LookupError says which ones have a similar one."""
    thing = find(item)
    if thing is not None:
        return thing
    near = difflib.get_close_matches(item, names_of(bpy.data.objects)[:5000], 3)
    hint = f" There is {', '.join(near)}." if near else ""
    raise LookupError(f"There is no object {item!r} in this file.{hint}")


def identity(thing: bpy.types.ID) -> int:
    """Give what tells a data-block from another one that took its name."""
    uid: int = getattr(thing, "session_uid", None) or thing.as_pointer()  # since 4.1
    return uid


def items_by_id(ids: Container[int] | None = None) -> dict[Hashable, str]:
    """List the items that a person misses, by what a new name does not change: since 4.1.

    Before, it is the name. With `ids`, those of these identities alone.
    """
    every = (it for name in ("objects", *KEPT) for it in data(name))
    things = (it for it in every if ids is None or identity(it) in ids)
    return {it.session_uid if HAS_IDS else item_of(it): item_of(it) for it in things}


def others(ids: Container[int]) -> list[str]:
    """List the data beside `items_by_id` that has one of these identities, or whose nodes do."""
    found = []
    for word, plural in lists().items():
        if word in _EMBEDDING or plural not in ("objects", *KEPT):
            for thing in getattr(bpy.data, plural):
                tree = getattr(thing, "node_tree", None)
                if identity(thing) in ids or (tree is not None and identity(tree) in ids):
                    found.append(item_of(thing))
    return found


def data_of(items: Iterable[str]) -> set[str]:
    """Return the items of the data that objects have."""
    things = [thing for thing in map(find, items) if thing is not None]
    return {item_of(thing.data) for thing in things if thing.data is not None}


def local(items: Iterable[str]) -> set[str]:
    """Give the names of items, without their libraries."""
    return {local_name(item) for item in items}


def facts(items: Sequence[str]) -> list[list[Any]]:
    """Tell what a person agrees to change."""
    families = _families()
    return [_facts(item, families) for item in items]


def description(item: str) -> dict[str, Any]:
    """Describe an object, for an agent; of other data and nodes little. LookupError: no such."""
    other = block(item)
    if other is not None and not isinstance(other, bpy.types.Object):
        return {"name": name_of(other), "type": kind_of(other)}
    thing = require(item)
    return {
        "name": name_of(thing),
        "type": thing.type,
        "data": name_of(thing.data) if thing.data else None,
        "library": text_of(thing.library, "filepath") if thing.library else None,
        "parent": item_of(thing.parent) if thing.parent else None,
        "children": [item_of(child) for child in thing.children][:_MOST],
        "collections": [name_of(collection) for collection in thing.users_collection],
        "location": _rounded(thing.location),
        "rotation": _rounded(thing.rotation_euler),
        "scale": _rounded(thing.scale),
        "dimensions": _rounded(thing.dimensions),
        "hidden": thing.hide_viewport,
        "hidden_in_renders": thing.hide_render,
        "modifiers": [f"{name_of(part)} ({part.type})" for part in thing.modifiers][:_MOST],
        "materials": [name_of(it.material) for it in thing.material_slots if it.material],
        "custom": sorted(custom_keys(thing))[:_MOST],
    }


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 6) for value in values]


def _facts(item: str, families: _Families) -> list[Any]:
    thing = block(item)
    if thing is None:
        return [item, "gone"]
    if not isinstance(thing, bpy.types.Object):
        within = sorted(map(item_of, getattr(thing, "all_objects", ())))
        own = thing.as_pointer() if isinstance(thing, bpy.types.Node) else identity(thing)
        return [item, own, kind_of(thing), None, within, []]
    under = sorted((item_of(obj), identity(obj), obj.type) for obj in below(thing, families))
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


def below(thing: bpy.types.Object, families: _Families | None = None) -> list[bpy.types.Object]:
    """Give all that is parented to an object, and to that."""
    families = _families() if families is None else families
    descendants = list(families.get(thing, ()))
    for child in descendants:  # the list grows meanwhile
        descendants += families.get(child, ())
    return descendants
