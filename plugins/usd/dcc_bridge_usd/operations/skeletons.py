"""Skeletons, blend shapes and what they move: counts and targets that have to agree. Main thread.

USD draws nothing of a rig whose arrays disagree, and says so only in a warning.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
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
_NEEDED: Final = {"joints", "bindTransforms", "restTransforms"}
"""The properties of a skeleton that are for its joints, each of them."""
_OWN_JOINTS: Final = "skel:joints"
_BINDING: Final = {INDICES, "skel:skeleton", _OWN_JOINTS}
"""The properties that say of which joints the indices are."""
_MAX_NAMED: Final = 10  # prims that an error names
_PROPS: Final = _BINDING.union(*chain.from_iterable(_TOGETHER.values()))
"""All properties that are checked."""
_TARGETS: Final = {
    "skel:skeleton": "Skeleton",
    "skel:animationSource": "SkelAnimation",
    _SHAPE_TARGETS: "BlendShape",
}
"""The types of the prims to which relationships of a rig lead."""


def is_of_rig(prop: str) -> bool:
    """Return whether a property may be one of a rig, by its name."""
    return prop in _PROPS


def check_entries(prim: Usd.Prim, prop: str, value: Any) -> None:
    """Check an array of a rig before it is set: what its entries mean.

    Args:
        prim: The prim that gets the array.
        prop: The property.
        value: The array; anything else passes.

    Raises:
        ValueError: An entry does not fit.
    """
    if prop == "joints" and prim.GetTypeName() == "Skeleton":
        _check_joints(value)
    if prop in (INDICES, _WEIGHTS):
        _layout(prim, prop, len(value))
    if prop == _NUMBERS and prim.GetTypeName() == "BlendShape":
        for shaped in _shaped_by(prim):
            _check_numbers(shaped, prim, value)


def check_keys(prim: Usd.Prim, prop: str, value: Any) -> None:
    """Check the array of a key before it is set, also against the arrays that belong to it.

    Args:
        prim: The prim that gets the key.
        prop: The property.
        value: The array.

    Raises:
        ValueError: Another array has another number of entries, or an entry does not fit.
    """
    check_entries(prim, prop, value)
    fault = _count_fault(prim, prop, len(value))
    if prop == INDICES:
        fault = fault or _index_fault(prim, value)
    if fault:
        raise ValueError(fault)


def check_rigs(written: Mapping[Usd.Prim, Sequence[str]]) -> None:
    """Check the arrays of rigs, and what is bound to them, after some of their values were set.

    Args:
        written: The properties of each prim that were set, all of which have their new values.

    Raises:
        ValueError: Arrays that belong together have other numbers of entries, or joint indices are
            those of no joints.
    """
    counts = {}
    for prim, props in written.items():
        _check_rig(prim, props)
        if "joints" in props and prim.GetTypeName() == "Skeleton":
            counts[prim] = _count(prim, "joints")
    if counts:
        _check_bound(counts)


def _check_rig(prim: Usd.Prim, props: Sequence[str]) -> None:
    """Check the arrays of one prim, and the joint indices of what is below it."""
    for prop in props:
        fault = _count_fault(prim, prop, _count(prim, prop))
        if fault:
            raise ValueError(fault)
    if not _BINDING.isdisjoint(props):
        for below in Usd.PrimRange(prim):
            fault = _index_fault(below, _indices(below))
            if fault:
                raise ValueError(fault)


def faults(prim: Usd.Prim) -> list[str]:
    """Return what does not agree in a prim of a rig, in sentences."""
    found: list[str] = []
    for together in _groups(prim):
        every = [_count_fault(prim, prop, _count(prim, prop)) for prop in together]
        found += [fault for fault in every if fault][:1]
    fault = _index_fault(prim, _indices(prim))
    if fault:
        found.append(fault)
    return found


def _groups(prim: Usd.Prim) -> tuple[tuple[str, ...], ...]:
    """Return the properties of a prim whose entries belong together."""
    return (*_TOGETHER.get(str(prim.GetTypeName()), ()), *_TOGETHER[""])


def _count_fault(prim: Usd.Prim, prop: str, count: int) -> str:
    """Return that an array has other entries than those that belong to it; "" where it has not.

    An array without entries agrees with any, but not those of a skeleton's joints.

    Args:
        prim: The prim that has the array.
        prop: The property.
        count: How many entries the array has.
    """
    for together in _groups(prim):
        if prop not in together:
            continue
        for other in together:
            others = _count(prim, other)
            is_needed = bool(count) or {prop, other} <= _NEEDED
            if is_needed and others not in (0, count):
                return (
                    f"{prop} has {count} entries and {other} has {others}: they belong together "
                    "one by one, so set both in the same call."
                )
    return ""


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


def _indices(prim: Usd.Prim) -> Sequence[int]:
    """Return the joint indices of a prim."""
    attribute = prim.GetAttribute(INDICES)
    return (attribute.Get(_FIRST) if attribute else None) or ()


def _index_fault(prim: Usd.Prim, indices: Sequence[int]) -> str:
    """Return that joint indices of a prim are those of no joints; "" where that is not known."""
    if not len(indices):
        return ""
    joints = _joint_count(prim)
    if min(indices) >= 0 and (not joints or max(indices) < joints):
        return ""
    last = f"{joints - 1}, the last joint" if joints else "any"
    return f"{INDICES} of {prim.GetPath()} are numbers of joints, from 0 to {last}."


def _check_bound(counts: Mapping[Usd.Prim, int]) -> None:
    """Check that what is bound to skeletons has joint indices of their joints.

    Args:
        counts: How many joints each of the skeletons has, of one scene, which is walked once.
    """
    beyond = defaultdict[Usd.Prim, list[str]](list)
    least = min(counts.values())
    stage = next(iter(counts)).GetStage()
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        indices = _indices(prim)
        if not len(indices) or max(indices) < least or _count(prim, _OWN_JOINTS):
            continue
        skeleton = _skeleton_of(prim)
        if skeleton in counts and max(indices) >= counts[skeleton]:
            beyond[skeleton].append(str(prim.GetPath()))
    for skeleton, paths in beyond.items():
        names = ", ".join(paths[:_MAX_NAMED])
        raise ValueError(
            f"joints of {skeleton.GetPath()} would be {counts[skeleton]}, and {INDICES} of {names} "
            "are those of more: set them in the same call."
        )


def _skeleton_of(prim: Usd.Prim) -> Usd.Prim:
    """Return the skeleton that a prim is bound to; an invalid prim without one."""
    return UsdSkel.BindingAPI(prim).GetInheritedSkeleton().GetPrim()


def _joint_count(prim: Usd.Prim) -> int:
    """Return how many joints what is bound counts; 0 where it is not bound yet."""
    own = _count(prim, _OWN_JOINTS)
    if own:
        return own
    skeleton = _skeleton_of(prim)
    return _count(skeleton, "joints") if skeleton else 0


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
