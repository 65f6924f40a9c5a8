"""The surface that draws questions in a Qt host, one at a time, as the broker reaches it.

What the broker calls may be called on any thread: it only posts to the ui lane. Every widget
belongs to the main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from dcc_bridge.elicitation import question_queue
from dcc_bridge.elicitation.question import PresenterEvent, Question, Unable
from dcc_bridge.elicitation.types import CANCELLED
from dcc_bridge.host import Host
from dcc_bridge.main_thread import MainThread
from dcc_bridge.qt import event_loop, notifications, question_dialog, url_dialog
from dcc_bridge.qt.binding import QApplication, QCoreApplication, QObject, QWidget, Slot, isValid
from dcc_bridge.qt.labels import tr

_LOST: Final = Unable(CANCELLED, ends=True)


class DialogPresenter(question_queue.QueuePresenter[notifications.Notification], QObject):
    """Draws questions as dialogs in the host. Made on the main thread."""

    _notifications: notifications.Notifications

    def __init__(self, main: MainThread, host: Host, parent: Callable[[], QWidget | None]) -> None:
        """Take what it needs of the host.

        Args:
            main: The way to the main thread.
            host: For the dialogs' header.
            parent: Gives the host's main window, or None; called for each dialog.
        """
        super().__init__()
        self._host = host
        self._tr = tr
        self._parent = parent
        self._deletion = event_loop.DeferredDeletion()
        self._dialogs: dict[question_queue.Ticket, question_dialog.QuestionDialog] = {}
        self._questions = question_queue.QuestionQueue(self, main)
        self._notifications = notifications.Notifications(parent, self._deletion)
        self._app = QCoreApplication.instance()
        if self._app is not None:  # a host may quit without a word to us
            self._app.aboutToQuit.connect(self._quit)

    @property
    def dialogs(self) -> list[question_dialog.QuestionDialog]:
        """The dialogs that a person can see: one at most. Main thread."""
        shown = self._questions.shown
        return [self._dialogs[shown]] if shown in self._dialogs else []

    @property
    def waiting(self) -> int:
        """How many questions wait behind the one that is shown. Main thread."""
        return self._questions.waiting

    @property
    def chips(self) -> list[notifications.Notification]:
        """The notifications. Main thread."""
        return self._notifications.visible

    def bring(self, question: Question) -> None:
        """Bring a question's dialog up before all others: the person asked for it. Main thread."""
        self._questions.bring(question.id)
        for dialog in self.dialogs:
            if dialog.question.id == question.id:
                dialog.raise_()
                dialog.activateWindow()

    def draw(self, ticket: question_queue.Ticket) -> None:
        """Draw a question as a dialog, or show its dialog again. Main thread."""
        if ticket in self._dialogs:  # it was set aside
            self._dialogs[ticket].show()
            return
        parent = self._parent()
        alive = parent if parent is not None and isValid(parent) else None
        is_page = ticket.question.page is not None
        kind = url_dialog.UrlDialog if is_page else question_dialog.QuestionDialog
        dialog = kind(ticket.timely(), self._host, alive, partial(self._answer, ticket))
        self._dialogs[ticket] = dialog
        dialog.destroyed.connect(self._end_lost_questions)
        dialog.show()
        QApplication.alert(dialog)

    def set_aside(self, ticket: question_queue.Ticket) -> None:
        """Hide a question's dialog, with all that is filled in. Main thread."""
        dialog = self._dialogs.get(ticket)
        if dialog is not None and isValid(dialog):
            dialog.set_aside()

    def take_down(self, ticket: question_queue.Ticket) -> None:
        """Delete a question's dialog. Main thread."""
        dialog = self._dialogs.pop(ticket, None)
        if dialog is not None and isValid(dialog):
            dialog.dismiss()
            self._deletion.add(dialog)

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

    def _answer(self, ticket: question_queue.Ticket, heard: PresenterEvent) -> None:
        """Go on once the dialog's own frame is left: it can be deleted then."""
        self._questions.post(lambda: self._questions.end(ticket, heard))

    @Slot()
    def _end_lost_questions(self) -> None:
        """A dialog is gone; if it went with the host's window, its question ends."""
        for ticket, dialog in self._dialogs.items():
            if not isValid(dialog):
                self._answer(ticket, _LOST)
