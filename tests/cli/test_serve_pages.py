"""``dcc-bridge serve --pages``: a question is an address, and its page is where it is answered."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from dcc_bridge.cli.exits import SUCCESS
from tests.cli.commands import LIMIT, background, serve


@pytest.mark.parametrize("exit", ["decline", "cancel"])
def test_a_question_is_answered_in_a_browser(tmp_path: Path, exit: str) -> None:
    with serve(tmp_path, "--pages") as host, background(tmp_path, "call", "delete_prims") as call:
        assert host.process.stderr is not None
        said = host.process.stderr.readline()
        url = said.rpartition(" ")[2].strip()
        with httpx2.Client(timeout=LIMIT, follow_redirects=True) as browser:
            asked = browser.get(url)
            answered = browser.post(url, data={"exit": exit})
        call.communicate(timeout=LIMIT)

    assert said.startswith("dcc-bridge: a question waits for you at http://127.0.0.1:")
    assert "shot_010_layout.usda" in asked.text
    assert answered.status_code == 200
    assert call.returncode != SUCCESS
