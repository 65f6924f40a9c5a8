"""Tokens where others could read them (row 4).

``tests/server/test_secrets.py`` does the same for what a person enters.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import skill
from dcc_bridge.audit import redact
from dcc_bridge.elicitation.text import safe_whole
from dcc_bridge.server import discovery
from tests.live import live
from tests.threats.raw import Line, Raw, request

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
    calls: int, tmp_path: Path, written: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Neither in logs nor in the record, nor in the arguments or environment of any process."""
    statuses: Counter[int] = Counter()

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
                    statuses[talk(line, raw, number)] += 1
                    if number % (calls // 5) == 0:
                        sharers.extend(processes(canaries))

        running.beside(attack, limit=280)

    out = "".join(capfd.readouterr())
    places = [written, *(tmp_path / "audit").rglob("*")]
    texts = [place.read_text() for place in places if place.is_file()] + [out]
    assert statuses.total() == calls
    assert min(statuses[200], statuses[400], statuses[401]) >= calls // 10
    assert len(texts[0]) > calls  # something was logged at all
    assert [canary for canary in canaries if any(canary in text for text in texts)] == []
    assert sharers == []


def talk(line: Line, raw: Raw, number: int) -> int:
    """Call as usual, or in one of the ways that are complained of."""
    fails: dict[str, Any] = {"arguments": {"fails": True}}
    params: dict[int, dict[str, Any]] = {
        0: fails,
        1: {"arguments": {"token": raw.token}},
        4: {"requestState": raw.token},
    }
    wrong = {2: {"Mcp-Method": raw.token}, 3: {"Authorization": f"Bearer x{raw.token}"}}
    call = {"name": "edit", "arguments": {}, **params.get(number % 8, {})}
    headers, body = request("tools/call", call, "edit")
    return line.send(body, {**headers, **wrong.get(number % 8, {})}).status


def processes(canaries: list[str]) -> list[str]:
    """Name the arguments and environments of processes in which a canary is."""
    sharers = []
    for number in filter(str.isdecimal, os.listdir("/proc")):
        for name in ("cmdline", "environ"):
            file = Path("/proc", number, name)
            with suppress(OSError):  # it is somebody else's, or gone
                content = file.read_bytes().decode("latin-1")
                sharers += [str(file) for canary in canaries if canary in content]
    return sharers


def test_what_is_logged_here_loses_tokens(written: Path) -> None:
    """In the message, its arguments and the traceback; the host's own loggers are left alone."""
    token = discovery.issue_token(SECRET, "cursor")
    loggers = [logging.getLogger(name) for name in ("dcc_bridge.x", "uvicorn.error", "mcp.server")]

    redact.install_log_filter(safe_whole)
    for log in loggers:
        log.warning("a request with %s came", token)
        log.warning(f"the secret is {SECRET}")
        log.warning("%(it)r", {"it": [token]})
        log.warning("too few: %s %s", token)
        error = ValueError(f"cannot use {token}")
        log.error("it failed", exc_info=error)
    ours = written.read_text()
    logging.getLogger("host.tools").warning("digest %s", SECRET)

    assert ours.count(redact.REDACTED) >= 12
    assert token.partition(".")[2] not in ours
    assert "ValueError: cannot use cursor.[redacted]" in ours
    assert written.read_text().count(SECRET) == 1
