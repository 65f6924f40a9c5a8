"""A form's fields as properties of an operator, and what stands in them as an answer.

Main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import bpy

from dcc_bridge.elicitation.schema import Field
from dcc_bridge.elicitation.view import FieldView

_UNSET: Final = "unset"
_SKIP: Final = {"SKIP_SAVE"}
_WHOLE: Final = 2**31 - 1
_REAL: Final = 3.0e38
_DIGITS: Final = 7
"""What Blender's numbers hold; the rest of their digits is noise."""


class Fields:
    """The fields of one form."""

    def __init__(self, views: tuple[FieldView, ...]) -> None:
        """Take what is asked."""
        self._views = {f"f{number}": view for number, view in enumerate(views)}

    def properties(self, touched: Callable[[Any, Any], None]) -> dict[str, Any]:
        """Return what an operator has to be annotated with.

        Args:
            touched: Called when the person changes one.
        """
        properties: dict[str, Any] = {}
        for key, view in self._views.items():
            properties |= _properties(key, view, {"options": _SKIP, "update": touched})
        return properties

    def draw(self, operator: Any, layout: Any) -> None:
        """Draw them."""
        for key, view in self._views.items():
            if view.field.kind == "choices":
                layout.label(text=_title(view), translate=False)
                grid = layout.grid_flow(columns=2, even_columns=True)
                for number in range(len(view.options)):
                    grid.prop(operator, f"{key}_{number}")
            else:
                layout.prop(operator, key)

    def content(self, operator: Any) -> dict[str, Any]:
        """Return what stands in them; what is empty is left out."""
        values = {view.field.name: _value(key, view, operator) for key, view in self._views.items()}
        return {name: value for name, value in values.items() if value is not None}


def _properties(key: str, view: FieldView, more: dict[str, Any]) -> dict[str, Any]:
    field, props = view.field, bpy.props
    common = {"name": _title(view), "description": view.explanation, **more}
    match field.kind:
        case "boolean":
            return {key: props.BoolProperty(default=view.default is True, **common)}
        case "choice":
            return {key: _choice(view, common)}
        case "choices":
            ticked = view.default or ()
            return {
                f"{key}_{number}": props.BoolProperty(
                    name=option.title, default=option.value in ticked, **more
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
        return [option.value for option, is_on in zip(options, ticked, strict=True) if is_on]
    value = getattr(operator, key)
    if kind == "choice":
        return None if value == _UNSET else options[int(value)].value
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, str) and kind in ("number", "integer"):
        return _number(value)
    return None if value == "" and not view.field.required else value


def _number(text: str) -> int | float | str | None:
    """Read a number; what is none is left for the form to complain of."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip() or None


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
