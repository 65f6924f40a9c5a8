"""What is said of one skill. Each rule gives lines and sentences. Any thread."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence

import docstring_parser

from dcc_bridge.skills.files.source import Function
from dcc_bridge.skills.lint import facts
from dcc_bridge.skills.lint.reach import Call
from dcc_bridge.skills.skill import Metadata

Said = Iterator[tuple[int, str]]


def told(function: Function) -> Said:
    """Its docstring tells the agent what it does, and of each parameter."""
    text = ast.get_docstring(function)
    if not text:
        yield function.lineno, f"{function.name}: no docstring says when an agent calls it."
        return
    doc = docstring_parser.parse(inspect.cleandoc(text), docstring_parser.Style.GOOGLE)
    given = {one.arg: one for one in (*function.args.args, *function.args.kwonlyargs)}
    described = {one.arg_name for one in doc.params if (one.description or "").strip()}
    for name, node in given.items():
        if name not in described and not _describes_itself(node):
            yield node.lineno, f"{function.name}: its docstring does not tell of {name!r} in Args."
    for name in sorted(described - given.keys() - {"**kwargs", "*args", "kwargs", "args"}):
        yield (
            function.lineno,
            f"{function.name}: its docstring tells of {name!r}, which is not there.",
        )


def risk(function: Function, metadata: Metadata, calls: Sequence[Call], modules: set[str]) -> Said:
    """What it calls is no more than its risk says."""
    known = [one for one in facts.MODULES if _is_imported(one.name, modules)]
    deletes = [pattern for one in known for pattern in one.deletes]
    edits = [pattern for one in known for pattern in one.edits]
    for call in calls:
        if metadata.risk != "destructive" and call.fits(deletes):
            yield call.line, _more(function, call, "deletes", metadata.risk, "destructive")
        elif metadata.risk == "read" and call.fits(edits) and not _only_asks(call):
            yield call.line, _more(function, call, "edits", "read", "edit")


def waits(function: Function, calls: Sequence[Call]) -> Said:
    """A coroutine does not stop the loop that brings its answers."""
    if not isinstance(function, ast.AsyncFunctionDef):
        return
    for call in calls:
        if call.fits(facts.WAITS):
            why = "stops the server's loop until it is done: await something else"
            yield call.line, f"{function.name}: {call.written} {why}."


def asks(function: Function, metadata: Metadata, calls: Iterable[Call]) -> Said:
    """One that says that it asks does ask."""
    if metadata.confirms and not any(call.fits(facts.ASKS) for call in calls):
        why = "it says confirms=True and asks nothing, so what it changes will be undone"
        yield function.lineno, f"{function.name}: {why}."


def _more(function: Function, call: Call, does: str, has: str, needs: str) -> str:
    return f'{function.name}: {call.written} {does}, and its risk is "{has}": say risk="{needs}".'


def _only_asks(call: Call) -> bool:
    return bool(set(call.keywords) & set(facts.READS))


def _describes_itself(node: ast.arg) -> bool:
    """Whether an annotation holds a ``description=``."""
    inside = ast.walk(node.annotation) if node.annotation is not None else ()
    return any(isinstance(one, ast.keyword) and one.arg == "description" for one in inside)


def _is_imported(name: str, modules: set[str]) -> bool:
    return any(one == name or one.startswith(name + ".") for one in modules)
