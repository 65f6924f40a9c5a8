"""What a browser takes in of a page, and a request as raw as it can be."""

from __future__ import annotations

import socket
from html.parser import HTMLParser


class Seen(HTMLParser):
    """A page as a browser takes it in."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []  # with their attributes, in their order
        self.text = ""  # all of it, below the header
        self._in: list[str] = []
        self._said: list[str] = []
        self.feed(html)
        captions, values = self._said[::2], self._said[1::2]
        self.facts = list(zip(captions, values, strict=True))  # what its header says

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
        return [attributes for name, attributes in self.tags if name == tag]

    def one(self, **wanted: str) -> dict[str, str]:
        found = [a for _, a in self.tags if all(a.get(k) == v for k, v in wanted.items())]
        assert len(found) == 1, found
        return found[0]


def raw(port: int, path: str) -> int:
    """Send one request as it is, and give the status."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as sock:
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        sock.sendall(head.encode())
        return int(sock.recv(64).split()[1])
