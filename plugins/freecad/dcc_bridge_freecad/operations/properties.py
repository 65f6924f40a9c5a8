"""Properties of FreeCAD's objects: which there are, what holds them, and their values.

A path is a property or a part of one, such as "Length", "Placement.Base.x", "ViewObject.LineWidth",
or a cell of a spreadsheet. Main thread.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, Final

import FreeCAD

from ..document import find, plain

FILES: Final = {"App::PropertyFile", "App::PropertyFileIncluded", "App::PropertyPath"}
ERRORS: Final = (TypeError, ValueError, AttributeError, RuntimeError, ArithmeticError, IndexError)
CELL: Final = re.compile("[A-Z]{1,2}[0-9]+")
# What JSON cannot carry, or FreeCAD makes by itself.
_INNER: Final = re.compile(
    "Shape|Mesh|Points|Kernel|Python|Engine|PlacementList|Cells|Sheet|Geometry|ConstraintList"
)
_LINK: Final = re.compile("Property(X?Link|LinkSub)")
_ANGLE: Final = ["Rotation", "Angle"]  # in radians, where all else is in degrees
_PARTS: Final = ("Base.x", "Base.y", "Base.z", "Rotation.Angle")


def reason(error: BaseException) -> str:
    """Return what FreeCAD says of an error, without what it says around it."""
    said = error.args[0] if error.args else ""
    text = str(said.get("sErrMsg", "") if isinstance(said, dict) else said)
    return " ".join(text.split()).rstrip(".") or type(error).__name__


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise FreeCAD's errors as ValueErrors that say what could not be done."""
    try:
        yield
    except ERRORS as error:
        raise ValueError(f"{what}: {reason(error)}.") from error


# ---- which there are


def form(owner: Any, name: str) -> str:
    """Return the type of a property: "App::PropertyLength"."""
    return str(owner.getTypeIdOfProperty(name))


def is_told(obj: Any, name: str) -> bool:
    """Return whether a person sees a property and JSON can carry it."""
    is_seen = "Hidden" not in obj.getEditorMode(name) or name == "Visibility"
    return is_seen and not name.startswith("_") and not _INNER.search(form(obj, name))


def links_of(obj: Any) -> list[str]:
    """List the properties by which an object is made of others."""
    names = [name for name in obj.PropertiesList if _LINK.search(form(obj, name))]
    return [name for name in names if is_told(obj, name) and name not in ("Group", "Origin")]


def paths(obj: Any) -> list[str]:
    """List what an expression can lead to, or come from."""
    found: list[str] = []
    for name in obj.PropertiesList:
        value = getattr(obj, name, None) if is_told(obj, name) else None
        if isinstance(value, FreeCAD.Placement):
            found += [f"{name}.{part}" for part in _PARTS]
        elif isinstance(value, FreeCAD.Vector):
            found += [f"{name}.{axis}" for axis in "xyz"]
        elif isinstance(value, bool | int | float | str | FreeCAD.Units.Quantity):
            found.append(name)
    if obj.isDerivedFrom("Spreadsheet::Sheet"):
        cells = [name for name in obj.PropertiesList if CELL.fullmatch(name)]
        found += [name for cell in cells for name in (cell, obj.getAlias(cell)) if name]
    return list(dict.fromkeys(found))


def held(obj: Any, path: str) -> str:
    """Say why a plain write would be refused or lost; nothing where it would not."""
    for driven, text in obj.ExpressionEngine:
        name = driven.lstrip(".")
        if name == path or name.startswith(f"{path}.") or path.startswith(f"{name}."):
            return f"{name} is driven by the expression {text}"
    own = path.partition(".")[0]
    if own == "Placement" and getattr(obj, "MapMode", "Deactivated") != "Deactivated":
        return f"attached (MapMode {obj.MapMode}); AttachmentOffset moves it"
    is_cell = CELL.fullmatch(own)  # one is read-only as a property, and set by the sheet
    is_locked = own in obj.PropertiesList and "ReadOnly" in obj.getEditorMode(own)
    return "read-only" if is_locked and not is_cell else ""


# ---- their values


def read(obj: Any, path: str) -> Any:
    """Read a value; LookupError where there is no such property."""
    owner, own, inner = _split(obj, path)
    if own is None:
        return getattr(obj, path)
    value = getattr(owner, own)
    for step in inner:
        if not hasattr(value, step):
            raise LookupError(f"{obj.Name}.{own} has no part {step!r}.")
        value = getattr(value, step)
    return math.degrees(value) if inner[-2:] == _ANGLE else value


def write(obj: Any, path: str, value: Any) -> None:
    """Write a value; ValueError where FreeCAD does not take it."""
    owner, own, inner = _split(obj, path)
    try:
        if own is None:
            obj.set(obj.getCellFromAlias(path) or path, str(value))
            return
        given = math.radians(value) if inner[-2:] == _ANGLE else value
        new = _changed(getattr(owner, own), inner, given) if inner else _given(owner, own, value)
        setattr(owner, own, new)
    except ERRORS as error:
        raise ValueError(
            f"{obj.Name}.{path} cannot be {value!r}: {reason(error)}{_takes(owner, own)}."
        ) from error
    after = plain(read(obj, path))
    are_numbers = isinstance(value, int | float) and isinstance(after, int | float)
    if are_numbers and not math.isclose(after, value, rel_tol=1e-6, abs_tol=1e-7):
        raise ValueError(f"{obj.Name}.{path} cannot be {value!r}: FreeCAD makes {after!r} of it.")


def _split(obj: Any, path: str) -> tuple[Any, str | None, list[str]]:
    """Return the owner of a property, its name (None for a cell), and the steps into its value."""
    own, *inner = path.split(".")
    owner = obj
    if own == "ViewObject" and inner:
        if obj.ViewObject is None:
            raise LookupError("This FreeCAD has no window, so there is no ViewObject.")
        owner, (own, *inner) = obj.ViewObject, inner
    is_sheet = obj.isDerivedFrom("Spreadsheet::Sheet")
    if is_sheet and (CELL.fullmatch(own) or obj.getCellFromAlias(own)):
        return obj, None, []
    if own not in owner.PropertiesList:
        near = get_close_matches(own, owner.PropertiesList, 3, 0.4)
        told = f"; near: {', '.join(near)}" if near else ""
        raise LookupError(f"{obj.Name} ({obj.TypeId}) has no property {own!r}{told}.")
    return owner, own, inner


def _changed(whole: Any, inner: list[str], value: Any) -> Any:
    """Change a part of a value: FreeCAD sees that only if all of it is given back."""
    if not inner:
        return value
    setattr(whole, inner[0], _changed(getattr(whole, inner[0]), inner[1:], value))
    return whole


def _given(owner: Any, own: str, value: Any) -> Any:
    """Make what FreeCAD takes of what JSON carries."""
    kind = form(owner, own)
    if _LINK.search(kind):
        return _objects(value)
    if isinstance(value, dict) and kind.endswith(("Placement", "PlacementLink")):
        turn = FreeCAD.Rotation(FreeCAD.Vector(*value["Axis"]), value["Angle"])
        return FreeCAD.Placement(FreeCAD.Vector(*value["Base"]), turn)
    if isinstance(value, list) and kind.endswith("VectorList"):
        return [FreeCAD.Vector(*each) for each in value]
    return tuple(value) if isinstance(value, list) and not kind.endswith("List") else value


def _objects(value: Any) -> Any:
    """Find the objects that are named; in (name, ["Face1"]) the second is no object."""
    match value:
        case str():
            return find(value)
        case [str() as name, [*parts]] if all(isinstance(part, str) for part in parts):
            return (find(name), parts)
        case list():
            return [_objects(each) for each in value]
    return value


def _takes(owner: Any, own: str | None) -> str:
    """Say which choices there are, or which type it takes."""
    if own is None:
        return ""
    choices = owner.getEnumerationsOfProperty(own)
    kind = form(owner, own).partition("::Property")[2]
    return f"; it is one of {', '.join(choices)}" if choices else f"; it takes a {kind}"
