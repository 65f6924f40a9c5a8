"""Decides which values a text may hand to the application: by an assignment, or in a call.

A file or a command is recognized by its form. Where the application would take any
text for a file, the text has to be written out. `plain` asks here about each assignment and call.
Any thread.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final

from dcc_bridge.code.plain_bindings import Bindings
from dcc_bridge.code.plain_python import KEYWORDS_OF_FILES
from dcc_bridge.code.plain_uses import Uses, matcher
from dcc_bridge.code.plain_values import Values, literal_end, may_name_file, text_of
from dcc_bridge.verbs.plain_names import LiteralArgument, PlainNames

# A template whose fields have no dots and no brackets, so that it reads no attribute.
_PLAIN_TEMPLATE: Final = re.compile(r"(?:[^{}]|\{\{|\}\}|\{(?!_)\w*(?::[^{}]*)?\})*")
_MAX_WRITTEN: Final = 60  # characters of an expression in a reason


class Inputs:
    """The values that a text hands to the application.

    Attributes:
        seen: The attributes and items of which the value was looked at.
    """

    def __init__(self, bindings: Bindings, uses: Uses, plain: PlainNames) -> None:
        self.seen = set[ast.expr]()
        self._bindings = bindings
        self._uses = uses
        self._values = Values(bindings, matcher(plain.computes))
        self._plain = plain

    # ---- assignments

    def of_store(self, target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
        """Yield each part of a target whose value may reach beyond the scene, and why.

        Args:
            target: What is assigned to.
            value: The value.
        """
        if isinstance(target, ast.Tuple | ast.List):
            for part, its_value in zip(target.elts, _in_parts(target, value), strict=True):
                yield from self.of_store(part, its_value)
        elif isinstance(target, ast.Starred):
            yield from self.of_store(target.value, value)
        elif isinstance(target, ast.Attribute):
            self.seen.add(target)
            for reason in self._of_attribute(target, value):
                yield target, reason
        elif isinstance(target, ast.Subscript):
            self.seen.add(target)
            for reason in self._of_item(target, value):
                yield target, reason

    def _of_attribute(self, node: ast.Attribute, value: ast.expr) -> Iterator[str]:
        name = node.attr
        if may_name_file(value):
            yield f"assigns to {name} what may name a file"
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
            yield f"assigns to the item {_written(node.slice)}"
        if may_name_file(value):
            yield "assigns to an item what may name a file"
        is_named = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        if is_named and not self._values.is_plain(value):
            yield "assigns to a named item what may be any text"

    # ---- calls

    def of_call(self, node: ast.Call) -> Iterator[str]:
        """Yield each reason why the arguments of a call are not plain."""
        for keyword in node.keywords:
            yield from self._of_keyword(node, keyword)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method == "format" and not _is_plain_format(node):
            yield "formats a text that may read attributes"
        if method == "update" and node.args and not self._is_own_method(node.func):
            yield "calls update of what may be no dict of its own"
        path, attributes = self._bindings.path_of(node.func)
        above = path or self._bindings.assigned_to(node.func)
        if not attributes and self._uses.is_value(above):
            yield f"calls {above}"
        called = ".".join([above, *attributes] if above else attributes)
        for rule in self._uses.rules_of(called):
            yield from self._of_rule(node, rule, called)

    def _of_keyword(self, node: ast.Call, keyword: ast.keyword) -> Iterator[str]:
        if keyword.arg is None:
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name != "dict" and not self._is_own_function(name):
                yield "hands on arguments by names that are computed"
        elif keyword.arg.startswith("_"):
            yield f"uses the inner name {keyword.arg}"
        elif keyword.arg in KEYWORDS_OF_FILES:
            yield f"names a file by {keyword.arg}"

    def _is_own_function(self, name: str) -> bool:
        return name in self._bindings.functions and self._bindings.count(name) == 1

    def _is_own_method(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute) and self._values.is_own(node.value)

    def _of_rule(self, node: ast.Call, rule: LiteralArgument, path: str) -> Iterator[str]:
        """Yield each reason why a call does not keep to a rule.

        Args:
            node: The call.
            rule: The rule.
            path: What is called.
        """
        above, _, name = path.rpartition(".")
        if above.rpartition(".")[2] in rule.any_of:
            return
        arguments = [keyword.value for keyword in node.keywords if keyword.arg in rule.keywords]
        if rule.place is not None:
            arguments += node.args[rule.place : rule.place + 1]
        for argument in arguments:
            if not self._is_allowed(argument, rule):
                yield f"calls {name} with {_written(argument)}"
        has_star = any(isinstance(argument, ast.Starred) for argument in node.args)
        if has_star or any(keyword.arg is None for keyword in node.keywords):
            yield "hands on arguments that are computed"
        if rule.most is not None and len(node.args) > rule.most:
            yield f"calls {name} with more than {rule.most} argument without a keyword"

    def _is_allowed(self, node: ast.expr, rule: LiteralArgument) -> bool:
        if rule.or_number and self._values.is_number(node):
            return True
        if rule.is_path:
            value = self._bindings.value_of(node.id) if isinstance(node, ast.Name) else None
            path, attributes = self._bindings.path_of(value or node)
            text = ".".join([path or "", *attributes])
        elif rule.is_end:
            text = literal_end(node)
        else:
            text = text_of(node)
        return bool(text) and re.fullmatch(rule.pattern, text, re.DOTALL) is not None


def _is_plain_format(node: ast.Call) -> bool:
    """Return whether a template reads no attribute, as ``"{0.name}".format(it)`` does."""
    template = node.func.value if isinstance(node.func, ast.Attribute) else node.func
    text = template.value if isinstance(template, ast.Constant) else None
    return isinstance(text, str) and _PLAIN_TEMPLATE.fullmatch(text) is not None


def _written(node: ast.expr) -> str:
    """Return an expression as it stands in a reason."""
    text = ast.unparse(node)
    return text if len(text) <= _MAX_WRITTEN else f"{text[: _MAX_WRITTEN - 1]}…"


def _in_parts(target: ast.Tuple | ast.List, value: ast.expr) -> Sequence[ast.expr]:
    """Return what each part of a target may be: its own part of the value, or all of that."""
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    has_star = any(isinstance(part, ast.Starred) for part in (*target.elts, *parts))
    if len(parts) == len(target.elts) and not has_star:
        return parts
    unknown = ast.copy_location(ast.Subscript(value, ast.Constant(0), ast.Load()), value)
    return [unknown] * len(target.elts)
