"""Decides which lines of a text are plain, and marks the others: they may reach beyond the scene.

Plain code only computes, and reads and edits the scene by names that are listed: those of Python in
`plain_python`, those of an application by its leaf. Whatever the lists do not have is marked, so
that the person who reads the text looks there first. Any thread.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from dcc_bridge.code.plain_bindings import Bindings
from dcc_bridge.code.plain_inputs import Inputs
from dcc_bridge.code.plain_uses import Uses
from dcc_bridge.code.plain_values import text_of
from dcc_bridge.verbs.plain_names import PlainNames

MAX_REASONS: Final = 3  # that are told of one line
_STATEMENTS: Final = (
    *(ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Delete),
    *(ast.Expr, ast.For, ast.FunctionDef, ast.Global, ast.If, ast.Import, ast.ImportFrom),
    *(ast.Nonlocal, ast.Pass, ast.Raise, ast.Return, ast.Try, ast.While, ast.With),
)
_EXPRESSIONS: Final = (
    *(ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.Dict),
    *(ast.DictComp, ast.FormattedValue, ast.GeneratorExp, ast.IfExp, ast.JoinedStr, ast.Lambda),
    *(ast.List, ast.ListComp, ast.Name, ast.NamedExpr, ast.Set, ast.SetComp, ast.Slice),
    *(ast.Starred, ast.Subscript, ast.Tuple, ast.UnaryOp, ast.Yield, ast.YieldFrom),
)
_IN_WORDS: Final[Mapping[type[ast.AST], str]] = {
    ast.AsyncFunctionDef: "defines a function that waits",
    ast.ClassDef: "defines a class",
}


def marked_lines(tree: ast.Module, plain: PlainNames) -> list[tuple[int, str]]:
    """Return the lines that are not plain, each once and with its reasons, in their order.

    Args:
        tree: The whole text.
        plain: The names of the application.
    """
    bindings = Bindings(tree, plain.given)
    uses = Uses(tree, bindings, plain)
    reader = _Reader(bindings, uses, Inputs(bindings, uses, plain))
    for node, reason in bindings.problems:
        reader.mark(node, reason)
    reader.visit(tree)
    rows = []
    for line, reasons in sorted(reader.reasons.items()):
        rows.append((line, "; ".join([*reasons][:MAX_REASONS])))
    return rows


def closes_scene(tree: ast.Module, plain: PlainNames) -> bool:
    """Return whether a text names what opens, closes or reverts the scene.

    Args:
        tree: The whole text.
        plain: The names of the application.
    """
    named = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            named.add(node.attr)
        elif isinstance(node, ast.alias):
            named.add(node.name)
        elif isinstance(node, ast.Call):
            named.update(text_of(argument) for argument in node.args[1:2])  # of `getattr`
            called = getattr(node.func, "attr", "")
            named.update(f"{called}({keyword.arg})" for keyword in node.keywords)
    return bool(named & plain.closes_scene)


class _Reader(ast.NodeVisitor):
    """Reads one text from the top.

    Attributes:
        reasons: By the number of a line, why it is not plain; a dict keeps their order.
    """

    def __init__(self, bindings: Bindings, uses: Uses, inputs: Inputs) -> None:
        self.reasons: defaultdict[int, dict[str, None]] = defaultdict(dict)
        self._bindings = bindings
        self._uses = uses
        self._inputs = inputs

    def mark(self, node: ast.AST, reason: str) -> None:
        """Mark the line of a node."""
        self.reasons[getattr(node, "lineno", 1)][reason] = None

    # ---- statements

    def generic_visit(self, node: ast.AST) -> None:
        kind = type(node)
        if isinstance(node, ast.stmt) and kind not in _STATEMENTS:
            self.mark(node, _IN_WORDS.get(kind, f"has a statement {kind.__name__}"))
        elif isinstance(node, ast.expr) and kind not in _EXPRESSIONS:
            self.mark(node, _IN_WORDS.get(kind, f"has an expression {kind.__name__}"))
        super().generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if not self._uses.is_module(alias.name):
                self.mark(node, f"imports {alias.name}")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or not self._uses.is_module(module):
            self.mark(node, f"imports {'.' * node.level}{module}")
            return
        for alias in node.names:
            path = f"{module}.{alias.name}"
            if not self._uses.is_importable(path) and module != "__future__":
                self.mark(node, f"imports {path}")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            self.mark(decorator, f"has the decorator {ast.unparse(decorator)}")
        self.generic_visit(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is None:
            self.mark(node, "catches every error, also what ends it")
        self.generic_visit(node)

    # ---- names and attributes

    def visit_Name(self, node: ast.Name) -> None:
        for where, reason in self._uses.of_name(node):
            self.mark(where, reason)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if _is_name_of_type(node):
            self.visit(node.value.args[0])  # type: ignore[attr-defined]  # it is a call
            return
        for where, reason in self._uses.of_attribute(node):
            self.mark(where, reason)
        self._check_stored(node)
        path, _ = self._bindings.path_of(node)
        if path is None:
            self.visit(node.value)

    # ---- calls

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("getattr", "hasattr"):
            self._check_by_name(node, name)
            return
        if name == "isinstance" and len(node.args) == 2:
            self.visit(node.args[0])
            self._visit_types(node.args[1])
            return
        self.visit(node.func)
        for reason in self._inputs.of_call(node):
            self.mark(node, reason)
        for part in (*node.args, *node.keywords):
            self.visit(part)

    def _check_by_name(self, node: ast.Call, name: str) -> None:
        """Check a call such as ``getattr(it, "name")``: the name stands there, and is plain."""
        attribute = text_of(node.args[1]) if len(node.args) > 1 else ""
        has_star = any(isinstance(argument, ast.Starred) for argument in node.args)
        if not attribute or node.keywords or has_star:
            self.mark(node, f"calls {name} with a computed name")
        elif not self._uses.may_be_read(attribute):
            self.mark(node, f"uses {attribute}")
        for part in node.args:
            self.visit(part)

    def _visit_types(self, node: ast.expr) -> None:
        """Visit the second argument of ``isinstance``, where the application's types are plain."""
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self._visit_types(part)
            return
        path, attributes = self._bindings.path_of(node)
        if path is None or not self._uses.is_type(".".join([path, *attributes])):
            self.visit(node)

    # ---- what is stored in an attribute or item

    def visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._check_store(target, node.value)
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._check_store(node.target, node.value)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._check_store(node.target, node.value)
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self._check_stored(node)
        self.generic_visit(node)

    def _check_store(self, target: ast.expr, value: ast.expr) -> None:
        for node, reason in self._inputs.of_store(target, value):
            self.mark(node, reason)

    def _check_stored(self, node: ast.Attribute | ast.Subscript) -> None:
        """Mark what a loop or a `with` stores: which value that is cannot be read."""
        if isinstance(node.ctx, ast.Store) and node not in self._inputs.seen:
            self.mark(node, f"assigns to {ast.unparse(node)} outside of an assignment")


def _is_name_of_type(node: ast.Attribute) -> bool:
    """Return whether it is ``type(it).__name__``, the one thing that is plain of a type."""
    call = node.value
    if node.attr != "__name__" or not isinstance(call, ast.Call) or call.keywords:
        return False
    is_type = isinstance(call.func, ast.Name) and call.func.id == "type"
    return is_type and len(call.args) == 1 and isinstance(node.ctx, ast.Load)
