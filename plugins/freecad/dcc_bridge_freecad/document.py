"""Look-ups in FreeCAD's documents, for the adapter and the operations. Main thread."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from types import SimpleNamespace
from typing import Any, Final

import FreeCAD

from dcc_bridge.spi import Changes, CountChanges, no_such

from . import sketches
from .edges import edges_of, names_in, parted

_MAX_LOOKED_AT: Final = 200  # objects among which examples of names are looked for
_MAX_EDGES: Final = 100  # of a shape of which one is an example
_MAX_PARTS: Final = 200  # parts of a value, or characters of its text, that an agent is given
_ONLY_NAMED: Final = "it is listed, inspected and named by fillets and chamfers, and no more"
_WITHOUT_SCREEN: Final = ("offscreen", "minimal")  # platforms of Qt


def document() -> Any:
    """Return the active document; LookupError where none is open."""
    if FreeCAD.ActiveDocument is None:
        raise LookupError("No document is open in FreeCAD: open one, or make a new one.")
    return FreeCAD.ActiveDocument


def look_up(item: str) -> Any:
    """Return the object of a name, or of a label that no other object has; None if there is none.

    Raises:
        LookupError: No document is open.
    """
    obj = document().getObject(item)
    if obj is not None:
        return obj
    labelled = document().getObjectsByLabel(item)
    if len(labelled) != 1:
        return None
    return labelled[0]


def edge_parts(item: str) -> tuple[str, str] | None:
    """Return the object and the words of an item that is an edge; None for another item.

    An object whose label reads as an edge is no edge.
    """
    parts = parted(item)
    if parts is None or FreeCAD.ActiveDocument is None:
        return parts
    if document().getObjectsByLabel(item):
        return None
    return parts


def find(item: str) -> Any:
    """Return the object of a name, or of a label that no other object has.

    Raises:
        LookupError: There is no such object, several have the label, or no document is open.
        ValueError: The item is an edge, and no object.
    """
    obj = look_up(item)
    if obj is not None:
        return obj
    count = len(document().getObjectsByLabel(item))
    if count:
        raise LookupError(f"{count} objects have the label {item!r}: give the name of one.")
    if parted(item) is not None:
        raise ValueError(f"{item} is an edge: {_ONLY_NAMED}.")
    names = (str(other.Name) for other in document().Objects)
    raise LookupError(no_such("object", item, names, examples()))


def examples() -> list[str]:
    """Return an object's name, properties of parts: of a placement, a cell; and an edge's name."""
    if FreeCAD.ActiveDocument is None:
        return []
    first: dict[str, str] = {}
    for obj in islice(document().Objects, _MAX_LOOKED_AT):
        first.setdefault("object", str(obj.Name))
        if obj.isDerivedFrom("Spreadsheet::Sheet"):
            first.setdefault("cell", f"{obj.Name}, A1")
        if "Placement" in obj.PropertiesList:
            first.setdefault("part", f"{obj.Name}, Placement.Base.x")
        if "edge" not in first and _has_few_edges(obj):
            first["edge"] = next(names_in(edges_of(obj), [1]))
    return list(first.values())


def _has_few_edges(obj: Any) -> bool:
    """Return whether an object has a solid of a few edges, which are named at once."""
    if not obj.isDerivedFrom("Part::Feature") or obj.Shape.isNull() or not obj.Shape.Solids:
        return False
    return bool(obj.Shape.countElement("Edge") <= _MAX_EDGES)


def label_of(obj: Any) -> str:
    """Return the label that the tree shows of an object, with the inner name if that differs."""
    is_named = obj.Label != obj.Name and obj.Label.strip()
    if not is_named:
        return str(obj.Name)
    return f"{obj.Label} ({obj.Name})"


def fault_of(obj: Any) -> str:
    """Return why FreeCAD could not compute an object, on one line without its full stop.

    Returns:
        "" if FreeCAD could.
    """
    if obj.isValid():
        return ""
    return " ".join(str(obj.getStatusString()).split()).rstrip(".")


def facts(item: str) -> list[Any]:
    """Return the facts by which a person's yes to an object is recognised as one to the same."""
    obj = None
    if FreeCAD.ActiveDocument:
        obj = document().getObject(item)
    if obj is None:
        return [item, "gone"]
    users = sorted(user.Name for user in obj.InList)
    used = sorted((other.Name, other.TypeId) for other in made_of(obj))
    locks = [(name, obj.getEditorMode(name)) for name in obj.PropertiesList]
    return [item, obj.ID, obj.TypeId, obj.Label, users, used, locks]


def made_of(obj: Any) -> list[Any]:
    """Return all that an object links to, and what that links to.

    FreeCAD's own `OutListRecursive` raises where links lead back.
    """
    queue = list(obj.OutList)
    names = {other.Name for other in queue}
    for each in queue:  # the list grows meanwhile
        new = [other for other in each.OutList if other.Name not in names]
        names.update(other.Name for other in new)
        queue += new
    return queue


def reach(item: str) -> set[str]:
    """Return the name of an object, and if it is a group the names of all objects in it."""
    names = {item}
    if not FreeCAD.ActiveDocument:
        return names
    obj = document().getObject(item)
    if obj is None:
        return names
    queue = [obj]
    for each in queue:  # the list grows meanwhile
        if each.hasExtension("App::GroupExtension") or hasattr(each, "OriginFeatures"):
            queue += [other for other in each.OutList if other.Name not in names]
            names.update(other.Name for other in each.OutList)
    return names


@contextmanager
def noting_changes() -> Iterator[CountChanges]:
    """Note which objects are created, changed and deleted during the block, in every document.

    FreeCAD reports each object, unless a document is opened or closed meanwhile.

    Yields:
        A function that returns the changes so far. An object of another document than the active
        one is named "document#object".
    """
    home = getattr(FreeCAD.ActiveDocument, "Name", "")
    documents = {*FreeCAD.listDocuments()}
    created = dict[str, None]()
    changed = dict[str, None]()
    deleted = dict[str, None]()

    def name(obj: Any) -> str:
        document = obj.Document.Name
        if document == home:
            return str(obj.Name)
        return f"{document}#{obj.Name}"

    def note_creation(obj: Any) -> None:
        created.setdefault(name(obj))

    def note_change(obj: Any, _prop: str) -> None:
        changed.setdefault(name(obj))

    def note_end(obj: Any) -> None:
        if name(obj) in created:
            del created[name(obj)]
        else:  # the object was there before the block
            deleted[name(obj)] = None

    def count() -> Changes:
        lasting = [each for each in changed if each not in created and each not in deleted]
        is_exact = documents == {*FreeCAD.listDocuments()}
        return Changes([*created], lasting, [*deleted], is_exact=is_exact)

    listener = SimpleNamespace(
        slotCreatedObject=note_creation,
        slotChangedObject=note_change,
        slotDeletedObject=note_end,
    )
    FreeCAD.addDocumentObserver(listener)
    try:
        yield count
    finally:
        FreeCAD.removeDocumentObserver(listener)


def plain(value: Any) -> Any:
    """Return a property's value as JSON can carry it; a quantity as its number of mm or degrees."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, FreeCAD.Units.Quantity):
        return value.Value
    if isinstance(value, FreeCAD.Placement):
        rotation = value.Rotation
        return {
            "Base": plain(value.Base),
            "Axis": plain(rotation.Axis),
            "Angle": math.degrees(rotation.Angle),
        }
    if isinstance(value, list | tuple | FreeCAD.Vector):
        return [plain(part) for part in islice(value, _MAX_PARTS)]
    of_sketch = sketches.told(value)
    if of_sketch is not None:
        return of_sketch
    text = str(getattr(value, "Name", None) or value)
    return text[:_MAX_PARTS]


def view_3d() -> Any:
    """Return the 3D view of the active document.

    Raises:
        ValueError: No 3D view is open, or this FreeCAD cannot draw.
    """
    if os.environ.get("QT_QPA_PLATFORM") in _WITHOUT_SCREEN:
        raise ValueError("This FreeCAD has no screen: what it would draw crashes it.")
    view = None
    if gui().ActiveDocument:
        view = gui().ActiveDocument.ActiveView
    if not hasattr(view, "saveImage"):
        raise ValueError("No 3D view is open: bring one to the front in FreeCAD.")
    return view


def gui() -> Any:
    """Return FreeCAD's module of its window, which freecadcmd must not load."""
    import FreeCADGui

    return FreeCADGui
