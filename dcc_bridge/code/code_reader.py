"""What a text reaches: the rows of the tables that its calls, names and assignments meet."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import translate
from functools import cache
from typing import Final

from dcc_bridge.code import code_tables as tables
from dcc_bridge.code.values import TOO_MUCH, Values, identifiers, imported_by, written

_OPENS: Final = re.compile(r"(builtins|io|codecs)\.open")
_WRITES: Final = re.compile(r"(?=.*[wax+])[rwxabt+]{1,4}")
_UNREAD: Final = "cannot be read in advance"
# What gives a function or a class back that may be called: ``namedtuple(...)()``, ``dict[...]()``.
_MAKERS: Final = re.compile(
    r"builtins\.(type|dict|list|set|tuple)|(collections|functools|typing|dataclasses)\..*"
)
_PLAIN: Final = {*tables.QUIET_MODULES, "list", "object", "def"}  # no objects of the host's
_LOOKS: Final = {f"builtins.{it}attr" for it in ("get", "set", "del")}
# A module is a finding where it is handed on, but not to these.
_HANDED: Final = {
    *_LOOKS,  # nor what reads attributes by name
    *tables.INNER_MODULES,
    *tables.HOST_MODULES,
    *("maya.cmds", "bpy.app", "bpy.ops", "bpy.ops.wm", "bpy.ops.ed", "hou.hipFile", "hou.undos"),
}
_GUARDS: Final = (ast.Try, ast.With, ast.AsyncWith, ast.TryStar)
_TELLS: Final = {f"builtins.{it}" for it in ("dir", "getattr", "hasattr", "help", "print", "type")}


class _Rows:
    """The rows of the tables that count in a text."""

    def __init__(self, modules: set[str]) -> None:
        known = [row for name, some in tables.REACHES.items() if name in modules for row in some]
        plain = [
            replace(row, patterns=tuple(it for it in row.patterns if it[0] != "*")) for row in known
        ]
        self._rows = (*tables.PYTHON[:-1], *known, tables.PYTHON[-1])
        self._plain_rows = (*tables.PYTHON[:-1], *plain, tables.PYTHON[-1])

    def reach(self, value: str, call: ast.Call | None) -> tables.ReachRow | None:
        """Give the first row that counts for a call, or for a mention."""
        value = re.sub(r"^pymel\.core\.", "maya.cmds.", value)
        keywords = [it for it in call.keywords if it.arg in tables.READS] if call else []
        asks = any(ast.unparse(it.value) in ("True", "1") for it in keywords)
        if _matches(tables.QUIET, value) or (asks and value.startswith("maya.cmds.")):
            return None
        rows = self._plain_rows if value.partition(".")[0] in _PLAIN else self._rows
        return next((it for it in rows if _matches(it.patterns, value) and _counts(it, call)), None)


class CodeReader:
    """Finds what a tree reaches."""

    def __init__(self, tree: ast.Module, host: str) -> None:
        self._nodes = [*ast.walk(tree)]
        given = next((tables.GIVEN[it] for it in host.lower().split() if it in tables.GIVEN), {})
        self._values = Values(self._nodes, given)
        imported = {name for node in self._nodes for name in imported_by(node)}
        self._modules = {*tables.INNER_MODULES, *tables.HOST_MODULES, "maya.cmds", *imported}
        self._rows = _Rows({name.partition(".")[0] for name in (*imported, *given.values())})
        family = ((child, node) for node in self._nodes for child in ast.iter_child_nodes(node))
        self._parents = dict(family)

    def findings(self) -> list[tuple[int, str, str]]:
        """Give lines, each with a class and a sentence, in their order."""
        findings = {
            (getattr(node, "lineno", 1), kind, reason): None
            for node in self._nodes
            for kind, reason in self._read(node)
        }
        names = (node for node in self._nodes if isinstance(node, ast.Name))
        crowded = next((node for node in names if TOO_MUCH in self._values.of(node)), None)
        if crowded is not None:
            why = f"stands for too much to be read: {crowded.id}"
            findings[crowded.lineno, "beyond", why] = None
        return sorted(findings, key=lambda finding: finding[0])

    def _read(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        if "__del__" in identifiers(node):
            yield "stays", "leaves a call for when an object goes: __del__"
        match node:
            case ast.Import() | ast.ImportFrom():
                yield from self._imports(node)
            case ast.Call():
                yield from self._call(node)
            case ast.Attribute(ctx=ast.Load()) | ast.Name(ctx=ast.Load()):
                yield from self._mention(node)
            case ast.Attribute(value=value, attr=attr):
                yield from self._assignment([f"{it}.{attr}" for it in self._values.of(value)], node)
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                yield from self._assignment(self._values.of(node), node)
            case ast.Yield() | ast.YieldFrom() | ast.Await() if self._is_guarded(node):
                yield "stays", "leaves the end of a try or with for when its generator goes"

    def _is_guarded(self, node: ast.AST) -> bool:
        """Whether something of its function runs even if this is never resumed."""
        while not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, *_GUARDS)):
            node = self._parents[node]
        return isinstance(node, _GUARDS)

    def _imports(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        for name in imported_by(node):
            known = {name, name.partition(".")[0]} & {*tables.QUIET_MODULES, *tables.HOST_MODULES}
            row = None if name in tables.QUIET_MODULES else self._rows.reach(name, None)
            if row is not None:
                yield row.kind, f"{row.does}: import {name}"
            elif not known or name.endswith("*"):
                yield "beyond", f"imports what {_UNREAD}: {name}"

    def _call(self, call: ast.Call) -> Iterator[tuple[str, str]]:
        values = self._values.of(call.func)
        yield from self._reached(values, call)
        if self._is_computed(call.func):
            yield "beyond", f"calls what {_UNREAD}: {written(call.func)}"
        if any(_opens_for_writing(value, call) for value in values):
            yield "files", f"writes a file: {written(call)}"
        if not _LOOKS.isdisjoint(values):
            reached = self._values.attributes(*call.args[:2]) if len(call.args) > 1 else []
            if not reached:
                yield "beyond", f"reaches a name that {_UNREAD}: {written(call)}"
            elif "builtins.getattr" in values:
                yield from self._reached(reached, call.args[0])
            else:
                yield from self._assignment(reached, call)

    def _is_computed(self, func: ast.expr) -> bool:
        match func:
            case ast.Call(func=maker) | ast.Subscript(value=maker):
                return not all(map(_MAKERS.fullmatch, self._values.of(maker)))
        return "?" in self._values.of(func)

    def _mention(self, node: ast.expr) -> Iterator[tuple[str, str]]:
        """Read a name that is neither called nor the beginning of a longer one."""
        parent = self._parents[node]
        if isinstance(parent, ast.Attribute) or getattr(parent, "func", None) is node:
            return
        values = self._values.of(node)
        yield from self._reached(values, node)
        is_told = isinstance(parent, ast.Call) and _TELLS.issuperset(self._values.of(parent.func))
        is_kept = is_told or self._names(parent)
        for value in values:
            if _OPENS.fullmatch(value):
                yield "files", f"may write a file: {value} is handed on"
            elif value in _HANDED and not is_kept:
                yield "beyond", f"hands this on, to what {_UNREAD}: {value}"

    def _names(self, node: ast.AST) -> bool:
        """Whether this gives a name of the text a value, and does nothing else."""
        if not isinstance(node, ast.Assign) or isinstance(self._parents[node], ast.ClassDef):
            return isinstance(node, ast.NamedExpr)
        return all(isinstance(target, ast.Name) for target in node.targets)

    def _reached(self, values: list[str], node: ast.expr) -> Iterator[tuple[str, str]]:
        call = node if isinstance(node, ast.Call) else None
        rows: dict[tuple[str, str], str] = {}
        for value in values:
            if (row := self._rows.reach(value, call)) is not None:
                rows.setdefault((row.kind, row.does), value)
        for (kind, does), value in rows.items():
            yield kind, f"{does}: {_shown(value, call.func if call else node)}"

    def _assignment(self, values: list[str], node: ast.expr) -> Iterator[tuple[str, str]]:
        deletes = isinstance(getattr(node, "ctx", None), ast.Del)
        for value in values:
            row = next((it for it in tables.ASSIGNED if _matches(it.patterns, value)), None)
            if row is not None:
                yield row.kind, f"{row.does}: {_shown(value, node)}"
            elif deletes and value.partition(".")[0] in tables.HOST_MODULES:
                yield "loses", f"removes objects or data: {written(node)}"
            elif value.rpartition(".")[0] in self._modules and not isinstance(node, ast.Subscript):
                yield "stays", f"replaces a part of a module: {value}"


def _opens_for_writing(value: str, call: ast.Call) -> bool:
    known = bool(_OPENS.fullmatch(value))
    if not known and not value.endswith(".open"):
        return False
    modes = [it.value for it in call.keywords if it.arg in ("mode", None)]
    modes += [*call.args[1:2]] if known else [*call.args[:1]]
    modes += [it for it in call.args if isinstance(it, ast.Starred)]
    unread = any(not isinstance(mode, ast.Constant) for mode in modes)
    plain = [str(mode.value) for mode in modes if isinstance(mode, ast.Constant)]
    return (known and unread) or any(map(_WRITES.fullmatch, plain))


def _shown(value: str, node: ast.expr) -> str:
    """Write a name as the host knows it, or as it stands in the text where that is not known."""
    if value.partition(".")[0] in ("item", "?", "…") or value[0] == "~":
        return written(node)
    return re.sub(r"^(builtins\.|pxr\.(?=stage\b))", "", value)


@cache
def _regex(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns)) or r"(?!)")


def _matches(patterns: tuple[str, ...], value: str) -> bool:
    return _regex(patterns).match(value) is not None


def _counts(row: tables.ReachRow, call: ast.Call | None) -> bool:
    """Whether a call has a keyword with which it counts, or one that nobody can read."""
    if not row.keywords or call is None:
        return True
    named = [it.arg or "" for it in call.keywords if ast.unparse(it.value) != "False"]
    return "" in named or any(map(_regex(row.keywords).match, named))
