"""Items: found by name, with the items below them and their sockets. Main thread."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

import bpy

from dcc_bridge.spi import like

from ..names import name_of, names_of, text_of
from ..objects import block, data, identity, item_of, lists, part_of, tree_of
from ..part_items import Found, items_below

_MAX_COMPARED: Final = 5000  # names that are compared with one that is not found
_MAX_CALLED: Final = 4  # items of one name that an error tells
_MAX_LOOKED_AT: Final = 200  # objects among which examples of parts are looked for
_SHOWN_PARTS: Final = ("modifier", "constraint", "bone")
_NAMED: Final = (
    *("materials", "node_groups", "collections", "scenes", "worlds", "images", "actions", "texts"),
)
"""The lists of data whose items agents use most."""


def scene() -> Any:
    """Return the scene that is open."""
    return bpy.context.scene


def require(item: str) -> Any:
    """Return the object, data, node or other part of that name.

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
    hint = f".{like(examples())}"
    near = _near(item, prefix)
    if near:
        hint = f"; names like it: {', '.join(near)}."
    raise LookupError(f"There is no {kind} {item!r}{hint}")


def _near(item: str, prefix: str) -> list[str]:
    """Return the items of that very name with another prefix, or else those of similar names."""
    name = item.rpartition(":")[2]
    same = dict.fromkeys([*_called(item), *_called(name)])
    same.pop(item, None)
    if same:
        return list(same)
    owner, slash, part = item.rpartition("/")
    if slash and ":" in part:
        below = items_below(f"{owner}/{part.partition(':')[0]}:", block)
        if below:
            return get_close_matches(item, below, 4, 0.5) or below[:4]
    if prefix not in lists() or prefix == item:
        return get_close_matches(item, names_of(bpy.data.objects)[:_MAX_COMPARED], 3)
    known = [item_of(thing) for thing in getattr(bpy.data, lists()[prefix])]
    if owner:
        tree = tree_of(block(owner))
        if tree:
            known += [f"{owner}/{node}" for node in names_of(tree.nodes)]
    return get_close_matches(item, known, 4, 0.5) or known[:4]


def _called(name: str) -> list[str]:
    """Return the objects and the data in `_NAMED` that have a name, also in another case."""
    low = name.lower()
    items = []
    for plural in ("objects", *_NAMED):
        for thing in getattr(bpy.data, plural):
            if name_of(thing).lower() == low:
                items.append(item_of(thing))
    return items[:_MAX_CALLED]


def examples() -> list[str]:
    """Return an item of each kind that the file has, with parts of objects."""
    first: dict[str, str] = {}
    for thing in islice(bpy.data.objects, _MAX_LOOKED_AT):
        first.setdefault("object", item_of(thing))
        for word in _SHOWN_PARTS:
            for part in items_below(f"{item_of(thing)}/{word}:", block) or ():
                first.setdefault(word, part)
    for plural in _NAMED:
        things = list(islice(data(plural), _MAX_LOOKED_AT))
        if not things:
            continue
        with_nodes = list(filter(_has_nodes, things))
        best = [*with_nodes, *things][0]
        first[plural] = item_of(best)
        if with_nodes and plural != "scenes":
            first.setdefault("node", f"{item_of(best)}/{name_of(tree_of(best).nodes[0])}")
    return list(first.values())


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


def require_own_parts(item: str, part: Any) -> None:
    """Raise ValueError for a bone or a vertex group of an object whose data is linked."""
    if isinstance(part, bpy.types.PoseBone | bpy.types.VertexGroup):
        thing: Any = part.id_data
        require_own(item, thing.data)


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
    """Return the item that a node or another part belongs to; for other items, the item itself."""
    thing = require(item)
    if isinstance(thing, bpy.types.Node):
        return item[: -len(name_of(thing)) - 1]
    found = None if isinstance(thing, bpy.types.ID) else part_of(item)
    return found.owner_item if found is not None else item


def naming(item: str) -> list[str]:
    """Return what names a part, such as a bone or a vertex group.

    These are modifiers and constraints; of a bone also its children, bones and objects.
    """
    found = part_of(item)
    if found is None or not found.kind.naming:
        return []
    users = []
    for thing in bpy.data.objects:
        users += _children_of_bone(found, thing)
        users += _deformed(found, thing)
        for part_item in _parts_with_names(item_of(thing)):
            user = part_of(part_item)
            if user is not None and _names(user.part, found, thing):
                users.append(part_item)
    return users


def _children_of_bone(found: Found, thing: bpy.types.Object) -> list[str]:
    """Return an object that is parented to a bone, and of the bone's object its child bones."""
    if not isinstance(found.part, bpy.types.PoseBone):
        return []
    if thing == found.owner:
        return [f"{found.owner_item}/bone:{name}" for name in map(name_of, found.part.children)]
    is_child = thing.parent == found.owner and thing.parent_type == "BONE"
    return [item_of(thing)] if is_child and text_of(thing, "parent_bone") == found.name else []


def _deformed(found: Found, thing: bpy.types.Object) -> list[str]:
    """Return the vertex group of an object that a bone moves, if there is one."""
    armatures = [getattr(modifier, "object", None) for modifier in thing.modifiers]
    if not isinstance(found.part, bpy.types.PoseBone) or found.owner not in armatures:
        return []
    return [f"{item_of(thing)}/vertex_group:{found.name}"] * (found.name in thing.vertex_groups)


def _parts_with_names(item: str) -> list[str]:
    """Return the modifiers and constraints of an object and of its bones."""
    parts = []
    for below in ("modifier", "constraint", "bone"):
        parts += items_below(f"{item}/{below}:", block) or []
    for bone in items_below(f"{item}/bone:", block) or ():
        parts += items_below(f"{bone}/constraint:", block) or []
    return parts


def _names(user: Any, found: Found, thing: bpy.types.Object) -> bool:
    """Return whether a part of an object names another part, of the object or of its target."""
    for target in getattr(user, "targets", ()):  # of an armature constraint
        if target.target == found.owner and text_of(target, "subtarget") == found.name:
            return True
    owners = [thing, getattr(user, "target", None), getattr(user, "object", None)]
    is_shared = isinstance(found.part, bpy.types.VertexGroup) and found.owner.data == thing.data
    if found.owner not in owners and not is_shared:
        return False
    names = found.kind.naming.intersection(user.bl_rna.properties.keys())
    return any(text_of(user, name) == found.name for name in names)


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


def _has_nodes(thing: Any) -> bool:
    """Return whether data has nodes; those of a pencil's material, since 5.0, nobody edits."""
    tree = tree_of(thing)
    return bool(tree and tree.nodes) and not getattr(thing, "is_grease_pencil", False)


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
