"""Marks each line of a text that is not plain: it may reach beyond the scene.

Plain code only computes, and reads and edits the scene by names that are listed: those of Python in
`plain_python`, those of an application by its leaf. A person may let it run without reading it, so
whatever the lists do not have is marked. Any thread.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from dcc_bridge.code import plain_python
from dcc_bridge.code.plain_arguments import Arguments, text_of, written
from dcc_bridge.code.plain_bindings import Bindings
from dcc_bridge.code.plain_stores import Stores
from dcc_bridge.code.plain_values import Values
from dcc_bridge.verbs.plain_names import LiteralArgument, PlainNames

_MAX_REASONS: Final = 3  # that are told of one line
_STATEMENTS: Final = (
    *(ast.AnnAssign, ast.Assert, ast.Assign, ast.AugAssign, ast.Break, ast.Continue, ast.Delete),
    *(ast.Expr, ast.For, ast.FunctionDef, ast.Global, ast.If, ast.Import, ast.ImportFrom),
    *(ast.Match, ast.Nonlocal, ast.Pass, ast.Raise, ast.Return, ast.Try, ast.While, ast.With),
)
_EXPRESSIONS: Final = (
    *(ast.Attribute, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.Constant, ast.Dict),
    *(ast.DictComp, ast.FormattedValue, ast.GeneratorExp, ast.IfExp, ast.JoinedStr, ast.Lambda),
    *(ast.List, ast.ListComp, ast.Name, ast.NamedExpr, ast.Set, ast.SetComp, ast.Slice),
    *(ast.Starred, ast.Subscript, ast.Tuple, ast.UnaryOp, ast.Yield, ast.YieldFrom),
)
_IN_WORDS: Final[Mapping[type[ast.AST], str]] = {
    ast.AsyncFor: "runs code that waits",
    ast.AsyncFunctionDef: "defines a function that waits",
    ast.AsyncWith: "runs code that waits",
    ast.Await: "runs code that waits",
    ast.ClassDef: "defines a class",
}


def marked_lines(tree: ast.Module, plain: PlainNames) -> list[tuple[int, str]]:
    """Return the lines that are not plain, each once and with its reasons, in their order.

    Args:
        tree: The whole text.
        plain: The names of the application.
    """
    reader = _Reader(tree, plain)
    reader.visit(tree)
    rows = []
    for line, reasons in sorted(reader.reasons.items()):
        rows.append((line, "; ".join([*reasons][:_MAX_REASONS])))
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
            named.update(text_of(it) for it in node.args[1:2])  # of `getattr`
            called = getattr(node.func, "attr", "")
            named.update(f"{called}({it.arg})" for it in node.keywords)
    return bool(named & plain.closes_scene)


class _Reader(ast.NodeVisitor):
    """Reads one text.

    Attributes:
        reasons: By the number of a line, why it is not plain; a dict keeps their order.
    """

    def __init__(self, tree: ast.Module, plain: PlainNames) -> None:
        self.reasons: defaultdict[int, dict[str, None]] = defaultdict(dict)
        self._plain = plain
        self._modules = plain_python.MODULES | plain.modules
        self._is_path = _matcher(plain_python.PATHS | plain.paths)
        self._is_type = _matcher(plain.types)
        self._is_decorator = _matcher(plain_python.DECORATORS)
        self._rules = [(_matcher([path]), rules) for path, rules in plain.literals.items()]
        self._called_names = plain_python.NAMES | plain.names
        self._names = (self._called_names | plain.assigned) - plain.only_assigned
        self._bindings = Bindings(tree, plain.given)
        self._values = Values(self._bindings, _matcher(plain.computes))
        self._arguments = Arguments(self._bindings, self._values)
        self._stores = Stores(self._bindings, self._values, plain)
        self._called: ast.expr | None = None  # what a call is of, while that is read
        for node, reason in self._bindings.problems:
            self._mark(node, reason)

    def _mark(self, node: ast.AST, reason: str) -> None:
        self.reasons[getattr(node, "lineno", 1)][reason] = None

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name not in self._modules:
                self._mark(node, f"imports {alias.name}")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module not in self._modules:
            self._mark(node, f"imports {'.' * node.level}{module}")
            return
        for alias in node.names:
            path = f"{module}.{alias.name}"
            is_known = path in self._modules or self._is_path(path) or self._is_type(path)
            if not is_known and module != "__future__":
                self._mark(node, f"imports {path}")

    # ---- what is read, called and assigned

    def generic_visit(self, node: ast.AST) -> None:
        kind = type(node)
        if isinstance(node, ast.stmt) and kind not in _STATEMENTS:
            self._mark(node, _IN_WORDS.get(kind, f"has a statement {kind.__name__}"))
        elif isinstance(node, ast.expr) and kind not in _EXPRESSIONS:
            self._mark(node, _IN_WORDS.get(kind, f"has an expression {kind.__name__}"))
        super().generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        path = self._bindings.aliases.get(name)
        if path is not None:
            self._check_path(node, path, [])
        elif hasattr(builtins, name) and name not in plain_python.BUILTINS and name != "__name__":
            self._mark(node, f"uses {name}")
        elif name.startswith("_") and name not in ("_", "__name__"):
            self._mark(node, f"uses the inner name {name}")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path, attributes = self._bindings.path_of(node)
        if path is not None:
            self._check_path(node, path, attributes)
            self._check_stored(node)
            return
        if _is_name_of_type(node):
            self.visit(node.value.args[0])  # type: ignore[attr-defined]  # it is a call
            return
        self._check_stored(node)
        self._check_rules(node, node.attr)
        self._check_attribute(node, node.attr, is_assigned=not isinstance(node.ctx, ast.Load))
        self._visit_uncalled(node.value)

    def _check_path(self, node: ast.expr, alias: str, attributes: Sequence[str]) -> None:
        """Check what is used of a module, by its path with dots."""
        steps = len(attributes)
        while steps >= 0 and not self._is_path(".".join([alias, *attributes[:steps]])):
            steps -= 1
        path = ".".join([alias, *attributes])
        is_assigned = not isinstance(getattr(node, "ctx", None), ast.Load)
        self._check_rules(node, path)
        if steps < 0 or any(name.startswith("_") for name in attributes):
            what = f"uses {path}" if attributes else f"hands on the module {path}"
            self._mark(_last_line(node), what)
            return
        if is_assigned and steps == len(attributes):
            self._mark(node, f"assigns to {path}")
        for number, name in enumerate(attributes[steps:], steps + 1):
            is_last = number == len(attributes)
            self._check_attribute(node, name, is_assigned=is_assigned and is_last)

    def _check_attribute(self, node: ast.expr, name: str, *, is_assigned: bool) -> None:
        known = self._plain.assigned if is_assigned else self._names
        is_called = node is self._called and name == _last_name(node)
        if name in known and not isinstance(getattr(node, "ctx", None), ast.Del):
            if is_called and name not in self._called_names:
                self._mark(_last_line(node), f"calls {name}")
            return
        if name == "format" and is_called:
            return  # `visit_Call` looks at it
        where = _last_line(node)
        if name.startswith("_"):
            self._mark(where, f"uses the inner name {name}")
        elif isinstance(getattr(node, "ctx", None), ast.Del):
            self._mark(where, f"deletes the attribute {name}")
        else:
            self._mark(where, f"{'assigns' if is_assigned else 'uses'} {name}")

    def _check_rules(self, node: ast.expr, path: str) -> None:
        """Mark what may only be called, and is handed on: its arguments could not be read."""
        if node is not self._called and self._rules_of(path):
            self._mark(_last_line(node), f"uses {path} without calling it")

    def _rules_of(self, path: str) -> list[LiteralArgument]:
        last = path.rpartition(".")[2]
        found = list[LiteralArgument]()
        for matches, rules in self._rules:
            if matches(path) or matches(last):
                found += rules
        return found

    def _visit_uncalled(self, node: ast.AST) -> None:
        called, self._called = self._called, None
        self.visit(node)
        self._called = called

    # ---- calls

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in ("getattr", "hasattr", "setattr"):
            self._check_by_name(node, name)
            return
        if name == "isinstance" and len(node.args) == 2:
            self.visit(node.args[0])
            self._visit_types(node.args[1])
            return
        self._called = node.func
        self.visit(node.func)
        self._called = None
        self._check_arguments(node)
        for part in (*node.args, *node.keywords):
            self.visit(part)

    def _check_by_name(self, node: ast.Call, name: str) -> None:
        """Check a call such as ``getattr(it, "name")``: the name stands there, and is plain."""
        known = self._plain.assigned if name == "setattr" else self._names
        attribute = text_of(node.args[1]) if len(node.args) > 1 else ""
        is_whole = not node.keywords and not any(isinstance(it, ast.Starred) for it in node.args)
        if not attribute or not is_whole:
            self._mark(node, f"calls {name} with a computed name")
        elif attribute not in known or self._rules_of(attribute):
            self._mark(node, f"uses {attribute}")
        elif name == "setattr" and len(node.args) == 3:
            self._check_store(
                ast.Attribute(node.args[0], attribute, lineno=node.lineno), node.args[2]
            )
        for part in node.args:
            self.visit(part)

    def _visit_types(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self._visit_types(part)
            return
        path, attributes = self._bindings.path_of(node)
        if path is None or not self._is_type(".".join([path, *attributes])):
            self.visit(node)

    def _check_arguments(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            self._check_keyword(node, keyword)
        alias, attributes = self._bindings.path_of(node.func)
        self._check_methods(node)
        above = alias or self._bindings.assigned_to(node.func)
        is_value = above in self._plain.assigned and above not in self._called_names
        if is_value and not attributes:
            self._mark(node, f"calls {above}")
        path = ".".join([above, *attributes] if above else attributes)
        for rule in self._rules_of(path):
            for reason in self._arguments.problems(node, rule, path):
                self._mark(node, reason)

    def _check_keyword(self, node: ast.Call, keyword: ast.keyword) -> None:
        if keyword.arg is None:
            self._check_spread(node)
        elif keyword.arg.startswith("_"):
            self._mark(node, f"uses the inner name {keyword.arg}")
        elif keyword.arg in plain_python.KEYWORDS_OF_FILES:
            self._mark(node, f"names a file by {keyword.arg}")

    def _check_methods(self, node: ast.Call) -> None:
        name = _last_name(node.func)
        if name == "format" and not self._arguments.is_plain_format(node):
            self._mark(node, "formats a text that may read attributes")
        if name == "update" and node.args and not self._is_own_method(node.func):
            self._mark(node, "calls update of what may be no dict of its own")
        has_spread = any(isinstance(it, ast.Starred) for it in node.args)
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if has_spread and self._bindings.count(called) > 1:
            self._mark(node, "hands on arguments to what is bound more than once")

    def _check_spread(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        is_own = name in self._bindings.functions and self._bindings.count(name) == 1
        if not is_own and name != "dict":
            self._mark(node, "hands on arguments by names that are computed")

    def _is_own_method(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Attribute) and self._values.is_own(node.value)

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
        for node, reason in self._stores.problems(target, value):
            self._mark(node, reason)

    def _check_stored(self, node: ast.Attribute | ast.Subscript) -> None:
        """Mark what a loop or a `with` stores: which value that is cannot be read."""
        if isinstance(node.ctx, ast.Store) and node not in self._stores.seen:
            self._mark(node, f"assigns to {written(node)} outside of an assignment")

    # ---- statements with names of their own

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            alias, attributes = self._bindings.path_of(called)
            if not self._is_decorator(".".join([alias or "", *attributes])):
                self._mark(decorator, f"has the decorator {written(decorator)}")
        for part in ast.iter_child_nodes(node):
            self.visit(part)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is None:
            self._mark(node, "catches every error, also what ends it")
        self.generic_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for name in node.kwd_attrs:
            if name not in self._names or self._rules_of(name):
                self._mark(node, f"uses {name}")
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        if node.is_async:
            self._mark(node.target, "runs code that waits")
        self.generic_visit(node)


def _is_name_of_type(node: ast.Attribute) -> bool:
    """Return whether it is ``type(it).__name__``, the one thing that is plain of a type."""
    call = node.value
    if node.attr != "__name__" or not isinstance(call, ast.Call) or call.keywords:
        return False
    is_type = isinstance(call.func, ast.Name) and call.func.id == "type"
    return is_type and len(call.args) == 1 and isinstance(node.ctx, ast.Load)


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


def _last_line(node: ast.expr) -> ast.expr:
    """Return a node that stands in the last line of another one, where its last name is."""
    return ast.Name("", lineno=node.end_lineno or node.lineno)


def _matcher(paths: Iterable[str]) -> Callable[[str], bool]:
    """Return what tells whether a path is one of others, in which a star is a part of a name."""
    exact = {path for path in paths if "*" not in path}
    patterns = [re.escape(path).replace(r"\*", r"[^.]*") for path in paths if "*" in path]
    pattern = re.compile("|".join(patterns) or r"(?!)")
    return lambda path: path in exact or pattern.fullmatch(path) is not None
