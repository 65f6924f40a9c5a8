"""The surface that needs no Qt: Blender's own dialogs, and its sidebar.

A dialog opens from the timer, when Blender is not in the middle of something. Main thread, but for
what the broker calls.
"""

from __future__ import annotations

import logging
import time
from functools import partial
from typing import Any

import bpy

from dcc_bridge.elicitation.question import Expired, PresenterEvent, Unable
from dcc_bridge.elicitation.question_queue import QuestionQueue, QueuePresenter, Ticket
from dcc_bridge.elicitation.view import english, view_of
from dcc_bridge.host import Host
from dcc_bridge.hosts.blender.blender_loop import in_window, is_blocked
from dcc_bridge.main_thread import MainThread

from .corner import Corner, Note
from .dialog import OperatorDialog

log = logging.getLogger(__name__)


class OperatorPresenter(QueuePresenter[Note]):
    """Draws questions as dialogs of Blender's own.

    Attributes:
        corner: The notifications.
        dialog: The question whose turn it is, or None.
    """

    def __init__(self, main: MainThread, host: Host) -> None:
        """Begin with nothing.

        Args:
            main: The way to the main thread.
            host: For the dialogs' header.
        """
        self._host = host
        self._tr = english
        self._questions = QuestionQueue(self, main)
        self._notifications = self.corner = Corner()
        self.dialog: OperatorDialog | None = None

        @bpy.app.handlers.persistent  # type: ignore[untyped-decorator]  # in its stubs
        def loads(*_: object) -> None:
            if self.dialog is not None:  # Blender cancels what pops up; the person did not
                self.dialog.is_open = False

        self._loads: Any = loads
        bpy.app.handlers.load_pre.append(loads)

    def draw(self, ticket: Ticket) -> None:
        """Take a question whose turn it is; it opens from the timer."""
        if ticket.question.page is not None:  # it is shown by the client, or as a page
            self._questions.end(ticket, Unable())
            return
        question = ticket.timely()
        view = view_of(question, self._host)
        self.dialog = OperatorDialog(question, view, partial(self._end, ticket))

    def set_aside(self, ticket: Ticket) -> None:
        """Close a question's dialog; here nothing brings another one before it."""
        self.take_down(ticket)

    def take_down(self, ticket: Ticket) -> None:
        """Close a question's dialog, if it has one."""
        dialog = self.dialog
        if dialog is not None and dialog.question.id == ticket.question.id:
            self.dialog = None
            dialog.dismiss()

    def turn(self) -> None:
        """Open the dialog whose turn it is, or end it when its time is up. The timer calls it."""
        now = time.monotonic()
        self.corner.sweep(now)
        dialog = self.dialog
        if dialog is None:
            return
        if now > dialog.deadline:
            dialog.answered(Expired())
        elif dialog.may_open(now) and not is_blocked():
            self._open(dialog)

    def close(self) -> None:
        """End every question; later ones end at once."""
        if self._loads in bpy.app.handlers.load_pre:
            bpy.app.handlers.load_pre.remove(self._loads)
        self._questions.close()
        OperatorDialog.forget()

    def _open(self, dialog: OperatorDialog) -> None:
        try:
            with in_window():
                dialog.open(f"{self._host.name}: a question for you")
        except Exception:  # Blender's own calls run here, and the question must end
            log.exception("the question %s could not be drawn", dialog.question.id)
            dialog.answered(Unable())

    def _end(self, ticket: Ticket, event: PresenterEvent) -> None:
        self._questions.end(ticket, event)
