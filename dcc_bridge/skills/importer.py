"""Imports a skill file: the very bytes that were read and listed. Main thread.

Python's own import would look at the file again, and might run a compiled copy of what it was a
moment ago: that is recognised by its time in whole seconds and its size alone.
"""

from __future__ import annotations

import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from dcc_bridge.errors import BrokenSkill
from dcc_bridge.skills.skill import Skill, describe, metadata_of
from dcc_bridge.skills.source import Source

KEPT: Final = 16
"""Versions of a file that stay known to Python: a call that runs may still look its types up."""


def skills(source: Source) -> list[Skill]:
    """Import a file and describe its skills.

    They are the functions that are marked; where none is, the public ones with a docstring; where
    none has one, the public ones.

    Raises:
        BrokenSkill: It cannot be imported, or has no function to offer; says where and why.
    """
    module = _import(source)
    functions = list(_functions(module))
    marked = [fn for fn in functions if metadata_of(fn)]
    public = [fn for fn in functions if not fn.__name__.startswith(("_", "<"))]
    documented = [fn for fn in public if inspect.getdoc(fn)]
    described = [describe(fn, source.file, source.digest) for fn in marked or documented or public]
    if not described:
        raise nothing_in(source.file)
    return described


def nothing_in(file: Path) -> BrokenSkill:
    """Say that a file offers nothing."""
    return BrokenSkill(f"{file.name}: it has no function that is a skill, or could be one.")


def _functions(module: ModuleType) -> Iterator[Callable[..., Any]]:
    seen: set[int] = set()
    for value in vars(module).values():
        if inspect.isfunction(value) and value.__module__ == module.__name__:
            if id(value) not in seen:
                yield value
            seen.add(id(value))


def _import(source: Source) -> ModuleType:
    file = source.file
    stem = f"dcc_bridge_skill_{file.stem}_{sha256(str(file).encode()).hexdigest()[:8]}_"
    module = ModuleType(stem + source.digest[:8])
    module.__file__ = str(file)
    module.__spec__ = ModuleSpec(module.__name__, None, origin=str(file))
    before = sys.modules.pop(module.__name__, None)
    sys.modules[module.__name__] = module
    try:
        exec(compile(source.content, str(file), "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        if before is not None:
            sys.modules[module.__name__] = before
        raise BrokenSkill(f"{file.name}{_line(error, file)}: {_reason(error)}") from error
    for old in [name for name in sys.modules if name.startswith(stem)][:-KEPT]:
        del sys.modules[old]
    return module


def _line(error: BaseException, file: Path) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f", line {error.lineno}"
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    return f", line {lines[-1]}" if lines else ""


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"
