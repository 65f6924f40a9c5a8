"""The active document, as the adapter and the skills look at it. Main thread."""

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

from dcc_bridge.host import Changes, CountChanges

_MOST: Final = 200  # parts of a value that an agent is given
_NO_PICTURE: Final = ("offscreen", "minimal")


def document() -> Any:
    """Give the active document; LookupError where none is open."""
    if FreeCAD.ActiveDocument is None:
        raise LookupError("No document is open in FreeCAD: open one, or make a new one.")
    return FreeCAD.ActiveDocument


def find(item: str) -> Any:
    """Find an object by its name, or the label that it alone has; LookupError if there is none."""
    obj = document().getObject(item)
    labelled = document().getObjectsByLabel(item) if obj is None else [obj]
    if len(labelled) > 1:
        raise LookupError(f"{len(labelled)} objects have the label {item!r}: give the name of one.")
    if not labelled:
        near = ", ".join(get_close_matches(item, (it.Name for it in document().Objects), 3, 0.5))
        told = f"; near: {near}." if near else "."
        raise LookupError(f"There is no object {item!r} in {document().Label}{told}")
    return labelled[0]


def facts(item: str) -> list[Any]:
    """Give what tells an object from another one, and what a person agreed to of it."""
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
    """Note what becomes of objects, in every document; FreeCAD tells of each."""
    home = FreeCAD.ActiveDocument.Name if FreeCAD.ActiveDocument else ""
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
            is_exact=True,
        )
    finally:
        FreeCAD.removeDocumentObserver(listener)


def plain(value: Any) -> Any:
    """Give a property's value as JSON can carry it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if hasattr(value, "UserString"):  # a length, an angle: the number is in mm or degrees
        return value.Value
    if hasattr(value, "Rotation"):
        rotation = value.Rotation
        return {
            "Base": plain(value.Base),
            "Axis": plain(rotation.Axis),
            "Angle": math.degrees(rotation.Angle),
        }
    if isinstance(value, list | tuple | FreeCAD.Vector):
        return [plain(part) for part in islice(value, _MOST)]
    return str(getattr(value, "Name", None) or value)[:_MOST]


def view() -> Any:
    """Give the 3D view of the active document; ValueError where none can be drawn."""
    if os.environ.get("QT_QPA_PLATFORM") in _NO_PICTURE:
        raise ValueError("This FreeCAD has no screen: what it would draw crashes it.")
    shown = gui().ActiveDocument.ActiveView if gui().ActiveDocument else None
    if not hasattr(shown, "saveImage"):
        raise ValueError("No 3D view is open: bring one to the front in FreeCAD.")
    return shown


def gui() -> Any:
    """Give FreeCAD's window side, which freecadcmd must not load."""
    import FreeCADGui

    return FreeCADGui
