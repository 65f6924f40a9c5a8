"""Transforms applied: put into points or sizes of prims, and into what is below. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

from .properties import fit_extent
from .transforms import AXES, IDENTITY, Vector, compose, is_near, keep, local, write

_NO_DATA: Final = ("Xform", "Scope", "", "SkelRoot")  # types of prims that only hold others
_SIZES: Final = ("size", "radius", "height", "width", "length")


def apply(xform: UsdGeom.Xformable, at: Vector, rotation: Vector, scale: Vector) -> None:
    """Set the transform of a prim, and put the difference into its data and what is below.

    Args:
        xform: The prim.
        at: Where the prim is afterwards, relative to what is above it.
        rotation: Its angles about X, Y and Z afterwards, in degrees.
        scale: Its scale afterwards.

    Raises:
        ValueError: The data, or a prim below, cannot take the difference.
    """
    difference = local(xform) * compose(at, rotation, scale).GetInverse()
    if not is_near(difference, IDENTITY):
        places = []
        for child in xform.GetPrim().GetChildren():
            child_xform = UsdGeom.Xformable(child)
            if child_xform and not child_xform.GetResetXformStack():
                places.append((child_xform, local(child_xform) * difference))
        put_in(xform.GetPrim(), difference)
        for child_xform, place in places:
            keep(child_xform, place)
    write(xform, Gf.Vec3d(*at), rotation, scale)


def put_in(prim: Usd.Prim, matrix: Gf.Matrix4d) -> None:
    """Transform a prim's own data.

    Raises:
        ValueError: The prim has data that a matrix does not transform.
    """
    if prim.GetTypeName() in _NO_DATA:
        return
    based = UsdGeom.PointBased(prim)
    if not based:
        _put_in_size(prim, matrix)
        return
    is_skinned = "SkelBindingAPI" in prim.GetAppliedSchemas()
    if is_skinned or prim.GetAttribute("widths").HasAuthoredValue():
        raise ValueError(f"{prim.GetPath()} has widths or a skeleton, which would not follow.")
    _transform_points(based, matrix)
    if matrix.GetDeterminant3() < 0:  # a mirror
        _flip(based.GetOrientationAttr())
    fit_extent(based.GetPointsAttr())


def _transform_points(based: UsdGeom.PointBased, matrix: Gf.Matrix4d) -> None:
    """Transform the points of a prim, with its normals, velocities and accelerations."""
    normal_matrix = matrix.GetInverse().GetTranspose()

    def transform_normals(normals: Vt.Vec3fArray) -> Vt.Vec3fArray:
        vectors = [Gf.Vec3f(normal_matrix.TransformDir(normal)) for normal in normals]
        return Vt.Vec3fArray([vector.GetNormalized() for vector in vectors])

    def transform_directions(directions: Vt.Vec3fArray) -> Vt.Vec3fArray:
        vectors = [Gf.Vec3f(matrix.TransformDir(direction)) for direction in directions]
        return Vt.Vec3fArray(vectors)

    def transform_points(points: Vt.Vec3fArray) -> Vt.Vec3fArray:
        return _transformed(points, matrix)

    primvar = UsdGeom.PrimvarsAPI(based.GetPrim()).GetPrimvar("normals")
    _change_samples(based.GetNormalsAttr(), transform_normals)
    _change_samples(primvar.GetAttr(), transform_normals)
    _change_samples(based.GetVelocitiesAttr(), transform_directions)
    _change_samples(based.GetAccelerationsAttr(), transform_directions)
    _change_samples(based.GetPointsAttr(), transform_points)


def _flip(orientation: Usd.Attribute) -> None:
    """Turn faces to the other side."""
    tokens = UsdGeom.Tokens
    if orientation.Get() == tokens.rightHanded:
        orientation.Set(tokens.leftHanded)
    else:
        orientation.Set(tokens.rightHanded)


def _put_in_size(prim: Usd.Prim, matrix: Gf.Matrix4d) -> None:
    """Scale the sizes of a sphere or a cube, which has no points."""
    factor = matrix.TransformDir(AXES[0]).GetLength()
    names = [name for name in _SIZES if prim.HasAttribute(name)]
    is_even = Gf.IsClose(matrix, Gf.Matrix4d().SetScale(factor), 1e-6)
    if not (UsdGeom.Gprim(prim) and names and is_even):
        raise ValueError(
            f"{prim.GetPath()} is a {prim.GetTypeName()} and has no points: only an even scale "
            "can be put into its size."
        )

    def scale(size: Any) -> Any:
        return size * factor

    for name in names:
        _change_samples(prim.GetAttribute(name), scale)
    extent = prim.GetAttribute("extent")
    if extent.HasAuthoredValue():
        _change_samples(extent, scale)


def _change_samples(attribute: Usd.Attribute, change: Callable[[Any], Any]) -> None:
    """Change each key of an attribute, or its default value where it has no keys."""
    if not attribute or not attribute.HasValue():
        return
    times = [Usd.TimeCode(time) for time in attribute.GetTimeSamples()]
    if not times:
        times = [Usd.TimeCode.Default()]
    values = [attribute.Get(time) for time in times]
    for time, value in zip(times, values, strict=True):
        if value is not None:
            attribute.Set(change(value), time)


def _transformed(points: Vt.Vec3fArray, matrix: Gf.Matrix4d) -> Vt.Vec3fArray:
    """Transform points in C++, as points that one joint moves: Python takes 2 us for each."""
    moved = Vt.Vec3fArray(points)
    count = len(points)
    joints = Vt.Matrix4dArray([IDENTITY])
    indices = Vt.IntArray(count)
    weights = Vt.FloatArray(count, (1.0,))
    UsdSkel.SkinPointsLBS(matrix, joints, indices, weights, 1, moved)
    return moved
