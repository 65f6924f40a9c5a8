"""The names that a text binds: to modules, to its own functions, to attributes. Any thread."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

# Builtins that are read in ways of their own, so nothing else may have their names.
_SPECIAL: Final = {"dict", "getattr", "hasattr", "isinstance", "setattr", "type"}


class Bindings:
    """The names that a text binds, anywhere in it.

    A name that stands for a module may stand for nothing else in all of the text.

    Attributes:
        aliases: The paths of modules by the names that stand for them: "maya.cmds" by "cmds".
        functions: The names of functions that the text defines.
        problems: Nodes, each with the reason why it is not plain.
    """

    def __init__(self, tree: ast.Module, given: Mapping[str, str]) -> None:
        """Read all bindings of a text.

        Args:
            tree: The whole text.
            given: The modules that the text has without an import, by their names there.
        """
        self.aliases = dict(given)
        self.functions = set[str]()
        self.problems = list[tuple[ast.AST, str]]()
        self._count = Counter[str]()
        self._attributes = dict[str, str]()  # by the name to which they are assigned
        nodes = list(ast.walk(tree))
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._add_import(node)
        for node in nodes:
            self._add(node)

    def path_of(self, node: ast.expr) -> tuple[str | None, list[str]]:
        """Return the module at the root of an expression, and the attributes that are read.

        Returns:
            The path of the module, or None where the root is no module; and the names of the
            attributes, each of the one before.
        """
        root, names = _chain(node)
        alias = None
        if isinstance(root, ast.Name):
            alias = self.aliases.get(root.id)
        return alias, names

    def assigned_to(self, node: ast.expr) -> str:
        """Return the attribute that the name at the root stands for: "links" of ``a = b.links``.

        Returns:
            The name of the attribute; "" for a name that is bound more than once, since nobody can
            tell which of the values is used.
        """
        root, _ = _chain(node)
        if not isinstance(root, ast.Name) or self._count[root.id] != 1:
            return ""
        return self._attributes.get(root.id, "")

    def _add_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for name, path in _imported(node):
            if self.aliases.setdefault(name, path) != path or name in _SPECIAL:
                self.problems.append((node, f"imports a different module as {name}"))

    def _add(self, node: ast.AST) -> None:
        name = _bound(node)
        if name is not None:
            self._count[name] += 1
            self._check(node, name)
        if isinstance(node, ast.FunctionDef):
            self.functions.add(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self._attributes[target.id] = node.value.attr

    def _check(self, node: ast.AST, name: str) -> None:
        if name in self.aliases or name in _SPECIAL:
            self.problems.append((node, f"gives {name} another meaning"))
        elif name.startswith("_") and name != "_":
            self.problems.append((node, f"uses the inner name {name}"))


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, with the path that the name stands for."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            first = alias.name.partition(".")[0]
            yield first, first


_NODES_WITH_NAME: Final = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.ExceptHandler,
    ast.MatchAs,
    ast.MatchStar,
)


def _bound(node: ast.AST) -> str | None:
    """Return the name that a node binds; None for no name, and for an import."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return node.id
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.MatchMapping):
        return node.rest
    if isinstance(node, _NODES_WITH_NAME):
        return node.name
    return None


def _chain(node: ast.expr) -> tuple[ast.expr, list[str]]:
    """Return the root of an expression, and the names of the attributes that are read."""
    names = list[str]()
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return node, names
