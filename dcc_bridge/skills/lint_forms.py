"""Finds forms in a skill file that no client could draw, and results that are no data.

Everything is read from the text. What the text leaves open is no problem here: `elicit_form_sync`
refuses a form that is outside of the subset when it is asked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from dcc_bridge.elicitation import schema
from dcc_bridge.errors import SchemaError, SecretField

Problem = tuple[int, str]
_ASKING: Final = ("elicit_form", "elicit_form_sync")
_APIS: Final = ("bpy", "pxr", "hou", "maya", "pymel", "FreeCAD", "PySide6", "PySide2")
_LISTS: Final = ("list", "List", "Sequence", "set", "tuple")
_NESTED: Final = ("dict", "Dict", "Mapping", "object", "Any", "bytes")
_OF_NUMBERS: Final = 'a choice has texts only. Write Literal["1", "2"], and int(...) of the answer.'
_OF_ANYTHING: Final = 'a list is a choice of several. Write list[Literal["a", "b"]].'
_NOT_FLAT: Final = "a form is flat. Ask for its parts as fields of their own."


def problems_of_forms(tree: ast.Module) -> Iterator[Problem]:
    """Yield the lines of a file at which a form is outside of the subset, and what is wrong."""
    values, classes = _bound(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or _last_name(node.func) not in _ASKING:
            continue
        form = _form_of(node)
        if isinstance(form, ast.Name) and form.id in classes:
            yield from _problems_of_class(classes[form.id], classes)
            continue
        if isinstance(form, ast.Name):
            form = values.get(form.id)
        if isinstance(form, ast.Dict):
            yield from _problems_of_dict(form)


def problem_of_result(function: ast.FunctionDef | ast.AsyncFunctionDef, tree: ast.Module) -> str:
    """Return why no agent can read the result of a function; "" if it may be data."""
    if function.returns is None:
        return ""
    apis = _api_names(tree)
    for node in ast.walk(function.returns):
        if isinstance(node, ast.Attribute | ast.Name) and _first_name(node) in apis:
            told = ast.unparse(node)
            return f"it returns {told}, which no agent can read: return a name, a path or numbers."
    return ""


def _bound(tree: ast.Module) -> tuple[dict[str, ast.expr | None], dict[str, ast.ClassDef]]:
    """Return the values of a file's names, and its classes by their names."""
    values: dict[str, ast.expr | None] = {}
    classes: dict[str, ast.ClassDef] = {}
    for statement in tree.body:
        if isinstance(statement, ast.ClassDef):
            classes[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    values[target.id] = statement.value
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            values[statement.target.id] = statement.value
    return values, classes


def _form_of(call: ast.Call) -> ast.expr | None:
    """Return the form that a question is asked with."""
    if len(call.args) > 1:
        return call.args[1]
    for keyword in call.keywords:
        if keyword.arg == "schema":
            return keyword.value
    return None


def _problems_of_dict(form: ast.Dict) -> Iterator[Problem]:
    try:
        written = ast.literal_eval(form)
    except ValueError:  # a part is computed
        return
    try:
        schema.parse(written)
    except (SchemaError, SecretField) as error:
        yield form.lineno, str(error)


def _problems_of_class(
    model: ast.ClassDef, classes: Mapping[str, ast.ClassDef]
) -> Iterator[Problem]:
    for statement in model.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            problem = _problem_of_type(statement.annotation, classes)
            if problem:
                yield statement.lineno, f"The field {statement.target.id!r}: {problem}"


def _problem_of_type(annotation: ast.expr, classes: Mapping[str, ast.ClassDef]) -> str:
    """Return why no form can have a field of a type; "" if it may."""
    match annotation:
        case ast.BinOp(left=left, right=right):  # "str | None"
            return _problem_of_type(left, classes) or _problem_of_type(right, classes)
        case ast.Subscript(value=value, slice=part):
            return _problem_of_parts(_last_name(value), part, classes)
    name = _last_name(annotation)
    if name in _LISTS:
        return _OF_ANYTHING
    if name in _NESTED:
        return _NOT_FLAT
    if name in classes and not _is_enum(classes[name]):
        return _NOT_FLAT
    return ""


def _problem_of_parts(name: str, part: ast.expr, classes: Mapping[str, ast.ClassDef]) -> str:
    """Return why no form can have a field of a type with parts, such as ``list[...]``."""
    if name == "Literal":
        options = part.elts if isinstance(part, ast.Tuple) else [part]
        constants = [option.value for option in options if isinstance(option, ast.Constant)]
        if not all(isinstance(value, str) for value in constants):
            return _OF_NUMBERS
        return ""
    if name == "Optional":
        return _problem_of_type(part, classes)
    if name == "Annotated":
        first = part.elts[0] if isinstance(part, ast.Tuple) else part
        return _problem_of_type(first, classes)
    if name in _NESTED:
        return _NOT_FLAT
    if name in _LISTS:
        return _problem_of_elements(part, classes)
    return ""


def _problem_of_elements(part: ast.expr, classes: Mapping[str, ast.ClassDef]) -> str:
    """Return why no form can have a list of a type; "" for choices and unknown types."""
    if isinstance(part, ast.Subscript) and _last_name(part.value) == "Literal":
        return _problem_of_type(part, classes)
    name = _last_name(part)
    if name in ("str", "int", "float", "bool") or isinstance(part, ast.Subscript | ast.Tuple):
        return _OF_ANYTHING
    return _problem_of_type(part, classes)


def _is_enum(made: ast.ClassDef) -> bool:
    return any(_last_name(base).endswith("Enum") for base in made.bases)


def _api_names(tree: ast.Module) -> set[str]:
    """Return the names that stand in a file for a part of an application's own API."""
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported = [alias for alias in node.names if _package(alias.name) in _APIS]
            names.update(alias.asname or _package(alias.name) for alias in imported)
        elif isinstance(node, ast.ImportFrom) and _package(node.module or "") in _APIS:
            names.update(alias.asname or alias.name for alias in node.names)
    return names


def _package(module: str) -> str:
    return module.partition(".")[0]


def _last_name(node: ast.expr) -> str:
    """Return the last part of a dotted name; "" for what is none."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Name):
        return node.id
    return ""


def _first_name(node: ast.expr) -> str:
    """Return the first part of a dotted name; "" for what is none."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return _last_name(node)
