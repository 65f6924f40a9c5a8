"""Marks the lines of a text that are not plain, since they may reach beyond the scene.

Plain code only computes, and reads and edits the scene, by listed names. Those of Python are in
`plain_python`; a leaf lists those of its application. A person may let plain code run without
reading it, so each name that is not listed is marked. Any thread.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from string import Formatter
from typing import Final

from dcc_bridge.code import plain_python
from dcc_bridge.code.plain_bindings import Bindings
from dcc_bridge.verbs.plain_names import LiteralArgument, PlainNames

_MAX_REASONS: Final = 3  # of one line
_MAX_EXPRESSION: Final = 60  # characters of an expression in a reason
_STATEMENTS: Final = frozenset(
    {
        ast.AnnAssign,
        ast.Assert,
        ast.Assign,
        ast.AugAssign,
        ast.Break,
        ast.Continue,
        ast.Delete,
        ast.Expr,
        ast.For,
        ast.FunctionDef,
        ast.Global,
        ast.If,
        ast.Import,
        ast.ImportFrom,
        ast.Match,
        ast.Nonlocal,
        ast.Pass,
        ast.Raise,
        ast.Return,
        ast.Try,
        ast.While,
        ast.With,
    }
)
_EXPRESSIONS: Final = frozenset(
    {
        ast.Attribute,
        ast.BinOp,
        ast.BoolOp,
        ast.Call,
        ast.Compare,
        ast.Constant,
        ast.Dict,
        ast.DictComp,
        ast.FormattedValue,
        ast.GeneratorExp,
        ast.IfExp,
        ast.JoinedStr,
        ast.Lambda,
        ast.List,
        ast.ListComp,
        ast.Name,
        ast.NamedExpr,
        ast.Set,
        ast.SetComp,
        ast.Slice,
        ast.Starred,
        ast.Subscript,
        ast.Tuple,
        ast.UnaryOp,
        ast.Yield,
        ast.YieldFrom,
    }
)
_IN_WORDS: Final[Mapping[type[ast.AST], str]] = {
    ast.AsyncFor: "runs code that waits",
    ast.AsyncFunctionDef: "defines a function that waits",
    ast.AsyncWith: "runs code that waits",
    ast.Await: "runs code that waits",
    ast.ClassDef: "defines a class",
}


def marked_lines(tree: ast.Module, plain: PlainNames) -> list[tuple[int, str]]:
    """Return the lines that are not plain, in their order.

    Args:
        tree: The whole text.
        plain: The names of the application that plain code may use.

    Returns:
        The number of each line, and the reasons in words.
    """
    reader = _Reader(tree, plain)
    reader.visit(tree)
    lines = list[tuple[int, str]]()
    for line, reasons in sorted(reader.reasons.items()):
        first = list(reasons)[:_MAX_REASONS]
        lines.append((line, "; ".join(first)))
    return lines


def closes_scene(tree: ast.Module, plain: PlainNames) -> bool:
    """Return whether a text has a name that opens, closes or reverts the scene.

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
            named.update(_text(argument) for argument in node.args[1:2])  # the name in `getattr`
            called = getattr(node.func, "attr", "")
            named.update(f"{called}({keyword.arg})" for keyword in node.keywords)
    return bool(named & plain.closes_scene)


class _Reader(ast.NodeVisitor):
    """Reads one text, and gathers the reasons why lines are not plain.

    Attributes:
        reasons: The reasons by the number of the line, as keys of a dict, which keeps their order.
    """

    def __init__(self, tree: ast.Module, plain: PlainNames) -> None:
        self.reasons: defaultdict[int, dict[str, None]] = defaultdict(dict)
        self._plain = plain
        self._modules = plain_python.MODULES | plain.modules
        self._is_path = _matcher(plain_python.PATHS | plain.paths)
        self._is_type = _matcher(plain.types)
        self._is_decorator = _matcher(plain_python.DECORATORS)
        self._rules = [(_matcher([path]), rule) for path, rule in plain.literals.items()]
        self._names = plain_python.NAMES | plain.names
        self._bindings = Bindings(tree, plain.given)
        self._called: ast.expr | None = None  # the function of the call that is being read
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
            return
        if _is_name_of_type(node):
            self.visit(node.value.args[0])  # type: ignore[attr-defined]  # it is a call
            return
        self._check_rules(node, node.attr)
        self._check_attribute(node, node.attr, is_assigned=not isinstance(node.ctx, ast.Load))
        self._visit_uncalled(node.value)

    def _check_path(self, node: ast.expr, alias: str, attributes: Sequence[str]) -> None:
        """Check the use of a module's attribute.

        Args:
            node: The expression.
            alias: The path of the module.
            attributes: The names of the attributes, each of the one before.
        """
        steps = len(attributes)
        while steps >= 0 and not self._is_path(".".join([alias, *attributes[:steps]])):
            steps -= 1
        path = ".".join([alias, *attributes])
        is_assigned = not isinstance(getattr(node, "ctx", None), ast.Load)
        self._check_rules(node, path)
        if steps < 0 or any(name.startswith("_") for name in attributes):
            reason = f"passes the module {path}"
            if attributes:
                reason = f"uses {path}"
            self._mark(_last_line(node), reason)
            return
        if is_assigned and steps == len(attributes):
            self._mark(node, f"assigns to {path}")
        for number, name in enumerate(attributes[steps:], steps + 1):
            is_last = number == len(attributes)
            self._check_attribute(node, name, is_assigned=is_assigned and is_last)

    def _check_attribute(self, node: ast.expr, name: str, *, is_assigned: bool) -> None:
        """Check the use of an attribute of an object whose type is not known."""
        known = self._plain.assigned if is_assigned else self._names
        is_deleted = isinstance(getattr(node, "ctx", None), ast.Del)
        if name in known and not is_deleted:
            return
        if name == "format" and node is self._called:
            return  # `visit_Call` looks at it
        if name.startswith("_"):
            reason = f"uses the inner name {name}"
        elif is_deleted:
            reason = f"deletes the attribute {name}"
        elif is_assigned:
            reason = f"assigns {name}"
        else:
            reason = f"uses {name}"
        self._mark(_last_line(node), reason)

    def _check_rules(self, node: ast.expr, path: str) -> None:
        """Mark a function with rules about arguments that is used without being called."""
        if node is not self._called and self._rules_of(path):
            self._mark(_last_line(node), f"uses {path} without calling it")

    def _rules_of(self, path: str) -> list[LiteralArgument]:
        """Return the rules about the arguments of a function."""
        last = path.rpartition(".")[2]
        return [rule for matches, rule in self._rules if matches(path) or matches(last)]

    def _visit_uncalled(self, node: ast.AST) -> None:
        """Visit an expression that is not the function of the current call, but a part of it."""
        called = self._called
        self._called = None
        self.visit(node)
        self._called = called

    # ---- calls

    def visit_Call(self, node: ast.Call) -> None:
        name = ""
        if isinstance(node.func, ast.Name):
            name = node.func.id
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
        """Check a call such as ``getattr(item, "name")``: the name is a plain one, written out."""
        known = self._plain.assigned if name == "setattr" else self._names
        attribute = ""
        if len(node.args) > 1:
            attribute = _text(node.args[1])
        has_spread = any(isinstance(argument, ast.Starred) for argument in node.args)
        if not attribute or node.keywords or has_spread:
            self._mark(node, f"calls {name} with a computed name")
        elif attribute not in known or self._rules_of(attribute):
            self._mark(node, f"uses {attribute}")
        for part in node.args:
            self.visit(part)

    def _visit_types(self, node: ast.expr) -> None:
        """Visit the types of an `isinstance`; there alone a type may be named."""
        if isinstance(node, ast.Tuple):
            for part in node.elts:
                self._visit_types(part)
            return
        path, attributes = self._bindings.path_of(node)
        if path is None or not self._is_type(".".join([path, *attributes])):
            self.visit(node)

    def _check_arguments(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            if keyword.arg is None:
                self._check_spread(node)
            elif keyword.arg.startswith("_"):
                self._mark(node, f"uses the inner name {keyword.arg}")
            elif keyword.arg in plain_python.KEYWORDS_OF_FILES:
                self._mark(node, f"names a file by {keyword.arg}")
        alias, attributes = self._bindings.path_of(node.func)
        if attributes[-1:] == ["format"] and alias is None:
            self._check_format(node)
        owner = alias or self._bindings.assigned_to(node.func)
        if owner:
            attributes = [owner, *attributes]
        path = ".".join(attributes)
        for rule in self._rules_of(path):
            self._check_literal(node, rule, path)

    def _check_spread(self, node: ast.Call) -> None:
        """Mark ``function(**arguments)``, but for functions of the text itself and for `dict`."""
        called = node.func.id if isinstance(node.func, ast.Name) else ""
        if called not in self._bindings.functions and called != "dict":
            self._mark(node, "passes arguments by computed names")

    def _check_format(self, node: ast.Call) -> None:
        """Check that a template names no attribute: ``"{0.name}".format(item)`` reads one."""
        template = node.func.value if isinstance(node.func, ast.Attribute) else None
        text = template.value if isinstance(template, ast.Constant) else None
        if not isinstance(text, str) or not all(_is_simple(field) for field in _fields(text)):
            self._mark(node, "formats text in a way that may read attributes")

    def _check_literal(self, node: ast.Call, rule: LiteralArgument, path: str) -> None:
        """Check that an argument of a call is a text that a rule allows.

        Args:
            node: The call.
            rule: The rule.
            path: The path of the function.
        """
        owner, _, name = path.rpartition(".")
        if owner.rpartition(".")[2] in rule.any_of:
            return
        arguments = [keyword.value for keyword in node.keywords if keyword.arg in rule.keywords]
        if rule.place is not None:
            arguments += node.args[rule.place : rule.place + 1]
        for argument in arguments:
            text = _text(argument)
            if not text and _is_no_text(argument):
                continue
            if not text or re.fullmatch(rule.pattern, text) is None:
                self._mark(node, f"calls {name} with {_source(argument)}")
        if _has_spread(node):
            self._mark(node, "passes computed arguments")

    # ---- statements with names of their own

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            alias, attributes = self._bindings.path_of(called)
            if not self._is_decorator(".".join([alias or "", *attributes])):
                self._mark(decorator, f"has the decorator {_source(decorator)}")
        for part in ast.iter_child_nodes(node):
            self.visit(part)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.type is None:
            self._mark(node, "catches every error, including the one that stops it")
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


def _has_spread(node: ast.Call) -> bool:
    """Return whether a call has computed arguments, ``*names`` or ``**names``."""
    if any(isinstance(argument, ast.Starred) for argument in node.args):
        return True
    return any(keyword.arg is None for keyword in node.keywords)


def _is_name_of_type(node: ast.Attribute) -> bool:
    """Return whether an expression is ``type(x).__name__``, the only plain use of a type."""
    call = node.value
    if node.attr != "__name__" or not isinstance(call, ast.Call) or call.keywords:
        return False
    is_type = isinstance(call.func, ast.Name) and call.func.id == "type"
    return is_type and len(call.args) == 1 and isinstance(node.ctx, ast.Load)


def _text(node: ast.expr) -> str:
    """Return the text of an expression that is a literal text; "" for any other."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return ""


def _is_no_text(node: ast.expr) -> bool:
    """Return whether the value of an expression cannot be a text, whatever the parts are."""
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.op, ast.Invert)
    is_number = isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return is_number or isinstance(node, ast.Tuple | ast.List | ast.ListComp)


def _fields(template: str) -> Iterator[str]:
    """Yield the fields of a template, also those within the specification of another one."""
    try:
        for _, field, specification, _ in Formatter().parse(template):
            if field is not None:
                yield field
            yield from _fields(specification or "")
    except ValueError:
        yield "."  # the text is no template, so its fields are not known


def _is_simple(field: str) -> bool:
    return re.fullmatch(r"\w*", field) is not None and not field.startswith("_")


def _last_line(node: ast.expr) -> ast.expr:
    """Return a node in the last line of another node, where the latter's last name stands."""
    return ast.Name("", lineno=node.end_lineno or node.lineno)


def _source(node: ast.expr) -> str:
    """Return an expression as code, shortened."""
    text = ast.unparse(node)
    if len(text) <= _MAX_EXPRESSION:
        return text
    return f"{text[: _MAX_EXPRESSION - 1]}…"


def _matcher(paths: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that tells whether a path is one of some paths.

    Args:
        paths: The paths, in which a star stands for a part of a name.
    """
    exact = {path for path in paths if "*" not in path}
    patterns = [re.escape(path).replace(r"\*", r"[^.]*") for path in paths if "*" in path]
    pattern = re.compile("|".join(patterns) or r"(?!)")

    def matches(path: str) -> bool:
        return path in exact or pattern.fullmatch(path) is not None

    return matches
