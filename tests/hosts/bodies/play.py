"""Runs one body by the real runner; the test's own thread is the main thread and the person."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from dcc_bridge.audit import reader
from dcc_bridge.audit.log import AuditLog, Disk
from dcc_bridge.config import Settings
from dcc_bridge.elicitation.question import (
    Expired,
    PresenterEvent,
    Question,
    Reply,
    Settle,
    TakeDown,
)
from tests.hosts.bodies.port import Port
from tests.one_run import OneRun, no_loop, one_run
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


class Quick(Disk):
    """A disk that does not wait: that it does is told in the tests of the record."""

    def sync(self, opened: int) -> None:
        """Go on."""


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


class Play(ABC):
    """One run of one body."""

    def __init__(self, port: Port, folder: Path) -> None:
        """Take a host with a scene for this body alone, whose files are in a folder."""
        self._host = port.host
        self._audit = folder / "bridge" / "audit"
        self._wake = threading.Event()
        self._run: OneRun

    @abstractmethod
    def _answer(self, question: Question, settle: Settle) -> None:
        """Answer a question as the person does."""

    def _spawn(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        return no_loop(coroutine)

    @contextmanager
    def _running(self, settings: Settings) -> Iterator[OneRun]:
        self._person = Undecided(self._wake.set)
        log = AuditLog(self._audit)
        log.disk = Quick()
        with one_run(
            self._host,
            self._person,
            settings,
            auditor=log,
            spawn=self._spawn,
            wake=lambda delay: self._wake.set(),
        ) as self._run:
            yield self._run
        log.close()

    def _serve(self, is_done: Callable[[], bool]) -> None:
        """Be the main thread and the person, until it is done and nothing is left to answer."""
        main = self._run.main
        end = time.monotonic() + LIMIT
        while not is_done() or not main.is_unwound or self._person.open or main.waiting:
            assert time.monotonic() < end, "it hangs"
            main.drain()
            if self._person.open:
                self._answer(*self._person.open.pop(0))
            elif not is_done():
                self._wake.wait(0.001)
                self._wake.clear()
        main.drain()

    def _broken(self) -> str:
        """Verify the record; say what is wrong with it, or "".

        What a thread of no call was granted has no end there.
        """
        if not self._audit.is_dir():
            return ""
        for file in map(reader.read, reader.logs(self._audit)):
            left = [it.fields for it in file.unfinished if it.fields["skill"] == "program"]
            if file.trouble is not None or left or file.ending != "closed":
                return f"{file.trouble} {left} {file.ending}"
        return ""


def reply(question: Question, answer: str) -> PresenterEvent:
    """Return what the person does who answers with a word."""
    if answer in _REFUSALS:
        return _REFUSALS[answer]
    properties = question.form.schema["properties"] if question.form else {}
    name = "sure" if "sure" in properties else "confirm"
    return Reply("accept", {name: answer != "unticked"})
