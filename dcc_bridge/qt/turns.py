"""One question at a time: whose turn it is, and how it ends.

A question waits, is drawn when it is its turn, and ends by an answer, by being withdrawn, or with
everything else. Main thread.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from dcc_bridge.elicitation.question import PresenterEvent, Question, Settle, Unable
from dcc_bridge.elicitation.types import BRIDGE_CLOSED, CANCELLED
from dcc_bridge.host import Host
from dcc_bridge.qt.bin import Bin
from dcc_bridge.qt.binding import QApplication, QObject, QWidget, Slot, isValid
from dcc_bridge.qt.dialog import QuestionDialog
from dcc_bridge.qt.url_dialog import UrlDialog

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

    def _answer(self, ticket: Ticket, heard: PresenterEvent) -> None:
        """Go on once the dialog's own frame is left: it can be deleted then."""
        self._post(lambda: self._end(ticket, heard))

    def _end(self, ticket: Ticket, heard: PresenterEvent) -> None:
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
