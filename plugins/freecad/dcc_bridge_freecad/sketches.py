"""The curves and the constraints of a sketch, as JSON carries them. Main thread.

A curve is ``{"line": [[0, 0], [80, 0]]}``, ``{"circle": [15, 15], "radius": 4}``,
``{"arc": [5, 5], "radius": 5, "from": 180, "to": 270}`` or ``{"point": [1, 2]}``. A constraint is
its type with the places that it is of: ``{"type": "DistanceX", "of": [[0, 1], [0, 2]], "value":
80}``. A place is the number of a curve, or that number with 1 for its start, 2 for its end or 3 for
its centre. -1 and -2 are the axes. Angles are in degrees.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import FreeCAD

GEOMETRY: Final = "Part::PropertyGeometryList"
CONSTRAINTS: Final = "Sketcher::PropertyConstraintList"
_NONE: Final = -2000  # FreeCAD's number for no curve
_VALUED: Final = {"Distance", "DistanceX", "DistanceY", "Radius", "Diameter", "Angle", "Weight"}
_CURVES: Final = "line, circle, arc or point"
_DIGITS: Final = 6


def told(value: Any) -> dict[str, Any] | None:
    """Return a curve or a constraint as JSON carries it; None for all else."""
    kind = getattr(value, "TypeId", "")
    if kind == "Sketcher::Constraint":
        return _told_constraint(value)
    if kind == "Part::GeomLineSegment":
        return {"line": [_flat(value.StartPoint), _flat(value.EndPoint)]}
    if kind == "Part::GeomCircle":
        return {"circle": _flat(value.Center), "radius": _rounded(value.Radius)}
    if kind == "Part::GeomArcOfCircle":
        start = _rounded(math.degrees(value.FirstParameter))
        end = _rounded(math.degrees(value.LastParameter))
        radius = _rounded(value.Radius)
        return {"arc": _flat(value.Center), "radius": radius, "from": start, "to": end}
    if kind == "Part::GeomPoint":
        return {"point": [_rounded(value.X), _rounded(value.Y)]}
    return None


def _told_constraint(constraint: Any) -> dict[str, Any]:
    """Return a constraint as JSON carries it."""
    held: list[Any] = []
    for place in ("First", "Second", "Third"):
        curve = getattr(constraint, place)
        if curve == _NONE:
            continue
        position = int(getattr(constraint, f"{place}Pos"))
        held.append([curve, position] if position else curve)
    facts: dict[str, Any] = {"type": constraint.Type, "of": held}
    if constraint.Type in _VALUED:
        value = constraint.Value
        facts["value"] = _rounded(math.degrees(value) if constraint.Type == "Angle" else value)
    if constraint.Name:
        facts["name"] = constraint.Name
    return facts


def curves(value: Any, now: Sequence[Any]) -> list[Any]:
    """Return the curves that JSON describes.

    Args:
        value: The list of them.
        now: The curves of the sketch: one that is described as it is stays the same.

    Raises:
        ValueError: One is no curve; the error says which are.
    """
    if not isinstance(value, list):
        raise ValueError(f"give a list of curves, each a {_CURVES}")
    made = []
    for number, described in enumerate(value):
        if number < len(now) and told(now[number]) == described:
            made.append(now[number])
        else:
            made.append(_curve(number, described))
    return made


def _curve(number: int, described: Any) -> Any:
    """Return a new curve."""
    import Part

    axis = FreeCAD.Vector(0, 0, 1)
    match described:
        case {"line": [start, end]}:
            return Part.LineSegment(_vector(start), _vector(end))
        case {"circle": centre, "radius": radius}:
            return Part.Circle(_vector(centre), axis, float(radius))
        case {"arc": centre, "radius": radius, "from": start, "to": end}:
            circle = Part.Circle(_vector(centre), axis, float(radius))
            return Part.ArcOfCircle(circle, math.radians(start), math.radians(end))
        case {"point": place}:
            return Part.Point(_vector(place))
    raise ValueError(
        f'curve {number}, {described!r}, is no {_CURVES}: {{"line": [[0, 0], [80, 0]]}}, '
        '{"circle": [15, 15], "radius": 4}'
    )


def constraints(value: Any) -> list[Any]:
    """Return the constraints that JSON describes.

    Raises:
        ValueError: One is none; the error gives an example.
    """
    if not isinstance(value, list):
        raise ValueError("give a list of constraints")
    return [_constraint(number, described) for number, described in enumerate(value)]


def _constraint(number: int, described: Any) -> Any:
    """Return a new constraint."""
    import Sketcher

    example = '{"type": "DistanceX", "of": [[0, 1], [0, 2]], "value": 80}'
    if not isinstance(described, dict) or not {"type", "of"} <= described.keys():
        raise ValueError(f"constraint {number}, {described!r}, is not like {example}")
    arguments: list[Any] = []
    for held in described["of"]:
        arguments += held if isinstance(held, list) else [held]
    if "value" in described:
        size = float(described["value"])
        arguments.append(math.radians(size) if described["type"] == "Angle" else size)
    try:
        constraint = Sketcher.Constraint(described["type"], *arguments)
    except (TypeError, ValueError) as error:
        raise ValueError(f"constraint {number} is not like {example}: {error}") from error
    constraint.Name = described.get("name", "")
    return constraint


def _vector(place: Any) -> Any:
    """Return a place in the plane of a sketch."""
    x, y = place
    return FreeCAD.Vector(float(x), float(y), 0)


def _flat(vector: Any) -> list[float]:
    return [_rounded(vector.x), _rounded(vector.y)]


def _rounded(number: float) -> float:
    return round(number, _DIGITS) + 0.0
