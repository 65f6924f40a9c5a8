"""The word `repeat` of create, duplicate and transform: many places and names in a few bytes.

A repeat is a grid (`step`), a ring (`radius`) or a path (`along`). Hosts have no part in it: they
create, copy and place single items, all in the one undo step of the call. Main thread.
"""

from __future__ import annotations

import math
import re
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise, product
from typing import Any, Final, Literal

from dcc_bridge.geometry import about, add, turned
from dcc_bridge.verbs.items import checked_point
from dcc_bridge.verbs.names import no_such
from dcc_bridge.verbs.operations import Vector
from dcc_bridge.verbs.ports import Building

MOST: Final = 10_000
"""Items that one call makes or places at most."""
_KINDS: Final = ("step", "radius", "along")
_KEYS: Final = ("count", "name", "axis", "turn", *_KINDS)
_AXES: Final = {"x": 0, "y": 1, "z": 2}
_EXAMPLE: Final = '{"count": [10, 10, 1], "step": [2, 2, 0], "name": "Cube_###"}'
_NUMBER: Final = re.compile(r"#+|\{n(?::0?(\d{1,2}))?\}")
Points = Sequence[Vector]


@dataclass(frozen=True, slots=True)
class Spot:
    """One of the places of a repeat.

    Attributes:
        at: The place, or how far it is from the place where the repeat begins.
        is_whole: `at` is the place itself.
        degrees: The turn about `Repeat.axis`.
    """

    at: Vector
    is_whole: bool = False
    degrees: float = 0.0

    @property
    def is_start(self) -> bool:
        """Whether it is the place where the repeat begins, unturned."""
        return not self.is_whole and not any(self.at) and not self.degrees

    def place(self, base: Vector) -> Vector:
        """Return the place of the spot in a repeat that begins at a point."""
        if self.is_whole:
            return self.at
        return add(base, self.at)


@dataclass(frozen=True, slots=True)
class Repeat:
    """A repeat, as it was read.

    Attributes:
        spots: The places, in the order in which they are filled.
        axis: The number of the axis about which items are turned.
        turns: Whether items are turned.
        name: The pattern of the names, or "".
    """

    spots: Sequence[Spot]
    axis: int
    turns: bool
    name: str = ""


def read_repeat(
    told: Mapping[str, Any],
    up: Literal["Y", "Z"],
    path: Callable[[str], Points],
    count: int | None = None,
) -> Repeat:
    """Read a repeat as an agent writes it.

    Args:
        told: "count" with "step", "radius" or "along"; "axis", "turn", "name".
        up: The axis that is up in the scene, about which is turned where no axis is given.
        path: Returns the points of an item along which others are put.
        count: How many there are, where `told` has no count.

    Raises:
        LookupError: The item of a path does not exist.
        ValueError: The repeat has no sense; the sentence has an example.
    """
    unknown = sorted(told.keys() - _KEYS)
    kinds = [kind for kind in _KINDS if kind in told]
    if unknown:
        raise ValueError(f"repeat: {no_such('word', unknown[0], _KEYS)}")
    if len(kinds) != 1:
        raise ValueError(f"repeat needs one of {', '.join(_KINDS)}, such as {_EXAMPLE}.")
    axis_name = told.get("axis", up)
    if not isinstance(axis_name, str) or axis_name.lower() not in _AXES:
        raise ValueError(f"repeat: axis is x, y or z, not {axis_name!r}.")
    axis = _AXES[axis_name.lower()]
    counts = _counts(told.get("count", count), kinds[0])
    match kinds[0]:
        case "step":
            spots = _grid(counts, told["step"])
        case "radius":
            spots = _ring(counts, told["radius"], axis)
        case _:
            spots = _along(counts, told["along"], axis, path)
    name = told.get("name", "")
    if not isinstance(name, str):
        raise ValueError(f"repeat: name is a text such as 'Cube_###', not {name!r}.")
    return Repeat(spots, axis, bool(told.get("turn")), name)


def check_count(count: int) -> None:
    """Raise a ValueError for more items than one call makes."""
    if count > MOST:
        raise ValueError(f"{count:,} items are too many: one call makes or places {MOST:,}.")


def numbered(pattern: str, number: int) -> str:
    """Return a name with a number in the place of "###" or "{n:03}", as wide as these say."""

    def digits(place: re.Match[str]) -> str:
        width = len(place[0])
        if place[0].startswith("{"):
            width = int(place[1] or 1)
        return str(number).zfill(width)

    return _NUMBER.sub(digits, pattern)


def turn_to(operations: Building, item: str, repeat: Repeat, spot: Spot) -> None:
    """Turn an item with a spot of a repeat, where the repeat turns items."""
    if not repeat.turns:
        return
    rotation = operations.placement(item).rotation
    operations.place(item, rotation=turned(rotation, repeat.axis, spot.degrees))


def _counts(told: Any, kind: str) -> list[int]:
    """Return the count along each axis, or the one count; none where a path has its own.

    Raises:
        ValueError: It is no count, or too large.
    """
    if told is None and kind == "along":
        return []
    counts: list[int] = [told]
    if isinstance(told, list):
        counts = told
    most = 1
    if kind == "step":
        most = 3
    is_whole = all(type(number) is int and number >= 1 for number in counts)
    if not is_whole or not 1 <= len(counts) <= most:
        raise ValueError(
            f"repeat: count is a whole number from 1 on (of step also three), not {told!r}; "
            f"such as {_EXAMPLE}."
        )
    check_count(math.prod(counts))
    return counts


def _grid(counts: Sequence[int], step: Any) -> list[Spot]:
    """Return the spots of a row, or of a grid, of which the first axis is filled first."""
    x, y, z = _point(step, "step")
    if len(counts) == 1:
        return [Spot((x * n, y * n, z * n)) for n in range(counts[0])]
    i, j, k = (*counts, 1, 1)[:3]
    cells = product(range(k), range(j), range(i))
    return [Spot((x * column, y * row, z * layer)) for layer, row, column in cells]


def _ring(counts: Sequence[int], radius: Any, axis: int) -> list[Spot]:
    """Return the spots of a ring about the base, counted against the clock."""
    if not isinstance(radius, int | float) or not math.isfinite(radius):
        raise ValueError(f"repeat: radius is a number, not {radius!r}.")
    start = [0.0, 0.0, 0.0]
    start_axis = _AXES["x"]
    if axis == start_axis:
        start_axis = _AXES["y"]
    start[start_axis] = float(radius)
    first: Vector = (start[0], start[1], start[2])
    angles = [360.0 * number / counts[0] for number in range(counts[0])]
    return [Spot(about(first, axis, angle), degrees=angle) for angle in angles]


def _along(
    counts: Sequence[int], along: Any, axis: int, path: Callable[[str], Points]
) -> list[Spot]:
    """Return spots on a path, evenly apart; without a count, its points themselves."""
    if isinstance(along, str):
        points = list(path(along))
    elif isinstance(along, list) and along:
        points = [_point(point, "along") for point in along]
    else:
        raise ValueError("repeat: along is an item, a curve, or a list of points [x, y, z].")
    check_count(len(points))
    # How far each point is from the beginning, along the path.
    far = [0.0, *accumulate(math.dist(a, b) for a, b in pairwise(points))]
    whole = far[-1]
    if not whole:
        raise ValueError("repeat: along needs two points that are apart.")
    distances = far
    if counts:
        gaps = counts[0] - 1
        if points[0] == points[-1]:  # it is closed
            gaps = counts[0]
        distances = [whole * number / max(1, gaps) for number in range(counts[0])]
    return [_spot_at(points, far, distance, axis) for distance in distances]


def _spot_at(points: Points, far: Sequence[float], distance: float, axis: int) -> Spot:
    """Return the spot on a path so far from its beginning, turned with the path."""
    number = min(bisect(far, distance), len(far) - 1) - 1
    start = points[number]
    way = add(points[number + 1], start, -1.0)
    length = far[number + 1] - far[number]
    share = 0.0
    if length:
        share = min(1.0, (distance - far[number]) / length)
    one = way[(axis + 1) % 3]
    two = way[(axis + 2) % 3]
    degrees = math.degrees(math.atan2(two, one))
    if axis == 1:  # what looks along the path is X, the second of Z and X
        degrees = math.degrees(math.atan2(-one, two))
    return Spot(add(start, way, share), is_whole=True, degrees=degrees)


def _point(numbers: Any, name: str) -> Vector:
    is_point = isinstance(numbers, list) and all(
        isinstance(number, int | float) for number in numbers
    )
    if not is_point:
        raise ValueError(f"repeat: {name} is [x, y, z], not {numbers!r}.")
    return checked_point(numbers, f"repeat: {name}")
