"""Types and values read from the text of a file, without running any of it. Any thread.

Only what means the same in every file is told: built-in types, those of a few modules of the
standard library and of pydantic, and names that the file gives to such types once and for all.
Whatever else stands there is `Undecidable`, and only importing the file can say what it is.
"""

from __future__ import annotations

import ast
import builtins
import operator
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from typing import Annotated, Any, Final, Literal

_TYPES: Final = (
    "bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "object", "set",
    "str", "tuple",
)  # fmt: skip
_MODULES: Final = {
    "collections.abc",
    "datetime",
    "decimal",
    "pathlib",
    "pydantic",
    "typing",
    "typing_extensions",
    "uuid",
}
"""Modules whose types are told. Importing them does nothing, and pydantic has most of them."""
_MAKERS: Final = {"Field", "StringConstraints"}
_DEEPEST: Final = 20


class Undecidable(Exception):
    """The text alone does not say it."""


class Names:
    """What the names of a file stand for, as far as its text says."""

    def __init__(self, tree: ast.Module) -> None:
        """Read the file's statements."""
        self._imports: dict[str, tuple[str, str | None]] = {}
        self._values: dict[str, ast.expr] = {}
        self.bound: Counter[str] = Counter()
        for statement in tree.body:
            self._note(statement)

    def origin(self, node: ast.expr) -> tuple[str, str | None] | None:
        """Tell where a name was imported from: its module and its name there."""
        match node:
            case ast.Name(id=name) if self.bound[name] == 1:
                return self._imports.get(name)
            case ast.Attribute(value=value, attr=attr):
                module = self.origin(value)
                if module is not None:
                    return ".".join(filter(None, module)), attr
        return None

    def type(self, node: ast.expr | None, depth: int = 0) -> Any:
        """Give the type that an annotation stands for; Any where there is none.

        Raises:
            Undecidable: The text alone does not say it.
        """
        if node is None:
            return Any
        if depth > _DEEPEST:
            raise Undecidable
        match node:
            case ast.Constant(value=value):
                return self._constant(value, depth)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return _or(self.type(left, depth + 1), self.type(right, depth + 1))
            case ast.Subscript(value=value, slice=part):
                return self._subscripted(self.type(value, depth + 1), part, depth + 1)
            case ast.Name() | ast.Attribute():
                return self._named(node, depth)
        raise Undecidable

    def value(self, node: ast.expr, depth: int = 0) -> Any:
        """Give the value that a plain expression stands for: a literal, or a name of one.

        Raises:
            Undecidable: The text alone does not say it.
        """
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            pass
        if isinstance(node, ast.Name) and depth < _DEEPEST:
            return self.value(self._once(node.id), depth + 1)
        raise Undecidable

    def _constant(self, value: object, depth: int) -> Any:
        if isinstance(value, str):
            return self.type(_expression(value), depth + 1)
        if value is None:
            return type(None) if depth == 0 else None
        if value is ...:
            return ...
        raise Undecidable

    def _subscripted(self, base: Any, part: ast.expr, depth: int) -> Any:
        parts = part.elts if isinstance(part, ast.Tuple) else [part]
        if base is Literal:
            arguments = [self.value(node) for node in parts]
        elif base is Annotated:
            arguments = [self.type(parts[0], depth), *(self._mark(mark) for mark in parts[1:])]
        else:
            arguments = [self.type(node, depth) for node in parts]
        try:
            return base[tuple(arguments) if isinstance(part, ast.Tuple) else arguments[0]]
        except (TypeError, IndexError) as error:
            raise Undecidable from error

    def _mark(self, node: ast.expr) -> Any:
        """Give what stands beside a type in ``Annotated``: a text, or a ``Field(...)``."""
        if not isinstance(node, ast.Call):
            return self.value(node)
        origin = self.origin(node.func)
        if origin is None or origin[0] != "pydantic" or origin[1] not in _MAKERS:
            raise Undecidable
        if node.args or any(it.arg is None for it in node.keywords):
            raise Undecidable
        fields = {str(it.arg): self.value(it.value) for it in node.keywords}
        try:
            return getattr(import_module("pydantic"), str(origin[1]))(**fields)
        except Exception as error:  # pydantic says on import what is wrong with it
            raise Undecidable from error

    def _named(self, node: ast.expr, depth: int) -> Any:
        origin = self.origin(node)
        if origin is not None:
            return _of_module(*origin)
        if not isinstance(node, ast.Name):
            raise Undecidable
        if not self.bound[node.id] and node.id in _TYPES:
            return getattr(builtins, node.id)
        return self.type(self._once(node.id), depth + 1)

    def _once(self, name: str) -> ast.expr:
        if self.bound[name] != 1 or name not in self._values:
            raise Undecidable
        return self._values[name]

    def _note(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import(names=names):
                for alias in names:
                    short = alias.name.partition(".")[0]
                    self._imports[alias.asname or short] = (
                        alias.name if alias.asname else short,
                        None,
                    )
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    self._imports[alias.asname or alias.name] = (module, alias.name)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._values[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._values[name] = value
        self.bound.update(_bound(statement))


def _bound(node: ast.AST) -> Iterator[str]:
    """Give each name that a statement binds in the file, however deep it stands."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
            return  # what is inside has names of its own
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in names)
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Lambda():
            return
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
    for child in ast.iter_child_nodes(node):
        yield from _bound(child)


def _of_module(module: str, name: str | None) -> Any:
    if module not in _MODULES or name is None:
        raise Undecidable
    try:
        return getattr(import_module(module), name)
    except AttributeError as error:
        raise Undecidable from error


def _or(left: Any, right: Any) -> Any:
    try:
        return operator.or_(left, right)
    except TypeError as error:
        raise Undecidable from error


def _expression(text: str) -> ast.expr:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Undecidable from error
