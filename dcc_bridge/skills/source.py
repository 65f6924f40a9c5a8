"""Reads the skills of a file from its text, without running the file. Any thread.

The mark of a skill is the decorator `@skill`. A file without marked functions offers its public
ones.

The text may leave something open, which only an import of the file decides. Inside this module
`Undecidable` is raised for that; other modules get None. Two things may be open:

- the types of one skill: its signature has more than literal values, built-in types and some types
  of the standard library;
- the skills of the whole file: functions are made in a loop, or have an unknown decorator.

A plain file is one whose skills are all functions that the text defines. The bytes that are run
later are the very bytes that were read here.
"""

from __future__ import annotations

import ast
import builtins
import re
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from dcc_bridge.errors import BrokenSkill
from dcc_bridge.skills import skill

if TYPE_CHECKING:
    from dcc_bridge.skills import signature

Function = ast.FunctionDef | ast.AsyncFunctionDef

_DECORATORS: Final = {("dcc_bridge", "skill"), ("dcc_bridge.skills.skill", "skill")}
_PLAIN_DECORATORS: Final = {"contextlib", "functools"}  # modules whose decorators make no skill
_TYPES: Final = {
    *("bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "object"),
    *("set", "str", "tuple"),
}
# Modules whose types are read. Their import has no effect, and pydantic has imported most of them.
_MODULES: Final = {"collections.abc", "datetime", "decimal", "pathlib", "typing", "uuid"}

_MARKED: Final = re.compile(
    r"^@(?:dcc_bridge\.)?skill\b.*?^(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE | re.DOTALL
)


class Undecidable(Exception):
    """The text leaves it open; only an import of the file decides it."""


@dataclass(frozen=True)
class DeclaredSkill:
    """A skill as its file's text declares it.

    Attributes:
        name: The tool's name.
        metadata: The fields of its decorator.
        shape: Its parameters and its result; None where the text leaves them open.
    """

    name: str
    metadata: skill.Metadata
    shape: signature.Shape | None


@dataclass(frozen=True)
class Source:
    """A file as it was read.

    Attributes:
        file: The file.
        content: Its bytes.
        digest: The SHA-256 of the bytes, in hexadecimal digits.
    """

    file: Path
    content: bytes
    digest: str

    @classmethod
    def of(cls, file: Path, content: bytes) -> Source:
        """Return the source of a file with these bytes."""
        return cls(file, content, sha256(content).hexdigest())

    def skills(self) -> tuple[DeclaredSkill, ...] | None:
        """Return the skills of the file; None where the text leaves them open.

        Raises:
            BrokenSkill: The file is no Python, or the mark of a skill is wrong.
        """
        text = self.text()
        with suppress(Undecidable, RecursionError):
            return text.skills()
        return None

    def marked(self) -> tuple[str, ...]:
        """Return the names of the functions marked as skills, also of a file that is no Python."""
        text = self.content.decode("utf-8", "replace")
        return tuple(dict.fromkeys(_MARKED.findall(text)))

    def text(self) -> Text:
        """Parse the file.

        Raises:
            BrokenSkill: The file is no Python; the message says where and why.
        """
        try:
            tree = ast.parse(self.content, str(self.file))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise BrokenSkill(describe_error(error, self.file)) from error
        return Text(tree, self.file.name)


def describe_error(error: BaseException, file: Path) -> str:
    """Return a text that names an error of a file's code, and the line of the file."""
    reason: object = error
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    if isinstance(error, SyntaxError):
        reason = error.msg
        if error.filename == str(file):
            lines = [error.lineno]
    where = file.name
    if lines:
        where += f", line {lines[-1]}"
    return f"{where}: {type(error).__name__}: {reason}"


class Text:
    """A parsed file.

    Attributes:
        tree: The syntax tree of the file.
        chosen: The functions that are its skills: the marked ones; without any of these the public
            ones with a docstring; without any of these the public ones.
    """

    def __init__(self, tree: ast.Module, file: str) -> None:
        self.tree = tree
        self._file = file  # its name, for messages
        self._names = Names(tree)
        functions = [node for node in tree.body if isinstance(node, Function)]
        marked = [fn for fn in functions if self._mark(fn) is not None]
        public = [fn for fn in functions if not fn.name.startswith("_")]
        documented = [fn for fn in public if ast.get_docstring(fn)]
        self.chosen = marked or documented or public

    def skills(self) -> tuple[DeclaredSkill, ...]:
        """Return the skills of the file.

        Raises:
            Undecidable: The text leaves them open.
            BrokenSkill: The mark of a skill is wrong.
        """
        if not self._is_plain():
            raise Undecidable
        return tuple(self._declared(fn) for fn in self.chosen)

    def names(self) -> list[tuple[str, int, skill.Metadata]]:
        """Return the name, line and metadata of each skill; default metadata if it is left open."""
        named = []
        for fn in self.chosen:
            metadata = skill.Metadata()
            with suppress(BrokenSkill):
                metadata = self.metadata(fn) or metadata
            named.append((metadata.name or fn.name, fn.lineno, metadata))
        return named

    def metadata(self, fn: Function) -> skill.Metadata | None:
        """Return the fields of a function's mark; None where the text leaves them open."""
        with suppress(Undecidable):
            return self._metadata(fn)
        return None

    def _is_plain(self) -> bool:
        """Return whether the file is plain: no ``import *``, and only plain statements."""
        if self._names.bound["*"]:
            return False
        return all(self._is_plain_statement(statement) for statement in self.tree.body)

    def _is_plain_statement(self, statement: ast.stmt) -> bool:
        """Return whether a statement is a function with known decorators, or makes no skill."""
        if isinstance(statement, Function):
            return self._names.bound[statement.name] == 1 and self._is_known(statement)
        return not any(self._may_make_a_skill(node) for node in _walk(statement))

    def _is_known(self, fn: Function) -> bool:
        """Return whether a function has one known decorator at most: the mark, or a plain one."""
        others = []
        for decorator in fn.decorator_list:
            called = _called(decorator)
            if not self._is_skill(called):
                others.append(called)
        marks = len(fn.decorator_list) - len(others)
        if marks > 1 or (marks and others):
            return False
        if len(others) > 1:
            return False
        for called in others:
            origin = self._names.origin(called)
            if origin is None or origin[0] not in _PLAIN_DECORATORS:
                return False
        return True

    def _may_make_a_skill(self, node: ast.AST) -> bool:
        """Return whether a node, deep in a statement, is a function or names the mark."""
        return isinstance(node, Function) or (isinstance(node, ast.expr) and self._is_skill(node))

    def _is_skill(self, node: ast.expr) -> bool:
        return self._names.origin(node) in _DECORATORS

    def _mark(self, fn: Function) -> ast.expr | None:
        """Return the decorator that makes a function a skill; None without one."""
        for decorator in fn.decorator_list:
            if self._is_skill(_called(decorator)):
                return decorator
        return None

    def _declared(self, fn: Function) -> DeclaredSkill:
        """Return the skill that a function declares; the errors are those of `_metadata`."""
        metadata = self._metadata(fn)
        return DeclaredSkill(metadata.name or fn.name, metadata, self._shape(fn))

    def _metadata(self, fn: Function) -> skill.Metadata:
        """Return the fields of a function's mark.

        Raises:
            Undecidable: The fields are no literal values.
            BrokenSkill: The decorator refuses the fields.
        """
        mark = self._mark(fn)
        if not isinstance(mark, ast.Call):
            return skill.Metadata()
        fields: dict[str, Any] = {}
        if mark.args:
            raise Undecidable
        for keyword in mark.keywords:
            if keyword.arg is None:  # a ``**``
                raise Undecidable
            try:
                fields[keyword.arg] = ast.literal_eval(keyword.value)
            except (ValueError, TypeError, SyntaxError, MemoryError) as error:
                raise Undecidable from error
        try:
            return skill.describe(skill.skill(**fields)(lambda: None)).metadata
        except (TypeError, ValueError) as error:
            kind = type(error).__name__
            raise BrokenSkill(f"{self._file}, line {mark.lineno}: {kind}: {error}") from error

    def _shape(self, fn: Function) -> signature.Shape | None:
        """Return the shape of a function; None where the text leaves it open."""
        from dcc_bridge.skills import signature  # pydantic, which a start need not wait for

        arguments = fn.args
        if arguments.posonlyargs:  # the import refuses these, with a message
            return None
        required = [None] * (len(arguments.args) - len(arguments.defaults))
        defaults = [*required, *arguments.defaults, *arguments.kw_defaults]
        parameters: dict[str, tuple[Any, Any]] = {}
        try:
            every = zip([*arguments.args, *arguments.kwonlyargs], defaults, strict=True)
            for parameter, default in every:
                value: Any = ...
                if default is not None:
                    value = ast.literal_eval(default)
                parameters[parameter.arg] = (self._names.type(parameter.annotation), value)
            returns = self._names.type(fn.returns)
        except (Undecidable, TypeError, ValueError, LookupError, AttributeError):
            return None
        return signature.Shape(parameters, returns, ast.get_docstring(fn) or "")


class Names:
    """The origins of a file's names: the imports of the file that bind them.

    Attributes:
        bound: How often the file binds each name.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._imports: dict[str, tuple[str, str | None]] = {}
        self.bound: Counter[str] = Counter()
        for statement in tree.body:
            self._note_imports(statement)
            self.bound.update(_bound(statement))

    def origin(self, node: ast.expr) -> tuple[str, str | None] | None:
        """Return the origin of a name: the module it was imported from, and its name there."""
        match node:
            case ast.Name(id=name) if self.bound[name] == 1:
                return self._imports.get(name)
            case ast.Attribute(value=value, attr=attr):
                owner = self.origin(value)
                if owner is None:
                    return None
                module, name_there = owner
                if name_there:
                    module = f"{module}.{name_there}"
                return module, attr
        return None

    def type(self, node: ast.expr | None) -> Any:
        """Return the type that an annotation stands for; Any without an annotation.

        Raises:
            Undecidable: The text leaves it open.
            Exception: Python refuses the types together: `list[int] | 3`.
        """
        match node:
            case None:
                return Any
            case ast.Constant(value=None):
                return type(None)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.type(left) | self.type(right)
            case ast.Subscript(value=value, slice=part):
                return self._subscripted(self.type(value), part)
            case ast.Name() | ast.Attribute():
                return self._named(node)
        raise Undecidable

    def _subscripted(self, base: Any, part: ast.expr) -> Any:
        """Return a type with the parts in its brackets: ``dict[str, int]``."""
        read: Callable[[ast.expr], Any] = self._part
        if base is Literal:
            read = ast.literal_eval
        if isinstance(part, ast.Tuple):
            return base[tuple(read(element) for element in part.elts)]
        return base[read(part)]

    def _part(self, node: ast.expr) -> Any:
        """Return the meaning of a part in brackets: None and ``...`` mean themselves there."""
        if isinstance(node, ast.Constant) and node.value in (None, ...):
            return node.value
        return self.type(node)

    def _named(self, node: ast.expr) -> Any:
        """Return the type of a name: a built-in one, or one of `_MODULES`; or raise Undecidable."""
        module, name = self.origin(node) or ("", None)
        if module in _MODULES and name is not None:
            return getattr(import_module(module), name)
        if isinstance(node, ast.Name) and not self.bound[node.id] and node.id in _TYPES:
            return getattr(builtins, node.id)
        raise Undecidable

    def _note_imports(self, statement: ast.stmt) -> None:
        """Note the names that a statement imports."""
        match statement:
            case ast.Import(names=aliases):
                for alias in aliases:
                    package = alias.name.partition(".")[0]
                    if alias.asname:
                        self._imports[alias.asname] = (alias.name, None)
                    else:
                        self._imports[package] = (package, None)
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                for alias in aliases:
                    self._imports[alias.asname or alias.name] = (module, alias.name)


def _bound(node: ast.AST) -> Iterator[str]:
    """Yield each name that a statement binds in the file, however deep it stands."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
            return  # the body has names of its own
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


def _called(node: ast.expr) -> ast.expr:
    """Return the called function if an expression is a call, else the expression itself."""
    if isinstance(node, ast.Call):
        return node.func
    return node


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a statement, but not those inside classes and imports: no skills."""
    yield node
    if not isinstance(node, ast.ClassDef | ast.Import | ast.ImportFrom):
        for child in ast.iter_child_nodes(node):
            yield from _walk(child)
