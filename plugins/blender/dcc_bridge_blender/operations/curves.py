"""The points of curves, along which others are put. Main thread."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import bpy
from mathutils import Matrix
from mathutils import Vector as Point
from mathutils.geometry import interpolate_bezier

from dcc_bridge.spi import Vector, triple

_STEPS: Final = 17  # points of one segment


def points_of(item: str, thing: bpy.types.Object, world: Matrix) -> list[Vector]:
    """Return the points of an object's first curve, in world space.

    Raises:
        ValueError: The object has no curve of a type that can be followed.
    """
    splines: Any = getattr(thing.data, "splines", ())
    if thing.type != "CURVE" or not splines:
        raise ValueError(f"{item} is no curve: give along a list of points.")
    spline = splines[0]
    if spline.type == "BEZIER":
        own = _bezier(spline)
    elif spline.type == "POLY":
        own = [point.co.to_3d() for point in spline.points]
        if spline.use_cyclic_u:
            own.append(own[0])
    else:
        raise ValueError(f"{item} is a {spline.type} curve: only BEZIER and POLY can be followed.")
    return [triple(world @ point) for point in own]


def _bezier(spline: Any) -> list[Point]:
    """Return points on a Bezier curve."""
    knots = list(spline.bezier_points)
    if spline.use_cyclic_u:
        knots.append(knots[0])
    samples = [knots[0].co.copy()]
    for one, other in pairwise(knots):
        samples += interpolate_bezier(
            one.co, one.handle_right, other.handle_left, other.co, _STEPS
        )[1:]
    if spline.use_cyclic_u:
        samples[-1] = samples[0]
    return samples
