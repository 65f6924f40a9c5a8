"""The documents, as adapter and operations look at them. Main thread."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from types import SimpleNamespace
from typing import Any, Final

import FreeCAD

from dcc_bridge.spi import Changes, CountChanges

_MOST: Final = 200  # parts of a value that an agent is given
_NO_PICTURE: Final = ("offscreen", "minimal")


def document() -> Any:
    """Return the active document; LookupError where none is open."""
    if FreeCAD.ActiveDocument is None:
        raise LookupError("No document is open in FreeCAD: open one, or make a new one.")
    return FreeCAD.ActiveDocument


def look_up(item: str) -> Any:
    """Return the object of that name, or of the label that it alone has; None if there is none."""
    obj = document().getObject(item)
    labelled = document().getObjectsByLabel(item) if obj is None else [obj]
    return labelled[0] if len(labelled) == 1 else None


def find(item: str) -> Any:
    """Find an object by its name, or the label that it alone has; LookupError if there is none."""
    if (obj := look_up(item)) is not None:
        return obj
    if many := len(document().getObjectsByLabel(item)):
        raise LookupError(f"{many} objects have the label {item!r}: give the name of one.")
    near = ", ".join(get_close_matches(item, (it.Name for it in document().Objects), 3, 0.5))
    told = f"; near: {near}." if near else "."
    raise LookupError(f"There is no object {item!r} in {document().Label}{told}")


def called(obj: Any) -> str:
    """Return what the tree calls an object, and behind it the inner name where that is another."""
    if obj.Label == obj.Name:
        return str(obj.Name)
    return f"{obj.Label} ({obj.Name})"


def facts(item: str) -> list[Any]:
    """Return the facts that tell an object from another one, and that a person agreed to."""
    obj = document().getObject(item) if FreeCAD.ActiveDocument else None
    if obj is None:
        return [item, "gone"]
    used = sorted((other.Name, other.TypeId) for other in obj.OutListRecursive)
    locks = [(name, obj.getEditorMode(name)) for name in obj.PropertiesList]
    return [item, obj.ID, obj.TypeId, obj.Label, sorted(o.Name for o in obj.InList), used, locks]


def reach(item: str) -> set[str]:
    """Name an object, and what is in it where it is a group."""
    found, ahead = {item}, [document().getObject(item)] if FreeCAD.ActiveDocument else []
    for obj in filter(None, ahead):  # the list grows meanwhile
        if obj.hasExtension("App::GroupExtension") or hasattr(obj, "OriginFeatures"):
            ahead += [other for other in obj.OutList if other.Name not in found]
            found.update(other.Name for other in obj.OutList)
    return found


@contextmanager
def noting_changes() -> Iterator[CountChanges]:
    """Note what becomes of objects, in every document; FreeCAD tells of each, if none is closed."""
    home, documents = getattr(FreeCAD.ActiveDocument, "Name", ""), {*FreeCAD.listDocuments()}
    created, changed, deleted = dict[str, None](), dict[str, None](), dict[str, None]()

    def name(obj: Any) -> str:
        document = obj.Document.Name
        return str(obj.Name) if document == home else f"{document}#{obj.Name}"

    def note_end(obj: Any) -> None:
        if created.pop(name(obj), deleted) is deleted:  # else it was made after the beginning
            deleted[name(obj)] = None

    listener = SimpleNamespace(
        slotCreatedObject=lambda obj: created.setdefault(name(obj)),
        slotChangedObject=lambda obj, _: changed.setdefault(name(obj)),
        slotDeletedObject=note_end,
    )
    FreeCAD.addDocumentObserver(listener)
    try:
        yield lambda: Changes(
            [*created],
            [it for it in changed if it not in created and it not in deleted],
            [*deleted],
            is_exact=documents == {*FreeCAD.listDocuments()},
        )
    finally:
        FreeCAD.removeDocumentObserver(listener)


def plain(value: Any) -> Any:
    """Return a property's value as JSON can carry it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(
        value, FreeCAD.Units.Quantity
    ):  # a length, an angle: the number is in mm or degrees
        return value.Value
    if isinstance(value, FreeCAD.Placement):
        rotation = value.Rotation
        return {
            "Base": plain(value.Base),
            "Axis": plain(rotation.Axis),
            "Angle": math.degrees(rotation.Angle),
        }
    if isinstance(value, list | tuple | FreeCAD.Vector):
        return [plain(part) for part in islice(value, _MOST)]
    return str(getattr(value, "Name", None) or value)[:_MOST]


def view_3d() -> Any:
    """Return the 3D view of the active document; ValueError where none can be drawn."""
    if os.environ.get("QT_QPA_PLATFORM") in _NO_PICTURE:
        raise ValueError("This FreeCAD has no screen: what it would draw crashes it.")
    shown = gui().ActiveDocument.ActiveView if gui().ActiveDocument else None
    if not hasattr(shown, "saveImage"):
        raise ValueError("No 3D view is open: bring one to the front in FreeCAD.")
    return shown


def gui() -> Any:
    """Return FreeCAD's window side, which freecadcmd must not load."""
    import FreeCADGui

    return FreeCADGui
