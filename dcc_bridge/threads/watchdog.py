"""What ends the questions for which a host stands still. Any thread."""

from __future__ import annotations

import dis
import sys
import threading
import traceback
from collections.abc import Sized
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Final, Literal, Protocol

from dcc_bridge.callbacks import CallLater
from dcc_bridge.threads.flows import RunningCall, current
from dcc_bridge.threads.main_thread import MainThread

WaitKind = Literal["lock", "thread"]
PATIENCE: Final = 5.0  # seconds for which the ui lane may be left alone while a question is open
_AGAIN: Final = 0.2  # seconds until a second look: a busy thread takes a lock too, for a moment


@dataclass(frozen=True, slots=True)
class Standstill:
    """The main thread, as it stands still."""

    wait: WaitKind  # for what it waits
    running: RunningCall | None  # the call whose job is on its stack, or None
    stack: str  # where it stands
    seconds: float  # for how long at least


class OpenQuestions(Protocol):
    """The questions that are open, of whoever is asked: the broker's. Any thread."""

    @property
    def open(self) -> Sized:
        """Those that wait for an answer."""

    def unblock(self, standstill: Standstill) -> None:
        """End those for which the main thread may stand still, and say so in the log."""


class Watchdog:
    """Ends a question for which the main thread stands still, so that the host goes on.

    A skill may hold a lock while it asks, and the main thread want it; or the main thread waits for
    a thread that asks, or in an event loop of its own. The host stands still then until the
    question's deadline, and where the host is to show the question nobody can answer it.

    While a question is open, an empty job goes to the ui lane now and then. If it is not served for
    `PATIENCE` seconds, the main thread's stack tells why:

    ==================================  ===========================================================
    its innermost frame                 what ends
    ==================================  ===========================================================
    takes a lock                        every open question: a lock does not tell who holds it
    waits for a thread, or runs a loop  those of the call that is on its stack, and the host's own
    anything else                       none: a host that renders, reads or sleeps comes back itself
    ==================================  ===========================================================

    A lock that a suspended skill of the main thread holds stays held: the log tells where.
    """

    def __init__(self, questions: OpenQuestions, main: MainThread, clock: CallLater) -> None:
        self._questions = questions  # which may be ended
        self._main = main  # the main thread
        self._clock = clock  # calls a function after some seconds, not on the main thread
        self._lock = threading.Lock()
        self._is_looking = False

    def note_question(self) -> None:
        """Begin to look, if a question is open; `Broker.watch` calls it. Any thread."""
        with self._lock:
            if self._is_looking or not self._questions.open:
                return
            self._is_looking = True
        self._clock(PATIENCE, partial(self._look, self._main.post(lambda: None)))

    def _look(self, served: Future[None], *, again: bool = False) -> None:
        """Look whether the ui lane was served, and end what keeps it from that."""
        with self._lock:
            self._is_looking = bool(self._questions.open)
            if not self._is_looking:
                return
        frame = None if served.done() else sys._current_frames().get(self._main.ident)
        wait = wait_of(frame)
        if frame is not None and wait is not None and again:
            self._questions.unblock(self._standstill(wait, frame))
        if served.done():
            served = self._main.post(lambda: None)
        is_first = wait is not None and not again
        self._clock(_AGAIN if is_first else PATIENCE, partial(self._look, served, again=is_first))

    def _standstill(self, wait: WaitKind, frame: FrameType) -> Standstill:
        job = self._main.running
        running = job.context.get(current) if job is not None else None
        return Standstill(wait, running, "".join(traceback.format_stack(frame)), PATIENCE)


def wait_of(frame: FrameType | None) -> WaitKind | None:
    """Tell whether a thread waits for a lock, or for another thread or its own event loop.

    `frame` is its innermost one; None where it runs no Python. Who waits for a program is busy:
    on Windows it joins the threads that read what that writes.
    """
    primitive = ""
    while frame is not None and _module(frame) in ("threading", "selectors"):
        primitive, frame = frame.f_code.co_name, frame.f_back
    if frame is None or _module(frame) == "subprocess":
        return None
    if primitive in ("acquire", "__enter__") or (not primitive and _takes_lock(frame)):
        return "lock"
    is_loop = _module(frame).startswith("asyncio.")
    return "thread" if is_loop or primitive not in ("", "select") else None


def _takes_lock(frame: FrameType) -> bool:
    """Whether a frame stands in C where a ``with`` begins, or in a call of ``acquire``."""
    steps = list(dis.get_instructions(frame.f_code))
    here = next((step.opname for step in steps if step.offset == frame.f_lasti), "")
    on_line = (step for step in steps if step.positions and step.positions.lineno == frame.f_lineno)
    is_acquire = "CALL" in here and any(step.argval == "acquire" for step in on_line)
    return here == "BEFORE_WITH" or is_acquire


def _module(frame: FrameType) -> str:
    """Give the module of a frame; its file has other names where a host has it in an archive."""
    return str(frame.f_globals.get("__name__"))
