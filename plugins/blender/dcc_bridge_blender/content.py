"""Fast readers of coordinates, corners and values of layers, and how to compare them. Main thread.

A `Layer` is the content of an attribute, such as a UV map. A `Shape` is the points of a geometry
and how they are connected. `is_another` tells an edited shape from a replaced one. All readers take
from a `Budget`, and return `UNREAD` if the data is too large.

Since 4.0 the numbers are read as attributes, as they lie in memory: 800,000 in 0.3 ms. Before 4.0,
and with the properties of a type such as `co`, they take 10 to 20 ms.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from itertools import chain
from typing import Any, Final, NamedTuple

import bpy

from .aspects import UNREAD, Budget

_IS_ATTRIBUTES: Final = bpy.app.version >= (4, 0)  # whether all of a mesh is in its attributes
_READS: Final = {
    "FLOAT": ("value", "f", 1),
    "INT": ("value", "i", 1),
    "INT8": ("value", "i", 1),
    "BOOLEAN": ("value", "b", 1),
    "FLOAT_VECTOR": ("vector", "f", 3),
    "FLOAT2": ("vector", "f", 2),
    "FLOAT_COLOR": ("color", "f", 4),
    "BYTE_COLOR": ("color", "f", 4),
    "QUATERNION": ("value", "f", 4),
    "FLOAT4X4": ("value", "f", 16),
    "INT16_2D": ("value", "i", 2),
    "INT32_2D": ("value", "i", 2),
}
"""By the type of an attribute: the property of an element, its `array` code, how many numbers."""
_BLANK_NUMBERS: Final = {0, 1}  # the only numbers of a new UV map, and of new colors
_EDITED_SHARE: Final = 0.5  # of the points or corners: if fewer are left, the shape is another
_CORNER_BYTES: Final = 4
_MAX_SAMPLE: Final = 10_000  # points or corners that are compared place by place


class Layer(NamedTuple):
    """The content of an attribute.

    Attributes:
        digest: A digest of the content.
        is_uniform: Whether all elements have the same value, so that there is little to lose.
    """

    digest: int
    is_uniform: bool


class Shape(NamedTuple):
    """The points of a geometry and how they are connected.

    Attributes:
        points: The coordinates of all points, as bytes.
        point_size: How many bytes a point has.
        topology: How the points are connected, such as the point of each corner of the faces, in
            numbers of four bytes.
    """

    points: bytes
    point_size: int
    topology: bytes


def read_numbers(elements: Any, prop: str, code: str, size: int) -> Any:
    """Return the numbers that all elements of a list have in a property, as an array.

    Args:
        elements: The list.
        prop: The property.
        code: The code of the numbers for `array.array`.
        size: How many numbers each element has.
    """
    numbers = array(code, bytes(array(code).itemsize * size * len(elements)))
    elements.foreach_get(prop, numbers)
    return numbers


def layer_of(attribute: Any, budget: Budget) -> Any:
    """Return the `Layer` of an attribute; `UNREAD` if too large, or if it has no numbers."""
    numbers = _numbers_of(attribute, budget)
    if numbers is UNREAD:
        return UNREAD
    _, _, size = _READS[attribute.data_type]
    content = numbers.tobytes()
    return Layer(hash(content), _is_uniform(content, size * numbers.itemsize))


def _is_uniform(content: bytes, size: int) -> bool:
    """Return whether all elements of `size` bytes are the same."""
    first = content[:size]
    if content[size : 2 * size] != first or content[-size:] != first:
        return False
    return first * (len(content) // size) == content


def is_blank(attribute: Any) -> bool:
    """Return whether all values are those of a new attribute.

    A new one has zeros; as a UV map or color, zeros and ones.
    """
    numbers = _numbers_of(attribute, Budget())
    if numbers is UNREAD:
        return False
    if not len(numbers):
        return False
    if attribute.data_type in ("FLOAT2", "FLOAT_COLOR", "BYTE_COLOR"):
        return set(numbers) <= _BLANK_NUMBERS
    return not any(numbers)


def _numbers_of(attribute: Any, budget: Budget) -> Any:
    if attribute.data_type not in _READS:  # such as texts
        budget.is_complete = False
        return UNREAD
    prop, code, size = _READS[attribute.data_type]
    if not budget.take_content(size * len(attribute.data)):
        return UNREAD
    return read_numbers(attribute.data, prop, code, size)


def map_of(uv_layer: Any, budget: Budget) -> Any:
    """Return the `Layer` of a UV map before 4.0, when UV maps were no attributes, or `UNREAD`."""
    if not budget.take_content(2 * len(uv_layer.data)):
        return UNREAD
    content = read_numbers(uv_layer.data, "uv", "f", 2).tobytes()
    return Layer(hash(content), _is_uniform(content, 8))


def is_blank_map(uv_layer: Any) -> bool:
    """Return whether all values are those of a new UV map, before 4.0."""
    numbers = read_numbers(uv_layer.data, "uv", "f", 2)
    return len(numbers) > 0 and set(numbers) <= _BLANK_NUMBERS


def shape_of_mesh(mesh: Any, budget: Budget) -> Any:
    """Return the `Shape` of a mesh, or `UNREAD`."""
    if not budget.take_content(3 * len(mesh.vertices) + len(mesh.loops) + len(mesh.polygons)):
        return UNREAD
    if _IS_ATTRIBUTES:
        points = read_numbers(mesh.attributes["position"].data, "vector", "f", 3)
    else:
        points = read_numbers(mesh.vertices, "co", "f", 3)
    if not len(mesh.polygons):
        corners = array("i")
    elif _IS_ATTRIBUTES:
        corners = read_numbers(mesh.attributes[".corner_vert"].data, "value", "i", 1)
    else:
        corners = read_numbers(mesh.loops, "vertex_index", "i", 1)
    count = len(mesh.vertices).to_bytes(4, "big")
    return Shape(points.tobytes(), 12, corners.tobytes() + count)


def shape_of_curve(curve: Any, budget: Budget) -> Any:
    """Return the `Shape` of a curve, or `UNREAD`."""
    counts = [len(spline.points) + len(spline.bezier_points) for spline in curve.splines]
    if not budget.take_content(4 * sum(counts) + len(counts)):
        return UNREAD
    points = []
    for spline in curve.splines:
        if spline.type == "BEZIER":
            points.append(_with_weight(read_numbers(spline.bezier_points, "co", "f", 3)))
        else:
            points.append(read_numbers(spline.points, "co", "f", 4).tobytes())
    return Shape(b"".join(points), 16, array("i", counts).tobytes())


def _with_weight(coordinates: Any) -> bytes:
    """Return points of three coordinates as points of four."""
    points = zip(coordinates[::3], coordinates[1::3], coordinates[2::3], strict=True)
    return array("f", chain.from_iterable((x, y, z, 1.0) for x, y, z in points)).tobytes()


def shape_of_balls(ball: Any, budget: Budget) -> Any:
    """Return the `Shape` of a metaball, or `UNREAD`."""
    if not budget.take_content(3 * len(ball.elements)):
        return UNREAD
    points = read_numbers(ball.elements, "co", "f", 3).tobytes()
    return Shape(points, 12, len(ball.elements).to_bytes(4, "big"))


def is_another(before: Shape, now: Shape) -> bool:
    """Return whether a shape was replaced, and not only edited.

    An edit moves points, connects them in another way, or adds some. It leaves most points where
    they were, or most connections as they were.
    """
    if before.topology == now.topology or not before.points:
        return False
    if _is_mostly_same(before.topology, now.topology, _CORNER_BYTES):
        return False
    if _is_mostly_same(before.points, now.points, before.point_size):
        return False
    old = set(_elements(before.points, before.point_size))
    left = old.intersection(_elements(now.points, now.point_size))
    return len(left) < _EDITED_SHARE * len(old)


def _is_mostly_same(before: bytes, now: bytes, size: int) -> bool:
    """Return whether most elements of `size` bytes are the same as before, place by place.

    Compares a sample of them.
    """
    step = max(1, len(before) // size // _MAX_SAMPLE) * size
    places = range(0, len(before), step)
    same = sum(before[at : at + size] == now[at : at + size] for at in places)
    return same >= _EDITED_SHARE * len(places)


def _elements(content: bytes, size: int) -> Iterable[bytes]:
    return (content[at : at + size] for at in range(0, len(content), size))
