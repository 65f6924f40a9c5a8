"""The aspects of what meshes hold by point, face or corner, and what of them is gone. Main thread.

These are UV maps, colors, attributes, shape keys and the weights of vertices. None of them has an
identity that lasts, so a new name is told from a replaced layer by the content.
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
from .content import Layer, is_blank, is_blank_map, layer_of, map_of, numbers
from .names import name_of, names_of

_HAS_COLORS: Final = "color_attributes" in bpy.types.Mesh.bl_rna.properties
_COLORS: Final = "color_attributes" if _HAS_COLORS else "vertex_colors"
_IS_ATTRIBUTES: Final = bpy.app.version >= (4, 0)  # whether UV maps are attributes
_Layers = Mapping[str, Any]  # the `Layer` of each name, or `UNREAD`


def _having_maps(block_list: BlockList) -> list[int]:
    """Return the places of the meshes that have UV maps, or may have some in edit mode."""
    return places(mesh.is_editmode or mesh.uv_layers for mesh in block_list.blocks)


def _maps(mesh: Any, budget: Budget) -> _Layers:
    """Return the UV maps of a mesh."""
    if mesh.is_editmode:  # the mesh itself is as before edit mode
        edited: Any = bmesh.from_edit_mesh(mesh).loops.layers
        return _unread(edited.uv.keys(), budget)
    names = names_of(mesh.uv_layers)
    if not _IS_ATTRIBUTES:
        layers = zip(names, mesh.uv_layers, strict=True)
        return {name: map_of(layer, budget) for name, layer in layers}
    return _read(mesh, names, budget)


def _colors(mesh: Any, budget: Budget) -> _Layers:
    names = names_of(getattr(mesh, _COLORS))
    if mesh.is_editmode:
        return _unread(names, budget)
    return _read(mesh, names, budget)


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
"""Attributes that Blender makes and drops by itself, as what they hold is set."""


def _attributes(mesh: Any, budget: Budget) -> _Layers:
    """Return the attributes that are neither UV maps nor colors, nor Blender's own."""
    names = names_of(mesh.attributes)
    own = [name for name in names if name not in _BUILT_IN and not name.startswith(".")]
    if not own:
        return {}
    others = {*names_of(mesh.uv_layers), *names_of(getattr(mesh, _COLORS))}
    own = [name for name in own if name not in others]
    if mesh.is_editmode:
        return _unread(own, budget)
    return _read(mesh, own, budget)


def _unread(names: list[str], budget: Budget) -> _Layers:
    if names:
        budget.is_complete = False
    return dict.fromkeys(names, UNREAD)


def _read(mesh: Any, names: list[str], budget: Budget) -> _Layers:
    attributes = _by_name(mesh)
    return {name: layer_of(attributes[name], budget) for name in names if name in attributes}


def _by_name(mesh: Any) -> dict[str, Any]:
    return dict(zip(names_of(mesh.attributes), mesh.attributes, strict=True))


def _describe_lost_layers(what: str) -> Callable[[_Layers, _Layers, Any], list[str]]:
    """Return an `Aspect.gone` for layers."""

    def gone(before: _Layers, now: _Layers, mesh: Any) -> list[str]:
        new = [layer for name, layer in now.items() if name not in before]
        is_fewer = len(now) < len(before)
        words = []
        for name, layer in before.items():
            if name in now:
                if _is_emptied(layer, now[name], mesh, name):
                    words.append(f"content of {what} {name}")
            elif layer in new:  # it has another name
                new.remove(layer)
            elif layer is not UNREAD or is_fewer:
                words.append(f"{what} {name}")
        return words

    return gone


def _is_emptied(before: Any, now: Any, mesh: Any, name: str) -> bool:
    """Return whether a layer had any content, and has none now."""
    if not isinstance(before, Layer) or not isinstance(now, Layer):
        return False
    if before == now or before.is_uniform:
        return False
    attributes = _by_name(mesh)
    if name in attributes:
        return is_blank(attributes[name])
    return is_blank_map(mesh.uv_layers[name])


# ---- shape keys


class _ShapeKey(NamedTuple):
    """A shape key.

    Attributes:
        words: The words for it, with a digest of its content.
        is_flat: Whether it is as the key that it is relative to.
    """

    words: PartWords
    is_flat: bool


def _shape_keys(block: Any, budget: Budget) -> dict[tuple[Any, ...], _ShapeKey]:
    keys = block.shape_keys
    if keys is None:
        return {}
    blocks = list(keys.key_blocks)
    digests = [_digest(key, budget) if _is_mesh(block) else None for key in blocks]
    by_key = dict(zip(map(key_of, blocks), digests, strict=True))
    found = {}
    for key, digest in zip(blocks, digests, strict=True):
        words = PartWords(f"shape key {name_of(key)}", hash(digest))
        is_flat = digest is not None and digest == by_key.get(key_of(key.relative_key))
        found[key_of(key)] = _ShapeKey(words, is_flat)
    return found


def _is_mesh(block: Any) -> bool:
    return isinstance(block, bpy.types.Mesh)


def _digest(key: Any, budget: Budget) -> int | None:
    """Return a digest of a shape key's points, or None where they are not read."""
    if not len(key.data) or not budget.take_content(3 * len(key.data)):
        return None
    return hash(numbers(key.data, "co", "f", 3).tobytes())


def _describe_lost_shape_keys(before: Any, now: Any, _: Any) -> list[str]:
    old = {key: shape.words for key, shape in before.items()}
    new = {key: shape.words for key, shape in now.items()}
    gone = missing_parts(old, new)
    for key, shape in before.items():
        is_there = key in now and shape.words not in gone
        if is_there and now[key].is_flat and not shape.is_flat:
            gone.append(f"content of {shape.words}")
    return gone


# ---- weights


class _Weights(NamedTuple):
    """The weights of a mesh's vertices.

    Attributes:
        vertices: How many vertices there are.
        step: Every so many vertices one was read.
        groups: The name of each vertex group, and how many of these vertices have a weight in it.
    """

    vertices: int
    step: int
    groups: Mapping[tuple[Any, ...], tuple[str, int]]


def _having_groups(block_list: BlockList) -> list[int]:
    """Return the place of one object of each mesh that has vertex groups."""
    firsts = sorted(block_list.firsts.values())
    things = block_list.blocks
    return [at for at in firsts if things[at].type == "MESH" and things[at].vertex_groups]


def _weights(thing: Any, budget: Budget) -> Any:
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
    weighed = Counter(it.group for vertex in vertices for it in vertex.groups if it.weight)
    groups = {}
    for group in thing.vertex_groups:
        groups[key_of(group)] = (name_of(group), weighed[group.index])
    return _Weights(count, step, groups)


def _describe_lost_weights(before: _Weights, now: _Weights, _: Any) -> list[str]:
    """Return the words for groups that have fewer weights; a group that is gone has none."""
    if before[:2] != now[:2]:  # vertices are gone, or were added
        return []
    gone = []
    fewer = []
    for key, (name, count) in before.groups.items():
        if key not in now.groups:
            continue
        name_now, count_now = now.groups[key]
        if name_now != name and count_now != count:  # another one at its address
            gone.append(f"vertex group {name}")
        elif count_now < count:
            fewer.append(name)
    if len(fewer) == 1:
        gone.append(f"vertex weights of group {fewer[0]}")
    elif fewer:
        gone.append(f"vertex weights of {len(fewer)} groups")
    return gone


_MESHES: Final = frozenset({"meshes"})
_SHAPED: Final = frozenset({"meshes", "curves", "lattices"})
WEIGHT_ASPECT: Final = Aspect(
    applies_to=lists_named("objects"),
    find_places=_having_groups,
    read=read_each_within(_weights),
    describe_loss=_describe_lost_weights,
)
"""The aspect of weights, which the objects of a mesh have."""
LAYER_ASPECTS: Final[dict[str, Aspect]] = {
    "UV maps": Aspect(
        applies_to=lists_named("meshes"),
        find_places=_having_maps,
        read=read_each_within(_maps),
        describe_loss=_describe_lost_layers("UV map"),
    ),
    "color attributes": Aspect(
        applies_to=lists_named("meshes"),
        find_places=places_with(_COLORS),
        read=read_each_within(_colors),
        describe_loss=_describe_lost_layers("color attribute"),
    ),
    "attributes": Aspect(
        applies_to=lists_named("meshes"),
        find_places=places_with("attributes"),
        read=read_each_within(_attributes),
        describe_loss=_describe_lost_layers("attribute"),
    ),
    "shape keys": Aspect(
        applies_to=lists_named(*_SHAPED),
        find_places=places_with("shape_keys"),
        read=read_each_within(_shape_keys),
        describe_loss=_describe_lost_shape_keys,
    ),
}
"""The aspects of layers, in the order in which a person reads what is gone of them."""
