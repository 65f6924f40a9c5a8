"""What a skill file's text says of its skills, without running any of it. Any thread.

What the text cannot say for certain is left open: of one skill (its types are the file's own), or
of the whole file (functions are made in a loop, or decorated by something we do not know). Then
importing it tells. What is run later are the very bytes that were read here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from dcc_bridge.errors import BrokenSkill
from dcc_bridge.skills.annotations import Names, Undecidable
from dcc_bridge.skills.signature import Shape
from dcc_bridge.skills.skill import Metadata

Function = ast.FunctionDef | ast.AsyncFunctionDef

_DECORATORS: Final = {("dcc_bridge", "skill"), ("dcc_bridge.skills.skill", "skill")}
_HARMLESS: Final = {"contextlib", "functools"}
"""Modules whose decorators make no skill of a function."""


@dataclass(frozen=True)
class Declared:
    """A skill as its file's text tells it.

    Attributes:
        name: The tool's name.
        metadata: What the decorator was told.
        doc: The docstring, or "".
        line: Where its ``def`` stands.
        shape: What it takes and gives, or None where only importing the file can say.
    """

    name: str
    metadata: Metadata
    doc: str
    line: int
    shape: Shape | None


@dataclass(frozen=True)
class Source:
    """A file as it was read.

    Attributes:
        file: Where it is.
        content: What was in it.
        digest: The digest of that.
    """

    file: Path
    content: bytes
    digest: str

    @classmethod
    def of(cls, file: Path, content: bytes) -> Source:
        """Take the bytes of a file."""
        return cls(file, content, sha256(content).hexdigest())

    def skills(self) -> tuple[Declared, ...] | None:
        """Read its skills; None where only importing it can say.

        Raises:
            BrokenSkill: It is no Python; says where and why.
        """
        text = self.text()
        try:
            return text.skills()
        except (Undecidable, RecursionError):
            return None

    def text(self) -> Text:
        """Parse it.

        Raises:
            BrokenSkill: It is no Python; says where and why.
        """
        try:
            tree = ast.parse(self.content, str(self.file))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = f", line {error.lineno}" if isinstance(error, SyntaxError) else ""
            why = error.msg if isinstance(error, SyntaxError) else error
            message = f"{self.file.name}{line}: {type(error).__name__}: {why}"
            raise BrokenSkill(message) from error
        return Text(tree, self.file.name)


class Text:
    """A parsed file.

    Attributes:
        tree: Its statements.
        chosen: The functions that are its skills, as far as its text says: those that are marked;
            where none is, the public ones with a docstring; where none has one, the public ones.
    """

    def __init__(self, tree: ast.Module, file: str) -> None:
        """Take what was parsed.

        Args:
            tree: The file.
            file: Its name, for messages.
        """
        self.tree = tree
        self._file = file
        self._names = Names(tree)
        functions = [node for node in tree.body if isinstance(node, Function)]
        marked = [fn for fn in functions if self._mark(fn) is not None]
        public = [fn for fn in functions if not fn.name.startswith("_")]
        documented = [fn for fn in public if ast.get_docstring(fn)]
        self.chosen = marked or documented or public

    def skills(self) -> tuple[Declared, ...]:
        """Read the skills.

        Raises:
            BrokenSkill: A decorator was told what is not of its kind.
            Undecidable: Only importing the file can say.
        """
        if not self._is_plain():
            raise Undecidable
        return tuple(self._declared(fn) for fn in self.chosen)

    def names(self) -> list[tuple[str, int]]:
        """Give the name of each skill, and its line; by its function where nothing else is told."""
        named = []
        for fn in self.chosen:
            name = fn.name
            with suppress(BrokenSkill):
                metadata = self.metadata(fn)
                name = (metadata.name if metadata else None) or name
            named.append((name, fn.lineno))
        return named

    def metadata(self, fn: Function) -> Metadata | None:
        """Read what a function's decorator was told; None where the text does not say.

        Raises:
            BrokenSkill: It was told what is not of its kind.
        """
        try:
            return self._metadata(fn)
        except Undecidable:
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
        return all((self._names.origin(_called(it)) or ("",))[0] in _HARMLESS for it in others)

    def _may_make_a_skill(self, node: ast.AST) -> bool:
        if isinstance(node, Function):
            return True
        return isinstance(node, ast.Name | ast.Attribute) and self._is_skill(node)

    def _is_skill(self, node: ast.expr) -> bool:
        return self._names.origin(node) in _DECORATORS

    def _mark(self, fn: Function) -> ast.expr | None:
        return next((it for it in fn.decorator_list if self._is_skill(_called(it))), None)

    def _declared(self, fn: Function) -> Declared:
        metadata = self._metadata(fn)
        shape = None
        doc = ast.get_docstring(fn) or ""
        with suppress(Undecidable):
            shape = Shape(self._parameters(fn), self._names.type(fn.returns), doc)
        return Declared(metadata.name or fn.name, metadata, doc, fn.lineno, shape)

    def _metadata(self, fn: Function) -> Metadata:
        mark = self._mark(fn)
        if not isinstance(mark, ast.Call):
            return Metadata()
        if mark.args or any(it.arg is None for it in mark.keywords):
            raise Undecidable
        fields = {str(it.arg): self._names.value(it.value) for it in mark.keywords}
        try:
            return Metadata(**{**fields, "hosts": tuple(fields.get("hosts", ()))})
        except (TypeError, ValueError) as error:
            kind = type(error).__name__
            raise BrokenSkill(f"{self._file}, line {mark.lineno}: {kind}: {error}") from error

    def _parameters(self, fn: Function) -> dict[str, tuple[Any, Any]]:
        given = fn.args
        if given.posonlyargs:
            raise Undecidable  # which an import will refuse
        first = len(given.args) - len(given.defaults)
        defaults = [None] * first + list(given.defaults)
        every = [*zip(given.args, defaults, strict=True)]
        every += [*zip(given.kwonlyargs, given.kw_defaults, strict=True)]
        return {
            parameter.arg: (
                self._names.type(parameter.annotation),
                ... if default is None else self._names.value(default),
            )
            for parameter, default in every
        }


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    """Give what stands in a statement, but not what is inside classes: those are no skills."""
    yield node
    if not isinstance(node, ast.ClassDef | ast.Import | ast.ImportFrom):
        for child in ast.iter_child_nodes(node):
            yield from _walk(child)
