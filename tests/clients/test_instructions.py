"""The protocol's own Inspector lists the instructions of a host, and verifies every file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.clients.kinds import NPM, inspector
from tests.live import live

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(NPM is None, reason="needs npm, which brings the clients"),
]


def test_the_inspector_finds_each_one_conformant_and_its_digests_right(tmp_path: Path) -> None:
    with live(tmp_path, host=UsdSession(), operations=operations) as running:
        token = running.bridge.instance.token("inspector")
        words = ["--verify", "--require-digests", "--method", "skills/list"]
        words += ["--protocol-era", "modern", "--transport", "http"]
        words += ["--header", f"Authorization: Bearer {token}", "--", running.bridge.url]
        command = [*inspector(), "--cli", *words]
        ran = running.beside(
            lambda: subprocess.run(command, capture_output=True, text=True, timeout=200), limit=240
        )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    reports = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    assert "work-in-usd" in {report["name"] for report in reports}
    assert {report["outcome"] for report in reports} == {"verified"}
