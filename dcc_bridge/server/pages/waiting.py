"""The page on which a person sees what waits at clients: answer it here, or cancel it.

There is one, and its address is told once, when the first question waits; again, and a new one,
only when the browser that had it has gone. It looks again by itself. Any thread; the state is
locked.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.question import Question
from dcc_bridge.server.pages.markup import Markup, element, join
from dcc_bridge.server.pages.page import Facts, Seat

AGAIN: Final = 5
"""Seconds after which the page looks again."""
_GONE: Final = 60.0
"""Seconds without a look after which nobody has the page open any more."""
_MOST_SHOWN: Final = 400


@dataclass(eq=False, frozen=True, slots=True)
class Chip:
    """A question that waits at a client.

    Attributes:
        question: Which one.
        where: The client's name.
        answer_here: Brings it here.
        cancel: Ends it.
        id: Its own, on the page.
    """

    question: Question
    where: str
    answer_here: Callable[[], None]
    cancel: Callable[[], None]
    id: str = field(default_factory=lambda: token_hex(8))


class Waiting:
    """What waits at clients, and who may see it.

    Attributes:
        facts: Where this is; told on the main thread.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Begin with nothing, at no address.

        Args:
            now: A monotonic clock, in seconds.
        """
        self.facts: Facts = ()
        self.seat = Seat()
        self._now = now
        self._lock = threading.Lock()
        self._chips: list[Chip] = []
        self._id = ""
        self._seen: float | None = None

    @property
    def chips(self) -> list[Chip]:
        """Those that wait, the oldest first."""
        with self._lock:
            return list(self._chips)

    def add(self, chip: Chip) -> Callable[[str], None]:
        """List a question; gives what takes it off."""
        with self._lock:
            self._chips.append(chip)

        def remove(reason: str) -> None:
            with self._lock:
                if chip in self._chips:
                    self._chips.remove(chip)

        return remove

    def find(self, id: str) -> Chip | None:
        """Give the question of that id, if it still waits."""
        return next((chip for chip in self.chips if chip.id == id), None)

    def is_at(self, id: str) -> bool:
        """Whether this is the page of that id."""
        return bool(self._id) and id == self._id

    def note_look(self) -> None:
        """Remember that somebody looks at it."""
        self._seen = self._now()

    def readdress(self) -> str:
        """Give the id of a new address for whoever comes first, or "" where the old one is good."""
        with self._lock:
            is_open = self._seen is None or self._now() - self._seen < _GONE
            if self._id and is_open:
                return ""
            self._id, self.seat, self._seen = token_hex(16), Seat(), None
            return self._id


def draw(chips: Sequence[Chip], here: Sequence[tuple[str, Question]]) -> Markup:
    """Draw the page.

    Args:
        chips: What waits at clients.
        here: What is to be answered here: addresses and questions.
    """
    if not chips and not here:
        quiet = element("p", "This page looks again by itself. You can leave it open.")
        return element("div", element("h1", "Nothing waits"), quiet, class_="words ended")
    count = len(chips) + len(here)
    title = "One question waits" if count == 1 else f"{count:,} questions wait"
    mine = [_line(q, element("a", "Open", href=url, class_="main")) for url, q in here]
    theirs = [_line(chip.question, _buttons(chip), chip.where) for chip in chips]
    return element(
        "div",
        element("h1", title),
        element("ul", *mine, *theirs, class_="waiting"),
        class_="words ended",
    )


def _line(question: Question, acts: Markup, where: str = "") -> Markup:
    asked, _, _ = question.message.partition("\n")
    place = f"In {plain.line(where, 60)}" if where else "Here"
    said = f"{place} · {plain.line(question.call.title, 60)}"
    words = join(
        element("p", plain.line(asked, _MOST_SHOWN), class_="asked"),
        element("p", said, class_="quiet"),
    )
    return element("li", element("div", words), acts)


def _buttons(chip: Chip) -> Markup:
    about = plain.line(chip.question.message.partition("\n")[0], 60)
    return element(
        "form",
        element("input", type="hidden", name="which", value=chip.id),
        _button("Answer here", "answer_here", about),
        _button("Cancel", "cancel", about),
        method="post",
    )


def _button(text: str, act: str, about: str) -> Markup:
    label = f"{text}: {about}"
    return element("button", text, type="submit", name="exit", value=act, aria_label=label)
