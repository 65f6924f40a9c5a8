"""What the names of a text stand for, as far as its assignments say.

A value is written out, ``bpy.data.objects``, and what a call or an index gives as what it is taken
from. One that the text does not tell begins with "~", a text with a quote. Any thread.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from dcc_bridge.code.code_tables import INNER_MODULES, QUIET_MODULES

TOO_MUCH: Final = "…"  # among the values of what may stand for more than the most
_MOST: Final = 60
_MOST_ROUNDS: Final = 12  # of reading names that stand for each other
_UNREAD: Final = "?"
_BINDINGS: Final = {
    **dict.fromkeys((ast.For, ast.AsyncFor, ast.comprehension), ("target", "iter")),
    **dict.fromkeys((ast.AnnAssign, ast.NamedExpr), ("target", "value")),
    ast.Assign: ("targets", "value"),
    ast.withitem: ("optional_vars", "context_expr"),
}
_COLLECTIONS: Final = ast.List | ast.Tuple | ast.Set | ast.Dict
_COMPREHENSIONS: Final = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_CHOICES: Final = (ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Await, ast.BinOp)
# What gives back what it was given, or what was in it.
_GIVES_BACK: Final = ("builtins", "copy", "itertools", "list", "random")


class Values:
    """The values of every name of a tree."""

    def __init__(self, nodes: Sequence[ast.AST], given: Mapping[str, str]) -> None:
        """Read all bindings until nothing more is learnt."""
        self._bound: defaultdict[str, list[ast.expr | str]] = defaultdict(list)
        self._values: dict[str, list[str]] = {}
        for name, value in given.items():
            self._bound[name].append(value)
        for node in nodes:
            self._note(node)
            if isinstance(node, ast.Match):
                self._capture(node, node.subject)
        for _ in range(_MOST_ROUNDS):
            before = dict(self._values)
            for name, bindings in self._bound.items():
                values = [[it] if isinstance(it, str) else self.of(it) for it in bindings]
                self._values[name] = _distinct(value for some in values for value in some)
            if before == self._values:
                break

    def of(self, node: ast.expr) -> list[str]:
        """Give what an expression may stand for."""
        return _distinct(self._of(node))

    def attributes(self, owner: ast.expr, name: ast.expr) -> list[str]:
        """Give what ``getattr`` reaches; nothing where the name is computed."""
        names = self.of(name)
        if any(it[0] != "'" for it in names):
            return []
        return [_attribute(base, it[1:]) for base in self.of(owner) for it in names]

    def _of(self, node: ast.expr) -> Iterator[str]:
        match node:
            case ast.Name(id=name):
                own = [f"builtins.{name}"] if hasattr(builtins, name) else []
                yield from self._values.get(name, []) + own or [f"~{name}"]
            case ast.Attribute(value=value, attr=attr):
                yield from (_attribute(base, attr) for base in self.of(value))
                if isinstance(value, ast.Name):
                    yield from self._values.get(f"{value.id}.{attr}", [])
            case ast.Call():
                yield from self._result(node)
            case ast.Subscript(value=value) | ast.Starred(value=value):
                item = _UNREAD if isinstance(node, ast.Subscript) else "item"
                yield from (item if it.startswith(("list", "'")) else it for it in self.of(value))
            case ast.Constant(value=str(text)):
                yield f"'{text}"
            case _:
                yield from self._compound(node)

    def _result(self, call: ast.Call) -> Iterator[str]:
        for function in self.of(call.func):
            if function == "builtins.getattr" and len(call.args) > 1:
                yield from self.attributes(*call.args[:2]) or [_UNREAD]
            elif function in ("builtins.list", "builtins.dict", "builtins.set", "builtins.sorted"):
                yield "list"
            else:
                yield _UNREAD if function.partition(".")[0] in _GIVES_BACK else function

    def _compound(self, node: ast.expr) -> Iterator[str]:
        if isinstance(node, _COLLECTIONS | _COMPREHENSIONS):
            yield "list"
        elif isinstance(node, _CHOICES):
            for child in ast.iter_child_nodes(node):
                # Neither part of "a" + "b" is what it comes to; a path / "b" is a path.
                of_text = isinstance(node, ast.BinOp) and isinstance(child, ast.Constant)
                if isinstance(child, ast.expr) and child is not getattr(node, "test", None):
                    yield from [_UNREAD] if of_text else self.of(child)
        else:
            yield "def" if isinstance(node, ast.Lambda) else "object"

    def _note(self, node: ast.AST) -> None:
        if fields := _BINDINGS.get(type(node)):
            targets, value = (getattr(node, field) for field in fields)
            for target in targets if isinstance(targets, list) else filter(None, [targets]):
                self._bind(target, value or ast.Constant(None), is_item=fields[1] == "iter")
        elif isinstance(node, ast.AugAssign):
            self._bind(node.target, ast.BinOp(left=node.value, op=node.op, right=ast.Constant("")))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                module = getattr(node, "module", None)
                full = _attribute(module, alias.name) if module else alias.name
                name = full if alias.asname or module else full.partition(".")[0]
                self._bound[alias.asname or alias.name.partition(".")[0]].append(name)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self._bound[node.name].append("def")
        elif isinstance(node, ast.arg):
            self._bound[node.arg].append(f"~{node.arg}")

    def _bind(self, target: ast.expr, value: ast.expr, *, is_item: bool = False) -> None:
        literal = value.elts if isinstance(value, ast.List | ast.Tuple) else []
        targets = target.elts if isinstance(target, ast.List | ast.Tuple) else []
        if is_item:
            for part in literal or [ast.Starred(value=value)]:
                self._bind(target, part)
        elif not targets:
            self._bound[ast.unparse(target)].append(value)
        elif len(targets) == len(literal):
            for name, part in zip(targets, literal, strict=True):
                self._bind(name, part)
        else:
            for name in targets:
                self._bind(name, value, is_item=True)

    def _capture(self, node: ast.AST, subject: ast.expr) -> None:
        """Bind the names of patterns; that of a class reads attributes of what it matches."""
        if name := getattr(node, "name", getattr(node, "rest", None)):
            self._bound[name].append(subject)
        parts, attrs = getattr(node, "kwd_patterns", ()), getattr(node, "kwd_attrs", ())
        if isinstance(node, ast.MatchClass | ast.MatchSequence | ast.MatchMapping):
            subject = ast.BinOp(left=subject, op=ast.Add(), right=ast.Constant(""))
        named = {it: ast.Attribute(subject, attr) for it, attr in zip(parts, attrs, strict=True)}
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.pattern | ast.match_case):
                self._capture(part, named.get(part, subject))


def imported_by(node: ast.AST) -> Iterator[str]:
    """Give the modules that a statement imports; a star where it imports all names of one."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        for alias in node.names:
            full = f"{module}.{alias.name}"
            yield full if full in QUIET_MODULES or alias.name == "*" else module


def identifiers(node: ast.AST) -> set[str]:
    """Give the names that are written in a node itself, and the text of one that is a text."""
    fields = dict(ast.iter_fields(node)).values()
    values = [*fields, *(it for field in fields if isinstance(field, list) for it in field)]
    return {name for it in values if isinstance(it, str) for name in it.split(".")}


def _attribute(base: str, attr: str) -> str:
    if attr.strip("_") in INNER_MODULES:
        return attr.strip("_")
    if attr == "__call__":
        return base
    parts = base.split(".")
    first = 1 if base[0] == "~" else 4
    if len(parts) > first + 1:  # so that what stands for its own parent comes to an end
        base = ".".join((*parts[:first], parts[-1]))
    return f"object.{attr}" if base[0] == "'" else f"{base}.{attr}"


def _distinct(values: Iterator[str]) -> list[str]:
    distinct = list(dict.fromkeys(values))
    return distinct if len(distinct) <= _MOST else [TOO_MUCH, *distinct[: _MOST - 1]]


def written(node: ast.expr) -> str:
    """Write an expression out, not too long for a sentence."""
    text = ast.unparse(node)
    return text if len(text) <= 80 else f"{text[:79]}…"
