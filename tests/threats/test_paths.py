"""Paths that lead somewhere else than they seem to (row 25; skill files: tests/skills/test_trust).

25  `test_sixty_paths_of_requests`, `test_what_a_resource_names_is_no_file`
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.live import live
from tests.threats.raw import META, MODERN, Raw, heard, in_thread

UP = [
    "..",
    "%2e%2e",
    ".%2e",
    "%252e%252e",
    "..;",
    "..%00",
    "%c0%ae%c0%ae",
    "..%5c",
    "%2e%2e%2f",
    ".",
]
FROM = ["/ask/{}/mcp", "/ask/x/{}/{}/mcp", "/signed-in/{}/mcp", "/{}/mcp", "/mcp/{}/mcp"]
OTHERS = ["//mcp", "/mcp/", "/MCP", "/mcp%00", "/mcp;x", "/ask/", "/ask", "/ask//mcp", "/", "*"]
FILES = [
    *("/etc/passwd", "..%2f..%2f..%2fetc%2fpasswd", "../../etc/passwd", "file:///etc/passwd"),
    *("C:%5CWindows%5Cwin.ini", "%00", "..%00", "%2e%2e/%2e%2e/etc/passwd", "~", "$HOME"),
]


def paths() -> list[str]:
    """Make them."""
    return [*(one.format(*[up] * one.count("{}")) for one, up in product(FROM, UP)), *OTHERS]


def test_sixty_paths_of_requests(tmp_path: Path) -> None:
    """None leads past the token to where tools are called."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    body = json.dumps(message).encode()
    told: dict[str, str | None] = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
    with live(tmp_path) as running:
        raw = Raw.to(running)

        def send(path: str, token: str | None) -> Any:
            head = raw.head(len(body), {**told, "Connection": "close", "Authorization": token})
            with raw.open() as sock:
                sock.sendall(head.replace(b"POST /mcp", f"POST {path}".encode(), 1) + body)
                return heard(sock)

        def attack() -> list[Any]:
            return [send("/mcp", f"Bearer {raw.token}"), *(send(one, None) for one in paths())]

        own, *others = running.run(in_thread(attack))

    assert own.status == 200
    assert len(others) == 60
    assert [one.status for one in others if not 400 <= one.status < 500] == []
    assert [one for one in others if b'"tools"' in one.body] == []


@pytest.mark.parametrize("path", FILES)
def test_what_a_resource_names_is_no_file(path: str, tmp_path: Path) -> None:
    with live(tmp_path) as running:
        raw, uri = Raw.to(running), f"scene://{running.host.item_noun}/{path}"

        def read() -> Any:
            return raw.say("resources/read", {"uri": uri, "_meta": META}, uri)

        said = running.run(in_thread(read))

    assert "error" in said.message
    assert b"root:" not in said.body
