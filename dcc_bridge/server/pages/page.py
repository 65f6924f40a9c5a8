"""One question's page: who may see it, and what became of it. Any thread; the state is locked."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from hmac import compare_digest
from secrets import token_hex
from typing import Final, Literal

from dcc_bridge.elicitation.question import PresenterEvent, Question, Settle
from dcc_bridge.elicitation.types import CANCELLED, DECLINED

Facts = tuple[tuple[str, str], ...]
Exit = Literal["accept", "decline", "cancel", "hand_over", "signed_in", "failed"]

_EXPECTED: Final[dict[str, str]] = {
    "accept": "answered",
    "decline": DECLINED,
    "cancel": CANCELLED,
    "hand_over": "handed_over",
    "signed_in": "answered",
    "failed": CANCELLED,
}
"""Why a page is taken down after each exit, if that exit is what counted."""


class Seat:
    """The one browser that may see a page: the first that comes."""

    def __init__(self) -> None:
        """Begin free."""
        self._lock = threading.Lock()
        self._key: str | None = None

    def admit(self, key: str) -> str | None:
        """Let in the browser that came first, and no other.

        Args:
            key: What the browser was given when it came first, or "".

        Returns:
            Its key, or None for another browser.
        """
        with self._lock:
            if self._key is None:
                self._key = token_hex(16)
                return self._key
        return key if self.knows(key) else None

    def knows(self, key: str) -> bool:
        """Whether a key is that of the browser that came first."""
        mine = self._key
        return mine is not None and compare_digest(key.encode(), mine.encode())


class Page:
    """A page, from its question to what it says afterwards.

    Attributes:
        id: 128 random bits, in its address.
        facts: Who asks; told once the scene's name was read.
        ends: When its question ends by itself.
        failure: Why it came to nothing although the person did what was asked, or "".
        drawn: When it was last drawn with its buttons, on a monotonic clock.
        seat: Who may see it.
        listed: It is among those that wait to be answered here.
    """

    listed = True

    def __init__(self, question: Question, settle: Settle) -> None:
        """Begin unopened."""
        self.id = token_hex(16)
        self.facts: Facts = ()
        self.ends = datetime.now() + timedelta(seconds=question.offers.latest)
        self.failure = ""
        self.drawn = 0.0
        self._question: Question | None = question
        self._settle = settle
        self._lock = threading.Lock()
        self.seat = Seat()
        self._left: Exit | None = None
        self._reason: str | None = None

    @property
    def question(self) -> Question | None:
        """What is asked, or None once it is over."""
        return self._question

    @property
    def left(self) -> Exit | None:
        """How the person left it, or None where something else ended it."""
        if self._left and self._reason in (None, _EXPECTED[self._left]):
            return self._left
        return None

    @property
    def reason(self) -> str:
        """Why it is over."""
        return self._reason or ""

    def leave(self, how: Exit, heard: PresenterEvent) -> bool:
        """Settle the question, if nothing did before.

        Args:
            how: The exit that was taken.
            heard: What to settle it with.

        Returns:
            Whether this was the first answer.
        """
        with self._lock:
            if self._question is None:
                return False
            self._question, self._left = None, how
        self._settle(heard)
        return True

    def end(self, reason: str) -> None:
        """Take the question down, given the reason."""
        with self._lock:
            self._question = None
            self._reason = self._reason or reason
