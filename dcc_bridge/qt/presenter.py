"""The surface that draws questions in a Qt host, one at a time, as the broker reaches it.

What the broker calls may be called on any thread: it only posts to the ui lane. Every widget
belongs to the main thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Final

from dcc_bridge.elicitation.question import PresenterEvent, Question, Settle, TakeDown, Unable
from dcc_bridge.elicitation.question_queue import CLOSED, QuestionQueue, Ticket
from dcc_bridge.elicitation.types import CANCELLED
from dcc_bridge.errors import BridgeClosed
from dcc_bridge.host import Host
from dcc_bridge.main_thread import MainThread
from dcc_bridge.qt.binding import QApplication, QCoreApplication, QObject, QWidget, Slot, isValid
from dcc_bridge.qt.event_loop import DeferredDeletion
from dcc_bridge.qt.labels import tr
from dcc_bridge.qt.notifications import Notification, Notifications
from dcc_bridge.qt.question_dialog import QuestionDialog
from dcc_bridge.qt.url_dialog import UrlDialog

log = logging.getLogger(__name__)

_LOST: Final = Unable(CANCELLED, ends=True)


class DialogPresenter(QObject):
    """Draws questions as dialogs in the host. Made on the main thread."""

    def __init__(self, main: MainThread, host: Host, parent: Callable[[], QWidget | None]) -> None:
        """Take what it needs of the host.

        Args:
            main: The way to the main thread.
            host: For the dialogs' header.
            parent: Gives the host's main window, or None; called for each dialog.
        """
        super().__init__()
        self._main = main
        self._host = host
        self._parent = parent
        self._deletion = DeferredDeletion()
        self._dialogs: dict[Ticket, QuestionDialog] = {}
        self._questions = QuestionQueue(self)
        self._notifications = Notifications(parent, self._deletion)
        self._app = QCoreApplication.instance()
        if self._app is not None:  # a host may quit without a word to us
            self._app.aboutToQuit.connect(self._quit)

    @property
    def dialogs(self) -> list[QuestionDialog]:
        """The dialogs that a person can see: one at most. Main thread."""
        shown = self._questions.shown
        return [self._dialogs[shown]] if shown in self._dialogs else []

    @property
    def waiting(self) -> int:
        """How many questions wait behind the one that is shown. Main thread."""
        return self._questions.waiting

    @property
    def chips(self) -> list[Notification]:
        """The notifications. Main thread."""
        return self._notifications.visible

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question as soon as no other one is drawn. Any thread.

        Args:
            question: What to draw.
            settle: Called once with what came of it, on the main thread.

        Returns:
            What takes the question down, given the reason; on any thread, at any time.
        """
        ticket = Ticket(question, settle)
        self._post(lambda: self._questions.add(ticket), lambda: settle(CLOSED))
        return lambda reason: self._post(lambda: self._questions.withdraw(ticket, reason))

    def chip(
        self,
        question: Question,
        where: str,
        answer_here: Callable[[], None],
        cancel: Callable[[], None],
    ) -> TakeDown:
        """Show a notification that a question waits on another surface. Any thread.

        Args:
            question: Which one.
            where: The name of that surface.
            answer_here: Brings the question here. Called on the main thread.
            cancel: Ends it. Called on the main thread.

        Returns:
            What takes the notification away; on any thread, at any time.
        """
        shown: list[Notification] = []
        first_line, _, _ = question.message.partition("\n")

        def notify() -> None:
            text = tr("Waiting in {client}: {question}", client=where, question=first_line)
            acts = ((tr("Answer here"), answer_here), (tr("Cancel"), cancel))
            shown.append(self._notifications.add(text, *acts))

        self._post(notify)
        return lambda reason: self._post(lambda: self._notifications.remove(*shown))

    def bring(self, question: Question) -> None:
        """Bring a question's dialog up before all others: the person asked for it. Main thread."""
        self._questions.bring(question.id)
        for dialog in self.dialogs:
            if dialog.question.id == question.id:
                dialog.raise_()
                dialog.activateWindow()

    def draw(self, ticket: Ticket) -> None:
        """Draw a question as a dialog, or show its dialog again. Main thread."""
        if ticket in self._dialogs:  # it was set aside
            self._dialogs[ticket].show()
            return
        parent = self._parent()
        alive = parent if parent is not None and isValid(parent) else None
        kind = QuestionDialog if ticket.question.page is None else UrlDialog
        dialog = kind(ticket.timely(), self._host, alive, partial(self._answer, ticket))
        self._dialogs[ticket] = dialog
        dialog.destroyed.connect(self._end_lost_questions)
        dialog.show()
        QApplication.alert(dialog)

    def set_aside(self, ticket: Ticket) -> None:
        """Hide a question's dialog, with all that is filled in. Main thread."""
        dialog = self._dialogs.get(ticket)
        if dialog is not None and isValid(dialog):
            dialog.set_aside()

    def take_down(self, ticket: Ticket) -> None:
        """Delete a question's dialog. Main thread."""
        dialog = self._dialogs.pop(ticket, None)
        if dialog is not None and isValid(dialog):
            dialog.dismiss()
            self._deletion.add(dialog)

    def notice(
        self, text: str, undo: Callable[[], None] | None = None, call: str | None = None
    ) -> None:
        """Show a notification that needs no answer and goes by itself. Any thread.

        Args:
            text: What happened.
            undo: Takes it back, where that can be offered. Called on the main thread.
            call: The id of the call that did it, for who wants to look it up; or None.
        """
        self._post(lambda: self._notify(text, undo, call))

    def close(self) -> None:
        """End every question and delete every widget. Main thread.

        Deleted at once: a widget of ours that the host's window still has when the interpreter is
        gone crashes the host. So it must not be called from a dialog's own frame.
        """
        app, self._app = self._app, None
        # A host's application may be gone by now, and its wrapper does not know.
        if app is not None and QCoreApplication.instance() is not None:
            app.aboutToQuit.disconnect(self._quit)
        self._quit()
        self._deletion.flush()

    @Slot()
    def _quit(self) -> None:
        """End every question. The host may quit from a key pressed in a dialog: delete it later."""
        self._questions.close()
        self._notifications.clear()

    def _answer(self, ticket: Ticket, heard: PresenterEvent) -> None:
        """Go on once the dialog's own frame is left: it can be deleted then."""
        self._post(lambda: self._questions.end(ticket, heard))

    @Slot()
    def _end_lost_questions(self) -> None:
        """A dialog is gone; if it went with the host's window, its question ends."""
        for ticket, dialog in self._dialogs.items():
            if not isValid(dialog):
                self._answer(ticket, _LOST)

    def _post(self, fn: Callable[[], None], refused: Callable[[], None] = lambda: None) -> None:
        def check(future: Future[None]) -> None:
            error = future.exception()
            if isinstance(error, BridgeClosed):
                refused()
            elif error is not None:
                log.error("what the host should have shown failed", exc_info=error)

        self._main.post(fn).add_done_callback(check)

    def _notify(self, text: str, undo: Callable[[], None] | None, call: str | None) -> None:
        acts = () if undo is None else ((tr("Undo"), undo),)
        notification = self._notifications.add_passing(text, *acts)
        if call is not None:
            notification.set_call(call)
