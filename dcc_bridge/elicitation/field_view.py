"""A surface's view of a form's fields: titles, bounds in words, what is filled in. Any thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dcc_bridge.elicitation.schema import Form
from dcc_bridge.elicitation.text import Translate, english, safe_line, safe_text
from dcc_bridge.elicitation.validation import Field, InvalidAnswer, Option

Typed = Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class FieldView:
    """A field of a form.

    Attributes:
        field: What is asked.
        title: What the person reads beside it.
        description: A longer explanation, or ""
        limits: Its bounds in words, or ""
        withheld: Why the form's default is not filled in, or ""
        default: What is filled in at first, or None.
        options: What a choice can be chosen from; no two titles are the same.
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
        """Whether a choice or a yes-or-no can be left out again; a default is the answer then."""
        return not self.field.required and self.field.default is None

    @property
    def explanation(self) -> str:
        """What stands below the field in a window, or ""."""
        # How long a text has to be is said there once it is too short or too long.
        limits = "" if self.field.kind == "string" else self.limits
        return "\n".join(filter(None, (self.description, limits, self.withheld)))


def field_views(
    form: Form | None, consent: bool, tr: Translate = english, typed: Typed = None
) -> tuple[FieldView, ...]:
    """Make the views of a form's fields.

    No yes is filled in where the answer is a `consent`: it decides whether something is lost. What
    the person had `typed` before stands in place of the defaults.
    """
    return tuple(field_view(field, consent, tr, typed) for field in form.fields) if form else ()


def field_view(
    field: Field, consent: bool, tr: Translate = english, typed: Typed = None
) -> FieldView:
    """Make the view of a field. See `field_views`."""
    default, withheld = _default(field, consent, tr)
    if typed is not None:
        default, withheld = _restored(field, typed.get(field.name), consent), ""
    return FieldView(
        field=field,
        title=safe_line(field.title),
        description=safe_text(field.description, tr=tr),
        limits=_limits(field, tr),
        withheld=withheld,
        default=default,
        options=_options(field),
    )


def _default(field: Field, consent: bool, tr: Translate) -> tuple[Any, str]:
    """Return what is filled in at first, and why that is not the form's default."""
    if field.default is None or (consent and field.default is True):
        return None, ""
    shown = safe_line(field.default) if field.kind == "string" else field.default
    if shown != field.default:
        text = tr("Suggested, but not filled in because it hides characters: {shown}", shown=shown)
        return None, text
    return field.check(field.default), ""


def _limits(field: Field, tr: Translate) -> str:
    least, most = _bound(field.least), _bound(field.most)
    if field.kind == "string":
        return _lengths(least, most, tr)
    if least and most:
        return tr("From {least} to {most}.", least=least, most=most)
    if least:
        return tr("At least {least}.", least=least)
    return tr("At most {most}.", most=most) if most else ""


def _lengths(least: str, most: str, tr: Translate) -> str:
    if most == "1":
        return tr("At most 1 character.")
    if least in ("0", "1"):  # a text that may be left out is, while it is empty
        least = ""
    if least and most:
        return tr("From {least} to {most} characters.", least=least, most=most)
    if least:
        return tr("At least {least} characters.", least=least)
    return tr("At most {most} characters.", most=most) if most else ""


def _bound(value: float | None) -> str:
    return "" if value is None else f"{int(value) if float(value).is_integer() else value}"


def _options(field: Field) -> tuple[Option, ...]:
    """Return the options, with the value beside the titles that look the same."""
    titles = [safe_line(option.title) for option in field.options]
    count = Counter(titles)
    return tuple(
        Option(option.value, title if count[title] == 1 else f"{title} ({safe_line(option.value)})")
        for title, option in zip(titles, field.options, strict=True)
    )


def _restored(field: Field, value: object, is_consent: bool) -> object:
    """Return what the person had filled in; a text as it was, anything else where it fits."""
    if field.kind == "string" or value is None:
        return value
    try:
        return None if is_consent and value is True else field.check(value)
    except InvalidAnswer:
        return None
