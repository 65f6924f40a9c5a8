"""Requests of web pages and of strangers, and requests that say two things (rows 1, 2, 6, 7).

The official suite's dns-rebinding scenarios run in ``tests/conformance``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import skill
from tests.live import Live
from tests.threats.raw import META, Headers, Raw, Response, request

HOSTS = [
    *("127.0.0.1:{port}", "localhost:{port}", "evil.example.com", "evil.example.com:{port}"),
    *("127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example.com:{port}", "[::1]:{port}"),
]
ORIGINS = [
    *(None, "http://127.0.0.1:{port}", "http://localhost:{port}", "null"),
    *("https://127.0.0.1:{port}", "http://localhost:3000", "http://evil.example.com"),
    "http://127.0.0.1:{port}.evil.example.com",
]
OTHERS = [
    *(f"http://localhost:{port}" for port in (80, 3000, 4200, 5000, 5173, 8000, 8080, 8888)),
    *(f"http://127.0.0.1:{port}" for port in (3000, 8080)),
    *("http://localhost", "https://localhost", "http://[::1]:3000", "http://0.0.0.0:3000"),
    *("null", "file://", "chrome-extension://abc", "vscode-webview://abc", "about:blank", "*"),
]
TYPES = [
    *(None, "", "text/plain", "text/plain; charset=application/json", "text/html", "text/json"),
    *("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml"),
    *("application/octet-stream", "application/ld+json", "json", "*/*", "application/javascript"),
    "text/plain, application/json",
]
NAMES = ["count", "Edit", "edit2", "../edit", "", None, "éd", "edit,edit", "e\tdit", "tools/call"]
METHODS = ["tools/list", "ping", "Tools/Call", "tools/call2", "", None, "initialize", "x"]
VERSIONS = ["2025-11-25", "2025-06-18", "2024-11-05", "1.0", "", "2026-07-29"]


class Attacked:
    """A bridge with one tool, which counts how often it ran."""

    def __init__(self, folder: Path) -> None:
        @skill(risk="edit")
        def edit(name: str = "") -> str:
            """Edit."""
            self.ran += 1
            return "edited"

        self.ran = 0
        self.running = Live(folder, edit)
        self.raw = Raw.to(self.running)

    def send(self, requests: Iterable[tuple[Headers, bytes]]) -> list[Response]:
        """Send requests, each on a connection of its own."""
        return self.running.beside(lambda: [self.raw.send(body, head) for head, body in requests])

    def statuses(self, heads: Iterable[Headers]) -> list[int]:
        """Send a good call again and again, with something else in its head each time."""
        return [response.status for response in self.send((head, GOOD_BODY) for head in heads)]


@pytest.fixture
def attacked(tmp_path: Path) -> Iterator[Attacked]:
    bridge = Attacked(tmp_path)
    yield bridge
    bridge.running.stop()


def body(method: str = "tools/call", **params: Any) -> bytes:
    return request(method, {"name": "edit", "arguments": {}, **params})[1]


GOOD, GOOD_BODY = request("tools/call", {"name": "edit", "arguments": {}}, "edit")


def test_sixty_four_pairs_of_host_and_origin(attacked: Attacked) -> None:
    """The six that are the server's own are let in, and no other."""
    pairs = list(product(HOSTS, ORIGINS))
    filled = [[text and text.format(port=attacked.raw.port) for text in pair] for pair in pairs]

    statuses = attacked.statuses(
        {**GOOD, "Host": host, "Origin": origin} for host, origin in filled
    )

    let_in = [pair for pair, status in zip(pairs, statuses, strict=True) if status == 200]
    assert len(pairs) == 64
    assert let_in == list(product(HOSTS[:2], ORIGINS[:3]))
    assert attacked.ran == 6
    assert set(statuses) == {200, 403, 421}


@pytest.mark.parametrize("own_first", [True, False])
@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization"])
def test_a_header_that_comes_twice(name: str, own_first: bool, attacked: Attacked) -> None:
    """Whoever reads the first one and whoever reads the last one would let different people in."""
    raw = attacked.raw
    own = {**raw.own, "Origin": f"http://{raw.own['Host']}"}[name]
    lines = [f"{name}: {own}", f"{name}: http://evil.example.com"]
    twice = "\r\n".join(lines if own_first else lines[::-1])
    head = raw.head(2, {**GOOD, name: None, "Connection": "close"})

    response = attacked.running.beside(
        lambda: raw.write(head[:-2] + twice.encode() + b"\r\n\r\n{}")
    )

    assert response.status in (400, 401, 403, 421)


def test_twenty_other_origins(attacked: Attacked) -> None:
    """Neither a page with a stolen token nor one without gets in."""
    tokens: list[Headers] = [{}, {"Authorization": None}]

    statuses = attacked.statuses(
        {**GOOD, "Origin": origin, **token} for origin, token in product(OTHERS, tokens)
    )

    assert (len(OTHERS), set(statuses), attacked.ran) == (20, {403}, 0)


def test_a_page_may_not_ask_beforehand_either(attacked: Attacked) -> None:
    """Nothing here says that a page of another origin may read or send anything."""
    raw = attacked.raw
    head = raw.head(0, {"Authorization": None, "Connection": "close"}, "OPTIONS /mcp")

    response = attacked.running.beside(lambda: raw.write(head))

    assert response.status == 401
    assert "access-control" not in response.head.lower()


def test_fifteen_content_types(attacked: Attacked) -> None:
    """What a page can send without asking is no request, with a token and without."""
    known: list[Headers] = [{"Content-Type": kind} for kind in TYPES]
    modern = attacked.statuses({**GOOD, **head} for head in known)
    legacy = attacked.statuses(known)
    strange = attacked.statuses({**GOOD, **head, "Authorization": None} for head in known)

    assert len(TYPES) == 15
    assert (set(modern), set(legacy), set(strange)) == ({400}, {400}, {401})
    assert attacked.ran == 0


def mismatches() -> list[tuple[Headers, bytes]]:
    """Make thirty requests whose head and body do not say the same."""
    changed: dict[str, list[Any]] = {
        "Mcp-Name": NAMES,
        "Mcp-Method": METHODS,
        "MCP-Protocol-Version": VERSIONS,
    }
    old = {**META, "io.modelcontextprotocol/protocolVersion": "2025-11-25"}
    listing = request("tools/list")[1]
    bodies = [listing, body("ping"), body(name="other"), body(_meta=old), body(_meta={})]
    bodies.append(b"[" + GOOD_BODY + b"," + listing + b"]")
    return [
        *(
            ({**GOOD, name: value}, GOOD_BODY)
            for name, values in changed.items()
            for value in values
        ),
        *((GOOD, other) for other in bodies),
    ]


def test_thirty_heads_that_say_something_else_than_the_body(attacked: Attacked) -> None:
    """Whoever looks at the head only must not be told something else than what is done."""
    responses = attacked.send(mismatches())

    served = [n for n, response in enumerate(responses) if not 400 <= response.status < 500]
    assert (len(responses), served, attacked.ran) == (30, [], 0)
    assert sum(b'"code":-32020' in response.body for response in responses) >= 15
