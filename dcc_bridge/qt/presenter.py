"""The surface that draws questions as dialogs in a Qt host: one at a time, the others wait.

`show` and what it returns are called on any thread; they only post to the ui lane. Everything
else, and every widget, belongs to the main thread.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Final

import shiboken6
from PySide6.QtCore import QCoreApplication, QObject, Slot
from PySide6.QtWidgets import QApplication, QWidget

from dcc_bridge.elicitation.question import Question, Reply, Settle, Unable
from dcc_bridge.elicitation.types import BRIDGE_CLOSED, CANCELLED
from dcc_bridge.errors import BridgeClosed
from dcc_bridge.host import Host
from dcc_bridge.qt.dialog import QuestionDialog
from dcc_bridge.threads import MainThread

log = logging.getLogger(__name__)
_CLOSED: Final = Unable(BRIDGE_CLOSED, ends=True)
_LOST: Final = Unable(CANCELLED, ends=True)


@dataclass(eq=False, slots=True)
class _Ticket:
    """A question that is drawn, or waits for its turn."""

    question: Question
    settle: Settle
    ends: float | None
    dialog: QuestionDialog | None = None


class DialogPresenter(QObject):
    """Draws questions as dialogs in the host. Made on the main thread."""

    def __init__(
        self,
        main: MainThread,
        host: Host,
        parent: Callable[[], QWidget | None],
        *,
        deadline: float | None = None,
    ) -> None:
        """Take what it needs of the host.

        Args:
            main: The way to the main thread.
            host: For the dialogs' header.
            parent: Gives the host's main window, or None; called for each dialog.
            deadline: Seconds after which the broker ends a question, to be shown; None where it
                does not say.
        """
        super().__init__()
        self._main = main
        self._host = host
        self._parent = parent
        self._deadline = deadline
        self._queue: deque[_Ticket] = deque()
        self._shown: _Ticket | None = None
        self._dying: list[QuestionDialog] = []
        self._closed = False
        self._app = QCoreApplication.instance()
        if self._app is not None:  # a host may quit without a word to us
            self._app.aboutToQuit.connect(self._quit)

    @property
    def dialogs(self) -> list[QuestionDialog]:
        """The dialogs that a person can see: one at most. Main thread."""
        shown = self._shown
        return [shown.dialog] if shown is not None and shown.dialog is not None else []

    @property
    def waiting(self) -> int:
        """How many questions wait behind the one that is shown. Main thread."""
        return len(self._queue)

    def show(self, question: Question, settle: Settle) -> Callable[[str], None]:
        """Draw a question as soon as no other one is drawn. Any thread.

        Args:
            question: What to draw.
            settle: Called once with what came of it, on the main thread.

        Returns:
            What takes the question down, given the reason; on any thread, at any time.
        """
        limit = question.timeout or self._deadline
        ticket = _Ticket(question, settle, limit and time.monotonic() + limit)
        self._post(lambda: self._admit(ticket), lambda: settle(_CLOSED))
        return lambda reason: self._post(lambda: self._withdraw(ticket, reason))

    def close(self) -> None:
        """End every question and delete every widget. Main thread.

        Deleted at once: a widget of ours that the host's window still has when the interpreter is
        gone crashes the host. So it must not be called from a dialog's own frame.
        """
        app, self._app = self._app, None
        if app is not None:
            app.aboutToQuit.disconnect(self._quit)
        self._quit()
        for dialog in filter(shiboken6.isValid, self._dying):
            shiboken6.delete(dialog)
        self._dying.clear()

    @Slot()
    def _quit(self) -> None:
        """End every question. The host may quit from a key pressed in a dialog: delete it later."""
        self._closed = True
        ending = [*([self._shown] if self._shown else []), *self._queue]
        self._queue.clear()
        self._shown = None
        for ticket in ending:
            self._dispose(ticket)
            ticket.settle(_CLOSED)

    def _post(self, fn: Callable[[], None], refused: Callable[[], None] = lambda: None) -> None:
        def look(future: Future[None]) -> None:
            error = future.exception()
            if isinstance(error, BridgeClosed):
                refused()
            elif error is not None:
                log.error("a question's dialog failed", exc_info=error)

        self._main.post(fn).add_done_callback(look)

    def _admit(self, ticket: _Ticket) -> None:
        if self._closed:
            ticket.settle(_CLOSED)
        elif ticket.question.url is not None:
            ticket.settle(Unable())
        else:
            self._queue.append(ticket)
            self._show_next()

    def _show_next(self) -> None:
        while self._shown is None and self._queue:
            self._shown = ticket = self._queue.popleft()
            try:
                self._draw(ticket)
            except Exception:  # the host's own calls run here, and the question must end
                log.exception("the question %s could not be drawn", ticket.question.id)
                self._end(ticket, Unable())

    def _draw(self, ticket: _Ticket) -> None:
        parent = self._parent()
        alive = parent if parent is not None and shiboken6.isValid(parent) else None
        ticket.dialog = dialog = QuestionDialog(
            ticket.question,
            self._host,
            alive,
            lambda reply: self._answer(ticket, reply),
            ends=ticket.ends,
        )
        dialog.destroyed.connect(self._look_for_lost)
        dialog.show()
        QApplication.alert(dialog)

    def _answer(self, ticket: _Ticket, reply: Reply) -> None:
        """Go on once the dialog's own frame is left: it can be deleted then."""
        self._post(lambda: self._end(ticket, reply))

    def _end(self, ticket: _Ticket, heard: Reply | Unable) -> None:
        if ticket is not self._shown:
            return
        self._shown = None
        self._dispose(ticket)
        ticket.settle(heard)
        self._show_next()

    def _withdraw(self, ticket: _Ticket, reason: str) -> None:
        if ticket in self._queue:
            self._queue.remove(ticket)
        elif ticket is self._shown:
            log.info("the question %s was taken down: %s", ticket.question.id, reason)
            self._shown = None
            self._dispose(ticket)
            self._show_next()

    def _dispose(self, ticket: _Ticket) -> None:
        dialog, ticket.dialog = ticket.dialog, None
        self._dying = [one for one in self._dying if shiboken6.isValid(one)]
        if dialog is not None and shiboken6.isValid(dialog):
            dialog.dismiss()
            dialog.deleteLater()
            self._dying.append(dialog)

    @Slot()
    def _look_for_lost(self) -> None:
        """A dialog is gone; if it went with the host's window, its question ends."""
        ticket = self._shown
        if (
            ticket is not None
            and ticket.dialog is not None
            and not shiboken6.isValid(ticket.dialog)
        ):
            self._post(lambda: self._end(ticket, _LOST))
