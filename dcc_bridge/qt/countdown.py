"""How long a question still waits.

It stands still while the person types, and they can ask for more time; the broker's own clock ends
it at the latest. Main thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from dcc_bridge.qt.binding import QHBoxLayout, QLabel, QTimer, QWidget, Signal, Slot
from dcc_bridge.qt.buttons import Button
from dcc_bridge.qt.labels import SMALL, Mnemonics, scale
from dcc_bridge.qt.words import tr

_TICK: Final = 250
_TYPING: Final = 5.0
"""Seconds after a touch for which the person is taken to be still at it."""


class Countdown(QWidget):
    """A line of small text that counts down, with a button that begins anew.

    Signals:
        expired: The time is up.

    Attributes:
        more: Begins anew; hidden where there is no more time to be had.
    """

    expired = Signal()

    def __init__(
        self,
        soon: float,
        latest: float,
        mnemonics: Mnemonics,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin to count.

        Args:
            soon: Seconds until it expires, if the person does nothing.
            latest: Seconds until it expires whatever they do.
            mnemonics: Of the window.
            now: The clock, in seconds.
        """
        super().__init__()
        self._now = now
        self._soon = soon
        self._latest = now() + latest
        self._ends = min(now() + soon, self._latest)
        self._ticked = now()
        self._touched = now() - _TYPING
        self._left = QLabel()
        scale(self._left, SMALL)
        self.more = Button(mnemonics.mark(tr("More time")))
        scale(self.more, SMALL)
        self.more.clicked.connect(self.begin_anew)
        self._lay_out()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.tick)
        self._timer.start(_TICK)
        self.tick()

    @property
    def text(self) -> str:
        """What it says."""
        return self._left.text()

    @Slot()
    def touch(self) -> None:
        """Stand still for a moment: the person is at it."""
        self._touched = self._now()

    @Slot()
    def begin_anew(self) -> None:
        """Give the person the whole time again, as far as there is any."""
        self._ends = min(self._now() + self._soon, self._latest)
        self.tick()

    @Slot()
    def tick(self) -> None:
        """Show what is left, or say that it is over."""
        now = self._now()
        if now - self._touched < _TYPING:
            self._ends = min(self._ends + now - self._ticked, self._latest)
        self._ticked = now
        left = max(0, round(self._ends - now))
        self._left.setText(tr("Closes in {time}", time=f"{left // 60}:{left % 60:02}"))
        self.more.setVisible(self._ends < self._latest)
        if now >= self._ends and self._timer.isActive():
            self._timer.stop()
            self.expired.emit()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._left)
        row.addWidget(self.more)
        row.addStretch(1)
