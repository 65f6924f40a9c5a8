"""Transforms applied: put into the points or sizes of prims, and into what is below. Main thread."""

from __future__ import annotations

from typing import Any

from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

from .properties import fit_extent
from .transforms import AXES, Vector, is_near, keep, local, together, write


def apply(xform: UsdGeom.Xformable, at: Vector, rotation: Vector, scale: Vector) -> None:
    """Have a prim another transform, and put the difference into its data and what is below."""
    into = local(xform) * together(at, rotation, scale).GetInverse()
    if not is_near(into, Gf.Matrix4d(1)):
        below = [UsdGeom.Xformable(child) for child in xform.GetPrim().GetChildren()]
        places = [(it, local(it) * into) for it in below if it and not it.GetResetXformStack()]
        put_in(xform.GetPrim(), into)
        for child, place in places:
            keep(child, place)
    write(xform, Gf.Vec3d(*at), rotation, scale)


def put_in(prim: Usd.Prim, into: Gf.Matrix4d) -> None:
    """Transform a prim's own data."""
    based = UsdGeom.PointBased(prim)
    if prim.GetTypeName() in ("Xform", "Scope", "", "SkelRoot"):
        return
    if not based:
        _put_in_size(prim, into)
        return
    if (
        prim.GetAttribute("widths").HasAuthoredValue()
        or "SkelBindingAPI" in prim.GetAppliedSchemas()
    ):
        raise ValueError(f"{prim.GetPath()} has widths or a skeleton, which would not follow.")
    straight = into.GetInverse().GetTranspose()
    normals = [based.GetNormalsAttr(), UsdGeom.PrimvarsAPI(prim).GetPrimvar("normals").GetAttr()]
    turns = [(based.GetVelocitiesAttr(), into), (based.GetAccelerationsAttr(), into)]
    for attribute, matrix in [*((each, straight) for each in normals), *turns]:
        is_normal = matrix is straight
        _each_sample(attribute, lambda value, m=matrix, n=is_normal: _turned(value, m, n))
    _each_sample(based.GetPointsAttr(), lambda value: _transformed(value, into))
    if into.GetDeterminant3() < 0:
        side = based.GetOrientationAttr()
        tokens = UsdGeom.Tokens
        is_right = side.Get() == tokens.rightHanded
        side.Set(tokens.leftHanded if is_right else tokens.rightHanded)
    fit_extent(based.GetPointsAttr())


def _put_in_size(prim: Usd.Prim, into: Gf.Matrix4d) -> None:
    """Make a sphere or a cube larger, which has no points."""
    size = into.TransformDir(AXES[0]).GetLength()
    names = [n for n in ("size", "radius", "height", "width", "length") if prim.HasAttribute(n)]
    is_gprim = bool(UsdGeom.Gprim(prim))
    if not (is_gprim and names and Gf.IsClose(into, Gf.Matrix4d().SetScale(size), 1e-6)):
        raise ValueError(
            f"{prim.GetPath()} is a {prim.GetTypeName()} and has no points: only an even scale "
            "can be put into its size."
        )
    for name in (*names, "extent"):
        attribute = prim.GetAttribute(name)
        if name in names or attribute.HasAuthoredValue():
            _each_sample(attribute, lambda value: value * size)


def _each_sample(attribute: Usd.Attribute, change: Any) -> None:
    if not attribute or not attribute.HasValue():
        return
    times = attribute.GetTimeSamples()
    every = [Usd.TimeCode(at) for at in times] or [Usd.TimeCode.Default()]
    values = [attribute.Get(at) for at in every]
    for at, value in zip(every, values, strict=True):
        if value is not None:
            attribute.Set(change(value), at)


def _transformed(points: Vt.Vec3fArray, matrix: Gf.Matrix4d) -> Vt.Vec3fArray:
    """Transform points in C++: each in Python takes two microseconds."""
    new, count = Vt.Vec3fArray(points), len(points)
    one = Gf.Matrix4d(1)
    weights = Vt.FloatArray(count, (1.0,))
    UsdSkel.SkinPointsLBS(matrix, Vt.Matrix4dArray([one]), Vt.IntArray(count), weights, 1, new)
    return new


def _turned(vectors: Vt.Vec3fArray, matrix: Gf.Matrix4d, is_normal: bool) -> Vt.Vec3fArray:
    turned = [Gf.Vec3f(matrix.TransformDir(each)) for each in vectors]
    return Vt.Vec3fArray([each.GetNormalized() for each in turned] if is_normal else turned)
