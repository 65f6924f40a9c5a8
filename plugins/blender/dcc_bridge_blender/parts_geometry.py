"""What geometry consists of, and what of it is gone. Main thread."""

from __future__ import annotations

from typing import Any, Final

import bmesh
import bpy

from .aspects import Aspect, Budget, Named, always, each_part, key_of, named_parts, numbered
from .names import name_of, names_of, text_of

_COUNTED: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "meshes": (("vertices", "vertices"), ("polygons", "faces"), ("edges", "edges")),
    "metaballs": (("elements", "balls"),),
    "pointclouds": (("points", "points"),),
    "hair_curves": (("points", "points"), ("curves", "curves")),
}
"""What geometry consists of, the first of which what is fewer is told of."""


def _counts(block: Any, _: Budget) -> tuple[int, ...]:
    if getattr(block, "is_editmode", False) and isinstance(block, bpy.types.Mesh):
        edited = bmesh.from_edit_mesh(block)  # the mesh itself is as it was before that mode
        return len(edited.verts), len(edited.faces), len(edited.edges)
    return tuple(len(getattr(block, name)) for name, _words in _COUNTED[_list_of(block)])


def _list_of(block: Any) -> str:
    kinds = {"Mesh": "meshes", "MetaBall": "metaballs", "PointCloud": "pointclouds"}
    return kinds.get(type(block).__name__, "hair_curves")


def _gone_counts(before: tuple[int, ...], block: Any, budget: Budget) -> list[str]:
    now = _counts(block, budget)
    rows = zip(before, now, _COUNTED[_list_of(block)], strict=True)
    fewer = [(old - new, words) for old, new, (_, words) in rows if new < old]
    return [numbered(*row) for row in fewer[:1]]


def _points(curve: Any, _: Budget) -> int:
    return sum(len(it.points) + len(it.bezier_points) for it in curve.splines)


def _gone_points(before: int, curve: Any, budget: Budget) -> list[str]:
    count = before - _points(curve, budget)
    return [numbered(count, "points")] if count > 0 else []


_HAS_BONE_GROUPS: Final = "collections_all" in bpy.types.Armature.bl_rna.properties  # since 4.1
_HAS_COLORS: Final = "color_attributes" in bpy.types.Mesh.bl_rna.properties
_COLORS: Final = "color_attributes" if _HAS_COLORS else "vertex_colors"
_KINDS: Final = ("UV map", "color attribute")


def _layers(mesh: Any, _: Budget) -> tuple[list[str], list[str]]:
    """Return the names of its UV maps, and those of its color attributes."""
    colors = names_of(getattr(mesh, _COLORS))
    if not mesh.is_editmode:
        return names_of(mesh.uv_layers), colors
    edited: Any = bmesh.from_edit_mesh(mesh).loops.layers
    return list(edited.uv.keys()), colors


def _gone_layers(before: Any, mesh: Any, budget: Budget) -> list[str]:
    """Tell of those whose name is gone, where there are fewer: none of them has an identity."""
    gone = []
    for what, old, new in zip(_KINDS, before, _layers(mesh, budget), strict=True):
        if len(new) < len(old):
            gone += [f"{what} {name}" for name in old if name not in new]
    return gone


def _shape_keys(block: Any, _: Budget) -> Named:
    keys = block.shape_keys
    return each_part("shape key", keys.key_blocks) if keys is not None else {}


def _bones(armature: Any, _: Budget) -> Named:
    if armature.is_editmode:
        return {(name_of(it),): f"bone {name_of(it)}" for it in armature.edit_bones}
    return each_part("bone", armature.bones)


def _gone_bones(before: Named, armature: Any, budget: Budget) -> list[str]:
    """Tell of those whose name is gone, where there are fewer: edit mode makes them all anew."""
    now = _bones(armature, budget)
    if len(now) >= len(before):
        return []
    return [words for words in before.values() if words not in now.values()]


def _strokes(pencil: Any, _: Budget) -> dict[tuple[Any, ...], tuple[str, int]]:
    """Return of each layer its name and how many drawings it has."""
    return {key_of(it): (_name_of_layer(it), len(it.frames)) for it in pencil.layers}


def _bone_groups(armature: Any, _: Budget) -> Named:
    return each_part("bone collection", armature.collections_all)


def _name_of_layer(layer: Any) -> str:
    """Return its name, which was called otherwise before 4.3."""
    return text_of(layer, "info") if hasattr(layer, "info") else name_of(layer)


def _gone_strokes(before: Any, pencil: Any, budget: Budget) -> list[str]:
    now = _strokes(pencil, budget)
    gone = [f"layer {name}" for key, (name, _) in before.items() if key not in now]
    for key, (name, count) in before.items():
        if key in now and now[key][1] < count:
            gone.append(f"{numbered(count - now[key][1], 'frames')} of layer {name}")
    return gone


_PENCILS: Final = ("grease_pencils", "annotations", "grease_pencils_v3")
GEOMETRY: Final[dict[str, Aspect]] = {
    "geometry": Aspect(_COUNTED.__contains__, always, _counts, _gone_counts),
    "points": Aspect({"curves"}.__contains__, lambda it: it.splines, _points, _gone_points),
    "layers": Aspect({"meshes"}.__contains__, always, _layers, _gone_layers),
    "shape keys": named_parts(
        ["meshes", "curves", "lattices"], _shape_keys, lambda it: it.shape_keys
    ),
    "bones": Aspect({"armatures"}.__contains__, lambda it: it.bones, _bones, _gone_bones),
    "bone collections": named_parts(
        ["armatures"] * _HAS_BONE_GROUPS, _bone_groups, lambda it: it.collections_all
    ),
    "strokes": Aspect(_PENCILS.__contains__, lambda it: it.layers, _strokes, _gone_strokes),
}
"""What geometry has."""
