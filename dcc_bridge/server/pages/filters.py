"""The filter above a long list to tick. No script runs on a page, so the bridge filters.

A browser sends the filter's text, and what it was when the page was drawn; they differ when
somebody typed and pressed Enter there, and then it is the filter that is meant. What is ticked and
not shown travels along hidden. Any thread.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation.schema import FILTERED_FROM, Field, Form
from dcc_bridge.server.pages import entries
from dcc_bridge.server.pages.entries import Entries
from dcc_bridge.server.pages.markup import Markup, element, join

EXIT: Final = "filter"
"""What the button sends, with the field's key behind a space."""
ENTER: Final = "enter"
"""What Enter in a field sends."""


def has_one(field: Field) -> bool:
    """Whether a field's list is so long that it has a filter."""
    return field.kind == "choices" and len(field.options) >= FILTERED_FROM


def text(key: str, filled: Entries) -> str:
    """Give a filter's text."""
    return next(iter(filled.get(_name(key), ())), "")


def meant(form: Form, sent: Entries) -> str:
    """Give the key of the field whose filter was typed in and not used yet, or ""."""
    keys = [entries.key(n) for n, field in enumerate(form.fields) if has_one(field)]
    before = {key: next(iter(sent.get(_name(key, "ed"), ())), "") for key in keys}
    return next((key for key in keys if text(key, sent) != before[key]), "")


def is_shown(title: str, wanted: str) -> bool:
    """Whether a choice passes a filter."""
    return wanted.strip().lower() in title.lower()


def draw(key: str, wanted: str, shown: int, count: int, ticked: int, *, focused: bool) -> Markup:
    """Draw a filter.

    Args:
        key: Of its field.
        wanted: Its text.
        shown: How many choices pass it.
        count: How many there are.
        ticked: How many of those that do not are ticked.
        focused: The keyboard is there at first.
    """
    name = _name(key)
    also = f"; {ticked:,} ticked ones are not shown" if ticked > 1 else ""
    also = "; a ticked one is not shown" if ticked == 1 else also
    box = element(
        "input",
        type="search",
        id=name,
        name=name,
        value=wanted,
        autocomplete="off",
        autofocus=focused,
        aria_describedby=f"{key}-count",
    )
    button = element("button", "Filter", type="submit", name="exit", value=f"{EXIT} {key}")
    return join(
        element("label", "Filter the choices", for_=name, class_="quiet"),
        element("div", box, button, class_="filter"),
        element("input", type="hidden", name=_name(key, "ed"), value=wanted),
        element("p", f"{shown:,} of {count:,}{also}", id=f"{key}-count", class_="quiet"),
    )


def _name(key: str, tense: str = "") -> str:
    return f"{key}-filter{tense}"
