"""The surface that draws questions in a Qt host, one at a time, as the broker reaches it.

What the broker calls may be called on any thread: it only posts to the ui lane. Every widget
belongs to the main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from dcc_bridge.elicitation import question_queue
from dcc_bridge.elicitation.question import (
    PresenterEvent,
    Question,
    Settle,
    TakeDown,
    Unable,
)
from dcc_bridge.elicitation.question_queue import Click
from dcc_bridge.elicitation.types import SURFACE_LOST
from dcc_bridge.host import Host
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt import event_loop, notifications
from dcc_bridge.qt.labels import tr
from dcc_bridge.qt.question_dialog import QuestionDialog
from dcc_bridge.qt.url_dialog import UrlDialog
from dcc_bridge.threads.main_thread import MainThread

_LOST: Final = Unable(SURFACE_LOST, ends=True)
_FRAME: Final = qt.QSize(12, 48)  # what a window manager draws around a dialog, at most


class DialogPresenter(qt.QObject):
    """Draws questions as dialogs in the host. Made on the main thread."""

    def __init__(
        self,
        main: MainThread,
        host: Host,
        parent: Callable[[], qt.QWidget | None],
        *,
        key: str = "",
    ) -> None:
        """Prepare; nothing is drawn yet.

        Args:
            main: The way to the main thread.
            host: The application, for the dialogs' header.
            parent: Returns the application's main window, or None; called for each dialog.
            key: The application's key that calls `enter`, as its menus name it: "F8".
        """
        super().__init__()
        self._go = tr("Go to it ({key})", key=key) if key else tr("Go to it")
        self._host = host  # for the dialogs' header
        self._parent = parent  # gives the host's main window, or None; called for each dialog
        self._deletion = event_loop.DeferredDeletion()
        self._dialogs: dict[question_queue.Ticket, QuestionDialog] = {}
        # Of a question that is drawn, until the person goes to it or it goes.
        self._notices: dict[question_queue.Ticket, notifications.Notification] = {}
        self.questions = question_queue.QuestionQueue(self, main)
        self.notifications = notifications.Notifications(parent, self._deletion)
        self._app = qt.QCoreApplication.instance()
        if self._app is not None:  # a host may quit without a word to us
            self._app.aboutToQuit.connect(self._quit)

    @property
    def dialogs(self) -> list[QuestionDialog]:
        """The dialogs that a person can see: one at most. Main thread."""
        shown = self.questions.shown
        return [self._dialogs[shown]] if shown in self._dialogs else []

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question as soon as no other one is drawn. Any thread. It raises nothing.

        Args:
            question: Which one.
            settle: Called on the main thread with what came of it.

        Returns:
            What takes the question down, given the reason; on any thread, at any time.
        """
        return self.questions.show(question, settle)

    def chip(self, question: Question, where: str, answer_here: Click, cancel: Click) -> TakeDown:
        """Show a notification that a question waits elsewhere. Any thread. It raises nothing.

        Args:
            question: Which one.
            where: The name of that surface: "Claude Code".
            answer_here: Brings the question here.
            cancel: Ends it.

        Returns:
            What takes it away, on any thread.
        """
        acts = ((tr("Answer here"), answer_here), (tr("Cancel"), cancel))
        first_line = question.message.partition("\n")[0]
        text = tr("Waiting in {client}: {question}", client=where, question=first_line)
        return self._notify(lambda: self.notifications.add(text, *acts))

    def notice(self, text: str, undo: Click | None = None, call: str | None = None) -> TakeDown:
        """Show a notification that needs no answer. Any thread. It raises nothing.

        Args:
            text: What is said.
            undo: Takes back what happened, on the main thread; None where there is nothing.
            call: The id of the call that did it, or None.

        Returns:
            What takes it away; at any time, on any thread.
        """
        acts = () if undo is None else ((tr("Undo"), undo),)
        return self._notify(lambda: self.notifications.add_passing(text, *acts, call=call))

    def bring(self, question: Question) -> None:
        """Bring a question's dialog up before all others: the person asked for it. Main thread.

        It raises nothing.

        Args:
            question: Which one; nothing happens if it has ended.
        """
        self.questions.bring(question.id)
        for dialog in self.dialogs:
            if dialog.question.id == question.id:
                dialog.enter()

    def enter(self) -> bool:
        """Give the keyboard to the question that is drawn, if there is one. Main thread.

        For a command or key of the host's that leads to what agents want. It raises nothing.

        Returns:
            Whether there is one.
        """
        drawn = self.dialogs
        for dialog in drawn:
            dialog.enter()
        return bool(drawn)

    def draw(self, ticket: question_queue.Ticket) -> None:
        """Draw a question as a dialog, or show its dialog again. Main thread.

        It takes no keyboard: a notice and the task bar say that it is there. It raises nothing.

        Args:
            ticket: Which one.
        """
        parent = self._parent()
        alive = parent if parent is not None and qt.isValid(parent) else None
        if ticket not in self._dialogs:  # else it was set aside
            kind = QuestionDialog if ticket.question.page is None else UrlDialog
            dialog = kind(ticket.timely(), self._host, alive, partial(self._answer, ticket))
            self._dialogs[ticket] = dialog
            dialog.destroyed.connect(self._end_lost_questions)
            dialog.gate.entered.connect(partial(self._remove_notice, ticket))
        self._show(ticket, alive)

    def _show(self, ticket: question_queue.Ticket, host_window: qt.QWidget | None) -> None:
        dialog = self._dialogs[ticket]
        first_line = ticket.question.message.partition("\n")[0]
        text = tr("A question for you: {question}", question=first_line)
        # Before the dialog, which may so cover the notice, but not be covered by it.
        self._notices[ticket] = self.notifications.add(text, (self._go, dialog.enter))
        if host_window is not None:
            _place_beside_typing(dialog, host_window)
        dialog.show()
        qt.QApplication.alert(dialog)
        if host_window is not None:  # where a dialog has no place of its own in the task bar
            qt.QApplication.alert(host_window.window())

    def show_place(self, place: int, count: int) -> None:
        """Show which one of several questions is drawn. Main thread. It raises nothing.

        Args:
            place: Which one, from 1 on.
            count: How many there are.
        """
        for dialog in self.dialogs:
            dialog.show_place(place, count)

    def set_aside(self, ticket: question_queue.Ticket) -> None:
        """Hide a question's dialog, with all that is filled in. Main thread. It raises nothing.

        Args:
            ticket: Which one.
        """
        self._remove_notice(ticket)
        if ticket in self._dialogs and qt.isValid(self._dialogs[ticket]):
            self._dialogs[ticket].set_aside()

    def take_down(self, ticket: question_queue.Ticket) -> dict[str, Any] | None:
        """Delete a question's dialog. Main thread. It raises nothing.

        Args:
            ticket: Which one.

        Returns:
            What was filled in, by field; None where there was nothing to fill in.
        """
        dialog = self._dialogs.pop(ticket, None)
        self._remove_notice(ticket)
        if dialog is None or not qt.isValid(dialog):
            return None
        dialog.dismiss()
        self._deletion.add(dialog)
        return dialog.form.typed if dialog.form is not None else None

    def close(self) -> None:
        """End every question and delete every widget. Main thread. It raises nothing.

        Deleted at once: a widget of ours that the host's window still has when the interpreter is
        gone crashes the host. So it must not be called from a dialog's own frame.
        """
        app, self._app = self._app, None
        # A host's application may be gone by now, and its wrapper does not know.
        if app is not None and qt.QCoreApplication.instance() is not None:
            app.aboutToQuit.disconnect(self._quit)
        self._quit()
        self._deletion.flush()

    @qt.Slot()
    def _quit(self) -> None:
        """End every question. The host may quit from a key pressed in a dialog: delete it later."""
        self.questions.close()
        self.notifications.clear()

    def _remove_notice(self, ticket: question_queue.Ticket) -> None:
        notice = self._notices.pop(ticket, None)
        if notice is not None:
            self.notifications.remove(notice)

    def _notify(self, add: Callable[[], notifications.Notification]) -> TakeDown:
        shown: list[notifications.Notification] = []
        self.questions.post(lambda: shown.append(add()))
        return lambda reason: self.questions.post(lambda: self.notifications.remove(*shown))

    def _answer(self, ticket: question_queue.Ticket, heard: PresenterEvent) -> None:
        """Go on once the dialog's own frame is left: it can be deleted then."""
        self.questions.post(lambda: self.questions.end(ticket, heard))

    @qt.Slot()
    def _end_lost_questions(self) -> None:
        """A dialog is gone; if it went with the host's window, its question ends."""
        for ticket, dialog in self._dialogs.items():
            if not qt.isValid(dialog):
                self._answer(ticket, _LOST)


def _place_beside_typing(dialog: QuestionDialog, host_window: qt.QWidget) -> None:
    """Move a dialog away from the text in which the person types, if there is room beside it."""
    typed_in = qt.QApplication.focusWidget()
    if typed_in is None or not typed_in.testAttribute(qt.Qt.WidgetAttribute.WA_InputMethodEnabled):
        return
    text = qt.QRect(typed_in.mapToGlobal(qt.QPoint()), typed_in.size())
    place = qt.QRect(qt.QPoint(), dialog.size() + _FRAME)
    place.moveCenter(host_window.window().frameGeometry().center())  # where Qt puts it
    if not place.intersects(text):
        return
    free = host_window.screen().availableGeometry()
    corners = (
        qt.QPoint(place.left(), text.bottom() + 1),
        qt.QPoint(place.left(), text.top() - place.height()),
        qt.QPoint(text.right() + 1, place.top()),
        qt.QPoint(text.left() - place.width(), place.top()),
    )
    for corner in corners:
        if free.contains(qt.QRect(corner, place.size())):
            dialog.move(corner)
            return
