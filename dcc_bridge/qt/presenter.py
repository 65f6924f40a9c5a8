"""The surface that draws questions in a Qt host, as the broker reaches it.

What the broker calls may be called on any thread: it only posts to the ui lane. Every widget
belongs to the main thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future

from dcc_bridge.elicitation.question import Question, Settle, TakeDown
from dcc_bridge.errors import BridgeClosed
from dcc_bridge.host import Host
from dcc_bridge.qt.bin import Bin
from dcc_bridge.qt.binding import QCoreApplication, QObject, QWidget, Slot
from dcc_bridge.qt.corner import Chip, Corner
from dcc_bridge.qt.dialog import QuestionDialog
from dcc_bridge.qt.turns import CLOSED, Ticket, Turns
from dcc_bridge.qt.words import tr
from dcc_bridge.threads import MainThread

log = logging.getLogger(__name__)


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
        chip = self._corner.say_in_passing(text, *acts)
        if call is not None:
            chip.name_call(call)
