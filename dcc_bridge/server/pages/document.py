"""A whole page: the header that is ours, what is in it, and the headers it is sent with."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Final

from dcc_bridge.server.pages.endings import Ending
from dcc_bridge.server.pages.markup import Markup, element, join
from dcc_bridge.server.pages.page import Facts

_STYLE: Final = Markup(files(__package__).joinpath("page.css").read_text("utf-8"))
_DIGEST: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
HEADERS: Final = {
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_DIGEST}'; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}
"""What every page is sent with."""
ANSWERABLE: Final = {**HEADERS, "Referrer-Policy": "same-origin"}
"""What a page with a form is sent with: under no-referrer a browser sends ``Origin: null`` with
the answer, as it does for a page of anybody's."""


def document(title: str, facts: Facts, main: Markup) -> str:
    """Draw a page.

    Args:
        title: For the window.
        facts: Who asks.
        main: What is asked.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", _STYLE),
    )
    body = element("body", _header(facts), element("main", main))
    return "<!DOCTYPE html>" + element("html", head, body, lang="en", dir="ltr")


def ended(place: str, facts: Facts, ending: Ending, again: str = "") -> str:
    """Draw a page on which nothing can be answered; `again` is where it goes on, if it does."""
    words = [element("h1", ending.title), element("p", ending.text)]
    if again:
        words.append(element("p", element("a", "Go on to the page", href=again)))
    main = element("div", *words, class_="words ended", role="status")
    return document(f"{ending.title} · {place}", facts or (("Application", place),), main)


def _header(facts: Facts) -> Markup:
    pairs = [
        element("div", element("dt", caption), element("dd", element("bdi", text)))
        for caption, text in facts
    ]
    return element("header", element("dl", *pairs), aria_label="Who asks")


def titled(place: str, *, wrong: bool) -> str:
    """Name the window of a question."""
    return join("Error: " if wrong else "", "A question for you · ", place)
