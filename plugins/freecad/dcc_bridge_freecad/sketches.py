"""The curves and the constraints of a sketch, as JSON carries them. Main thread.

A curve is one of these, and may have ``"construction": true``:

- ``{"line": [[0, 0], [80, 0]]}``, ``{"point": [1, 2]}``
- ``{"circle": [15, 15], "radius": 4}``,
  ``{"arc": [5, 5], "radius": 5, "from": 180, "to": 270}``
- ``{"ellipse": [0, 0], "radii": [9, 4], "angle": 30}``, also with ``from`` and ``to``
- ``{"spline": [[0, 0], [5, 5], [9, 0], [12, 3]]}``, by its poles, also with ``degree``, ``closed``,
  ``knots`` and ``weights``; or ``{"through": [[0, 0], [5, 5], [9, 0]]}``, which becomes one

Any other curve is told by its type, and stays as it is. A constraint is its type with the places
that it is of: ``{"type": "DistanceX", "of": [[0, 1], [0, 2]], "value": 80}``. A place is the
number of a curve, or that number with 1 for its start, 2 for its end or 3 for its centre. -1 and -2
are the axes. Angles are in degrees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import FreeCAD

GEOMETRY: Final = "Part::PropertyGeometryList"
CONSTRAINTS: Final = "Sketcher::PropertyConstraintList"
_NONE: Final = -2000  # FreeCAD's number for no curve
_VALUED: Final = {"Distance", "DistanceX", "DistanceY", "Radius", "Diameter", "Angle", "Weight"}
_DEGREE: Final = 3  # of a spline that says nothing else
_CONSTRUCTION: Final = "construction"
_FLAGS: Final = "Sketcher::SketchGeometryExtension"
_DIGITS: Final = 6
_EXAMPLES: Final = '{"line": [[0, 0], [80, 0]]}, {"circle": [15, 15], "radius": 4}'
_EXAMPLE: Final = '{"type": "DistanceX", "of": [[0, 1], [0, 2]], "value": 80}'
_CONSTRAINT_WORDS: Final = {"type", "of", "value", "name"}

Facts = dict[str, Any]


class _Kind(NamedTuple):
    """A kind of curve.

    Attributes:
        type: FreeCAD's type of it.
        needs: The words that describe it.
        may: Further words.
        tell: Returns the words of a curve.
        make: Returns a new curve, to be shaped.
        shape: Gives a curve the form that words describe.
    """

    type: str
    needs: frozenset[str]
    may: frozenset[str]
    tell: Callable[[Any], Facts]
    make: Callable[[], Any]
    shape: Callable[[Any, Mapping[str, Any]], None]


def told(value: Any) -> Facts | None:
    """Return a curve or a constraint as JSON carries it; None for all else."""
    type_name = str(getattr(value, "TypeId", ""))
    if type_name == "Sketcher::Constraint":
        return _told_constraint(value)
    if not type_name.startswith("Part::Geom"):
        return None
    facts: Facts = {"curve": type_name.removeprefix("Part::Geom")}
    for kind in _KINDS:
        if kind.type == type_name:
            facts = kind.tell(value)
            break
    if _is_construction(value):
        facts[_CONSTRUCTION] = True
    return facts


def _told_constraint(constraint: Any) -> Facts:
    """Return a constraint as JSON carries it."""
    held: list[Any] = []
    for place in ("First", "Second", "Third"):
        curve = getattr(constraint, place)
        if curve == _NONE:
            continue
        position = int(getattr(constraint, f"{place}Pos"))
        held.append([curve, position] if position else curve)
    facts: Facts = {"type": constraint.Type, "of": held}
    if constraint.Type in _VALUED:
        value = constraint.Value
        facts["value"] = _rounded(math.degrees(value) if constraint.Type == "Angle" else value)
    if constraint.Name:
        facts["name"] = constraint.Name
    if not constraint.Driving:
        facts["driving"] = False
    return facts


def curves(value: Any, now: Sequence[Any]) -> list[Any]:
    """Return the curves that JSON describes.

    Args:
        value: The list of them.
        now: The curves of the sketch. One that is described as it is stays the same; one that is
            described in another form at its number is changed, and stays the same too.

    Raises:
        ValueError: One is no curve; the error says which are.
    """
    if not isinstance(value, list):
        raise ValueError(f"give a list of curves, such as {_EXAMPLES}")
    kept = _unchanged(value, now)
    used = [*kept.values()]
    made = []
    for number, described in enumerate(value):
        if number in kept:
            made.append(now[kept[number]])
            continue
        is_free = number < len(now) and number not in used
        made.append(_curve(number, described, now[number] if is_free else None))
    return made


def constraints(value: Any, now: Sequence[Any]) -> list[Any]:
    """Return the constraints that JSON describes.

    Args:
        value: The list of them.
        now: The constraints of the sketch; one that is described as it is stays the same.

    Raises:
        ValueError: One is none; the error gives an example.
    """
    if not isinstance(value, list):
        raise ValueError("give a list of constraints")
    kept = _unchanged(value, now)
    made = []
    for number, described in enumerate(value):
        if number in kept:
            made.append(now[kept[number]])
        else:
            made.append(_constraint(number, described))
    return made


def _unchanged(value: Sequence[Any], now: Sequence[Any]) -> dict[int, int]:
    """Return which descriptions are those of a curve or constraint now, with its number."""
    facts = [told(each) for each in now]
    free = set(range(len(now)))
    kept: dict[int, int] = {}
    for number, described in enumerate(value):
        if number in free and facts[number] == described:
            kept[number] = number
            free.remove(number)
    for number, described in enumerate(value):
        if number in kept:
            continue
        same = [other for other in sorted(free) if facts[other] == described]
        if same:
            kept[number] = same[0]
            free.remove(same[0])
    return kept


def _curve(number: int, described: Any, now: Any) -> Any:
    """Return a curve in the form that JSON describes: a changed one, or a new one.

    Args:
        number: The number of the curve, for errors.
        described: What it is to be.
        now: The curve that has this number, if it may be changed; else None.
    """
    import Part

    kind = _kind_of(described)
    if kind is None:
        names = "line, point, circle, arc, ellipse or spline"
        raise ValueError(f"curve {number}, {described!r}, is no {names}: {_EXAMPLES}")
    curve = kind.make()
    if now is not None and now.TypeId == kind.type:
        curve = now
    try:
        kind.shape(curve, described)
        _mark(curve, is_construction=bool(described.get(_CONSTRUCTION, False)))
    except (TypeError, ValueError, IndexError, Part.OCCError) as error:
        raise ValueError(f"curve {number}, {described!r}, cannot be made: {error}") from error
    return curve


def _kind_of(described: Any) -> _Kind | None:
    """Return the kind of curve that has the words of a description; None if there is none."""
    if not isinstance(described, dict):
        return None
    words = {*described} - {_CONSTRUCTION}
    for kind in _KINDS:
        if kind.needs <= words <= kind.needs | kind.may:
            return kind
    return None


def _constraint(number: int, described: Any) -> Any:
    """Return a new constraint."""
    import Sketcher

    is_one = isinstance(described, dict) and {"type", "of"} <= described.keys()
    if not is_one or not described.keys() <= _CONSTRAINT_WORDS:
        raise ValueError(f"constraint {number}, {described!r}, is not like {_EXAMPLE}")
    arguments: list[Any] = []
    for held in described["of"]:
        arguments += held if isinstance(held, list) else [held]
    if "value" in described:
        size = float(described["value"])
        arguments.append(math.radians(size) if described["type"] == "Angle" else size)
    try:
        constraint = Sketcher.Constraint(described["type"], *arguments)
    except (TypeError, ValueError) as error:
        raise ValueError(f"constraint {number} is not like {_EXAMPLE}: {error}") from error
    constraint.Name = described.get("name", "")
    return constraint


# ---- sizes by the names of their constraints


def is_size(obj: Any, own: str, inner: Sequence[str]) -> bool:
    """Return whether a path is that of a constraint's size: "Constraints.length"."""
    is_list = own in obj.PropertiesList and obj.getTypeIdOfProperty(own) == CONSTRAINTS
    return is_list and len(inner) == 1


def size_names(obj: Any, own: str) -> list[str]:
    """Return the names of the constraints that have one and a size that can be set."""
    named = [each for each in getattr(obj, own) if each.Name and each.Type in _VALUED]
    return [each.Name for each in named if each.Driving]


def read_size(obj: Any, name: str) -> Any:
    """Return the size of a constraint as a quantity.

    Raises:
        LookupError: No constraint has this name.
    """
    _require_size(obj, name)
    return obj.getDatum(name)


def write_size(obj: Any, name: str, value: Any) -> None:
    """Set the size of a constraint: a number of mm or degrees, or a text with a unit.

    Raises:
        LookupError: No constraint has this name.
        ValueError: The sketch cannot be solved with it.
    """
    _require_size(obj, name)
    quantity = FreeCAD.Units.Quantity(value)
    if not isinstance(value, str):
        quantity = FreeCAD.Units.Quantity(float(value), obj.getDatum(name).Unit)
    obj.setDatum(name, quantity)


def _require_size(obj: Any, name: str) -> None:
    names = size_names(obj, "Constraints")
    if name not in names:
        there = ", ".join(names) or "none with a name"
        raise LookupError(f"{obj.Name} has no constraint {name!r} with a size; it has {there}.")


# ---- the kinds of curves


def _tell_line(line: Any) -> Facts:
    return {"line": [_flat(line.StartPoint), _flat(line.EndPoint)]}


def _shape_line(line: Any, facts: Mapping[str, Any]) -> None:
    start, end = facts["line"]
    line.setParameterRange(0, 1)
    line.StartPoint = _vector(start)
    line.EndPoint = _vector(end)


def _tell_circle(circle: Any) -> Facts:
    return {"circle": _flat(circle.Center), "radius": _rounded(circle.Radius)}


def _shape_circle(circle: Any, facts: Mapping[str, Any]) -> None:
    circle.Center = _vector(facts.get("circle", facts.get("arc")))
    circle.Radius = float(facts["radius"])


def _tell_arc(arc: Any) -> Facts:
    radius = _rounded(arc.Radius)
    return {"arc": _flat(arc.Center), "radius": radius, **_tell_range(arc)}


def _shape_arc(arc: Any, facts: Mapping[str, Any]) -> None:
    _shape_circle(arc, facts)
    _shape_range(arc, facts)


def _tell_point(point: Any) -> Facts:
    return {"point": [_rounded(point.X), _rounded(point.Y)]}


def _shape_point(point: Any, facts: Mapping[str, Any]) -> None:
    place = _vector(facts["point"])
    point.X = place.x
    point.Y = place.y


def _tell_ellipse(ellipse: Any) -> Facts:
    facts: Facts = {
        "ellipse": _flat(ellipse.Center),
        "radii": [_rounded(ellipse.MajorRadius), _rounded(ellipse.MinorRadius)],
    }
    angle = _rounded(math.degrees(ellipse.AngleXU))
    if angle:
        facts["angle"] = angle
    return facts


def _shape_ellipse(ellipse: Any, facts: Mapping[str, Any]) -> None:
    major, minor = map(float, facts["radii"])
    if not major >= minor > 0:
        raise ValueError("the radii of an ellipse are two numbers above 0, the larger one first")
    ellipse.Center = _vector(facts["ellipse"])
    ellipse.MajorRadius = max(major, ellipse.MinorRadius)  # never the smaller one meanwhile
    ellipse.MinorRadius = minor
    ellipse.MajorRadius = major
    ellipse.AngleXU = math.radians(float(facts.get("angle", 0)))


def _tell_elliptic_arc(arc: Any) -> Facts:
    return {**_tell_ellipse(arc), **_tell_range(arc)}


def _shape_elliptic_arc(arc: Any, facts: Mapping[str, Any]) -> None:
    _shape_ellipse(arc, facts)
    _shape_range(arc, facts)


def _tell_range(arc: Any) -> Facts:
    start = _rounded(math.degrees(arc.FirstParameter))
    end = _rounded(math.degrees(arc.LastParameter))
    return {"from": start, "to": end}


def _shape_range(arc: Any, facts: Mapping[str, Any]) -> None:
    start = math.radians(float(facts["from"]))
    end = math.radians(float(facts["to"]))
    arc.setParameterRange(start, end)


def _tell_spline(spline: Any) -> Facts:
    facts: Facts = {"spline": [_flat(pole) for pole in spline.getPoles()]}
    if spline.Degree != _DEGREE:
        facts["degree"] = spline.Degree
    if spline.isPeriodic():
        facts["closed"] = True
    usual = _new_spline()
    _shape_spline(usual, facts)
    if [usual.getKnots(), usual.getMultiplicities()] != [
        spline.getKnots(),
        spline.getMultiplicities(),
    ]:
        pairs = zip(spline.getKnots(), spline.getMultiplicities(), strict=True)
        facts["knots"] = [[_rounded(knot), multiplicity] for knot, multiplicity in pairs]
    if len({*spline.getWeights()}) > 1:
        facts["weights"] = [_rounded(weight) for weight in spline.getWeights()]
    return facts


def _shape_spline(spline: Any, facts: Mapping[str, Any]) -> None:
    is_closed = bool(facts.get("closed", False))
    if "through" in facts:
        points = [_vector(point) for point in facts["through"]]
        spline.interpolate(points, PeriodicFlag=is_closed)
        return
    poles = [_vector(pole) for pole in facts["spline"]]
    degree = int(facts.get("degree", _DEGREE))
    if "knots" not in facts and "weights" not in facts:
        spline.buildFromPoles(poles, is_closed, degree)
        return
    knots = facts.get("knots")
    if knots is None:
        usual = _new_spline()
        usual.buildFromPoles(poles, is_closed, degree)
        knots = zip(usual.getKnots(), usual.getMultiplicities(), strict=True)
    places, multiplicities = zip(*knots, strict=True)
    weights = [float(weight) for weight in facts.get("weights", [1.0] * len(poles))]
    spline.buildFromPolesMultsKnots(poles, multiplicities, places, is_closed, degree, weights)


def _new_line() -> Any:
    import Part

    return Part.LineSegment(_vector([0, 0]), _vector([1, 0]))


def _new_circle() -> Any:
    import Part

    return Part.Circle(_vector([0, 0]), FreeCAD.Vector(0, 0, 1), 1)


def _new_arc() -> Any:
    import Part

    return Part.ArcOfCircle(_new_circle(), 0, 1)


def _new_point() -> Any:
    import Part

    return Part.Point(_vector([0, 0]))


def _new_ellipse() -> Any:
    import Part

    return Part.Ellipse(_vector([0, 0]), 2, 1)


def _new_elliptic_arc() -> Any:
    import Part

    return Part.ArcOfEllipse(_new_ellipse(), 0, 1)


def _new_spline() -> Any:
    import Part

    return Part.BSplineCurve()


def _kind(
    type_name: str,
    needs: str,
    may: str,
    tell: Callable[[Any], Facts],
    make: Callable[[], Any],
    shape: Callable[[Any, Mapping[str, Any]], None],
) -> _Kind:
    return _Kind(
        f"Part::Geom{type_name}",
        frozenset(needs.split()),
        frozenset(may.split()),
        tell,
        make,
        shape,
    )


_KINDS: Final = (
    _kind("LineSegment", "line", "", _tell_line, _new_line, _shape_line),
    _kind("Point", "point", "", _tell_point, _new_point, _shape_point),
    _kind("Circle", "circle radius", "", _tell_circle, _new_circle, _shape_circle),
    _kind("ArcOfCircle", "arc radius from to", "", _tell_arc, _new_arc, _shape_arc),
    _kind("Ellipse", "ellipse radii", "angle", _tell_ellipse, _new_ellipse, _shape_ellipse),
    _kind(
        "ArcOfEllipse",
        "ellipse radii from to",
        "angle",
        _tell_elliptic_arc,
        _new_elliptic_arc,
        _shape_elliptic_arc,
    ),
    _kind(
        "BSplineCurve",
        "spline",
        "degree closed knots weights",
        _tell_spline,
        _new_spline,
        _shape_spline,
    ),
    _kind("BSplineCurve", "through", "closed", _tell_spline, _new_spline, _shape_spline),
)
"""The kinds that can be written; the first one of a type tells its curves."""


def _is_construction(curve: Any) -> bool:
    """Return whether a curve only helps to draw; False outside of a sketch."""
    if not curve.hasExtensionOfType(_FLAGS):
        return False
    return bool(curve.getExtensionOfType(_FLAGS).Construction)


def _mark(curve: Any, *, is_construction: bool) -> None:
    """Make a curve one that only helps to draw, or not."""
    import Sketcher

    if _is_construction(curve) == is_construction:
        return
    flags = Sketcher.SketchGeometryExtension()
    if curve.hasExtensionOfType(_FLAGS):
        flags = curve.getExtensionOfType(_FLAGS)
    flags.Construction = is_construction
    curve.setExtension(flags)


def _vector(place: Any) -> Any:
    """Return a place in the plane of a sketch."""
    x, y = place
    return FreeCAD.Vector(float(x), float(y), 0)


def _flat(vector: Any) -> list[float]:
    return [_rounded(vector.x), _rounded(vector.y)]


def _rounded(number: float) -> float:
    return round(number, _DIGITS) + 0.0
