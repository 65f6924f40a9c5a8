"""A question on one surface: what is drawn of it, and how that goes away again. Any thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dcc_bridge.elicitation.policy import Surface
from dcc_bridge.elicitation.question import TakeDown
from dcc_bridge.elicitation.watchers import tell


class Showing:
    """One showing. It may be drawn anew, and then what was heard of the last drawing is ignored.

    Attributes:
        surface: Where it is.
        retried: It was drawn anew after an invalid answer.
    """

    def __init__(self, surface: Surface) -> None:
        """Begin with nothing drawn."""
        self.surface = surface
        self.retried = False
        self._lock = threading.Lock()
        self._turn = 0
        self._began = time.monotonic()
        self._down: list[TakeDown] | None = []
        self._lasting: list[TakeDown] = []
        self._why = ""

    @property
    def is_drawn(self) -> bool:
        """Whether it was drawn, and does not only wait for its turn."""
        with self._lock:
            return self._turn > 0

    @property
    def age(self) -> float:
        """Seconds since it was drawn."""
        return time.monotonic() - self._began

    def draw(self) -> int:
        """Begin a drawing, and give its number."""
        with self._lock:
            self._turn += 1
            self._began = time.monotonic()
            if self._down is not None:
                return self._turn
        return -1

    def take(self, turn: int) -> bool:
        """Take what was heard of a drawing; only the first time, and only of the last one."""
        with self._lock:
            if self._down is None or turn != self._turn:
                return False
            self._turn += 1
            return True

    def keep(self, down: TakeDown, *, lasting: bool = False) -> None:
        """Remember how to take something down; it is done now if the showing is over.

        Args:
            down: Given the reason, takes it down.
            lasting: It outlasts the drawing, and goes with the showing.
        """
        with self._lock:
            if self._down is not None:
                (self._lasting if lasting else self._down).append(down)
                return
        down(self._why)

    def keep_clock(self, stop: Callable[[], None]) -> None:
        """Remember how to stop a clock."""
        self.keep(lambda why: stop())

    def clear(self, why: str) -> None:
        """Take down what is drawn; the showing goes on."""
        with self._lock:
            down, self._down = self._down or [], None if self._down is None else []
        for one in down:
            tell(one, why)

    def end(self, why: str) -> None:
        """Take down what is drawn, and whatever may still come."""
        with self._lock:
            down, self._down, self._why = [*(self._down or []), *self._lasting], None, why
            self._lasting = []
        for one in down:
            tell(one, why)
