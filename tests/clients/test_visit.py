"""Other people's TypeScript clients send the person to a page, in each era of the protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import anyio.to_thread
import pytest

from dcc_bridge import elicit_url_sync, skill
from dcc_bridge.elicitation.ask_secret import Secret, ask_secret_sync
from tests.live import Live, live
from tests.node import installed

HERE = Path(__file__).parent
SECRET = "canary-a1b2c3d4"
NPM = shutil.which("npm")
ERAS = ("legacy", "2026-07-28")

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(NPM is None, reason="needs npm, which brings the clients"),
]


@pytest.fixture(scope="module")
def client() -> Path:
    """The script beside its packages."""
    folder = installed(NPM or "", HERE, "clients")
    return Path(shutil.copy(HERE / "visit.mjs", folder))


def call(running: Live, client: Path, era: str, tool: str) -> dict[str, Any]:
    """Let the client call a tool, and give what it tells."""
    env = {**os.environ, "DCC_BRIDGE_TOKEN": running.bridge.instance.token("ts"), "SECRET": SECRET}
    command = ["node", str(client), era, running.bridge.url, tool]

    async def agent() -> Any:
        return await anyio.to_thread.run_sync(
            lambda: subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        )

    ran = running.run(agent, limit=90)
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


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
        told = call(running, client, era, "sign_in")
        origin = running.bridge.url.removesuffix("/mcp")

    assert told["text"] == "signed in"
    assert [one.reveal() for one in got] == [SECRET]
    assert [url.startswith(f"{origin}/ask/") for url in told["urls"]] == [True]
    assert told["completed"] == told["ids"]
    assert len(told["ids"]) == (era == "legacy")


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
        told = call(running, client, era, "approve")

    assert told["text"] == "True completion_unverified client"
    assert told["urls"] == ["https://tracker.example/approve"]
    assert told["completed"] == []
    assert len(told["ids"]) == (era == "legacy")
