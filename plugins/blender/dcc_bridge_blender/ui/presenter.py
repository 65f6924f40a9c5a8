"""The surface that needs no Qt: Blender's own dialogs, and its sidebar.

A dialog takes every key from where the person types. So it opens once the person goes to the
question (`notice`): from the timer, when Blender is not in the middle of something. Main thread,
but for `show`, `chip` and `notice`, which the broker calls on any thread.
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
    Draft,
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
from . import items
from .dialog import OperatorDialog

log = logging.getLogger("dcc_bridge.blender")
_NOTE_S: Final = 60.0  # seconds for which a notification stays


class OperatorPresenter:
    """Draws questions as dialogs of Blender's own.

    Attributes:
        notes: The notifications, the newest last. Each has the time when it goes, by the monotonic
            clock.
        dialog: The dialog of the question whose turn it is, or None.
    """

    def __init__(self, main: MainThread, host: Host) -> None:
        """Begin without a question; the headers of the dialogs name the host."""
        self._host = host
        self._questions = QuestionQueue(self, main)
        self.notes: list[tuple[str, float]] = []
        self.dialog: OperatorDialog | None = None

        @bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # in its stubs
        def before_load(*_: object) -> None:
            if self.dialog is not None:  # Blender cancels the popup; the person did not
                self.dialog.keep()
                self.dialog.is_open = False

        @bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # in its stubs
        def after_load(*_: object) -> None:
            if self.dialog is not None:
                self.dialog.prepare()

        self._before_load: Any = before_load
        self._after_load: Any = after_load
        bpy.app.handlers.load_pre.append(before_load)
        bpy.app.handlers.load_post.append(after_load)

    def draw(self, ticket: Ticket) -> None:
        """Prepare the dialog of a question whose turn it is; it opens once the person goes there.

        A question with a page ends as `Unable`: its client shows it, or a browser.
        """
        if ticket.question.page is not None:
            self._questions.end(ticket, Unable())
            return
        question = ticket.timely()
        view = view_of(question, self._host)
        self.dialog = OperatorDialog(question, view, partial(self._questions.end, ticket))
        self.dialog.prepare()

    def set_aside(self, ticket: Ticket) -> None:
        """Close a question's dialog, as `take_down` does."""
        self.take_down(ticket)

    def show_place(self, place: int, count: int) -> None:
        """Show which of several questions is drawn. Main thread.

        Args:
            place: The place of the question, from 1.
            count: How many questions there are.
        """
        if self.dialog is None:
            return
        self.dialog.state.place = ""
        if count > 1:
            self.dialog.state.place = f" · {place} of {count}"

    def take_down(self, ticket: Ticket) -> Draft | None:
        """Close a question's dialog, and return what was filled in, or None."""
        dialog = self.dialog
        if dialog is None or dialog.question.id != ticket.question.id:
            return None
        self.dialog = None
        dialog.dismiss()
        dialog.close()
        items.clear()
        if dialog.state.typed is None:
            return None
        return Draft(dialog.state.typed)

    def asked(self) -> str:
        """Return the first line of the question that waits for the person to go there, or ""."""
        dialog = self.dialog
        if dialog is None or dialog.is_shown:
            return ""
        return dialog.question.message.partition("\n")[0]

    def draw_in_sidebar(self, layout: Any, wide: int) -> None:
        """Draw the list or the form of the question whose turn it is.

        Args:
            layout: The layout of the sidebar.
            wide: How many characters a line has.
        """
        if self.dialog is not None:
            self.dialog.draw_in_sidebar(layout, wide)

    def enter(self) -> bool:
        """Have the question that waits opened, and return whether there is one."""
        if self.dialog is None:
            return False
        self.dialog.is_called = True
        return True

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question as soon as no other one is drawn. See `Presenter.show`. Any thread."""
        return self._questions.show(question, settle)

    def chip(self, question: Question, where: str, answer_here: Click, cancel: Click) -> TakeDown:
        """Draw nothing: the sidebar lists the questions that wait elsewhere."""
        return lambda reason: None

    def notice(self, text: str, undo: Click | None = None, call: str | None = None) -> TakeDown:
        """Show a notification for a minute. Any thread.

        An edit that can be undone needs none: the sidebar offers to keep it or undo it.
        """
        if undo is not None:
            return lambda reason: None
        note = (safe_line(text), time.monotonic() + _NOTE_S)
        self._questions.post(lambda: self.notes.append(note))
        return lambda reason: self._questions.post(lambda: self._forget(note))

    def _forget(self, note: tuple[str, float]) -> None:
        if note in self.notes:
            self.notes.remove(note)

    def turn(self) -> None:
        """Open the dialog whose turn it is, or end its question at the deadline.

        Blender's timer calls this.
        """
        now = time.monotonic()
        if self.notes and self.notes[0][1] < now:
            del self.notes[0]
        dialog = self.dialog
        if dialog is None:
            return
        dialog.refresh(now)
        if now > dialog.deadline:
            dialog.answered(Expired())
            return
        if is_blocked():  # also where no window is the current one
            return
        dialog.begin(now)
        if dialog.may_open(now):
            self._open(dialog)

    def close(self) -> None:
        """End every question; later questions end at once."""
        if self._before_load in bpy.app.handlers.load_pre:
            bpy.app.handlers.load_pre.remove(self._before_load)
            bpy.app.handlers.load_post.remove(self._after_load)
        self._questions.close()

    def _open(self, dialog: OperatorDialog) -> None:
        try:
            dialog.open()
        except Exception:  # Blender's own calls run here, and the question must end
            log.exception("the question %s could not be drawn", dialog.question.id)
            dialog.answered(Unable())
