"""The surface that needs no Qt: Blender's own dialogs, and its sidebar.

The broker calls it on any thread; it posts to the ui lane. One question is drawn at a time. A
dialog opens from the timer, when Blender is not in the middle of something. Main thread.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final

import bpy

from dcc_bridge.elicitation.question import (
    Expired,
    PresenterEvent,
    Question,
    Reply,
    Settle,
    TakeDown,
    Unable,
)
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.types import BRIDGE_CLOSED
from dcc_bridge.errors import BridgeClosed
from dcc_bridge.host import Host
from dcc_bridge.hosts.blender.blender_loop import in_window, is_blocked
from dcc_bridge.main_thread import MainThread

from . import dialog
from .corner import Corner, Note
from .ticket import Ticket

log = logging.getLogger(__name__)

_AGAIN: Final = 1.0
"""Seconds until a dialog is opened again: Blender takes it away as long as its window is made."""
_CLOSED = Unable(BRIDGE_CLOSED, ends=True)


class OperatorPresenter:
    """Draws questions as dialogs of Blender's own.

    Attributes:
        corner: What is said in passing.
    """

    def __init__(self, main: MainThread, host: Host) -> None:
        """Begin with nothing.

        Args:
            main: The way to the main thread.
            host: For the dialogs' header.
        """
        self._main = main
        self._host = host
        self.corner = Corner()
        self._queue: deque[Ticket] = deque()
        self._shown: Ticket | None = None
        self._is_open = self._is_closed = False

        @bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # in its stubs
        def loads(*_: object) -> None:
            self._is_open = False  # Blender cancels what pops up; the person did not

        self._loads: Any = loads
        bpy.app.handlers.load_pre.append(loads)

    # ---- from any thread

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question as soon as no other one is drawn.

        Args:
            question: What to draw.
            settle: Called once with what came of it, on the main thread.

        Returns:
            What takes it down.
        """
        ticket = Ticket(question, settle)
        self._post(lambda: self._admit(ticket), lambda: settle(_CLOSED))
        return lambda reason: self._post(lambda: self._end(ticket, None))

    def chip(
        self,
        question: Question,
        where: str,
        answer_here: Callable[[], None],
        cancel: Callable[[], None],
    ) -> TakeDown:
        """Say in the sidebar that a question waits on another surface."""
        said: list[Note] = []
        asked = question.message.partition("\n")[0]
        text = f"Waiting in {safe_line(where)}: {asked}"
        acts = (("Answer here", answer_here), ("Cancel", cancel))
        self._post(lambda: said.append(self.corner.say(text, *acts)))
        return lambda reason: self._post(lambda: self._unsay(said))

    def notice(
        self, text: str, undo: Callable[[], None] | None = None, call: str | None = None
    ) -> None:
        """Say in the sidebar what was done; the log has the call's id, for which there is no room.

        Args:
            text: What happened.
            undo: Takes it back.
            call: The id of the call that did it.
        """
        acts = () if undo is None else (("Undo", undo),)
        self._post(lambda: self.corner.say(text, *acts, passing=True))

    # ---- on the main thread

    def turn(self) -> None:
        """Open the dialog whose turn it is, and end those whose time is up."""
        now = time.monotonic()
        self.corner.sweep(now)
        for ticket in [*filter(None, [self._shown]), *self._queue]:
            if now > ticket.deadline:
                self._end(ticket, Expired())
        self._is_open = self._is_open and dialog.is_shown()
        if self._shown is None and self._queue:
            self._shown = self._queue.popleft()
        shown = self._shown
        if shown is None or self._is_open or now < shown.opened + _AGAIN:
            return
        if not is_blocked():
            self._open(shown)

    def close(self) -> None:
        """End every question; later ones end at once."""
        self._is_closed = True
        if self._loads in bpy.app.handlers.load_pre:
            bpy.app.handlers.load_pre.remove(self._loads)
        for ticket in [*filter(None, [self._shown]), *self._queue]:
            self._end(ticket, _CLOSED)
        dialog.forget()

    def _unsay(self, said: list[Note]) -> None:
        for note in said:
            self.corner.remove(note)

    def _admit(self, ticket: Ticket) -> None:
        if self._is_closed:
            ticket.settle(_CLOSED)
        elif ticket.question.page is not None:  # it is shown by the client, or as a page
            ticket.settle(Unable())
        else:
            self._queue.append(ticket)

    def _open(self, ticket: Ticket) -> None:
        self._is_open = True
        try:
            with in_window():
                dialog.show(ticket, self._host, self._heard)
        except Exception:  # Blender's own calls run here, and the question must end
            log.exception("the question %s could not be drawn", ticket.question.id)
            self._end(ticket, Unable())

    def _heard(self, ticket: Ticket, heard: Reply | PresenterEvent | str) -> None:
        """Take an answer, or show the dialog again with what was wrong with it."""
        if ticket is not self._shown or not self._is_open:
            return
        self._is_open = False
        if isinstance(heard, str):
            ticket.wrong = heard
        else:
            self._end(ticket, heard)

    def _end(self, ticket: Ticket, heard: PresenterEvent | None) -> None:
        if ticket in self._queue:
            self._queue.remove(ticket)
        elif ticket is self._shown:
            self._shown = None
            if self._is_open:
                self._is_open = False
                dialog.dismiss()
        else:
            return
        if heard is not None:
            ticket.settle(heard)

    def _post(self, fn: Callable[[], object], refused: Callable[[], None] = lambda: None) -> None:
        def look(future: Future[object]) -> None:
            error = future.exception()
            if isinstance(error, BridgeClosed):
                refused()
            elif error is not None:
                log.error("what Blender should have shown failed", exc_info=error)

        self._main.post(fn).add_done_callback(look)
