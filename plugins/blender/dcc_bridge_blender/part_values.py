"""The values of the parts of objects and actions, as far as they are read quickly. Main thread.

These are bones with their pose and constraints, vertex groups with their weights, shape keys with
their points, and curves with their keys and modifiers. Many numbers are read as one `array`, of
which an account tells how many rows differ, see `ROWS`.

Source of the facts: measured with Debian's Blender 3.4.1 and the wheels of bpy 4.5.15 and 5.3.0.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from .action_curves import curve_lists_of
from .names import name_of
from .part_items import KINDS

GROUP: Final = "/vertex_group:"
"""In the path of a vertex group."""
_BONE_COST: Final = 10  # as many vertices are read in the time of a bone, a curve or a modifier
_CHEAP: Final = 20  # points of shape keys, or elements of keys, in the time of a vertex
_WEIGHED: Final = ("MESH", "LATTICE")  # types of objects whose weights Blender tells
_NO_WEIGHT: Final = -1.0
_POSE: Final = ("location", "rotation_quaternion", "rotation_axis_angle", "scale")
_KEY_VALUES: Final = {"co": 2, "handle_left": 2, "handle_right": 2, "interpolation": 1}
_More = tuple[tuple[str, Any], ...]


class Rows(NamedTuple):
    """How an array of numbers is told.

    Attributes:
        size: How many numbers a row has.
        one: The words for one row.
        many: The words for several rows.
    """

    size: int
    one: str
    many: str


ROWS: Final = {
    "weights": Rows(1, "weights of 1 vertex", "weights of {} vertices"),
    "points": Rows(3, "1 point", "{} points"),
    "handles": Rows(sum(_KEY_VALUES.values()), "1 key", "{} keys"),
}
"""By the name of a value that is an array, how it is told."""


class PartValues(NamedTuple):
    """The facts that are read of a part.

    Attributes:
        path: The part, as it is called below its owner: ``/bone:Arm``.
        struct: The struct whose properties are to be read as well, or None.
        more: Values beside these.
    """

    path: str
    struct: Any
    more: _More = ()


def cost(name: str, block: Any) -> int:
    """Return about how long it takes to read the parts of a data-block: 1 for a vertex.

    Args:
        name: The name of the list that the data-block is in.
        block: The data-block.
    """
    if name == "actions":
        return sum(map(_cost_of_curve, _curves(block)))
    total = len(block.vertex_groups)
    if block.pose is not None:
        total += _BONE_COST * len(block.pose.bones)
    if block.vertex_groups and block.type in _WEIGHED:
        total += len(_vertices(block))
    for key in KINDS["shape_key"].parts(block).values():
        total += _BONE_COST + len(key.data) // _CHEAP
    return total


def _curves(action: Any) -> Iterator[Any]:
    for curves in curve_lists_of(action):
        yield from curves


def _cost_of_curve(curve: Any) -> int:
    structs = 1 + len(curve.modifiers)
    return _BONE_COST * structs + len(curve.keyframe_points) // _CHEAP


def part_values(name: str, block: Any) -> Iterator[PartValues]:
    """Yield the parts of an object or an action, with their values.

    Args:
        name: The name of the list that the data-block is in.
        block: The data-block.
    """
    if name == "actions":
        yield from _of_action(block)
        return
    if block.pose is not None:
        yield from _of_bones(block)
    if block.vertex_groups:
        yield from _of_groups(block)
    yield from _of_shape_keys(block)


def _of_bones(thing: Any) -> Iterator[PartValues]:
    kind = KINDS["bone"]
    for name, bone in kind.parts(thing).items():
        path = f"/bone:{name}"
        more = [(value, access.read(bone)) for value, access in kind.values.items()]
        more += [(value, tuple(getattr(bone, value))) for value in _POSE]
        more.append(("rotation_euler", tuple(map(math.degrees, bone.rotation_euler))))
        more.append(("rotation_mode", bone.rotation_mode))
        yield PartValues(path, None, tuple(more))
        for constraint in bone.constraints:
            yield PartValues(f"{path}/constraint:{name_of(constraint)}", constraint)


def _of_groups(thing: Any) -> Iterator[PartValues]:
    weights: list[array[float]] = []
    if thing.type in _WEIGHED:
        weights = _weights(thing)
    for name, group in KINDS["vertex_group"].parts(thing).items():
        more: _More = (("lock_weight", group.lock_weight),)
        if weights:
            more = (*more, ("weights", weights[group.index]))
        yield PartValues(f"{GROUP}{name}", None, more)


def _weights(thing: Any) -> list[array[float]]:
    """Return the weights of all vertices, in each group of an object."""
    vertices = _vertices(thing)
    nothing = array("f", [_NO_WEIGHT]) * len(vertices)
    weights = [nothing[:] for _ in thing.vertex_groups]
    for at, vertex in enumerate(vertices):
        for element in vertex.groups:
            if element.group < len(weights):
                weights[element.group][at] = element.weight
    return weights


def _vertices(thing: Any) -> Sequence[Any]:
    data = thing.data
    vertices: Sequence[Any] = data.points if thing.type == "LATTICE" else data.vertices
    return vertices


def _of_shape_keys(thing: Any) -> Iterator[PartValues]:
    for name, key in KINDS["shape_key"].parts(thing).items():
        more = (("points", _numbers(key.data, "co", 3)),)
        yield PartValues(f"/shape_key:{name}", key, more)


def _of_action(action: Any) -> Iterator[PartValues]:
    for name, curve in KINDS["curve"].parts(action).items():
        path = f"/curve:{name}"
        yield PartValues(path, curve, (("handles", _rows_of_keys(curve.keyframe_points)),))
        for modifier_name, modifier in KINDS["curve_modifier"].parts(curve).items():
            yield PartValues(f"{path}/curve_modifier:{modifier_name}", modifier)


def _rows_of_keys(keys: Any) -> array[float]:
    """Return the places, handles and interpolations of keys, a row for each."""
    size = sum(_KEY_VALUES.values())
    rows = array("f", bytes(4 * size * len(keys)))
    column = 0
    for name, count in _KEY_VALUES.items():
        numbers = _numbers(keys, name, count)
        for element in range(count):
            rows[column::size] = array("f", numbers[element::count])
            column += 1
    return rows


def _numbers(parts: Any, name: str, count: int) -> array[Any]:
    """Return a property of all parts, in one list."""
    numbers: array[Any]
    if name == "interpolation":
        numbers = array("i", bytes(4 * count * len(parts)))
    else:
        numbers = array("f", bytes(4 * count * len(parts)))
    if len(parts):
        parts.foreach_get(name, numbers)
    return numbers
