"""Decides which names a text may use: of builtins, of modules, and the attributes of objects.

`plain` asks here about each name and attribute that it comes to. Any thread.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from dcc_bridge.code import plain_python
from dcc_bridge.code.plain_bindings import Bindings
from dcc_bridge.verbs.plain_names import LiteralArgument, PlainNames


class Uses:
    """The names that a text may use, those of Python and of the application."""

    def __init__(self, tree: ast.Module, bindings: Bindings, plain: PlainNames) -> None:
        """Look up what the lists have, and what the text calls.

        Args:
            tree: The whole text.
            bindings: The names of the text.
            plain: The names of the application.
        """
        self.is_type = matcher(plain.types)
        self._bindings = bindings
        self._assigned = plain.assigned
        self._modules = plain_python.MODULES | plain.modules
        self._is_path = matcher(plain_python.PATHS | plain.paths)
        self._called_names = plain_python.NAMES | plain.names
        self._read_names = (self._called_names | plain.assigned) - plain.only_assigned
        self._rules = list[tuple[Callable[[str], bool], Sequence[LiteralArgument]]]()
        for path, rules in plain.literals.items():
            self._rules.append((matcher([path]), rules))
        self._called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}

    def is_module(self, path: str) -> bool:
        """Return whether a module may be imported."""
        return path in self._modules

    def is_importable(self, path: str) -> bool:
        """Return whether a module or a part of one may be imported."""
        return path in self._modules or self._is_path(path) or self.is_type(path)

    def is_value(self, name: str) -> bool:
        """Return whether an attribute may be read and assigned, but not called."""
        return name in self._assigned and name not in self._called_names

    def may_be_read(self, name: str) -> bool:
        """Return whether an attribute may be read and handed on."""
        return name in self._read_names and not self.rules_of(name)

    def rules_of(self, path: str) -> list[LiteralArgument]:
        """Return the rules for the arguments of what is called by a path or its last name."""
        last = path.rpartition(".")[2]
        found = list[LiteralArgument]()
        for matches, rules in self._rules:
            if matches(path) or matches(last):
                found.extend(rules)
        return found

    def of_name(self, node: ast.Name) -> Iterator[tuple[ast.AST, str]]:
        """Yield why a name is not plain."""
        name = node.id
        path = self._bindings.aliases.get(name)
        is_builtin = hasattr(builtins, name) and name != "__name__"
        if path is not None:
            yield from self._of_path(node, path, [])
        elif is_builtin and name not in plain_python.BUILTINS:
            yield node, f"uses {name}"
        elif name.startswith("_") and name not in ("_", "__name__"):
            yield node, f"uses the inner name {name}"

    def of_attribute(self, node: ast.Attribute) -> Iterator[tuple[ast.AST, str]]:
        """Yield why an attribute is not plain; of a module, why its whole path is not."""
        path, attributes = self._bindings.path_of(node)
        if path is not None:
            yield from self._of_path(node, path, attributes)
            return
        yield from self._of_rules(node, node.attr)
        is_assigned = not isinstance(node.ctx, ast.Load)
        yield from self._of_object(node, node.attr, is_assigned=is_assigned)

    def _of_path(
        self, node: ast.Name | ast.Attribute, alias: str, attributes: Sequence[str]
    ) -> Iterator[tuple[ast.AST, str]]:
        """Yield why a path is not plain: its start is one of a module, the rest are attributes."""
        steps = len(attributes)
        while steps >= 0 and not self._is_path(".".join([alias, *attributes[:steps]])):
            steps -= 1
        path = ".".join([alias, *attributes])
        is_assigned = not isinstance(node.ctx, ast.Load)
        yield from self._of_rules(node, path)
        if steps < 0 or any(name.startswith("_") for name in attributes):
            reason = f"uses {path}" if attributes else f"hands on the module {path}"
            yield _last_line(node), reason
            return
        if is_assigned and steps == len(attributes):
            yield node, f"assigns to {path}"
        for number, name in enumerate(attributes[steps:], steps + 1):
            is_last = number == len(attributes)
            yield from self._of_object(node, name, is_assigned=is_assigned and is_last)

    def _of_object(
        self, node: ast.Name | ast.Attribute, name: str, *, is_assigned: bool
    ) -> Iterator[tuple[ast.AST, str]]:
        """Yield why an attribute of an object is not plain.

        Args:
            node: The path that has the attribute.
            name: The attribute, which need not be the last of the path.
            is_assigned: Whether the text assigns or deletes it.
        """
        is_last = isinstance(node, ast.Attribute) and node.attr == name
        is_called = is_last and node in self._called
        is_deleted = isinstance(node.ctx, ast.Del)
        where = _last_line(node)
        if name in (self._assigned if is_assigned else self._read_names) and not is_deleted:
            if is_called and name not in self._called_names:
                yield where, f"calls {name}"
        elif name == "format" and is_called:
            return  # `plain` looks at its template
        elif name.startswith("_"):
            yield where, f"uses the inner name {name}"
        elif is_deleted:
            yield where, f"deletes the attribute {name}"
        elif is_assigned:
            yield where, f"assigns {name}"
        else:
            yield where, f"uses {name}"

    def _of_rules(self, node: ast.expr, path: str) -> Iterator[tuple[ast.AST, str]]:
        """Yield why it may only be called: handed on, its arguments could not be read."""
        if node not in self._called and self.rules_of(path):
            yield _last_line(node), f"uses {path} without calling it"


def matcher(paths: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that tells whether a path is listed.

    Args:
        paths: The list, in which a star stands for a part of a name.
    """
    exact = {path for path in paths if "*" not in path}
    patterns = [re.escape(path).replace(r"\*", r"[^.]*") for path in paths if "*" in path]
    pattern = re.compile("|".join(patterns) or r"(?!)")
    return lambda path: path in exact or pattern.fullmatch(path) is not None


def _last_line(node: ast.expr) -> ast.expr:
    """Return a node that stands in the last line of another one, where its last name is."""
    return ast.Name("", lineno=node.end_lineno or node.lineno)
