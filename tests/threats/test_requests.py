"""Requests of web pages and of strangers, and requests that say two things (rows 1, 2, 6, 7).

1   `test_sixty_four_pairs_of_host_and_origin`, `test_a_header_that_comes_twice`; the official
    suite's dns-rebinding scenarios run in tests/conformance
2   `test_twenty_other_origins`
6   `test_fifteen_content_types`
7   `test_thirty_heads_that_say_something_else_than_the_body`
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import skill
from tests.live import Live, live
from tests.threats.raw import META, MODERN, Raw, in_thread

HOSTS = [
    "127.0.0.1:{port}",
    "localhost:{port}",
    "evil.example.com",
    "evil.example.com:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "127.0.0.1.evil.example.com:{port}",
    "[::1]:{port}",
]
ORIGINS = [
    None,
    "http://127.0.0.1:{port}",
    "http://localhost:{port}",
    "null",
    "https://127.0.0.1:{port}",
    "http://localhost:3000",
    "http://evil.example.com",
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


class Counted:
    """A tool that counts how often it ran."""

    def __init__(self) -> None:
        self.ran = 0

    @property
    def tool(self) -> Any:
        @skill(risk="edit")
        def edit(name: str = "") -> str:
            """Edit."""
            self.ran += 1
            return "edited"

        return edit


def call(**changed: Any) -> bytes:
    """Write a call of that tool."""
    params = {"name": "edit", "arguments": {}, "_meta": META, **changed.pop("params", {})}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params, **changed}
    return json.dumps(message).encode()


GOOD: dict[str, str | None] = {
    "MCP-Protocol-Version": MODERN,
    "Mcp-Method": "tools/call",
    "Mcp-Name": "edit",
}


def send(running: Live, requests: list[tuple[dict[str, str | None], bytes]]) -> list[Any]:
    """Send requests, each on a connection of its own, and give their statuses and bodies."""
    raw = Raw.to(running)

    def attack() -> list[Any]:
        said = [raw.send(body, **headers) for headers, body in requests]
        return [(one.status, one.body.decode()) for one in said]

    return running.run(in_thread(attack))


def test_sixty_four_pairs_of_host_and_origin(tmp_path: Path) -> None:
    """The six that are the server's own are let in, and no other."""
    counted = Counted()
    with live(tmp_path, counted.tool) as running:
        port = Raw.to(running).port
        pairs = list(product(HOSTS, ORIGINS))
        made = [[one and one.format(port=port) for one in pair] for pair in pairs]
        requests = [({**GOOD, "Host": h, "Origin": o}, call()) for h, o in made]
        statuses = [status for status, _ in send(running, requests)]

    let_in = [pair for pair, status in zip(pairs, statuses, strict=True) if status == 200]
    assert len(pairs) == 64
    assert let_in == list(product(HOSTS[:2], ORIGINS[:3]))
    assert counted.ran == 6
    assert set(statuses) == {200, 403, 421}


@pytest.mark.parametrize("own_first", [True, False])
@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization"])
def test_a_header_that_comes_twice(name: str, own_first: bool, tmp_path: Path) -> None:
    """Whoever reads the first one and whoever reads the last one would let different people in."""
    with live(tmp_path) as running:
        raw = Raw.to(running)
        own = {**raw.own, "Origin": f"http://{raw.own['Host']}"}[name]
        lines = [f"{name}: {own}", f"{name}: http://evil.example.com"]
        twice = "\r\n".join(lines if own_first else lines[::-1])
        head = raw.head(2, {**GOOD, name: None, "Connection": "close"})
        with raw.open() as sock:
            sock.sendall(head[:-2] + twice.encode() + b"\r\n\r\n{}")
            status = int(sock.recv(4096).split()[1])

    assert status in (400, 401, 403, 421)


def test_twenty_other_origins(tmp_path: Path) -> None:
    """Neither a page with a stolen token nor one without gets in."""
    assert len(OTHERS) == 20
    counted = Counted()
    with live(tmp_path, counted.tool) as running:
        tokens: list[dict[str, str | None]] = [{}, {"Authorization": None}]
        requests = [({**GOOD, "Origin": o, **t}, call()) for o, t in product(OTHERS, tokens)]
        statuses = [status for status, _ in send(running, requests)]

    assert set(statuses) == {403}
    assert counted.ran == 0


def test_a_page_may_not_ask_beforehand_either(tmp_path: Path) -> None:
    """Nothing here says that a page of another origin may read or send anything."""
    with live(tmp_path) as running:
        raw = Raw.to(running)
        head = raw.head(0, {"Authorization": None, "Connection": "close"}, "OPTIONS")
        with raw.open() as sock:
            sock.sendall(head)
            said = sock.recv(4096).decode().lower()

    assert said.startswith("http/1.1 401")
    assert "access-control" not in said


def test_fifteen_content_types(tmp_path: Path) -> None:
    """What a page can send without asking is no request, with a token and without."""
    assert len(TYPES) == 15
    counted = Counted()
    with live(tmp_path, counted.tool) as running:
        modern = [({**GOOD, "Content-Type": one}, call()) for one in TYPES]
        legacy = [({"Content-Type": one}, call()) for one in TYPES]
        strange = [({**GOOD, "Content-Type": one, "Authorization": None}, call()) for one in TYPES]
        statuses = [status for status, _ in send(running, modern + legacy + strange)]

    assert set(statuses[:30]) == {400}
    assert set(statuses[30:]) == {401}
    assert counted.ran == 0


def mismatches() -> list[tuple[dict[str, str | None], bytes]]:
    """Make thirty requests whose head and body do not say the same."""
    listed = call(method="tools/list", params={})
    names = [
        "count",
        "Edit",
        "edit2",
        "../edit",
        "",
        None,
        "éd",
        "edit,edit",
        "e\tdit",
        "tools/call",
    ]
    methods = ["tools/list", "ping", "Tools/Call", "tools/call2", "", None, "initialize", "x"]
    versions = ["2025-11-25", "2025-06-18", "2024-11-05", "1.0", "", "2026-07-29"]
    heads: list[tuple[dict[str, str | None], bytes]] = []
    heads += [({**GOOD, "Mcp-Name": one}, call()) for one in names]
    heads += [({**GOOD, "Mcp-Method": one}, call()) for one in methods]
    heads += [({**GOOD, "MCP-Protocol-Version": one}, call()) for one in versions]
    heads += [(GOOD, listed), (GOOD, call(method="ping")), (GOOD, call(params={"name": "other"}))]
    old = {**META, "io.modelcontextprotocol/protocolVersion": "2025-11-25"}
    heads += [(GOOD, call(params={"_meta": old})), (GOOD, call(params={"_meta": {}}))]
    heads += [(GOOD, b"[" + call() + b"," + listed + b"]")]
    return heads


def test_thirty_heads_that_say_something_else_than_the_body(tmp_path: Path) -> None:
    """Whoever looks at the head only must not be told something else than what is done."""
    counted = Counted()
    with live(tmp_path, counted.tool) as running:
        said = send(running, mismatches())

    wrong = [number for number, (status, _) in enumerate(said) if not 400 <= status < 500]
    assert (len(said), wrong, counted.ran) == (30, [], 0)
    assert sum('"code":-32020' in body for _, body in said) >= 15
