"""Reads the faces of a shape, in the terms in which edges are told. Main thread.

So `edge_heirs` finds a face again in the shape that FreeCAD has computed in its place.
"""

from __future__ import annotations

import math
from typing import Any, Final

from .edges import Edges, is_empty, shape_in_axes
from .shape_edges import Edge, Point, directed, face_word, point_of, sides_of, surface_of

PLANE: Final = "plane"


def faces_in(obj: Any, outline: Any) -> Edges:
    """Return the faces of an object's outline as it is, or as it was, as if they were edges.

    The curve of a face is the kind of its surface, and its direction is where a plane faces, or the
    axis of a round one.

    Args:
        obj: The object.
        outline: The shape of the object.
    """
    owner = str(obj.Name)
    if is_empty(outline):
        return Edges(owner, (), 0.0)
    shape = shape_in_axes(obj, outline)
    low, high = _extent(shape)
    size = math.dist(low, high)
    faces = []
    for number, face in enumerate(shape.Faces, 1):
        sides = sides_of(_extent(face), low, high, size)
        faces.append(_face(number, face, sides))
    return Edges(owner, faces, size)


def _face(number: int, face: Any, sides: tuple[str, ...]) -> Edge:
    kind = face_word(face)
    surface = surface_of(face)
    direction = (0.0, 0.0, 0.0)
    if getattr(surface, "TypeId", "") == "Part::GeomPlane":
        kind = PLANE
        first_u, last_u, first_v, last_v = face.ParameterRange
        direction = point_of(face.normalAt((first_u + last_u) / 2, (first_v + last_v) / 2))
    elif hasattr(surface, "Axis"):
        direction = directed(surface.Axis)
    radius = float(getattr(surface, "Radius", 0.0))
    place = point_of(face.CenterOfMass)
    length = math.dist(*_extent(face))
    return Edge(number, kind, direction, place, length, radius, sides, ())


def _extent(shape: Any) -> tuple[Point, Point]:
    """Return the lowest and the highest corner of a shape."""
    box = shape.BoundBox
    return (box.XMin, box.YMin, box.ZMin), (box.XMax, box.YMax, box.ZMax)
