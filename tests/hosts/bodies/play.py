"""Runs one body by the real runner; the test's own thread is the main thread and the person."""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, Final

from dcc_bridge.audit.log import Auditor, nowhere
from dcc_bridge.config import Settings
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.question import (
    Expired,
    PresenterEvent,
    Question,
    Reply,
    Settle,
    TakeDown,
)
from dcc_bridge.skills.runner import Runner
from dcc_bridge.threads.main_thread import MainThread
from tests.hosts.bodies.port import Port
from tests.stand_ins import Person

LIMIT: Final = 60.0  # seconds in which any of these bodies ends
FORM: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"sure": {"type": "boolean"}},
    "required": ["sure"],
}
_REFUSALS: Final[dict[str, PresenterEvent]] = {
    "no": Reply("decline"),
    "closes": Reply("cancel"),
    "expires": Expired(),
}


class Undecided(Person):
    """Leaves each question open, on whatever thread it comes, and wakes the main thread for it.

    Attributes:
        open: The questions that nobody has answered yet.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        super().__init__()
        self._wake = wake
        self.open: list[tuple[Question, Settle]] = []

    def show(self, question: Question, settle: Settle) -> TakeDown:
        self.open.append((question, settle))
        self._wake()
        return super().show(question, settle)


class Play:
    """One run of one body."""

    def __init__(self, port: Port) -> None:
        """Take a host with a scene for this body alone."""
        self._host = port.host
        self._wake = threading.Event()

    @abstractmethod
    def _answer(self, question: Question, settle: Settle) -> None:
        """Answer a question as the person does."""

    def _spawn(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        raise AssertionError("no skill here is a coroutine")

    @contextmanager
    def _running(self, settings: Settings, auditor: Auditor = nowhere) -> Iterator[Runner]:
        self._main = MainThread(lambda delay: self._wake.set())
        self._person = Undecided(self._wake.set)
        self._broker = Broker(settings, host=self._person, clock=_no_clock, auditor=auditor)
        remove = context.install(self._broker, self._main, self._host)
        try:
            yield Runner(self._host, self._main, settings, self._spawn, _no_clock, auditor=auditor)
        finally:
            self._broker.close()
            self._main.close()
            remove()

    def _serve(self, is_done: Callable[[], bool]) -> None:
        """Be the main thread and the person, until it is done and nothing is left to answer."""
        end = time.monotonic() + LIMIT
        while not is_done() or not self._main.is_unwound or self._person.open or self._main.waiting:
            assert time.monotonic() < end, "it hangs"
            self._main.drain()
            if self._person.open:
                self._answer(*self._person.open.pop(0))
            elif not is_done():
                self._wake.wait(0.001)
                self._wake.clear()
        self._main.drain()


def reply(question: Question, answer: str) -> PresenterEvent:
    """Return what the person does who answers with a word."""
    if answer in _REFUSALS:
        return _REFUSALS[answer]
    properties = question.form.schema["properties"] if question.form else {}
    name = "sure" if "sure" in properties else "confirm"
    return Reply("accept", {name: answer != "unticked"})


def _no_clock(seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
    return lambda: None
