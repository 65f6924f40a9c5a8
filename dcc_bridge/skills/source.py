"""Reads what a skill file's text says of its skills, without running the file. Any thread.

What the text alone does not say is left open, and importing the file says it: the types of one
skill (its signature has more than literal values, built-in types and some of the standard library,
written out), or the skills of the whole file (functions are made in a loop, or decorated by
something unknown). What is run later are the very bytes that were read here.
"""

from __future__ import annotations

import ast
import builtins
import re
import traceback
from collections import Counter
from collections.abc import Iterator
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
_PLAIN_DECORATORS: Final = {"contextlib", "functools"}  # theirs make no skill of a function
_TYPES: Final = {
    *("bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "object"),
    *("set", "str", "tuple"),
}
# Whose types are read: importing them does nothing, and pydantic has most of them.
_MODULES: Final = {"collections.abc", "datetime", "decimal", "pathlib", "typing", "uuid"}

_MARKED: Final = re.compile(
    r"^@(?:dcc_bridge\.)?skill\b.*?^(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE | re.DOTALL
)


class Undecidable(Exception):
    """The text alone does not say it."""


@dataclass(frozen=True)
class Declared:
    """A skill as its file's text declares it."""

    name: str  # the tool's name
    metadata: skill.Metadata  # what the decorator was told
    shape: signature.Shape | None  # what it takes and gives, or None where only importing can say


@dataclass(frozen=True)
class Source:
    """A file as it was read."""

    file: Path
    content: bytes  # what was in it
    digest: str

    @classmethod
    def of(cls, file: Path, content: bytes) -> Source:
        """Take the bytes of a file."""
        return cls(file, content, sha256(content).hexdigest())

    def skills(self) -> tuple[Declared, ...] | None:
        """Read its skills; None where only importing it can say."""
        text = self.text()
        with suppress(Undecidable, RecursionError):
            return text.skills()
        return None

    def marked(self) -> tuple[str, ...]:
        """Return the names of the functions with the mark of a skill, also of what is no Python."""
        text = self.content.decode("utf-8", "replace")
        return tuple(dict.fromkeys(_MARKED.findall(text)))

    def text(self) -> Text:
        """Parse it; BrokenSkill says where it is no Python, and why."""
        try:
            tree = ast.parse(self.content, str(self.file))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise BrokenSkill(explained(error, self.file)) from error
        return Text(tree, self.file.name)


def explained(error: BaseException, file: Path) -> str:
    """Say which error a file has, and in which of its lines."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    if isinstance(error, SyntaxError) and error.filename == str(file):
        lines = [error.lineno]
    why = error.msg if isinstance(error, SyntaxError) else error
    where = f", line {lines[-1]}" if lines else ""
    return f"{file.name}{where}: {type(error).__name__}: {why}"


class Text:
    """A parsed file."""

    def __init__(self, tree: ast.Module, file: str) -> None:
        self.tree = tree
        self._file = file  # its name, for messages
        self._names = Names(tree)
        functions = [node for node in tree.body if isinstance(node, Function)]
        marked = [fn for fn in functions if self._mark(fn) is not None]
        public = [fn for fn in functions if not fn.name.startswith("_")]
        # Its skills, as far as its text says: where none is marked, those with a docstring, or all.
        self.chosen = marked or [fn for fn in public if ast.get_docstring(fn)] or public

    def skills(self) -> tuple[Declared, ...]:
        """Read the skills; Undecidable where only an import can, BrokenSkill for a bad mark."""
        if not self._is_plain():
            raise Undecidable
        return tuple(self._declared(fn) for fn in self.chosen)

    def names(self) -> list[tuple[str, int, skill.Metadata]]:
        """Give each skill's name, its line and what the text says of it."""
        named = []
        for fn in self.chosen:
            metadata = skill.Metadata()
            with suppress(BrokenSkill):
                metadata = self.metadata(fn) or metadata
            named.append((metadata.name or fn.name, fn.lineno, metadata))
        return named

    def metadata(self, fn: Function) -> skill.Metadata | None:
        """Read what a function's decorator was told; None where the text does not say."""
        with suppress(Undecidable):
            return self._metadata(fn)
        return None

    def _is_plain(self) -> bool:
        """Whether its functions are those that stand in it, and nothing else makes a skill."""
        if self._names.bound["*"]:
            return False
        for statement in self.tree.body:
            if isinstance(statement, Function):
                if self._names.bound[statement.name] != 1 or not self._is_known(statement):
                    return False
            elif any(self._may_make_a_skill(node) for node in _walk(statement)):
                return False
        return True

    def _is_known(self, fn: Function) -> bool:
        others = [it for it in fn.decorator_list if not self._is_skill(_called(it))]
        if len(fn.decorator_list) - len(others) > 1 or (others and len(fn.decorator_list) > 1):
            return False
        origins = (self._names.origin(_called(it)) or ("",) for it in others)
        return all(origin[0] in _PLAIN_DECORATORS for origin in origins)

    def _may_make_a_skill(self, node: ast.AST) -> bool:
        return isinstance(node, Function) or (isinstance(node, ast.expr) and self._is_skill(node))

    def _is_skill(self, node: ast.expr) -> bool:
        return self._names.origin(node) in _DECORATORS

    def _mark(self, fn: Function) -> ast.expr | None:
        return next((it for it in fn.decorator_list if self._is_skill(_called(it))), None)

    def _declared(self, fn: Function) -> Declared:
        metadata = self._metadata(fn)
        return Declared(metadata.name or fn.name, metadata, self._shape(fn))

    def _metadata(self, fn: Function) -> skill.Metadata:
        mark = self._mark(fn)
        if not isinstance(mark, ast.Call):
            return skill.Metadata()
        try:
            fields = {str(it.arg): ast.literal_eval(it.value) for it in mark.keywords}
        except (ValueError, TypeError, SyntaxError, MemoryError) as error:
            raise Undecidable from error
        if mark.args or "None" in fields:  # a ``**`` has no name
            raise Undecidable
        try:
            return skill.describe(skill.skill(**fields)(lambda: None)).metadata
        except (TypeError, ValueError) as error:
            kind = type(error).__name__
            raise BrokenSkill(f"{self._file}, line {mark.lineno}: {kind}: {error}") from error

    def _shape(self, fn: Function) -> signature.Shape | None:
        """Read a signature; None where only importing the file can say what is in it."""
        from dcc_bridge.skills import signature  # pydantic, which a start need not wait for

        given = fn.args
        parameters = [*given.args, *given.kwonlyargs]
        required = [None] * (len(given.args) - len(given.defaults))
        defaults = [*required, *given.defaults, *given.kw_defaults]
        if given.posonlyargs:  # which an import refuses
            return None
        try:
            values = [... if it is None else ast.literal_eval(it) for it in defaults]
            types = [self._names.type(it.annotation) for it in parameters]
            names = [it.arg for it in parameters]
            read = dict(zip(names, zip(types, values, strict=True), strict=True))
            return signature.Shape(read, self._names.type(fn.returns), ast.get_docstring(fn) or "")
        except (Undecidable, TypeError, ValueError, LookupError, AttributeError):
            return None


class Names:
    """Where the names of a file come from, as far as its text says."""

    def __init__(self, tree: ast.Module) -> None:
        self._imports: dict[str, tuple[str, str | None]] = {}
        self.bound: Counter[str] = Counter()  # how often the file binds each name
        for statement in tree.body:
            self._note_imports(statement)
            self.bound.update(_bound(statement))

    def origin(self, node: ast.expr) -> tuple[str, str | None] | None:
        """Return where a name was imported from: its module and its name there."""
        match node:
            case ast.Name(id=name) if self.bound[name] == 1:
                return self._imports.get(name)
            case ast.Attribute(value=value, attr=attr):
                if (module := self.origin(value)) is not None:
                    return ".".join(filter(None, module)), attr
        return None

    def type(self, node: ast.expr | None) -> Any:
        """Return the type that an annotation stands for, Any for none; or raise Undecidable.

        Types that do not go together raise what they will.
        """
        match node:
            case None:
                return Any
            case ast.Constant(value=None):
                return type(None)
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self.type(left) | self.type(right)
            case ast.Subscript(value=value, slice=part):
                base = self.type(value)
                read = ast.literal_eval if base is Literal else self._part
                if isinstance(part, ast.Tuple):
                    return base[tuple(map(read, part.elts))]
                return base[read(part)]
            case ast.Name() | ast.Attribute():
                return self._named(node)
        raise Undecidable

    def _part(self, node: ast.expr) -> Any:
        """Return what stands in the brackets of a type: None and ``...`` mean themselves there."""
        if isinstance(node, ast.Constant) and node.value in (None, ...):
            return node.value
        return self.type(node)

    def _named(self, node: ast.expr) -> Any:
        module, name = self.origin(node) or ("", None)
        if module in _MODULES and name is not None:
            return getattr(import_module(module), name)
        if isinstance(node, ast.Name) and not self.bound[node.id] and node.id in _TYPES:
            return getattr(builtins, node.id)
        raise Undecidable

    def _note_imports(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import(names=names):
                for alias in names:
                    first = alias.name.partition(".")[0]
                    module = alias.name if alias.asname else first
                    self._imports[alias.asname or first] = (module, None)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for alias in names:
                    self._imports[alias.asname or alias.name] = (module, alias.name)


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


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Give what stands in a statement, but not what is inside classes: those are no skills."""
    yield node
    if not isinstance(node, ast.ClassDef | ast.Import | ast.ImportFrom):
        for child in ast.iter_child_nodes(node):
            yield from _walk(child)
