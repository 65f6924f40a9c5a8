"""The numbers that geometry consists of, read at once. Main thread.

Since 4.0 they are read as attributes, as they lie in memory: 800,000 in 0.3 ms. Before, and with
the properties of each kind, they take 10 to 20 ms.
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
}
"""By the type of an attribute: the property of an element, its code for an array, its numbers."""
_BLANK: Final = {0, 1}  # the only numbers of a new UV map, and of new colors
_LEFT_SHARE: Final = 0.5  # of the points or faces: with fewer left, another shape took the place


class Layer(NamedTuple):
    """The content of an attribute.

    Attributes:
        digest: A digest of it.
        is_uniform: Whether all elements have the same value, so that there is little to lose.
    """

    digest: int
    is_uniform: bool


class Shape(NamedTuple):
    """What a geometry consists of.

    Attributes:
        points: The bytes of the coordinates, of each point after the other.
        size: The bytes of one point.
        topology: How the points are connected.
    """

    points: bytes
    size: int
    topology: tuple[bytes, ...]


def numbers(elements: Any, prop: str, code: str, size: int) -> Any:
    """Return a property of all elements of a list, as an array.

    Args:
        elements: The list.
        prop: The property.
        code: The code of the numbers for `array.array`.
        size: How many numbers the property has.
    """
    found = array(code, bytes(array(code).itemsize * size * len(elements)))
    elements.foreach_get(prop, found)
    return found


def layer_of(attribute: Any, budget: Budget) -> Any:
    """Return the `Layer` of an attribute, or `UNREAD`: also of types without numbers."""
    found = _numbers_of(attribute, budget)
    if found is UNREAD:
        return UNREAD
    _, _, size = _READS[attribute.data_type]
    content = found.tobytes()
    first = content[: size * found.itemsize]
    return Layer(hash(content), first * (len(found) // size) == content)


def is_blank(attribute: Any) -> bool:
    """Return whether an attribute has what a new one has: zeros, or zeros and ones in UV maps."""
    found = _numbers_of(attribute, Budget())
    if found is UNREAD:
        return False
    if not len(found):
        return False
    if attribute.data_type in ("FLOAT2", "FLOAT_COLOR", "BYTE_COLOR"):
        return set(found) <= _BLANK
    return not any(found)


def _numbers_of(attribute: Any, budget: Budget) -> Any:
    if attribute.data_type not in _READS:
        return UNREAD
    prop, code, size = _READS[attribute.data_type]
    if not budget.take_content(size * len(attribute.data)):
        return UNREAD
    return numbers(attribute.data, prop, code, size)


def map_of(uv_layer: Any, budget: Budget) -> Any:
    """Return the `Layer` of a UV map where UV maps are no attributes yet, or `UNREAD`."""
    if not budget.take_content(2 * len(uv_layer.data)):
        return UNREAD
    content = numbers(uv_layer.data, "uv", "f", 2).tobytes()
    return Layer(hash(content), content[:8] * len(uv_layer.data) == content)


def is_blank_map(uv_layer: Any) -> bool:
    """Return whether such a UV map is as a new one."""
    found = numbers(uv_layer.data, "uv", "f", 2)
    return len(found) > 0 and set(found) <= _BLANK


def shape_of_mesh(mesh: Any, budget: Budget) -> Any:
    """Return the `Shape` of a mesh, or `UNREAD`."""
    if not budget.take_content(3 * len(mesh.vertices) + len(mesh.loops) + len(mesh.polygons)):
        return UNREAD
    points = numbers(mesh.vertices, "co", "f", 3).tobytes()
    if not len(mesh.polygons):
        return Shape(points, 12, ())
    if _IS_ATTRIBUTES:
        corners = numbers(mesh.attributes[".corner_vert"].data, "value", "i", 1)
    else:
        corners = numbers(mesh.loops, "vertex_index", "i", 1)
    return Shape(points, 12, (corners.tobytes(),))


def shape_of_curve(curve: Any, budget: Budget) -> Any:
    """Return the `Shape` of a curve, or `UNREAD`."""
    counts = [len(spline.points) + len(spline.bezier_points) for spline in curve.splines]
    if not budget.take_content(4 * sum(counts) + len(counts)):
        return UNREAD
    points = []
    for spline in curve.splines:
        if spline.type == "BEZIER":
            points.append(_with_weight(numbers(spline.bezier_points, "co", "f", 3)))
        else:
            points.append(numbers(spline.points, "co", "f", 4).tobytes())
    return Shape(b"".join(points), 16, (array("i", counts).tobytes(),))


def _with_weight(coordinates: Any) -> bytes:
    """Return points of three coordinates as points of four."""
    points = zip(coordinates[::3], coordinates[1::3], coordinates[2::3], strict=True)
    return array("f", chain.from_iterable((x, y, z, 1.0) for x, y, z in points)).tobytes()


def shape_of_balls(ball: Any, budget: Budget) -> Any:
    """Return the `Shape` of a metaball, or `UNREAD`."""
    if not budget.take_content(3 * len(ball.elements)):
        return UNREAD
    points = numbers(ball.elements, "co", "f", 3).tobytes()
    return Shape(points, 12, (len(ball.elements).to_bytes(8, "big"),))


def is_another(before: Shape, now: Shape) -> bool:
    """Return whether a shape was replaced, and not only edited.

    An edit moves points, or connects them in another way, or adds some. It leaves either most
    points where they were, or most of the connections.
    """
    if before.topology == now.topology or not before.points:
        return False
    if _share(before.points, now.points, before.size) >= _LEFT_SHARE:
        return False
    return not _is_continued(before.topology, now.topology)


def _share(before: bytes, now: bytes, size: int) -> float:
    """Return the share of the pieces of some bytes that others have too."""
    old = set(_pieces(before, size))
    return len(old.intersection(_pieces(now, size))) / len(old)


def _pieces(content: bytes, size: int) -> Iterable[bytes]:
    return (content[at : at + size] for at in range(0, len(content), size))


def _is_continued(before: tuple[bytes, ...], now: tuple[bytes, ...]) -> bool:
    """Return whether most of the connections are there still, at the same place."""
    for old, new in zip(before, now, strict=False):
        same = sum(map(bytes.__eq__, _pieces(old, 4), _pieces(new, 4)))
        if old and 4 * same < _LEFT_SHARE * len(old):
            return False
    return len(before) == len(now)
