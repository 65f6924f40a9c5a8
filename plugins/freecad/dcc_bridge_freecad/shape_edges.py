"""Reads the edges of a shape: what each is, where it is, and what faces meet there. Main thread.

`shape_faces` reads the faces in the same terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import FreeCAD

AXES: Final = "xyz"
_LINE: Final = "Part::GeomLine"
_CURVES: Final = {_LINE: "line", "Part::GeomCircle": "circle", "Part::GeomEllipse": "ellipse"}
_DIGITS: Final = 3  # of the numbers in words
_ON_SIDE: Final = 1e-6  # of the shape's size: how far an edge on a side may be from it
_PARALLEL: Final = 1e-6
_POINTS: Final = 33  # on a curved edge, by which its extent is measured

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a shape.

    Attributes:
        number: The number by which FreeCAD knows it now: 7 of Edge7.
        curve: "line", "circle", "arc", "ellipse" or "curve".
        direction: Of a line, or the axis of a circle or an arc; its first coordinate that is not
            zero is positive. (0, 0, 0) of other curves.
        place: The middle of the edge; of a full circle the centre.
        length: In mm.
        radius: Of a circle or an arc; 0 of other curves.
        sides: The sides of the shape on which the whole edge is: "+x".
        faces: What the faces are that meet there: "+z" for a plane that faces up, "cylinder",
            "hole" for a cylinder that is seen from within.
    """

    number: int
    curve: str
    direction: Point
    place: Point
    length: float
    radius: float
    sides: tuple[str, ...]
    faces: tuple[str, ...]

    @property
    def axis(self) -> str:
        """The axis along which a straight edge runs: "x"; "" for no axis or no line."""
        if self.curve != "line":
            return ""
        return _axis_of(self.direction)


def read_edges(shape: Any) -> tuple[list[Edge], float]:
    """Return the edges of a shape, in the axes in which it is, and the largest extent in mm.

    Seams, where a face meets itself, are left out: they are no corner of anything.
    """
    faces_of = _faces_by_edge(shape)
    all_faces = shape.Faces
    face_words = [face_word(face) for face in all_faces]
    extents = [_extent(edge) for edge in shape.Edges]
    if not extents:
        return [], 0.0
    low = [min(extent[0][axis] for extent in extents) for axis in range(3)]
    high = [max(extent[1][axis] for extent in extents) for axis in range(3)]
    size = max(math.dist(low, high), _ON_SIDE)
    edges = []
    for number, (edge, extent) in enumerate(zip(shape.Edges, extents, strict=True), 1):
        faces = faces_of.get(edge.hashCode(), [])
        is_corner = len(faces) != 1 or not _is_seam(edge, all_faces[faces[0]])
        if edge.Degenerated or not is_corner:
            continue
        words = tuple(sorted(face_words[face] for face in faces))
        edges.append(_edge(number, edge, sides_of(extent, low, high, size), words))
    return edges, size


def _faces_by_edge(shape: Any) -> dict[int, list[int]]:
    """Return the numbers of the faces at each edge, by the edge's hash code."""
    faces: dict[int, list[int]] = {}
    for number, face in enumerate(shape.Faces):
        for code in {edge.hashCode() for edge in face.Edges}:
            faces.setdefault(code, []).append(number)
    return faces


def _is_seam(edge: Any, face: Any) -> bool:
    """Return whether an edge is where a face meets itself, as on a cylinder."""
    return any(edge.isSame(each) and each.isSeam(face) for each in face.Edges)


def _edge(number: int, edge: Any, sides: tuple[str, ...], faces: tuple[str, ...]) -> Edge:
    curve_object = _curve(edge)
    curve = _CURVES.get(getattr(curve_object, "TypeId", ""), "curve")
    first, last = edge.ParameterRange
    middle = point_of(edge.valueAt((first + last) / 2))
    direction = (0.0, 0.0, 0.0)
    radius = 0.0
    if curve == "line":
        direction = directed(edge.valueAt(last).sub(edge.valueAt(first)))
    elif curve == "circle":
        direction = directed(curve_object.Axis)
        radius = float(curve_object.Radius)
        if edge.isClosed():
            middle = point_of(curve_object.Center)
        else:
            curve = "arc"
    return Edge(number, curve, direction, middle, float(edge.Length), radius, sides, faces)


def _curve(edge: Any) -> Any:
    """Return the curve of an edge; None if FreeCAD does not know its type."""
    try:
        return edge.Curve
    except (TypeError, RuntimeError):
        return None


def _extent(edge: Any) -> tuple[Point, Point]:
    """Return the lowest and the highest corner of points on an edge."""
    if getattr(_curve(edge), "TypeId", "") == _LINE or edge.Degenerated:
        points = [point_of(vertex.Point) for vertex in edge.Vertexes]
    else:
        points = [point_of(point) for point in edge.discretize(Number=_POINTS)]
    xs, ys, zs = zip(*points, strict=True)
    return (min(xs), min(ys), min(zs)), (max(xs), max(ys), max(zs))


def sides_of(
    extent: tuple[Point, Point], low: Sequence[float], high: Sequence[float], size: float
) -> tuple[str, ...]:
    """Return the sides of a box on which an extent is as a whole."""
    tolerance = _ON_SIDE * size
    sides = []
    for number, axis in enumerate(AXES):
        is_flat = high[number] - low[number] < tolerance
        if is_flat:
            continue
        if extent[1][number] - low[number] < tolerance:
            sides.append(f"-{axis}")
        if high[number] - extent[0][number] < tolerance:
            sides.append(f"+{axis}")
    return tuple(sides)


def face_word(face: Any) -> str:
    """Return what a face is: where a plane faces, or the kind of a curved face."""
    surface = surface_of(face)
    if surface is None:
        return "surface"
    kind = str(surface.TypeId).removeprefix("Part::Geom").lower()
    first_u, last_u, first_v, last_v = face.ParameterRange
    u = (first_u + last_u) / 2
    v = (first_v + last_v) / 2
    if kind == "plane":
        normal = point_of(face.normalAt(u, v))
        sign = _sign_of_axis(normal)
        return sign or f"plane {' '.join(rounded(each) for each in normal)}"
    if kind == "cylinder":
        outwards = face.valueAt(u, v).sub(surface.Center)
        along = surface.Axis
        from_axis = outwards.sub(FreeCAD.Vector(along).multiply(outwards.dot(along)))
        if face.normalAt(u, v).dot(from_axis) < 0:
            return "hole"
    return kind


def surface_of(face: Any) -> Any:
    """Return the surface of a face; None if FreeCAD does not know its type."""
    try:
        return face.Surface
    except (TypeError, RuntimeError):
        return None


def _sign_of_axis(direction: Point) -> str:
    """Return the axis and its sign of a direction: "-x"; "" if it is along none."""
    axis = _axis_of(direction)
    if not axis:
        return ""
    return "+" + axis if direction[AXES.index(axis)] > 0 else "-" + axis


def _axis_of(direction: Point) -> str:
    for number, axis in enumerate(AXES):
        if abs(abs(direction[number]) - 1) < _PARALLEL:
            return axis
    return ""


def directed(vector: Any) -> Point:
    """Return a direction of length 1, one for both ways along it."""
    point = point_of(vector)
    length = math.hypot(*point)
    if not length:
        return 0.0, 0.0, 0.0
    signs = [math.copysign(1, each) for each in point if abs(each) > _PARALLEL * length]
    sign = signs[0] if signs else 1
    x, y, z = (sign * each / length + 0.0 for each in point)
    return x, y, z


def point_of(vector: Any) -> Point:
    """Return a vector of FreeCAD as a point."""
    return float(vector.x), float(vector.y), float(vector.z)


def rounded(number: float) -> str:
    """Return a number as a name has it: 15, 12.5, 0.333."""
    text = f"{number:.{_DIGITS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
