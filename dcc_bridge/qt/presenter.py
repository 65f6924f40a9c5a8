"""The surface that draws questions in a Qt host, one at a time, as the broker reaches it.

What the broker calls may be called on any thread: it only posts to the ui lane. Every widget
belongs to the main thread.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from dcc_bridge.elicitation.question import Heard, Question, Settle, TakeDown, Unable
from dcc_bridge.elicitation.types import BRIDGE_CLOSED, CANCELLED
from dcc_bridge.errors import BridgeClosed
from dcc_bridge.host import Host
from dcc_bridge.qt.binding import QApplication, QCoreApplication, QObject, QWidget, Slot, isValid
from dcc_bridge.qt.event_loop import Bin
from dcc_bridge.qt.labels import said, tr
from dcc_bridge.qt.notifications import Chip, Corner
from dcc_bridge.qt.question_dialog import QuestionDialog
from dcc_bridge.qt.url_dialog import UrlDialog
from dcc_bridge.threads import MainThread

log = logging.getLogger(__name__)

CLOSED: Final = Unable(BRIDGE_CLOSED, ends=True)
_LOST: Final = Unable(CANCELLED, ends=True)
Post = Callable[[Callable[[], None]], None]


@dataclass(eq=False, slots=True)
class Ticket:
    """A question that is drawn, or waits for its turn.

    Attributes:
        question: Which one.
        settle: Takes what is heard.
        dialog: Where it is drawn, while it is.
        asked: When it was asked.
    """

    question: Question
    settle: Settle
    dialog: QuestionDialog | None = None
    asked: float = field(default_factory=time.monotonic)

    def timely(self) -> Question:
        """Give the question as its turn comes: some of its time is gone."""
        offers = self.question.offers
        latest = max(0.0, offers.latest - (time.monotonic() - self.asked))
        return replace(self.question, offers=replace(offers, latest=latest))


class Turns(QObject):
    """The dialog that is shown, and the questions that wait for it to go."""

    def __init__(
        self, post: Post, host: Host, parent: Callable[[], QWidget | None], thrown: Bin
    ) -> None:
        """Begin with nothing.

        Args:
            post: Calls on the main thread, soon.
            host: For the dialogs' header.
            parent: Gives the host's main window, or None.
            thrown: Takes the dialogs that are over.
        """
        super().__init__()
        self._post = post
        self._host = host
        self._parent = parent
        self._bin = thrown
        self._queue: deque[Ticket] = deque()
        self._shown: Ticket | None = None
        self._closed = False

    @property
    def shown(self) -> QuestionDialog | None:
        """The dialog that a person can see."""
        return self._shown.dialog if self._shown is not None else None

    @property
    def waiting(self) -> int:
        """How many questions wait behind the one that is shown."""
        return len(self._queue)

    def admit(self, ticket: Ticket) -> None:
        """Let a question wait for its turn."""
        if self._closed:
            ticket.settle(CLOSED)
        else:
            self._queue.append(ticket)
            self._show_next()

    def bring(self, question: str) -> None:
        """Show the question of that id before all others; the one that is shown waits meanwhile.

        What was filled in there stays filled in.
        """
        ticket = next((one for one in self._queue if one.question.id == question), None)
        if ticket is not None:
            self._queue.remove(ticket)
            self._set_aside()
            self._queue.appendleft(ticket)
            self._show_next()
        if self.shown is not None and self.shown.question.id == question:
            self.shown.raise_()
            self.shown.activateWindow()

    def withdraw(self, ticket: Ticket, reason: str) -> None:
        """Take a question back, without an answer."""
        if ticket in self._queue:
            self._queue.remove(ticket)
            self._put_away(ticket)
        elif ticket is self._shown:
            log.info("the question %s was taken down: %s", ticket.question.id, reason)
            self._put_away(ticket)
            self._show_next()

    def close(self) -> None:
        """End every question; later ones end at once."""
        self._closed = True
        ending = [*([self._shown] if self._shown else []), *self._queue]
        self._queue.clear()
        for ticket in ending:
            self._put_away(ticket)
            ticket.settle(CLOSED)

    def _show_next(self) -> None:
        while self._shown is None and self._queue:
            self._shown = ticket = self._queue.popleft()
            try:
                self._draw(ticket)
            except Exception:  # the host's own calls run here, and the question must end
                log.exception("the question %s could not be drawn", ticket.question.id)
                self._end(ticket, Unable())

    def _set_aside(self) -> None:
        ticket, self._shown = self._shown, None
        if ticket is not None:
            self._queue.appendleft(ticket)
            if ticket.dialog is not None and isValid(ticket.dialog):
                ticket.dialog.set_aside()

    def _draw(self, ticket: Ticket) -> None:
        if ticket.dialog is not None:  # it was set aside
            ticket.dialog.show()
            return
        parent = self._parent()
        alive = parent if parent is not None and isValid(parent) else None
        kind = QuestionDialog if ticket.question.url is None else UrlDialog
        ticket.dialog = dialog = kind(
            ticket.timely(), self._host, alive, lambda heard: self._answer(ticket, heard)
        )
        dialog.destroyed.connect(self._look_for_lost)
        dialog.show()
        QApplication.alert(dialog)

    def _answer(self, ticket: Ticket, heard: Heard) -> None:
        """Go on once the dialog's own frame is left: it can be deleted then."""
        self._post(lambda: self._end(ticket, heard))

    def _end(self, ticket: Ticket, heard: Heard) -> None:
        if ticket in self._queue:  # its time was up while it was set aside
            self._queue.remove(ticket)
        elif ticket is not self._shown:
            return
        self._put_away(ticket)
        ticket.settle(heard)
        self._show_next()

    def _put_away(self, ticket: Ticket) -> None:
        dialog, ticket.dialog = ticket.dialog, None
        if ticket is self._shown:
            self._shown = None
        if dialog is not None and isValid(dialog):
            dialog.dismiss()
            self._bin.throw(dialog)

    @Slot()
    def _look_for_lost(self) -> None:
        """A dialog is gone; if it went with the host's window, its question ends."""
        for ticket in [*([self._shown] if self._shown else []), *self._queue]:
            if ticket.dialog is not None and not isValid(ticket.dialog):
                self._post(partial(self._end, ticket, _LOST))


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
        self._bin = Bin()
        self._turns = Turns(self._post, host, parent, self._bin)
        self._corner = Corner(parent, self._bin)
        self._app = QCoreApplication.instance()
        if self._app is not None:  # a host may quit without a word to us
            self._app.aboutToQuit.connect(self._quit)

    @property
    def dialogs(self) -> list[QuestionDialog]:
        """The dialogs that a person can see: one at most. Main thread."""
        shown = self._turns.shown
        return [shown] if shown is not None else []

    @property
    def waiting(self) -> int:
        """How many questions wait behind the one that is shown. Main thread."""
        return self._turns.waiting

    @property
    def chips(self) -> list[Chip]:
        """What is said in the corner. Main thread."""
        return self._corner.chips

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Draw a question as soon as no other one is drawn. Any thread.

        Args:
            question: What to draw.
            settle: Called once with what came of it, on the main thread.

        Returns:
            What takes the question down, given the reason; on any thread, at any time.
        """
        ticket = Ticket(question, settle)
        self._post(lambda: self._turns.admit(ticket), lambda: settle(CLOSED))
        return lambda reason: self._post(lambda: self._turns.withdraw(ticket, reason))

    def chip(
        self,
        question: Question,
        where: str,
        answer_here: Callable[[], None],
        cancel: Callable[[], None],
    ) -> TakeDown:
        """Say quietly that a question waits on another surface. Any thread.

        Args:
            question: Which one.
            where: The name of that surface.
            answer_here: Brings the question here. Called on the main thread.
            cancel: Ends it. Called on the main thread.

        Returns:
            What takes the chip away; on any thread, at any time.
        """
        shown: list[Chip] = []
        asked, _, _ = question.message.partition("\n")

        def say() -> None:
            text = tr("Waiting in {client}: {question}", client=where, question=asked)
            acts = ((tr("Answer here"), answer_here), (tr("Cancel"), cancel))
            shown.append(self._corner.say(text, *acts))

        self._post(say)
        return lambda reason: self._post(lambda: self._take_away(shown))

    def bring(self, question: Question) -> None:
        """Bring a question's dialog up before all others: the person asked for it. Main thread."""
        self._turns.bring(question.id)

    def notice(
        self, text: str, undo: Callable[[], None] | None = None, call: str | None = None
    ) -> None:
        """Say something in passing that needs no answer. Any thread.

        Args:
            text: What happened.
            undo: Takes it back, where that can be offered. Called on the main thread.
            call: The id of the call that did it, for who wants to look it up; or None.
        """
        self._post(lambda: self._say_in_passing(text, undo, call))

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
        self._bin.empty()

    @Slot()
    def _quit(self) -> None:
        """End every question. The host may quit from a key pressed in a dialog: delete it later."""
        self._turns.close()
        self._corner.clear()

    def _post(self, fn: Callable[[], None], refused: Callable[[], None] = lambda: None) -> None:
        def look(future: Future[None]) -> None:
            error = future.exception()
            if isinstance(error, BridgeClosed):
                refused()
            elif error is not None:
                log.error("what the host should have shown failed", exc_info=error)

        self._main.post(fn).add_done_callback(look)

    def _take_away(self, shown: list[Chip]) -> None:
        for chip in shown:
            self._corner.remove(chip)

    def _say_in_passing(self, text: str, undo: Callable[[], None] | None, call: str | None) -> None:
        acts = () if undo is None else ((tr("Undo"), undo),)
        chip = self._corner.say_in_passing(said(text), *acts)
        if call is not None:
            chip.name_call(call)
