"""The contents that an object has without a recipe, and what became of them. Main thread.

FreeCAD computes most shapes from other objects. An imported shape, a mesh, a point cloud and a list
of numbers are only there: whoever replaces them takes them away. An *original* is such a content
as it was before a step. It is kept if it was moved, scaled or worked on, and lost if another
content has come in its place, or a part of it is missing. Measured in FreeCAD 0.20.2.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from .parts import is_blank, is_link, is_list_read

LostWords = Callable[[Any], str]  # takes the content of now; returns "" if nothing is lost

_TOLERANCE: Final = 1e-3  # how much two proportions of the same form differ at most
_PIECES: Final = ("Solid", "Shell", "Face", "Edge", "Vertex")
_MOST_COMPARED: Final = 200_000  # pairs of pieces; of larger shapes only some pieces are
_DRAWN: Final = re.compile("Property(.*List|FilletEdges)$")


def original_of(obj: Any, prop: str) -> LostWords | None:
    """Return a function that says what is lost of a property's content; None for no original.

    Args:
        obj: The object.
        prop: The property, before its first change.
    """
    make = _MAKERS.get((obj.TypeId, prop))
    if make is not None:
        return make(getattr(obj, prop))
    kind = str(obj.getTypeIdOfProperty(prop))
    if not _DRAWN.search(kind) or is_link(kind) or not is_list_read(obj, prop):
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
        step = 1 + len(pieces) * len(pieces_now) // _MOST_COMPARED
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
        if not now.CountFacets or (missing, original.CountPoints) == (0, now.CountPoints):
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
    places = {tuple(point) for point in before}
    return any(tuple(point) in places for point in now)


def _list(before: Any, prop: str) -> LostWords:
    count = _length(before)

    def words(now: Any) -> str:
        left = _length(now)
        if not left or left >= count:
            return ""
        return f"{count - left} of {count} {prop}"

    return words


def _length(entries: Any) -> int:
    """Return how many entries a list has, without blank texts."""
    return sum(not is_blank(entry) for entry in entries)


_MAKERS: Final[dict[tuple[str, str], Callable[[Any], LostWords | None]]] = {
    ("Part::Feature", "Shape"): _shape,
    ("Mesh::Feature", "Mesh"): _mesh,
    ("Points::Feature", "Points"): _points,
}
"""The functions that keep an original, by the object's type and its property."""
