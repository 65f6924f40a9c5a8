"""A form's fields as properties of an operator, and what stands in them as an answer.

Main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from textwrap import wrap
from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import Field, FieldView, InvalidAnswer

from .drawing import say

NAMES: Final = 0.3  # the part of a row that names have
WIDE_NAME: Final = 22  # characters that stand side by side there
WIDE_VALUE: Final = 52  # and in the rest of the row
_MOST_IN_COLUMN: Final = 9
_IN_TIPS: Final = "Hold the mouse over a field to read its description."
_UNSET: Final = "unset"
_YES: Final = "yes"
_THREE_WAY: Final = [
    (_UNSET, "Left out", "No answer to this field"),
    (_YES, "Yes", ""),
    ("no", "No", ""),
]
_SKIP: Final = {"SKIP_SAVE"}
_WHOLE: Final = 2**31 - 1
_REAL: Final = 3.0e38
_DIGITS: Final = 7  # what Blender's numbers hold; the rest of their digits is noise


class Fields:
    """The fields of one form."""

    def __init__(self, views: tuple[FieldView, ...]) -> None:
        """Take what is asked."""
        self._views = {f"f{number}": view for number, view in enumerate(views)}
        self._problems: dict[str, str] = {}
        self.columns = 1 if len(views) <= _MOST_IN_COLUMN else 2

    def properties(self, touched: Callable[[Any, Any], None]) -> dict[str, Any]:
        """Return what an operator has to be annotated with; a change calls a function."""
        properties: dict[str, Any] = {}
        for key, view in self._views.items():
            properties |= _properties(key, view, {"options": _SKIP, "update": touched})
        return properties

    def draw(self, operator: Any, layout: Any, room: float) -> None:
        """Draw an operator's, each with what is said of it, and what is wrong with it, below.

        Where what is said of them does not fit the lines that are free, `room`, it is left to
        Blender's tips, so that the answers below can be seen.
        """
        heights = (_height(view, key in self._problems) for key, view in self._views.items())
        is_short = sum(heights) > room * self.columns
        if is_short:
            say(layout, _IN_TIPS, WIDE_VALUE)
        flow = layout if self.columns == 1 else layout.column_flow(columns=self.columns)
        for number, (key, view) in enumerate(self._views.items()):
            row = flow.split(factor=NAMES)
            say(row, _title(view), WIDE_NAME)
            column = row.column(align=True)
            if view.field.kind == "choices":
                grid = column.grid_flow(columns=2, even_columns=True)
                for option in range(len(view.options)):
                    grid.prop(operator, f"{key}_{option}")
            else:
                line = column.row(align=True)
                # The keys go there at first, where something has to be typed.
                is_text = view.field.required and view.default is None and not view.options
                line.activate_init = number == 0 and is_text
                if _is_three_way(view):
                    line.prop(operator, key, expand=True)
                else:
                    line.prop(operator, key, text="")
            problem = self._problems.get(key, "")
            say(column, "" if problem or is_short else view.explanation, WIDE_VALUE, most=3)
            say(column, problem, WIDE_VALUE, icon="ERROR", red=True)

    def check(self, operator: Any) -> int:
        """Find what is wrong with what stands in them, and return with how many."""
        found = {
            key: _problem(view, _value(key, view, operator)) for key, view in self._views.items()
        }
        self._problems = {key: problem for key, problem in found.items() if problem}
        return len(self._problems)

    def content(self, operator: Any) -> dict[str, Any]:
        """Return what stands in them; what is empty is left out."""
        values = {view.field.name: _value(key, view, operator) for key, view in self._views.items()}
        return {name: value for name, value in values.items() if value is not None}


def _height(view: FieldView, is_wrong: bool) -> int:
    """Count the lines that a field has where what is said of it is drawn."""
    boxes = (len(view.options) + 1) // 2 if view.field.kind == "choices" else 1
    said = sum(len(wrap(line, WIDE_VALUE)) for line in view.explanation.split("\n"))
    below = 1 if is_wrong else min(said, 3)
    return max(len(wrap(_title(view), WIDE_NAME)), boxes + below)


def _properties(key: str, view: FieldView, more: dict[str, Any]) -> dict[str, Any]:
    field, props = view.field, bpy.props
    common = {"name": _title(view), "description": view.explanation, **more}
    match field.kind:
        case "boolean" if _is_three_way(view):
            return {key: props.EnumProperty(items=_THREE_WAY, **common)}
        case "boolean":
            return {key: props.BoolProperty(default=view.default is True, **common)}
        case "choice":
            return {key: _choice(view, common)}
        case "choices":
            ticked = view.default or ()
            return {
                f"{key}_{number}": props.BoolProperty(
                    name=option.title,
                    description=view.explanation,
                    default=option.value in ticked,
                    **more,
                )
                for number, option in enumerate(view.options)
            }
        case "integer" if _is_native(view, _WHOLE):
            least, most = _bounds(field, _WHOLE)
            common |= {"min": int(least), "max": int(most)}
            return {key: props.IntProperty(default=view.default, **common)}
        case "number" if _is_native(view, _REAL):
            least, most = _bounds(field, _REAL)
            common |= {"min": least, "max": most, "precision": 4}
            return {key: props.FloatProperty(default=view.default, **common)}
    default = "" if view.default is None else str(view.default)
    return {key: props.StringProperty(default=default, **common)}


def _choice(view: FieldView, common: dict[str, Any]) -> Any:
    items = [(str(number), option.title, "") for number, option in enumerate(view.options)]
    values = [option.value for option in view.options]
    if view.default in values:
        default = str(values.index(view.default))
        return bpy.props.EnumProperty(items=items, default=default, **common)
    return bpy.props.EnumProperty(items=[(_UNSET, "Choose…", ""), *items], **common)


def _value(key: str, view: FieldView, operator: Any) -> Any:
    kind, options = view.field.kind, view.options
    if kind == "choices":
        ticked = [getattr(operator, f"{key}_{number}") for number in range(len(options))]
        values = [option.value for option, is_on in zip(options, ticked, strict=True) if is_on]
        return values if values or view.field.required or view.default is not None else None
    value = getattr(operator, key)
    if value == _UNSET and (kind == "choice" or _is_three_way(view)):
        return None
    if kind in ("boolean", "choice"):
        return options[int(value)].value if kind == "choice" else value in (True, _YES)
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, str) and kind in ("number", "integer"):
        return _number(value)
    return None if value == "" else value


def _problem(view: FieldView, value: object) -> str:
    """Say what is wrong with a value, or ""; None is one that is left out."""
    if value is None:
        return "Please fill this in." if view.field.required else ""
    try:
        view.field.check(value)
    except InvalidAnswer as error:
        return error.reason[:1].upper() + error.reason[1:]
    return ""


def _number(text: str) -> int | float | str | None:
    """Read a number; what is none is left for the form to complain of."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip() or None


def _is_three_way(view: FieldView) -> bool:
    """Whether it is a yes or no that may be left out: a check box has no third state."""
    return view.field.kind == "boolean" and not view.field.required and view.default is None


def _is_native(view: FieldView, most: float) -> bool:
    """Whether Blender's own number can hold it; one without a default has nothing to begin with."""
    return view.default is not None and abs(view.default) <= most


def _bounds(field: Field, most: float) -> tuple[float, float]:
    least, largest = field.least, field.most
    return (
        max(-most, least) if least is not None else -most,
        min(most, largest) if largest is not None else most,
    )


def _title(view: FieldView) -> str:
    return view.title + (" *" if view.field.required and view.field.kind != "boolean" else "")
