"""What there is: items, what is in them, their size, files and rules. Main thread."""

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
    PlainNames,
    Rule,
    SocketLink,
    triple,
)

from ..host import BlenderHost
from ..names import UNREADABLE_TEXT, body_of, name_of, text_of
from ..objects import block, item_of, kind_of, known, lists, tree_of
from ..plain_names import PLAIN
from ..targets import without_target
from ..watching import watched, writers
from . import properties, values
from .items import Family, collections_of, owner_of, require, sockets_of

_MOST: Final = 100
_FILES: Final = "images libraries sounds fonts movieclips volumes cache_files"
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
        self._is_stale = False  # something was made since Blender evaluated the scene
        self._is_moved = False  # or only placed
        self._layer_at_frame: Any = None  # the layer that is read while another frame is

    def namespace(self) -> dict[str, Any]:
        return {"bpy": bpy}

    def plain_names(self) -> PlainNames:
        return PLAIN

    def items(self, under: str | None = None) -> Iterable[str]:
        """Objects; below "material:" all materials, below one its nodes; of a collection all."""
        if under is None:
            return map(_noted, list(bpy.data.objects))
        word, colon, name = under.partition(":")
        if colon and not name and word in lists():
            return map(item_of, list(getattr(bpy.data, lists()[word])))
        thing = require(under)
        if isinstance(thing, bpy.types.Object):
            return map(item_of, self._below(thing))
        if isinstance(thing, bpy.types.Collection):
            return map(item_of, [*thing.children_recursive, *thing.all_objects])
        tree = tree_of(thing)
        return [f"{under}/{name_of(node)}" for node in tree.nodes] if tree else []

    def kind(self, item: str) -> str:
        return kind_of(require(item))

    def name(self, item: str) -> str:
        return name_of(require(item))

    def parent(self, item: str) -> str | None:
        thing = require(item)
        if isinstance(thing, bpy.types.Node):
            return owner_of(item)
        if isinstance(thing, bpy.types.Collection):
            return next(map(item_of, collections_of(thing)), None)
        it = getattr(thing, "parent", None)
        return item_of(it) if isinstance(it, bpy.types.ID) else None

    def users(self, thing: str) -> Iterable[str]:
        """Objects, materials and collections that use a thing; an image's file is one, too."""
        found = block(thing) or bpy.data.materials.get(thing)
        if found is None:
            found = next((block(it) for it, _, path in self.files() if thing in _names(path)), None)
        if found is None or isinstance(found, bpy.types.Node):
            require(thing)
            return []
        return (item_of(it) for it in self._users(found))

    def _users(self, thing: Any) -> Iterator[Any]:
        seen, wanted = {thing}, [thing]
        while wanted:
            using = bpy.data.user_map(subset=wanted)
            found = {user for users in using.values() for user in users} - seen
            seen |= found
            shown = (bpy.types.Object, bpy.types.Material, bpy.types.Collection, bpy.types.World)
            yield from sorted((it for it in found if isinstance(it, shown)), key=item_of)
            wanted = [it for it in found if not isinstance(it, (*shown, bpy.types.Scene))]

    def look_into(self, item: str, part: Part) -> Any:
        thing = require(item)
        match part:
            case "values":
                listed = islice(properties.slots(item, thing).items(), _MOST)
                return {name: values.told(slot) for name, slot in listed}
            case "inputs":
                return list(islice(_links(item, thing), _MOST))
            case "uses":
                return list(islice(dict.fromkeys(_uses(thing)), _MOST))
            case "keys":
                return dict(islice(_keys(item, thing), _MOST))
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
        counts = {"faces": mesh.polygons, "vertices": mesh.vertices, "edges": mesh.edges}
        return {name: len(those) for name, those in counts.items()}

    # ---- where it is

    def world(self, thing: bpy.types.Object) -> Matrix:
        """Give where an object is, without evaluating all of the scene after each change."""
        if self._layer_at_frame is not None:
            return thing.evaluated_get(self._depsgraph()).matrix_world.copy()
        if thing.constraints or thing.parent_type != "OBJECT":
            self._is_stale |= self._is_moved
            self._depsgraph()
            return thing.matrix_world.copy()
        return self.above(thing) @ thing.matrix_basis

    def above(self, thing: bpy.types.Object) -> Matrix:
        """Give what an object's own transform is relative to."""
        if thing.parent is None:
            return Matrix()
        if thing.parent_type != "OBJECT":
            return thing.matrix_world @ thing.matrix_basis.inverted_safe()
        return self.world(thing.parent) @ thing.matrix_parent_inverse

    def _depsgraph(self) -> Any:
        if self._layer_at_frame is not None:
            return self._layer_at_frame.depsgraph
        layer: Any = bpy.context.view_layer
        if self._is_stale or layer.depsgraph is None:
            layer.update()
            self._is_stale = self._is_moved = False
        return layer.depsgraph

    def touch(self) -> None:
        self._is_stale = True
        self._family.forget()

    def _children(self, thing: bpy.types.Object) -> list[bpy.types.Object]:
        return self._family.children(thing, self.host.change_count)

    def _below(self, thing: bpy.types.Object) -> list[bpy.types.Object]:
        found = self._children(thing)
        for child in found:  # the list grows meanwhile
            found += self._children(child)
        return found

    def bounds(self, item: str) -> Bounds | None:
        """Evaluated, with children and what a collection's instance shows."""
        thing = require(item)
        if isinstance(thing, bpy.types.Collection):
            own = list(thing.all_objects)
        elif isinstance(thing, bpy.types.Object):
            own = [thing, *self._below(thing)]
        else:
            return None
        corners = [it[:] for each in track(own) for it in self._corners(each, Matrix())]
        axes = list(zip(*corners, strict=True))  # numpy takes ten times as long for vectors
        return (triple(map(min, axes)), triple(map(max, axes))) if axes else None

    def _corners(self, thing: bpy.types.Object, outer: Matrix) -> list[Vector]:
        """Give the corners of one object's own box, in the world."""
        matrix = outer @ self.world(thing)
        if thing.instance_type == "COLLECTION" and thing.instance_collection is not None:
            inner = thing.instance_collection
            offset: Any = inner.instance_offset
            within = matrix @ Matrix.Translation(-offset)
            return [it for each in inner.all_objects for it in self._corners(each, within)]
        if thing.data is None or thing.type in ("LIGHT", "CAMERA", "SPEAKER", "LIGHT_PROBE"):
            return []
        box: Any = thing.evaluated_get(self._depsgraph()).bound_box
        if thing.type == "MESH" and all(tuple(it) == tuple(box[0]) for it in box):
            return []  # it has no vertices
        return [matrix @ Vector(corner) for corner in box]

    # ---- of the whole file

    def materials(self) -> Iterable[str]:
        return map(item_of, list(bpy.data.materials))

    def files(self) -> Iterable[tuple[str, str, str]]:
        for name in _FILES.split():
            for thing in list(getattr(bpy.data, name)):
                path = text_of(thing, "filepath")
                is_made = getattr(thing, "source", "FILE") in ("GENERATED", "VIEWER")
                is_within = path.startswith("<") or getattr(thing, "packed_file", None)
                if path and not is_made and not is_within:
                    yield item_of(thing), "filepath", path

    def rules(self) -> Iterable[Rule]:
        return *_MESH_RULES, _NO_TARGET

    def failures(self, rule: str, items: Sequence[str]) -> Iterator[tuple[str, str]]:
        for item in items:
            thing = block(item)
            if rule == _NO_TARGET.name:
                yield item, ", ".join(without_target(thing))
                continue
            is_mesh = getattr(thing, "type", "") == "MESH"
            mesh = thing.evaluated_get(self._depsgraph()).data if is_mesh else None
            count = 0 if mesh is None else _FAULTS[rule](mesh)
            yield item, f"{count} {'faces' if rule == 'ngons' else 'edges'}" if count else ""

    # ---- find_api

    def api(self) -> Iterator[ApiEntry]:
        """Types to create, sockets of nodes, properties and functions of types, operators."""
        kinds = list(self.types())
        plain = [it for it in kinds if not hasattr(bpy.types, it)]
        nodes = [it for it in kinds if hasattr(bpy.types, it)]
        yield from (ApiEntry(f"create type {it}", "type") for it in plain)
        with self.host.unnoticed():  # the nodes that are made and taken away
            for at in range(0, len(nodes), 10):
                yield from _nodes(nodes[at : at + 10])
        for name in dir(bpy.types):
            rna = getattr(getattr(bpy.types, name), "bl_rna", None)
            if rna is not None and not name.startswith(("bpy_", "Node")) and "_OT_" not in name:
                yield from _type(name, rna)
        for module in dir(bpy.ops):
            for name in dir(getattr(bpy.ops, module)):
                rna = getattr(getattr(bpy.ops, module), name).get_rna_type()
                full, arguments = f"bpy.ops.{module}.{name}", _arguments(rna.properties)
                yield ApiEntry(full, "operator", rna.description, arguments)


def _noted(thing: bpy.types.Object) -> str:
    """Give an item, which is found at once then."""
    item = item_of(thing)
    known[item] = thing
    return item


def _names(path: str) -> set[str]:
    return {path, bpy.path.abspath(path), bpy.path.basename(path)}


def _links(item: str, thing: Any) -> Iterator[SocketLink]:
    """Give the links into a node, or all of a tree."""
    is_node, owner = isinstance(thing, bpy.types.Node), owner_of(item)
    tree = thing.id_data if is_node else tree_of(thing)
    for link in tree.links if tree else ():
        source, target = link.from_node, link.to_node
        if not is_node or target == thing:
            out, into = sockets_of(source.outputs).items(), sockets_of(target.inputs).items()
            yield SocketLink(
                f"{owner}/{name_of(source)}",
                next(name for name, it in out if it == link.from_socket),
                f"{owner}/{name_of(target)}",
                next(name for name, it in into if it == link.to_socket),
            )


def _uses(thing: Any) -> Iterator[str]:
    """Give the data, files and objects that something refers to."""
    owners = [thing, *getattr(thing, "modifiers", ()), *getattr(thing, "constraints", ())]
    if isinstance(thing, bpy.types.Object):
        yield from (item_of(it.material) for it in thing.material_slots if it.material)
        yield from map(item_of, thing.users_collection)
    tree = tree_of(thing)
    owners += list(tree.nodes) if tree else []
    for owner in owners:
        for rna in owner.bl_rna.properties:
            kind = rna.fixed_type.identifier if rna.type == "POINTER" else ""
            # No settings of an add-on: reading them makes them.
            is_data = issubclass(getattr(bpy.types, kind, object), bpy.types.ID)
            used = getattr(owner, rna.identifier, None) if is_data else None
            if isinstance(used, bpy.types.ID) and used not in (thing, tree, thing.id_data):
                yield item_of(used)
                path = text_of(used, "filepath") if isinstance(used, bpy.types.Image) else ""
                if path:
                    yield path


def _keys(item: str, thing: Any) -> Iterator[tuple[str, Any]]:
    own: Any = getattr(thing, "data", None)
    for data, before in ((thing, ""), (own, "data."), (tree_of(thing), "")):
        curves = values.all_curves(data) if isinstance(data, bpy.types.ID) else []
        paths = dict.fromkeys(text_of(curve, "data_path") for curve in curves)
        for path in (it for it in paths if it != UNREADABLE_TEXT):
            owner, _, name = path.rpartition(".")
            resolved = data.path_resolve(owner) if owner else data
            slot = properties.Slot(item, resolved, name)
            yield before + path, [[*it] for it in values.read_keys(slot)[:_MOST]]


def _text(thing: Any) -> str | None:
    if isinstance(thing, bpy.types.Text):
        return body_of(thing)
    if getattr(thing, "type", "") == "FONT":
        return text_of(thing.data, "body")
    drivers = getattr(getattr(thing, "animation_data", None), "drivers", ())
    lines = [
        f"{text_of(it, 'data_path')}[{it.array_index}] = {text_of(it.driver, 'expression')}"
        for it in drivers
    ]
    return "\n".join(lines) or None


def _ngons(mesh: Any) -> int:
    import numpy as np  # which Debian's Blender lacks in a virtual environment

    sizes = np.zeros(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    return int((sizes > 4).sum())


def _open_edges(mesh: Any) -> int:
    import numpy as np  # which Debian's Blender lacks in a virtual environment

    edges = np.zeros(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("edge_index", edges)
    return int((np.bincount(edges, minlength=len(mesh.edges)) != 2).sum())


_FAULTS: Final = {"ngons": _ngons, "non_manifold": _open_edges}


# ---- find_api


def _type(name: str, rna: Any) -> Iterator[ApiEntry]:
    yield ApiEntry(name, "type", rna.description)
    base = {it.identifier for it in rna.base.properties} if rna.base else set()
    for prop in rna.properties:
        if prop.identifier not in base and prop.identifier != "rna_type":
            full = f"{name}.{prop.identifier}"
            yield ApiEntry(full, "property", prop.description, _signature(prop))
    for it in rna.functions:
        full, arguments = f"{name}.{it.identifier}()", _arguments(it.parameters)
        yield ApiEntry(full, "function", it.description, arguments)


def _arguments(properties: Any) -> str:
    parts = [it for it in properties if it.identifier != "rna_type"]
    return ", ".join(f"{it.identifier}: {_signature(it)}" for it in parts[:12])


def _signature(prop: Any) -> str:
    kind: str = prop.type.lower()
    if prop.type == "ENUM":
        return " | ".join(it.identifier for it in prop.enum_items_static[:16])
    if prop.type in ("POINTER", "COLLECTION"):
        return f"{prop.fixed_type.identifier}{' list' if prop.type == 'COLLECTION' else ''}"
    if prop.type in ("INT", "FLOAT"):
        count = f"[{prop.array_length}]" if prop.is_array else ""
        return f"{kind}{count} {prop.hard_min:.4g}..{prop.hard_max:.4g}"
    return kind


def _nodes(kinds: list[str]) -> Iterator[ApiEntry]:
    """Give types of nodes, shaders with their sockets: those of some made beside the file."""
    sockets: dict[str, str] = {}
    tree: Any = bpy.data.node_groups.new("find_api", "ShaderNodeTree")
    try:  # in `BlendData.temp_data` some nodes end Blender 4.5
        for kind in kinds:
            if kind.startswith("ShaderNode"):
                node = tree.nodes.new(kind)
                ins, outs = sockets_of(node.inputs), sockets_of(node.outputs)
                sockets[kind] = f"in: {', '.join(ins)}; out: {', '.join(outs)}"
    finally:
        bpy.data.node_groups.remove(tree)
    for kind in kinds:
        rna: Any = getattr(bpy.types, kind).bl_rna
        text = f"{rna.name}. {rna.description}"
        yield ApiEntry(f"create type {kind}", "type", text, sockets.get(kind, ""))
