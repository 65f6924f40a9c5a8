"""A page that takes one answer, from the one browser that opened it first. Any thread.

No script runs on a page, and none is needed.
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
from dcc_bridge.elicitation.types import BRIDGE_CLOSED, CANCELLED, DECLINED, TIMED_OUT, Action

Facts = tuple[tuple[str, str], ...]  # captions and values of the header that says who asks


class Html(str):
    """HTML that may be sent as it is: only `fill` makes it."""

    __slots__ = ()


def fill(template: str, /, **values: str) -> Html:
    """Fill a template of ours in; what is not `Html` is escaped."""
    safe = {key: v if isinstance(v, Html) else escape(v) for key, v in values.items()}
    return Html(template.format(**safe))


class PageEnding(NamedTuple):
    """What a page says on which nothing can be answered.

    Attributes:
        status: The HTTP status.
        title: In a few words.
        text: What happened, and what to do.
    """

    status: int
    title: str
    text: str


CLOSE: Final = "You can close this page."
_LEFT: Final[dict[Action, PageEnding]] = {
    "accept": PageEnding(200, "Your answer was sent", CLOSE),
    "decline": PageEnding(200, "Declined", f"The agent is told that you said no. {CLOSE}"),
    "cancel": PageEnding(200, "Cancelled", f"The question ended without an answer. {CLOSE}"),
}
_REASONS: Final[dict[Action, str]] = {  # with which a page is taken down if that action counted
    "accept": "answered",
    "decline": DECLINED,
    "cancel": CANCELLED,
}
_ENDED: Final = {
    TIMED_OUT: PageEnding(
        410, "The time is over", "Nobody answered in time, so the question was cancelled."
    ),
    CANCELLED: PageEnding(
        410, "No longer asked", "Whoever asked does not wait for an answer any more."
    ),
    BRIDGE_CLOSED: PageEnding(410, "No longer asked", "The application stopped its bridge."),
    DECLINED: PageEnding(410, "Answered elsewhere", "The question was declined in another place."),
    "answered": PageEnding(
        410, "Answered elsewhere", "The question was answered in another place."
    ),
}
_OTHER: Final = PageEnding(410, "No longer asked", "The question has ended.")
_USED: Final = PageEnding(
    410,
    "This page was used already",
    "It takes one answer, and had one. Nothing was changed by trying again.",
)


class OneTimePage:
    """A page to which a person is sent. It tells its question what was done there.

    Attributes:
        id: 128 random bits, the last part of its address and its only credential.
        ours: The person is shown the address of this very page.
        facts: Who asks, for the header.
        ends: When its question times out.
        failure: Why it came to nothing although the person did what was asked, or "".
    """

    ours = True

    def __init__(self, question: Question) -> None:
        self.id = token_hex(16)
        self.facts: Facts = ()
        self.ends = datetime.now() + timedelta(seconds=question.offers.latest)
        self.failure = ""
        self._question: Question | None = question
        self._lock = threading.Lock()
        self._browser = ""
        self._settle: Settle | None = None
        self._reply: Reply | None = None
        self._left: PageEnding | None = None
        self._reason = ""

    @property
    def question(self) -> Question | None:
        """What is asked, or None once it is over."""
        return self._question

    def admit(self, key: str) -> str | None:
        """Let in the browser that came first, and no other.

        Args:
            key: The cookie that the browser was given when it came first, or "".

        Returns:
            Its key, or None for another browser.
        """
        with self._lock:
            if not self._browser:
                self._browser = token_hex(16)
                return self._browser
        return key if self.knows(key) else None

    def knows(self, key: str) -> bool:
        """Whether a key is that of the browser that came first."""
        return bool(self._browser) and compare_digest(key.encode(), self._browser.encode())

    def leave(self, action: Action, ending: PageEnding | None = None) -> bool:
        """Answer the question, if nothing ended it before.

        Args:
            action: What the person did.
            ending: What the page says from now on; None for the usual words.

        Returns:
            Whether this was the first answer.
        """
        with self._lock:
            if self._question is None:
                return False
            self._question = None
            self._left = ending or _LEFT[action]
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
            self._question = None
            self._reason = self._reason or reason

    @property
    def ending(self) -> PageEnding:
        """What became of its question."""
        if self._left is not None and self._counted:
            return self._left
        return _ENDED.get(self._reason, _OTHER)

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
    """Draw a whole page.

    Args:
        title: For the browser's window.
        facts: Who asks: a header of ours that no message can imitate.
        main: What stands below.
    """
    pairs = Html("".join(fill(_FACT, caption=caption, value=value) for caption, value in facts))
    return fill(_DOCUMENT, title=title, style=_STYLE, facts=pairs, main=main)
