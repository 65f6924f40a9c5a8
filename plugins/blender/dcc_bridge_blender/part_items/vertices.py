"""Weights of vertex groups and points of shape keys, as agents tell them. Main thread.

Both are told by entries. An entry is a vertex with its value, ``[7, 0.5]``, or a box in the space
of the object with the value for all vertices in it: ``{"low": [-1, -1, 0], "high": [1, 1, 1],
"weight": 0.5}``. Vertices of which no entry tells stay as they are.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from ..names import name_of, text_of

_MAX_READ: Final = 2_000  # vertices of a group, or moved points of a shape key, that are read
_NEAR: Final = 1e-6  # by which a box is larger than it is told
_LARGEST: Final = 1e18  # of numbers: the square of a larger one is infinite in Blender


def point(value: Any, what: str) -> tuple[float, float, float]:
    """Return a point; ValueError for what is none."""
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise ValueError(f"{what} takes [x, y, z], and not {value!r}")
    x, y, z = (number(each, what) for each in value)
    return x, y, z


def number(value: Any, what: str) -> float:
    """Return a finite number; ValueError for what is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not abs(value) <= _LARGEST:  # NaN is not either
        raise ValueError(f"{what} takes a number up to {_LARGEST:g}, and not {value!r:.40}")
    return float(value)


def degrees(angle: float) -> float:
    """Return an angle in degrees, as it is told."""
    return round(math.degrees(angle), 4) + 0.0


def radians(value: Any, what: str) -> float:
    """Return an angle of degrees in radians."""
    return math.radians(number(value, what))


def check_own(thing: Any) -> None:
    """Raise ValueError for an object with data of another file, of which no change is saved."""
    data = thing.data
    if data is not None and data.library is not None:
        path = text_of(data.library, "filepath")
        raise ValueError(f"the data of {name_of(thing)} is linked from {path}")


def check_shown(thing: Any) -> None:
    """Raise ValueError while the data of an object is in edit mode, or if it is another file's."""
    check_own(thing)
    if getattr(thing.data, "is_editmode", False):
        name = name_of(thing)
        raise ValueError(f"{name} is in edit mode, where this would be lost: leave it first")


# ---- weights


def read_weights(group: Any) -> list[list[float]]:
    """Return the first vertices of a group with their weights."""
    weights: list[list[float]] = []
    for at, weight in _weights_of(group):
        weights.append([at, round(weight, 6)])
        if len(weights) == _MAX_READ:
            break
    return weights


def _weights_of(group: Any) -> Iterator[tuple[int, float]]:
    """Yield each vertex of a group with its weight: Blender tells these one by one only."""
    index = group.index
    elements_of = map(attrgetter("groups"), _vertices_of(group.id_data))
    for at, elements in enumerate(elements_of):
        for element in elements:
            if element.group == index:
                yield at, element.weight


def write_weights(group: Any, value: Any) -> None:
    """Set weights of a group: one number for all vertices, or entries."""
    thing: Any = group.id_data
    check_shown(thing)
    every = _vertices_of(thing)
    if isinstance(value, int | float):
        _put(group, list(range(len(every))), _weight(value))
        return
    for entry in _entries(value, _Places(every), "weight"):
        _put(group, entry.vertices, _weight(entry.told))


def _put(group: Any, chosen: list[int], weight: float) -> None:
    if weight > 0:
        group.add(chosen, weight, "REPLACE")
    else:
        group.remove(chosen)


def copy_weights(group: Any, copy: Any) -> None:
    """Copy to a group of an object the weights of another one."""
    check_shown(group.id_data)
    alike: dict[float, list[int]] = {}
    for at, weight in _weights_of(group):
        alike.setdefault(weight, []).append(at)
    for weight, chosen in alike.items():
        copy.add(chosen, weight, "REPLACE")


def _vertices_of(thing: Any) -> Any:
    """Return the vertices of an object; ValueError for one of strokes, whose points are many."""
    function = _OF_STROKES.get(thing.type)
    if function is not None:
        raise ValueError(f"weights of strokes are set by run_python alone, with {function}")
    return thing.data.points if thing.type == "LATTICE" else thing.data.vertices


_OF_STROKES: Final = {
    "GPENCIL": "weight_set of a stroke's points",
    "GREASEPENCIL": "set_vertex_weights of a drawing, and Blender does not tell them",
}
"""By the type of an object of Grease Pencil, until 4.2 and since, how code sets its weights."""
GROUPED: Final = ("MESH", "LATTICE", *_OF_STROKES)
"""The types of objects that have vertex groups."""


def _weight(value: Any) -> float:
    weight = number(value, "weight")
    if not 0 <= weight <= 1:
        raise ValueError(f"weight takes 0 to 1, and not {value!r}")
    return weight


# ---- shape keys


def read_shape(key: Any) -> list[list[Any]]:
    """Return the first points of a shape key that differ from those of its relative key."""
    own = _numbers(key.data, "co", 3)
    other = _numbers(key.relative_key.data, "co", 3)
    moved: list[list[Any]] = []
    for start in range(0, len(own), _AT_ONCE):
        end = min(start + _AT_ONCE, len(own))
        if own[start:end] == other[start:end]:
            continue
        for at in range(start, end, 3):
            place = own[at : at + 3]
            if place != other[at : at + 3]:
                moved.append([at // 3, [round(number, 6) for number in place]])
            if len(moved) == _MAX_READ:
                return moved
    return moved


def write_shape(key: Any, value: Any) -> None:
    """Set points of a shape key by entries; a box moves those that the basis has in it."""
    owner = key.id_data.user
    if getattr(owner, "is_editmode", False):
        raise ValueError("the mesh is in edit mode, where this would be lost: leave it first")
    basis = _numbers(key.relative_key.data, "co", 3)
    places = _numbers(key.data, "co", 3)
    for entry in _entries(value, _Places(key.relative_key.data), "move"):
        told = point(entry.told, "points")
        for at in entry.vertices:
            for axis, number_told in enumerate(told, 3 * at):
                places[axis] = basis[axis] + number_told if entry.is_box else number_told
    key.data.foreach_set("co", places)
    owner.update_tag()


def copy_shape(key: Any, copy: Any) -> None:
    """Copy to a shape key the points of another one."""
    if not len(key.data):
        return
    for name, size in _POINT_VALUES.items():
        if hasattr(key.data[0], name):
            copy.data.foreach_set(name, _numbers(key.data, name, size))
    copy.id_data.user.update_tag()


def _numbers(points: Any, name: str, size: int) -> array[float]:
    """Return a property of all points, in one list."""
    numbers = array("f", bytes(4 * size * len(points)))
    points.foreach_get(name, numbers)
    return numbers


_AT_ONCE: Final = 3 * 4096  # numbers that are compared at once
_POINT_VALUES: Final = {"co": 3, "handle_left": 3, "handle_right": 3, "tilt": 1, "radius": 1}
"""The properties of the points of a shape key, with how many numbers each has."""


# ---- entries


class _Entry(NamedTuple):
    """One entry.

    Attributes:
        vertices: The vertices that it means.
        told: What it tells of them.
        is_box: Whether it means the vertices in a box.
    """

    vertices: list[int]
    told: Any
    is_box: bool


class _Places:
    """The places of points, which are read once a box asks for them.

    Attributes:
        count: How many points there are.
    """

    def __init__(self, points: Any) -> None:
        self.count = len(points)
        self._points = points
        self._numbers: array[float] | None = None

    def within(self, box: dict[str, Any]) -> list[int]:
        """Return the points in a box; ValueError where there are none."""
        low = point(box["low"], "low")
        high = point(box["high"], "high")
        if self._numbers is None:
            self._numbers = _numbers(self._points, "co", 3)
        chosen: Sequence[int] = range(self.count)
        for axis in range(3):
            least = low[axis] - _NEAR
            most = high[axis] + _NEAR
            along = self._numbers[axis::3]
            chosen = [at for at in chosen if least <= along[at] <= most]
        if not chosen:
            raise ValueError(f"no vertex is between {list(low)} and {list(high)}")
        return list(chosen)


def _entries(value: Any, places: _Places, word: str) -> Iterator[_Entry]:
    """Yield the entries of a value; `word` is what a box tells of its vertices."""
    entries = [value] if isinstance(value, dict) else value
    if not isinstance(entries, list):
        raise ValueError(f"it takes [[vertex, value], ...] or boxes, and not {value!r}")
    for entry in entries:
        if isinstance(entry, dict):
            if set(entry) != {"low", "high", word}:
                raise ValueError(f"a box has low, high and {word}, and not {sorted(entry)}")
            yield _Entry(places.within(entry), entry[word], is_box=True)
            continue
        if not isinstance(entry, list | tuple) or len(entry) != 2:
            raise ValueError(f"an entry is [vertex, value] or a box, and not {entry!r}")
        at, told = entry
        if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < places.count:
            raise ValueError(f"there is no vertex {at!r}: they are 0 to {places.count - 1}")
        yield _Entry([at], told, is_box=False)
