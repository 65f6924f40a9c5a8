"""The surface that draws questions as pages: each gets an address that is told to the caller.

Everything is called on any thread. The scene's name is read on the main thread, in the ui lane,
and there the address is announced.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future

from dcc_bridge.elicitation.question import Question, Settle, TakeDown, Unable
from dcc_bridge.elicitation.types import BRIDGE_CLOSED
from dcc_bridge.errors import BridgeClosed
from dcc_bridge.host import Host
from dcc_bridge.server.pages.kept import Pages, facts, place
from dcc_bridge.server.pages.page import Page
from dcc_bridge.server.pages.waiting import Chip

log = logging.getLogger(__name__)


class PagePresenter:
    """Draws questions as pages in whichever browser opens them first.

    A question ends at `Offers.latest`: a page cannot tell whether somebody is typing.

    Attributes:
        pages: Where they are; the bridge opens it.
    """

    def __init__(self, announce: Callable[[str], None]) -> None:
        """Begin without a page.

        Args:
            announce: Told the address of each question, on the main thread. It prints it, or
                opens a browser: we never do. Who reads the address first can answer, so it must
                not go where an agent reads.
        """
        self._announce = announce
        self.pages = Pages()

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Make a page for a question, and announce it soon.

        Args:
            question: What to draw.
            settle: Called once with what came of it, on the worker.

        Returns:
            What ends the page, given the reason.
        """
        host, main = self.pages.host, self.pages.main
        page = Page(question, settle)
        if main is None or host is None:
            settle(Unable())
            return page.end
        posted = main.post(lambda: self._admit(page, host))
        posted.add_done_callback(lambda done: _look(done, settle))
        return page.end

    def chip(
        self,
        question: Question,
        where: str,
        answer_here: Callable[[], None],
        cancel: Callable[[], None],
    ) -> TakeDown:
        """List a question that waits elsewhere on the page for that, and announce it if need be.

        Args:
            question: Which one.
            where: The name of that surface.
            answer_here: Brings the question here. Called on the worker.
            cancel: Ends it. Called on the worker.

        Returns:
            What takes it off the list.
        """
        host, main = self.pages.host, self.pages.main
        down = self.pages.waiting.add(Chip(question, where, answer_here, cancel))
        if main is not None and host is not None:
            main.post(lambda: self._tell_of_list(host)).add_done_callback(_log)
        return down

    def notice(
        self, text: str, undo: Callable[[], None] | None = None, call: str | None = None
    ) -> None:
        """Leave it to the log: there is no page on which it would be seen."""
        log.info("%s%s", text, f" (call {call})" if call else "")

    def _tell_of_list(self, host: Host) -> None:
        self.pages.waiting.facts = place(host)
        if address := self.pages.readdress():
            self._announce(address)

    def _admit(self, page: Page, host: Host) -> None:
        question = page.question
        if question is None:
            return
        if question.visit is not None and question.visit.ours and question.url is not None:
            self._announce(question.url)  # a page that is there already
            return
        page.facts = facts(host, question.call)
        self._announce(self.pages.add(page))


def _log(done: Future[None]) -> None:
    error = done.exception()
    if error is not None and not isinstance(error, BridgeClosed):
        log.error("the page of what waits could not be announced", exc_info=error)


def _look(done: Future[None], settle: Settle) -> None:
    error = done.exception()
    if isinstance(error, BridgeClosed):
        settle(Unable(BRIDGE_CLOSED, ends=True))
    elif error is not None:
        log.error("a question's page could not be announced", exc_info=error)
        settle(Unable())
