"""The edges and faces that fillets, sketches and dimensions name, kept the same. Main thread.

FreeCAD before 1.0 notes the number of an edge and nothing else, so a fillet may sit on another edge
after its base was computed with another size. Before the first change of a document, the shapes are
kept that edges are named of; after it was computed, the edges are found again in the new shapes.
Since 1.0 FreeCAD itself finds most edges again; only where it has lost one this module looks.
Faces are kept in the same way: those of a fillet or chamfer, and the one that a sketch is on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import FreeCAD

from .document import made_of
from .edge_heirs import count_uncompared, heirs
from .edges import Edges, edges_in, edges_of, is_empty, names_in, outline_of
from .parts import ObjectKey, find_by_key, key_of
from .shape_edges import Edge
from .shape_faces import faces_in

_STEPS: Final = "PartDesign::DressUp"
"""Fillets and chamfers in a body: their Base is an object with names of its edges."""
_SOLIDS: Final = "Part::FilletBase"
"""Those outside of a body: their Base is an object, their Edges are numbers with two sizes each."""
_DIMENSION: Final = "TechDraw::DrawViewDimension"
"""Dimensions on a drawing page: their References2D are views with names of their edges."""
_ATTACHED: Final = "Part::Feature"
"""Sketches and others that may be attached to a face, by a property of one of two names."""
_SUPPORTS: Final = ("Support", "AttachmentSupport")  # the second one since 1.0
SIZED: Final = "Part::PropertyFilletEdges"
FINDS_EDGES: Final = int(FreeCAD.Version()[0]) >= 1
_ELEMENT: Final = re.compile(r"\??Edge(\d+)")  # since 1.0 with a "?" if FreeCAD has lost it
_FACE: Final = re.compile(r"\??Face(\d+)")


class _Noted(NamedTuple):
    """The edges and faces that an object names, before a change.

    Attributes:
        user: The object.
        base: The object whose edges they are.
        numbers: FreeCAD's numbers of the edges.
        faces: FreeCAD's numbers of the faces.
        outline: The shape of the base, or what was drawn of a view.
    """

    user: ObjectKey
    base: ObjectKey
    numbers: list[int]
    faces: list[int]
    outline: Any


class EdgeReferences:
    """Notes which edges are named before a change, and names them anew after it."""

    def __init__(self) -> None:
        self._noted: dict[str, dict[ObjectKey, _Noted]] = {}  # by the document's name, and the user
        self._are_complete: set[str] = set()  # documents of which all users are noted
        self._lost: dict[ObjectKey, tuple[_Noted, str]] = {}
        self._is_following = False

    def begin(self) -> None:
        """Forget all that was noted."""
        self._noted.clear()
        self._are_complete.clear()
        self._lost.clear()

    def note(self, document: Any) -> None:
        """Note the edges that are named in a document, which is about to change."""
        name = str(document.Name)
        if name in self._are_complete or self._is_following or document.Recomputing:
            return
        noted = self._noted.setdefault(name, {})
        for each in _noted(document):
            noted.setdefault(each.user, each)
        self._are_complete.add(name)

    def forget(self, user: Any) -> None:
        """Forget what was noted of an object that names other edges now."""
        name = str(user.Document.Name)
        self._noted.get(name, {}).pop(key_of(user), None)
        self._lost.pop(key_of(user), None)
        self._are_complete.discard(name)

    def follow(self, document: Any, before_naming: Callable[[Any, str], None]) -> None:
        """Name edges by their new numbers, where their shape has been computed anew.

        What an object is made of comes before it, as its shape depends on that. If an edge of an
        object is lost, what is made of the object has to wait until it names other edges.

        Args:
            document: The document, which was just computed.
            before_naming: Called with each object whose edges get other numbers, and its property.
        """
        noted = self._noted.pop(document.Name, {})
        self._are_complete.discard(document.Name)
        waiting: dict[ObjectKey, _Noted] = {}
        self._is_following = True
        try:
            for each in sorted(noted.values(), key=_depth):
                if self._has_to_wait(each):
                    waiting[each.user] = each
                elif self._name_anew(each, before_naming):
                    document.recompute()
        finally:
            self._is_following = False
        if waiting:
            self._noted[document.Name] = waiting

    def _has_to_wait(self, noted: _Noted) -> bool:
        """Return whether an object is made of one that has lost an edge."""
        user = find_by_key(noted.user)
        if user is None:
            return False
        lost = [key for key, (other, _) in self._lost.items() if _is_still_so(other)]
        return any(key_of(obj) in lost for obj in made_of(user))

    def check(self) -> None:
        """Raise ValueError if an object still names an edge that is not there any more."""
        errors = [text for noted, text in self._lost.values() if _is_still_so(noted)]
        self._lost.clear()
        if errors:
            raise ValueError(" ".join(errors))

    def _name_anew(self, noted: _Noted, before_naming: Callable[[Any, str], None]) -> bool:
        """Name what one object names by the new numbers; return whether they have changed."""
        user = find_by_key(noted.user)
        base = find_by_key(noted.base)
        if base is None or not _is_still_so(noted):
            return False
        outline = outline_of(base)
        if is_empty(outline) or outline.isSame(noted.outline) or _has_followed(user):
            return False
        if user.isDerivedFrom(_DIMENSION):
            return _measure_anew(user, base, noted, outline, before_naming)
        origins, lost = _edges_now(user, base, noted, outline)
        faces: list[int] = []
        if not lost:
            faces, lost = _faces_now(user, base, noted, outline)
        if lost:
            self._lost[noted.user] = noted, lost
            return False
        is_same = list(origins) == noted.numbers and faces == noted.faces
        if is_same and not FINDS_EDGES:
            return False
        if not noted.faces:  # nobody reads the numbers of edges
            before_naming(user, _property(user))
        _write(user, base, noted.numbers, origins, faces)
        return True


def named_edges(user: Any) -> tuple[Any, list[int]]:
    """Return the object whose edges another one names, and FreeCAD's numbers of them.

    Returns:
        None and no number for an object that names none.
    """
    if user.isDerivedFrom(_SOLIDS):
        return user.Base, [int(number) for number, _, _ in user.Edges]
    if user.isDerivedFrom(_DIMENSION):
        return _measured_edges(user)
    if not user.isDerivedFrom(_STEPS) or user.Base is None:
        return None, []
    base, elements = user.Base
    return base, numbers_of(elements)


def _named_faces(user: Any) -> tuple[Any, list[int]]:
    """Return the object whose faces another one names, and FreeCAD's numbers of them.

    Returns:
        None and no number for an object that names none, or is attached to more than one face.
    """
    if user.isDerivedFrom(_STEPS) and user.Base is not None:
        base, elements = user.Base
        return base, _face_numbers(elements)
    if not _is_attached(user):
        return None, []
    match getattr(user, _property(user)):
        case [(base, [element])]:
            return base, _face_numbers([element])
    return None, []


def _face_numbers(elements: Sequence[str]) -> list[int]:
    found = [_FACE.fullmatch(element) for element in elements]
    return [int(match[1]) for match in found if match]


def _is_attached(user: Any) -> bool:
    """Return whether an object has its place by what it is attached to."""
    return getattr(user, "MapMode", "Deactivated") != "Deactivated"


def _measured_edges(dimension: Any) -> tuple[Any, list[int]]:
    """Return the view of which a dimension measures edges, and FreeCAD's numbers of them.

    Returns:
        None and no number if it measures nothing, or something else too.
    """
    views = []
    elements: list[str] = []
    for view, names in dimension.References2D:
        views.append(view)
        elements += [names] if isinstance(names, str) else names
    numbers = numbers_of(elements)
    if not numbers or len(numbers) != len(elements) or any(view != views[0] for view in views):
        return None, []
    return views[0], numbers


def numbers_of(elements: Sequence[str]) -> list[int]:
    """Return the numbers of the edges among the elements of a shape: 7 of "Edge7"."""
    found = [_ELEMENT.fullmatch(element) for element in elements]
    return [int(match[1]) for match in found if match]


def users_of_edge(obj: Any, number: int) -> Iterator[Any]:
    """Yield the objects that name an edge of an object."""
    for user in {user.Name: user for user in obj.InList}.values():
        base, numbers = named_edges(user)
        if base == obj and number in numbers:
            yield user


def told_edges(obj: Any, prop: str) -> list[Any] | None:
    """Return the edges that a property names as items; None if it names other things, or none.

    Of a fillet or a chamfer outside of bodies, each edge has its two sizes.
    """
    kind = obj.getTypeIdOfProperty(prop)
    if kind == SIZED and obj.Base is not None:
        items = names_in(edges_of(obj.Base), named_edges(obj)[1])
        return [[item, *sizes[1:]] for item, sizes in zip(items, obj.Edges, strict=True)]
    if prop == "References2D" and obj.isDerivedFrom(_DIMENSION):
        view, numbers = _measured_edges(obj)
        return None if view is None else list(names_in(edges_of(view), numbers))
    link = getattr(obj, prop)
    if kind != "App::PropertyLinkSub" or link is None:
        return None
    base, elements = link
    numbers = numbers_of(elements)
    if not numbers or len(numbers) != len(elements) or "Shape" not in base.PropertiesList:
        return None
    return list(names_in(edges_of(base), numbers))


def _noted(document: Any) -> Iterator[_Noted]:
    for kind in (_STEPS, _SOLIDS, _DIMENSION, _ATTACHED):
        for user in document.findObjects(kind):
            if kind == _ATTACHED and not _is_attached(user):
                continue
            base, numbers, faces = _named(user)
            outline = outline_of(base) if base is not None and (numbers or faces) else None
            if not is_empty(outline):
                yield _Noted(key_of(user), key_of(base), numbers, faces, outline)


def _named(user: Any) -> tuple[Any, list[int], list[int]]:
    """Return the object whose edges or faces another one names, and the numbers of both."""
    base, numbers = named_edges(user)
    owner, faces = _named_faces(user)
    return base or owner, numbers, faces


def _edges_now(user: Any, base: Any, noted: _Noted, outline: Any) -> tuple[dict[int, int], str]:
    """Return the edges that an object names by their numbers now, and the error if one is lost.

    Returns:
        The numbers with those that the edges had; "" for no error.
    """
    if not noted.numbers:
        return {}, ""
    old = edges_in(base, noted.outline)
    new = edges_in(base, outline)
    origins, lost = heirs(old, noted.numbers, new)
    if lost is not None:
        return {}, _lost_text(user, old, lost, new)
    return origins, ""


def _faces_now(user: Any, base: Any, noted: _Noted, outline: Any) -> tuple[list[int], str]:
    """Return the numbers of the faces that an object names, and the error if one is lost."""
    if not noted.faces:
        return [], ""
    old = faces_in(base, noted.outline)
    new = faces_in(base, outline)
    origins, lost = heirs(old, noted.faces, new)
    if lost is not None:
        return [], _lost_face_text(user, base, lost, old, new)
    if {*origins.values()} != {*noted.faces}:
        return noted.faces, ""  # one was not there before either, which FreeCAD says
    if _is_attached(user):
        return list(origins)[:1], ""  # one piece of a face that is cut
    return list(origins), ""


def _measure_anew(
    dimension: Any,
    view: Any,
    noted: _Noted,
    outline: Any,
    before_naming: Callable[[Any, str], None],
) -> bool:
    """Have a dimension measure its edges by their new numbers; return whether they have changed.

    A dimension of which an edge is not drawn any more stays as FreeCAD has it: no drawing stands
    in the way of a change of what is drawn.
    """
    old = edges_in(view, noted.outline)
    new = edges_in(view, outline)
    numbers = noted.numbers
    heirs_found = []
    for number in numbers:
        origins, _ = heirs(old, [number], new)
        heirs_found += list(origins)[:1]
    if len(heirs_found) != len(numbers) or heirs_found == numbers:
        return False
    before_naming(dimension, _property(dimension))
    dimension.References2D = [(view, [f"Edge{number}" for number in heirs_found])]
    return True


def _property(user: Any) -> str:
    """Return the property by which an object names edges or faces."""
    if _is_attached(user):
        return next(name for name in _SUPPORTS if name in user.PropertiesList)
    if user.isDerivedFrom(_DIMENSION):
        return "References2D"
    return "Edges" if user.isDerivedFrom(_SOLIDS) else "Base"


def _has_followed(user: Any) -> bool:
    """Return whether this FreeCAD has found all edges of a fillet or chamfer again by itself."""
    if not FINDS_EDGES or user.isDerivedFrom(_SOLIDS):
        return False
    if user.isDerivedFrom(_DIMENSION) or _is_attached(user):
        return True
    return not any(element.startswith("?") for element in user.Base[1])


def _depth(noted: _Noted) -> int:
    """Return of how many objects an object is made; an object has more than each of them."""
    user = find_by_key(noted.user)
    return 0 if user is None else len(made_of(user))


def _is_still_so(noted: _Noted) -> bool:
    """Return whether an object is there and names edges or faces of the base that was noted.

    Since 1.0 FreeCAD may have named them by other numbers. An object that names other ones by an
    edit is no longer noted.
    """
    user = find_by_key(noted.user)
    if user is None:
        return False
    base, numbers, faces = _named(user)
    if not FINDS_EDGES and (numbers, faces) != (noted.numbers, noted.faces):
        return False
    return base is not None and key_of(base) == noted.base


def _write(
    user: Any,
    base: Any,
    before: Sequence[int],
    origins: Mapping[int, int],
    faces: Iterable[int],
) -> None:
    """Name other edges and faces of the same base; edges with the sizes that they had.

    Args:
        user: The fillet, the chamfer, or what is attached to a face.
        base: The object whose edges they are.
        before: FreeCAD's numbers of the edges that the object named; since 1.0 it may have named
            them by other ones, in the same order.
        origins: FreeCAD's numbers of the edges now, with those that they had.
        faces: FreeCAD's numbers of the faces now.
    """
    names = [f"Face{number}" for number in faces]
    if _is_attached(user):
        setattr(user, _property(user), [(base, names)])
        return
    if not user.isDerivedFrom(_SOLIDS):
        others = [each for each in user.Base[1] if not numbers_of([each]) + _face_numbers([each])]
        user.Base = (base, [*(f"Edge{number}" for number in origins), *names, *others])
        return
    sizes = {number: both for number, (_, *both) in zip(before, user.Edges, strict=False)}
    usual = user.Edges[0][1:]
    user.Edges = [(number, *sizes.get(origin, usual)) for number, origin in origins.items()]


def _lost_text(user: Any, old: Edges, edge: Edge, new: Edges) -> str:
    (name,) = names_in(old, [edge.number])
    near = ", ".join(new.near(edge))
    why = _why_lost(name, "edge", edge, old, new)
    return f"{user.Name} is on {why} {_what_to_do(user)}; the nearest edges then: {near}."


def _lost_face_text(user: Any, base: Any, face: Edge, old: Edges, new: Edges) -> str:
    why = _why_lost(f"Face{face.number} of {base.Name}", "face", face, old, new)
    return f"{user.Name} is on {why} {_what_to_do(user)}."


def _why_lost(name: str, noun: str, edge: Edge, old: Edges, new: Edges) -> str:
    """Return the name of an edge or a face, and why it is not found again, as a sentence's end."""
    count = count_uncompared(edge, old, new)
    if count:
        return (
            f"{name}, one of {count} {noun}s that are alike. After this none is at its place, and "
            "they are too many to tell which one it is."
        )
    article = "an" if noun == "edge" else "a"
    return f"{name}, {article} {noun} that is not there any more after this."


def _what_to_do(user: Any) -> str:
    prop = _property(user)
    return f"Set {prop} of {user.Name} in the same batch, or delete {user.Name} before"
