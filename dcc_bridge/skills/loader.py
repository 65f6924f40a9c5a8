"""From a folder of plain Python files to skills. Main thread, where host API may be imported."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from dcc_bridge.errors import BrokenSkill, SkillError
from dcc_bridge.skills.registry import Registry
from dcc_bridge.skills.skill import Skill, describe, metadata_of


def files(folder: Path) -> list[Path]:
    """List the files of a folder that may hold skills.

    Raises:
        SkillError: There is no such folder.
    """
    if not folder.is_dir():
        raise SkillError(f"There is no folder of skills at {folder}.")
    return sorted(file for file in folder.glob("*.py") if not file.name.startswith("_"))


def load(file: Path, registry: Registry, host: str = "") -> Callable[[], None]:
    """Load a file's skills. One that cannot be loaded is noted in the registry and harms no other.

    Args:
        file: A Python file.
        registry: Where its skills go.
        host: The host's name; a skill for other hosts is passed over.

    Returns:
        What takes them all out again.
    """
    undo: list[Callable[[], None]] = []
    try:
        for skill in skills(file):
            hosts = skill.metadata.hosts
            if not hosts or host in hosts:
                undo.append(registry.add(skill))
    except SkillError as error:
        undo.append(registry.note_broken(file.stem, BrokenSkill(str(error))))

    def unload() -> None:
        for one in reversed(undo):
            one()

    return unload


def skills(file: Path) -> list[Skill]:
    """Import a file and describe its skills.

    They are the functions that are marked; where none is, the public ones with a docstring; where
    none has one, the public ones.

    Raises:
        BrokenSkill: It cannot be imported, or has no function to offer; says where and why.
    """
    module = _import(file)
    marked = [fn for fn in _own(module) if metadata_of(fn)]
    public = [fn for fn in _own(module) if not fn.__name__.startswith("_")]
    told = [fn for fn in public if inspect.getdoc(fn)]
    found = [describe(fn, file) for fn in marked or told or public]
    if not found:
        raise BrokenSkill(f"{file.name}: it has no function that is a skill, or could be one.")
    return found


def _own(module: ModuleType) -> Iterator[Callable[..., Any]]:
    for value in vars(module).values():
        if inspect.isfunction(value) and value.__module__ == module.__name__:
            yield value


def _import(file: Path) -> ModuleType:
    name = f"dcc_bridge_skill_{file.stem}_{sha256(str(file).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise BrokenSkill(f"{file.name}: Python cannot import it.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise BrokenSkill(f"{file.name}{_line(error, file)}: {_reason(error)}") from error
    return module


def _line(error: BaseException, file: Path) -> str:
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
    return f", line {lines[-1]}" if lines else ""


def _reason(error: BaseException) -> str:
    return f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}"
