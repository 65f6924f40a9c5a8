"""Rotations as Maya and Houdini have them: a matrix multiplies rows, as in USD, which does it here.

By the reference of `xform` an order "zxy" turns about Z first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pxr import Gf

Vector = tuple[float, float, float]
_AXES: Final = {"x": Gf.Vec3d.XAxis(), "y": Gf.Vec3d.YAxis(), "z": Gf.Vec3d.ZAxis()}


def turned(angles: Sequence[float], order: str = "xyz") -> Gf.Rotation:
    """Make the rotation of three angles in degrees, about X, Y and Z, in an order."""
    rotation = Gf.Rotation(_AXES["x"], 0.0)
    for axis in order:
        rotation *= Gf.Rotation(_AXES[axis], angles["xyz".index(axis)])
    return rotation


def angles(rotation: Gf.Rotation, order: str = "xyz") -> Vector:
    """Give the angles in degrees, about X, Y and Z, that make a rotation in an order."""
    last_first = order[::-1]
    parts: Any = rotation.Decompose(*(_AXES[axis] for axis in last_first))
    about = dict(zip(last_first, parts, strict=True))
    return about["x"], about["y"], about["z"]


def taken_apart(matrix: Gf.Matrix4d) -> tuple[Gf.Rotation, Vector]:
    """Part a matrix into its rotation and its scale; a mirror is a scale of X."""
    x, y, z = (matrix.GetRow3(n).GetLength() for n in range(3))
    x = -x if matrix.GetDeterminant3() < 0 else x
    unscaled = Gf.Matrix4d().SetScale(Gf.Vec3d(*(1 / (size or 1.0) for size in (x, y, z))))
    return (unscaled * matrix).ExtractRotation(), (x, y, z)
