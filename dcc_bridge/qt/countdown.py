"""How long a question still waits. What ends it is the broker's clock, not this. Main thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QLabel

from dcc_bridge.qt.labels import SMALL, scale

_SECOND: Final = 1000


class Countdown(QLabel):
    """A line of small text that counts down; empty where nothing ends the question."""

    def __init__(self, ends: float | None, *, now: Callable[[], float] = time.monotonic) -> None:
        """Start to count.

        Args:
            ends: When the question is a cancel, on the clock of ``now``; None for never.
            now: The clock.
        """
        super().__init__()
        scale(self, SMALL)
        self._ends = ends
        self._now = now
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.refresh)
        if ends is not None:
            self._timer.start(_SECOND)
            self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show what is left now."""
        if self._ends is not None:
            left = max(0, round(self._ends - self._now()))
            self.setText(f"Closes in {left // 60}:{left % 60:02}")
