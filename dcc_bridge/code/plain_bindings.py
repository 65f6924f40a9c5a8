"""Finds the meaning of the names in a text: paths of modules, functions of its own, values.

All other modules of the reader look names up here. Any thread.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

# Builtins that are read in ways of their own, so nothing else may have their names.
_SPECIAL: Final = {"dict", "getattr", "hasattr", "isinstance", "type"}


class Bindings:
    """The names that a text binds, wherever in it that is.

    A name that stands for a module, or for a function of the text, may stand for nothing else.

    Attributes:
        aliases: By a name, the module's path that it stands for: "cmds" for "maya.cmds".
        functions: The last line of each function of the text, by its name; also of each lambda.
        problems: Nodes, each with the reason why it is not plain.
    """

    def __init__(self, tree: ast.Module, given: Mapping[str, str]) -> None:
        """Read all bindings of a text.

        Args:
            tree: The whole text.
            given: The modules that it finds without an import, by their names there.
        """
        self.aliases = dict(given)
        self.functions = set[str]()
        self.problems = list[tuple[ast.AST, str]]()
        self._count = Counter[str]()
        self._values = dict[str, ast.expr]()  # the first by each name
        self._counters = set[str]()  # names that a loop over `range` or `enumerate` binds
        nodes = [*ast.walk(tree)]
        for node in nodes:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._add_import(node)
        for node in nodes:
            self._add(node)
        for node in nodes:
            if isinstance(node, ast.FunctionDef) and self._count[node.name] > 1:
                self.problems.append((node, f"gives {node.name} another meaning"))

    def path_of(self, node: ast.expr) -> tuple[str | None, list[str]]:
        """Return the module's path of which attributes are read, if it is one, and their names."""
        root, names = _chain(node)
        alias = self.aliases.get(root.id) if isinstance(root, ast.Name) else None
        return alias, names

    def assigned_to(self, node: ast.expr) -> str:
        """Return the attribute that the name at the root stands for: "links" of ``a = b.links``.

        It is "" for a name that is bound more than once, since nobody can tell which counts.
        """
        root, _ = _chain(node)
        if not isinstance(root, ast.Name) or self._count[root.id] != 1:
            return ""
        value = self._values.get(root.id)
        return value.attr if isinstance(value, ast.Attribute) else ""

    def full_path(self, node: ast.expr) -> str:
        """Return a path with dots, in which a name that is bound once is what it stands for."""
        root, names = _chain(node)
        if not isinstance(root, ast.Name):
            return ""
        value = self.value_of(root.id)
        if value is not None:
            root, above = _chain(value)
            names = [*above, *names]
        name = root.id if isinstance(root, ast.Name) else ""
        return ".".join([self.aliases.get(name, name), *names])

    def count(self, name: str) -> int:
        """Return how often a name is bound, imports left out."""
        return self._count[name]

    def value_of(self, name: str) -> ast.expr | None:
        """Return the value of a name that is bound once, by an assignment to it alone."""
        return self._values.get(name) if self._count[name] == 1 else None

    def is_counter(self, name: str) -> bool:
        """Return whether a name stands for the numbers that a loop counts, and nothing else."""
        is_builtin = self._count["range"] + self._count["enumerate"] == 0
        return is_builtin and self._count[name] == 1 and name in self._counters

    def _add_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for name, path in _imported(node):
            if self.aliases.setdefault(name, path) != path or name in _SPECIAL:
                self.problems.append((node, f"imports something else as {name}"))

    def _add(self, node: ast.AST) -> None:
        name = _bound(node)
        if name is not None:
            self._count[name] += 1
            self._check(node, name)
        if isinstance(node, ast.FunctionDef):
            self.functions.add(node.name)
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            for name in names:
                self._values.setdefault(name, node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            self._counters.update(_counted(node.target, node.iter))

    def _check(self, node: ast.AST, name: str) -> None:
        if name in self.aliases or name in _SPECIAL:
            self.problems.append((node, f"gives {name} another meaning"))
        elif name.startswith("_") and name != "_":
            self.problems.append((node, f"uses the inner name {name}"))


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, with the path that it stands for."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            first = alias.name.partition(".")[0]
            yield first, first


def _bound(node: ast.AST) -> str | None:
    """Return the name that a node binds, but for those of imports."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return node.id
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.FunctionDef | ast.ExceptHandler):
        return node.name
    return None


def _counted(target: ast.expr, loop: ast.expr) -> Iterator[str]:
    """Yield the name that a loop counts with: ``for name in range(9)``."""
    called = loop.func if isinstance(loop, ast.Call) else None
    if not isinstance(called, ast.Name):
        return
    if called.id == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
        if isinstance(target, ast.Name):
            yield target.id
    elif called.id == "range" and isinstance(target, ast.Name):
        yield target.id


def _chain(node: ast.expr) -> tuple[ast.expr, list[str]]:
    """Return what attributes are read of, and their names from there on."""
    names = list[str]()
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    return node, names
