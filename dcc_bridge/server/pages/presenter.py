"""The surface that draws questions as pages: each gets an address that is told to the caller.

Everything is called on any thread. The scene's name is read on the main thread, in the ui lane,
and there the address is announced.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.question import Question, Settle, TakeDown, Unable
from dcc_bridge.elicitation.types import BRIDGE_CLOSED
from dcc_bridge.errors import BridgeClosed
from dcc_bridge.host import Host
from dcc_bridge.server.pages.page import Facts, Page
from dcc_bridge.threads import MainThread

log = logging.getLogger(__name__)
PREFIX: Final = "/ask/"
"""Where the pages are; what follows is a page's id, its only credential."""
_MOST_ENDED: Final = 64
"""Pages of ended questions that can still say what became of them."""
_MOST: Final = 100


class PagePresenter:
    """Draws questions as pages in whichever browser opens them first.

    A question ends at `Offers.latest`: a page cannot tell whether somebody is typing.
    """

    def __init__(self, announce: Callable[[str], None]) -> None:
        """Begin without a server; `open` tells where it is.

        Args:
            announce: Told the address of each question, on the main thread. It prints it, or
                opens a browser: we never do. Who reads the address first can answer, so it must
                not go where an agent reads.
        """
        self._announce = announce
        self._lock = threading.Lock()
        self._pages: dict[str, Page] = {}
        self._origin = ""
        self._host: Host | None = None
        self._main: MainThread | None = None

    def open(self, origin: str, host: Host, main: MainThread) -> None:
        """Say where the pages are served. The bridge does, before anything can be asked.

        Args:
            origin: Of the server: ``http://127.0.0.1:1234``.
            host: For the top of each page.
            main: The way to the main thread.
        """
        self._origin, self._host, self._main = origin, host, main

    def show(self, question: Question, settle: Settle) -> TakeDown:
        """Make a page for a question, and announce it soon.

        Args:
            question: What to draw.
            settle: Called once with what came of it, on the worker.

        Returns:
            What ends the page, given the reason.
        """
        page = Page(question, settle)
        if self._main is None or self._host is None or question.url is not None:
            settle(Unable())
            return page.end
        host = self._host
        posted = self._main.post(lambda: self._admit(page, host))
        posted.add_done_callback(lambda done: _look(done, settle))
        return page.end

    def chip(
        self,
        question: Question,
        where: str,
        answer_here: Callable[[], None],
        cancel: Callable[[], None],
    ) -> TakeDown:
        """Do nothing: an address for each question that waits elsewhere would be noise."""
        return lambda reason: None

    def notice(self, text: str, undo: Callable[[], None] | None = None) -> None:
        """Leave it to the log: there is no page on which it would be seen."""
        log.info("%s", text)

    def find(self, id: str) -> Page | None:
        """Give the page of that id, or None where there is none, or none any more."""
        with self._lock:
            return self._pages.get(id)

    @property
    def place(self) -> str:
        """The application, as its users call it."""
        return _application(self._host) if self._host is not None else "dcc_bridge"

    def _admit(self, page: Page, host: Host) -> None:
        question = page.question
        if question is None:
            return
        page.facts = facts(host, question.call)
        with self._lock:
            ended = [id for id, one in self._pages.items() if one.question is None]
            for id in ended[: max(0, len(ended) - _MOST_ENDED)]:
                del self._pages[id]
            self._pages[page.id] = page
        self._announce(f"{self._origin}{PREFIX}{page.id}")


def facts(host: Host, call: Call) -> Facts:
    """Say who asks, as a message cannot: captions of ours, and a line beside each. Main thread."""
    client = call.client
    scene = plain.line(host.scene(), _MOST)
    asker = plain.line(client.label, _MOST) if client else f"{_application(host)} itself"
    told = [("Application", _application(host)), ("Scene", scene), ("Asked by", asker)]
    if client and client.name:
        itself = plain.line(f"{client.name} {client.version}".strip(), _MOST)
        told.append(("Calls itself", f"{itself} (self-reported)"))
    return (*told, ("Skill", plain.line(call.title, _MOST)))


def _application(host: Host) -> str:
    return plain.line(f"{host.name} {host.version}".strip(), _MOST)


def _look(done: Future[None], settle: Settle) -> None:
    error = done.exception()
    if isinstance(error, BridgeClosed):
        settle(Unable(BRIDGE_CLOSED, ends=True))
    elif error is not None:
        log.error("a question's page could not be announced", exc_info=error)
        settle(Unable())
