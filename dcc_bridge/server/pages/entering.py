"""A page on which a secret is entered, as HTML; it is never drawn again. Any thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.question import Question
from dcc_bridge.server.pages.entries import Entries
from dcc_bridge.server.pages.markup import Markup, element, join
from dcc_bridge.server.pages.visited import SecretPage

FIELD: Final = "secret"
MOST: Final = 65_536
"""Characters of a secret."""
_MISSING: Final = "Nothing was entered."
_PROMISE: Final = (
    "What you enter goes from this browser to the application and nowhere else: neither the agent "
    "nor its client sees it, and it is written down nowhere."
)


def entered(sent: Entries) -> str:
    """Give what was entered."""
    return next(iter(sent.get(FIELD, ())), "")


def problem(text: str) -> str:
    """Say what is wrong with what was entered, or give ""."""
    if not text:
        return _MISSING
    return f"It has more than {MOST:,} characters." if len(text) > MOST else ""


def draw(page: SecretPage, question: Question, wrong: str, *, note: str, ends: str) -> Markup:
    """Draw a page.

    Args:
        page: Which one.
        question: Why.
        wrong: What was wrong with what was entered, or "".
        note: Something to say first, or "".
        ends: The time at which it ends.
    """
    return element(
        "form",
        element("p", note, class_="notice", role="alert") if note else "",
        element("div", _words(question), class_="words"),
        _field(plain.line(page.label), wrong),
        element("p", _PROMISE, class_="quiet"),
        _exits(),
        element("p", f"It ends at {ends} if nothing is entered.", class_="small"),
        method="post",
        novalidate=True,
        autocomplete="off",
    )


def _words(question: Question) -> Markup:
    first, _, rest = plain.passage(question.message).partition("\n")
    return join(element("h1", first), element("p", rest, class_="passage") if rest else Markup(""))


def _field(label: str, wrong: str) -> Markup:
    return element(
        "div",
        element("label", label, for_=FIELD),
        element("p", wrong, class_="problem", id="problem", role="alert") if wrong else "",
        element(
            "input",
            type="password",
            id=FIELD,
            name=FIELD,
            required=True,
            autofocus=True,
            autocomplete="off",
            autocapitalize="off",
            spellcheck="false",
            maxlength=str(MOST),
            aria_invalid="true" if wrong else None,
            aria_describedby="problem" if wrong else None,
        ),
        class_="field wrong" if wrong else "field",
    )


def _exits() -> Markup:
    made = [("Send to the application", "accept", "main"), ("Decline", "decline", None)]
    made.append(("Cancel", "cancel", None))
    buttons = [
        element("button", text, type="submit", name="exit", value=exit, class_=style)
        for text, exit, style in made
    ]
    return element("div", *buttons, class_="exits", role="group", aria_label="Your answer")
