"""What tells that a Qt application's own event loop comes round. Inside of it, main thread."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from dcc_bridge.qt.binding import QObject, Qt, QTimer, Slot

BEATS: Final = "beats"
"""The file, in the application's home, with the number of beats and the longest gap in seconds."""
EVERY: Final = 20  # milliseconds between two beats


class Heart(QObject):
    """A timer of the application's, and how long it was kept from it at most."""

    def __init__(self) -> None:
        super().__init__()
        self.begin()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(EVERY)

    def begin(self) -> None:
        self._beats, self._longest, self._last = 0, 0.0, time.monotonic()

    def note(self) -> None:
        told = f"{self._beats} {self._longest}"
        (Path(os.environ["HOME"]) / BEATS).write_text(told, encoding="utf-8")

    @Slot()
    def _beat(self) -> None:
        now = time.monotonic()
        self._beats += 1
        self._longest, self._last = max(self._longest, now - self._last), now
