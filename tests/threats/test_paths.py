"""Paths that lead elsewhere than they seem to (row 25; skill files: tests/skills/test_trust)."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from tests.live import live
from tests.threats.raw import Raw, Response, request

UP = [
    *("..", "%2e%2e", ".%2e", "%252e%252e", "..;", "..%00", "%c0%ae%c0%ae", "..%5c"),
    *("%2e%2e%2f", "."),
]
FROM = ["/ask/{}/mcp", "/ask/x/{}/{}/mcp", "/{}/mcp", "/mcp/{}/mcp"]
OTHERS = ["//mcp", "/mcp/", "/MCP", "/mcp%00", "/mcp;x", "/ask/", "/ask", "/ask//mcp", "/", "*"]
PATHS = [*(path.format(*[up] * path.count("{}")) for path, up in product(FROM, UP)), *OTHERS]
FILES = [
    *("/etc/passwd", "..%2f..%2f..%2fetc%2fpasswd", "../../etc/passwd", "file:///etc/passwd"),
    *("C:%5CWindows%5Cwin.ini", "%00", "..%00", "%2e%2e/%2e%2e/etc/passwd", "~", "$HOME"),
]


def test_fifty_paths_of_requests(tmp_path: Path) -> None:
    """None leads past the token to where tools are called."""
    headers, body = request("tools/list")
    with live(tmp_path) as running:
        raw = Raw.to(running)

        def send(path: str, token: str | None) -> Response:
            sent = {**headers, "Connection": "close", "Authorization": token}
            return raw.write(raw.head(len(body), sent, f"POST {path}") + body)

        own = running.beside(lambda: send("/mcp", f"Bearer {raw.token}"))
        others = running.beside(lambda: [send(path, None) for path in PATHS])

    assert own.status == 200
    assert len(others) == 50
    assert [response.status for response in others if not 400 <= response.status < 500] == []
    assert [response for response in others if b'"tools"' in response.body] == []


@pytest.mark.parametrize("path", FILES)
def test_what_a_resource_names_is_no_file(path: str, tmp_path: Path) -> None:
    with live(tmp_path) as running:
        uri = f"scene://{running.host.item_noun}/{path}"
        response = running.beside(lambda: Raw.to(running).say("resources/read", {"uri": uri}, uri))

    assert "error" in response.message
    assert b"root:" not in response.body
