"""Skeletons, blend shapes and what they move: counts and targets that have to agree. Main thread.

USD draws nothing of a rig whose arrays disagree, and says so only in a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pxr import Sdf, Usd, UsdGeom, UsdSkel

_FIRST: Final = Usd.TimeCode.EarliestTime()
INDICES: Final = "primvars:skel:jointIndices"
_WEIGHTS: Final = "primvars:skel:jointWeights"
_NUMBERS: Final = "pointIndices"
_SHAPES: Final = "skel:blendShapes"
_SHAPE_TARGETS: Final = "skel:blendShapeTargets"
# By the type of the prim; "" stands for what is bound to a skeleton, of any type. The entries of
# the properties in one tuple belong together, one by one.
_TOGETHER: Final = {
    "Skeleton": (("joints", "bindTransforms", "restTransforms", "jointNames"),),
    "SkelAnimation": (
        ("joints", "translations", "rotations", "scales"),
        ("blendShapes", "blendShapeWeights"),
    ),
    "BlendShape": (("offsets", _NUMBERS, "normalOffsets"),),
    "": ((INDICES, _WEIGHTS), (_SHAPES, _SHAPE_TARGETS)),
}
_TARGETS: Final = {
    "skel:skeleton": "Skeleton",
    "skel:animationSource": "SkelAnimation",
    _SHAPE_TARGETS: "BlendShape",
}
"""The types of the prims to which relationships of a rig lead."""


def check_entries(prim: Usd.Prim, prop: str, value: Any) -> None:
    """Check an array of a rig before it is set: how many entries it has, and what they mean.

    Args:
        prim: The prim that gets the array.
        prop: The property.
        value: The array; anything else passes.

    Raises:
        ValueError: Another array has another number of entries, or an entry does not fit.
    """
    _check_count(prim, prop, value)
    if prop == "joints" and prim.GetTypeName() == "Skeleton":
        _check_joints(value)
    if prop in (INDICES, _WEIGHTS):
        _layout(prim, prop, len(value))
    if prop == INDICES:
        _check_indices(prim, value)
    if prop == _NUMBERS and prim.GetTypeName() == "BlendShape":
        for shaped in _shaped_by(prim):
            _check_numbers(shaped, prim, value)


def _check_count(prim: Usd.Prim, prop: str, value: Any) -> None:
    """Check that an array has as many entries as those that belong to it, or as none."""
    for together in (*_TOGETHER.get(str(prim.GetTypeName()), ()), *_TOGETHER[""]):
        if prop not in together or not len(value):
            continue
        for other in together:
            count = _count(prim, other)
            if other != prop and count and count != len(value):
                raise ValueError(
                    f"{prop} has {len(value)} entries and {other} has {count}: they belong "
                    f"together one by one. For another number, set the others to [] first, in "
                    f"the changes of the same call."
                )


def _count(prim: Usd.Prim, prop: str) -> int:
    """Return how many entries an array or a relationship has; 0 where there is none."""
    relationship = prim.GetRelationship(prop)
    if relationship:
        return len(relationship.GetTargets())
    attribute = prim.GetAttribute(prop)
    value = attribute.Get(_FIRST) if attribute else None
    return len(value or ())


def _check_joints(joints: Sequence[str]) -> None:
    """Check that joints are paths of which each stands behind the one above it."""
    if len(set(joints)) < len(joints):
        raise ValueError("joints are named once each.")
    known = set[str]()
    for joint in joints:
        above = joint.rpartition("/")[0]
        if above and above not in known:
            raise ValueError(
                f"The joint {joint} needs {above} before it in joints: a joint is a path, such "
                'as "hip/knee", below another one.'
            )
        known.add(joint)


def _layout(prim: Usd.Prim, prop: str, count: int) -> tuple[str, int]:
    """Return the interpolation of joint indices or weights, and how many of them each point has.

    Raises:
        ValueError: They cannot be shared out evenly among the points.
    """
    based = UsdGeom.PointBased(prim)
    points = len(based.GetPointsAttr().Get(_FIRST) or ()) if based else 0
    if based and not points:
        raise ValueError(f"{prim.GetPath()} has no points yet: set them before {prop}.")
    if points and count and count % points == 0:
        return UsdGeom.Tokens.vertex, count // points
    if points and count > points:
        raise ValueError(
            f"{prop} has {count} entries for {points} points: give as many for each point, "
            f"such as {points} or {2 * points}, or those of one point for the whole."
        )
    return UsdGeom.Tokens.constant, max(1, count)


def _check_indices(prim: Usd.Prim, indices: Sequence[int]) -> None:
    """Check that joint indices are those of joints of the skeleton, where that is known."""
    joints = _joint_count(prim)
    if not indices:
        return
    if min(indices) < 0 or (joints and max(indices) >= joints):
        last = f"{joints - 1}, the last joint" if joints else "any"
        raise ValueError(f"{INDICES} are numbers of joints, from 0 to {last}.")


def _joint_count(prim: Usd.Prim) -> int:
    """Return how many joints what is bound counts; 0 where it is not bound yet."""
    binding = UsdSkel.BindingAPI(prim)
    own = _count(prim, "skel:joints")
    if own:
        return own
    skeleton = binding.GetInheritedSkeleton()
    return _count(skeleton.GetPrim(), "joints") if skeleton else 0


def fit_layout(attribute: Usd.Attribute) -> None:
    """Write how joint indices or weights that were just set are shared out among the points."""
    if attribute.GetName() not in (INDICES, _WEIGHTS):
        return
    count = len(attribute.Get(_FIRST) or ())
    interpolation, size = _layout(attribute.GetPrim(), attribute.GetName(), count)
    primvar = UsdGeom.Primvar(attribute)
    primvar.SetInterpolation(interpolation)
    primvar.SetElementSize(size)


def check_targets(prim: Usd.Prim, prop: str, targets: Sequence[Sdf.Path]) -> None:
    """Check the targets of a relationship of a rig before they are set.

    Args:
        prim: The prim that is bound.
        prop: The relationship; any that is not of a rig passes.
        targets: Its new targets.

    Raises:
        ValueError: A target is of another type, there are too many, or nothing would be moved.
    """
    kind = _TARGETS.get(prop)
    if kind is None or not targets:
        return
    if prop != _SHAPE_TARGETS and len(targets) > 1:
        raise ValueError(f"{prop} leads to one {kind}.")
    for path in targets:
        target = prim.GetStage().GetPrimAtPath(path)
        if target.GetTypeName() != kind:
            raise ValueError(f"{prop} leads to a {kind}, and {path} is a {target.GetTypeName()}.")
        if kind == "BlendShape":
            _check_shape(prim, target)
    _check_count(prim, prop, targets)
    if not UsdSkel.Root.Find(prim):
        raise ValueError(
            f"{prim.GetPath()} has no SkelRoot above it, so that nothing would move: create a "
            "SkelRoot, and put it and its skeleton below."
        )


def _check_shape(prim: Usd.Prim, shape: Usd.Prim) -> None:
    """Check that a blend shape has as many offsets as the points that it moves."""
    points = _count(prim, "points")
    numbers = list(shape.GetAttribute(_NUMBERS).Get(_FIRST) or ())
    offsets = _count(shape, "offsets")
    moved = len(numbers) or points
    if offsets != moved:
        raise ValueError(
            f"{shape.GetPath()} has {offsets} offsets for {moved} points: one each, or name the "
            "points in pointIndices."
        )
    _check_numbers(prim, shape, numbers)


def _check_numbers(prim: Usd.Prim, shape: Usd.Prim, numbers: Sequence[int]) -> None:
    """Check that the numbers of a blend shape are those of points of what it shapes."""
    points = _count(prim, "points")
    if numbers and not 0 <= min(numbers) <= max(numbers) < points:
        raise ValueError(
            f"{_NUMBERS} of {shape.GetPath()} are from 0 to {points - 1}, the last point of "
            f"{prim.GetPath()}."
        )


def _shaped_by(shape: Usd.Prim) -> list[Usd.Prim]:
    """Return the prims with points that a blend shape shapes.

    Before it is bound, that is the one above it, which it will be bound to.
    """
    path = shape.GetPath()
    bound = []
    root = UsdSkel.Root.Find(shape)
    if root:
        for prim in Usd.PrimRange(root.GetPrim()):
            relationship = prim.GetRelationship(_SHAPE_TARGETS)
            if relationship and path in relationship.GetTargets():
                bound.append(prim)
    shaped = bound or [shape.GetParent()]
    return [prim for prim in shaped if _count(prim, "points")]
