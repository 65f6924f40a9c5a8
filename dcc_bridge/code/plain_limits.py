"""Finds what may freeze the application, crash it, or fill its memory.

A single call cannot be ended, so plain code has no huge number, power, shift or repeat, and no
iterator that outlives its statement: many of them within each other crash Python. Its functions do
not call themselves. All of that is read from the form of the text. `plain` calls this. Any thread.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from dcc_bridge.code.plain_bindings import Bindings
from dcc_bridge.code.plain_python import GROWING_METHODS

_MAX_NUMBER: Final = 1_000_000
_MAX_EXPONENT: Final = 16
_MAX_TEXT_REPEATS: Final = 100
_MAX_LIST_REPEATS: Final = 10_000
_LONG_DIGITS: Final = re.compile(r"\d{9}")  # in a text: the width of a template, or a number
# Calls that return an iterator over their arguments, and methods that use them up.
_LAZY: Final = {"enumerate", "filter", "map", "zip"}
_USING_UP_METHODS: Final = {"join", "update"}  # not `extend`: ``it.extend(map(str, it))``

Excess = tuple[ast.AST, str]
"""A node of the text, and why it is not plain."""


def excesses(tree: ast.Module, bindings: Bindings) -> Iterator[Excess]:
    """Yield what may take too long or too much, with the reason.

    Args:
        tree: The whole text.
        bindings: The names of the text.
    """
    for node in ast.walk(tree):
        reason = _of_expression(node, bindings) or _of_statement(node)
        if reason:
            yield node, reason
    yield from _kept_iterators(tree, bindings)


def small_number(node: ast.expr, maximum: int) -> bool:
    """Return whether an expression is a number that is written out, and at most so large.

    Args:
        node: The expression.
        maximum: The largest number, of either sign.
    """
    value = _written_value(node)
    return isinstance(value, int | float) and value <= maximum


def _written_value(node: ast.expr) -> object:
    """Return the value that is written out, without its sign; None for anything else."""
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return node.value if isinstance(node, ast.Constant) else None


def _of_expression(node: ast.AST, bindings: Bindings) -> str:
    if isinstance(node, ast.Constant):
        return _of_constant(node.value)
    if isinstance(node, ast.BinOp):
        return _of_operation(node.op, node.left, node.right, bindings)
    if isinstance(node, ast.Name):
        return _of_recursion(node, bindings)
    if isinstance(node, ast.AugAssign):
        return _of_operation(node.op, node.target, node.value, bindings)
    return ""


def _of_statement(node: ast.AST) -> str:
    if isinstance(node, ast.While):
        return _of_while(node)
    if isinstance(node, ast.For):
        return _of_for(node)
    if isinstance(node, ast.Assign):
        return _of_nesting(node)
    return ""


def _of_constant(value: object) -> str:
    if isinstance(value, int) and value > _MAX_NUMBER:
        return f"has a number over {_MAX_NUMBER:,}"
    if isinstance(value, bytes):
        return "has bytes"
    if isinstance(value, str) and _LONG_DIGITS.search(value):
        return "has a text with a huge number"
    return ""


# ---- operators


def _of_operation(op: ast.operator, left: ast.expr, right: ast.expr, bindings: Bindings) -> str:
    if isinstance(op, ast.Pow) and not _is_small_power(left, right):
        return "raises to a power that may be huge"
    if isinstance(op, ast.LShift):
        return "shifts by what may be huge"
    if isinstance(op, ast.Mult):
        for part, count in ((left, right), (right, left)):
            value = bindings.first_value_of(part.id) if isinstance(part, ast.Name) else part
            maximum = _max_repeats(value or part)
            if maximum is not None and not _is_count(count, maximum):
                return "repeats a text or a list, which may be huge"
    return ""


def _is_small_power(base: ast.expr, exponent: ast.expr) -> bool:
    """Return whether a power is a float, which cannot be huge, or has a small exponent."""
    number = _written_value(base)
    power = _written_value(exponent)
    if isinstance(number, float) or isinstance(power, float):
        return True
    if not isinstance(power, int) or power > _MAX_EXPONENT:
        return False
    if isinstance(number, int):
        return bool(number**power <= _MAX_NUMBER)
    return not any(isinstance(part, ast.Pow) for part in ast.walk(base))


def _is_count(node: ast.expr, maximum: int) -> bool:
    """Return whether a list or a text may be repeated so often."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        return maximum == _MAX_LIST_REPEATS
    return small_number(node, maximum)


def _max_repeats(node: ast.expr) -> int | None:
    """Return how often a text or a list may be repeated; None for what seems to be neither."""
    if isinstance(node, ast.List | ast.ListComp | ast.Tuple):
        return _MAX_LIST_REPEATS
    if isinstance(node, ast.BinOp):
        sides = (_max_repeats(node.left), _max_repeats(node.right))
        return None if sides == (None, None) else 1  # such as a repeat of a repeat
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return _MAX_TEXT_REPEATS if is_text or isinstance(node, ast.JoinedStr) else None


# ---- loops and functions


def _of_while(loop: ast.While) -> str:
    is_endless = isinstance(loop.test, ast.Constant) and bool(loop.test.value)
    ends = any(isinstance(node, ast.Break | ast.Return | ast.Raise) for node in ast.walk(loop))
    return "loops without an end" if is_endless and not ends else ""


def _of_for(loop: ast.For) -> str:
    if not isinstance(loop.iter, ast.Name):
        return ""
    name = loop.iter.id
    for node in ast.walk(loop):
        grown: ast.expr | None = None
        if isinstance(node, ast.AugAssign):
            grown = node.target
        elif isinstance(node, ast.Attribute) and node.attr in GROWING_METHODS:
            grown = node.value
        if isinstance(grown, ast.Name) and grown.id == name:
            return f"adds to {name} while it loops over it"
    return ""


def _of_nesting(node: ast.Assign) -> str:
    """Return why a name may stand for tuples within each other: the hash of many crashes Python."""
    names = {target.id for target in node.targets if isinstance(target, ast.Name)}
    for part in ast.walk(node.value):
        if isinstance(part, ast.Tuple):
            for item in part.elts:
                if isinstance(item, ast.Name) and item.id in names:
                    return f"puts {item.id} into a tuple that replaces it"
    return ""


def _of_recursion(node: ast.Name, bindings: Bindings) -> str:
    """Return why a function may call itself: it is read before its own last line has ended."""
    end = bindings.functions.get(node.id, 0)
    if isinstance(node.ctx, ast.Load) and node.lineno <= end:
        return f"uses {node.id} above its end, so it may call itself"
    return ""


# ---- iterators


def _kept_iterators(tree: ast.Module, bindings: Bindings) -> Iterator[Excess]:
    """Yield each iterator that is not used up at once, by a loop or a call."""
    used_up = set[ast.AST]()
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.comprehension):
            used_up.add(node.iter)
        elif isinstance(node, ast.Starred):
            used_up.add(node.value)
        elif isinstance(node, ast.Call):
            used_up.add(node.func)
            used_up.update(_used_up_by(node, bindings))
    for node in ast.walk(tree):
        if node not in used_up and _is_iterator(node):
            yield node, "keeps an iterator: make it a list"


def _is_iterator(node: ast.AST) -> bool:
    """Return whether a node makes an iterator, or hands on what makes one."""
    if isinstance(node, ast.Call):
        node = node.func
    is_lazy = isinstance(node, ast.Name) and node.id in _LAZY
    return is_lazy or isinstance(node, ast.GeneratorExp)


def _used_up_by(call: ast.Call, bindings: Bindings) -> list[ast.expr]:
    """Return the arguments that a call iterates over, so that no iterator is left of them."""
    path, _ = bindings.path_of(call.func)
    if path is not None:
        return call.args
    if isinstance(call.func, ast.Attribute):
        is_using_up = call.func.attr in _USING_UP_METHODS
    else:
        is_using_up = isinstance(call.func, ast.Name) and bindings.count(call.func.id) == 0
    return call.args if is_using_up else []
