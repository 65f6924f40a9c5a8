"""Transforms of prims: read whatever they are made of, and written into the ops that are there.

Written is the common stack (translate, pivot, one rotation about three axes, scale) or a single
matrix; of any other only a translation that comes first. What is keyed is not written. Main thread.
"""

from __future__ import annotations

from math import asin, atan2, degrees
from typing import Any, Final

from pxr import Gf, Usd, UsdGeom

from ..coercion import coerce, plain

Vector = tuple[float, float, float]
FIRST: Final = Usd.TimeCode.EarliestTime()
_NEAR: Final = 1e-5
_OP: Final = UsdGeom.XformOp
_ROTATIONS: Final = {
    getattr(_OP, f"TypeRotate{order}"): order
    for order in ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
}
AXES: Final = (Gf.Vec3d(1, 0, 0), Gf.Vec3d(0, 1, 0), Gf.Vec3d(0, 0, 1))


def vector(value: Any) -> Vector:
    """Give three numbers, and no minus zero."""
    x, y, z = value
    return x + 0.0, y + 0.0, z + 0.0


def world(prim: Usd.Prim) -> Gf.Matrix4d:
    """Give the matrix of a prim in the world."""
    return Gf.Matrix4d(UsdGeom.XformCache(FIRST).GetLocalToWorldTransform(prim))


def above(xform: UsdGeom.Xformable, time: Usd.TimeCode = FIRST) -> Gf.Matrix4d:
    """Give the matrix of what a prim's own transform is relative to."""
    if xform.GetResetXformStack():
        return Gf.Matrix4d(1)
    return Gf.Matrix4d(UsdGeom.XformCache(time).GetParentToWorldTransform(xform.GetPrim()))


def local(xform: UsdGeom.Xformable, time: Usd.TimeCode = FIRST) -> Gf.Matrix4d:
    """Give the matrix of a prim's own transform."""
    return Gf.Matrix4d(xform.GetLocalTransformation(time))


def is_near(one: Gf.Matrix4d, other: Gf.Matrix4d) -> bool:
    """Whether nobody would see the difference."""
    size = max(1.0, one.ExtractTranslation().GetLength())
    return bool(Gf.IsClose(one, other, _NEAR * size))


def is_matrix(xform: UsdGeom.Xformable) -> bool:
    """Whether a transform is one matrix."""
    ops = xform.GetOrderedXformOps()
    return len(ops) == 1 and ops[0].GetOpType() == _OP.TypeTransform and not ops[0].IsInverseOp()


def pivot(xform: UsdGeom.Xformable, time: Usd.TimeCode = FIRST) -> Gf.Vec3d:
    """Give the point that a common stack turns about."""
    pivot = xform.GetPrim().GetAttribute("xformOp:translate:pivot")
    is_common = pivot and bool(UsdGeom.XformCommonAPI(xform))
    return Gf.Vec3d(pivot.Get(time) or (0, 0, 0)) if is_common else Gf.Vec3d(0)


def _common(xform: UsdGeom.Xformable) -> dict[str, Any]:
    """Give the ops of a common stack by what they do."""
    found = {}
    for op in xform.GetOrderedXformOps():
        if op.GetOpType() == _OP.TypeTranslate and not op.GetOpName().endswith("pivot"):
            found["at"] = op
        elif op.GetOpType() in _ROTATIONS:
            found["rotation"] = op
        elif op.GetOpType() == _OP.TypeScale:
            found["scale"] = op
    return found


def exact(
    xform: UsdGeom.Xformable, time: Usd.TimeCode = FIRST
) -> tuple[Vector, Vector, Vector] | None:
    """Give the numbers that stand in a common stack that turns about X, Y and Z in this order."""
    if not UsdGeom.XformCommonAPI(xform):
        return None
    ops = _common(xform)
    if "rotation" in ops and _ROTATIONS[ops["rotation"].GetOpType()] != "XYZ":
        return None
    at, turn, scale = (ops[n].Get(time) if n in ops else None for n in ("at", "rotation", "scale"))
    return (
        vector(Gf.Vec3d(at or (0, 0, 0)) + pivot(xform, time)),
        vector(turn or (0.0, 0.0, 0.0)),
        vector(scale or (1.0, 1.0, 1.0)),
    )


def write(
    xform: UsdGeom.Xformable,
    at: Gf.Vec3d | None,
    rotation: Vector | None,
    scale: Vector | None,
) -> None:
    """Write a local place into the ops that are there; a new one is made only where it is due."""
    if is_matrix(xform):
        _write_matrix(xform, at, rotation, scale)
        return
    common = UsdGeom.XformCommonAPI(xform)
    if not common:
        _write_odd(xform, at, rotation, scale)
        return
    ops = _common(xform)
    order = _ROTATIONS[ops["rotation"].GetOpType()] if "rotation" in ops else "XYZ"
    if rotation is not None and order != "XYZ":
        rotation = _angles(_turn(rotation), order)
    wanted = {"at": at and at - pivot(xform), "rotation": rotation, "scale": scale}
    unit = {"at": (0, 0, 0), "rotation": (0, 0, 0), "scale": (1, 1, 1)}
    flags = {"at": common.OpTranslate, "rotation": common.OpRotate, "scale": common.OpScale}
    for name, value in wanted.items():
        if value is None or (name not in ops and Gf.IsClose(value, unit[name], 1e-12)):
            continue
        if name not in ops:
            common.CreateXformOps(flags[name])
        write_op(_common(xform)[name], value)


def keep(xform: UsdGeom.Xformable, matrix: Gf.Matrix4d) -> None:
    """Write a matrix into the ops that are there; ValueError where they cannot make it."""
    rotation, scale, is_sheared = taken_apart(matrix)
    if is_matrix(xform):
        write_op(xform.GetOrderedXformOps()[0], matrix)
    elif is_sheared:
        raise ValueError(f"{xform.GetPath()} would be sheared: what is above it is uneven.")
    else:
        write(xform, matrix.Transform(pivot(xform)), rotation, scale)


def _write_matrix(
    xform: UsdGeom.Xformable, at: Gf.Vec3d | None, rotation: Vector | None, scale: Vector | None
) -> None:
    matrix = local(xform)
    turned, sized, _ = taken_apart(matrix)
    if rotation is not None or scale is not None:
        matrix = together(matrix.ExtractTranslation(), rotation or turned, scale or sized)
    if at is not None:
        matrix.SetTranslateOnly(at)
    write_op(xform.GetOrderedXformOps()[0], matrix)


def _write_odd(
    xform: UsdGeom.Xformable,
    at: Gf.Vec3d | None,
    rotation: Vector | None,
    scale: Vector | None,
) -> None:
    """Move what has an odd stack, whose first op is a translation; nothing else is known of it."""
    ops = xform.GetOrderedXformOps()
    names = ", ".join(op.GetOpName() for op in ops)
    turned, sized, _ = taken_apart(local(xform))
    is_kept = _is_same(rotation, turned) and _is_same(scale, sized)
    is_moved = ops and ops[0].GetOpType() == _OP.TypeTranslate and not ops[0].IsInverseOp()
    if not is_kept or (at is not None and not is_moved):
        raise ValueError(
            f"The transform of {xform.GetPath()} is made of {names}: set these with set_values."
        )
    if at is not None:
        shift = at - local(xform).ExtractTranslation()
        write_op(ops[0], Gf.Vec3d(ops[0].Get(FIRST) or (0, 0, 0)) + shift)


def _is_same(wanted: Vector | None, now: Vector) -> bool:
    return wanted is None or bool(Gf.IsClose(wanted, now, 1e-4))


def write_op(op: Any, value: Any) -> None:
    """Write an op where it differs; ValueError where it is keyed or held."""
    attribute = op.GetAttr()
    kind = attribute.GetTypeName()
    rows = plain(value)
    new = coerce(kind, rows)
    old = attribute.Get(FIRST)
    if old is not None and Gf.IsClose(old, new, 1e-9):
        return
    if attribute.GetNumTimeSamples():
        raise ValueError(f"{attribute.GetPath()} is keyed: change its keys with set_keys.")
    attribute.Set(new)
    if attribute.Get(FIRST) != new:
        raise ValueError(f"{attribute.GetPath()} is held by a stronger layer.")


def together(at: Any, rotation: Vector, scale: Vector) -> Gf.Matrix4d:
    """Make a matrix."""
    matrix = Gf.Matrix4d().SetScale(Gf.Vec3d(*scale)) * _turn(rotation)
    return Gf.Matrix4d(matrix.SetTranslateOnly(Gf.Vec3d(*at)))


def _turn(rotation: Vector) -> Gf.Matrix4d:
    turned = Gf.Matrix4d(1)
    for axis, angle in zip(AXES, rotation, strict=True):
        turned *= Gf.Matrix4d().SetRotate(Gf.Rotation(axis, angle))
    return turned


def taken_apart(matrix: Gf.Matrix4d) -> tuple[Vector, Vector, bool]:
    """Give rotation and scale, and whether there is a shear that they leave out."""
    rows = [matrix.TransformDir(axis) for axis in AXES]
    x, y, z = (row.GetLength() for row in rows)
    if matrix.GetDeterminant3() < 0:
        x = -x
    sizes = (x, y, z)
    turned = Gf.Matrix4d(1)
    for index, (row, size) in enumerate(zip(rows, sizes, strict=True)):
        turned.SetRow3(index, row / size if size else AXES[index])
    straight = turned.GetOrthonormalized(False)
    is_sheared = not Gf.IsClose(turned, straight, 1e-4)
    return _angles(straight, "XYZ"), vector(sizes), is_sheared


def _angles(matrix: Gf.Matrix4d, order: str) -> Vector:
    """Give the angles about X, Y and Z of a rotation that is made in an order of axes."""
    a, b, c = ("XYZ".index(axis) for axis in order)
    sign = 1.0 if (b - a) % 3 == 1 else -1.0
    m = [vector(matrix.TransformDir(axis)) for axis in AXES]
    middle = asin(max(-1.0, min(1.0, -sign * m[a][c])))
    if abs(m[a][c]) < 1 - 1e-9:
        first, last = atan2(sign * m[b][c], m[c][c]), atan2(sign * m[a][b], m[a][a])
    else:
        first, last = atan2(-sign * m[c][b], m[b][b]), 0.0
    angles = dict(zip((a, b, c), (first, middle, last), strict=True))
    x, y, z = (round(degrees(angles[axis]), 9) for axis in range(3))
    return x + 0.0, y + 0.0, z + 0.0
