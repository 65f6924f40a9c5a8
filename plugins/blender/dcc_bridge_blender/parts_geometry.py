"""Parts of geometry that an edit can remove: points, faces, bones, strokes, texts. Main thread.

An *aspect* is one such kind of part, see `aspects`. The table `GEOMETRY_ASPECTS` at the end of this
module says for each which data-blocks have it, how they are read before and after an edit, and how
the missing parts are named for a person. Some are told by their number only, such as vertices. A
mesh of the same size may be another one: the aspect "shapes" compares the points themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from operator import attrgetter
from typing import Any, Final

import bmesh
import bpy

from .aspects import (
    UNREAD,
    Aspect,
    Budget,
    WordsByKey,
    all_places,
    key_of,
    lists_named,
    missing_parts,
    places_with,
    read_each,
    read_each_within,
    words_by_key,
    words_for_count,
)
from .block_lists import BlockList, places
from .content import Shape, is_another, shape_of_balls, shape_of_curve, shape_of_mesh
from .names import name_of, text_of
from .parts_layers import LAYER_ASPECTS

_COUNTED: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "meshes": (("vertices", "vertices"), ("polygons", "faces"), ("edges", "edges")),
    "metaballs": (("elements", "balls"),),
    "pointclouds": (("points", "points"),),
    "hair_curves": (("points", "points"), ("curves", "curves")),
}
"""By the list of data-blocks, the properties that are counted in each, with the words for them.

A person reads only of the first property of which there are fewer.
"""


def _read_counts(blocks: Sequence[Any], _: Budget) -> list[tuple[int, ...]]:
    """Return the numbers of `_COUNTED` for each data-block; all are of one type."""
    names = [name for name, _words in _COUNTED[_name_of_list(blocks[0])]]
    columns = [map(len, map(attrgetter(name), blocks)) for name in names]
    counts: list[tuple[int, ...]] = list(zip(*columns, strict=True))
    if isinstance(blocks[0], bpy.types.Mesh):
        for at in places(map(attrgetter("is_editmode"), blocks)):
            edited = bmesh.from_edit_mesh(blocks[at])  # the mesh itself is as before edit mode
            counts[at] = (len(edited.verts), len(edited.faces), len(edited.edges))
    return counts


def _name_of_list(block: Any) -> str:
    kinds = {"Mesh": "meshes", "MetaBall": "metaballs", "PointCloud": "pointclouds"}
    return kinds.get(type(block).__name__, "hair_curves")


def _describe_lost_counts(before: tuple[int, ...], now: tuple[int, ...], block: Any) -> list[str]:
    rows = zip(before, now, _COUNTED[_name_of_list(block)], strict=True)
    for old, new, (_, words) in rows:
        if new < old:
            return [words_for_count(old - new, words)]
    return []


def _count_points(curve: Any) -> int:
    return sum(len(spline.points) + len(spline.bezier_points) for spline in curve.splines)


def _describe_lost_points(before: int, now: int, _: Any) -> list[str]:
    return [words_for_count(before - now, "points")] if now < before else []


# ---- shapes


def _read_shape(block: Any, budget: Budget) -> Any:
    """Return the `Shape` of a mesh, curve or metaball; `UNREAD` if too large or in edit mode."""
    if getattr(block, "is_editmode", False):
        budget.is_complete = False
        return UNREAD
    if isinstance(block, bpy.types.Mesh):
        return shape_of_mesh(block, budget)
    if isinstance(block, bpy.types.MetaBall):
        return shape_of_balls(block, budget)
    return shape_of_curve(block, budget)


def _describe_lost_shape(before: Shape, now: Shape, _: Any) -> list[str]:
    """Return "geometry" if another shape of at least as many points took the place of a shape.

    Fewer points are named by the counts.
    """
    has_fewer_points = len(now.points) < len(before.points)
    if has_fewer_points or not is_another(before, now):
        return []
    return ["geometry"]


def _places_with_shape(block_list: BlockList) -> list[int]:
    if block_list.name == "meshes":
        return places_with("vertices")(block_list)
    if block_list.name == "metaballs":
        return places_with("elements")(block_list)
    return places_with("splines")(block_list)


# ---- text objects

_MAX_LETTERS: Final = 2_000  # of a text whose letters are compared; else its lines are
_SHOWN_LETTERS: Final = 30
_CORRECTED_SHARE: Final = 0.5  # of the letters: if fewer are left, the text is another one


def _places_of_text_curves(block_list: BlockList) -> list[int]:
    return places(isinstance(block, bpy.types.TextCurve) for block in block_list.blocks)


def _read_text(text: Any) -> str:
    return text_of(text, "body")


def _describe_lost_text(before: str, now: str, _: Any) -> list[str]:
    """Return the words for a text that is empty now, or not a correction of the old one."""
    if not before.strip() or _is_corrected(before, now):
        return []
    shown = " ".join(before.split())
    if len(shown) > _SHOWN_LETTERS:
        shown = shown[:_SHOWN_LETTERS].rstrip() + "…"
    return [f'text "{shown}"']


def _is_corrected(before: str, now: str) -> bool:
    """Return whether most letters, or lines, of a text are still there in the same order."""
    old: Sequence[str] = before
    new: Sequence[str] = now
    if max(len(before), len(now)) > _MAX_LETTERS:
        old = before.split("\n")
        new = now.split("\n")
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return same >= _CORRECTED_SHARE * len(old)


# ---- armatures

_HAS_BONE_COLLECTIONS: Final = (
    "collections_all" in bpy.types.Armature.bl_rna.properties
)  # since 4.1
_NEAR: Final = 1e-4  # how far a bone's ends may be from where they were, as edit mode ends
_Ends = tuple[float, ...]  # the coordinates of a bone's head and tail at rest


def _read_bones(armature: Any, budget: Budget) -> Any:
    """Return the `_Ends` of each bone by its name, or `UNREAD`."""
    if armature.is_editmode:
        edited = armature.edit_bones
        if not budget.take(len(edited)):
            return UNREAD
        return {name_of(bone): (*bone.head, *bone.tail) for bone in edited}
    bones = armature.bones
    if not budget.take(len(bones)):
        return UNREAD
    return {name_of(bone): (*bone.head_local, *bone.tail_local) for bone in bones}


def _describe_lost_bones(
    before: Mapping[str, _Ends], now: Mapping[str, _Ends], _: Any
) -> list[str]:
    """Return the words for bones that are missing, and not only renamed.

    Edit mode makes all bones anew, so they have no identity. A bone is renamed if a bone with a new
    name is at the same place.
    """
    new_ends = [ends for name, ends in now.items() if name not in before]
    missing = []
    for name, ends in before.items():
        if name in now:
            continue
        renamed = [other for other in new_ends if _is_near(ends, other)]
        if renamed:
            new_ends.remove(renamed[0])
        else:
            missing.append(f"bone {name}")
    return missing


def _is_near(ends: _Ends, others: _Ends) -> bool:
    return all(abs(one - other) < _NEAR for one, other in zip(ends, others, strict=True))


def _read_strokes(pencil: Any, budget: Budget) -> Any:
    """Return by layer its name, how many frames it has and how many strokes, or `UNREAD`."""
    layers = {}
    for layer in pencil.layers:
        frames = list(layer.frames)
        if not budget.take(len(frames)):
            return UNREAD
        strokes = sum(map(_count_strokes, frames))
        layers[key_of(layer)] = (_name_of_layer(layer), len(frames), strokes)
    return layers


def _count_strokes(frame: Any) -> int:
    if hasattr(frame, "strokes"):
        return len(frame.strokes)
    if frame.drawing is None:
        return 0
    return int(frame.drawing.attributes.domain_size("CURVE"))


def _read_bone_collections(armature: Any) -> WordsByKey:
    return words_by_key("bone collection", armature.collections_all)


def _name_of_layer(layer: Any) -> str:
    """Return the name of a layer, which is its `info` before 4.3."""
    if hasattr(layer, "info"):
        return text_of(layer, "info")
    return name_of(layer)


def _describe_lost_strokes(before: Any, now: Any, _: Any) -> list[str]:
    """Return the words for missing layers, then for fewer frames or strokes in other layers.

    Strokes of missing frames are not named.
    """
    missing = [f"layer {name}" for key, (name, *_) in before.items() if key not in now]
    for key, (name, frames, strokes) in before.items():
        if key not in now:
            continue
        _, frames_now, strokes_now = now[key]
        if frames_now < frames:
            missing.append(f"{words_for_count(frames - frames_now, 'frames')} of layer {name}")
        elif strokes_now < strokes:
            missing.append(f"{words_for_count(strokes - strokes_now, 'strokes')} of layer {name}")
    return missing


_LISTS_OF_DRAWINGS: Final = ("grease_pencils", "annotations", "grease_pencils_v3")
_LISTS_WITH_BONE_COLLECTIONS: Final = ("armatures",) if _HAS_BONE_COLLECTIONS else ()
GEOMETRY_ASPECTS: Final[dict[str, Aspect]] = {
    "geometry": Aspect(
        applies_to=lists_named(*_COUNTED),
        find_places=all_places,
        read=_read_counts,
        describe_loss=_describe_lost_counts,
    ),
    "points": Aspect(
        applies_to=lists_named("curves"),
        find_places=places_with("splines"),
        read=read_each(_count_points),
        describe_loss=_describe_lost_points,
    ),
    "shapes": Aspect(
        applies_to=lists_named("meshes", "curves", "metaballs"),
        find_places=_places_with_shape,
        read=read_each_within(_read_shape),
        describe_loss=_describe_lost_shape,
    ),
    "text of curves": Aspect(
        applies_to=lists_named("curves"),
        find_places=_places_of_text_curves,
        read=read_each(_read_text),
        describe_loss=_describe_lost_text,
    ),
    **LAYER_ASPECTS,
    "bones": Aspect(
        applies_to=lists_named("armatures"),
        find_places=places_with("bones"),
        read=read_each_within(_read_bones),
        describe_loss=_describe_lost_bones,
    ),
    "bone collections": Aspect(
        applies_to=lists_named(*_LISTS_WITH_BONE_COLLECTIONS),
        find_places=places_with("collections_all"),
        read=read_each(_read_bone_collections),
        describe_loss=missing_parts,
    ),
    "strokes": Aspect(
        applies_to=lists_named(*_LISTS_OF_DRAWINGS),
        find_places=places_with("layers"),
        read=read_each_within(_read_strokes),
        describe_loss=_describe_lost_strokes,
    ),
}
"""The aspects of geometry, in the order in which a person reads what is missing."""
