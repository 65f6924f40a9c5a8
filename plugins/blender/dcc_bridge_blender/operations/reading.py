"""The operations that only read: items and their parts, bounds, files, rules. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

import bpy
from mathutils import Matrix, Vector

from dcc_bridge import track
from dcc_bridge.spi import (
    ApiEntry,
    ApiSearch,
    Bounds,
    Building,
    Checking,
    CodeContext,
    Part,
    PlainNames,
    Rule,
    Said,
    read_each,
    triple,
)

from ..host import BlenderHost
from ..names import name_of, text_of
from ..objects import block, item_of, kind_of, known, lists, own_name, tree_of
from ..part_items import items_below
from ..plain_names import PLAIN
from ..targets import without_target
from ..watching import watched, writers
from . import api, contents, gone, properties, values
from .items import Family, collections_of, examples, naming, owner_of, require
from .making import node_types
from .said import SAID

_MAX_LISTED: Final = 100  # values, links, uses or keys of an item
_NODES_AT_ONCE: Final = 10
_FILES: Final = ("images", "libraries", "sounds", "fonts", "movieclips", "volumes", "cache_files")
_WITHOUT_SIZE: Final = ("LIGHT", "CAMERA", "SPEAKER", "LIGHT_PROBE")
_USERS: Final = (
    bpy.types.Object,
    bpy.types.Material,
    bpy.types.Collection,
    bpy.types.World,
)
"""The types of users that a person knows; other data is followed to its own users."""
_TRIANGULATE: Final = 'create(things=[{"type": "TRIANGULATE_MODIFIER", "under": item}])'
_SOLIDIFY: Final = 'create(things=[{"type": "SOLIDIFY_MODIFIER", "under": item}])'
_SET_TARGET: Final = 'set_values(changes=[{"item": item, "prop": prop, "value": "an object"}])'
_ASSIGN: Final = 'assign_material(items, material="name")'
_UNWRAP: Final = "run_python: bpy.data.objects[item].data.uv_layers.new()"
_MESH_RULES: Final = (
    Rule(
        "ngons",
        f"Faces of these meshes have more than four corners; {_TRIANGULATE} cuts them up.",
        _TRIANGULATE,
    ),
    Rule(
        "non_manifold",
        f"Edges of these meshes have not two faces; {_SOLIDIFY} closes a mesh by giving it a "
        "thickness.",
        _SOLIDIFY,
    ),
)
_NO_TARGET: Final = Rule(
    "missing_targets",
    f"Modifiers, constraints or drivers of these objects have no target; {_SET_TARGET} gives them "
    "one.",
    _SET_TARGET,
)
_NO_MATERIAL: Final = Rule(
    "no_material", f"These objects have faces and no material; {_ASSIGN} gives them one.", _ASSIGN
)
_NO_UVS: Final = Rule(
    "no_uvs", f"These meshes have no UV map; {_UNWRAP} makes one of each.", _UNWRAP
)
_RENDERED: Final = ("MESH", "CURVE", "SURFACE", "META", "FONT")  # types of objects with faces


class _Reading(ApiSearch, Building, Checking, CodeContext):
    """The operations that only read."""

    host: BlenderHost
    writers = staticmethod(writers)

    def __init__(self, host: BlenderHost) -> None:
        self.host = host
        self._family = Family()
        self._is_stale = False  # something was created since Blender evaluated the scene
        self._is_moved = False  # something was placed since then
        self._layer_at_frame: Any = None  # the view layer while another frame is read

    def namespace(self) -> dict[str, Any]:
        return {"bpy": bpy}

    @contextmanager
    def in_context(self, warnings: list[str]) -> Iterator[Callable[[], str | None]]:
        """Check the operators that code calls, and tell it the new names of what went away."""
        with watched(warnings, self.host.unnoticed) as compare, gone.new_names_told():
            yield compare

    def plain_names(self) -> PlainNames:
        return PLAIN

    def items(self, under: str | None = None) -> Iterable[str]:
        """Return all objects, or the items below an item.

        Below "material:" are all materials, below a material its nodes, below a collection all its
        collections and objects. Below "Rig/bone:" are all bones of the object, and below "Rig/" all
        its parts.
        """
        if under is None:
            return map(_remember, list(bpy.data.objects))
        parts = items_below(under, block)
        if parts is not None:
            return parts
        prefix, colon, name = under.partition(":")
        if colon and not name and prefix in lists():
            return map(item_of, list(getattr(bpy.data, lists()[prefix])))
        thing = require(under)
        if isinstance(thing, bpy.types.Object):
            return map(item_of, self._below(thing))
        if isinstance(thing, bpy.types.Collection):
            return map(item_of, [*thing.children_recursive, *thing.all_objects])
        tree = tree_of(thing)
        if not tree:
            return []
        return [f"{under}/{name_of(node)}" for node in tree.nodes]

    def named_like(self) -> list[str]:
        """Return an item of each kind that the file has, and a property of each kind of part."""
        return examples()

    def kind(self, item: str) -> str:
        return kind_of(require(item))

    def name(self, item: str) -> str:
        return own_name(item, require(item))

    def parent(self, item: str) -> str | None:
        thing = require(item)
        if not isinstance(thing, bpy.types.ID):
            return owner_of(item)
        if isinstance(thing, bpy.types.Collection):
            parents = collections_of(thing)
            return item_of(parents[0]) if parents else None
        parent = getattr(thing, "parent", None)
        return item_of(parent) if isinstance(parent, bpy.types.ID) else None

    def users(self, thing: str) -> Iterable[str]:
        """Return the objects, materials, collections and worlds that use data.

        The data may be named by its item, a material by its name, an image or a library by its
        file.
        """
        used = block(thing) or bpy.data.materials.get(thing)
        if used is None:
            used = self._of_file(thing)
        if used is None:
            require(thing)
        if not isinstance(used, bpy.types.ID):
            return naming(thing)
        return map(item_of, self._users(used))

    def _of_file(self, file: str) -> Any:
        """Return the data that is read from a file, by its name or path; or None."""
        for item, _, path in self.files():
            if file in (path, bpy.path.abspath(path), bpy.path.basename(path)):
                return block(item)
        return None

    def _users(self, thing: Any) -> Iterator[Any]:
        """Yield the users of a known type, directly or through other data."""
        seen = {thing}
        followed = [thing]
        while followed:
            users: set[Any] = set()
            for using in bpy.data.user_map(subset=followed).values():
                users |= using
            users -= seen
            seen |= users
            known = [user for user in users if isinstance(user, _USERS)]
            yield from sorted(known, key=item_of)
            others = [user for user in users if not isinstance(user, _USERS)]
            followed = [user for user in others if not isinstance(user, bpy.types.Scene)]

    def look_into(self, item: str, part: Part) -> Any:
        thing = require(item)
        match part:
            case "values":
                slots = dict(islice(properties.slots(item, thing).items(), _MAX_LISTED))
                return dict(read_each(slots, lambda name: values.read(slots[name])))
            case "inputs":
                return list(islice(contents.links(item, thing), _MAX_LISTED))
            case "uses":
                return list(islice(dict.fromkeys(contents.uses(thing)), _MAX_LISTED))
            case "keys":
                return dict(islice(contents.keys(item, thing), _MAX_LISTED))
            case "counts":
                return self._counts(thing)
            case "text":
                return contents.text(thing)

    def _counts(self, thing: Any) -> dict[str, int] | None:
        if isinstance(thing, bpy.types.Collection):
            return {"objects": len(thing.all_objects)}
        if not isinstance(thing, bpy.types.Object):
            tree = tree_of(thing)
            return {"nodes": len(tree.nodes), "links": len(tree.links)} if tree else None
        if thing.type != "MESH":
            return None
        mesh: Any = thing.evaluated_get(self._depsgraph()).data
        return {
            "faces": len(mesh.polygons),
            "vertices": len(mesh.vertices),
            "edges": len(mesh.edges),
        }

    # ---- where it is

    def world(self, thing: bpy.types.Object) -> Matrix:
        """Return an object's transform in the world.

        The scene is not evaluated after each change, but only where the parents' transforms do not
        tell.
        """
        if self._layer_at_frame is not None:
            return thing.evaluated_get(self._depsgraph()).matrix_world.copy()
        if thing.constraints or thing.parent_type != "OBJECT":
            if self._is_moved:
                self._is_stale = True
            self._depsgraph()
            return thing.matrix_world.copy()
        return self.above(thing) @ thing.matrix_basis

    def above(self, thing: bpy.types.Object) -> Matrix:
        """Return the transform in the world that an object's own transform is relative to."""
        if thing.parent is None:
            return Matrix()
        if thing.parent_type != "OBJECT":
            return thing.matrix_world @ thing.matrix_basis.inverted_safe()
        return self.world(thing.parent) @ thing.matrix_parent_inverse

    def _depsgraph(self) -> Any:
        """Return Blender's evaluation of the scene, brought up to date."""
        if self._layer_at_frame is not None:
            return self._layer_at_frame.depsgraph
        layer: Any = bpy.context.view_layer
        if self._is_stale or layer.depsgraph is None:
            layer.update()
            self._is_stale = False
            self._is_moved = False
        return layer.depsgraph

    def touch(self) -> None:
        """Note that something was created or deleted, or has another parent."""
        self._is_stale = True
        self._family.forget()

    def _children(self, thing: bpy.types.Object) -> list[bpy.types.Object]:
        return self._family.children(thing, self.host.change_count)

    def _below(self, thing: bpy.types.Object) -> list[bpy.types.Object]:
        descendants = self._children(thing)
        for child in descendants:  # the list grows meanwhile
            descendants += self._children(child)
        return descendants

    def bounds(self, item: str) -> Bounds | None:
        """Return the evaluated bounds, with children and the instances of collections."""
        thing = require(item)
        if isinstance(thing, bpy.types.Collection):
            own = list(thing.all_objects)
        elif isinstance(thing, bpy.types.Object):
            own = [thing, *self._below(thing)]
        else:
            return None
        corners = []
        for each in track(own):
            corners += [corner[:] for corner in self._corners(each, Matrix())]
        if not corners:
            return None
        axes = list(zip(*corners, strict=True))  # numpy takes ten times as long for vectors
        return triple(map(min, axes)), triple(map(max, axes))

    def _corners(self, thing: bpy.types.Object, outer: Matrix) -> list[Vector]:
        """Return the corners of an object's bounding box.

        Args:
            thing: The object. For an instance of a collection: the corners of the objects in it.
            outer: The transform from the object's world to that of the corners.
        """
        matrix = outer @ self.world(thing)
        collection = thing.instance_collection
        if thing.instance_type == "COLLECTION" and collection is not None:
            offset: Any = collection.instance_offset
            within = matrix @ Matrix.Translation(-offset)
            corners = []
            for each in collection.all_objects:
                corners += self._corners(each, within)
            return corners
        if thing.data is None or thing.type in _WITHOUT_SIZE:
            return []
        box: Any = thing.evaluated_get(self._depsgraph()).bound_box
        first = tuple(box[0])
        if thing.type == "MESH" and all(tuple(corner) == first for corner in box):
            return []  # the mesh has no vertices
        return [matrix @ Vector(corner) for corner in box]

    # ---- of the whole file

    def materials(self) -> Iterable[str]:
        return map(item_of, list(bpy.data.materials))

    def files(self) -> Iterable[tuple[str, str, str]]:
        """Yield the items with a file outside of this one, the property, and the path."""
        for name in _FILES:
            for thing, path in read_each(list(getattr(bpy.data, name)), _file_of, item_of):
                if path:
                    yield item_of(thing), "filepath", path

    def rules(self) -> Iterable[Rule]:
        return *_MESH_RULES, _NO_TARGET, _NO_MATERIAL, _NO_UVS

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        yield from read_each(items, lambda item: self._failure(rule, block(item)))

    def _failure(self, rule: str, thing: Any) -> str:
        """Return how a thing breaks a rule, or ""."""
        if rule == _NO_TARGET.name:
            return ", ".join(without_target(thing))
        kind = getattr(thing, "type", "")
        if rule == _NO_MATERIAL.name:
            is_bare = kind in _RENDERED and not any(slot.material for slot in thing.material_slots)
            return "no material" if is_bare else ""
        if kind != "MESH":
            return ""
        if rule == _NO_UVS.name:
            return "" if thing.data.uv_layers else "no UV map"
        mesh = thing.evaluated_get(self._depsgraph()).data
        count = _FAULTS[rule](mesh)
        if not count:
            return ""
        what = "faces" if rule == "ngons" else "edges"
        return f"{count} {what}"

    # ---- find_api

    def api(self) -> Iterator[ApiEntry]:
        """Yield types to create, sockets of nodes, operators, members of types, and gone names."""
        kinds = list(self.types())
        nodes = [kind for kind in kinds if kind in node_types()]
        for kind in kinds:
            if kind not in node_types():
                yield api.create_entry(kind)
        with self.host.unnoticed():  # nodes are created and removed
            for at in range(0, len(nodes), _NODES_AT_ONCE):
                yield from api.node_entries(nodes[at : at + _NODES_AT_ONCE])
            yield from api.type_entries()  # things are made and removed, to check examples on them
        yield from api.operator_entries()
        yield from gone.gone_entries()

    def said(self) -> Mapping[str, Said]:
        return SAID


def _remember(thing: bpy.types.Object) -> str:
    """Return the item of an object, which is found at once from now on."""
    item = item_of(thing)
    known[item] = thing
    return item


def _file_of(thing: Any) -> str:
    """Return the path of the file that data is read from; "" for data that is made or packed."""
    path = text_of(thing, "filepath")
    is_made = getattr(thing, "source", "FILE") in ("GENERATED", "VIEWER")
    is_packed = bool(getattr(thing, "packed_file", None))
    if is_made or is_packed or path.startswith("<"):
        return ""
    return path


def _ngons(mesh: Any) -> int:
    """Return how many faces have more than four corners."""
    import numpy as np  # which Debian's Blender lacks in a virtual environment

    sizes = np.zeros(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    return int((sizes > 4).sum())


def _open_edges(mesh: Any) -> int:
    """Return how many edges have not two faces."""
    import numpy as np  # which Debian's Blender lacks in a virtual environment

    edges = np.zeros(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", edges)
    return int((np.bincount(edges, minlength=len(mesh.edges)) != 2).sum())


_FAULTS: Final = {"ngons": _ngons, "non_manifold": _open_edges}
