"""FreeCAD's types, modules and classes, for `find_api`. Main thread."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Final

from dcc_bridge.spi import ApiEntry, other_value, shortened

from ..document import plain
from .places import scratch_document
from .properties import is_listed, lock_reason, property_type

# The modules that macros use, each with how likely it is that somebody means a name of it.
_MODULES: Final = {
    "FreeCAD": 1.0,
    "Part": 1.0,
    "Mesh": 0.9,
    "Sketcher": 0.9,
    "PartDesign": 0.8,
    "Draft": 0.9,
    "Spreadsheet": 0.9,
    "Import": 0.9,
}
_LOADED: Final = "Import"  # of these, the one that no other module has loaded
_OF_TYPES: Final = 0.9  # a property beside its type
_SELDOM: Final = 0.5  # a property that is hidden, or that everything has
_OF_CLASSES: Final = 0.8  # a method beside a function
_MAX_DOC_CHARACTERS: Final = 160
# Types of properties whose values are a number or a text.
_SETTABLE: Final = re.compile(
    "::Property(Float|Length|Distance|Angle|Integer|Bool|String|Enumeration|Percent|Area|Volume)"
    "(Constraint)?$"
)
# What an example creates below another one, as it cannot stand alone.
_IN_BODY: Final = "PartDesign::"
_BODY: Final = "PartDesign::Body"
_NEEDS_A_PROFILE: Final = "PartDesign::Hole"  # before it takes a value
_WITHOUT_EXAMPLE: Final = {"MaxWidth", "TileRow"}  # of TechDraw: no other value is at hand
_EDGES: Final = (
    'list_items(under="Pad/edge:") lists the edges of a shape; "Pad/edge:vertical" names some by '
    "words: x y z line circle arc, top bottom left right front back or +x -x, x=15, r=4, all."
)
_HOUSEKEEPING: Final = frozenset({"Label", "Label2", "ExpressionEngine", "Visibility"})


def entries(types: Iterable[str]) -> Iterator[ApiEntry]:
    """Yield types with their properties and methods, and what is in the loaded modules.

    Args:
        types: Those that can be created.
    """
    classes: dict[type, None] = {}
    hides = _set("item", "Visibility", False)
    yield ApiEntry("Visibility", "property", "Whether an object is shown", "bool", hides)
    yield ApiEntry("edge", "type", _EDGES)
    for kind in types:
        yield ApiEntry(f"create type {kind}", "type", example=_create(kind))
        yield from _properties(kind, classes)
    for cls in classes:
        owner = f"{cls.__module__}::{cls.__name__}"
        yield from _members(owner, cls, _OF_CLASSES)
    with suppress(ImportError):
        importlib.import_module(_LOADED)
    for name, weight in _MODULES.items():
        if name in sys.modules:
            yield from _module(name, weight, classes)


def _module(module_name: str, weight: float, known: dict[type, None]) -> Iterator[ApiEntry]:
    """Yield the functions and classes of a module that is loaded.

    Args:
        module_name: The module.
        weight: How likely it is that somebody means a name of it.
        known: The classes whose members have been told; gets those of the module.
    """
    module = sys.modules[module_name]
    classes: dict[type, str] = {}
    for name in dir(module):
        thing = getattr(module, name, None)
        if not callable(thing) or name.startswith("_"):
            continue
        full = f"{module_name}.{name}"
        yield ApiEntry(full, "function", _line(thing), weight=weight)
        if isinstance(thing, type):
            classes[thing] = full
    for cls in sorted(classes, key=lambda each: len(each.__mro__)):
        for base in cls.__mro__:  # some bases are in no module
            if base not in known and base is not object and (base is cls or base not in classes):
                known[base] = None
                yield from _members(classes[cls], base, weight * _OF_CLASSES)


def _members(owner: str, cls: type, weight: float) -> Iterator[ApiEntry]:
    """Yield the methods and attributes that a class has of its own."""
    for name, member in vars(cls).items():
        if name.startswith("_"):
            continue
        kind = "function" if callable(member) else "property"
        yield ApiEntry(f"{owner}.{name}", kind, _line(member), weight=weight)


def _properties(kind: str, classes: dict[type, None]) -> Iterator[ApiEntry]:
    """Yield the properties of a type, which FreeCAD knows only of an object.

    Args:
        kind: The type.
        classes: Gets the classes of the object, which have its methods.
    """
    found = []
    # FreeCAD lists some types of which no object can stand alone.
    with scratch_document() as scratch, suppress(TypeError, RuntimeError):
        obj = scratch.addObject(kind, "It")
        for cls in type(obj).__mro__:
            if cls.__module__ in (*_MODULES, "App"):
                classes[cls] = None
        for name in obj.PropertiesList:
            choices = obj.getEnumerationsOfProperty(name) or ()
            signature = ", ".join([property_type(obj, name), *choices])
            doc = obj.getDocumentationOfProperty(name)
            example = _property_example(kind, obj, name)
            weight = _OF_TYPES
            if name in _HOUSEKEEPING or not is_listed(obj, name):
                weight = _SELDOM
            full = f"{kind}.{name}"
            found.append(ApiEntry(full, "property", doc, signature, example, weight=weight))
    yield from found


def _property_example(kind: str, obj: Any, name: str) -> str:
    """Return the call that sets a property to another value; "" where none is at hand."""
    if not _SETTABLE.search(property_type(obj, name)) or lock_reason(obj, name):
        return ""
    if name in _HOUSEKEEPING | _WITHOUT_EXAMPLE or kind == _NEEDS_A_PROFILE:
        return ""
    value = other_value(plain(getattr(obj, name)), obj.getEnumerationsOfProperty(name) or ())
    if value is None:
        return ""
    return _set(kind, name, value)


def _set(kind: str, name: str, value: Any) -> str:
    """Return the call that sets a property of an object of a type."""
    return f"set_values {json.dumps({'items': [f'<{kind}>'], 'values': {name: value}})}"


def _create(kind: str) -> str:
    """Return the call that creates an object."""
    thing: dict[str, Any] = {"type": kind}
    things = [thing]
    if kind.startswith(_IN_BODY) and kind != _BODY:
        thing["under"] = "Body"
        things.insert(0, {"type": _BODY, "name": "Body"})
    return f"create {json.dumps({'things': things})}"


def _line(thing: Any) -> str:
    return shortened(" ".join((thing.__doc__ or "").split()), _MAX_DOC_CHARACTERS)
