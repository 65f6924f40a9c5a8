"""The edges of an object's shape, each with words that say where it is. Main thread.

FreeCAD counts the edges of a shape, and counts anew when it computes the shape: Edge7 may then be
another one. So an edge is an item by words that describe it: ``Pad/edge:z +x -y`` is the straight
edge along Z at the right and at the front of Pad. The words are

==========================  =====================================================================
``x`` ``y`` ``z``           a straight edge along this axis; ``vertical`` is ``z``
``line`` ``circle``         a straight edge, a full circle; also ``arc``, ``ellipse`` and ``curve``
``+x`` ``-x`` ``+y`` ...    on this side of the whole shape; also ``right`` ``left`` ``back``
                            ``front`` ``top`` ``bottom``
``x=15`` ``y=2`` ``z=0``    its middle, or the centre of a circle, is here
``r=4`` ``l=80``            its radius, its length
``#2``                      the second of those that are alike in all of this
``all``                     every edge
==========================  =====================================================================

All words have to hold, so the name of an edge is only the longest way to select it. The axes are
those of the object itself, and those of the body if the object is a step in the making of one.

A view on a drawing page has edges too: X is to the right and Y to the top of the page, from the
middle of the view, in mm of what is drawn. There ``top`` is ``+y``, and ``vertical`` is ``y``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final

import FreeCAD

from .shape_edges import AXES, Edge, read_edges, rounded

EDGE: Final = "Edge"  # the type of an edge, as an item
PART: Final = "/edge:"  # between an object and the words of an edge
_KINDS: Final = ("line", "circle", "arc", "ellipse", "curve")
_SYNONYMS: Final = {
    "vertical": "z",
    "right": "+x",
    "left": "-x",
    "back": "+y",
    "front": "-y",
    "top": "+z",
    "bottom": "-z",
}
_ON_PAGE: Final = {
    "horizontal": "x",
    "vertical": "y",
    "right": "+x",
    "left": "-x",
    "top": "+y",
    "bottom": "-y",
}
"""The meaning of the words in a view on a drawing page."""
_VIEW: Final = "TechDraw::DrawViewPart"
_SIDE: Final = re.compile("[+-][xyz]")
_SIZE: Final = re.compile(r"([xyzrl])=(-?\d+(?:\.\d+)?)")
_NUMBER: Final = re.compile(r"#(\d+)")
_HELP: Final = (
    "the words are x y z line circle arc ellipse curve, +x -x and so on, right left back front top "
    "bottom vertical, x=15 and so on, r=4, l=80, all"
)
_TOLERANCE: Final = 6e-4  # mm, between the number of a name and the edge
_MAX_NEAR: Final = 5  # edges that an error names
_MAX_KNOWN: Final = 8  # shapes whose edges are remembered


@dataclass(slots=True)
class Edges:
    """The edges of a shape, with their names.

    Attributes:
        owner: The object's name, for errors.
        edges: The edges, in FreeCAD's order, without seams, which are no corner of anything.
        size: The largest extent of the shape in mm.
        is_flat: Whether it is a view on a drawing page.
        names: The edges by their names.
    """

    owner: str
    edges: Sequence[Edge]
    size: float
    is_flat: bool = False
    names: dict[str, Edge] = field(default_factory=dict)

    def __post_init__(self) -> None:
        axes = AXES[:2] if self.is_flat else AXES
        self.names = dict(zip(_names(self.edges, axes), self.edges, strict=True))

    def name(self, number: int) -> str | None:
        """Return the name of the edge with FreeCAD's number; None for one that has no name."""
        for name, edge in self.names.items():
            if edge.number == number:
                return name
        return None

    def select(self, words: str) -> list[Edge]:
        """Return the edges of which all words are true.

        Raises:
            LookupError: There is none; the error names the nearest ones.
            ValueError: A word says nothing of an edge.
        """
        exact = self.names.get(words.strip())
        if exact is not None:
            return [exact]
        tokens = _tokens(words, _ON_PAGE if self.is_flat else _SYNONYMS)
        numbers = [int(token[1:]) for token in tokens if _NUMBER.fullmatch(token)]
        conditions = [token for token in tokens if not _NUMBER.fullmatch(token)]
        found = [edge for edge in self.edges if all(_is_true(edge, each) for each in conditions)]
        for number in numbers:
            found = found[number - 1 : number]
        if not found:
            raise LookupError(f"{self.owner} has no edge {words!r}.{self._nearest(conditions)}")
        return found

    def one(self, words: str) -> Edge:
        """Return the edge of a name, or the only edge of which all words are true.

        Raises:
            LookupError: There is none, or more than one.
            ValueError: A word says nothing of an edge.
        """
        found = self.select(words)
        if len(found) > 1:
            names = [str(self.name(edge.number)) for edge in found[:_MAX_NEAR]]
            more = " ..." if len(found) > _MAX_NEAR else ""
            raise LookupError(
                f"{len(found)} edges of {self.owner} are {words!r}; name one: "
                f"{', '.join(names)}{more}."
            )
        return found[0]

    def near(self, edge: Edge) -> list[str]:
        """Return the names of the edges that are nearest to an edge of another shape."""
        ranked = sorted(self.names, key=lambda name: math.dist(self.names[name].place, edge.place))
        return ranked[:_MAX_NEAR]

    def _nearest(self, tokens: Sequence[str]) -> str:
        """Return a sentence with the edges of which the most words are true."""
        if not self.edges and self.is_flat:
            return " Nothing of it is drawn: put it into the Views of a page first."
        if not self.edges:
            return " Its shape has no edges."

        def distance(name: str) -> float:
            edge = self.names[name]
            return sum(_distance(edge, token, self.size) for token in tokens)

        ranked = sorted(self.names, key=distance)
        return f" The nearest are: {', '.join(ranked[:_MAX_NEAR])}."


def parted(item: str) -> tuple[str, str] | None:
    """Return the object and the words of an item that reads as an edge; None for another item."""
    owner, part, words = item.rpartition(PART)
    if not part:
        return None
    return owner, words


def edges_of(obj: Any) -> Edges:
    """Return the edges of an object's own shape; none if it has none, as a link, or an endless one.

    Args:
        obj: An object, computed.
    """
    return edges_in(obj, outline_of(obj))


def outline_of(obj: Any) -> Any:
    """Return the shape whose edges an object has, or what is drawn of a view; None without one."""
    if is_view(obj):
        return _drawn(obj)
    # A link has the shape of its object, or leads back for ever.
    if "Shape" not in obj.PropertiesList or obj.isDerivedFrom("Part::Datum"):
        return None
    return obj.Shape


def is_view(obj: Any) -> bool:
    """Return whether an object is a view of shapes on a drawing page."""
    return bool(obj.isDerivedFrom(_VIEW))


def is_empty(shape: Any) -> bool:
    """Return whether a value is no shape, or one of nothing."""
    # Asking a shape for its Edges makes all of them.
    return not hasattr(shape, "isNull") or bool(shape.isNull())


def is_step(obj: Any) -> bool:
    """Return whether an object is a step in the making of a body, and so in the body's axes."""
    if not obj.isDerivedFrom("PartDesign::Feature"):
        return False
    return obj.getParentGeoFeatureGroup() is not None


_known: Final[list[tuple[Any, str, Edges]]] = []
"""The newest shapes with their owners and edges: a list asks for the same ones again and again."""


def edges_in(obj: Any, outline: Any) -> Edges:
    """Return the edges of an object's outline as it is, or as it was.

    Args:
        obj: The object.
        outline: As `outline_of` has returned it.
    """
    owner = str(obj.Name)
    if is_empty(outline):
        return Edges(owner, (), 0.0, is_flat=is_view(obj))
    for known, its_owner, edges in _known:
        if its_owner == owner and known.isSame(outline):
            return edges
    if is_view(obj):
        edges = _edges_of_view(owner, outline)
    else:
        edges = Edges(owner, *read_edges(shape_in_axes(obj, outline)))
    _known.append((outline, owner, edges))
    del _known[:-_MAX_KNOWN]
    return edges


def shape_in_axes(obj: Any, shape: Any) -> Any:
    """Return a shape of an object in the axes in which its edges are told.

    Those are the object's own; of a step in the making of a body, whose placement is a part of the
    shape, those of the body.
    """
    if is_step(obj):
        return shape
    own = shape.copy(False)
    own.Placement = FreeCAD.Placement()
    return own


def _edges_of_view(owner: str, drawn: Any) -> Edges:
    """Return the edges of a view, which FreeCAD counts from 0."""
    edges, size = read_edges(drawn)
    counted = [replace(edge, number=edge.number - 1) for edge in edges]
    return Edges(owner, counted, size, is_flat=True)


def _drawn(view: Any) -> Any:
    """Return what is drawn of a view, whose edges FreeCAD tells one by one."""
    import Part

    edges: list[Any] = []
    with suppress(ValueError):  # at the end
        while True:
            edges.append(view.getEdgeByIndex(len(edges)))
    return Part.Compound(edges)


# ---- names and words


def _names(edges: Sequence[Edge], axes: str) -> list[str]:
    """Return a name for each edge: as few words as tell it from the others."""
    words = [_words(edge, axes) for edge in edges]
    alike = Counter(words)
    for number, edge in enumerate(edges):
        if alike[words[number]] > 1:
            words[number] += _further_words(edge)
    alike = Counter(words)
    counts = Counter[str]()
    names = []
    for each in words:
        counts[each] += 1
        name = each
        if alike[each] > 1:
            name = f"{each} #{counts[each]}"
        names.append(name)
    return names


def _words(edge: Edge, axes: str) -> str:
    """Return what an edge is, and where it is along each axis that it does not run along."""
    words = [edge.axis or edge.curve]
    for axis, place in zip(axes, edge.place, strict=False):
        if axis == edge.axis:
            continue
        side = next((each for each in edge.sides if each[1] == axis), None)
        words.append(side or f"{axis}={rounded(place)}")
    return " ".join(words)


def _further_words(edge: Edge) -> str:
    """Return the words that tell edges apart in the same place: two holes of one centre."""
    if edge.axis:
        along = edge.place[AXES.index(edge.axis)]
        return f" {edge.axis}={rounded(along)}"
    if edge.radius:
        return f" r={rounded(edge.radius)}"
    return f" l={rounded(edge.length)}"


def _tokens(words: str, synonyms: Mapping[str, str]) -> list[str]:
    """Return the words of an edge, synonyms as what they mean.

    Raises:
        ValueError: A word says nothing of an edge.
    """
    tokens = []
    for word in words.replace(",", " ").split():
        token = synonyms.get(word.lower(), word.lower())
        is_known = token in (*AXES, *_KINDS, "all") or any(
            pattern.fullmatch(token) for pattern in (_SIDE, _SIZE, _NUMBER)
        )
        if not is_known:
            raise ValueError(f"{word!r} says nothing of an edge: {_HELP}.")
        tokens.append(token)
    if not tokens:
        raise ValueError(f"Say which edge: {_HELP}.")
    return tokens


def _is_true(edge: Edge, token: str) -> bool:
    """Return whether a word is true of an edge."""
    if token == "all":
        return True
    if token in AXES:
        return edge.axis == token
    if token in _KINDS:
        return edge.curve == token
    if _SIDE.fullmatch(token):
        return token in edge.sides
    name, number = token.split("=")
    return abs(_size(edge, name) - float(number)) < _TOLERANCE


def _distance(edge: Edge, token: str, size: float) -> float:
    """Return how far a word is from being true of an edge: 0 for true, 1 for not at all."""
    if _is_true(edge, token):
        return 0.0
    if _SIZE.fullmatch(token) is None:
        return 1.0
    name, number = token.split("=")
    return min(1.0, abs(_size(edge, name) - float(number)) / max(size, _TOLERANCE))


def _size(edge: Edge, name: str) -> float:
    if name == "r":
        return edge.radius
    if name == "l":
        return edge.length
    return edge.place[AXES.index(name)]


def names_in(edges: Edges, numbers: Sequence[int]) -> Iterator[str]:
    """Yield the items of edges by FreeCAD's numbers; "Edge7" of one that has no name."""
    for number in numbers:
        name = edges.name(number)
        yield f"{edges.owner}/Edge{number}" if name is None else f"{edges.owner}{PART}{name}"
