"""The points of curves, along which others are put."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pxr import Gf, Usd, UsdGeom

from dcc_bridge.spi import Vector

from . import transforms
from .transforms import vector

_STEPS: Final = 16  # straight lines in place of one segment
# The weights of four points, by the powers of the parameter from 1 on. The tokens are USD's own.
_WEIGHTS: Final = {
    UsdGeom.Tokens.bezier: ((1, -3, 3, -1), (0, 3, -6, 3), (0, 0, 3, -3), (0, 0, 0, 1)),
    UsdGeom.Tokens.bspline: (
        (1 / 6, -0.5, 0.5, -1 / 6),
        (2 / 3, 0, -1, 0.5),
        (1 / 6, 0.5, 0.5, -0.5),
        (0, 0, 0, 1 / 6),
    ),
    UsdGeom.Tokens.catmullRom: (
        (0, -0.5, 1, -0.5),
        (1, 0, -2.5, 1.5),
        (0, 0.5, 2, -1.5),
        (0, 0, -0.5, 0.5),
    ),
}


def points_of(prim: Usd.Prim, time: Usd.TimeCode) -> list[Vector]:
    """Return the points of the first curve of a prim, in world space.

    Raises:
        ValueError: The prim is no `BasisCurves`, or has too few points.
    """
    curves = UsdGeom.BasisCurves(prim)
    if not curves:
        raise ValueError(f"{prim.GetPath()} is no BasisCurves: give along a list of points.")
    every = curves.GetPointsAttr().Get(time) or []
    counts = curves.GetCurveVertexCountsAttr().Get(time) or [len(every)]
    own = [Gf.Vec3d(point) for point in every[: counts[0]]]
    if len(own) < 2:
        raise ValueError(f"{prim.GetPath()} has no points.")
    wrap = curves.GetWrapAttr().Get()
    is_closed = wrap == UsdGeom.Tokens.periodic
    if curves.GetTypeAttr().Get() == UsdGeom.Tokens.cubic:
        basis = curves.GetBasisAttr().Get()
        own = _sampled(_held(own, basis, wrap), basis, is_closed=is_closed)
    elif is_closed:
        own.append(own[0])
    world = transforms.local(curves, time) * transforms.above(curves, time)
    return [vector(world.Transform(point)) for point in own]


def _held(points: list[Gf.Vec3d], basis: str, wrap: str) -> list[Gf.Vec3d]:
    """Return the points with those that a pinned curve adds, so that it meets both of its ends."""
    if wrap != UsdGeom.Tokens.pinned or basis == UsdGeom.Tokens.bezier:
        return points
    before = 2 * points[0] - points[1]
    after = 2 * points[-1] - points[-2]
    return [before, *points, after]


def _sampled(points: Sequence[Gf.Vec3d], basis: str, *, is_closed: bool) -> list[Gf.Vec3d]:
    """Return points on a cubic curve."""
    step = 1
    if basis == UsdGeom.Tokens.bezier:
        step = 3
    own = list(points)
    if is_closed:
        own += points[: 4 - step]
    samples = []
    for start in range(0, len(own) - 3, step):
        four = own[start : start + 4]
        for number in range(_STEPS):
            samples.append(_at(four, basis, number / _STEPS))
    if not samples:
        raise ValueError("A cubic curve needs four points.")
    samples.append(_at(four, basis, 1.0))
    return samples


def _at(four: Sequence[Gf.Vec3d], basis: str, parameter: float) -> Gf.Vec3d:
    """Return the point of one segment at a parameter from 0 to 1."""
    point = Gf.Vec3d(0)
    for corner, weights in zip(four, _WEIGHTS[basis], strict=True):
        point += corner * sum(weight * parameter**power for power, weight in enumerate(weights))
    return point
