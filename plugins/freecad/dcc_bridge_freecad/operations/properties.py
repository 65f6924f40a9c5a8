"""Properties of FreeCAD's objects: their names, what locks them, and their values. Main thread.

A path is a property or a part of a property, such as "Length", "Placement.Base.x" or
"ViewObject.LineWidth", or a cell of a spreadsheet.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, Final

import FreeCAD

from .. import sketches
from ..document import edge_parts, find, plain
from ..edge_references import SIZED, told_edges
from ..transactions import transactions
from .edge_items import selected, sized_edges

FILES: Final = {"App::PropertyFile", "App::PropertyFileIncluded", "App::PropertyPath"}
ERRORS: Final = (TypeError, ValueError, AttributeError, RuntimeError, ArithmeticError, IndexError)
CELL: Final = re.compile("[A-Z]{1,2}[0-9]+")
# Types of properties that JSON cannot carry, or that FreeCAD makes by itself.
_INTERNAL: Final = re.compile("Shape|Mesh|Points|Kernel|Python|Engine|PlacementList|Cells|Sheet")
_ALIAS: Final = "alias"  # the part of a cell that names it
_LINK: Final = re.compile("Property(X?Link|LinkSub)")
_ANGLE: Final = ["Rotation", "Angle"]  # in radians, unlike all other angles of FreeCAD
_PARTS: Final = ("Base.x", "Base.y", "Base.z", "Rotation.Angle")


def reason(error: BaseException) -> str:
    """Return the reason in a FreeCAD error, as a sentence without its full stop."""
    message = error.args[0] if error.args else str(error)
    if isinstance(message, dict):
        message = message.get("sErrMsg", "")
    text = " ".join(str(message).split()).rstrip(".")
    return text or type(error).__name__


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise FreeCAD's errors in the block as ValueErrors.

    Args:
        what: What could not be done: "Box cannot be put into Body". The reason follows.

    Raises:
        ValueError: The block raised one of `ERRORS`.
    """
    try:
        yield
    except ERRORS as error:
        raise ValueError(f"{what}: {reason(error)}.") from error


# ---- their names


def property_type(owner: Any, name: str) -> str:
    """Return the type of a property: "App::PropertyLength"."""
    return str(owner.getTypeIdOfProperty(name))


def is_listed(obj: Any, name: str) -> bool:
    """Return whether a person sees a property and JSON can carry it."""
    is_seen = "Hidden" not in obj.getEditorMode(name) or name == "Visibility"
    if not is_seen or name.startswith("_"):
        return False
    return not _INTERNAL.search(property_type(obj, name))


def is_of_cell(obj: Any, path: str) -> bool:
    """Return whether a path is a cell of a spreadsheet, by its address or alias, or its alias."""
    own, *inner = path.split(".")
    if inner not in ([], [_ALIAS]) or not obj.isDerivedFrom("Spreadsheet::Sheet"):
        return False
    return bool(CELL.fullmatch(own) or obj.getCellFromAlias(own))


def cells_of(obj: Any) -> dict[str, str]:
    """Return the filled cells of a spreadsheet with their aliases, or ""; none of another object.

    They are those that FreeCAD has computed.
    """
    if not obj.isDerivedFrom("Spreadsheet::Sheet"):
        return {}
    cells = filter(CELL.fullmatch, obj.PropertiesList)
    return {cell: obj.getAlias(cell) or "" for cell in cells}


def names_of_cells(obj: Any) -> list[str]:
    """Return the names of values that the filled cells of a spreadsheet have: A1, A1.alias."""
    names = list[str]()
    for cell, alias in cells_of(obj).items():
        names.append(cell)
        if alias:
            names.append(f"{cell}.{_ALIAS}")
    return names


def value_type(obj: Any, path: str) -> str:
    """Return the type of a value: "cell", "Length"; "" of a part of a property."""
    if is_of_cell(obj, path):
        return "cell"
    if "." in path:
        return ""
    return property_type(obj, path).partition("::Property")[2]


def links_of(obj: Any) -> list[str]:
    """Return the properties that link an object to those it is made of."""
    names = [name for name in obj.PropertiesList if _LINK.search(property_type(obj, name))]
    return [name for name in names if is_listed(obj, name) and name not in ("Group", "Origin")]


def itself(obj: Any) -> str:
    """Return the output that a link takes: the object itself, by its shape if it has a place."""
    return "Shape" if "Placement" in obj.PropertiesList else "object"


def paths(obj: Any) -> list[str]:
    """Return the paths that an expression can drive, or use."""
    result: list[str] = []
    for name in obj.PropertiesList:
        if property_type(obj, name) == sketches.CONSTRAINTS:
            result += [f"{name}.{size}" for size in sketches.size_names(obj, name)]
        elif is_listed(obj, name):
            result += _paths_in(name, getattr(obj, name, None))
    for cell, alias in cells_of(obj).items():
        result.append(cell)
        if alias:
            result.append(alias)
    return list(dict.fromkeys(result))


def _paths_in(name: str, value: Any) -> list[str]:
    """Return the paths of a property and its parts; none if its value cannot be computed with."""
    if isinstance(value, FreeCAD.Placement):
        return [f"{name}.{part}" for part in _PARTS]
    if isinstance(value, FreeCAD.Vector):
        return [f"{name}.{axis}" for axis in "xyz"]
    if isinstance(value, bool | int | float | str | FreeCAD.Units.Quantity):
        return [name]
    return []


def lock_reason(obj: Any, path: str) -> str:
    """Return why FreeCAD would refuse or lose a plain write; "" if a write lasts."""
    for target, text in obj.ExpressionEngine:
        name = target.lstrip(".")
        if name == path or name.startswith(f"{path}.") or path.startswith(f"{name}."):
            return f"{name} is driven by the expression {text}"
    own = path.partition(".")[0]
    if own == "Placement" and getattr(obj, "MapMode", "Deactivated") != "Deactivated":
        return f"attached (MapMode {obj.MapMode}); AttachmentOffset moves it"
    if own == "ScaleType" and _is_off_page(obj):
        return "a view on no page: put it into the Views of its page first"
    if CELL.fullmatch(own):  # read-only as a property, and set by the sheet
        return ""
    if own in obj.PropertiesList and "ReadOnly" in obj.getEditorMode(own):
        return "read-only"
    return ""


def _is_off_page(obj: Any) -> bool:
    """Return whether a view is on no page: FreeCAD 0.20 crashes as it fits one to its page."""
    if not obj.isDerivedFrom("TechDraw::DrawView"):
        return False
    return not any(user.isDerivedFrom("TechDraw::DrawPage") for user in obj.InListRecursive)


# ---- their values


def read(obj: Any, path: str) -> Any:
    """Return the value of a path; a rotation's angle in degrees.

    Raises:
        LookupError: There is no such property.
    """
    owner, own, inner = _split(obj, path)
    if own is None:
        return _read_cell(obj, path)
    if sketches.is_size(owner, own, inner):
        return sketches.read_size(owner, inner[0])
    value = getattr(owner, own)
    for step in inner:
        if not hasattr(value, step):
            raise LookupError(f"{obj.Name}.{own} has no part {step!r}.")
        value = getattr(value, step)
    return math.degrees(value) if inner[-2:] == _ANGLE else value


def told(obj: Any, path: str) -> Any:
    """Return the value of a path as JSON carries it; edges as items.

    Raises:
        LookupError: There is no such property.
    """
    value = read(obj, path)
    edges = told_edges(obj, path) if path in obj.PropertiesList else None
    return plain(value) if edges is None else edges


def write(obj: Any, path: str, value: Any) -> None:
    """Write the value of a path, as JSON carries it; a rotation's angle in degrees.

    Raises:
        LookupError: There is no such property.
        ValueError: FreeCAD does not take the value, or changes it.
    """
    owner, own, inner = _split(obj, path)
    try:
        if own is None:
            _write_cell(obj, path, value)
            return
        if isinstance(value, bool) and _is_number(read(obj, path)):
            raise TypeError("true and false are no numbers")
        _write_part(owner, own, inner, value)
        if not inner and _names_edges(owner, own):
            transactions().note_new_edges(obj)
    except ERRORS as error:
        hint = _type_hint(owner, own)
        raise ValueError(
            f"{obj.Name}.{path} cannot be {value!r}: {reason(error)}{hint}."
        ) from error
    after = plain(read(obj, path))
    are_numbers = isinstance(value, int | float) and isinstance(after, int | float)
    if are_numbers and not math.isclose(after, value, rel_tol=1e-6, abs_tol=1e-7):
        raise ValueError(f"{obj.Name}.{path} cannot be {value!r}: FreeCAD makes {after!r} of it.")


def _write_part(owner: Any, own: str, inner: list[str], value: Any) -> None:
    """Write a property, or a part of its value."""
    if sketches.is_size(owner, own, inner):
        sketches.write_size(owner, inner[0], value)
    elif inner:
        part = math.radians(value) if inner[-2:] == _ANGLE else value
        setattr(owner, own, _with_part(getattr(owner, own), inner, part))
    elif property_type(owner, own) == sketches.GEOMETRY:
        sketches.write_curves(owner, value)
    else:
        setattr(owner, own, _from_json(owner, own, value))
        touch_views(owner, own)
        set_base_feature(owner, own)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | FreeCAD.Units.Quantity) and not isinstance(value, bool)


def touch_views(owner: Any, own: str) -> None:
    """Have the views of a page computed, where its views were set.

    FreeCAD computes nothing of a view on no page, and leaves it so when the view is put on one.
    """
    if own == "Views" and owner.isDerivedFrom("TechDraw::DrawPage"):
        for view in owner.Views:
            view.touch()


def set_base_feature(owner: Any, own: str) -> None:
    """Restore the BaseFeature of a fillet or chamfer of a body, where its Base was set.

    FreeCAD empties BaseFeature with Base, and leaves it so when Base is set.
    """
    if own != "Base" or not owner.isDerivedFrom("PartDesign::DressUp"):
        return
    if owner.Base is not None and owner.BaseFeature is None:
        owner.BaseFeature = owner.Base[0]


def _split(obj: Any, path: str) -> tuple[Any, str | None, list[str]]:
    """Return the owner of a property, its name (None for a cell), and the steps into its value."""
    own, *inner = path.split(".")
    owner = obj
    if own == "ViewObject" and inner:
        if obj.ViewObject is None:
            raise LookupError("This FreeCAD has no window, so there is no ViewObject.")
        owner = obj.ViewObject
        own, *inner = inner
    if is_of_cell(obj, path):
        return obj, None, inner
    if own not in owner.PropertiesList:
        near = get_close_matches(own, owner.PropertiesList, 3, 0.4)
        hint = f"; names like it: {', '.join(near)}" if near else ""
        raise LookupError(f"{obj.Name} ({obj.TypeId}) has no property {own!r}{hint}.")
    return owner, own, inner


def _read_cell(sheet: Any, path: str) -> Any:
    """Return the value of a cell, or its alias: "A1", "A1.alias"."""
    cell, _, part = path.partition(".")
    if part:
        return sheet.getAlias(sheet.getCellFromAlias(cell) or cell) or ""
    return getattr(sheet, path, "")  # FreeCAD has no property of an empty cell


def _write_cell(sheet: Any, path: str, value: Any) -> None:
    """Write the content of a cell, or its alias; "" takes the alias away.

    Raises:
        ValueError: Another cell has the alias, or FreeCAD takes no such name.
    """
    own, _, part = path.partition(".")
    cell = sheet.getCellFromAlias(own) or own
    if not part:
        sheet.set(cell, str(value))
        return
    alias = str(value or "")
    owner = sheet.getCellFromAlias(alias) if alias else None
    if owner is not None and owner != cell:
        raise ValueError(f"it is the alias of {owner}")
    try:
        sheet.setAlias(cell, alias)
    except ValueError as error:
        raise ValueError(
            "an alias is a word of letters, digits and _, and no cell, unit or property"
        ) from error


def _with_part(whole: Any, inner: list[str], value: Any) -> Any:
    """Change a part of a value, and return the whole, which FreeCAD has to be given back."""
    if not inner:
        return value
    own, *rest = inner
    setattr(whole, own, _with_part(getattr(whole, own), rest, value))
    return whole


def _from_json(owner: Any, own: str, value: Any) -> Any:
    """Return a value that JSON carries as the value that FreeCAD's property takes."""
    kind = property_type(owner, own)
    if _names_edges(owner, own):
        value = _with_edges(owner, kind, value)
    if _LINK.search(kind):
        return _linked_objects(value)
    if kind == sketches.CONSTRAINTS:
        return sketches.constraints(value, getattr(owner, own))
    if isinstance(value, dict) and kind.endswith(("Placement", "PlacementLink")):
        turn = FreeCAD.Rotation(FreeCAD.Vector(*value["Axis"]), value["Angle"])
        return FreeCAD.Placement(FreeCAD.Vector(*value["Base"]), turn)
    if isinstance(value, list) and kind.endswith("VectorList"):
        return [FreeCAD.Vector(*each) for each in value]
    if isinstance(value, list) and not kind.endswith("List"):
        return tuple(value)
    return value


def _names_edges(owner: Any, own: str) -> bool:
    """Return whether a property may name edges of a shape."""
    kind = property_type(owner, own)
    return kind == SIZED or "LinkSub" in kind


def _with_edges(owner: Any, kind: str, value: Any) -> Any:
    """Return a value with FreeCAD's numbers of the edges that it names by items."""
    transactions().compute()  # what has changed until now belongs to the edges of before
    if kind == SIZED:
        return sized_edges(owner, value)
    items = value if isinstance(value, list) else [value]
    if not any(isinstance(item, str) and edge_parts(item) for item in items):
        return value
    found = [(obj, [f"Edge{number}" for number in numbers]) for obj, numbers in selected(items)]
    if "List" in kind:
        return found
    if len(found) > 1:
        raise ValueError(f"edges of one object alone, and not of {found[1][0].Name} too")
    return found[0]


def _linked_objects(value: Any) -> Any:
    """Return a link's value with objects in place of names; in (name, ["Face1"]) of the first."""
    match value:
        case str():
            return find(value)
        case [str() as name, [*elements]] if all(isinstance(each, str) for each in elements):
            return (find(name), elements)
        case list():
            return [_linked_objects(each) for each in value]
    return value


def _type_hint(owner: Any, own: str | None) -> str:
    """Return which choices a property has, or which type it takes, for the end of a sentence."""
    if own is None or _names_edges(owner, own):
        return ""
    choices = owner.getEnumerationsOfProperty(own)
    if choices:
        return f"; it is one of {', '.join(choices)}"
    kind = property_type(owner, own).partition("::Property")[2]
    return f"; it takes a {kind}"
