"""Look through skill files. Any thread."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dcc_bridge.errors import SkillError
from dcc_bridge.skills.files import trust
from dcc_bridge.skills.files.source import Function, Source, Text
from dcc_bridge.skills.lint import rules
from dcc_bridge.skills.lint.reach import Reach
from dcc_bridge.skills.registry import check_name


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Something that is wrong.

    Attributes:
        file: Where.
        line: Where in it.
        said: A sentence.
    """

    file: Path
    line: int
    said: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.said}"


def files(path: Path) -> list[Path]:
    """Give the skill files at a path: itself, or those of a folder.

    Raises:
        SkillError: There is nothing there.
    """
    if path.is_dir():
        return sorted(one for one in path.glob("*.py") if not one.name.startswith(("_", ".")))
    if not path.is_file():
        raise SkillError(f"There is no file and no folder at {path}.")
    return [path]


def check(given: Sequence[Path], others: Sequence[Path] = ()) -> list[Finding]:
    """Look through files.

    Args:
        given: The files.
        others: Files that are trusted no less, whose names are taken.
    """
    found: list[Finding] = []
    taken: dict[str, tuple[Path, int]] = {}
    for file in [*others, *given]:
        is_given = file in given
        try:
            text = _read(file)
        except SkillError as error:
            found += [Finding(file, _line(error), str(error))] if is_given else []
            continue
        if is_given:
            found += [Finding(file, *one) for one in _said(text)]
        for name, line in text.names():
            first = taken.setdefault(name, (file, line))
            if first != (file, line) and is_given:
                place = f"{first[0]}:{first[1]}"
                found.append(Finding(file, line, f"{name}: this name is taken, by {place}."))
    return sorted(found)


def _read(file: Path) -> Text:
    root = trust.check_folder(file.parent)
    return Source.of(file, trust.read(file, root)).text()


def _line(error: SkillError) -> int:
    cause = error.__cause__
    return (cause.lineno or 1) if isinstance(cause, SyntaxError) else 1


def _said(text: Text) -> Iterator[tuple[int, str]]:
    for node in ast.walk(text.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield (
                node.lineno,
                "A skill file is no part of a package: it cannot import from its own.",
            )
    if not text.chosen:
        yield 1, "It has no function that is a skill, or could be one."
    reach, modules = Reach(text.tree), set(_modules(text.tree))
    for function in text.chosen:
        yield from _of(function, text, reach, modules)


def _of(
    function: Function, text: Text, reach: Reach, modules: set[str]
) -> Iterator[tuple[int, str]]:
    yield from rules.told(function)
    calls = reach.calls(function)
    yield from rules.waits(function, calls)
    try:
        metadata = text.metadata(function)
        if metadata is not None:
            check_name(metadata.name or function.name)
            yield from rules.risk(function, metadata, calls, modules)
            yield from rules.asks(function, metadata, calls)
    except SkillError as error:
        yield function.lineno, str(error)


def _modules(tree: ast.Module) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)
