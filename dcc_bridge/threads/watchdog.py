"""The watchdog, which ends the questions for which a host stands still. Any thread.

A host stands still if its main thread waits for a lock or a thread, and so draws nothing. A skill
may have caused that by asking, and nobody can answer in the host. `Watchdog` finds that out.
"""

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
UI_TIMEOUT_S: Final = 5.0
"""Seconds for which the ui lane may not be served while a question is open."""
_SECOND_LOOK_S: Final = 0.2
"""Seconds until a second look, as a busy thread also waits for a lock, for a moment."""


@dataclass(frozen=True, slots=True)
class Standstill:
    """The main thread, as it stands still.

    Attributes:
        wait: What the main thread waits for.
        running: The call whose job is on the main thread's stack, or None.
        stack: The stack as text.
        seconds: The seconds for which the main thread has stood still at least.
    """

    wait: WaitKind
    running: RunningCall | None
    stack: str
    seconds: float


class OpenQuestions(Protocol):
    """The open questions, as the broker has them. Any thread."""

    @property
    def open(self) -> Sized:
        """The questions that wait for an answer."""

    def unblock(self, standstill: Standstill) -> None:
        """End the questions for which the main thread may stand still, and log it."""


class Watchdog:
    """Ends the questions for which the main thread stands still, so that the host goes on.

    A skill asks while it holds a lock for which the main thread waits; or the main thread waits for
    a thread that asks, or runs an event loop for it. The host would stand still until the
    question's deadline.

    While a question is open, the watchdog posts an empty job to the ui lane now and then. If the
    job is not served within `UI_TIMEOUT_S` seconds, the main thread's innermost frame decides:

    ==================================  ===========================================================
    the frame                           the questions that end
    ==================================  ===========================================================
    takes a lock                        all: a lock does not tell who holds it
    waits for a thread, or runs a loop  those of the call on the main thread's stack, and the host's
    does anything else                  none: a host that renders, reads or sleeps comes back itself
    ==================================  ===========================================================

    A lock that a suspended skill of the main thread holds stays held: the log tells where.
    """

    def __init__(self, questions: OpenQuestions, main: MainThread, clock: CallLater) -> None:
        """Prepare; nothing is checked before `note_question`.

        Args:
            questions: The questions that may be ended.
            main: The main thread.
            clock: Calls a function after some seconds, on another thread than the main one.
        """
        self._questions = questions
        self._main = main
        self._clock = clock
        self._lock = threading.Lock()
        self._is_looking = False

    def note_question(self) -> None:
        """Begin to check the ui lane if a question is open; `Broker.watch` calls this method."""
        with self._lock:
            if self._is_looking or not self._questions.open:
                return
            self._is_looking = True
        self._clock(UI_TIMEOUT_S, partial(self._look, self._main.post(_nothing)))

    def _look(self, served: Future[None], *, again: bool = False) -> None:
        """Check whether the ui lane was served; if not, end the questions that block it.

        The first look at a main thread that waits ends nothing: a second one follows soon.

        Args:
            served: The empty job in the ui lane.
            again: Whether this is the second look.
        """
        with self._lock:
            self._is_looking = bool(self._questions.open)
            if not self._is_looking:
                return
        frame = None
        if not served.done():
            frame = sys._current_frames().get(self._main.ident)
        wait = wait_of(frame)
        if frame is not None and wait is not None and again:
            self._questions.unblock(self._standstill(wait, frame))
        if served.done():
            served = self._main.post(_nothing)
        is_first = wait is not None and not again
        seconds = _SECOND_LOOK_S if is_first else UI_TIMEOUT_S
        self._clock(seconds, partial(self._look, served, again=is_first))

    def _standstill(self, wait: WaitKind, frame: FrameType) -> Standstill:
        job = self._main.running
        running = job.context.get(current) if job is not None else None
        stack = "".join(traceback.format_stack(frame))
        return Standstill(wait, running, stack, UI_TIMEOUT_S)


def _nothing() -> None:
    pass


def wait_of(frame: FrameType | None) -> WaitKind | None:
    """Return the kind of wait of a thread.

    Args:
        frame: The thread's innermost frame; None where the thread runs no Python.

    Returns:
        "lock"; "thread" for another thread or an event loop; None for a thread that does not wait.
    """
    primitive = ""
    while frame is not None and _module(frame) in ("threading", "selectors"):
        primitive = frame.f_code.co_name
        frame = frame.f_back
    # A thread that waits for a program is busy, although on Windows it joins the threads that
    # read the program's output.
    if frame is None or _module(frame) == "subprocess":
        return None
    if primitive in ("acquire", "__enter__") or (not primitive and _takes_lock(frame)):
        return "lock"
    if _module(frame).startswith("asyncio.") or primitive not in ("", "select"):
        return "thread"
    return None


def _takes_lock(frame: FrameType) -> bool:
    """Return whether a frame stands in C where a ``with`` begins, or in a call of ``acquire``."""
    step_before = ""
    current_step = ""
    names_acquire = False
    for step in dis.get_instructions(frame.f_code):
        if step.offset == frame.f_lasti:
            current_step = step.opname
        elif not current_step:
            step_before = step.opname
        is_on_line = step.positions and step.positions.lineno == frame.f_lineno
        if is_on_line and step.argval == "acquire":
            names_acquire = True
    # Up to Python 3.13 a ``with`` begins in one step; 3.14 loads ``__enter__`` and calls it.
    if current_step == "BEFORE_WITH" or step_before == "LOAD_SPECIAL":
        return True
    return "CALL" in current_step and names_acquire


def _module(frame: FrameType) -> str:
    """Return the module of a frame, which is sure even where a host has Python in an archive."""
    return str(frame.f_globals.get("__name__"))
