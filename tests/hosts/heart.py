"""What tells that a Qt application's own event loop comes round. Inside of it, main thread."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Final

from dcc_bridge.qt.binding import QObject, Qt, QTimer, Slot

BEATS: Final = "beats"
"""The file, in the application's home, with the number of beats and all `Gaps`, as JSON."""
EVERY: Final = 20  # milliseconds between two beats
LATE: Final = 0.1  # seconds between two beats that make a gap


class Gaps:
    """When something that comes round came late: the clock is the same for every process."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, float]] = []
        self._last = time.monotonic()

    def look(self) -> None:
        """Come round."""
        last, self._last = self._last, time.monotonic()
        if self._last - last > LATE:
            self.seen.append((last, self._last))


class Heart(QObject):
    """A timer of the application's, and when it was kept from it."""

    def __init__(self) -> None:
        super().__init__()
        self.begin()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)
        self._timer.start(EVERY)

    def begin(self) -> None:
        self._beats, self._gaps = 0, Gaps()

    def note(self) -> None:
        told = json.dumps([self._beats, self._gaps.seen])
        (Path(os.environ["HOME"]) / BEATS).write_text(told, encoding="utf-8")

    @Slot()
    def _beat(self) -> None:
        self._beats += 1
        self._gaps.look()
