"""The pages that there are, and where they are served.

Made before the server is, and known to all who make pages. Any thread.
"""

from __future__ import annotations

import threading
from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.question import Question
from dcc_bridge.host import Host
from dcc_bridge.server.pages.page import Facts, Page
from dcc_bridge.server.pages.waiting import Waiting
from dcc_bridge.threads import MainThread

PREFIX: Final = "/ask/"
"""Where the pages are; what follows is a page's id, its only credential."""
SIGNED_IN: Final = "/signed-in"
"""Where providers send a person back to; what they bring is its only credential."""
_MOST_ENDED: Final = 64
"""Pages of ended questions that can still say what became of them."""
_MOST: Final = 100


class Pages:
    """Every page that somebody may still open.

    Attributes:
        origin: Of the server: ``http://127.0.0.1:1234``; "" until it is open.
        host: Whose questions they are.
        main: The way to its main thread.
        waiting: What waits at clients, on a page of its own.
    """

    def __init__(self) -> None:
        """Begin without a server; `open` tells where it is."""
        self._lock = threading.Lock()
        self._pages: dict[str, Page] = {}
        self.origin = ""
        self.host: Host | None = None
        self.main: MainThread | None = None
        self.waiting = Waiting()

    def open(self, origin: str, host: Host, main: MainThread) -> None:
        """Say where the pages are served. The bridge does, before anything can be asked.

        Args:
            origin: Of the server.
            host: For the top of each page.
            main: The way to the main thread.
        """
        self.origin, self.host, self.main = origin, host, main

    def add(self, page: Page) -> str:
        """Keep a page, and give its address."""
        with self._lock:
            ended = [id for id, one in self._pages.items() if one.question is None]
            for id in ended[: max(0, len(ended) - _MOST_ENDED)]:
                del self._pages[id]
            self._pages[page.id] = page
        return f"{self.origin}{PREFIX}{page.id}"

    def find(self, id: str) -> Page | None:
        """Give the page of that id, or None where there is none, or none any more."""
        with self._lock:
            return self._pages.get(id)

    def readdress(self) -> str:
        """Give the address of the page of what waits, where it has to be told; or ""."""
        id = self.waiting.readdress()
        return f"{self.origin}{PREFIX}{id}" if id else ""

    @property
    def here(self) -> list[tuple[str, Question]]:
        """What is to be answered here: paths and questions, the oldest first."""
        with self._lock:
            pages = [page for page in self._pages.values() if page.listed]
        asked = [(page, page.question) for page in pages]
        return [(PREFIX + page.id, one) for page, one in asked if one is not None]

    @property
    def all(self) -> list[Page]:
        """Every page, the oldest first."""
        with self._lock:
            return list(self._pages.values())

    @property
    def place(self) -> str:
        """The application, as its users call it."""
        return application(self.host) if self.host is not None else "dcc_bridge"


def facts(host: Host, call: Call) -> Facts:
    """Say who asks, as a message cannot: captions of ours, and a line beside each. Main thread."""
    _, *rest = asker(host, call)
    return (*place(host), *rest)


def place(host: Host) -> Facts:
    """Say where this is. Main thread."""
    scene = plain.line(host.scene(), _MOST)
    return (("Application", application(host)), ("Scene", scene))


def asker(host: Host, call: Call) -> Facts:
    """Say the same without the scene, which only the main thread can tell. Any thread."""
    client = call.client
    by = plain.line(client.label, _MOST) if client else f"{application(host)} itself"
    told = [("Application", application(host)), ("Asked by", by)]
    if client and client.name:
        itself = plain.line(f"{client.name} {client.version}".strip(), _MOST)
        told.append(("Calls itself", f"{itself} (self-reported)"))
    return (*told, ("Skill", plain.line(call.title, _MOST)))


def application(host: Host) -> str:
    """Name an application and its version."""
    return plain.line(f"{host.name} {host.version}".strip(), _MOST)
