"""What the tests of the pages play on: a bridge whose questions are pages, and what one reads."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx2

from dcc_bridge.elicitation.call import Call, Client
from dcc_bridge.elicitation.question import Offers, PresenterEvent, Question
from dcc_bridge.elicitation.schema import Form, parse
from dcc_bridge.host import Host
from dcc_bridge.server.pages import PagePresenter
from tests.live import Live, live

CALL = Call(
    "delete_cameras", "Delete cameras", "destructive", Client("claude-code", "Claude Code", "2.1")
)
LONG = Offers(300.0, 300.0)


def form(required: Iterable[str] = (), **properties: dict[str, Any]) -> Form:
    """Make a form of its fields."""
    return parse({"type": "object", "properties": properties, "required": list(required)})


def consent(message: str = "Delete these cameras?", **more: Any) -> Question:
    """Make a question that one button answers."""
    lone = form(["confirm"], confirm={"type": "boolean", "title": "Delete 127 cameras"})
    made = {"message": message, "call": CALL, "form": lone, "consent": True, "offers": LONG}
    return Question(**{**made, **more})


def ask_name(message: str = "What is it called?", **more: Any) -> Question:
    """Make a question with one text to fill in."""
    name = form(["name"], name={"type": "string", "title": "Name", "minLength": 3})
    return Question(**{"message": message, "call": CALL, "form": name, "offers": LONG, **more})


class Asked:
    """A running bridge whose questions are pages.

    Attributes:
        urls: What was announced.
        heard: What was settled.
    """

    def __init__(self, running: Live, pages: PagePresenter, urls: list[str]) -> None:
        self.running = running
        self.pages = pages
        self.urls = urls
        self.heard: list[PresenterEvent] = []
        self._browsers: list[httpx2.Client] = []

    @property
    def origin(self) -> str:
        return self.running.bridge.url.removesuffix("/mcp")

    def ask(self, question: Question) -> str:
        """Show a question, and give its page's address."""
        self.down = self.pages.show(question, self.heard.append)
        before = len(self.urls)
        self.heard.clear()
        self.running.until(lambda: len(self.urls) > before)
        return self.urls[-1]

    def serve(self, act: Callable[[], object]) -> None:
        """Let a browser do something on a thread of its own, and serve the main thread."""
        done: Future[object] = Future()
        threading.Thread(target=lambda: done.set_result(act())).start()
        self.running.until(done.done)

    def browser(self) -> httpx2.Client:
        """Open a browser of its own, as far as HTTP goes."""
        made = httpx2.Client(timeout=10, follow_redirects=True, verify=False)
        self._browsers.append(made)
        return made

    def close_browsers(self) -> None:
        """Close them."""
        while self._browsers:
            self._browsers.pop().close()


@contextmanager
def asked(runtime: Path, *fns: Any, host: Host | None = None, **settings: Any) -> Iterator[Asked]:
    """Run a bridge whose questions are pages."""
    urls: list[str] = []
    pages = PagePresenter(urls.append)
    with live(runtime, *fns, host=host, presenter=pages, **settings) as running:
        stage = Asked(running, pages, urls)
        yield stage
        stage.close_browsers()


class Seen(HTMLParser):
    """A page as a browser takes it in.

    Attributes:
        tags: The elements, with their attributes, in their order.
        facts: What its header says.
        text: All of its text, below the header.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.facts: list[tuple[str, str]] = []
        self.text = ""
        self._in: list[str] = []
        self._said: list[str] = []
        self.feed(html)
        captions, values = self._said[::2], self._said[1::2]
        self.facts = list(zip(captions, values, strict=True))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in ("meta", "input", "link"):
            self._in.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._in.pop() == tag

    def handle_data(self, data: str) -> None:
        if "header" in self._in:
            self._said.append(data)
        elif "style" not in self._in:
            self.text += data + " "

    def all(self, tag: str) -> list[dict[str, str]]:
        """Give the attributes of each element of that name."""
        return [attributes for name, attributes in self.tags if name == tag]

    def one(self, **wanted: str) -> dict[str, str]:
        """Give the attributes of the one element that has those."""
        found = [a for _, a in self.tags if all(a.get(k) == v for k, v in wanted.items())]
        assert len(found) == 1, found
        return found[0]


def raw(port: int, path: str) -> int:
    """Send one request as it is, and give the status."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        sock.sendall(head.encode())
        return int(sock.recv(64).split()[1])
