"""The aspects of geometry, and what of them is gone. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final

import bmesh
import bpy

from .aspects import (
    Aspect,
    Budget,
    Named,
    always,
    each,
    each_part,
    every,
    gone_keys_of_bones,
    key_of,
    keys_of_bones,
    named_parts,
    numbered,
)
from .block_lists import BlockList, places
from .names import name_of, names_of, text_of

_COUNTED: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "meshes": (("vertices", "vertices"), ("polygons", "faces"), ("edges", "edges")),
    "metaballs": (("elements", "balls"),),
    "pointclouds": (("points", "points"),),
    "hair_curves": (("points", "points"), ("curves", "curves")),
}
"""By the list of data-blocks, what is counted in each of them, with the words for it.

A person reads of the first of them of which there are fewer.
"""


def _counts(blocks: Sequence[Any], _: Budget) -> list[tuple[int, ...]]:
    """Return how many of each there are, in each of the data-blocks of one type."""
    names = [name for name, _words in _COUNTED[_list_of(blocks[0])]]
    columns = [map(len, map(attrgetter(name), blocks)) for name in names]
    found: list[tuple[int, ...]] = list(zip(*columns, strict=True))
    if isinstance(blocks[0], bpy.types.Mesh):
        for at in places(map(attrgetter("is_editmode"), blocks)):
            edited = bmesh.from_edit_mesh(blocks[at])  # the mesh itself is as before edit mode
            found[at] = (len(edited.verts), len(edited.faces), len(edited.edges))
    return found


def _list_of(block: Any) -> str:
    kinds = {"Mesh": "meshes", "MetaBall": "metaballs", "PointCloud": "pointclouds"}
    return kinds.get(type(block).__name__, "hair_curves")


def _gone_counts(before: tuple[int, ...], now: tuple[int, ...], block: Any) -> list[str]:
    rows = zip(before, now, _COUNTED[_list_of(block)], strict=True)
    for old, new, (_, words) in rows:
        if new < old:
            return [numbered(old - new, words)]
    return []


def _points(curve: Any) -> int:
    return sum(len(spline.points) + len(spline.bezier_points) for spline in curve.splines)


def _gone_points(before: int, now: int, _: Any) -> list[str]:
    return [numbered(before - now, "points")] if now < before else []


_HAS_BONE_GROUPS: Final = "collections_all" in bpy.types.Armature.bl_rna.properties  # since 4.1
_HAS_COLORS: Final = "color_attributes" in bpy.types.Mesh.bl_rna.properties
_COLORS: Final = "color_attributes" if _HAS_COLORS else "vertex_colors"


def _having_maps(block_list: BlockList) -> list[int]:
    """Return the places of the meshes that have UV maps, or may have some in edit mode."""
    return places(mesh.is_editmode or mesh.uv_layers for mesh in block_list.blocks)


def _maps(mesh: Any) -> list[str]:
    """Return the names of the UV maps of a mesh."""
    if not mesh.is_editmode:
        return names_of(mesh.uv_layers)
    edited: Any = bmesh.from_edit_mesh(mesh).loops.layers
    return list(edited.uv.keys())


def _colors(mesh: Any) -> list[str]:
    return names_of(getattr(mesh, _COLORS))


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


def _attributes(mesh: Any) -> list[str]:
    """Return the names of attributes that are neither UV maps nor colors, nor Blender's own."""
    names = names_of(mesh.attributes)
    own = [name for name in names if name not in _BUILT_IN and not name.startswith(".")]
    if not own:
        return []
    others = {*names_of(mesh.uv_layers), *_colors(mesh)}
    return [name for name in own if name not in others]


def _fewer(what: str) -> Callable[[list[str], list[str], Any], list[str]]:
    """Return an `Aspect.gone` for parts that have a name and no identity.

    A name that is gone counts where there are fewer names: else the part may have been renamed.
    """

    def gone(before: list[str], now: list[str], _: Any) -> list[str]:
        if len(now) >= len(before):
            return []
        return [f"{what} {name}" for name in before if name not in now]

    return gone


def _shape_keys(block: Any) -> Named:
    keys = block.shape_keys
    if keys is None:
        return {}
    return each_part("shape key", keys.key_blocks)


def _bones(armature: Any) -> Named:
    if armature.is_editmode:
        names = names_of(armature.edit_bones)
        return {(name,): f"bone {name}" for name in names}
    return each_part("bone", armature.bones)


def _gone_bones(before: Named, now: Named, _: Any) -> list[str]:
    """Return the words for bones whose name is gone, where there are fewer bones.

    Edit mode makes all bones anew, so they have no identity.
    """
    if len(now) >= len(before):
        return []
    return [words for words in before.values() if words not in now.values()]


def _bones_of(armature: Any) -> Any:
    return armature.edit_bones if armature.is_editmode else armature.bones


def _bone_keys(armature: Any) -> dict[str, list[str]]:
    return keys_of_bones(_bones_of(armature))


def _gone_bone_keys(before: Any, now: Any, armature: Any) -> list[str]:
    return gone_keys_of_bones(before, now, names_of(_bones_of(armature)))


def _strokes(pencil: Any) -> dict[tuple[Any, ...], tuple[str, int]]:
    """Return the name of each layer, and how many drawings the layer has."""
    return {key_of(layer): (_name_of_layer(layer), len(layer.frames)) for layer in pencil.layers}


def _bone_groups(armature: Any) -> Named:
    return each_part("bone collection", armature.collections_all)


def _name_of_layer(layer: Any) -> str:
    """Return the name of a layer, which is its `info` before 4.3."""
    if hasattr(layer, "info"):
        return text_of(layer, "info")
    return name_of(layer)


def _gone_strokes(before: Any, now: Any, _: Any) -> list[str]:
    """Return the words for layers that are gone, then for frames of layers that are there."""
    gone = [f"layer {name}" for key, (name, _) in before.items() if key not in now]
    for key, (name, count) in before.items():
        if key not in now:
            continue
        fewer = count - now[key][1]
        if fewer > 0:
            gone.append(f"{numbered(fewer, 'frames')} of layer {name}")
    return gone


_PENCILS: Final = ("grease_pencils", "annotations", "grease_pencils_v3")
_WITH_BONE_GROUPS: Final = ("armatures",) if _HAS_BONE_GROUPS else ()
GEOMETRY: Final[dict[str, Aspect]] = {
    "geometry": Aspect(_COUNTED.__contains__, always, _counts, _gone_counts),
    "points": Aspect({"curves"}.__contains__, every("splines"), each(_points), _gone_points),
    "UV maps": Aspect({"meshes"}.__contains__, _having_maps, each(_maps), _fewer("UV map")),
    "color attributes": Aspect(
        {"meshes"}.__contains__, every(_COLORS), each(_colors), _fewer("color attribute")
    ),
    "attributes": Aspect(
        {"meshes"}.__contains__, every("attributes"), each(_attributes), _fewer("attribute")
    ),
    "shape keys": named_parts(["meshes", "curves", "lattices"], _shape_keys, every("shape_keys")),
    "bones": Aspect({"armatures"}.__contains__, every("bones"), each(_bones), _gone_bones),
    "custom of bones": Aspect(
        {"armatures"}.__contains__, every("bones"), each(_bone_keys), _gone_bone_keys
    ),
    "bone collections": named_parts(_WITH_BONE_GROUPS, _bone_groups, every("collections_all")),
    "strokes": Aspect(_PENCILS.__contains__, every("layers"), each(_strokes), _gone_strokes),
}
"""The aspects of geometry, in the order in which a person reads what is gone of them."""
