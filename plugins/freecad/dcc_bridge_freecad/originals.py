"""Originals: contents that FreeCAD cannot compute again, and how they are lost. Main thread.

FreeCAD computes most shapes from other objects. An imported shape, a mesh, a point cloud and a list
of numbers have no such source. An *original* is the content of such a property before a step. It is
lost if another content has replaced it, or if a part of it is missing; it is not lost if it was
moved, scaled or worked on. Measured in FreeCAD 0.20.2.

Each function that takes an original returns a `LostWords`, which is called with the later content.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from .parts import is_blank, is_link, is_list_read

LostWords = Callable[[Any], str]
"""Takes the content of now; returns the words for what is lost, "" for nothing."""

_TOLERANCE: Final = 1e-3  # the largest relative difference of equal proportions and boxes
_PIECES: Final = ("Solid", "Shell", "Face", "Edge", "Vertex")
_MAX_COMPARED_PAIRS: Final = 200_000  # of pieces; of a larger shape a sample is compared
_WRITTEN_LISTS: Final = re.compile("Property(.*List|FilletEdges)$")


def original_of(obj: Any, prop: str) -> LostWords | None:
    """Return the `LostWords` of a property's content as it is now; None if that is no original.

    Args:
        obj: The object.
        prop: The property, before its first change.
    """
    keep = _KEEPERS.get((obj.TypeId, prop))
    if keep is not None:
        return keep(getattr(obj, prop))
    kind = str(obj.getTypeIdOfProperty(prop))
    if not _WRITTEN_LISTS.search(kind) or is_link(kind) or not is_list_read(obj, prop):
        return None
    return _list(getattr(obj, prop), prop)


def _shape(before: Any) -> LostWords | None:
    if before.isNull():
        return None

    def words(now: Any) -> str:
        if now.isNull() or _comes_from(before, now):
            return ""
        return "old shape"

    return words


def _comes_from(before: Any, now: Any) -> bool:
    """Return whether a shape was made of another one: moved, scaled, or worked on.

    FreeCAD keeps the faces, edges and points that an operation leaves alone. Where it keeps none,
    as when all edges are rounded, the new shape has at least as many faces in the same space.
    """
    if before.isPartner(now) or _have_common_pieces(before, now):
        return True
    counts_before = [before.countElement(piece) for piece in _PIECES]
    counts_now = [now.countElement(piece) for piece in _PIECES]
    if counts_before == counts_now:
        return _have_one_form(before, now)
    faces = _PIECES.index("Face")
    has_as_many = counts_now[faces] >= counts_before[faces] > 0
    return has_as_many and _fill_one_space(before, now)


def _have_common_pieces(before: Any, now: Any) -> bool:
    """Return whether two shapes have a face, edge or point in common, wherever it is now.

    The hash codes of pieces are of no use: they change with the place, and in a recompute.
    """
    for name in ("Faces", "Edges", "Vertexes"):
        pieces = getattr(before, name)
        pieces_now = getattr(now, name)
        step = 1 + len(pieces) * len(pieces_now) // _MAX_COMPARED_PAIRS
        for piece in pieces[::step]:
            if any(piece.isPartner(other) for other in pieces_now):
                return True
    return False


def _have_one_form(before: Any, now: Any) -> bool:
    """Return whether two shapes have the same proportions, so that one may be the other scaled."""
    for first, second in zip(_proportions(before), _proportions(now), strict=True):
        if abs(first - second) > _TOLERANCE * max(abs(first), abs(second)):
            return False
    return True


def _proportions(shape: Any) -> tuple[float, float]:
    """Return the volume and the length of a shape in relation to its area, whatever its size."""
    area = float(shape.Area)
    if not area:
        return 0.0, 0.0
    return abs(shape.Volume) / area**1.5, shape.Length / area**0.5


def _fill_one_space(before: Any, now: Any) -> bool:
    first = before.BoundBox
    second = now.BoundBox
    limit = _TOLERANCE * max(first.DiagonalLength, second.DiagonalLength)
    for name in ("XMin", "XMax", "YMin", "YMax", "ZMin", "ZMax"):
        if abs(getattr(first, name) - getattr(second, name)) > limit:
            return False
    return True


def _mesh(before: Any) -> LostWords | None:
    count = before.CountFacets
    if not count:
        return None
    original = before.copy()  # FreeCAD writes the new mesh into the old one

    def words(now: Any) -> str:
        missing = count - now.CountFacets
        if not now.CountFacets:  # an empty mesh is a lost part, see `parts`
            return ""
        if not missing and now.CountPoints == original.CountPoints:
            return ""
        if missing > 0:
            return f"{missing} of {count} facets"
        if _have_common_points(original.Topology[0], now.Topology[0]):
            return ""
        return "old mesh"

    return words


def _points(before: Any) -> LostWords | None:
    count = before.CountPoints
    if not count:
        return None
    original = before.copy()  # FreeCAD writes the new points into the old ones

    def words(now: Any) -> str:
        missing = count - now.CountPoints
        if not now.CountPoints or not missing:
            return ""
        if missing > 0:
            return f"{missing} of {count} points"
        if _have_common_points(original.Points, now.Points):
            return ""
        return "old points"

    return words


def _have_common_points(before: Any, now: Any) -> bool:
    coordinates = {tuple(point) for point in before}
    return any(tuple(point) in coordinates for point in now)


def _list(before: Any, prop: str) -> LostWords:
    count = _length(before)

    def words(now: Any) -> str:
        count_now = _length(now)
        if not count_now or count_now >= count:  # an empty list is a lost part, see `parts`
            return ""
        return f"{count - count_now} of {count} {prop}"

    return words


def _length(entries: Any) -> int:
    """Return how many entries a list has, without blank texts."""
    return sum(not is_blank(entry) for entry in entries)


_KEEPERS: Final[dict[tuple[str, str], Callable[[Any], LostWords | None]]] = {
    ("Part::Feature", "Shape"): _shape,
    ("Mesh::Feature", "Mesh"): _mesh,
    ("Points::Feature", "Points"): _points,
}
"""The functions that take an original, by the object's type and the property."""
