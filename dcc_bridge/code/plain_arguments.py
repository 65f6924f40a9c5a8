"""Decides which arguments a call may have, where they must be written out. Any thread."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from dcc_bridge.code.plain_bindings import Bindings
from dcc_bridge.code.plain_values import Values, literal_end
from dcc_bridge.verbs.plain_names import LiteralArgument

_PLAIN_TEMPLATE: Final = re.compile(r"(?:[^{}]|\{\{|\}\}|\{(?!_)\w*(?::[^{}]*)?\})*")
_MAX_WRITTEN: Final = 60  # characters of an expression in a reason


class Arguments:
    """Tells what of the arguments of a call is not plain."""

    def __init__(self, bindings: Bindings, values: Values) -> None:
        self._bindings = bindings
        self._values = values

    def problems(self, node: ast.Call, rule: LiteralArgument, path: str) -> Iterator[str]:
        """Yield each reason why a call does not keep to a rule.

        Args:
            node: The call.
            rule: The rule.
            path: What is called.
        """
        above, _, name = path.rpartition(".")
        if above.rpartition(".")[2] in rule.any_of:
            return
        has_spread = any(isinstance(it, ast.Starred) for it in node.args)
        has_spread = has_spread or any(it.arg is None for it in node.keywords)
        given = [it.value for it in node.keywords if it.arg in rule.keywords]
        if rule.place is not None:
            given += node.args[rule.place : rule.place + 1]
        for argument in given:
            if not self._is_allowed(argument, rule):
                yield f"calls {name} with {written(argument)}"
        if has_spread:
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

    def is_plain_format(self, node: ast.Call) -> bool:
        """Return whether a template reads no attribute, as ``"{0.name}".format(it)`` does."""
        template = node.func.value if isinstance(node.func, ast.Attribute) else None
        text = template.value if isinstance(template, ast.Constant) else None
        return isinstance(text, str) and _PLAIN_TEMPLATE.fullmatch(text) is not None


def text_of(node: ast.expr) -> str:
    """Return the text that an expression is; "" for anything else."""
    value = node.value if isinstance(node, ast.Constant) else ""
    return value if isinstance(value, str) else ""


def written(node: ast.expr) -> str:
    """Return an expression as it stands in a reason."""
    text = ast.unparse(node)
    return text if len(text) <= _MAX_WRITTEN else f"{text[: _MAX_WRITTEN - 1]}…"
