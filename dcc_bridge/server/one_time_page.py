"""Pages that take one answer, from the one browser that opened them first. Any thread.

No script runs on a page, and none is needed. What is entered on the page for a secret is never
drawn again, also not after a mistake.
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

Facts = tuple[tuple[str, str], ...]  # captions and values of the header that says who asks


class Html(str):
    """HTML that may be sent as it is: only `fill` makes it."""

    __slots__ = ()


def fill(template: str, /, **values: str) -> Html:
    """Fill a template of ours in; what is not `Html` is escaped."""
    safe = {key: v if isinstance(v, Html) else escape(v) for key, v in values.items()}
    return Html(template.format(**safe))


class PageEnding(NamedTuple):
    """What a page says on which nothing can be answered."""

    status: int
    title: str  # in a few words
    text: str  # what happened, and what to do


CLOSE: Final = "You can close this page."
_LEFT: Final[dict[Action, PageEnding]] = {
    "accept": PageEnding(200, "Your answer was sent", CLOSE),
    "decline": PageEnding(200, "Declined", f"The agent is told that you said no. {CLOSE}"),
    "cancel": PageEnding(200, "Cancelled", f"The question ended without an answer. {CLOSE}"),
}
_REASONS: Final[dict[Action, str]] = {  # with which a page is taken down if that action counted
    "accept": ANSWERED,
    "decline": DECLINED,
    "cancel": CANCELLED,
}
_USED: Final = PageEnding(
    410,
    "This page has been used",
    "It takes one answer, and that was given. Trying again changed nothing.",
)


class OneTimePage:
    """A page to which a person is sent. It tells its question what was done there."""

    def __init__(self, question: Question) -> None:
        self.id = token_hex(16)  # 128 random bits, the end of its address and its only credential
        self.facts: Facts = ()
        self.ends = datetime.now() + timedelta(seconds=question.offers.latest)
        self.question: Question | None = question  # what is asked; None once it is over
        self._lock = threading.Lock()
        self._browser = ""
        self._settle: Settle | None = None
        self._reply: Reply | None = None
        self._left: PageEnding | None = None
        self._reason = ""

    def admit(self, key: str) -> str | None:
        """Let in the browser that came first, and no other; gives its key, or None for another."""
        with self._lock:
            if not self._browser:
                self._browser = token_hex(16)
                return self._browser
        return key if self.knows(key) else None

    def knows(self, key: str) -> bool:
        """Whether a key is that of the browser that came first."""
        return bool(self._browser) and compare_digest(key.encode(), self._browser.encode())

    def leave(self, action: Action) -> bool:
        """Answer the question, if nothing ended it before; tells whether this came first."""
        with self._lock:
            if self.question is None:
                return False
            self.question = None
            self._left = _LEFT[action]
            self._reply = Reply(action)
        self._notify()
        return True

    def follow(self, settle: Settle) -> None:
        """Call back with what the person does here, or did before."""
        self._settle = settle
        self._notify()

    def end(self, reason: str) -> None:
        """Take the page down, given the reason."""
        with self._lock:
            self.question = None
            self._reason = self._reason or reason

    @property
    def ending(self) -> PageEnding:
        """What became of its question."""
        if self._left is not None and self._counted:
            return self._left
        if self._reason in (ANSWERED, DECLINED):
            text = f"The question was {self._reason} in another place."
            return PageEnding(410, "Answered elsewhere", text)
        return PageEnding(410, "No longer asked", f"{outcome(self._reason).capitalize()}.")

    @property
    def used(self) -> PageEnding:
        """What is said to an answer that comes too late."""
        if self._left is not None and self._counted:
            return _USED
        return PageEnding(410, self.ending.title, f"{self.ending.text} Your answer was not used.")

    @property
    def _counted(self) -> bool:
        """Whether what was done here is what ended the question."""
        return self._reply is not None and self._reason in ("", _REASONS[self._reply.action])

    def _notify(self) -> None:
        reply, settle = self._reply, self._settle
        if reply is not None and settle is not None:
            settle(reply)  # perhaps twice, from two threads: a question takes the first answer


_STYLE: Final = Html(Path(__file__).with_name("page.css").read_text("utf-8"))
_DIGEST: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
HEADERS: Final = {  # what every page is sent with
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
    """Draw a whole page, with a header of ours that no message can imitate."""
    pairs = Html("".join(fill(_FACT, caption=caption, value=value) for caption, value in facts))
    return fill(_DOCUMENT, title=title, style=_STYLE, facts=pairs, main=main)


FIELD: Final = "secret"  # the name of the input in what the browser sends
_MOST: Final = 65_536  # characters of a secret
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
    """A page on which a secret is entered."""

    def __init__(self, question: Question, label: str) -> None:
        super().__init__(question)
        self.label = label  # what is to be entered
        self.result: Secret | None = None  # what was

    def enter(self, text: str) -> bool:
        """Take what was entered; tells whether it was the first answer."""
        if self.question is None:
            return False
        self.result = Secret(text)
        return self.leave("accept")

    def draw(self, question: Question, problem: str = "") -> Html:
        """Draw the form, with what is wrong with what was entered before, or ""."""
        asked, _, rest = safe_text(question.message).partition("\n")
        return fill(
            _FORM,
            asked=asked,
            rest=fill(_REST, rest=rest) if rest else "",
            style="field wrong" if problem else "field",
            label=safe_line(self.label),
            problem=fill(_PROBLEM, problem=problem) if problem else "",
            most=str(_MOST),
            invalid=_INVALID if problem else "",
            ends=self.ends.strftime("%H:%M:%S"),
        )


def problem_with(text: str) -> str:
    """Say what is wrong with what was entered, or give ""."""
    if not text:
        return "Nothing was entered."
    return f"It has more than {_MOST:,} characters." if len(text) > _MOST else ""
