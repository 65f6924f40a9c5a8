"""Layers of meshes that an edit can remove: UV maps, colors, attributes, shape keys. Main thread.

An *aspect* is one such kind of part, see `aspects`. The table `LAYER_ASPECTS` at the end of this
module says for each which data-blocks have it, how the layers are read before and after an edit,
and how the missing ones are named for a person. `WEIGHT_ASPECT` is the one of vertex weights, which
belongs to objects.

A layer has no identity that lasts. So the content is compared: a layer with a new name and the same
content was renamed, and is not missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import bmesh
import bpy

from .aspects import (
    UNREAD,
    Aspect,
    Budget,
    PartWords,
    key_of,
    lists_named,
    missing_parts,
    places_with,
    read_each_within,
)
from .block_lists import BlockList, places
from .content import Layer, is_blank, is_blank_map, layer_of, map_of, read_numbers
from .names import name_of, names_of

_HAS_COLORS: Final = "color_attributes" in bpy.types.Mesh.bl_rna.properties
_COLORS: Final = "color_attributes" if _HAS_COLORS else "vertex_colors"
_IS_ATTRIBUTES: Final = bpy.app.version >= (4, 0)  # whether UV maps are attributes
_Layers = Mapping[str, Any]  # by name, the content as a `Layer`, or `UNREAD`


def _places_with_uv_maps(block_list: BlockList) -> list[int]:
    """Return the places of the meshes that have UV maps, or may have some in edit mode."""
    return places(mesh.is_editmode or mesh.uv_layers for mesh in block_list.blocks)


def _read_uv_maps(mesh: Any, budget: Budget) -> _Layers:
    if mesh.is_editmode:  # the mesh itself is as before edit mode
        edited: Any = bmesh.from_edit_mesh(mesh).loops.layers
        return _unread_layers(edited.uv.keys(), budget)
    names = names_of(mesh.uv_layers)
    if not _IS_ATTRIBUTES:
        layers = zip(names, mesh.uv_layers, strict=True)
        return {name: map_of(layer, budget) for name, layer in layers}
    return _read_layers(mesh, names, budget)


def _read_colors(mesh: Any, budget: Budget) -> _Layers:
    names = names_of(getattr(mesh, _COLORS))
    if mesh.is_editmode:
        return _unread_layers(names, budget)
    return _read_layers(mesh, names, budget)


_BUILT_IN: Final = {
    "position",
    "material_index",
    "sharp_face",
    "sharp_edge",
    "crease_vert",
    "crease_edge",
    "bevel_weight_vert",
    "bevel_weight_edge",
    "freestyle_edge",
    "freestyle_face",
}
"""Attributes that Blender itself adds and removes, as the values that they hold are set."""


def _read_attributes(mesh: Any, budget: Budget) -> _Layers:
    """Return the attributes that are neither UV maps nor colors nor `_BUILT_IN`."""
    names = names_of(mesh.attributes)
    own = [name for name in names if name not in _BUILT_IN and not name.startswith(".")]
    if not own:
        return {}
    others = {*names_of(mesh.uv_layers), *names_of(getattr(mesh, _COLORS))}
    own = [name for name in own if name not in others]
    if mesh.is_editmode:
        return _unread_layers(own, budget)
    return _read_layers(mesh, own, budget)


def _unread_layers(names: list[str], budget: Budget) -> _Layers:
    if names:
        budget.is_complete = False
    return dict.fromkeys(names, UNREAD)


def _read_layers(mesh: Any, names: list[str], budget: Budget) -> _Layers:
    attributes = _attributes_by_name(mesh)
    return {name: layer_of(attributes[name], budget) for name in names if name in attributes}


def _attributes_by_name(mesh: Any) -> dict[str, Any]:
    return dict(zip(names_of(mesh.attributes), mesh.attributes, strict=True))


def _describe_lost(kind: str) -> Callable[[_Layers, _Layers, Any], list[str]]:
    """Return an `Aspect.describe_loss` for a kind of layer, such as "UV map"."""

    def describe_loss(before: _Layers, now: _Layers, mesh: Any) -> list[str]:
        new_layers = [layer for name, layer in now.items() if name not in before]
        are_fewer = len(now) < len(before)
        words = []
        for name, layer in before.items():
            if name in now:
                if _is_emptied(layer, now[name], mesh, name):
                    words.append(f"content of {kind} {name}")
            elif layer in new_layers:  # renamed
                new_layers.remove(layer)
            elif layer is not UNREAD or are_fewer:
                words.append(f"{kind} {name}")
        return words

    return describe_loss


def _is_emptied(before: Any, now: Any, mesh: Any, name: str) -> bool:
    """Return whether a layer that had values has only those of a new layer now."""
    if not isinstance(before, Layer) or not isinstance(now, Layer):
        return False
    if before == now or before.is_uniform:
        return False
    attributes = _attributes_by_name(mesh)
    if name in attributes:
        return is_blank(attributes[name])
    return is_blank_map(mesh.uv_layers[name])


# ---- shape keys


class _ShapeKey(NamedTuple):
    """A shape key.

    Attributes:
        words: The words for the key, with a digest of its points.
        is_flat: Whether its points are those of the key that it is relative to.
    """

    words: PartWords
    is_flat: bool


def _read_shape_keys(block: Any, budget: Budget) -> dict[tuple[Any, ...], _ShapeKey]:
    """Return the shape keys of a mesh, curve or lattice; only those of meshes with their points."""
    keys = block.shape_keys
    if keys is None:
        return {}
    blocks = list(keys.key_blocks)
    digests: list[int | None] = [None] * len(blocks)
    if isinstance(block, bpy.types.Mesh):
        digests = [_digest_of_points(key, budget) for key in blocks]
    digest_by_key = dict(zip(map(key_of, blocks), digests, strict=True))
    shape_keys = {}
    for key, digest in zip(blocks, digests, strict=True):
        words = PartWords(f"shape key {name_of(key)}", hash(digest))
        is_flat = digest is not None and digest == digest_by_key.get(key_of(key.relative_key))
        shape_keys[key_of(key)] = _ShapeKey(words, is_flat)
    return shape_keys


def _digest_of_points(key: Any, budget: Budget) -> int | None:
    """Return a digest of a shape key's points, or None where they are not read."""
    if not len(key.data) or not budget.take_content(3 * len(key.data)):
        return None
    return hash(read_numbers(key.data, "co", "f", 3).tobytes())


def _describe_lost_shape_keys(before: Any, now: Any, _: Any) -> list[str]:
    old = {key: shape.words for key, shape in before.items()}
    new = {key: shape.words for key, shape in now.items()}
    missing = missing_parts(old, new)
    for key, shape in before.items():
        is_there = key in now and shape.words not in missing
        if is_there and now[key].is_flat and not shape.is_flat:
            missing.append(f"content of {shape.words}")
    return missing


# ---- weights


class _Weights(NamedTuple):
    """The weights of a mesh's vertices.

    Attributes:
        vertices: How many vertices there are.
        step: The distance between two vertices that were read: 1 where all of them were.
        groups: By vertex group its name, and how many of the read vertices have a weight in it.
    """

    vertices: int
    step: int
    groups: Mapping[tuple[Any, ...], tuple[str, int]]


def _places_with_vertex_groups(block_list: BlockList) -> list[int]:
    """Return the place of one object for each mesh that has vertex groups."""
    firsts = sorted(block_list.firsts.values())
    things = block_list.blocks
    return [at for at in firsts if things[at].type == "MESH" and things[at].vertex_groups]


def _read_weights(thing: Any, budget: Budget) -> Any:
    """Return the `_Weights` of an object's mesh; `UNREAD` if too large or in edit mode."""
    mesh = thing.data
    if mesh is None or mesh.is_editmode:
        budget.is_complete = False
        return UNREAD
    count = len(mesh.vertices)
    taken = budget.take_vertices(count)
    if not taken:
        return UNREAD
    step = -(-count // taken)
    vertices = mesh.vertices
    if step > 1:
        vertices = [mesh.vertices[at] for at in range(0, count, step)]
    counts = Counter[int]()
    for vertex in vertices:
        for weight in vertex.groups:
            if weight.weight:
                counts[weight.group] += 1
    groups = {}
    for group in thing.vertex_groups:
        groups[key_of(group)] = (name_of(group), counts[group.index])
    return _Weights(count, step, groups)


def _describe_lost_weights(before: _Weights, now: _Weights, _: Any) -> list[str]:
    """Return the words for groups with fewer weights; missing groups are of another aspect."""
    if before[:2] != now[:2]:  # vertices were removed or added
        return []
    missing = []
    fewer = []
    for key, (name, count) in before.groups.items():
        if key not in now.groups:
            continue
        name_now, count_now = now.groups[key]
        if name_now != name and count_now != count:  # another group at its address
            missing.append(f"vertex group {name}")
        elif count_now < count:
            fewer.append(name)
    if len(fewer) == 1:
        missing.append(f"vertex weights of group {fewer[0]}")
    elif fewer:
        missing.append(f"vertex weights of {len(fewer)} groups")
    return missing


WEIGHT_ASPECT: Final = Aspect(
    applies_to=lists_named("objects"),
    find_places=_places_with_vertex_groups,
    read=read_each_within(_read_weights),
    describe_loss=_describe_lost_weights,
)
"""The aspect of weights, which the objects of a mesh have."""
LAYER_ASPECTS: Final[dict[str, Aspect]] = {
    "UV maps": Aspect(
        applies_to=lists_named("meshes"),
        find_places=_places_with_uv_maps,
        read=read_each_within(_read_uv_maps),
        describe_loss=_describe_lost("UV map"),
    ),
    "color attributes": Aspect(
        applies_to=lists_named("meshes"),
        find_places=places_with(_COLORS),
        read=read_each_within(_read_colors),
        describe_loss=_describe_lost("color attribute"),
    ),
    "attributes": Aspect(
        applies_to=lists_named("meshes"),
        find_places=places_with("attributes"),
        read=read_each_within(_read_attributes),
        describe_loss=_describe_lost("attribute"),
    ),
    "shape keys": Aspect(
        applies_to=lists_named("meshes", "curves", "lattices"),
        find_places=places_with("shape_keys"),
        read=read_each_within(_read_shape_keys),
        describe_loss=_describe_lost_shape_keys,
    ),
}
"""The aspects of layers, in the order in which a person reads what is missing."""
