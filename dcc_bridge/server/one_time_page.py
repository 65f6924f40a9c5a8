"""Pages that take one answer, from the browser that opened them first. Any thread.

The pages have no scripts. A secret that was entered is never drawn again, even after a mistake.
"""

from __future__ import annotations

import base64
import hashlib
import threading
from datetime import datetime, timedelta
from hmac import compare_digest
from html import escape
from pathlib import Path
from secrets import token_hex
from typing import Final, NamedTuple

from dcc_bridge.elicitation.question import Question, Reply, Settle
from dcc_bridge.elicitation.secret import Secret
from dcc_bridge.elicitation.text import safe_line, safe_text
from dcc_bridge.elicitation.types import ANSWERED, CANCELLED, DECLINED, Action, outcome

Facts = tuple[tuple[str, str], ...]
"""The captions and values of a page's header, which says who asks."""


class Html(str):
    """HTML that is safe to send: made by `fill`, or a template of this server."""

    __slots__ = ()


def fill(template: str, /, **values: str) -> Html:
    """Return a trusted template filled in; values that are not `Html` are escaped."""
    safe_values = {}
    for name, value in values.items():
        safe_values[name] = value if isinstance(value, Html) else escape(value)
    return Html(template.format(**safe_values))


class PageEnding(NamedTuple):
    """The content of a page without a form.

    Attributes:
        status: The HTTP status.
        title: The heading.
        text: What happened, and what to do.
    """

    status: int
    title: str
    text: str


CLOSE: Final = "You can close this page."
_ANSWERED_HERE: Final[dict[Action, PageEnding]] = {
    "accept": PageEnding(200, "Your answer was sent", CLOSE),
    "decline": PageEnding(200, "Declined", f"The agent is told that you said no. {CLOSE}"),
    "cancel": PageEnding(200, "Cancelled", f"The question ended without an answer. {CLOSE}"),
}
_REASONS: Final[dict[Action, str]] = {
    # The reason with which `OneTimePage.end` is called if the action on the page counted.
    "accept": ANSWERED,
    "decline": DECLINED,
    "cancel": CANCELLED,
}
_USED: Final = PageEnding(
    410,
    "This page has been used",
    "This page accepts one answer, and it was already given. Nothing more was changed.",
)


class OneTimePage:
    """A page that the person opens, and that passes on the person's answer.

    Attributes:
        ends: The time when the page expires, in local time.
        facts: The header, which says who asks.
        id: 128 random bits at the end of the page's address, its only credential.
        question: The question; None once it is answered or has ended.
    """

    def __init__(self, question: Question) -> None:
        self.id = token_hex(16)
        self.facts: Facts = ()
        self.ends = datetime.now() + timedelta(seconds=question.offers.latest)
        self.question: Question | None = question
        self._lock = threading.Lock()
        self._browser_key = ""
        self._settle: Settle | None = None
        self._reply: Reply | None = None
        self._answer_ending: PageEnding | None = None
        self._reason = ""

    def admit(self, key: str) -> str | None:
        """Let in only the first browser.

        Args:
            key: The key that the browser sends; "" if it has none.

        Returns:
            The key of the first browser; None for another browser.
        """
        with self._lock:
            if not self._browser_key:
                self._browser_key = token_hex(16)
                return self._browser_key
        return key if self.knows(key) else None

    def knows(self, key: str) -> bool:
        """Return whether a key is that of the first browser."""
        if not self._browser_key:
            return False
        return compare_digest(key.encode(), self._browser_key.encode())

    def leave(self, action: Action) -> bool:
        """Answer the question; return False if it was answered before or has ended."""
        with self._lock:
            if self.question is None:
                return False
            self.question = None
            self._answer_ending = _ANSWERED_HERE[action]
            self._reply = Reply(action)
        self._notify()
        return True

    def follow(self, settle: Settle) -> None:
        """Call a function with the answer that the person gives here or has given before."""
        self._settle = settle
        self._notify()

    def end(self, reason: str) -> None:
        """End the question for a reason; the first reason counts."""
        with self._lock:
            self.question = None
            if not self._reason:
                self._reason = reason

    @property
    def ending(self) -> PageEnding:
        """The page's content once its question was answered or has ended."""
        if self._answer_ending is not None and self._counted:
            return self._answer_ending
        if self._reason in (ANSWERED, DECLINED):
            text = f"The question was {self._reason} in another place."
            return PageEnding(410, "Answered elsewhere", text)
        return PageEnding(410, "No longer asked", f"{outcome(self._reason).capitalize()}.")

    @property
    def used(self) -> PageEnding:
        """The response to an answer that comes too late."""
        if self._answer_ending is not None and self._counted:
            return _USED
        return PageEnding(410, self.ending.title, f"{self.ending.text} Your answer was not used.")

    @property
    def _counted(self) -> bool:
        """Whether the answer given here ended the question."""
        if self._reply is None:
            return False
        return self._reason in ("", _REASONS[self._reply.action])

    def _notify(self) -> None:
        reply = self._reply
        settle = self._settle
        if reply is not None and settle is not None:
            settle(reply)  # two threads may both call this: a question takes the first answer


_STYLE: Final = Html(Path(__file__).with_name("page.css").read_text("utf-8"))
_DIGEST: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
HEADERS: Final = {
    # Every page is sent with these.
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
_DOCUMENT: Final = (
    '<!DOCTYPE html><html lang="en" dir="ltr"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta name="color-scheme" content="light dark"><title>{title}</title>'
    '<style>{style}</style></head><body><header aria-label="Who asks"><dl>{facts}</dl></header>'
    "<main>{main}</main></body></html>"
)
_FACT: Final = "<div><dt>{caption}</dt><dd><bdi>{value}</bdi></dd></div>"


def document(title: str, facts: Facts, main: Html) -> Html:
    """Return a whole page, with a header that no message can imitate.

    Args:
        title: The title of the browser's window.
        facts: The header, which says who asks.
        main: The content below the header.
    """
    rows = [fill(_FACT, caption=caption, value=value) for caption, value in facts]
    return fill(_DOCUMENT, title=title, style=_STYLE, facts=Html("".join(rows)), main=main)


FIELD: Final = "secret"
"""The name of the input field."""
_MAX_SECRET_CHARS: Final = 65_536
_FORM: Final = """\
<form method="post" novalidate autocomplete="off">
<div class="words"><h1>{asked}</h1>{rest}</div>
<div class="{style}"><label for="secret">{label}</label>{problem}
<input type="password" id="secret" name="secret" required autofocus autocomplete="off"
 autocapitalize="off" spellcheck="false" maxlength="{most}"{invalid}></div>
<p class="quiet">What you enter goes from this browser to the application and nowhere else: neither
the agent nor its client sees it, and it is not stored anywhere.</p>
<div class="exits" role="group" aria-label="Your answer">
<button type="submit" name="exit" value="accept" class="main">Send to the application</button>
<button type="submit" name="exit" value="decline">Decline</button>
<button type="submit" name="exit" value="cancel">Cancel</button></div>
<p class="small">This page expires at {ends}.</p></form>"""
_REST: Final = '<p class="passage">{rest}</p>'
_PROBLEM: Final = '<p class="problem" id="problem" role="alert">{problem}</p>'
_INVALID: Final = Html(' aria-invalid="true" aria-describedby="problem"')


class SecretPage(OneTimePage):
    """A page on which a person enters a secret.

    Attributes:
        label: The caption of the input.
        result: The secret, once it was entered.
    """

    def __init__(self, question: Question, label: str) -> None:
        super().__init__(question)
        self.label = label
        self.result: Secret | None = None

    def enter(self, text: str) -> bool:
        """Store the secret; return False if the question was answered before or has ended."""
        if self.question is None:
            return False
        self.result = Secret(text)
        return self.leave("accept")

    def draw(self, question: Question, problem: str = "") -> Html:
        """Return the form.

        Args:
            question: The page's question.
            problem: The problem with the text entered before, or "".
        """
        asked, _, rest = safe_text(question.message).partition("\n")
        passage = Html("")
        if rest:
            passage = fill(_REST, rest=rest)
        field_style = "field"
        problem_line = Html("")
        invalid = Html("")
        if problem:
            field_style = "field wrong"
            problem_line = fill(_PROBLEM, problem=problem)
            invalid = _INVALID
        return fill(
            _FORM,
            asked=asked,
            rest=passage,
            style=field_style,
            label=safe_line(self.label),
            problem=problem_line,
            most=str(_MAX_SECRET_CHARS),
            invalid=invalid,
            ends=self.ends.strftime("%H:%M:%S"),
        )


def problem_with(text: str) -> str:
    """Return the problem with a text that was entered, as a sentence, or ""."""
    if not text:
        return "Nothing was entered."
    if len(text) > _MAX_SECRET_CHARS:
        return f"It has more than {_MAX_SECRET_CHARS:,} characters."
    return ""
