"""Finds the edges of a shape again in the shape that FreeCAD has computed in its place.

Edges are *alike* if they are of the same kind of curve, run the same way, and the same kinds of
faces meet there: no size changes that. Of the edges that are alike in both shapes, each old one is
given the new one that is nearest, so that all of them together have moved the least. An edge moves
when its line moves; that it gets longer, or is cut, hardly counts. Faces are found again in the
same way, as `shape_faces` tells them. Main thread.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import itemgetter

from .edges import Edges
from .shape_edges import Edge
from .shape_faces import PLANE

_CLOSED_AND_OPEN = {"arc": "circle"}  # a hole that is cut open is the same hole
_MAX_PAIRS = 40_000  # of alike edges that are compared all with all
_SAME_WAY = 0.7  # cosine of the angle by which an edge may turn
_ON_LINE = 1e-4  # mm from the line of an edge, for its other pieces
_ALONG = 0.01  # how much a way along the line of an edge counts beside one across it
_OFF_SIDE = 0.25  # of the shape's size: a way as bad as leaving a side of the shape
_CLEARLY = 4.0  # times as far as the nearest edge has to be any other one that is as alike


def heirs(old: Edges, numbers: Sequence[int], new: Edges) -> tuple[dict[int, int], Edge | None]:
    """Return edges of a new shape, each with the edge that it was.

    An edge that was split is all of its pieces.

    Args:
        old: The edges of the shape as it was.
        numbers: FreeCAD's numbers of some of them.
        new: The edges of the shape as it is.

    Returns:
        FreeCAD's numbers in the new shape with those in the old one, and the first of the edges
        that is not in the new shape, with which it ends: it takes long to look for each.
    """
    size = max(old.size, new.size)
    pairs = _paired_alike(old.edges, new.edges, size)
    taken = {edge.number for edge in pairs.values()}
    free = [edge for edge in new.edges if edge.number not in taken]
    kept = {pairs[number].number for number in pairs if number not in numbers}
    origins: dict[int, int] = {}
    for number in numbers:
        edge = next((each for each in old.edges if each.number == number), None)
        if edge is None:
            continue
        heir = pairs.get(number) or _most_alike(edge, free, size)
        if heir is None:
            return origins, edge
        others = [each for each in new.edges if _is_piece(each, heir)]
        origins[heir.number] = number
        is_all_its_own = not any(each.number in kept for each in others)
        for each in others:
            is_new_piece = each.number not in taken and _is_beside(each, edge)
            if is_all_its_own or is_new_piece:
                origins.setdefault(each.number, number)
    return origins, None


def count_uncompared(edge: Edge, old: Edges, new: Edges) -> int:
    """Return how many old edges are alike, if those of an edge's kind are too many to compare.

    Returns:
        0 if they were compared, so that an edge without an heir is gone.
    """
    alike = [each for each in old.edges if _kind(each) == _kind(edge)]
    alike_now = [each for each in new.edges if _kind(each) == _kind(edge)]
    if len(alike) * len(alike_now) <= _MAX_PAIRS:
        return 0
    return len(alike)


def _kind(edge: Edge) -> tuple[object, ...]:
    """Return what no size changes of an edge."""
    direction = tuple(round(each, 3) for each in edge.direction)
    return _CLOSED_AND_OPEN.get(edge.curve, edge.curve), direction, edge.faces


def _paired_alike(old: Sequence[Edge], new: Sequence[Edge], size: float) -> dict[int, Edge]:
    """Return the new edge of each old one that has one of its kind, by the old one's number."""
    old_by_kind: dict[object, list[Edge]] = {}
    new_by_kind: dict[object, list[Edge]] = {}
    for edges, by_kind in ((old, old_by_kind), (new, new_by_kind)):
        for edge in edges:
            by_kind.setdefault(_kind(edge), []).append(edge)
    pairs: dict[int, Edge] = {}
    for kind, edges in old_by_kind.items():
        pairs |= _paired(edges, new_by_kind.get(kind, []), size)
    return pairs


def _paired(old: Sequence[Edge], new: Sequence[Edge], size: float) -> dict[int, Edge]:
    """Pair alike edges, so that the sum of the squares of their ways is the least."""
    if len(old) * len(new) > _MAX_PAIRS:
        return _unmoved(old, new)
    pairs: dict[int, Edge] = {}
    ways = sorted((_way(a, b, size), a.number, b.number) for a in old for b in new)
    by_number = {edge.number: edge for edge in new}
    for _, number, heir in ways:
        if number not in pairs and heir in by_number:
            pairs[number] = by_number.pop(heir)
    _exchange([edge for edge in old if edge.number in pairs], pairs, size)
    return pairs


def _unmoved(old: Sequence[Edge], new: Sequence[Edge]) -> dict[int, Edge]:
    """Pair the alike edges that have not moved, where there are too many to compare."""
    pairs: dict[int, Edge] = {}
    by_place = {_place(edge): edge for edge in new}
    for edge in old:
        if _place(edge) in by_place:
            pairs[edge.number] = by_place.pop(_place(edge))
    return pairs


def _exchange(old: Sequence[Edge], pairs: dict[int, Edge], size: float) -> None:
    """Exchange the heirs of two edges for as long as both together have moved less then."""
    is_better = True
    while is_better:
        is_better = False
        for first, second in _twos(old):
            mine = pairs[first.number]
            other = pairs[second.number]
            now = _way(first, mine, size) + _way(second, other, size)
            then = _way(first, other, size) + _way(second, mine, size)
            if then < now - 1e-9:
                pairs[first.number] = other
                pairs[second.number] = mine
                is_better = True


def _twos(edges: Sequence[Edge]) -> Iterator[tuple[Edge, Edge]]:
    for number, first in enumerate(edges):
        for second in edges[number + 1 :]:
            yield first, second


def _most_alike(edge: Edge, free: Sequence[Edge], size: float) -> Edge | None:
    """Return the new edge of an old one of whose kind there is none any more.

    It is of the same curve, runs about the same way, and has as many faces of the old one as any.

    Returns:
        None if there is no such edge, or if another one is nearly as near.
    """
    found = []
    for other in free:
        is_same_curve = _kind(edge)[0] == _kind(other)[0]
        is_same_way = abs(sum(map(_times, edge.direction, other.direction))) >= _SAME_WAY
        shared = len({*edge.faces} & {*other.faces})
        if (
            is_same_curve
            and (is_same_way or not any(edge.direction))
            and (shared or not edge.faces)
        ):
            found.append((-shared, _way(edge, other, size), other.number, other))
    found.sort(key=itemgetter(slice(3)))
    if not found:
        return None
    shared, way, _, nearest = found[0]
    for other_shared, other_way, _, _ in found[1:2]:
        if other_shared == shared and other_way < _CLEARLY * way:
            return None
    return nearest


def _is_piece(edge: Edge, of: Edge) -> bool:
    """Return whether an edge is on the line of another one, between the same faces.

    For flat faces: whether they are in one plane.
    """
    is_straight = edge.curve in ("line", PLANE)
    if not is_straight or _kind(edge) != _kind(of):
        return edge.number == of.number
    return _ways(edge, of)[1] < _ON_LINE


def _is_beside(piece: Edge, edge: Edge) -> bool:
    """Return whether the middle of a piece is between the ends of a straight edge, seen across."""
    return abs(_ways(edge, piece)[0]) < edge.length / 2


def _way(first: Edge, second: Edge, size: float) -> float:
    """Return the square of how far an edge has moved to become another one."""
    along, across = _ways(first, second)
    sides = {*first.sides} ^ {*second.sides}
    off_sides = 0
    if across > _ON_LINE:
        off_sides = len(sides)
    return across**2 + _ALONG * along**2 + off_sides * (_OFF_SIDE * size) ** 2


def _ways(first: Edge, second: Edge) -> tuple[float, float]:
    """Return how far the middles of two edges are apart along the first one, and across it."""
    way = [a - b for a, b in zip(second.place, first.place, strict=True)]
    if first.curve not in ("line", PLANE):
        return 0.0, math.hypot(*way)
    along = sum(map(_times, way, first.direction))
    across = math.dist(way, [along * each for each in first.direction])
    if first.curve == PLANE:  # its direction is across the plane
        return across, abs(along)
    return along, across


def _place(edge: Edge) -> tuple[float, ...]:
    return tuple(round(each, 4) for each in edge.place)


def _times(first: float, second: float) -> float:
    return first * second
