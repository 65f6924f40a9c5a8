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
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import FreeCAD

EDGE: Final = "Edge"  # the type of an edge, as an item
PART: Final = "/edge:"  # between an object and the words of an edge
_AXES: Final = "xyz"
_LINE: Final = "Part::GeomLine"
_CURVES: Final = {_LINE: "line", "Part::GeomCircle": "circle", "Part::GeomEllipse": "ellipse"}
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
_SIDE: Final = re.compile("[+-][xyz]")
_SIZE: Final = re.compile(r"([xyzrl])=(-?\d+(?:\.\d+)?)")
_NUMBER: Final = re.compile(r"#(\d+)")
_HELP: Final = (
    "the words are x y z line circle arc ellipse curve, +x -x and so on, right left back front top "
    "bottom vertical, x=15 and so on, r=4, l=80, all"
)
_DIGITS: Final = 3  # of the numbers in a name
_TOLERANCE: Final = 6e-4  # mm, between the number of a name and the edge
_ON_SIDE: Final = 1e-6  # of the shape's size: how far an edge on a side may be from it
_PARALLEL: Final = 1e-6
_POINTS: Final = 33  # on a curved edge, by which its extent is measured
_MAX_NEAR: Final = 5  # edges that an error names
_MAX_KNOWN: Final = 8  # shapes whose edges are remembered

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a shape.

    Attributes:
        number: The number by which FreeCAD knows it now: 7 of Edge7.
        curve: "line", "circle", "arc", "ellipse" or "curve".
        direction: Of a line, or the axis of a circle or an arc; its first coordinate that is not
            zero is positive. (0, 0, 0) of other curves.
        place: The middle of the edge; of a full circle the centre.
        length: In mm.
        radius: Of a circle or an arc; 0 of other curves.
        sides: The sides of the shape on which the whole edge is: "+x".
        faces: What the faces are that meet there: "+z" for a plane that faces up, "cylinder",
            "hole" for a cylinder that is seen from within.
    """

    number: int
    curve: str
    direction: Point
    place: Point
    length: float
    radius: float
    sides: tuple[str, ...]
    faces: tuple[str, ...]

    @property
    def axis(self) -> str:
        """The axis along which a straight edge runs: "x"; "" for no axis or no line."""
        if self.curve != "line":
            return ""
        return _axis_of(self.direction)


@dataclass(slots=True)
class Edges:
    """The edges of a shape, with their names.

    Attributes:
        owner: The object's name, for errors.
        edges: The edges, in FreeCAD's order, without seams, which are no corner of anything.
        size: The largest extent of the shape in mm.
    """

    owner: str
    edges: Sequence[Edge]
    size: float
    names: dict[str, Edge] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.names = dict(zip(_names(self.edges), self.edges, strict=True))

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
        tokens = _tokens(words)
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
        if not self.edges:
            return " Its shape has no edges."

        def distance(name: str) -> float:
            edge = self.names[name]
            return sum(_distance(edge, token, self.size) for token in tokens)

        ranked = sorted(self.names, key=distance)
        return f" The nearest are: {', '.join(ranked[:_MAX_NEAR])}."


def parted(item: str) -> tuple[str, str] | None:
    """Return the object and the words of an item that is an edge; None for another item."""
    owner, part, words = item.partition(PART)
    if not part:
        return None
    return owner, words


def edges_of(obj: Any) -> Edges:
    """Return the edges of an object's own shape; none if it has none, as a link, or an endless one.

    Args:
        obj: An object, computed.
    """
    shape = None
    # A link has the shape of its object, or leads back for ever.
    if "Shape" in obj.PropertiesList and not obj.isDerivedFrom("Part::Datum"):
        shape = obj.Shape
    return edges_of_shape(str(obj.Name), shape, is_step(obj))


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


def edges_of_shape(owner: str, shape: Any, is_placed: bool) -> Edges:
    """Return the edges of a shape.

    Args:
        owner: The name of its object.
        shape: The shape; None for no edges.
        is_placed: Whether its own placement belongs to the axes.
    """
    if is_empty(shape):
        return Edges(owner, (), 0.0)
    for known, its_owner, edges in _known:
        if its_owner == owner and known.isSame(shape):
            return edges
    own = shape
    if not is_placed:
        own = shape.copy(False)
        own.Placement = FreeCAD.Placement()
    edges = _read(owner, own)
    _known.append((shape, owner, edges))
    del _known[:-_MAX_KNOWN]
    return edges


# ---- names and words


def _names(edges: Sequence[Edge]) -> list[str]:
    """Return a name for each edge: as few words as tell it from the others."""
    words = [_words(edge) for edge in edges]
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


def _words(edge: Edge) -> str:
    """Return what an edge is, and where it is along each axis that it does not run along."""
    words = [edge.axis or edge.curve]
    for axis, place in zip(_AXES, edge.place, strict=True):
        if axis == edge.axis:
            continue
        side = next((each for each in edge.sides if each[1] == axis), None)
        words.append(side or f"{axis}={rounded(place)}")
    return " ".join(words)


def _further_words(edge: Edge) -> str:
    """Return the words that tell edges apart in the same place: two holes of one centre."""
    if edge.axis:
        along = edge.place[_AXES.index(edge.axis)]
        return f" {edge.axis}={rounded(along)}"
    if edge.radius:
        return f" r={rounded(edge.radius)}"
    return f" l={rounded(edge.length)}"


def rounded(number: float) -> str:
    """Return a number as a name has it: 15, 12.5, 0.333."""
    text = f"{number:.{_DIGITS}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _tokens(words: str) -> list[str]:
    """Return the words of an edge, synonyms as what they mean.

    Raises:
        ValueError: A word says nothing of an edge.
    """
    tokens = []
    for word in words.replace(",", " ").split():
        token = _SYNONYMS.get(word.lower(), word.lower())
        is_known = token in (*_AXES, *_KINDS, "all") or any(
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
    if token in _AXES:
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
    return min(1.0, abs(_size(edge, name) - float(number)) / max(size, _ON_SIDE))


def _size(edge: Edge, name: str) -> float:
    if name == "r":
        return edge.radius
    if name == "l":
        return edge.length
    return edge.place[_AXES.index(name)]


# ---- reading a shape


def _read(owner: str, shape: Any) -> Edges:
    """Return the edges of a shape, in the axes in which it is."""
    faces_of = _faces_by_edge(shape)
    all_faces = shape.Faces
    face_words = [_face_word(face) for face in all_faces]
    extents = [_extent(edge) for edge in shape.Edges]
    if not extents:
        return Edges(owner, (), 0.0)
    low = [min(extent[0][axis] for extent in extents) for axis in range(3)]
    high = [max(extent[1][axis] for extent in extents) for axis in range(3)]
    size = max(math.dist(low, high), _ON_SIDE)
    edges = []
    for number, (edge, extent) in enumerate(zip(shape.Edges, extents, strict=True), 1):
        faces = faces_of.get(edge.hashCode(), [])
        is_corner = len(faces) != 1 or not _is_seam(edge, all_faces[faces[0]])
        if edge.Degenerated or not is_corner:
            continue
        words = tuple(sorted(face_words[face] for face in faces))
        edges.append(_edge(number, edge, _sides(extent, low, high, size), words))
    return Edges(owner, edges, size)


def _faces_by_edge(shape: Any) -> dict[int, list[int]]:
    """Return the numbers of the faces at each edge, by the edge's hash code."""
    faces: dict[int, list[int]] = {}
    for number, face in enumerate(shape.Faces):
        for code in {edge.hashCode() for edge in face.Edges}:
            faces.setdefault(code, []).append(number)
    return faces


def _is_seam(edge: Any, face: Any) -> bool:
    """Return whether an edge is where a face meets itself, as on a cylinder."""
    return any(edge.isSame(each) and each.isSeam(face) for each in face.Edges)


def _edge(number: int, edge: Any, sides: tuple[str, ...], faces: tuple[str, ...]) -> Edge:
    curve_object = _curve(edge)
    curve = _CURVES.get(getattr(curve_object, "TypeId", ""), "curve")
    first, last = edge.ParameterRange
    middle = _point(edge.valueAt((first + last) / 2))
    direction = (0.0, 0.0, 0.0)
    radius = 0.0
    if curve == "line":
        direction = _directed(edge.valueAt(last).sub(edge.valueAt(first)))
    elif curve == "circle":
        direction = _directed(curve_object.Axis)
        radius = float(curve_object.Radius)
        if edge.isClosed():
            middle = _point(curve_object.Center)
        else:
            curve = "arc"
    return Edge(number, curve, direction, middle, float(edge.Length), radius, sides, faces)


def _curve(edge: Any) -> Any:
    """Return the curve of an edge; None if FreeCAD does not know its type."""
    try:
        return edge.Curve
    except (TypeError, RuntimeError):
        return None


def _extent(edge: Any) -> tuple[Point, Point]:
    """Return the lowest and the highest corner of points on an edge."""
    if getattr(_curve(edge), "TypeId", "") == _LINE or edge.Degenerated:
        points = [_point(vertex.Point) for vertex in edge.Vertexes]
    else:
        points = [_point(point) for point in edge.discretize(Number=_POINTS)]
    xs, ys, zs = zip(*points, strict=True)
    return (min(xs), min(ys), min(zs)), (max(xs), max(ys), max(zs))


def _sides(
    extent: tuple[Point, Point], low: Sequence[float], high: Sequence[float], size: float
) -> tuple[str, ...]:
    """Return the sides of a box on which an extent is as a whole."""
    tolerance = _ON_SIDE * size
    sides = []
    for number, axis in enumerate(_AXES):
        is_flat = high[number] - low[number] < tolerance
        if is_flat:
            continue
        if extent[1][number] - low[number] < tolerance:
            sides.append(f"-{axis}")
        if high[number] - extent[0][number] < tolerance:
            sides.append(f"+{axis}")
    return tuple(sides)


def _face_word(face: Any) -> str:
    """Return what a face is: where a plane faces, or the kind of a curved face."""
    try:
        surface = face.Surface
    except (TypeError, RuntimeError):  # FreeCAD does not know its type
        return "surface"
    kind = str(surface.TypeId).removeprefix("Part::Geom").lower()
    first_u, last_u, first_v, last_v = face.ParameterRange
    u = (first_u + last_u) / 2
    v = (first_v + last_v) / 2
    if kind == "plane":
        normal = _point(face.normalAt(u, v))
        sign = _sign_of_axis(normal)
        return sign or f"plane {' '.join(rounded(each) for each in normal)}"
    if kind == "cylinder":
        outwards = face.valueAt(u, v).sub(surface.Center)
        along = surface.Axis
        from_axis = outwards.sub(FreeCAD.Vector(along).multiply(outwards.dot(along)))
        if face.normalAt(u, v).dot(from_axis) < 0:
            return "hole"
    return kind


def _sign_of_axis(direction: Point) -> str:
    """Return the axis and its sign of a direction: "-x"; "" if it is along none."""
    axis = _axis_of(direction)
    if not axis:
        return ""
    return "+" + axis if direction[_AXES.index(axis)] > 0 else "-" + axis


def _axis_of(direction: Point) -> str:
    for number, axis in enumerate(_AXES):
        if abs(abs(direction[number]) - 1) < _PARALLEL:
            return axis
    return ""


def _directed(vector: Any) -> Point:
    """Return a direction of length 1, one for both ways along it."""
    point = _point(vector)
    length = math.hypot(*point)
    if not length:
        return 0.0, 0.0, 0.0
    signs = [math.copysign(1, each) for each in point if abs(each) > _PARALLEL * length]
    sign = signs[0] if signs else 1
    x, y, z = (sign * each / length + 0.0 for each in point)
    return x, y, z


def _point(vector: Any) -> Point:
    return float(vector.x), float(vector.y), float(vector.z)


def names_in(edges: Edges, numbers: Sequence[int]) -> Iterator[str]:
    """Yield the items of edges by FreeCAD's numbers; "Edge7" of one that has no name."""
    for number in numbers:
        name = edges.name(number)
        yield f"{edges.owner}/Edge{number}" if name is None else f"{edges.owner}{PART}{name}"
