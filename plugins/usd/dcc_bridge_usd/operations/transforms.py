"""Transforms of prims: read whatever they are made of, and written into the ops that are there.

Two kinds are written: the common stack (translate, pivot, one rotation about three axes, scale) and
a single matrix. Of any other stack only a translation that comes first is written. A keyed op is
not written. Main thread.
"""

from __future__ import annotations

from math import asin, atan2, degrees
from typing import Any, Final

from pxr import Gf, Usd, UsdGeom

from ..coercion import coerce, plain

Vector = tuple[float, float, float]
FIRST: Final = Usd.TimeCode.EarliestTime()
_NEAR: Final = 1e-5  # of the distance from the origin
_OP: Final = UsdGeom.XformOp
_ROTATIONS: Final = {
    getattr(_OP, f"TypeRotate{order}"): order
    for order in ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")
}
AXES: Final = (Gf.Vec3d(1, 0, 0), Gf.Vec3d(0, 1, 0), Gf.Vec3d(0, 0, 1))
IDENTITY: Final = Gf.Matrix4d(1)
_NO_EFFECT: Final = {"at": (0, 0, 0), "rotation": (0, 0, 0), "scale": (1, 1, 1)}


def vector(value: Any) -> Vector:
    """Return three numbers, with zero in place of minus zero."""
    x, y, z = value
    return x + 0.0, y + 0.0, z + 0.0


def world(prim: Usd.Prim) -> Gf.Matrix4d:
    """Return the matrix of a prim in the world."""
    return Gf.Matrix4d(UsdGeom.XformCache(FIRST).GetLocalToWorldTransform(prim))


def above(xform: UsdGeom.Xformable, time: Usd.TimeCode = FIRST) -> Gf.Matrix4d:
    """Return the matrix of what a prim's own transform is relative to."""
    if xform.GetResetXformStack():
        return Gf.Matrix4d(1)
    return Gf.Matrix4d(UsdGeom.XformCache(time).GetParentToWorldTransform(xform.GetPrim()))


def local(xform: UsdGeom.Xformable, time: Usd.TimeCode = FIRST) -> Gf.Matrix4d:
    """Return the matrix of a prim's own transform."""
    return Gf.Matrix4d(xform.GetLocalTransformation(time))


def is_near(one: Gf.Matrix4d, other: Gf.Matrix4d) -> bool:
    """Return whether nobody would see the difference of two matrices."""
    size = max(1.0, one.ExtractTranslation().GetLength())
    return bool(Gf.IsClose(one, other, _NEAR * size))


def is_matrix(xform: UsdGeom.Xformable) -> bool:
    """Return whether a transform is one matrix."""
    ops = xform.GetOrderedXformOps()
    return len(ops) == 1 and ops[0].GetOpType() == _OP.TypeTransform and not ops[0].IsInverseOp()


def pivot(xform: UsdGeom.Xformable, time: Usd.TimeCode = FIRST) -> Gf.Vec3d:
    """Return the point that a common stack turns about; zero for any other stack."""
    attribute = xform.GetPrim().GetAttribute("xformOp:translate:pivot")
    if not attribute or not UsdGeom.XformCommonAPI(xform):
        return Gf.Vec3d(0)
    return Gf.Vec3d(attribute.Get(time) or (0, 0, 0))


def _common_ops(xform: UsdGeom.Xformable) -> dict[str, Any]:
    """Return the ops of a common stack as "at", "rotation" and "scale", without the pivot."""
    ops = {}
    for op in xform.GetOrderedXformOps():
        if op.GetOpType() == _OP.TypeTranslate and not op.GetOpName().endswith("pivot"):
            ops["at"] = op
        elif op.GetOpType() in _ROTATIONS:
            ops["rotation"] = op
        elif op.GetOpType() == _OP.TypeScale:
            ops["scale"] = op
    return ops


def exact(
    xform: UsdGeom.Xformable, time: Usd.TimeCode = FIRST
) -> tuple[Vector, Vector, Vector] | None:
    """Return translation, rotation and scale as they are written in the ops.

    Returns:
        None if the transform is not a common stack that turns about X, Y and Z in this order.

    Raises:
        RuntimeError: An op is of another type than its name says.
    """
    if not UsdGeom.XformCommonAPI(xform):
        return None
    ops = _common_ops(xform)
    if _order(ops) != "XYZ":
        return None
    values = {name: op.Get(time) for name, op in ops.items()}
    if any(isinstance(value, str) for value in values.values()):
        raise RuntimeError(f"the transform of {xform.GetPath()} has a text in place of numbers")
    at = Gf.Vec3d(values.get("at") or (0, 0, 0)) + pivot(xform, time)
    rotation = values.get("rotation") or (0.0, 0.0, 0.0)
    scale = values.get("scale") or (1.0, 1.0, 1.0)
    return vector(at), vector(rotation), vector(scale)


def _order(ops: dict[str, Any]) -> str:
    """Return the order of axes in which the ops of a common stack turn."""
    if "rotation" not in ops:
        return "XYZ"
    return _ROTATIONS[ops["rotation"].GetOpType()]


def write(
    xform: UsdGeom.Xformable,
    at: Gf.Vec3d | None,
    rotation: Vector | None,
    scale: Vector | None,
) -> None:
    """Write a local place into the ops that are there.

    An op is made only where the value would have an effect.

    Args:
        xform: The prim.
        at: Where its pivot shall be, relative to what is above; None leaves that.
        rotation: Angles about X, Y and Z in this order, in degrees; None leaves them.
        scale: The scale; None leaves it.

    Raises:
        ValueError: An op is keyed or held, or the stack of ops cannot take the values.
    """
    if is_matrix(xform):
        _write_matrix(xform, at, rotation, scale)
    elif UsdGeom.XformCommonAPI(xform):
        _write_common(xform, at, rotation, scale)
    else:
        _write_odd(xform, at, rotation, scale)


def _write_common(
    xform: UsdGeom.Xformable,
    at: Gf.Vec3d | None,
    rotation: Vector | None,
    scale: Vector | None,
) -> None:
    common = UsdGeom.XformCommonAPI(xform)
    ops = _common_ops(xform)
    order = _order(ops)
    if rotation is not None and order != "XYZ":
        rotation = _angles(_rotation_matrix(rotation), order)
    if at is not None:
        at = at - pivot(xform)
    values = {"at": at, "rotation": rotation, "scale": scale}
    flags = {"at": common.OpTranslate, "rotation": common.OpRotate, "scale": common.OpScale}
    for name, value in values.items():
        if value is None:
            continue
        if name not in ops:
            if Gf.IsClose(value, _NO_EFFECT[name], 1e-12):
                continue
            common.CreateXformOps(flags[name])
        write_op(_common_ops(xform)[name], value)


def keep(xform: UsdGeom.Xformable, matrix: Gf.Matrix4d) -> None:
    """Write a matrix into the ops that are there.

    Raises:
        ValueError: An op is keyed or held, or the ops cannot make that matrix.
    """
    rotation, scale, is_sheared = decompose(matrix)
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
    if rotation is not None or scale is not None:
        rotation_now, scale_now, _ = decompose(matrix)
        place = matrix.ExtractTranslation()
        matrix = compose(place, rotation or rotation_now, scale or scale_now)
    if at is not None:
        matrix.SetTranslateOnly(at)
    write_op(xform.GetOrderedXformOps()[0], matrix)


def _write_odd(
    xform: UsdGeom.Xformable,
    at: Gf.Vec3d | None,
    rotation: Vector | None,
    scale: Vector | None,
) -> None:
    """Move a prim whose odd stack begins with a translation; its other ops are left alone."""
    ops = xform.GetOrderedXformOps()
    matrix = local(xform)
    rotation_now, scale_now, _ = decompose(matrix)
    is_kept = _is_same(rotation, rotation_now) and _is_same(scale, scale_now)
    is_movable = ops and ops[0].GetOpType() == _OP.TypeTranslate and not ops[0].IsInverseOp()
    if not is_kept or (at is not None and not is_movable):
        names = ", ".join(op.GetOpName() for op in ops)
        raise ValueError(
            f"The transform of {xform.GetPath()} is made of {names}: set these with set_values."
        )
    if at is not None:
        shift = at - matrix.ExtractTranslation()
        place = Gf.Vec3d(ops[0].Get(FIRST) or (0, 0, 0))
        write_op(ops[0], place + shift)


def _is_same(wanted: Vector | None, now: Vector) -> bool:
    if wanted is None:
        return True
    return bool(Gf.IsClose(wanted, now, 1e-4))


def write_op(op: Any, value: Any) -> None:
    """Write an op if its value differs.

    Raises:
        ValueError: The op is keyed, or held by a stronger layer.
    """
    attribute = op.GetAttr()
    new = coerce(attribute.GetTypeName(), plain(value))
    old = attribute.Get(FIRST)
    if old is not None and Gf.IsClose(old, new, 1e-9):
        return
    if attribute.GetNumTimeSamples():
        raise ValueError(f"{attribute.GetPath()} is keyed: change its keys with set_keys.")
    attribute.Set(new)
    if attribute.Get(FIRST) != new:
        raise ValueError(f"{attribute.GetPath()} is held by a stronger layer.")


def compose(at: Any, rotation: Vector, scale: Vector) -> Gf.Matrix4d:
    """Make a matrix of a place, angles about X, Y and Z in degrees, and a scale."""
    matrix = Gf.Matrix4d().SetScale(Gf.Vec3d(*scale)) * _rotation_matrix(rotation)
    return Gf.Matrix4d(matrix.SetTranslateOnly(Gf.Vec3d(*at)))


def _rotation_matrix(rotation: Vector) -> Gf.Matrix4d:
    matrix = Gf.Matrix4d(1)
    for axis, angle in zip(AXES, rotation, strict=True):
        matrix *= Gf.Matrix4d().SetRotate(Gf.Rotation(axis, angle))
    return matrix


def decompose(matrix: Gf.Matrix4d) -> tuple[Vector, Vector, bool]:
    """Take a matrix apart.

    Returns:
        The angles about X, Y and Z in degrees, the scale, and whether the matrix has a shear, which
        these leave out.
    """
    rows = [matrix.TransformDir(axis) for axis in AXES]
    x, y, z = (row.GetLength() for row in rows)
    if matrix.GetDeterminant3() < 0:
        x = -x
    sizes = (x, y, z)
    unscaled = Gf.Matrix4d(1)
    for index, (row, size) in enumerate(zip(rows, sizes, strict=True)):
        direction = row / size if size else AXES[index]
        unscaled.SetRow3(index, direction)
    straight = unscaled.GetOrthonormalized(False)
    is_sheared = not Gf.IsClose(unscaled, straight, 1e-4)
    return _angles(straight, "XYZ"), vector(sizes), is_sheared


def _angles(matrix: Gf.Matrix4d, order: str) -> Vector:
    """Return the angles about X, Y and Z of a rotation that turns in an order of axes."""
    a, b, c = ("XYZ".index(axis) for axis in order)
    sign = 1.0 if (b - a) % 3 == 1 else -1.0
    m = [vector(matrix.TransformDir(axis)) for axis in AXES]
    middle = asin(max(-1.0, min(1.0, -sign * m[a][c])))
    if abs(m[a][c]) < 1 - 1e-9:
        first = atan2(sign * m[b][c], m[c][c])
        last = atan2(sign * m[a][b], m[a][a])
    else:  # the middle turn is a right angle: the first and the last turn about one axis
        first = atan2(-sign * m[c][b], m[b][b])
        last = 0.0
    angles = {a: first, b: middle, c: last}
    x, y, z = (round(degrees(angles[axis]), 9) for axis in range(3))
    return x + 0.0, y + 0.0, z + 0.0
