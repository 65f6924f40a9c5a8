"""The linter of skill files: docstrings, risks, blocking calls and names. Any thread."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from types import MappingProxyType
from typing import Final, get_args

import docstring_parser

from dcc_bridge.elicitation.call import Risk
from dcc_bridge.errors import SkillError
from dcc_bridge.skills import lint_tables
from dcc_bridge.skills.registry import check_name
from dcc_bridge.skills.skill import HOSTS, Metadata
from dcc_bridge.skills.source import Function, Names, Source, Text, check_folder, read_trusted

Messages = Iterator[tuple[int, str]]  # lines, and what is wrong there
Need = tuple[int, str, str]  # a line, what it does, and the risk that a skill has to have for that
Reader = Callable[[ast.Module], Callable[[Iterable[ast.AST]], Iterable[Need]]]
RISKS: Final = get_args(Risk)


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Something that is wrong."""

    file: Path
    line: int  # where in it
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


def files(path: Path) -> list[Path]:
    """Give the skill files at a path: itself, or those of a folder; SkillError if none is there."""
    if path.is_dir():
        return sorted(it for it in path.glob("*.py") if not it.name.startswith(("_", ".")))
    if not path.is_file():
        raise SkillError(f"There is no file or folder at {path}.")
    return [path]


def check(
    given: Sequence[Path],
    reader: Reader,
    others: Sequence[Path] = (),
    own: Mapping[str, Sequence[Path]] = MappingProxyType({}),
) -> list[Finding]:
    """Look through skill files.

    Args:
        given: The files that are looked through. Those that are not among the others come last.
        reader: Reads a file as code of an agent is.
        others: Files whose names count, in the order in which a bridge reads them.
        own: Each host's own skill files, which come first in that host.
    """
    findings: set[Finding] = set()
    names: dict[Path, list[tuple[str, int, Metadata]]] = {}
    owners = {file: host for host, files in own.items() for file in files}
    for file in dict.fromkeys([*owners, *others, *given]):
        try:
            text = read_text(file)
        except SkillError as error:
            findings.add(Finding(file, _line(error), str(error)))
            continue
        names[file] = text.names()
        if file in given:
            findings.update(Finding(file, *message) for message in _messages(text, reader))
    for host in HOSTS:
        in_host = {file: it for file, it in names.items() if owners.get(file, host) == host}
        findings.update(_clashes(host, in_host))
    return sorted(finding for finding in findings if finding.file in given)


def _clashes(host: str, names: Mapping[Path, list[tuple[str, int, Metadata]]]) -> Iterator[Finding]:
    """Find the skills of a host whose name an earlier one has."""
    taken: dict[str, str] = {}
    for file, skills in names.items():
        for name, line, metadata in skills:
            place = f"{file}:{line}"
            if metadata.runs_in(host) and taken.setdefault(name, place) != place:
                yield Finding(file, line, f"{name}: this name is taken, by {taken[name]}.")


def read_text(file: Path) -> Text:
    """Read a skill file; SkillError if it cannot be."""
    return Source.of(file, read_trusted(file, check_folder(file.parent))).text()


def _line(error: SkillError) -> int:
    cause = error.__cause__
    return (cause.lineno or 1) if isinstance(cause, SyntaxError) else 1


def _messages(text: Text, reader: Reader) -> Messages:
    for node in ast.walk(text.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "A skill file is not part of a package: it cannot import from one."
    if not text.chosen:
        yield 1, "It has no function that is a skill, or could be one."
    graph, modules, needs = CallGraph(text.tree), set(_modules(text.tree)), reader(text.tree)
    for function in text.chosen:
        messages = _check_function(function, text, graph, modules, needs(graph.reached(function)))
        try:
            yield from ((line, f"{function.name}: {what}") for line, what in messages)
        except SkillError as error:
            yield function.lineno, str(error)


def _check_function(
    function: Function, text: Text, graph: CallGraph, modules: set[str], needs: Iterable[Need]
) -> Messages:
    yield from check_docstring(function)
    calls = graph.calls(function)
    yield from check_blocking(function, calls)
    yield from check_held(function, graph)
    yield from check_locks(function, graph)
    metadata = text.metadata(function)
    if metadata is not None:
        check_name(metadata.name or function.name)
        yield from check_risk(metadata, calls, modules, needs)
        yield from check_asks(function, metadata, calls)
        yield from check_hosts(function, metadata)
        marks = (it for it in function.decorator_list if isinstance(it, ast.Call))
        if any(word.arg == "undoable" for mark in marks for word in mark.keywords):
            yield function.lineno, "undoable=False is called undo=False now."


def _modules(tree: ast.Module) -> Iterable[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def check_docstring(function: Function) -> Messages:
    """Its docstring tells the agent what it does, and of each parameter."""
    text = ast.get_docstring(function)
    if not text:
        yield function.lineno, "it has no docstring that says when to call it."
        return
    doc = docstring_parser.parse(inspect.cleandoc(text), docstring_parser.Style.GOOGLE)
    parameters = {node.arg: node for node in (*function.args.args, *function.args.kwonlyargs)}
    described = {param.arg_name for param in doc.params if (param.description or "").strip()}
    for name, node in parameters.items():
        if name not in described and not _describes_itself(node):
            yield node.lineno, f"its docstring does not describe {name!r} in Args."
    for name in sorted(described - parameters.keys() - {"**kwargs", "*args", "kwargs", "args"}):
        yield function.lineno, f"its docstring describes {name!r}, which does not exist."


def check_risk(
    metadata: Metadata, calls: Sequence[WrittenCall], modules: set[str], needs: Iterable[Need]
) -> Messages:
    """What it reaches is no more than its risk says."""
    imported = tuple(f"{module}." for module in modules)
    known = [it for it in lint_tables.EDITS if any(m.startswith(f"{it}.") for m in imported)]
    edits = [pattern for module in known for pattern in lint_tables.EDITS[module]]
    deletes = [(it, "deletes", "destructive") for it in calls if it.matches(lint_tables.DELETES)]
    reached = [*needs, *((it.line, f"{it.written} {does}", risk) for it, does, risk in deletes)]
    for call in calls:
        is_query = not set(call.keywords).isdisjoint(lint_tables.READS)
        if call.matches(edits) and not is_query and call.line not in {line for line, *_ in reached}:
            reached.append((call.line, f"{call.written} edits", "edit"))
    for line, does, risk in reached:
        if RISKS.index(metadata.risk) < RISKS.index(risk):
            yield line, f'{does}, and its risk is "{metadata.risk}": say risk="{risk}".'


def check_blocking(function: Function, calls: Sequence[WrittenCall]) -> Messages:
    """A coroutine does not stop the loop that brings its answers."""
    if not isinstance(function, ast.AsyncFunctionDef):
        return
    for call in calls:
        if call.matches(lint_tables.WAITS):
            why = "stops the server's loop until it is done: await something else."
            yield call.line, f"{call.written} {why}"


def check_held(function: Function, graph: CallGraph) -> Messages:
    """What it sets for the whole process is not in force while a person is asked."""
    for entered, calls in graph.blocks(function):
        if entered.matches(lint_tables.HOLDS) and any(it.matches(lint_tables.ASKS) for it in calls):
            why = "holds for the whole application, which goes on while the person is asked"
            yield entered.line, f"{entered.written} {why}: leave it before."


def check_locks(function: Function, graph: CallGraph) -> Messages:
    """It asks before it takes a lock."""
    for lock, block in graph.locked(function):
        for call in graph.calls(block):
            if call.matches(lint_tables.ASKS):
                why = "if the main thread needs it too, the host freezes. Ask first"
                yield call.line, f"{call.written} asks while {lock} is held: {why}."


def check_asks(function: Function, metadata: Metadata, calls: Iterable[WrittenCall]) -> Messages:
    """One that says that it asks does ask."""
    if metadata.confirms and not any(call.matches(lint_tables.ASKS) for call in calls):
        why = "it says confirms=True but asks nothing, so what it changes will be undone."
        yield function.lineno, why


def check_hosts(function: Function, metadata: Metadata) -> Messages:
    """It names hosts that there are."""
    for host in metadata.hosts:
        if not set(host.lower().split()) & set(HOSTS):
            yield function.lineno, f"no host is called {host!r}. There are {', '.join(HOSTS)}."


def _describes_itself(node: ast.arg) -> bool:
    """Whether an annotation holds a ``description=``."""
    inside = ast.walk(node.annotation) if node.annotation is not None else ()
    return any(isinstance(it, ast.keyword) and it.arg == "description" for it in inside)


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A call in the text."""

    line: int  # where it stands
    written: str  # what is called, written out: ``maya.cmds.delete``
    keywords: tuple[str, ...]

    def matches(self, patterns: Sequence[str]) -> bool:
        """Whether its name matches one of the patterns."""
        return any(fnmatchcase(self.written, pattern) for pattern in patterns)


class CallGraph:
    """The calls that each function of a file makes, also through others of the file."""

    def __init__(self, tree: ast.Module) -> None:
        self._names = Names(tree)
        self._functions = {it.name: it for it in ast.walk(tree) if isinstance(it, Function)}
        self._locks = set(self._assigned(tree, lint_tables.LOCKS))

    def calls(self, block: Function | ast.With | ast.AsyncWith) -> list[WrittenCall]:
        """Give the calls of a block and of the file's functions that it mentions, in order."""
        calls = [self._call(node) for node in self.reached(block) if isinstance(node, ast.Call)]
        return sorted(calls, key=lambda call: call.line)

    def locked(self, function: Function) -> Iterator[tuple[str, ast.With]]:
        """Give the blocks in which a function holds a lock, each with the lock's name."""
        for node in self.reached(function):
            if isinstance(node, ast.With):
                names = [self._written(item.context_expr) for item in node.items]
                locks = [it for it in names if it in self._locks or lint_tables.LOCK.search(it)]
                yield from ((lock, node) for lock in locks[:1])

    def blocks(self, function: Function) -> Iterator[tuple[WrittenCall, list[WrittenCall]]]:
        """Give what each ``with`` of a function enters, and the calls inside of it."""
        for node in self.reached(function):
            if isinstance(node, ast.With | ast.AsyncWith):
                for item in node.items:
                    if isinstance(item.context_expr, ast.Call):
                        yield self._call(item.context_expr), self.calls(node)

    def reached(self, block: Function | ast.With | ast.AsyncWith) -> Iterator[ast.AST]:
        """Give what is in a block and in the file's functions that it mentions."""
        seen, waiting = {getattr(block, "name", "")}, [block]
        while waiting:
            for node in (it for statement in waiting.pop(0).body for it in ast.walk(statement)):
                yield node
                if isinstance(node, ast.Name) and node.id in self._functions.keys() - seen:
                    seen.add(node.id)
                    waiting.append(self._functions[node.id])

    def _call(self, node: ast.Call) -> WrittenCall:
        keywords = tuple(str(it.arg) for it in node.keywords if it.arg)
        return WrittenCall(node.lineno, self._written(node.func), keywords)

    def _assigned(self, tree: ast.Module, patterns: Sequence[str]) -> Iterator[str]:
        """Give the names to which the file assigns what such a call returns."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if self._call(node.value).matches(patterns):
                    yield from map(self._written, targets)

    def _written(self, node: ast.expr) -> str:
        origin = self._names.origin(node)
        if origin is not None:
            return ".".join(filter(None, origin))
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=value, attr=attr):
                return f"{self._written(value)}.{attr}"
            case ast.Call(func=func) | ast.Subscript(value=func):
                return self._written(func)
        return "?"
