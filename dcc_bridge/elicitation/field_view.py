"""The view of a form's fields: titles, bounds in words, first values. Any thread.

A surface draws a `FieldView` for each field, and `Field.check` validates what the person fills in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcc_bridge.elicitation.schema import Form
from dcc_bridge.elicitation.text import Translate, english, safe_line, safe_text
from dcc_bridge.elicitation.validation import Field, InvalidAnswer, Option

TypedValues = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class FieldView:
    """A field of a form, as a surface draws it.

    Attributes:
        field: The field that is asked for.
        title: The caption that the person reads beside the field.
        description: A longer explanation, or "".
        limits: The bounds of the value in words, or "".
        withheld: The reason why the form's default is not filled in, or "".
        default: The value that is filled in at first, or None.
        options: The options of a choice; no two titles are the same.
    """

    field: Field
    title: str
    description: str
    limits: str
    withheld: str
    default: Any
    options: tuple[Option, ...]

    @property
    def may_be_left_out(self) -> bool:
        """Whether the person can take an answer back; a field with a default always has one."""
        return not self.field.required and self.field.default is None

    @property
    def explanation(self) -> str:
        """The text below the field in a window, or ""."""
        lines = [self.description]
        # The bounds of a text are shown only in the error of a text that is too short or too long.
        if self.field.kind != "string":
            lines.append(self.limits)
        lines.append(self.withheld)
        return "\n".join(line for line in lines if line)


def field_views(
    form: Form | None, consent: bool, tr: Translate = english, typed: TypedValues = None
) -> tuple[FieldView, ...]:
    """Make the views of a form's fields. Any thread. It raises nothing.

    Args:
        form: The form; None for a question without one.
        consent: Whether the answer decides if something is lost. No yes is filled in then.
        tr: Translates the texts of the bridge.
        typed: The values that the person typed before, which replace the defaults; or None.

    Returns:
        A view for each field, in the form's order.
    """
    if form is None:
        return ()
    return tuple(field_view(field, consent, tr, typed) for field in form.fields)


def field_view(
    field: Field, consent: bool, tr: Translate = english, typed: TypedValues = None
) -> FieldView:
    """Make the view of a field. Any thread. It raises nothing.

    Args:
        field: The field.
        consent: Whether the answer decides if something is lost. No yes is filled in then.
        tr: Translates the texts of the bridge.
        typed: The values that the person typed before, by the fields' names; or None.

    Returns:
        The view; its texts are safe to show.
    """
    if typed is None:
        default, withheld = _first_value(field, consent, tr)
    else:
        default = _restore(field, typed.get(field.name), consent)
        withheld = ""
    return FieldView(
        field=field,
        title=safe_line(field.title),
        description=safe_text(field.description, tr=tr),
        limits=_limits(field, tr),
        withheld=withheld,
        default=default,
        options=_options(field),
    )


def _first_value(field: Field, consent: bool, tr: Translate) -> tuple[Any, str]:
    """Return the value that is filled in at first, and why a default is withheld, or ""."""
    default = field.default
    if default is None:
        return None, ""
    if consent and default is True:
        return None, ""
    if field.kind == "string":
        shown = safe_line(default)
        if shown != default:
            hint = tr(
                "Suggested, but not filled in because it hides characters: {shown}", shown=shown
            )
            return None, hint
    return field.check(default), ""


def _restore(field: Field, value: object, is_consent: bool) -> object:
    """Return the value that the person typed before; None if the value does not fit the field.

    A text is not checked, so that the person can correct it.
    """
    if value is None or field.kind == "string":
        return value
    if is_consent and value is True:
        return None
    try:
        return field.check(value)
    except InvalidAnswer:
        return None


def _limits(field: Field, tr: Translate) -> str:
    least = _format_bound(field.least)
    most = _format_bound(field.most)
    if field.kind == "string":
        return _length_limits(least, most, tr)
    if least and most:
        return tr("From {least} to {most}.", least=least, most=most)
    if least:
        return tr("At least {least}.", least=least)
    if most:
        return tr("At most {most}.", most=most)
    return ""


def _length_limits(least: str, most: str, tr: Translate) -> str:
    if most == "1":
        return tr("At most 1 character.")
    # An empty text counts as left out, so a least length of 1 says nothing.
    if least in ("0", "1"):
        least = ""
    if least and most:
        return tr("From {least} to {most} characters.", least=least, most=most)
    if least:
        return tr("At least {least} characters.", least=least)
    if most:
        return tr("At most {most} characters.", most=most)
    return ""


def _format_bound(value: float | None) -> str:
    if value is None:
        return ""
    if float(value).is_integer():
        return str(int(value))
    return str(value)


def _options(field: Field) -> tuple[Option, ...]:
    """Return the options; where titles are the same, each has its value beside the title."""
    titles = [safe_line(option.title) for option in field.options]
    count = Counter(titles)
    options = []
    for title, option in zip(titles, field.options, strict=True):
        caption = title
        if count[title] > 1:
            caption = f"{title} ({safe_line(option.value)})"
        options.append(Option(option.value, caption))
    return tuple(options)
