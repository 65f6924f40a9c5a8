"""The parts of FreeCAD's objects that a person would miss, read from one property. Main thread.

A *part* is something that an object holds: a cell, a link, a curve of a sketch. The parts of a
property are listed before and after a change; a part that has the same *key* in both lists is the
same part. A computed value is no part, because it comes back with the objects that it is computed
from. A *member* is an object that a group holds. A *reader* is a function that yields the parts of
a property. How FreeCAD behaves was measured in 0.20.2.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

import FreeCAD

from .document import label_of

_LINK: Final = re.compile("Property(X?Link|LinkSub)")
_MEMBERS: Final = ("Group", "ElementList", "Views")
"""Properties by which an object only holds others: groups, link groups, drawing pages."""
_WRITTEN: Final = re.compile("Property(String|File|FileIncluded|FilletEdges|PythonObject|.*List)$")
"""Types of properties that hold something a person wrote, and that may be emptied."""
_TEXTS: Final = {
    "Label": "label",
    "Label2": "description",
    "LabelText": "text",
    "Text": "text",
}
"""Properties that FreeCAD may hide in its list and shows elsewhere, with people's words."""
_NOT_WRITTEN: Final = ("Visibility", "Placement")
_CURVES: Final = {"LineSegment": "line", "ArcOfCircle": "arc", "BSplineCurve": "B-spline"}
_SHEET: Final = "Spreadsheet::Sheet"
CELLS: Final = "cells"  # the property of a sheet that holds all of its cells
_CELL: Final = re.compile("[A-Z]{1,2}[0-9]+")
_SKETCH: Final = "Sketcher::SketchObject"
_SKETCH_PROPERTIES: Final = ("Geometry", "Constraints")
_CONSTRAINT: Final = "constraint"  # how the key and the content of a constraint begin

ObjectKey = tuple[str, str, int]  # the document's name, the object's, and its id


class HeldPart(NamedTuple):
    """A part of an object.

    Attributes:
        key: Equal for the same part in a later list.
        words: The name of the part for a person, without object and target: "cell A1", "member".
        content: Equal for a part that has moved, and so has another key, such as a cell's content
            in another cell; None for a part that cannot move.
        holder: The key of a part without which this one cannot be; if both are gone, only the
            holder is reported.
        target: The object that the part refers to. If the target is gone, the part is not reported:
            the target itself is.
        element: The face, edge or point of the target: "Edge1".
        is_member: Whether the part is that the object holds the target.
    """

    key: Hashable
    words: str
    content: Hashable = None
    holder: Hashable = None
    target: ObjectKey | None = None
    element: str = ""
    is_member: bool = False

    def text(self) -> str:
        """Return the part in words, with its target if it has one, which must still exist."""
        if self.target is None:
            return self.words
        element = f".{self.element}" if self.element else ""
        label = label_of(find_by_key(self.target))
        return f"{self.words} {label}{element}"


def key_of(obj: Any) -> ObjectKey:
    """Return a key that no other object has, not even a later one of the same name."""
    return str(obj.Document.Name), str(obj.Name), int(obj.ID)


def find_by_key(key: ObjectKey) -> Any:
    """Return the object of a key; None if the object is gone."""
    document_name, name, object_id = key
    document = FreeCAD.listDocuments().get(document_name)
    if document is None:
        return None
    obj = document.getObject(name)
    if obj is None or object_id != obj.ID:
        return None
    return obj


def related(obj: Any, prop: str) -> Sequence[str]:
    """Return a property, with the ones of a sketch that have to be read together with it."""
    if prop in _SKETCH_PROPERTIES and obj.TypeId.startswith(_SKETCH):
        return _SKETCH_PROPERTIES
    return (prop,)


def parts_of(obj: Any, prop: str) -> list[HeldPart]:
    """List the parts that a property holds; none if it has no reader, or was removed."""
    if prop not in obj.PropertiesList:
        return []
    reader = _reader(obj, prop)
    if reader is None:
        return []
    return list(reader(obj, prop))


def missing_parts(before: Sequence[HeldPart], now: Sequence[HeldPart]) -> Iterator[HeldPart]:
    """Yield the parts that were lost between two lists of the same property.

    A part whose key is gone is still no loss if its target is gone too, if a part with its content
    has come for it, if its holder is gone too, or if it is a member that another group holds now.


    Args:
        before: The parts that a property held.
        now: The parts that the same property holds now.
    """
    keys_now = {part.key for part in now}
    keys_before = {part.key for part in before}
    new_contents = Counter(part.content for part in now if part.key not in keys_before)
    for part in before:
        if part.key in keys_now:
            continue
        is_target_gone = part.target is not None and find_by_key(part.target) is None
        if is_target_gone:
            continue
        has_moved = part.content is not None and new_contents[part.content] > 0
        if has_moved:
            new_contents[part.content] -= 1  # one new part stands for one old part only
            continue
        is_holder_gone = part.holder is not None and part.holder not in keys_now
        if is_holder_gone:
            continue
        if part.is_member and part.target is not None and _is_in_a_group(find_by_key(part.target)):
            continue
        yield part


def is_cell(obj: Any, prop: str) -> bool:
    """Return whether a property is the computed value of a sheet's cell."""
    if not obj.isDerivedFrom(_SHEET):
        return False
    return _CELL.fullmatch(prop) is not None


def merely_holds(user: Any, obj: Any) -> bool:
    """Return whether an object refers to another one only by holding it, as a group does.

    It does more than hold if another link property or an expression mentions the object.
    """
    holding = (*_MEMBERS, "Origin", "OriginFeatures")  # properties by which objects are held
    if not any(name in user.PropertiesList for name in holding):
        return False
    names = [name for name in user.PropertiesList if _LINK.search(user.getTypeIdOfProperty(name))]
    links = [name for name in names if name not in holding]
    if any(obj in linked(getattr(user, name)) for name in links):
        return False
    mention = re.compile(rf"\b{re.escape(obj.Name)}\b|<<{re.escape(obj.Label)}>>")
    return not any(mention.search(text) for _, text in user.ExpressionEngine)


def linked(value: Any) -> Iterator[Any]:
    """Yield the objects in the value of a link property, however deep they are nested in lists."""
    if isinstance(value, list | tuple):
        for part in value:
            yield from linked(part)
    elif hasattr(value, "TypeId") and hasattr(value, "Document"):
        yield value


def broken_by(obj: Any, part: HeldPart) -> list[str]:
    """Return the properties whose expressions use a constraint of a sketch by its name.

    Args:
        obj: The sketch.
        part: A part of it that is gone; of all but constraints with a name there is nothing.
    """
    if not isinstance(part.content, tuple) or part.content[0] != _CONSTRAINT:
        return []
    path = rf"Constraints\.{re.escape(part.content[-1])}\b"
    own = re.compile(rf"(?<![\w>]\.)\b{path}")
    mention = re.compile(rf"(\b{re.escape(obj.Name)}|<<{re.escape(obj.Label)}>>)\.{path}")
    broken = []
    for user in {each.Name: each for each in [obj, *obj.InList]}.values():
        for name, text in user.ExpressionEngine:
            if mention.search(text) or (user == obj and own.search(text)):
                broken.append(f"{user.Name}.{name.lstrip('.')}")
    return broken


def is_link(kind: str) -> bool:
    """Return whether a property of this type is a link."""
    return _LINK.search(kind) is not None


def is_list_read(obj: Any, prop: str) -> bool:
    """Return whether each entry of a list counts: a person wrote it, and it is no text of lines."""
    return prop not in _TEXTS and _reader(obj, prop) is _written


def is_blank(value: Any) -> bool:
    """Return whether a value shows nothing: it is None, empty, or only made of blanks."""
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, list | tuple | dict) and not value:
        return True
    if isinstance(value, list):
        return all(isinstance(entry, str) and not entry.strip() for entry in value)
    return False


_Reader = Callable[[Any, str], Iterator[HeldPart]]


def _reader(obj: Any, prop: str) -> _Reader | None:
    """Return the reader of a property; None if nobody would miss anything in the property."""
    kind = str(obj.getTypeIdOfProperty(prop))
    if kind in _READERS_OF_KINDS:
        return _READERS_OF_KINDS[kind]
    if (obj.TypeId, prop) in _READERS_OF_TYPES:
        return _READERS_OF_TYPES[obj.TypeId, prop]
    if prop == "MapMode":
        return _attachment
    if prop == "Label":
        return _written
    return _general_reader(obj, prop, kind)


def _general_reader(obj: Any, prop: str, kind: str) -> _Reader | None:
    """Return the reader of a property that any object may have; None for no reader.

    Such a property is a link, a map, or of a type that holds what a person wrote. It has no reader
    if FreeCAD protects it from the person, unless FreeCAD shows it in another place.
    """
    if obj.isDerivedFrom(_SHEET) or prop.startswith("_"):
        return None
    if prop in _NOT_WRITTEN or obj.Document.Recomputing:
        return None
    is_map = kind == "App::PropertyMap"
    if not (is_link(kind) or is_map or _WRITTEN.search(kind)):
        return None
    is_shown_elsewhere = prop in _TEXTS or prop in _MEMBERS
    is_protected = {"ReadOnly", "Hidden"} & {*obj.getEditorMode(prop)}
    if is_protected and not is_shown_elsewhere:
        return None
    if is_link(kind):
        return _links
    if is_map:
        return _entries
    return _written


def _expressions(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read the expressions that compute an object's properties, one part for each property."""
    for path, text in getattr(obj, prop):
        name = path.lstrip(".")
        yield HeldPart(("expression", name), f"expression {name}", ("expression", text))


def _cells(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read the cells that are not empty, and their aliases, from the text that FreeCAD saves.

    A cell that was set and not computed yet is no property of the sheet.
    """
    for cell in ElementTree.fromstring(getattr(obj, prop).Content).iter("Cell"):
        address = cell.get("address", "")
        content = cell.get("content", "")
        alias = cell.get("alias", "")
        key = "cell", address
        if content:
            yield HeldPart(key, f"cell {address}", ("cell", content))
        if alias:
            yield HeldPart(("alias", alias), f"alias {alias}", ("alias", address), key)


def _curves(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read the curves of a sketch, which FreeCAD tells apart by their tags."""
    for number, curve in enumerate(getattr(obj, prop), 1):
        kind = type(curve).__name__
        words = _CURVES.get(kind)
        if words is None:
            words = re.sub("(?<=[a-z])(?=[A-Z])", " ", kind).lower()
        yield HeldPart(("curve", curve.Tag), f"{words} {number}")


def _constraints(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read the constraints of a sketch.

    A constraint is the same if it has the same type and the same points. Equal ones are numbered.
    One of a curve that is gone is dead, although code can leave it in FreeCAD's list.
    """
    tags = [curve.Tag for curve in obj.Geometry]
    counts = Counter[Hashable]()
    for constraint in getattr(obj, prop):
        if max(constraint.First, constraint.Second, constraint.Third) >= len(tags):
            continue
        points = [
            (_tag_of(tags, constraint.First), constraint.FirstPos),
            (_tag_of(tags, constraint.Second), constraint.SecondPos),
            (_tag_of(tags, constraint.Third), constraint.ThirdPos),
        ]
        key = _CONSTRAINT, constraint.Type, *points
        counts[key] += 1
        name = constraint.Type
        content = None
        if constraint.Name:
            name = constraint.Name
            content = (_CONSTRAINT, constraint.Type, constraint.Name)
        yield HeldPart((*key, counts[key]), f"constraint {name}", content)


def _tag_of(tags: Sequence[Any], number: int) -> Any:
    """Return the tag of a sketch's own curve; of all else, such as an axis, the number."""
    if 0 <= number < len(tags):
        return tags[number]
    return number


def _mesh(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read a mesh as one part, if it has facets."""
    if obj.Mesh.CountFacets:
        yield HeldPart("mesh", "mesh")


def _points(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read a point cloud as one part, if it has points."""
    if obj.Points.CountPoints:
        yield HeldPart("points", "points")


def _shape(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read how many solids a shape has, or how many shells if it has no solid.

    FreeCAD does not say which solid is which. If 2 of 5 are gone, the parts 4 and 5 are missing;
    part 5 goes with part 4, whose words stand for both.
    """
    if obj.Shape.isNull():
        return
    holder = HeldPart("shape", "shape")
    yield holder
    noun = "solid"
    count = obj.Shape.countElement("Solid")
    if not count:
        noun = "shell"
        count = obj.Shape.countElement("Shell")
    for number in range(1, count + 1):
        words = noun
        if count > 1:
            words = f"{count - number + 1} of {count} {noun}s"
        part = HeldPart(("piece", number), words, holder=holder.key)
        yield part
        holder = part


def _tip(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read the members of a body, and the features that shape it.

    Those are its tip and the features before the tip. A feature that is no member any more is
    reported as a member only.
    """
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
    """Read whether an object is attached to another one."""
    if obj.MapMode != "Deactivated":
        yield HeldPart("attachment", "attachment")


def _links(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read the targets of a link property.

    A new target takes the place of one that is gone, as the link still leads somewhere. Members do
    not stand for each other.
    """
    is_member = prop in _MEMBERS
    words = f"link {prop} to"
    content: Hashable = ("link", prop)
    if is_member:
        words = "member"
        content = None
    counts = Counter[Hashable]()
    leads_elsewhere = "XLink" in obj.getTypeIdOfProperty(prop)
    home = str(obj.Document.Name)
    for target, element in _targets(getattr(obj, prop)):
        # A group may hold thousands, and asking each member for its document takes the longest.
        key = (home, str(target.Name), int(target.ID))
        if leads_elsewhere:
            key = key_of(target)
        counts[key, element] += 1
        part_key = "link", prop, key, element, counts[key, element]
        yield HeldPart(part_key, words, content, None, key, element, is_member)


def _targets(value: Any) -> Iterator[tuple[Any, str]]:
    """Yield each object in a link property's value, once for each element that the link names."""
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
    """Read the names in a map property."""
    for name, value in getattr(obj, prop).items():
        if not is_blank(value):
            yield HeldPart(("entry", prop, name), f"{prop} {name}")


def _written(obj: Any, prop: str) -> Iterator[HeldPart]:
    """Read a property that a person wrote as one part, if it shows anything."""
    if is_blank(getattr(obj, prop)):
        return
    yield HeldPart(("written", prop), _TEXTS.get(prop, prop))


def _is_in_a_group(obj: Any) -> bool:
    """Return whether an object is in a group, a link group or on a page."""
    for user in obj.InList:
        names = [name for name in _MEMBERS if name in user.PropertiesList]
        if any(obj in linked(getattr(user, name)) for name in names):
            return True
    return False


_READERS_OF_KINDS: Final[dict[str, _Reader]] = {
    "App::PropertyExpressionEngine": _expressions,
    "Spreadsheet::PropertySheet": _cells,
    "Part::PropertyGeometryList": _curves,
    "Sketcher::PropertyConstraintList": _constraints,
}
"""The readers of properties by the property's type, for objects of every type."""
_READERS_OF_TYPES: Final[dict[tuple[str, str], _Reader]] = {
    ("Part::Feature", "Shape"): _shape,
    ("Mesh::Feature", "Mesh"): _mesh,
    ("Points::Feature", "Points"): _points,
    ("PartDesign::Body", "Tip"): _tip,
}
"""The readers of one property of one type of objects. Other types compute their shapes."""
