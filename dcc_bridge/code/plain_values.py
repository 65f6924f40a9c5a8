"""Decides what an expression may be: a number, a text that names a file, a container of the text.

The form of the expression decides alone. Where that is not enough, the answer is "no". Any thread.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Final

from dcc_bridge.code.plain_bindings import Bindings

# A folder, an extension, a variable or a command: what an application would take for a file.
_OF_FILES: Final = re.compile(r"[/\\$`]|\.[A-Za-z][A-Za-z0-9]{0,7}$|^~")
_KEYS_OF_FILES: Final = re.compile(r"(?i)file|path|dir|script|url|lib")
_OF_NUMBERS: Final = {"abs", "bool", "float", "int", "len", "round"}
_OF_CONTAINERS: Final = {"dict", "list"}
_MAKE_CONTAINERS: Final = {"collections.defaultdict", "collections.Counter"}
_COMPUTING: Final = ("cmath.", "colorsys.", "math.")
_RANDOM: Final = re.compile(r"random\.(random|uniform|randint|randrange|gauss|triangular)")
_NEVER_OF_TEXTS: Final = (ast.Sub, ast.Div, ast.FloorDiv, ast.Pow, ast.MatMult)
_CONTAINERS: Final = (ast.Dict, ast.DictComp, ast.List, ast.ListComp)


class Values:
    """The possible kinds of the values in a text."""

    def __init__(self, bindings: Bindings, computes: Callable[[str], bool]) -> None:
        """Read values with what the names in the text stand for.

        Args:
            bindings: The names of the text.
            computes: Returns whether what is called by a path makes numbers, such as a vector.
        """
        self._bindings = bindings
        self._computes = computes

    def is_number(self, node: ast.expr) -> bool:
        """Return whether a value is a number, or consists of numbers, and holds no text."""
        match node:
            case ast.Constant():
                return isinstance(node.value, int | float | complex)
            case ast.BinOp():
                return self._is_arithmetic(node)
            case ast.Tuple() | ast.List():
                return all(map(self.is_number, node.elts))
            case ast.ListComp():
                return self.is_number(node.elt)
            case ast.Call():
                return self._is_computed(node)
            case ast.Name():
                return self._stands_for_number(node.id)
        return isinstance(node, ast.UnaryOp | ast.Compare)

    def is_plain(self, node: ast.expr) -> bool:
        """Return whether a value is written out, and none of its texts looks like a file."""
        if isinstance(node, ast.Constant):
            return not may_name_file(node)
        if isinstance(node, ast.Tuple | ast.List):
            return all(map(self.is_plain, node.elts))
        return self.is_number(node)

    def is_plain_key(self, node: ast.expr) -> bool:
        """Return whether an item may be stored by a key, whatever it is an item of."""
        if isinstance(node, ast.Slice):
            return True
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return _KEYS_OF_FILES.search(node.value) is None
        return self.is_number(node)

    def is_own(self, node: ast.expr) -> bool:
        """Return whether it is a name of a container that the text has made itself."""
        if not isinstance(node, ast.Name):
            return False
        if self._bindings.count(node.id) == 0:
            return node.id == "memory"
        value = self._bindings.value_of(node.id)
        if isinstance(value, ast.BinOp):  # ``[0] * 8``
            value = value.left
        if isinstance(value, ast.Call):
            path, attributes = self._bindings.path_of(value.func)
            if path is None:
                return isinstance(value.func, ast.Name) and self._is_builtin(
                    value.func, _OF_CONTAINERS
                )
            return ".".join([path, *attributes]) in _MAKE_CONTAINERS
        return isinstance(value, _CONTAINERS)

    def _stands_for_number(self, name: str) -> bool:
        if self._bindings.is_counter(name):
            return True
        value = self._bindings.value_of(name)
        if value is None or isinstance(value, ast.List | ast.ListComp):  # a list may get a text
            return False
        for part in ast.walk(value):
            if isinstance(part, ast.Name) and self._bindings.value_of(part.id) is not None:
                return False  # a name of another name, or of itself: one step is enough
        return self.is_number(value)

    def _is_arithmetic(self, node: ast.BinOp) -> bool:
        if isinstance(node.op, _NEVER_OF_TEXTS):
            return True
        sides = [self.is_number(node.left), self.is_number(node.right)]
        if isinstance(node.op, ast.Add):  # a text and a number are not added
            return all(sides) or any(map(_is_one_number, (node.left, node.right)))
        if isinstance(node.op, ast.Mult):  # a text is not multiplied by a fraction
            return all(sides) or any(map(_is_fraction, (node.left, node.right)))
        return all(sides)

    def _is_computed(self, node: ast.Call) -> bool:
        path, attributes = self._bindings.path_of(node.func)
        if path is None:
            return isinstance(node.func, ast.Name) and self._is_builtin(node.func, _OF_NUMBERS)
        called = ".".join([path, *attributes])
        if called.startswith(_COMPUTING) or _RANDOM.fullmatch(called) is not None:
            return True
        return self._computes(called)

    def _is_builtin(self, node: ast.Name, names: set[str]) -> bool:
        return node.id in names and self._bindings.count(node.id) == 0


def may_name_file(node: ast.expr) -> bool:
    """Return whether any text within an expression looks like a file, or runs a command."""
    for part in ast.walk(node):
        if not isinstance(part, ast.Constant):
            continue
        text = text_of(part)
        if isinstance(part.value, bytes):  # an application may take bytes for a text
            text = part.value.decode("latin-1")
        if _OF_FILES.search(text):
            return True
    return False


def text_of(node: ast.expr) -> str:
    """Return the text that an expression is; "" for anything else."""
    value = node.value if isinstance(node, ast.Constant) else ""
    return value if isinstance(value, str) else ""


def literal_end(node: ast.expr) -> str:
    """Return the end of a text as far as it is written out: ".color" of ``f"{shader}.color"``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return literal_end(node.right)
    if isinstance(node, ast.JoinedStr) and node.values:
        return literal_end(node.values[-1])
    return text_of(node)


def _is_one_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _is_fraction(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div)
    return isinstance(node, ast.Constant) and isinstance(node.value, float)
