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
from collections.abc import Sequence
from typing import Any, Final

import FreeCAD

from .sketch_curves import (
    KINDS,
    CurveKind,
    Facts,
    as_number,
    is_construction,
    mark_construction,
    rounded,
)

GEOMETRY: Final = "Part::PropertyGeometryList"
CONSTRAINTS: Final = "Sketcher::PropertyConstraintList"
_NONE: Final = -2000  # FreeCAD's number for no curve
_PLACES: Final = ("First", "Second", "Third")
_VALUED: Final = {"Distance", "DistanceX", "DistanceY", "Radius", "Diameter", "Angle", "Weight"}
_CONSTRUCTION: Final = "construction"
_EXAMPLES: Final = '{"line": [[0, 0], [80, 0]]}, {"circle": [15, 15], "radius": 4}'
_EXAMPLE: Final = '{"type": "DistanceX", "of": [[0, 1], [0, 2]], "value": 80}'
_CONSTRAINT_WORDS: Final = {"type", "of", "value", "name"}


def told(value: Any) -> Facts | None:
    """Return a curve or a constraint as JSON carries it; None for all else."""
    type_name = str(getattr(value, "TypeId", ""))
    if type_name == "Sketcher::Constraint":
        return _told_constraint(value)
    if not type_name.startswith("Part::Geom"):
        return None
    facts: Facts = {"curve": type_name.removeprefix("Part::Geom")}
    for kind in KINDS:
        if kind.type == type_name:
            facts = kind.tell(value)
            break
    if is_construction(value):
        facts[_CONSTRUCTION] = True
    return facts


def _told_constraint(constraint: Any) -> Facts:
    """Return a constraint as JSON carries it."""
    held: list[Any] = []
    for place in _PLACES:
        curve = getattr(constraint, place)
        if curve == _NONE:
            continue
        position = int(getattr(constraint, f"{place}Pos"))
        held.append([curve, position] if position else curve)
    facts: Facts = {"type": constraint.Type, "of": held}
    if constraint.Type in _VALUED:
        value = constraint.Value
        facts["value"] = rounded(math.degrees(value) if constraint.Type == "Angle" else value)
    if constraint.Name:
        facts["name"] = constraint.Name
    if not constraint.Driving:
        facts["driving"] = False
    return facts


def write_curves(sketch: Any, value: Any) -> None:
    """Set the curves of a sketch to those that JSON describes.

    A constraint stays with its curves when their numbers change, and goes with any of them.

    Raises:
        ValueError: One is no curve; the error says which are.
    """
    before = [curve.Tag for curve in sketch.Geometry]
    made = curves(value, sketch.Geometry)
    numbers = {curve.Tag: number for number, curve in enumerate(made)}
    places = [numbers.get(tag, _NONE) for tag in before]
    held = sketch.Constraints
    kept = [each for each in held if _NONE not in _moved(each, places).values()]
    if len(kept) != len(held):
        sketch.Constraints = kept  # first, so that FreeCAD keeps the expressions of the others
    sketch.Geometry = made
    is_renumbered = False
    for constraint in kept:
        for place, number in _moved(constraint, places).items():
            is_renumbered |= getattr(constraint, place) != number
            setattr(constraint, place, number)
    if is_renumbered:
        sketch.Constraints = kept


def _moved(constraint: Any, places: Sequence[int]) -> dict[str, int]:
    """Return the new numbers of the sketch's own curves that a constraint is of.

    Args:
        constraint: The constraint, as it is of the curves before.
        places: The new number of each curve before; `_NONE` for one that is gone.

    Returns:
        The numbers by the names of the constraint's places; `_NONE` of a curve that is not there.
    """
    moved = {}
    for place in _PLACES:
        curve = getattr(constraint, place)
        if curve >= len(places):
            moved[place] = _NONE
        elif curve >= 0:
            moved[place] = places[curve]
    return moved


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
        mark_construction(curve, is_so=bool(described.get(_CONSTRUCTION, False)))
    except (TypeError, ValueError, IndexError, Part.OCCError) as error:
        raise ValueError(f"curve {number}, {described!r}, cannot be made: {error}") from error
    return curve


def _kind_of(described: Any) -> CurveKind | None:
    """Return the kind of curve that has the words of a description; None if there is none."""
    if not isinstance(described, dict):
        return None
    words = {*described} - {_CONSTRUCTION}
    for kind in KINDS:
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
    try:
        if "value" in described:
            size = as_number(described["value"])
            arguments.append(math.radians(size) if described["type"] == "Angle" else size)
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
