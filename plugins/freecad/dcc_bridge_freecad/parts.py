"""The parts of FreeCAD's objects that a person would miss, read of one property. Main thread.

A part has a key by which it is the same one later, and its words. What is computed is no part: it
comes back with what it is computed of. Measured in 0.20.2.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

import FreeCAD

from .document import called

_LINK: Final = re.compile("Property(X?Link|LinkSub)")
_MEMBERS: Final = ("Group", "ElementList", "Views")
"""Properties by which an object only holds others: groups, link groups, drawing pages."""
_WRITTEN: Final = re.compile("Property(String|File|FileIncluded|FilletEdges|PythonObject|.*List)$")
"""Types of properties in which somebody wrote something, which may be emptied."""
_TEXTS: Final = {"Text": "text", "LabelText": "text", "Label2": "description"}
"""Those that FreeCAD may hide in its list of properties and shows elsewhere, in words."""
_NOT_WRITTEN: Final = ("Label", "Visibility", "Placement")
_CURVES: Final = {"LineSegment": "line", "ArcOfCircle": "arc", "BSplineCurve": "B-spline"}
_SHEET: Final = "Spreadsheet::Sheet"
CELLS: Final = "cells"  # the property of a sheet that holds them all
_CELL: Final = re.compile("[A-Z]{1,2}[0-9]+")
_SKETCH: Final = "Sketcher::SketchObject"
_OF_SKETCH: Final = ("Geometry", "Constraints")

ObjectKey = tuple[str, str, int]  # the document's name, the object's, and its id


class HeldPart(NamedTuple):
    """A part of an object.

    Attributes:
        key: By which it is the same one later.
        words: What a person reads, without the object and the target: "cell A1", "member".
        content: By which it is found where it was moved to; None where nothing moves.
        holder: The key of the part that this one goes with, and is not told of beside it.
        target: The object that it leads to; where that is gone, the part is no loss of its own.
        element: The face, edge or point of the target: "Edge1".
        is_member: It is that the target is in the object.
    """

    key: Hashable
    words: str
    content: Hashable = None
    holder: Hashable = None
    target: ObjectKey | None = None
    element: str = ""
    is_member: bool = False

    def told(self) -> str:
        """Return what a person reads, without the object. The target must be there."""
        if self.target is None:
            return self.words
        element = f".{self.element}" if self.element else ""
        return f"{self.words} {called(found(self.target))}{element}"


def key_of(obj: Any) -> ObjectKey:
    """Return what tells an object from every other one, also from one made under its name."""
    return str(obj.Document.Name), str(obj.Name), int(obj.ID)


def found(key: ObjectKey) -> Any:
    """Return the object of a key; None if it is gone."""
    document = FreeCAD.listDocuments().get(key[0])
    obj = document.getObject(key[1]) if document is not None else None
    return obj if obj is not None and key[2] == obj.ID else None


def related(obj: Any, prop: str) -> Sequence[str]:
    """Return the properties that have to be read together with one."""
    return _OF_SKETCH if prop in _OF_SKETCH and obj.TypeId.startswith(_SKETCH) else (prop,)


def parts_of(obj: Any, prop: str) -> list[HeldPart]:
    """List the parts that a property holds; none where it is computed, or not there any more."""
    if prop not in obj.PropertiesList:
        return []
    reader = _reader(obj, prop)
    return [] if reader is None else list(reader(obj, prop))


def gone(before: Sequence[HeldPart], now: Sequence[HeldPart]) -> Iterator[HeldPart]:
    """Yield the parts that are not there any more, but for those that were moved or replaced."""
    there = {part.key for part in now}
    known = {part.key for part in before}
    came = Counter(part.content for part in now if part.key not in known)
    for part in before:
        if part.key in there or (part.target is not None and found(part.target) is None):
            continue
        if part.content is not None and came[part.content]:
            came[part.content] -= 1
            continue
        is_told_with_its_holder = part.holder is not None and part.holder not in there
        is_elsewhere = part.is_member and part.target is not None and _is_held(found(part.target))
        if not (is_told_with_its_holder or is_elsewhere):
            yield part


def is_cell(obj: Any, prop: str) -> bool:
    """Return whether a property is what a sheet computes of a cell."""
    return bool(obj.isDerivedFrom(_SHEET) and _CELL.fullmatch(prop))


def merely_holds(user: Any, obj: Any) -> bool:
    """Return whether an object refers to another one only because that is in it."""
    if not any(name in user.PropertiesList for name in (*_MEMBERS, "Origin", "OriginFeatures")):
        return False
    names = [name for name in user.PropertiesList if _LINK.search(user.getTypeIdOfProperty(name))]
    links = [name for name in names if name not in (*_MEMBERS, "Origin", "OriginFeatures")]
    is_linked = any(obj in linked(getattr(user, name)) for name in links)
    asked = re.compile(rf"\b{re.escape(obj.Name)}\b|<<{re.escape(obj.Label)}>>")
    return not (is_linked or any(asked.search(text) for _, text in user.ExpressionEngine))


def linked(value: Any) -> Iterator[Any]:
    """Yield the objects in a value of a link."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from linked(part)
    elif hasattr(value, "TypeId") and hasattr(value, "Document"):
        yield value


_Reader = Callable[[Any, str], Iterator[HeldPart]]


def _reader(obj: Any, prop: str) -> _Reader | None:
    """Return what reads a property; None for one in which nobody would miss anything."""
    kind = str(obj.getTypeIdOfProperty(prop))
    if kind in _READERS:
        return _READERS[kind]
    if (obj.TypeId, prop) in _OF_TYPES:
        return _OF_TYPES[obj.TypeId, prop]
    if prop == "MapMode":
        return _attachment
    is_own = not obj.isDerivedFrom(_SHEET) and not prop.startswith("_")
    if not is_own or prop in _NOT_WRITTEN or obj.Document.Recomputing:
        return None
    is_link = _LINK.search(kind) is not None
    is_map = kind == "App::PropertyMap"
    if not (is_link or is_map or _WRITTEN.search(kind)):
        return None
    is_shown_elsewhere = prop in _TEXTS or prop in _MEMBERS
    if not is_shown_elsewhere and {"ReadOnly", "Hidden"} & {*obj.getEditorMode(prop)}:
        return None
    if is_link:
        return _links
    return _entries if is_map else _written


def _expressions(obj: Any, prop: str) -> Iterator[HeldPart]:
    for path, text in getattr(obj, prop):
        name = path.lstrip(".")
        yield HeldPart(("expression", name), f"expression {name}", ("expression", text))


def _cells(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read the cells with something in them, and their aliases, of the text that is saved.

    What was set and not computed yet is no property of the sheet.
    """
    for cell in ElementTree.fromstring(getattr(obj, prop).Content).iter("Cell"):
        address, content = cell.get("address", ""), cell.get("content", "")
        key = "cell", address
        if content:
            yield HeldPart(key, f"cell {address}", ("cell", content))
        if alias := cell.get("alias", ""):
            yield HeldPart(("alias", alias), f"alias {alias}", ("alias", address), key)


def _curves(obj: Any, prop: str) -> Iterator[HeldPart]:
    for number, curve in enumerate(getattr(obj, prop), 1):
        kind = type(curve).__name__
        words = _CURVES.get(kind) or re.sub("(?<=[a-z])(?=[A-Z])", " ", kind).lower()
        yield HeldPart(("curve", curve.Tag), f"{words} {number}")


def _constraints(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read constraints, which are the same ones as long as they hold the same points."""
    tags = [curve.Tag for curve in obj.Geometry]
    seen = Counter[Hashable]()
    for it in getattr(obj, prop):
        ends = ((it.First, it.FirstPos), (it.Second, it.SecondPos), (it.Third, it.ThirdPos))
        points = [(tags[n] if 0 <= n < len(tags) else n, position) for n, position in ends]
        key = "constraint", it.Type, *points
        seen[key] += 1
        content = ("constraint", it.Type, it.Name) if it.Name else None
        yield HeldPart((*key, seen[key]), f"constraint {it.Name or it.Type}", content)


def _mesh(obj: Any, prop: str) -> Iterator[HeldPart]:
    if obj.Mesh.CountFacets:
        yield HeldPart("mesh", "mesh")


def _points(obj: Any, prop: str) -> Iterator[HeldPart]:
    if obj.Points.CountPoints:
        yield HeldPart("points", "points")


def _shape(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read how many solids a shape has, or shells if it has none: which ones, nothing tells.

    Where 2 of 5 are gone, that is the fourth and the fifth, and the fourth says both.
    """
    if obj.Shape.isNull():
        return
    holder = HeldPart("shape", "shape")
    yield holder
    solids = obj.Shape.countElement("Solid")
    count, noun = solids, "solid"
    if not solids:
        count, noun = obj.Shape.countElement("Shell"), "shell"
    for number in range(1, count + 1):
        words = f"{count - number + 1} of {count} {noun}s" if count > 1 else noun
        part = HeldPart(("piece", number), words, holder=holder.key)
        yield part
        holder = part


def _tip(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read the features that shape a body, which are its tip and those before that."""
    for member in obj.Group:
        key = key_of(member)
        yield HeldPart(("in", key), "member", target=key, is_member=True)
    seen = set[ObjectKey]()
    feature = obj.Tip
    while feature is not None and key_of(feature) not in seen:
        key = key_of(feature)
        seen.add(key)
        yield HeldPart(("shapes", key), "shape from", holder=("in", key), target=key)
        feature = getattr(feature, "BaseFeature", None)


def _attachment(obj: Any, prop: str) -> Iterator[HeldPart]:
    if obj.MapMode != "Deactivated":
        yield HeldPart("attachment", "attachment")


def _links(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read what a property leads to; what takes the place of another one replaces it."""
    is_member = prop in _MEMBERS
    words = "member" if is_member else f"link {prop} to"
    seen = Counter[Hashable]()
    leads_elsewhere = "XLink" in obj.getTypeIdOfProperty(prop)
    home = str(obj.Document.Name)
    for target, element in _targets(getattr(obj, prop)):
        # A group may hold thousands, and to ask each for its document takes the longest.
        key = key_of(target) if leads_elsewhere else (home, str(target.Name), int(target.ID))
        seen[key, element] += 1
        content = None if is_member else ("link", prop)
        part_key = "link", prop, key, element, seen[key, element]
        yield HeldPart(part_key, words, content, None, key, element, is_member)


def _targets(value: Any) -> Iterator[tuple[Any, str]]:
    """Yield the objects in a value of a link, with each element of them that it leads to."""
    if isinstance(value, FreeCAD.DocumentObject):
        yield value, ""
        return
    match value:
        case [target, str() as element] if hasattr(target, "TypeId"):
            yield target, element
        case [target, [*elements]] if hasattr(target, "TypeId"):
            for element in elements or [""]:
                yield target, str(element)
        case [*parts]:
            for part in parts:
                yield from _targets(part)


def _entries(obj: Any, prop: str) -> Iterator[HeldPart]:
    for name in getattr(obj, prop):
        yield HeldPart(("entry", prop, name), f"{prop} {name}")


def _written(obj: Any, prop: str) -> Iterator[HeldPart]:
    value = getattr(obj, prop)
    is_empty = value is None or (hasattr(value, "__len__") and not len(value))
    if not is_empty:
        yield HeldPart(("written", prop), _TEXTS.get(prop, prop))


def _is_held(obj: Any) -> bool:
    """Return whether an object is in a group, a link group or on a page."""
    for user in obj.InList:
        names = [name for name in _MEMBERS if name in user.PropertiesList]
        if any(obj in linked(getattr(user, name)) for name in names):
            return True
    return False


_READERS: Final[dict[str, _Reader]] = {
    "App::PropertyExpressionEngine": _expressions,
    "Spreadsheet::PropertySheet": _cells,
    "Part::PropertyGeometryList": _curves,
    "Sketcher::PropertyConstraintList": _constraints,
}
"""What reads a property of a kind, in every type."""
_OF_TYPES: Final[dict[tuple[str, str], _Reader]] = {
    ("Part::Feature", "Shape"): _shape,
    ("Mesh::Feature", "Mesh"): _mesh,
    ("Points::Feature", "Points"): _points,
    ("PartDesign::Body", "Tip"): _tip,
}
"""Those of a type's own property. The shapes of all other types are computed."""
