"""Instructions of a host reach a client of the proxy; without a host there are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcc_bridge.elicitation.types import SKILLS
from tests.client.proxy.stage import small
from tests.client.proxy.test_tasks import proxy
from tests.instructions.shelf import put


@pytest.mark.real
def test_they_are_those_of_the_host_in_which_the_client_works(tmp_path: Path) -> None:
    put(tmp_path / "dcc_bridge" / "skills")  # the person's own

    with proxy(tmp_path) as client:
        found = client.send("server/discover")["result"]
        none = client.send("skills/list")["result"]
        refused = client.send("skills/get", uri="skill://light-a-shot/SKILL.md")["error"]
        with small(tmp_path, "one.ma", XDG_DATA_HOME=str(tmp_path)) as host:
            client.send("tools/call", name="use_host", arguments={"host": host.id})
            (entry,) = client.send("skills/list")["result"]["skills"]
            same = client.send("skills/get", uri=entry["uri"])["result"]["skill"]
            (content,) = client.send("resources/read", uri=entry["uri"])["result"]["contents"]

    assert SKILLS in found["capabilities"]["extensions"]
    assert (none["skills"], none["ttlMs"], none["resultType"]) == ([], 0, "complete")
    assert "No host is running" in refused["message"]
    assert entry == same
    assert content["text"].endswith("Aim the key.\n")
