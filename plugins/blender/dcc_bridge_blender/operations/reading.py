"""The operations that only read: items and their parts, bounds, files, rules. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
    Rule,
    SocketLink,
    triple,
)

from ..host import BlenderHost
from ..names import UNREADABLE_TEXT, body_of, name_of, text_of
from ..objects import block, item_of, kind_of, known, lists, tree_of
from ..targets import without_target
from ..watching import watched, writers
from . import properties, values
from .items import Family, collections_of, owner_of, require, sockets_of

_MAX_LISTED: Final = 100  # values, links, uses or keys of an item
_MAX_ARGUMENTS: Final = 12  # of an operator or function
_MAX_CHOICES: Final = 16  # of an enumeration
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
_MESH_RULES: Final = (
    Rule("ngons", "faces of more than four corners", "create TRIANGULATE_MODIFIER"),
    Rule("non_manifold", "edges that have not two faces", "create SOLIDIFY_MODIFIER"),
)
_NO_TARGET: Final = Rule("missing_targets", "what it needs is not there", "set_values")


class _Reading(ApiSearch, Building, Checking, CodeContext):
    """The operations that only read."""

    host: BlenderHost
    writers = staticmethod(writers)

    def __init__(self, host: BlenderHost) -> None:
        self.host, quiet = host, host.unnoticed
        vars(self)["in_context"] = lambda warnings: watched(warnings, quiet)
        self._family = Family()
        self._is_stale = False  # something was created since Blender evaluated the scene
        self._is_moved = False  # something was placed since then
        self._layer_at_frame: Any = None  # the view layer while another frame is read

    def namespace(self) -> dict[str, Any]:
        return {"bpy": bpy}

    def items(self, under: str | None = None) -> Iterable[str]:
        """Return all objects, or the items below an item.

        Below "material:" are all materials, below a material its nodes, below a collection all its
        collections and objects.
        """
        if under is None:
            return map(_remember, list(bpy.data.objects))
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

    def kind(self, item: str) -> str:
        return kind_of(require(item))

    def name(self, item: str) -> str:
        return name_of(require(item))

    def parent(self, item: str) -> str | None:
        thing = require(item)
        if isinstance(thing, bpy.types.Node):
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
        if used is None or isinstance(used, bpy.types.Node):
            require(thing)
            return []
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
                slots = islice(properties.slots(item, thing).items(), _MAX_LISTED)
                return {name: values.read(slot) for name, slot in slots}
            case "inputs":
                return list(islice(_links(item, thing), _MAX_LISTED))
            case "uses":
                return list(islice(dict.fromkeys(_uses(thing)), _MAX_LISTED))
            case "keys":
                return dict(islice(_keys(item, thing), _MAX_LISTED))
            case "counts":
                return self._counts(thing)
            case "text":
                return _text(thing)

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
            for thing in list(getattr(bpy.data, name)):
                path = text_of(thing, "filepath")
                is_made = getattr(thing, "source", "FILE") in ("GENERATED", "VIEWER")
                is_packed = bool(getattr(thing, "packed_file", None))
                if path and not (is_made or is_packed or path.startswith("<")):
                    yield item_of(thing), "filepath", path

    def rules(self) -> Iterable[Rule]:
        return *_MESH_RULES, _NO_TARGET

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        for item in items:
            yield item, self._failure(rule, block(item))

    def _failure(self, rule: str, thing: Any) -> str:
        """Return how a thing breaks a rule, or ""."""
        if rule == _NO_TARGET.name:
            return ", ".join(without_target(thing))
        if getattr(thing, "type", "") != "MESH":
            return ""
        mesh = thing.evaluated_get(self._depsgraph()).data
        count = _FAULTS[rule](mesh)
        if not count:
            return ""
        what = "faces" if rule == "ngons" else "edges"
        return f"{count} {what}"

    # ---- find_api

    def api(self) -> Iterator[ApiEntry]:
        """Yield types to create, sockets of nodes, operators, and the members of types."""
        kinds = list(self.types())
        nodes = [kind for kind in kinds if hasattr(bpy.types, kind)]
        for kind in kinds:
            if not hasattr(bpy.types, kind):
                yield ApiEntry(f"create type {kind}", "type")
        with self.host.unnoticed():  # nodes are created and removed
            for at in range(0, len(nodes), _NODES_AT_ONCE):
                yield from _node_entries(nodes[at : at + _NODES_AT_ONCE])
        yield from _type_entries()
        yield from _operator_entries()


def _remember(thing: bpy.types.Object) -> str:
    """Return the item of an object, which is found at once from now on."""
    item = item_of(thing)
    known[item] = thing
    return item


def _links(item: str, thing: Any) -> Iterator[SocketLink]:
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
    return next(name for name, each in sockets_of(sockets).items() if each == socket)


def _uses(thing: Any) -> Iterator[str]:
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


def _keys(item: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield the animated properties of an item, its data and its nodes, with their keys."""
    own: Any = getattr(thing, "data", None)
    for data, prefix in ((thing, ""), (own, "data."), (tree_of(thing), "")):
        if not isinstance(data, bpy.types.ID):
            continue
        paths = dict.fromkeys(text_of(curve, "data_path") for curve in values.all_curves(data))
        for path in paths:
            if path == UNREADABLE_TEXT:
                continue
            owner, _, name = path.rpartition(".")
            resolved = data.path_resolve(owner) if owner else data
            keys = values.read_keys(properties.Slot(item, resolved, name))
            yield prefix + path, [list(key) for key in keys[:_MAX_LISTED]]


def _text(thing: Any) -> str | None:
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


# ---- find_api


def _type_entries() -> Iterator[ApiEntry]:
    for name in dir(bpy.types):
        rna = getattr(getattr(bpy.types, name), "bl_rna", None)
        if rna is not None and not name.startswith(("bpy_", "Node")) and "_OT_" not in name:
            yield from _type(name, rna)


def _type(name: str, rna: Any) -> Iterator[ApiEntry]:
    """Yield a type with the properties and functions that its base does not have."""
    yield ApiEntry(name, "type", rna.description)
    base = {prop.identifier for prop in rna.base.properties} if rna.base else set()
    for prop in rna.properties:
        if prop.identifier not in base and prop.identifier != "rna_type":
            full = f"{name}.{prop.identifier}"
            yield ApiEntry(full, "property", prop.description, _signature(prop))
    for function in rna.functions:
        full = f"{name}.{function.identifier}()"
        arguments = _arguments(function.parameters)
        yield ApiEntry(full, "function", function.description, arguments)


def _operator_entries() -> Iterator[ApiEntry]:
    for module_name in dir(bpy.ops):
        module = getattr(bpy.ops, module_name)
        for name in dir(module):
            rna = getattr(module, name).get_rna_type()
            full = f"bpy.ops.{module_name}.{name}"
            yield ApiEntry(full, "operator", rna.description, _arguments(rna.properties))


def _arguments(properties: Any) -> str:
    arguments = [prop for prop in properties if prop.identifier != "rna_type"]
    texts = [f"{prop.identifier}: {_signature(prop)}" for prop in arguments[:_MAX_ARGUMENTS]]
    return ", ".join(texts)


def _signature(prop: Any) -> str:
    """Return what a property takes, in a few words."""
    kind: str = prop.type.lower()
    if prop.type == "ENUM":
        choices = prop.enum_items_static[:_MAX_CHOICES]
        return " | ".join(choice.identifier for choice in choices)
    if prop.type == "COLLECTION":
        return f"{prop.fixed_type.identifier} list"
    if prop.type == "POINTER":
        return str(prop.fixed_type.identifier)
    if prop.type in ("INT", "FLOAT"):
        count = f"[{prop.array_length}]" if prop.is_array else ""
        return f"{kind}{count} {prop.hard_min:.4g}..{prop.hard_max:.4g}"
    return kind


def _node_entries(kinds: list[str]) -> Iterator[ApiEntry]:
    """Yield types of nodes; shaders with their sockets, read from nodes beside the file."""
    sockets: dict[str, str] = {}
    tree: Any = bpy.data.node_groups.new("find_api", "ShaderNodeTree")
    try:  # in `BlendData.temp_data` some nodes end Blender 4.5
        for kind in kinds:
            if kind.startswith("ShaderNode"):
                node = tree.nodes.new(kind)
                inputs = ", ".join(sockets_of(node.inputs))
                outputs = ", ".join(sockets_of(node.outputs))
                sockets[kind] = f"in: {inputs}; out: {outputs}"
    finally:
        bpy.data.node_groups.remove(tree)
    for kind in kinds:
        rna: Any = getattr(bpy.types, kind).bl_rna
        text = f"{rna.name}. {rna.description}"
        yield ApiEntry(f"create type {kind}", "type", text, sockets.get(kind, ""))
