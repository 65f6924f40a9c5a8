"""Other people's TypeScript clients send the person to a page, in each era of the protocol."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import elicit_url_sync, skill
from dcc_bridge.elicitation.ask_secret import Secret, ask_secret_sync
from tests.clients.kinds import NPM, packages
from tests.live import Live, live
from tests.packages import put_beside

HERE = Path(__file__).parent
SECRET = "canary-a1b2c3d4"
ERAS = ("legacy", "2026-07-28")

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(NPM is None, reason="needs npm, which brings the clients"),
]


@pytest.fixture(scope="module")
def client() -> Path:
    """The script beside its packages."""
    return put_beside(packages(), HERE / "visit.mjs")


def call(running: Live, client: Path, era: str, tool: str) -> dict[str, Any]:
    """Let the client call a tool, and give what it tells."""
    env = {**os.environ, "DCC_BRIDGE_TOKEN": running.bridge.instance.token("ts"), "SECRET": SECRET}
    command = ["node", str(client), era, running.bridge.url, tool]

    ran = running.beside(
        lambda: subprocess.run(command, env=env, capture_output=True, text=True, timeout=60),
        limit=90,
    )
    assert ran.returncode == 0, ran.stderr
    report: dict[str, Any] = json.loads(ran.stdout)
    return report


@pytest.mark.parametrize("era", ERAS)
def test_a_secret_is_entered_and_its_completion_is_told(
    tmp_path: Path, client: Path, era: str
) -> None:
    got: list[Secret] = []

    @skill(risk="read")
    def sign_in() -> str:
        """Sign in."""
        got.append(ask_secret_sync("The tracker needs a key.", label="API key"))
        return "signed in"

    with live(tmp_path, sign_in) as running:
        report = call(running, client, era, "sign_in")
        origin = running.bridge.url.removesuffix("/mcp")

    assert report["text"] == "signed in"
    assert [secret.reveal() for secret in got] == [SECRET]
    assert [url.startswith(f"{origin}/ask/") for url in report["urls"]] == [True]
    assert report["completed"] == report["ids"]
    assert len(report["ids"]) == (era == "legacy")


@pytest.mark.parametrize("era", ERAS)
def test_a_foreign_page_is_gone_to_and_its_completion_is_not_claimed(
    tmp_path: Path, client: Path, era: str
) -> None:
    @skill(risk="read")
    def approve() -> str:
        """Have something approved."""
        answer = elicit_url_sync("Approve it, please.", "https://tracker.example/approve")
        return f"{answer.accepted} {answer.message} {answer.answered_by}"

    with live(tmp_path, approve) as running:
        report = call(running, client, era, "approve")

    assert report["text"] == "True completion_unverified client"
    assert report["urls"] == ["https://tracker.example/approve"]
    assert report["completed"] == []
    assert len(report["ids"]) == (era == "legacy")
