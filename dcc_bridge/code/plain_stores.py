"""Decides which values a text may assign to attributes and items. Any thread."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dcc_bridge.code.plain_arguments import written
from dcc_bridge.code.plain_bindings import Bindings
from dcc_bridge.code.plain_limits import small_number
from dcc_bridge.code.plain_values import Values, may_name_file
from dcc_bridge.verbs.plain_names import PlainNames


class Stores:
    """Tells what of an assignment is not plain.

    Attributes:
        seen: The attributes and items of which the value was looked at.
    """

    def __init__(self, bindings: Bindings, values: Values, plain: PlainNames) -> None:
        self.seen = set[ast.expr]()
        self._bindings = bindings
        self._values = values
        self._plain = plain

    def problems(self, target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
        """Yield each part of a target whose value may reach beyond the scene, and why.

        Args:
            target: What is assigned to.
            value: The value.
        """
        if isinstance(target, ast.Tuple | ast.List):
            for part, its_value in zip(target.elts, _in_parts(target, value), strict=True):
                yield from self.problems(part, its_value)
        elif isinstance(target, ast.Starred):
            yield from self.problems(target.value, value)
        elif isinstance(target, ast.Attribute):
            self.seen.add(target)
            for reason in self._of_attribute(target, value):
                yield target, reason
        elif isinstance(target, ast.Subscript):
            self.seen.add(target)
            for reason in self._of_item(target, value):
                yield target, reason

    def over_limit(self, name: str, value: ast.expr) -> Iterator[str]:
        """Yield a reason where a number of this name has a limit, and the value may be over it.

        Args:
            name: An attribute that is assigned, or a keyword of a call.
            value: The value.
        """
        limit = self._plain.limits.get(name)
        if limit is not None and not small_number(value, limit):
            yield f"sets {name}, which may be over {limit}"

    def _of_attribute(self, node: ast.Attribute, value: ast.expr) -> Iterator[str]:
        name = node.attr
        if may_name_file(value):
            yield f"assigns to {name} what may name a file"
        yield from self.over_limit(name, value)
        path = self._bindings.full_path(node)
        if path in self._plain.fixed:
            yield f"assigns to {path}"
        if name not in self._plain.numbers or isinstance(value, ast.Tuple | ast.List):
            return
        if not self._values.is_number(value):
            yield f"assigns to {name} what may be a text"

    def _of_item(self, node: ast.Subscript, value: ast.expr) -> Iterator[str]:
        if self._values.is_own(node.value):
            return
        if not self._values.is_plain_key(node.slice):
            yield f"assigns to the item {written(node.slice)}"
        if may_name_file(value):
            yield "assigns to an item what may name a file"
        is_named = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        if is_named and not self._values.is_plain(value):
            yield "assigns to a named item what may be any text"


def _in_parts(target: ast.Tuple | ast.List, value: ast.expr) -> Sequence[ast.expr]:
    """Return what each part of a target may be: its own part of the value, or all of that."""
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    has_star = any(isinstance(it, ast.Starred) for it in (*target.elts, *parts))
    if len(parts) == len(target.elts) and not has_star:
        return parts
    unknown = ast.copy_location(ast.Subscript(value, ast.Constant(0), ast.Load()), value)
    return [unknown] * len(target.elts)
