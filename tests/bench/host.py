"""A Qt application in a process of its own, told what to do line by line, and its beat.

``python -m tests.bench.host``: each line of standard input is a command, each line of standard
output its reply, as JSON. It ends when its input does.
"""

from __future__ import annotations

import faulthandler
import json
import sys
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication

from tests.bench.agent import Server

if TYPE_CHECKING:
    from tests.bench.bridged import BridgedServer

BEAT: Final = 5
"""Milliseconds between two beats."""
LIMIT: Final = 3600
"""Seconds after which the process is ended, whatever it does."""


class Beat(QObject):
    """A precise timer on the main thread, and by how much each beat was late."""

    def __init__(self) -> None:
        super().__init__()
        self._last = 0.0
        self._late: list[float] = []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._note)

    def start(self) -> None:
        """Begin to note."""
        self._late = []
        self._last = perf_counter()
        self._timer.start(BEAT)

    def stop(self) -> list[float]:
        """End, and give the milliseconds by which each gap was longer than it should be."""
        self._note()
        self._timer.stop()
        return self._late

    def _note(self) -> None:
        now = perf_counter()
        self._late.append(max(0.0, (now - self._last) * 1000 - BEAT))
        self._last = now


class Host(QObject):
    """Does what it is told, on the main thread."""

    _told = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._beat = Beat()
        self._server: BridgedServer | None = None
        self._told.connect(self._obey)
        Thread(target=self._listen, daemon=True).start()

    def stop(self) -> None:
        """Stop what is served."""
        if self._server is not None:
            self._server.stop()

    def _listen(self) -> None:
        for line in sys.stdin:
            self._told.emit(line.strip())
        self._told.emit("quit")

    def _obey(self, command: str) -> None:
        name, *arguments = command.split()
        obey: Callable[..., None] = getattr(self, f"_do_{name}")
        obey(*arguments)

    def _do_quit(self) -> None:
        QApplication.quit()

    def _do_beat(self) -> None:
        self._beat.start()
        _say(None)

    def _do_gaps(self) -> None:
        _say(self._beat.stop())

    def _do_settle(self) -> None:
        """Wait until the bridge has made the collection that follows its start."""
        looking, server = QTimer(self), self._server

        def look() -> None:
            if server is not None and server.main.is_settled:
                looking.stop()
                _say(None)

        looking.timeout.connect(look)
        looking.start(100)

    def _do_peer(self, kind: str) -> None:
        """Serve as another server does, in whose environment this process runs."""
        from tests.bench import peers

        peers.serve(kind).add_done_callback(_say_server)

    def _do_bridge(self) -> None:
        from tests.bench.bridged import BridgedServer

        self._server = BridgedServer()
        self._server.started.add_done_callback(_say_server)


def _say_server(started: Future[Server]) -> None:
    _say(started.result().to_json())


def _say(reply: object) -> None:
    print(json.dumps(reply), flush=True)


def main() -> None:
    """Run the application until standard input ends."""
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    app = QApplication(sys.argv[:1])
    app.setQuitOnLastWindowClosed(False)
    host = Host()
    app.exec()
    host.stop()


if __name__ == "__main__":
    main()
