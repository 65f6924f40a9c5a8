"""The kinds of curves of a sketch: the words of each, and its form by words. Main thread.

`sketches` tells what the words are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import FreeCAD

_DEGREE: Final = 3  # of a spline that says nothing else
_FLAGS: Final = "Sketcher::SketchGeometryExtension"
_DIGITS: Final = 6

Facts = dict[str, Any]


class CurveKind(NamedTuple):
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


def _tell_line(line: Any) -> Facts:
    return {"line": [_flat(line.StartPoint), _flat(line.EndPoint)]}


def _shape_line(line: Any, facts: Mapping[str, Any]) -> None:
    start, end = facts["line"]
    if start == end:
        raise ValueError("a line is from one place to another one")
    line.setParameterRange(0, 1)
    line.StartPoint = _vector(start)
    line.EndPoint = _vector(end)


def _tell_circle(circle: Any) -> Facts:
    return {"circle": _flat(circle.Center), "radius": rounded(circle.Radius)}


def _shape_circle(circle: Any, facts: Mapping[str, Any]) -> None:
    radius = as_number(facts["radius"])
    if radius <= 0:
        raise ValueError("the radius is a number above 0")
    circle.Center = _vector(facts.get("circle", facts.get("arc")))
    circle.Radius = radius


def _tell_arc(arc: Any) -> Facts:
    radius = rounded(arc.Radius)
    return {"arc": _flat(arc.Center), "radius": radius, **_tell_range(arc)}


def _shape_arc(arc: Any, facts: Mapping[str, Any]) -> None:
    _shape_circle(arc, facts)
    _shape_range(arc, facts)


def _tell_point(point: Any) -> Facts:
    return {"point": [rounded(point.X), rounded(point.Y)]}


def _shape_point(point: Any, facts: Mapping[str, Any]) -> None:
    place = _vector(facts["point"])
    point.X = place.x
    point.Y = place.y


def _tell_ellipse(ellipse: Any) -> Facts:
    facts: Facts = {
        "ellipse": _flat(ellipse.Center),
        "radii": [rounded(ellipse.MajorRadius), rounded(ellipse.MinorRadius)],
    }
    angle = rounded(math.degrees(ellipse.AngleXU))
    if angle:
        facts["angle"] = angle
    return facts


def _shape_ellipse(ellipse: Any, facts: Mapping[str, Any]) -> None:
    major, minor = map(as_number, facts["radii"])
    if not major >= minor > 0:
        raise ValueError("the radii of an ellipse are two numbers above 0, the larger one first")
    ellipse.Center = _vector(facts["ellipse"])
    ellipse.MajorRadius = max(major, ellipse.MinorRadius)  # never the smaller one meanwhile
    ellipse.MinorRadius = minor
    ellipse.MajorRadius = major
    ellipse.AngleXU = math.radians(as_number(facts.get("angle", 0)))


def _tell_elliptic_arc(arc: Any) -> Facts:
    return {**_tell_ellipse(arc), **_tell_range(arc)}


def _shape_elliptic_arc(arc: Any, facts: Mapping[str, Any]) -> None:
    _shape_ellipse(arc, facts)
    _shape_range(arc, facts)


def _tell_range(arc: Any) -> Facts:
    start = rounded(math.degrees(arc.FirstParameter))
    end = rounded(math.degrees(arc.LastParameter))
    return {"from": start, "to": end}


def _shape_range(arc: Any, facts: Mapping[str, Any]) -> None:
    start = math.radians(as_number(facts["from"]))
    end = math.radians(as_number(facts["to"]))
    if start == end:
        raise ValueError("an arc is from one angle to another one")
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
        facts["knots"] = [[rounded(knot), multiplicity] for knot, multiplicity in pairs]
    if len({*spline.getWeights()}) > 1:
        facts["weights"] = [rounded(weight) for weight in spline.getWeights()]
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
    weights = [as_number(weight) for weight in facts.get("weights", [1.0] * len(poles))]
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
) -> CurveKind:
    return CurveKind(
        f"Part::Geom{type_name}",
        frozenset(needs.split()),
        frozenset(may.split()),
        tell,
        make,
        shape,
    )


KINDS: Final = (
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


def is_construction(curve: Any) -> bool:
    """Return whether a curve only helps to draw; False outside of a sketch."""
    if not curve.hasExtensionOfType(_FLAGS):
        return False
    return bool(curve.getExtensionOfType(_FLAGS).Construction)


def mark_construction(curve: Any, *, is_so: bool) -> None:
    """Make a curve one that only helps to draw, or not."""
    import Sketcher

    if is_construction(curve) == is_so:
        return
    flags = Sketcher.SketchGeometryExtension()
    if curve.hasExtensionOfType(_FLAGS):
        flags = curve.getExtensionOfType(_FLAGS)
    flags.Construction = is_so
    curve.setExtension(flags)


def _vector(place: Any) -> Any:
    """Return a place in the plane of a sketch."""
    x, y = place
    return FreeCAD.Vector(as_number(x), as_number(y), 0)


def _flat(vector: Any) -> list[float]:
    return [rounded(vector.x), rounded(vector.y)]


def as_number(value: Any) -> float:
    """Return a value that JSON carries as a number.

    Raises:
        ValueError: It is true or false, no number, or one without an end.
        TypeError: It is a list or the like.
    """
    if isinstance(value, bool):
        raise ValueError(f"{str(value).lower()} is no number")
    result = float(value)
    if not math.isfinite(result):
        raise ValueError(f"{value!r} is no number that can be drawn")
    return result


def rounded(number: float) -> float:
    """Return a number as JSON carries it."""
    return round(number, _DIGITS) + 0.0
