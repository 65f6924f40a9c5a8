"""Which calls a function makes, also through other functions of its file. Any thread."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from dcc_bridge.skills.files.annotations import Names
from dcc_bridge.skills.files.source import Function


@dataclass(frozen=True, slots=True)
class Call:
    """A call in the text.

    Attributes:
        line: Where it stands.
        written: What is called, written out: ``maya.cmds.delete``.
        keywords: The keywords that it is given.
    """

    line: int
    written: str
    keywords: tuple[str, ...]

    def fits(self, patterns: Sequence[str]) -> bool:
        """Whether it is one of those."""
        return any(fnmatchcase(self.written, pattern) for pattern in patterns)


class Reach:
    """The calls of a file's functions."""

    def __init__(self, tree: ast.Module) -> None:
        """Read the file's functions."""
        self._names = Names(tree)
        functions = (node for node in ast.walk(tree) if isinstance(node, Function))
        self._functions = {node.name: node for node in functions}

    def calls(self, function: Function) -> list[Call]:
        """Give the calls of a function and of those of its file that it mentions, in order."""
        seen = {function.name}
        waiting, found = [function], []
        while waiting:
            for node in _inside(waiting.pop(0)):
                if isinstance(node, ast.Call):
                    keywords = tuple(str(one.arg) for one in node.keywords if one.arg)
                    found.append(Call(node.lineno, self._written(node.func), keywords))
                if isinstance(node, ast.Name) and node.id in self._functions.keys() - seen:
                    seen.add(node.id)
                    waiting.append(self._functions[node.id])
        return sorted(found, key=lambda call: call.line)

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


def _inside(function: Function) -> Iterator[ast.AST]:
    for statement in function.body:
        yield from ast.walk(statement)
