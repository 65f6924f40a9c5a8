"""The classes and functions of USD's Python modules, for `find_api`. Main thread."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any, Final

from dcc_bridge.spi import ApiEntry, shortened

# The modules that scripts use, each with how likely it is that somebody means a name of it.
_MODULES: Final = {
    "Usd": 1.0,
    "UsdGeom": 0.9,
    "UsdShade": 0.9,
    "UsdLux": 0.8,
    "UsdSkel": 0.8,
    "UsdPhysics": 0.8,
    "UsdUtils": 0.8,
    "Sdf": 0.7,
    "Gf": 0.7,
}
# Classes that code is never written for.
_INTERNAL: Final = re.compile(r"_.*_|Desc(Vector)?$|Vector$|Tokens$|Keys$|ListOp$|Array|Predicate")
# Of each property of a schema there is a card that tells more.
_ACCESSORS: Final = re.compile(r"(Create|Get)\w+Attr$|GetSchemaAttributeNames$|CanContain")
_MAX_CHARACTERS: Final = 160  # of a documentation
_METHOD: Final = 0.9  # beside the class alone


def entries() -> Iterator[ApiEntry]:
    """Yield the classes, their own methods, and the functions of the modules."""
    for module_name, weight in _MODULES.items():
        module: Any = importlib.import_module(f"pxr.{module_name}")
        for name in dir(module):
            thing = getattr(module, name)
            full = f"{module_name}.{name}"
            if name.startswith("_") or _INTERNAL.search(name):
                continue
            if isinstance(thing, type):
                yield ApiEntry(full, "class", _line(thing), weight=weight)
                yield from _methods(full, thing, weight * _METHOD)
            elif callable(thing):
                yield ApiEntry(full, "function", _line(thing), weight=weight)


def _methods(owner: str, kind: type, weight: float) -> Iterator[ApiEntry]:
    for name, method in vars(kind).items():
        if name.startswith("_") or _ACCESSORS.search(name):
            continue
        if isinstance(method, type):
            continue
        function = callable(method) or isinstance(method, staticmethod | classmethod)
        sort = "function" if function else "property"
        yield ApiEntry(f"{owner}.{name}", sort, _line(method), weight=weight)


def _line(thing: Any) -> str:
    """Return the first line of the documentation, which the wheels of USD mostly lack."""
    if isinstance(thing, staticmethod | classmethod):
        thing = thing.__func__  # of itself it has the documentation of all such
    if isinstance(thing, int | float | str):
        return ""  # what is said is said of all numbers
    text = inspect.cleandoc(getattr(thing, "__doc__", None) or "")
    return shortened(text.partition("\n")[0], _MAX_CHARACTERS)
