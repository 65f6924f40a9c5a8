"""Tokens where others could read them (row 4).

4   `test_no_token_is_found_anywhere_after_many_calls`, `test_what_is_logged_here_loses_tokens`;
    tests/server/test_canary.py does the same for what a person enters
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import skill
from dcc_bridge.audit import redact
from dcc_bridge.server import discovery
from tests.live import live
from tests.threats.raw import META, MODERN, Line, Raw, in_thread

SECRET = "5a" * 32
CALLS = [500, pytest.param(10_000, marks=[pytest.mark.long, pytest.mark.timeout(290)])]


@pytest.fixture
def written(tmp_path: Path) -> Iterator[Path]:
    """Have all that any logger says in a file."""
    root, level = logging.getLogger(), logging.getLogger().level
    handler = logging.FileHandler(tmp_path / "all.log")
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield tmp_path / "all.log"
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        handler.close()


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
@pytest.mark.parametrize("calls", CALLS)
def test_no_token_is_found_anywhere_after_many_calls(
    calls: int,
    tmp_path: Path,
    written: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Neither in logs nor in the record, nor in the arguments or environment of any process."""
    heard: Counter[int] = Counter()

    @skill(risk="edit")
    def edit(fails: bool = False) -> str:
        """Edit."""
        if fails:
            raise RuntimeError("no")
        return "edited"

    with live(tmp_path / "run", edit, audit=tmp_path / "audit") as running:
        raw = Raw.to(running)
        canaries = [raw.token.partition(".")[2], running.bridge.instance.secret]
        sharers: list[str] = []

        def attack() -> None:
            with raw.line() as line:
                for number in range(calls):
                    heard[_talk(line, raw, number)] += 1
                    if number % (calls // 5) == 0:
                        sharers.extend(_processes(canaries))

        running.run(in_thread(attack), limit=280)

    out = "".join(capfd.readouterr())
    places = [written, *(tmp_path / "audit").rglob("*")]
    texts = [one.read_text() for one in places if one.is_file()] + [out]
    assert heard.total() == calls
    assert min(heard[200], heard[400], heard[401]) >= calls // 10
    assert len(texts[0]) > calls  # something was logged at all
    assert [one for one in canaries if any(one in text for text in texts)] == []
    assert sharers == []


def _talk(line: Line, raw: Raw, number: int) -> int:
    """Call as usual, or in one of the ways that are complained of."""
    headers: dict[str, str | None] = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call"}
    params: dict[str, Any] = {"name": "edit", "arguments": {}, "_meta": META}
    match number % 8:
        case 0:
            params["arguments"] = {"fails": True}
        case 1:
            params["arguments"] = {"token": raw.token}
        case 2:
            headers["Mcp-Method"] = raw.token
        case 3:
            headers["Authorization"] = f"Bearer x{raw.token}"
        case 4:
            params["requestState"] = raw.token
    headers["Mcp-Name"] = "edit"
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return line.send(json.dumps(message).encode(), headers).status


def _processes(canaries: list[str]) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        for part in ("cmdline", "environ"):
            try:
                text = (process / part).read_bytes().decode("latin-1")
            except OSError:  # it is somebody else's, or gone
                continue
            found += [f"{process / part}" for one in canaries if one in text]
    return found


def _fail(token: str) -> None:
    raise ValueError(f"cannot use {token}")


def test_what_is_logged_here_loses_tokens(written: Path) -> None:
    """In the message, its arguments and the traceback; the host's own loggers are left alone."""
    token = discovery.issue_token(SECRET, "cursor")
    loggers = [logging.getLogger(name) for name in ("dcc_bridge.x", "uvicorn.error", "mcp.server")]

    redact.install_log_filter()
    for log in loggers:
        log.warning("a request with %s came", token)
        log.warning(f"the secret is {SECRET}")
        log.warning("%(it)r", {"it": [token]})
        log.warning("too few: %s %s", token)
        try:
            _fail(token)
        except ValueError:
            log.exception("it failed")
    ours = written.read_text()
    logging.getLogger("host.tools").warning("digest %s", SECRET)

    assert ours.count(redact.GONE) >= 12
    assert token.partition(".")[2] not in ours
    assert "ValueError: cannot use cursor.[redacted]" in ours
    assert written.read_text().count(SECRET) == 1
