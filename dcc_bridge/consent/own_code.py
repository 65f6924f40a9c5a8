"""The owner of running code: the bridge, a host's adapter, or somebody else. Any thread.

Code can be compiled under any file name, and any code can reach the names of a module. So a code
object counts as the bridge's own, or as the importer's, by identity: its module held that very
object before somebody else's code could act. A host's adapter counts as part of the bridge,
wherever its package is.
"""

from __future__ import annotations

import gc
import sys
from functools import _lru_cache_wrapper, cached_property, lru_cache, partial
from types import CellType, CodeType, FrameType, FunctionType
from typing import Any, Final

AGREED: Final = "<agreed code>"  # the file name of agreed code, in its frames
IMPORTER: Final = "_frozen_importlib"
_CORE: Final = "dcc_bridge"
_CODE: Final = "dcc_bridge.code"
_WRAPPERS: Final = (
    property,
    classmethod,
    staticmethod,
    cached_property,
    partial,
    _lru_cache_wrapper,
)
_HOLDERS: Final = (dict, list, tuple, CellType, *_WRAPPERS)  # these hold functions and classes
_modules: Final = sys.modules  # agreed code may replace `sys.modules` by another dict
_packages: Final = {_CORE}  # the bridge's own packages
_noted: dict[str, Any] = {}  # the modules seen so far, by name
# The module, the names of the module and the code object itself, by the identity of the latter. The
# reference keeps the identity from being used again.
_codes: dict[int, tuple[str, dict[str, Any], CodeType]] = {}


def add_package(module: str) -> None:
    """Count a host's adapter as part of the bridge.

    The whole package of a leaf counts, ``dcc_bridge_NAME``. Of any other package, such as a
    studio's own, only the adapter's module counts.

    Args:
        module: The name of the module of the adapter, or of the adapter's operations.
    """
    parts = module.split(".")
    for number, part in enumerate(parts, 1):
        if part.startswith(f"{_CORE}_"):
            _packages.add(".".join(parts[:number]))
            return
    if module != "__main__":
        _packages.add(module)


def is_ours(module: str) -> bool:
    """Return whether a module is the bridge's own, by its name."""
    return any(module == package or module.startswith(f"{package}.") for package in _packages)


def note_modules() -> dict[str, Any]:
    """Mark the modules imported since the last call as seen, and return them by name.

    Called after agreed code, so that a module which that code imported never counts as ours.

    Returns:
        The modules of ours among them, and the importer.
    """
    new = dict[str, Any]()
    for name in list(_modules):
        if type(name) is not str or not _acts(name, len(_packages)):
            continue
        module = _modules[name]
        if _noted.get(name) is not module:
            new[name] = module
    _noted.update(new)
    return new


def note_code() -> None:
    """Note the code of the modules imported since the last call; never while agreed code runs."""
    for name, module in note_modules().items():
        names = getattr(module, "__dict__", {})
        _note_functions(name, names)


def _note_functions(module: str, names: dict[str, Any]) -> None:
    """Note the code of all functions that a module defines.

    Args:
        module: The name of the module.
        names: The dict of the module.
    """
    seen = set[int]()
    pending: list[Any] = [names]
    while pending:
        current = pending.pop()
        kind = type(current)  # `isinstance` would ask the host's own objects
        is_function = kind is FunctionType
        has_module = is_function or issubclass(kind, type)
        is_own = has_module and getattr(current, "__module__", None) == module
        if id(current) not in seen and (is_own or issubclass(kind, _HOLDERS)):
            seen.add(id(current))
            pending += gc.get_referents(current)
        if is_function and current.__globals__ is names:
            _note_code_object(current.__code__, module, names)


@lru_cache(8192)
def _acts(module: str, packages: int) -> bool:
    """Return whether a module of ours acts by itself when agreed code calls it, as `print` does.

    The modules that run agreed code do not.

    Args:
        module: The name of the module.
        packages: The number of our packages, which is part of the cache's key.
    """
    runs_code = module in (_CORE, _CODE) or module.startswith(f"{_CODE}.")
    return module == IMPORTER or (is_ours(module) and not runs_code)


def _note_code_object(code: CodeType, module: str, names: dict[str, Any]) -> None:
    """Note a code object, and those of the functions inside."""
    _codes[id(code)] = (module, names, code)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _note_code_object(constant, module, names)


def owner_of(frame: FrameType) -> str:
    """Return the name of the module of ours whose code a frame runs; "" for none.

    The frame must also have that module's global names.
    """
    noted = _codes.get(id(frame.f_code))
    if noted is None:
        return ""
    module, names, _ = noted
    if frame.f_globals is not names:
        return ""
    return module


def has_module(frame: FrameType) -> bool:
    """Return whether a frame has the global names of an imported module, such as a library."""
    if frame.f_code.co_filename == AGREED:
        return False
    name: Any = frame.f_globals.get("__name__")
    if type(name) is not str:
        return False
    module = _modules.get(name)
    return getattr(module, "__dict__", None) is frame.f_globals
