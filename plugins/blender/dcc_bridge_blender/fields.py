"""A form's fields as properties of an operator, and what stands in them as an answer.

Main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import bpy

from dcc_bridge.elicitation.schema import Field, Form
from dcc_bridge.elicitation.text import safe_line

_UNSET: Final = "unset"
_SKIP: Final = {"SKIP_SAVE"}
_WHOLE: Final = 2**31 - 1
_REAL: Final = 3.0e38
_DIGITS: Final = 7
"""What Blender's numbers hold; the rest of their digits is noise."""


class Fields:
    """The fields of one form."""

    def __init__(self, form: Form) -> None:
        """Take the form."""
        self._fields = [(f"f{number}", each) for number, each in enumerate(form.fields)]

    def properties(self, touched: Callable[[Any, Any], None]) -> dict[str, Any]:
        """Give what an operator has to be annotated with.

        Args:
            touched: Called when the person changes one.
        """
        made: dict[str, Any] = {}
        for key, each in self._fields:
            made |= _properties(key, each, {"options": _SKIP, "update": touched})
        return made

    def draw(self, operator: Any, layout: Any) -> None:
        """Draw them."""
        for key, each in self._fields:
            if each.kind == "choices":
                layout.label(text=_title(each), translate=False)
                grid = layout.grid_flow(columns=2, even_columns=True)
                for number in range(len(each.options)):
                    grid.prop(operator, f"{key}_{number}")
            else:
                layout.prop(operator, key)

    def content(self, operator: Any) -> dict[str, Any]:
        """Give what stands in them; what is empty is left out."""
        values = {each.name: _value(key, each, operator) for key, each in self._fields}
        return {name: value for name, value in values.items() if value is not None}


def _properties(key: str, field: Field, more: dict[str, Any]) -> dict[str, Any]:
    told = {"name": _title(field), "description": safe_line(field.description), **more}
    match field.kind:
        case "boolean":
            return {key: bpy.props.BoolProperty(default=field.default is True, **told)}
        case "choice":
            return {key: _choice(field, told)}
        case "choices":
            return {
                f"{key}_{number}": bpy.props.BoolProperty(
                    name=safe_line(option.title),
                    default=option.value in (field.default or ()),
                    **more,
                )
                for number, option in enumerate(field.options)
            }
        case "integer" if _is_native(field, _WHOLE):
            least, most = _bounds(field, _WHOLE)
            told |= {"min": int(least), "max": int(most)}
            return {key: bpy.props.IntProperty(default=int(field.default), **told)}
        case "number" if _is_native(field, _REAL):
            least, most = _bounds(field, _REAL)
            return {
                key: bpy.props.FloatProperty(
                    default=field.default, min=least, max=most, precision=4, **told
                )
            }
    default = "" if field.default is None else str(field.default)
    return {key: bpy.props.StringProperty(default=default, **told)}


def _choice(field: Field, told: dict[str, Any]) -> Any:
    items = [(str(at), safe_line(one.title), "") for at, one in enumerate(field.options)]
    values = [option.value for option in field.options]
    if field.default in values:
        return bpy.props.EnumProperty(items=items, default=str(values.index(field.default)), **told)
    return bpy.props.EnumProperty(items=[(_UNSET, "Choose…", ""), *items], **told)


def _value(key: str, field: Field, operator: Any) -> Any:
    if field.kind == "choices":
        chosen = [getattr(operator, f"{key}_{at}") for at in range(len(field.options))]
        return [one.value for one, is_on in zip(field.options, chosen, strict=True) if is_on]
    value = getattr(operator, key)
    if field.kind == "choice":
        return None if value == _UNSET else field.options[int(value)].value
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, str) and field.kind in ("number", "integer"):
        return _number(value)
    return None if value == "" and not field.required else value


def _number(text: str) -> int | float | str | None:
    """Read a number; what is none is left for the form to complain of."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text.strip() or None


def _is_native(field: Field, most: float) -> bool:
    """Whether Blender's own number can hold it; one without a default has nothing to begin with."""
    return field.default is not None and abs(field.default) <= most


def _bounds(field: Field, most: float) -> tuple[float, float]:
    least, largest = field.least, field.most
    return (
        max(-most, least) if least is not None else -most,
        min(most, largest) if largest is not None else most,
    )


def _title(field: Field) -> str:
    return safe_line(field.title) + (" *" if field.required and field.kind != "boolean" else "")
