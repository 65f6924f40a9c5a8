"""The operations that delete: junk, and items with what depends on them. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Any, Final

import bpy

from dcc_bridge.spi import Cleaning, Deleting, Junk

from ..names import is_in, text_of
from ..objects import block, data, item_of, part_of
from ..part_items import KINDS
from ..references import references
from .equal_materials import duplicate_materials, replace_materials
from .items import collections_of, naming, require, require_own, scene
from .shading import _Shading

_NEVER_UNUSED: Final = {
    "scenes",
    "window_managers",
    "screens",
    "workspaces",
    "brushes",
    "palettes",
    "all_ids",
    "libraries",
    "texts",
    "collections",
    "linestyles",
}
"""The lists whose data-blocks are there for themselves."""


class _Deleting(_Shading, Cleaning, Deleting):
    """The operations that delete."""

    def junk(self, what: Junk) -> list[str]:
        """Return the items of a kind of junk.

        That is: data that nothing uses, empty collections, equal materials, or libraries and images
        whose file is missing.
        """
        match what:
            case "unused":
                things = _unused()
            case "empty_groups":
                things = _empty_collections()
            case "duplicate_materials":
                things = duplicate_materials()
            case "dead_links":
                things = _dead_links()
            case "history":
                raise ValueError("Blender keeps no history of how an object was made.")
        return [item_of(thing) for thing in things]

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        """Delete junk; the users of an equal material take the one that stays."""
        if what == "duplicate_materials":
            replace_materials(items)
        bpy.data.batch_remove([require(item) for item in items])
        self.touch()

    def delete(self, items: Sequence[str]) -> Sequence[str]:
        """Delete items.

        The children of objects stay where they are; what was in a collection goes to the one above.
        """
        self.check_deletable(items)
        things: list[Any] = [require(item) for item in items]
        objects = [thing for thing in things if isinstance(thing, bpy.types.Object)]
        # Before nodes are removed: a removed node has no type.
        blocks = [thing for thing in things if isinstance(thing, bpy.types.ID)]
        self._unparent_children(objects)
        _delete_parts(list(compress(items, map(_is_part, things))))
        for thing in things:
            if isinstance(thing, bpy.types.Node):
                tree: Any = thing.id_data
                tree.nodes.remove(thing)
        for thing in blocks:
            if isinstance(thing, bpy.types.Collection):
                self._empty(thing, set(blocks))
        bpy.data.batch_remove(blocks)
        self.touch()
        return ()

    def still_there(self, items: Sequence[str]) -> Sequence[str]:
        """Return which items are there although they were deleted.

        Another part may have the name of a deleted one, such as the number of a spline, so that
        `_delete_parts` itself looks whether parts are gone.
        """
        return [item for item in super().still_there(items) if not _is_part(block(item))]

    def _unparent_children(self, objects: Sequence[Any]) -> None:
        """Unparent the children that stay from deleted objects; they keep their place in the world.

        All places are read first: a child may be below another one.
        """
        worlds = {}
        deleted = set(objects)
        for thing in objects:
            for child in self._children(thing):
                if child.library is None and child not in deleted:
                    worlds[child] = self.world(child)
        for child, world in worlds.items():
            child.parent = None
            child.matrix_basis = world

    def check_deletable(self, items: Sequence[str]) -> None:
        """Raise ValueError for what cannot be deleted.

        That is: what is linked from another file, the last scene, and the data of objects that
        stay.
        """
        scenes: set[Any] = set()
        deleted = {require(item) for item in items}
        users: dict[Any, Any] = {}
        for user in bpy.data.objects:
            if user.data is not None and user not in deleted:
                users[user.data] = user
        for item in items:
            thing = require(item)
            require_own(item, thing)
            if thing in users:  # Blender would delete the object with its data
                raise ValueError(f"{item} is in use by {item_of(users[thing])}: delete that too.")
            if _is_part(thing):
                _check_removable(item)
            if isinstance(thing, bpy.types.Scene):
                scenes.add(thing)
                if len(scenes) == len(bpy.data.scenes):
                    raise ValueError(f"{item} is the only scene.")

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        """Return the modifiers, constraints, drivers, nodes and slots that refer to items.

        Those of the items themselves are left out.
        """
        deleted = {require(item) for item in items}
        words = []
        for reference in references():
            if reference.target in deleted and reference.owner not in deleted:
                words.append(reference.words)
        for item in items:
            words += naming(item)
        return [word for word in dict.fromkeys(words) if word not in items]

    def _empty(self, collection: Any, deleted: set[Any]) -> None:
        """Link what is in a collection, and in no other that stays, to the one above."""
        home = scene().collection
        for above in collections_of(collection):
            if above not in deleted:
                home = above
                break
        for thing in list(collection.objects):
            is_elsewhere = bool(set(thing.users_collection) - deleted)
            if thing not in deleted and not is_elsewhere and not is_in(thing, home.objects):
                home.objects.link(thing)
        for child in list(collection.children):
            if child not in deleted and not is_in(child, home.children):
                home.children.link(child)

    def orphans(self, items: Sequence[str]) -> Sequence[str]:
        """Return all that is below objects, without these objects."""
        things = {thing for thing in map(block, items) if isinstance(thing, bpy.types.Object)}
        below: dict[Any, None] = {}
        for thing in things:
            below.update(dict.fromkeys(self._below(thing)))
        return [item_of(thing) for thing in below if thing not in things]


def _unused() -> Iterator[Any]:
    for rna in bpy.types.BlendData.bl_rna.properties:
        if rna.type != "COLLECTION" or rna.identifier in _NEVER_UNUSED:
            continue
        for thing in data(rna.identifier):
            if not (thing.users or thing.use_fake_user or thing.library):
                yield thing


def _empty_collections() -> Iterator[Any]:
    for collection in bpy.data.collections:
        if not (collection.library or collection.use_fake_user or collection.all_objects):
            yield collection


def _dead_links() -> Iterator[Any]:
    """Yield libraries and images whose file is missing."""
    for thing in [*bpy.data.libraries, *bpy.data.images]:
        path = text_of(thing, "filepath")
        if not path or "<" in path or getattr(thing, "packed_file", None):
            continue
        is_read = getattr(thing, "source", "FILE") in ("FILE", "MOVIE")
        if is_read and not Path(bpy.path.abspath(path)).exists():
            yield thing


def _is_part(thing: Any) -> bool:
    """Return whether a thing is a part and no node."""
    return not isinstance(thing, bpy.types.ID | bpy.types.Node)


def _check_removable(item: str) -> None:
    """Raise ValueError for a part that cannot be removed."""
    found = part_of(item)
    assert found is not None  # it was found a moment ago
    if found.kind.remove is None:
        raise ValueError(f"{item} is there as long as what it stands for is: delete that.")


def _delete_parts(items: Sequence[str]) -> None:
    """Delete parts: those of a part before the part, all of one kind of an owner at once.

    Raises:
        ValueError: Blender kept one of them.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for item in items:
        found = part_of(item)
        if found is not None:
            word = item[len(found.owner_item) + 1 :].partition(":")[0]
            groups.setdefault((found.owner_item, word), []).append(item)
    for owner_item, word in sorted(groups, key=lambda group: len(group[0]), reverse=True):
        every = [part_of(item) for item in groups[owner_item, word]]
        parts = [found.part for found in every if found is not None]
        kind = KINDS[word]
        owner = require(owner_item)
        before = len(kind.parts(owner))
        assert kind.remove is not None  # see `_check_removable`
        kind.remove(owner, parts)
        if len(kind.parts(require(owner_item))) > before - len(parts):
            raise ValueError(f"{', '.join(groups[owner_item, word])}: Blender keeps it.")
