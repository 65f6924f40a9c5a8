"""The owner of running code: the bridge, a host's adapter, or somebody else. Any thread.

Code can be compiled under any file name, and any text can reach the names of a module. So code
counts as ours, or as the importer's, by identity: it is the object that its module held before
somebody else's code could act. A host's adapter is ours too, wherever its package is.
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
_WRAPS: Final = (property, classmethod, staticmethod, cached_property, partial, _lru_cache_wrapper)
_HOLDERS: Final = (dict, list, tuple, CellType, *_WRAPS)  # what functions and classes are in
_modules: Final = sys.modules  # agreed code may put another in its place
_packages: Final = {_CORE}  # ours
_noted: dict[str, Any] = {}
_codes: dict[int, tuple[str, dict[str, Any], CodeType]] = {}  # by identity: module, names, itself


def add_package(module: str) -> None:
    """Count a host's adapter as part of the bridge.

    A leaf's whole package is one, ``dcc_bridge_NAME``. Of any other package, such as a studio's
    own, only the adapter's module is: the rest stays as strange as all else.

    Args:
        module: The name of the adapter's module, or of that of its operations.
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
    return any(module == it or module.startswith(f"{it}.") for it in _packages)


def note_modules() -> dict[str, Any]:
    """Mark the modules imported since the last call as seen, and return them by name.

    Called after agreed code, so that what that code imported is never taken for ours.
    """
    modules = {
        it: _modules[it] for it in [*_modules] if type(it) is str and _acts(it, len(_packages))
    }
    fresh = {name: it for name, it in modules.items() if _noted.get(name) is not it}
    _noted.update(fresh)
    return fresh


def note_code() -> None:
    """Note the code of the modules imported since the last call; never while agreed code runs."""
    for name, module in note_modules().items():
        own, seen = getattr(module, "__dict__", {}), set[int]()
        pending: list[Any] = [own]
        while pending:
            it = pending.pop()
            kind = type(it)  # `isinstance` would ask the host's own objects
            is_function = kind is FunctionType
            has_name = is_function or issubclass(kind, type)
            is_own = has_name and getattr(it, "__module__", None) == name
            if id(it) not in seen and (is_own or issubclass(kind, _HOLDERS)):
                seen.add(id(it))
                pending += gc.get_referents(it)
            if is_function and it.__globals__ is own:
                _keep(it.__code__, name, own)


@lru_cache(8192)
def _acts(module: str, packages: int) -> bool:
    """Return whether a module of ours acts when agreed code calls it, as `print` does.

    The modules that run that code do not. The number of packages is part of the cache's key.
    """
    runs_code = module in (_CORE, _CODE) or module.startswith(f"{_CODE}.")
    return module == IMPORTER or (is_ours(module) and not runs_code)


def _keep(code: CodeType, name: str, own: dict[str, Any]) -> None:
    _codes[id(code)] = name, own, code
    for it in code.co_consts:
        if isinstance(it, CodeType):
            _keep(it, name, own)


def owner_of(frame: FrameType) -> str:
    """Return the module of ours whose code a frame runs, among its own names; "" for none."""
    name, own, _ = _codes.get(id(frame.f_code), ("", None, None))
    return name if frame.f_globals is own else ""


def has_module(frame: FrameType) -> bool:
    """Return whether a frame runs among the names of an imported module, such as a library's."""
    name: Any = frame.f_globals.get("__name__")
    module = _modules.get(name) if type(name) is str else None
    is_own = getattr(module, "__dict__", None) is frame.f_globals
    return is_own and frame.f_code.co_filename != AGREED
