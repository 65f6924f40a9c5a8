"""Items: the names by which agents and people speak of Blender's data. Main thread.

The item of an object is its name: ``Cube``. The item of other data begins with a prefix for its
kind: ``material:Steel``. The item of a node begins with its owner: ``material:Steel/Mix``, and so
does that of another part, with the kind of the part: ``Cube/modifier:Bevel``, see `part_items`.
An object with a name that reads as one of these has a prefix too: ``object:material:Steel``.
Data linked from another file has the file behind its name: ``collection:Set [//set.blend]``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Container, Hashable, Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any, Final

import bpy

from . import part_items
from .names import UNREADABLE, custom_keys, name_of, named, names_of, text_of

HAS_IDS: Final = "session_uid" in bpy.types.ID.bl_rna.properties  # since 4.1
_LINKED: Final = re.compile(r"(.*) \[(.+)\]", re.DOTALL)
_Families = dict[bpy.types.Object, list[bpy.types.Object]]  # the children of each object
KEPT: Final = ("collections", "scenes", "materials", "images", "node_groups", "texts")
"""The lists of data, besides objects, that a person would miss; data of objects goes with these."""
_EMBEDDING: Final = ("scene", "material")  # the kinds in these lists that have their own nodes
_OBJECT: Final = "object"  # the prefix of an object with a name that reads as another item
known: Final[dict[str, bpy.types.Object]] = {}
"""A cache of objects by item: Blender searches all names for each look-up by name."""
_MAX_NAMES: Final = 200  # of children, modifiers and so on in the description of an object
_USERS_ABOVE: Final = 2  # from a data-block with parts to the objects by which these are told
_MAX_COMPARED: Final = 5000  # names that are compared with one that is not found


def item_of(thing: bpy.types.ID) -> str:
    """Return the item of an object or of other data."""
    prefix = ""
    if not isinstance(thing, bpy.types.Object):
        prefix = prefix_of(thing)
    return item_named(prefix, name_of(thing), _library_of(thing))


def _library_of(thing: bpy.types.ID) -> str | None:
    """Return the file that data is linked from, or None."""
    if not thing.library:
        return None
    return text_of(thing.library, "filepath")


def item_named(prefix: str, name: str, library: str | None) -> str:
    """Return the item of data.

    Args:
        prefix: The prefix for the kind of data; "" for an object.
        name: The name of the data.
        library: The file that the data is linked from, or None.
    """
    if not prefix and _is_ambiguous(name):
        prefix = _OBJECT
    item = name
    if prefix:
        item = f"{prefix}:{name}"
    if library:
        item = f"{item} [{library}]"
    return item


def _is_ambiguous(name: str) -> bool:
    """Return whether the name of an object reads as the item of other data, a node or a part."""
    return ":" in name and _other_items().match(name) is not None


@cache
def _other_items() -> re.Pattern[str]:
    """Return the pattern of items that are no objects."""
    prefixes = "|".join(lists())
    kinds = "|".join(part_items.KINDS)
    return re.compile(f"(?:{prefixes}):|.+/(?:{kinds}):", re.DOTALL)


def local_name(item: str) -> str:
    """Return an item without its library."""
    linked = _LINKED.fullmatch(item)
    if linked is None:
        return item
    return linked[1]


def prefix_of(thing: bpy.types.ID) -> str:
    """Return the prefix of the item of data, such as "material"."""
    kinds = [kind.__name__.lower() for kind in type(thing).__mro__]  # a point light is a light
    return next(kind for kind in kinds if kind in lists())


@cache
def lists() -> dict[str, str]:
    """Return the name of the list of `bpy.data` for each prefix: "materials" for "material"."""
    rna: Any = bpy.types.BlendData.bl_rna
    names = {}
    for prop in rna.properties:
        if prop.type == "COLLECTION":
            names[prop.fixed_type.identifier.lower()] = prop.identifier
    return names


@cache
def has_property(name: str, prop: str) -> bool:
    """Return whether the data-blocks of a list of `bpy.data` have a property."""
    rna: Any = bpy.types.BlendData.bl_rna
    return prop in rna.properties[name].fixed_type.properties


def data(name: str) -> Any:
    """Return a list of `bpy.data`, without the results of renders among the images.

    Blender makes and drops "Render Result" and "Viewer Node" as it draws: no edit does.
    """
    things = getattr(bpy.data, name)
    if name != "images" or all(image.source != "VIEWER" for image in things):
        return things
    return [image for image in things if image.source != "VIEWER"]


def block(item: str) -> Any:
    """Return the object, other data, node or other part of an item, or None."""
    thing: Any = find(item)
    prefix, colon, name = item.partition(":")
    if thing is not None or not colon:
        return thing
    if prefix in lists() and prefix != _OBJECT:
        thing = _find_in(getattr(bpy.data, lists()[prefix]), name, item)
        if thing is None and not _LINKED.fullmatch(name):
            thing = _find_node(item)
    if thing is None:
        found = part_of(item)
        if found is not None:
            thing = found.part
    return thing


def part_of(item: str) -> part_items.Found | None:
    """Return the part of an item with its owner, or None for what is no part or a node."""
    return part_items.find(item, block)


def _find_node(item: str) -> Any:
    """Return the node of an item, or None; the names of owner and node may contain slashes."""
    at = item.rfind("/")
    while at >= 0:
        tree = tree_of(block(item[:at]))
        if tree:
            node = _node(tree, item[at + 1 :])
            if node is not None:
                return node
        at = item.rfind("/", 0, at)
    return None


def _node(tree: Any, name: str) -> Any:
    if name.endswith(UNREADABLE):
        return named(tree.nodes, name)
    return tree.nodes.get(name)


def tree_of(thing: Any) -> Any:
    """Return the node tree of data, or None."""
    if isinstance(thing, bpy.types.NodeTree):
        return thing
    return getattr(thing, "node_tree", None) or getattr(thing, "compositing_node_group", None)


def kind_of(thing: Any) -> str:
    """Return a type as Blender calls it: "MESH", "MATERIAL", "ShaderNodeMix"."""
    if isinstance(thing, bpy.types.Node):
        return thing.bl_idname
    if isinstance(thing, bpy.types.Object):
        return thing.type
    if isinstance(thing, bpy.types.ID):
        return prefix_of(thing).upper()
    return part_items.kind_of_struct(thing).type_of(thing)


def own_name(item: str, thing: Any) -> str:
    """Return the name of what an item stands for, without its owner."""
    if isinstance(thing, bpy.types.ID | bpy.types.Node):
        return name_of(thing)
    found = part_of(item)
    assert found is not None  # it was found a moment ago
    return found.name


def find(item: str) -> bpy.types.Object | None:
    """Return the object of an item, or None."""
    try:
        if item in known and item_of(known[item]) == item:
            return known[item]
    except ReferenceError:  # the object was deleted, or replaced by an undo
        del known[item]
    name = item
    if _is_ambiguous(item):
        prefix, _, name = item.partition(":")
        if prefix != _OBJECT or not _is_ambiguous(name):  # so that an item has one spelling
            return None
    thing: bpy.types.Object | None = _find_in(bpy.data.objects, name, item)
    if thing is not None:
        known[item] = thing
    return thing


def _find_in(things: Any, name: str, item: str) -> Any:
    """Return the local data-block of a name in a list, or the linked one of an item, or None."""
    if _LINKED.fullmatch(name):
        for thing in things:
            if thing.library and item_of(thing) == item:
                return thing
    if name.endswith(UNREADABLE):
        return named((thing for thing in things if not thing.library), name)
    local = things.get(name)
    if local is None or local.library:
        return None
    return local


def require(item: str) -> bpy.types.Object:
    """Return the object of an item.

    Raises:
        LookupError: There is no such object; the message names similar ones.
    """
    thing = find(item)
    if thing is not None:
        return thing
    near = difflib.get_close_matches(item, names_of(bpy.data.objects)[:_MAX_COMPARED], 3)
    hint = ""
    if near:
        hint = f" There is {', '.join(near)}."
    raise LookupError(f"There is no object {item!r} in this file.{hint}")


def identity(thing: bpy.types.ID) -> int:
    """Return a number that identifies a data-block, also under another name."""
    uid: int = getattr(thing, "session_uid", None) or thing.as_pointer()  # since 4.1
    return uid


def items_by_id(ids: Container[int] | None = None) -> dict[Hashable, str]:
    """Return the items of objects and of the data in `KEPT`.

    Args:
        ids: The identities of the data-blocks to return; None for all.

    Returns:
        The items, by a key that stays the same when the data is renamed; before 4.1 the key is the
        item itself.
    """
    items: dict[Hashable, str] = {}
    for name in ("objects", *KEPT):
        for thing in data(name):
            if ids is None or identity(thing) in ids:
                item = item_of(thing)
                key: Hashable = item
                if HAS_IDS:
                    key = thing.session_uid
                items[key] = item
    return items


def others(ids: Container[int]) -> list[str]:
    """Return the items of other data than in `items_by_id` whose identity is among some.

    Data whose own node tree has one of the identities is returned as well.
    """
    items = []
    for prefix, plural in lists().items():
        if plural in ("objects", *KEPT) and prefix not in _EMBEDDING:
            continue
        for thing in getattr(bpy.data, plural):
            tree = getattr(thing, "node_tree", None)
            if identity(thing) in ids or (tree is not None and identity(tree) in ids):
                items.append(item_of(thing))
    return items


def data_of(items: Iterable[str]) -> set[str]:
    """Return the items of the data that objects have."""
    data_items = set()
    for thing in map(find, items):
        if thing is not None and thing.data is not None:
            data_items.add(item_of(thing.data))
    return data_items


def local(items: Iterable[str]) -> set[str]:
    """Return items without their libraries."""
    return {local_name(item) for item in items}


def facts(items: Sequence[str]) -> list[list[Any]]:
    """Return a list of facts for each item; if they change, a person's consent ends."""
    families = _families()
    return [_facts(item, families) for item in items]


def description(item: str) -> dict[str, Any]:
    """Return the facts of an object for an agent; of other data and nodes only name and type.

    Raises:
        LookupError: There is no such item.
    """
    other = block(item)
    if other is not None and not isinstance(other, bpy.types.Object):
        return {"name": own_name(item, other), "type": kind_of(other)}
    thing = require(item)
    return {
        "name": name_of(thing),
        "type": thing.type,
        "data": name_of(thing.data) if thing.data else None,
        "library": _library_of(thing),
        "parent": item_of(thing.parent) if thing.parent else None,
        "children": [item_of(child) for child in thing.children][:_MAX_NAMES],
        "collections": [name_of(collection) for collection in thing.users_collection],
        "location": _rounded(thing.location),
        "rotation": _rounded(thing.rotation_euler),
        "scale": _rounded(thing.scale),
        "dimensions": _rounded(thing.dimensions),
        "hidden": thing.hide_viewport,
        "hidden_in_renders": thing.hide_render,
        "modifiers": [f"{name_of(part)} ({part.type})" for part in thing.modifiers][:_MAX_NAMES],
        "materials": [name_of(slot.material) for slot in thing.material_slots if slot.material],
        "custom": sorted(custom_keys(thing))[:_MAX_NAMES],
    }


def _rounded(values: Any) -> list[float]:
    return [round(float(value), 6) for value in values]


def _facts(item: str, families: _Families) -> list[Any]:
    thing = block(item)
    if thing is None:
        return [item, "gone"]
    found = None if isinstance(thing, bpy.types.ID | bpy.types.Node) else part_of(item)
    if found is not None:
        # Another part may have the number of one that is gone, such as a spline.
        parts = len(found.kind.parts(found.owner))
        which = [identity(thing.id_data), found.kind.words(thing), parts]
        return [item, which, kind_of(thing), found.owner_item]
    if not isinstance(thing, bpy.types.Object):
        within = sorted(map(item_of, getattr(thing, "all_objects", ())))
        key = thing.as_pointer() if isinstance(thing, bpy.types.Node) else identity(thing)
        return [item, key, kind_of(thing), None, within, []]
    under = [(item_of(obj), identity(obj), obj.type) for obj in below(thing, families)]
    parent = item_of(thing.parent) if thing.parent else None
    channels: list[Any] = [thing.lock_location, thing.lock_rotation, thing.lock_scale]
    axes = list(chain.from_iterable(channels))
    locks = [axes, thing.hide_select]
    return [item, identity(thing), thing.type, parent, locks, sorted(under)]


def losses_with(item: str) -> list[str]:
    """Return how the losses are told that the deletion of a part leads to."""
    found = part_of(item)
    if found is None:
        return []
    block = found.part.id_data
    owners = _with_users(block)
    data = getattr(block, "data", None)
    if data is not None:  # several objects may have it
        owners.append(item_of(data))
    losses = []
    for part in part_items.with_parts(found):
        words = part_items.kind_of_struct(part).words(part)
        losses += [f"{words} of {owner}" for owner in owners]
    return losses


def _with_users(block: bpy.types.ID) -> list[str]:
    """Return the items of a data-block, its users and their users, by which losses are told.

    Of the shape key of an object, Blender's data-block is used by the mesh of the object.
    """
    users: set[Any] = {block}
    for _ in range(_USERS_ABOVE):
        for using in bpy.data.user_map(subset=users).values():
            users = users | using
    return [item_of(user) for user in users]


def _families() -> _Families:
    """Return the children of each object; `Object.children` looks at all objects each time."""
    families: _Families = {}
    for thing in bpy.data.objects:
        if thing.parent is not None:
            families.setdefault(thing.parent, []).append(thing)
    return families


def below(thing: bpy.types.Object, families: _Families | None = None) -> list[bpy.types.Object]:
    """Return the descendants of an object.

    Args:
        thing: The object.
        families: The children of each object; None to read them now.
    """
    if families is None:
        families = _families()
    descendants = list(families.get(thing, ()))
    for child in descendants:  # the list grows in the loop
        descendants += families.get(child, ())
    return descendants
