"""Checks that the skills of a file have a docstring, types and a mark, without importing it.

Any thread.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dcc_bridge.errors import SkillError
from dcc_bridge.skills.lint_forms import problem_of_result, problems_of_forms
from dcc_bridge.skills.source import Function, Source, Text
from dcc_bridge.skills.trust import check_folder, read_trusted


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong in a file.

    Attributes:
        file: The file.
        line: Its line, counted from 1.
        message: What is wrong, a sentence.
    """

    file: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


def files(path: Path) -> list[Path]:
    """Return the skill files at a path: the file itself, or those of a folder.

    Raises:
        SkillError: There is no file or folder.
    """
    if path.is_dir():
        return sorted(file for file in path.glob("*.py") if not file.name.startswith(("_", ".")))
    if not path.is_file():
        raise SkillError(f"There is no file or folder at {path}.")
    return [path]


def check(file: Path) -> list[Finding]:
    """Return what is wrong in a file, in the order of its skills."""
    try:
        text = read_text(file)
    except SkillError as error:
        return [Finding(file, _line(error), str(error))]
    if not text.chosen:
        return [Finding(file, 1, "It has no function that is a skill, or could be one.")]
    findings = []
    for function in text.chosen:
        try:
            text.metadata(function)
        except SkillError as error:  # its decorator is told what it does not know
            findings.append(Finding(file, function.lineno, str(error)))
        for line, problem in _problems(function):
            findings.append(Finding(file, line, f"{function.name}: {problem}"))
        unreadable = problem_of_result(function, text.tree)
        if unreadable:
            findings.append(Finding(file, function.lineno, f"{function.name}: {unreadable}"))
    findings += [Finding(file, line, told) for line, told in problems_of_forms(text.tree)]
    return findings


def read_text(file: Path) -> Text:
    """Read a skill file; SkillError if it cannot be read, or is no Python."""
    return Source.of(file, read_trusted(file, check_folder(file.parent))).text()


def _line(error: SkillError) -> int:
    cause = error.__cause__
    if isinstance(cause, SyntaxError):
        return cause.lineno or 1
    return 1


def _problems(function: Function) -> Iterator[tuple[int, str]]:
    """Yield the lines of a skill at which something is missing, and what."""
    if not ast.get_docstring(function):
        yield function.lineno, "it has no docstring that says when to call it."
    given = function.args
    for parameter in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        if parameter.annotation is None:
            yield parameter.lineno, f"{parameter.arg!r} has no type, so agents may pass anything."
    if not any(map(_marks, function.decorator_list)):
        problem = 'it states no risk, so it counts as "destructive": add @skill(risk=...).'
        yield function.lineno, problem


def _marks(decorator: ast.expr) -> bool:
    """Return whether a decorator makes a skill of a function, or states its risk."""
    called = decorator
    if isinstance(decorator, ast.Call):
        names = {keyword.arg for keyword in decorator.keywords}
        if names & {"risk", None}:  # a ``**`` has no name, and may hold it
            return True
        called = decorator.func
    return ast.unparse(called).rpartition(".")[2] == "skill"
