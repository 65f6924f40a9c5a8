"""The marks in a picture of a question: rectangles around what goes, in pixels. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dcc_bridge.verbs.framing import spot
from dcc_bridge.verbs.operations import Bounds, Shot

WIDTH: Final = 480
HEIGHT: Final = 300
ASPECT: Final = WIDTH / HEIGHT
_MAX_SINGLE: Final = 20  # marks of which each is drawn; more hide what they are around
_LEAST_MARK_PX: Final = 14
_OUTSIDE_PX: Final = 2  # between an item and the mark around it
Mark = tuple[int, int, int, int]  # the left, upper, right and lower edge


def marks_around(shot: Shot, boxes: Sequence[Bounds]) -> list[Mark]:
    """Return the marks around the boxes that a picture shows."""
    marks = []
    for box in boxes:
        place = spot(shot, box, ASPECT)
        if place is not None and place.area:
            left, right = _edges(place.left, place.right, WIDTH)
            top, bottom = _edges(place.top, place.bottom, HEIGHT)
            marks.append((left, top, right, bottom))
    return marks


def joined(marks: Sequence[Mark]) -> list[Mark]:
    """Return marks without those inside of others; of many, those that overlap are one."""
    are_many = len(marks) > _MAX_SINGLE
    separate: list[Mark] = []
    for mark in marks:
        whole = mark
        near = _find_near(whole, separate, are_many=are_many)
        while near is not None:  # a larger mark may reach others
            separate.remove(near)
            whole = _around_both(whole, near)
            near = _find_near(whole, separate, are_many=are_many)
        separate.append(whole)
    return separate


def _find_near(mark: Mark, others: Sequence[Mark], *, are_many: bool) -> Mark | None:
    """Return a mark that is to be joined with another one; None if there is none."""
    for other in others:
        is_inside = _around_both(mark, other) in (mark, other)
        if is_inside or (are_many and _overlap(mark, other)):
            return other
    return None


def _around_both(one: Mark, other: Mark) -> Mark:
    low = min(one[0], other[0]), min(one[1], other[1])
    high = max(one[2], other[2]), max(one[3], other[3])
    return (*low, *high)


def _overlap(one: Mark, other: Mark) -> bool:
    is_across = one[0] <= other[2] and other[0] <= one[2]
    is_down = one[1] <= other[3] and other[1] <= one[3]
    return is_across and is_down


def _edges(low: float, high: float, size: int) -> tuple[int, int]:
    """Return the two edges of a mark along one axis, in pixels inside of the picture.

    Args:
        low: The lower edge of the item, as a share of the picture.
        high: Its higher edge.
        size: The size of the picture in pixels.
    """
    middle = (low + high) / 2 * size
    half = max((high - low) / 2 * size + _OUTSIDE_PX, _LEAST_MARK_PX / 2)
    first = min(max(round(middle - half), 0), size - _LEAST_MARK_PX)
    last = max(min(round(middle + half), size - 1), first + _LEAST_MARK_PX - 1)
    return first, last
