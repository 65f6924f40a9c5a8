"""A form's fields as properties of Blender's, and the values of these properties as an answer.

Main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import Field, FieldView, InvalidAnswer

from .drawing import say

NAMES: Final = 0.3  # the share of a row's width that names have
WIDE_NAME: Final = 22  # characters that fit side by side into that share
WIDE_VALUE: Final = 52  # characters that fit side by side into the rest of the row
_MAX_IN_COLUMN: Final = 9  # fields; more of them stand in two columns
_MAX_EXPLANATION_LINES: Final = 3
_IN_TIPS: Final = "Hold the mouse over a field to read its description."
_UNSET: Final = "unset"
_YES: Final = "yes"
_THREE_WAY: Final = [
    (_UNSET, "Left out", "No answer to this field"),
    (_YES, "Yes", ""),
    ("no", "No", ""),
]
_SKIP: Final = {"SKIP_SAVE"}
_MAX_INTEGER: Final = 2**31 - 1  # of Blender's properties
_MAX_NUMBER: Final = 3.0e38  # of Blender's properties
_DIGITS: Final = 7  # significant digits of Blender's numbers; further digits are noise


class Fields:
    """The fields of one form.

    Attributes:
        columns: In how many columns the fields are drawn.
    """

    def __init__(self, views: tuple[FieldView, ...]) -> None:
        """Name a property for each field."""
        self._views = {f"f{number}": view for number, view in enumerate(views)}
        self._problems: dict[str, str] = {}
        self.columns = 1
        if len(views) > _MAX_IN_COLUMN:
            self.columns = 2

    def properties(self, touched: Callable[[Any, Any], None]) -> dict[str, Any]:
        """Return the annotations of an object that has the fields as properties.

        Args:
            touched: Blender calls this function when the value of a property changes.
        """
        properties: dict[str, Any] = {}
        for key, view in self._views.items():
            options = {"options": _SKIP, "update": touched}
            properties.update(_properties(key, view, options))
        return properties

    def draw(self, values: Any, layout: Any, room: float) -> None:
        """Draw each field with its explanation, or with the problem of its value, below.

        Where the explanations do not fit, they are left to Blender's tips, so that the answers
        below can be seen.

        Args:
            values: The object that has the properties.
            layout: The layout of Blender's to draw on.
            room: How many lines are free.
        """
        has_explanations = self._height(has_explanations=True) <= room * self.columns
        flow = layout
        if not has_explanations:
            say(layout, _IN_TIPS, WIDE_VALUE)
        if self.columns > 1:
            flow = layout.column_flow(columns=self.columns)
        is_first = True
        for key, view in self._views.items():
            row = flow.split(factor=NAMES)
            say(row, _title(view), WIDE_NAME)
            column = row.column(align=True)
            _draw_value(values, column, key, view, is_first=is_first)
            is_first = False
            problem = self._problems.get(key, "")
            if has_explanations and not problem:
                say(column, view.explanation, WIDE_VALUE, most=_MAX_EXPLANATION_LINES)
            say(column, problem, WIDE_VALUE, icon="ERROR", red=True)

    def fits(self, room: float) -> bool:
        """Return whether the fields fit into so many lines, without what explains them."""
        return self._height(has_explanations=False) <= room * self.columns

    def _height(self, *, has_explanations: bool) -> int:
        """Return how many lines the fields take."""
        lines = 0
        for key, view in self._views.items():
            lines += _height(view, key in self._problems, has_explanations)
        return lines

    def draw_narrow(self, values: Any, layout: Any, wide: int) -> None:
        """Draw each field below its name, in one column.

        Args:
            values: The object that has the properties.
            layout: The layout of Blender's to draw on.
            wide: How many characters a line has.
        """
        for key, view in self._views.items():
            column = layout.column(align=True)
            say(column, _title(view), wide)
            _draw_value(values, column, key, view, is_first=False)
            problem = self._problems.get(key, "")
            if not problem:
                say(column, view.explanation, wide, most=_MAX_EXPLANATION_LINES)
            say(column, problem, wide, icon="ERROR", red=True)

    def check(self, values: Any) -> int:
        """Find the problems of the values, to be drawn, and return how many there are."""
        self._problems = {}
        for key, view in self._views.items():
            problem = _problem(view, _value(key, view, values))
            if problem:
                self._problems[key] = problem
        return len(self._problems)

    def content(self, values: Any) -> dict[str, Any]:
        """Return the values by the names of their fields; empty fields are left out."""
        content = {}
        for key, view in self._views.items():
            value = _value(key, view, values)
            if value is not None:
                content[view.field.name] = value
        return content


def _draw_value(values: Any, column: Any, key: str, view: FieldView, *, is_first: bool) -> None:
    """Draw the properties in which the person fills in a field."""
    if view.field.kind == "choices":
        grid = column.grid_flow(columns=2, even_columns=True)
        for option in range(len(view.options)):
            grid.prop(values, f"{key}_{option}")
        return
    line = column.row(align=True)
    # The first field has the keys at first, if the person has to type into it.
    is_text = view.field.required and view.default is None and not view.options
    line.activate_init = is_first and is_text
    if _is_three_way(view):
        line.prop(values, key, expand=True)
    else:
        line.prop(values, key, text="")


def _height(view: FieldView, is_wrong: bool, has_explanation: bool) -> int:
    """Return how many lines a field takes, with its explanation or its problem."""
    values = 1
    if view.field.kind == "choices":
        values = (len(view.options) + 1) // 2
    explanation = 0
    if has_explanation:
        for line in view.explanation.split("\n"):
            explanation += len(wrap(line, WIDE_VALUE))
    below = min(explanation, _MAX_EXPLANATION_LINES)
    if is_wrong:
        below = 1
    return max(len(wrap(_title(view), WIDE_NAME)), values + below)


def _properties(key: str, view: FieldView, options: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of one field, by their names."""
    field = view.field
    props = bpy.props
    common = {"name": _title(view), "description": view.explanation, **options}
    match field.kind:
        case "boolean" if _is_three_way(view):
            return {key: props.EnumProperty(items=_THREE_WAY, **common)}
        case "boolean":
            return {key: props.BoolProperty(default=view.default is True, **common)}
        case "choice":
            return {key: _choice(view, common)}
        case "choices":
            return _choices(key, view, options)
        case "integer" if _is_native(view, _MAX_INTEGER):
            least, most = _bounds(field, _MAX_INTEGER)
            whole = props.IntProperty(default=view.default, min=int(least), max=int(most), **common)
            return {key: whole}
        case "number" if _is_native(view, _MAX_NUMBER):
            least, most = _bounds(field, _MAX_NUMBER)
            number = props.FloatProperty(
                default=view.default, min=least, max=most, precision=4, **common
            )
            return {key: number}
    default = ""
    if view.default is not None:
        default = str(view.default)
    return {key: props.StringProperty(default=default, **common)}


def _choice(view: FieldView, common: dict[str, Any]) -> Any:
    items = [(str(number), option.title, "") for number, option in enumerate(view.options)]
    values = [option.value for option in view.options]
    if view.default in values:
        default = str(values.index(view.default))
        return bpy.props.EnumProperty(items=items, default=default, **common)
    return bpy.props.EnumProperty(items=[(_UNSET, "Choose…", ""), *items], **common)


def _choices(key: str, view: FieldView, options: dict[str, Any]) -> dict[str, Any]:
    """Return a check box for each option."""
    ticked = view.default or ()
    boxes = {}
    for number, option in enumerate(view.options):
        boxes[f"{key}_{number}"] = bpy.props.BoolProperty(
            name=option.title,
            description=view.explanation,
            default=option.value in ticked,
            **options,
        )
    return boxes


def _value(key: str, view: FieldView, values: Any) -> Any:
    """Return what is filled in, or None where that leaves the field out."""
    kind = view.field.kind
    if kind == "choices":
        return _ticked(key, view, values)
    value = getattr(values, key)
    if value == _UNSET and (kind == "choice" or _is_three_way(view)):
        return None
    if kind == "choice":
        return view.options[int(value)].value
    if kind == "boolean":
        return value in (True, _YES)
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, str) and kind in ("number", "integer"):
        return _number(value)
    if value == "":
        return None
    return value


def _ticked(key: str, view: FieldView, values: Any) -> list[Any] | None:
    """Return the options that are ticked; None where that leaves the field out."""
    ticked = []
    for number, option in enumerate(view.options):
        if getattr(values, f"{key}_{number}"):
            ticked.append(option.value)
    is_optional = not view.field.required and view.default is None
    if is_optional and not ticked:
        return None
    return ticked


def _problem(view: FieldView, value: object) -> str:
    """Return what is wrong with a value, or ""; None stands for a field that is left out."""
    if value is None:
        if view.field.required:
            return "Please fill this in."
        return ""
    try:
        view.field.check(value)
    except InvalidAnswer as error:
        return error.reason[:1].upper() + error.reason[1:]
    return ""


def _number(text: str) -> int | float | str | None:
    """Read a number. A text that is no number stays a text, so that the form rejects it."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip() or None


def _is_three_way(view: FieldView) -> bool:
    """Return whether a yes or no may be left out: a check box has no third state."""
    return view.field.kind == "boolean" and not view.field.required and view.default is None


def _is_native(view: FieldView, most: float) -> bool:
    """Return whether Blender's own number can hold the value.

    A field without a default is a text: Blender's number is never empty.
    """
    return view.default is not None and abs(view.default) <= most


def _bounds(field: Field, most: float) -> tuple[float, float]:
    """Return the bounds of a field, within those of Blender's number."""
    least = -most
    if field.least is not None:
        least = max(least, field.least)
    if field.most is not None:
        most = min(most, field.most)
    return least, most


def _title(view: FieldView) -> str:
    if view.field.required and view.field.kind != "boolean":
        return f"{view.title} *"
    return view.title
