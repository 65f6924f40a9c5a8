"""TypeScript clients that would sign their person in are told that there is no sign-in."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.clients.kinds import NPM, packages
from tests.live import live
from tests.packages import put_beside

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(NPM is None, reason="needs npm, which brings the clients"),
]


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_client_with_an_auth_provider_shows_what_to_do_and_opens_no_page(
    era: str, tmp_path: Path
) -> None:
    """It has no token, looks for a sign-in and registers; each answer is in OAuth's own words."""
    script = put_beside(packages(), Path(__file__).with_name("sign_in.mjs"))
    with live(tmp_path) as running:
        command = ["node", str(script), era, running.bridge.url]
        ran = running.beside(
            lambda: subprocess.run(command, capture_output=True, text=True, timeout=60), limit=90
        )

    seen = json.loads(ran.stdout)
    assert seen["sentTo"] is None
    assert "This server has no sign-in" in seen["error"]
    assert "dcc-bridge client add" in seen["error"]
