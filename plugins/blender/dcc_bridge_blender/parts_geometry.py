"""The aspects of geometry, and what of them is gone. Main thread."""

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


def _describe_lost_counts(before: tuple[int, ...], now: tuple[int, ...], block: Any) -> list[str]:
    rows = zip(before, now, _COUNTED[_list_of(block)], strict=True)
    for old, new, (_, words) in rows:
        if new < old:
            return [words_for_count(old - new, words)]
    return []


def _points(curve: Any) -> int:
    return sum(len(spline.points) + len(spline.bezier_points) for spline in curve.splines)


def _describe_lost_points(before: int, now: int, _: Any) -> list[str]:
    return [words_for_count(before - now, "points")] if now < before else []


# ---- shapes


def _shape(block: Any, budget: Budget) -> Any:
    """Return the `Shape` of a mesh, curve or metaball, or `UNREAD`: also in edit mode."""
    if getattr(block, "is_editmode", False):
        budget.is_complete = False
        return UNREAD
    if isinstance(block, bpy.types.Mesh):
        return shape_of_mesh(block, budget)
    if isinstance(block, bpy.types.MetaBall):
        return shape_of_balls(block, budget)
    return shape_of_curve(block, budget)


def _describe_lost_shape(before: Shape, now: Shape, _: Any) -> list[str]:
    """Return the words for a shape in whose place is another one, which is not smaller."""
    is_told = len(now.points) < len(before.points)
    if is_told or not is_another(before, now):
        return []
    return ["geometry"]


def _having_shape(block_list: BlockList) -> list[int]:
    if block_list.name == "meshes":
        return places_with("vertices")(block_list)
    if block_list.name == "metaballs":
        return places_with("elements")(block_list)
    return places_with("splines")(block_list)


# ---- texts in a scene

_MAX_LETTERS: Final = 2_000  # of a text of which the letters are compared, and not the lines
_SHOWN_LETTERS: Final = 30
_LEFT_SHARE: Final = 0.5  # of the letters: with fewer of them, another text took the place


def _texts(block_list: BlockList) -> list[int]:
    return places(isinstance(block, bpy.types.TextCurve) for block in block_list.blocks)


def _body(text: Any) -> str:
    return text_of(text, "body")


def _describe_lost_body(before: str, now: str, _: Any) -> list[str]:
    """Return the words for a text that is empty now, or another one and not a corrected one."""
    if not before.strip() or _is_corrected(before, now):
        return []
    shown = " ".join(before.split())
    if len(shown) > _SHOWN_LETTERS:
        shown = shown[:_SHOWN_LETTERS].rstrip() + "…"
    return [f'text "{shown}"']


def _is_corrected(before: str, now: str) -> bool:
    old: Sequence[str] = before
    new: Sequence[str] = now
    if max(len(before), len(now)) > _MAX_LETTERS:
        old = before.split("\n")
        new = now.split("\n")
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return same >= _LEFT_SHARE * len(old)


# ---- armatures

_HAS_BONE_GROUPS: Final = "collections_all" in bpy.types.Armature.bl_rna.properties  # since 4.1
_NEAR: Final = 1e-4  # how far a bone's ends may be from where they were, as edit mode ends
_Ends = tuple[float, ...]  # the coordinates of a bone's head and tail at rest


def _bones(armature: Any, budget: Budget) -> Any:
    """Return the ends of each bone, by its name."""
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
    """Return the words for bones whose name is gone, if no other bone is where they were.

    Edit mode makes all bones anew, so they have no identity.
    """
    new = [ends for name, ends in now.items() if name not in before]
    gone = []
    for name, ends in before.items():
        if name in now:
            continue
        renamed = [other for other in new if _is_near(ends, other)]
        if renamed:
            new.remove(renamed[0])
        else:
            gone.append(f"bone {name}")
    return gone


def _is_near(ends: _Ends, others: _Ends) -> bool:
    return all(abs(one - other) < _NEAR for one, other in zip(ends, others, strict=True))


def _strokes(pencil: Any, budget: Budget) -> Any:
    """Return the name of each layer, and how many drawings and strokes the layer has."""
    found = {}
    for layer in pencil.layers:
        frames = list(layer.frames)
        if not budget.take(len(frames)):
            return UNREAD
        strokes = sum(map(_count_strokes, frames))
        found[key_of(layer)] = (_name_of_layer(layer), len(frames), strokes)
    return found


def _count_strokes(frame: Any) -> int:
    if hasattr(frame, "strokes"):
        return len(frame.strokes)
    if frame.drawing is None:
        return 0
    return int(frame.drawing.attributes.domain_size("CURVE"))


def _bone_groups(armature: Any) -> WordsByKey:
    return words_by_key("bone collection", armature.collections_all)


def _name_of_layer(layer: Any) -> str:
    """Return the name of a layer, which is its `info` before 4.3."""
    if hasattr(layer, "info"):
        return text_of(layer, "info")
    return name_of(layer)


def _describe_lost_strokes(before: Any, now: Any, _: Any) -> list[str]:
    """Return the words for layers that are gone, then for frames of layers that are there.

    The strokes of a frame go with the frame.
    """
    gone = [f"layer {name}" for key, (name, *_) in before.items() if key not in now]
    for key, (name, frames, strokes) in before.items():
        if key not in now:
            continue
        _, frames_now, strokes_now = now[key]
        if frames_now < frames:
            gone.append(f"{words_for_count(frames - frames_now, 'frames')} of layer {name}")
        elif strokes_now < strokes:
            gone.append(f"{words_for_count(strokes - strokes_now, 'strokes')} of layer {name}")
    return gone


_PENCILS: Final = ("grease_pencils", "annotations", "grease_pencils_v3")
_WITH_BONE_GROUPS: Final = ("armatures",) if _HAS_BONE_GROUPS else ()
_SHAPES: Final = frozenset({"meshes", "curves", "metaballs"})
GEOMETRY_ASPECTS: Final[dict[str, Aspect]] = {
    "geometry": Aspect(
        applies_to=lists_named(*_COUNTED),
        find_places=all_places,
        read=_counts,
        describe_loss=_describe_lost_counts,
    ),
    "points": Aspect(
        applies_to=lists_named("curves"),
        find_places=places_with("splines"),
        read=read_each(_points),
        describe_loss=_describe_lost_points,
    ),
    "shapes": Aspect(
        applies_to=lists_named(*_SHAPES),
        find_places=_having_shape,
        read=read_each_within(_shape),
        describe_loss=_describe_lost_shape,
    ),
    "text of curves": Aspect(
        applies_to=lists_named("curves"),
        find_places=_texts,
        read=read_each(_body),
        describe_loss=_describe_lost_body,
    ),
    **LAYER_ASPECTS,
    "bones": Aspect(
        applies_to=lists_named("armatures"),
        find_places=places_with("bones"),
        read=read_each_within(_bones),
        describe_loss=_describe_lost_bones,
    ),
    "bone collections": Aspect(
        applies_to=lists_named(*_WITH_BONE_GROUPS),
        find_places=places_with("collections_all"),
        read=read_each(_bone_groups),
        describe_loss=missing_parts,
    ),
    "strokes": Aspect(
        applies_to=lists_named(*_PENCILS),
        find_places=places_with("layers"),
        read=read_each_within(_strokes),
        describe_loss=_describe_lost_strokes,
    ),
}
"""The aspects of geometry, in the order in which a person reads what is gone of them."""
