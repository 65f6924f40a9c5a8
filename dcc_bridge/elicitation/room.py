"""How many questions may be open at a time: of one client, and of all. Any thread."""

from __future__ import annotations

import threading
from collections import Counter

from dcc_bridge.errors import Busy


class Room:
    """The places of questions, each of which keeps a skill on its stack.

    The host's own questions need none: the person asked for those.
    """

    def __init__(self, most: int, most_of_one: int) -> None:
        """Set the limits."""
        self._most = most
        self._most_of_one = most_of_one
        self._lock = threading.Lock()
        self._open: Counter[str] = Counter()

    def enter(self, label: str | None) -> None:
        """Take a place for a question of that client, until `leave`.

        Raises:
            Busy: There is none.
        """
        if label is None:
            return
        with self._lock:
            if self._open[label] >= self._most_of_one:
                raise Busy(
                    f"{self._most_of_one} questions of {label} are open already; they have to be "
                    "answered before it may ask more."
                )
            if self._open.total() >= self._most:
                raise Busy(
                    f"{self._most} questions are open in this host already; try again once some of "
                    "them are answered."
                )
            self._open[label] += 1

    def leave(self, label: str | None) -> None:
        """Give the place up."""
        if label is None:
            return
        with self._lock:
            self._open[label] -= 1
            if not self._open[label]:
                del self._open[label]
