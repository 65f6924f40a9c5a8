"""The surface that draws questions in a Qt host, one at a time.

The broker calls `show`, `chip` and `notice` on any thread; these only post to the ui lane of the
main thread. There the presenter's `QuestionQueue` calls `draw`, `set_aside` and `take_down`. Every
widget belongs to the main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from dcc_bridge.elicitation import question_queue
from dcc_bridge.elicitation.question import (
    Draft,
    PresenterEvent,
    Question,
    Settle,
    TakeDown,
    Unable,
)
from dcc_bridge.elicitation.question_queue import Click
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.types import SURFACE_LOST
from dcc_bridge.host import Host
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt import event_loop, notifications
from dcc_bridge.qt.desktop_notice import DesktopNotice
from dcc_bridge.qt.dialog_place import DialogPlace
from dcc_bridge.qt.labels import tr
from dcc_bridge.qt.question_dialog import QuestionDialog
from dcc_bridge.qt.url_dialog import UrlDialog
from dcc_bridge.threads.main_thread import MainThread

_LOST: Final = Unable(SURFACE_LOST, cancels=True)


class DialogPresenter(qt.QObject):
    """Draws questions as dialogs in the host. Made on the main thread.

    Attributes:
        questions: The questions that are shown one at a time.
        notifications: The notifications in the corner of the host's window.
        is_shown_elsewhere: Returns whether an edit, by the id of its call, is shown to the person
            in another place, and so needs no notification.
    """

    def __init__(
        self,
        main: MainThread,
        host: Host,
        parent: Callable[[], qt.QWidget | None],
        *,
        key: str = "",
    ) -> None:
        """Prepare the presenter; nothing is drawn yet.

        Args:
            main: The way to the main thread.
            host: The application, for the dialogs' header.
            parent: Returns the application's main window, or None; called for each dialog.
            key: The application's key that calls `enter`, as its menus name it: "F8".
        """
        super().__init__()
        self._go_caption = tr("Go to it")
        if key:
            self._go_caption = tr("Go to it ({key})", key=key)
        self._host = host
        self._parent = parent
        self._deletion = event_loop.DeferredDeletion()
        self._dialogs: dict[question_queue.Ticket, QuestionDialog] = {}
        self._place = DialogPlace()
        self._desktop_notice = DesktopNotice()
        # The notification of the drawn question, until the person goes to the question.
        self._notices: dict[question_queue.Ticket, notifications.Notification] = {}
        self.questions = question_queue.QuestionQueue(self, main)
        self.notifications = notifications.Notifications(parent, self._deletion)
        self.is_shown_elsewhere: Callable[[str], bool] = lambda call: False
        self._app = qt.QCoreApplication.instance()
        if self._app is not None:  # a host may quit without closing the bridge
            self._app.aboutToQuit.connect(self._quit)

    @property
    def dialogs(self) -> list[QuestionDialog]:
        """The dialogs that a person can see: one at most. Main thread."""
        shown = self.questions.shown
        if shown is None or shown not in self._dialogs:
            return []
        return [self._dialogs[shown]]

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question as soon as no other one is drawn. Any thread. It raises nothing.

        Args:
            question: The question to draw.
            settle: Called on the main thread with the answer, or with the reason why there is none.

        Returns:
            A function that takes the question down, given the reason; on any thread, at any time.
        """
        return self.questions.show(question, settle)

    def chip(self, question: Question, where: str, answer_here: Click, cancel: Click) -> TakeDown:
        """Show a notification that a question waits elsewhere. Any thread. It raises nothing.

        Args:
            question: The question that waits.
            where: The name of the surface that draws the question: "Claude Code".
            answer_here: Brings the question to the host.
            cancel: Ends the question.

        Returns:
            A function that takes the notification away, on any thread.
        """
        acts = ((tr("Answer here"), answer_here), (tr("Cancel"), cancel))
        first_line = question.message.partition("\n")[0]
        text = tr("Waiting in {client}: {question}", client=where, question=first_line)
        if question.late == "expired":
            text = tr("Expired: {question}", question=first_line)
        return self._notify(lambda: self.notifications.add(text, *acts))

    def notice(self, text: str, undo: Click | None = None, call: str | None = None) -> TakeDown:
        """Show a notification that needs no answer. Any thread. It raises nothing.

        Args:
            text: The text of the notification.
            undo: Takes the edit back, on the main thread; None where there is nothing to undo.
            call: The id of the call that the text is about, or None.

        Returns:
            A function that takes the notification away; at any time, on any thread.
        """
        acts: tuple[notifications.NoticeButton, ...] = ()
        if undo is not None:
            acts = ((tr("Undo"), undo),)

        def add() -> notifications.Notification | None:
            if undo is not None and call is not None and self.is_shown_elsewhere(call):
                return None
            return self.notifications.add_passing(text, *acts, call=call)

        return self._notify(add)

    def bring(self, question: Question) -> None:
        """Bring a question's dialog up before all others: the person asked for it. Main thread.

        It raises nothing.

        Args:
            question: The question; nothing happens if it has ended.
        """
        self.questions.bring(question.id)
        for dialog in self.dialogs:
            if dialog.question.id == question.id:
                dialog.enter()

    def enter(self) -> bool:
        """Move the keyboard to the question that is drawn, if there is one. Main thread.

        For a command or key of the host's that leads to the questions of agents. It raises nothing.

        Returns:
            Whether a question is drawn.
        """
        drawn = self.dialogs
        for dialog in drawn:
            dialog.enter()
        return bool(drawn)

    def draw(self, ticket: question_queue.Ticket) -> None:
        """Draw a question as a dialog, or show its dialog again. Main thread.

        The dialog takes no keyboard: a notification and the task bar say that it is there. It
        raises nothing.

        Args:
            ticket: The question's place in the queue.
        """
        host_window = self._parent()
        if host_window is not None and not qt.isValid(host_window):
            host_window = None
        if ticket not in self._dialogs:  # else the dialog was set aside
            self._dialogs[ticket] = self._make_dialog(ticket, host_window)
        self._show(ticket, host_window)

    def _make_dialog(
        self, ticket: question_queue.Ticket, host_window: qt.QWidget | None
    ) -> QuestionDialog:
        question = ticket.timely()
        answered = partial(self._answer, ticket)
        dialog: QuestionDialog
        if ticket.question.page is None:
            dialog = QuestionDialog(question, self._host, host_window, answered)
        else:
            dialog = UrlDialog(question, self._host, host_window, answered)
        dialog.destroyed.connect(self._end_lost_questions)
        dialog.gate.entered.connect(partial(self._remove_notice, ticket))
        dialog.fitted.connect(self._hold_in_place)
        return dialog

    def _show(self, ticket: question_queue.Ticket, host_window: qt.QWidget | None) -> None:
        dialog = self._dialogs[ticket]
        first_line = ticket.question.message.partition("\n")[0]
        text = tr("A question for you: {question}", question=first_line)
        go = (self._go_caption, dialog.enter)
        # Before the dialog, so that the notification cannot cover the dialog.
        self._notices[ticket] = self.notifications.add(text, go)
        if host_window is not None:
            self._place.put(dialog, host_window)
        dialog.show()
        if ticket.question.offers.is_wanted:
            dialog.enter()
        self._desktop_notice.show(
            dialog.windowTitle(), safe_line(first_line), dialog.windowIcon(), dialog.enter
        )
        qt.QApplication.alert(dialog)
        if host_window is not None:  # on some desktops the task bar does not list the dialog
            qt.QApplication.alert(host_window.window())

    def show_place(self, place: int, count: int) -> None:
        """Show which one of several questions is drawn. Main thread. It raises nothing.

        Args:
            place: The place of the question, from 1 on.
            count: The number of questions.
        """
        for dialog in self.dialogs:
            dialog.show_place(place, count)

    def set_aside(self, ticket: question_queue.Ticket) -> None:
        """Hide a question's dialog, with all that is filled in. Main thread. It raises nothing.

        Args:
            ticket: The question's place in the queue.
        """
        self._remove_notice(ticket)
        dialog = self._dialogs.get(ticket)
        if dialog is not None and qt.isValid(dialog):
            self._place.note(dialog)
            dialog.set_aside()

    def take_down(self, ticket: question_queue.Ticket) -> Draft | None:
        """Delete a question's dialog. Main thread. It raises nothing.

        Args:
            ticket: The question's place in the queue.

        Returns:
            The entries of the person; None where the question has no dialog.
        """
        dialog = self._dialogs.pop(ticket, None)
        self._remove_notice(ticket)
        if dialog is None or not qt.isValid(dialog):
            return None
        self._place.note(dialog)
        dialog.dismiss()
        self._deletion.add(dialog)
        return dialog.draft

    def close(self) -> None:
        """End every question and delete every widget. Main thread. It raises nothing.

        The widgets are deleted at once: a widget that outlives the interpreter in the host's window
        crashes the host. So this must not be called from a dialog's own frame.
        """
        app = self._app
        self._app = None
        # The host's application may be deleted by now, which `app` does not show.
        if app is not None and qt.QCoreApplication.instance() is not None:
            app.aboutToQuit.disconnect(self._quit)
        self._quit()
        self._deletion.flush()

    @qt.Slot()
    def _quit(self) -> None:
        """End every question. A dialog is deleted later: the key that quits may be on its stack."""
        self.questions.close()
        self.notifications.clear()
        self._desktop_notice.clear()

    def _remove_notice(self, ticket: question_queue.Ticket) -> None:
        notice = self._notices.pop(ticket, None)
        if notice is not None:
            self.notifications.remove(notice)
            self._desktop_notice.clear()

    def _notify(self, add: Callable[[], notifications.Notification | None]) -> TakeDown:
        """Show a notification from any thread; return the function that takes it away."""
        shown: list[notifications.Notification] = []

        def show() -> None:
            notification = add()
            if notification is not None:
                shown.append(notification)

        self.questions.post(show)
        return lambda reason: self.questions.post(lambda: self.notifications.remove(*shown))

    def _answer(self, ticket: question_queue.Ticket, event: PresenterEvent) -> None:
        """End a question once its dialog's own frame is left: the dialog can be deleted then."""
        self.questions.post(lambda: self.questions.end(ticket, event))

    @qt.Slot()
    def _hold_in_place(self) -> None:
        """Keep the dialog that has grown on its screen."""
        for dialog in self.dialogs:
            self._place.hold(dialog)

    @qt.Slot()
    def _end_lost_questions(self) -> None:
        """End the questions whose dialogs were deleted with the host's window."""
        for ticket, dialog in self._dialogs.items():
            if not qt.isValid(dialog):
                self._answer(ticket, _LOST)
