"""The surface that needs no Qt: Blender's own dialogs, and its sidebar.

A dialog takes every key from where the person types, so it opens once they ask for it (`notice`):
from the timer, when Blender is not in the middle of something. Main thread, but for what the broker
calls.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import Any, Final

import bpy

from dcc_bridge.spi import Host
from dcc_bridge.spi.drawing import (
    Click,
    Expired,
    MainThread,
    Question,
    QuestionQueue,
    Settle,
    TakeDown,
    Ticket,
    Unable,
    safe_line,
    view_of,
)

from ..loop import is_blocked
from .dialog import OperatorDialog

log = logging.getLogger("dcc_bridge.blender")
_PASSING: Final = 60.0  # seconds for which a notification stays


class OperatorPresenter:
    """Draws questions as dialogs of Blender's own."""

    def __init__(self, main: MainThread, host: Host) -> None:
        """Begin with nothing; the dialogs' header names the host."""
        self._host = host
        self._questions = QuestionQueue(self, main)
        # The notifications, the newest last, each with the time when it goes.
        self.notes: list[tuple[str, float]] = []
        self.dialog: OperatorDialog | None = None  # the question whose turn it is, or None

        @bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # in its stubs
        def loads(*_: object) -> None:
            if self.dialog is not None:  # Blender cancels what pops up; the person did not
                self.dialog.keep()
                self.dialog.is_open = False

        self._loads: Any = loads
        bpy.app.handlers.load_pre.append(loads)

    def draw(self, ticket: Ticket) -> None:
        """Take a question whose turn it is; it opens once the person goes there."""
        if ticket.question.page is not None:  # it is shown by the client, or as a page
            self._questions.end(ticket, Unable())
            return
        question = ticket.timely()
        view = view_of(question, self._host)
        self.dialog = OperatorDialog(question, view, partial(self._questions.end, ticket))

    def set_aside(self, ticket: Ticket) -> None:
        """Close a question's dialog; here nothing brings another one before it."""
        self.take_down(ticket)

    def show_place(self, place: int, count: int) -> None:
        """Show which one of several questions is drawn. Main thread."""
        if self.dialog is not None:
            self.dialog.place = f" · {place} of {count}" if count > 1 else ""

    def take_down(self, ticket: Ticket) -> dict[str, Any] | None:
        """Close a question's dialog, if it has one, and return what was filled in."""
        if (dialog := self.dialog) is None or dialog.question.id != ticket.question.id:
            return None
        self.dialog = None
        dialog.dismiss()
        return dialog.typed

    def asked(self) -> str:
        """Return the question that waits for the person to open it, or ""."""
        dialog = self.dialog
        return dialog.question.message if dialog is not None and not dialog.is_shown else ""

    def enter(self) -> bool:
        """Have the question opened that waits, and return whether there is one."""
        if self.dialog is not None:
            self.dialog.is_called = True
        return self.dialog is not None

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question as soon as no other one is drawn. See `Presenter.show`."""
        return self._questions.show(question, settle)

    def chip(self, question: Question, where: str, answer_here: Click, cancel: Click) -> TakeDown:
        """Show nothing: the sidebar lists what waits elsewhere."""
        return lambda reason: None

    def notice(self, text: str, undo: Click | None = None, call: str | None = None) -> TakeDown:
        """Show a notification for a minute; the sidebar has the undo, and the log the call."""
        note = (safe_line(text), time.monotonic() + _PASSING)
        self._questions.post(lambda: self.notes.append(note))
        return lambda reason: self._questions.post(lambda: self._forget(note))

    def _forget(self, note: tuple[str, float]) -> None:
        if note in self.notes:
            self.notes.remove(note)

    def turn(self) -> None:
        """Open the dialog whose turn it is, or end it when its time is up. The timer calls it."""
        now = time.monotonic()
        if self.notes and self.notes[0][1] < now:
            del self.notes[0]
        if (dialog := self.dialog) is None:
            return
        dialog.refresh(now)
        if now > dialog.deadline:
            dialog.answered(Expired())
        elif not is_blocked():  # so there is a window
            dialog.begin(now)
            if dialog.may_open(now):
                self._open(dialog)

    def close(self) -> None:
        """End every question; later ones end at once."""
        if self._loads in bpy.app.handlers.load_pre:
            bpy.app.handlers.load_pre.remove(self._loads)
        self._questions.close()
        OperatorDialog.forget()

    def _open(self, dialog: OperatorDialog) -> None:
        try:
            dialog.open(f"{self._host.name}: a question for you")
        except Exception:  # Blender's own calls run here, and the question must end
            log.exception("the question %s could not be drawn", dialog.question.id)
            dialog.answered(Unable())
