"""What a client may say first, and what it may say wrongly, without losing the connection."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CLIENT_CAPABILITIES_META_KEY as CAPABILITIES

from dcc_bridge import skill
from dcc_bridge.client.proxy.first_words import first_answer
from dcc_bridge.known_clients import APPS, PAGE_TYPE, REVISIONS
from tests.bench.agent import LEGACY, envelope
from tests.client.proxy import stage
from tests.client.proxy.stage import Stdio
from tests.live import live

PROBE = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": envelope()}}
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "initialize",
    "params": {
        "protocolVersion": LEGACY,
        "capabilities": {},
        "clientInfo": {"name": "hasty", "version": "1"},
    },
}


FIRST = 0.3  # seconds of work until the first answer: 0.1 as a rule, and 0.6 with the SDK


@pytest.fixture
def stdio(tmp_path: Path) -> Iterator[Stdio]:
    """Connect while no host runs."""
    with stage.stdio(tmp_path) as client:
        yield client


def test_a_probe_does_not_keep_a_client_from_the_handshake(stdio: Stdio) -> None:
    """It did not wait for the answer, as the specification lets it on stdio."""
    stdio.write(json.dumps(PROBE), json.dumps(HELLO))

    answers = {answer["id"]: answer for answer in (stdio.read(), stdio.read())}

    assert "supportedVersions" in answers[1]["result"]
    assert answers[2]["result"]["protocolVersion"] == LEGACY


def test_a_probe_and_a_handshake_of_the_same_id_are_each_answered_as_what_they_are(
    stdio: Stdio,
) -> None:
    """The first answer comes before the lobby is there, whose own to the probe is dropped."""
    stdio.write(json.dumps(PROBE | {"id": 2}), json.dumps(HELLO))

    first, second = stdio.read(), stdio.read()
    stdio.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    stdio.write('{"jsonrpc": "2.0", "id": 3, "method": "ping"}')

    assert "supportedVersions" in first["result"]
    assert second["result"]["protocolVersion"] == LEGACY
    assert stdio.read()["id"] == 3


def test_a_probe_that_was_answered_does_not_either(stdio: Stdio) -> None:
    stdio.write(json.dumps(PROBE))
    stdio.read()
    stdio.write(json.dumps(HELLO), '{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    stdio.read()
    stdio.write('{"jsonrpc": "2.0", "id": 3, "method": "tools/list"}')

    assert {tool["name"] for tool in stdio.read()["result"]["tools"]} == {"list_hosts", "use_host"}


@pytest.mark.parametrize(
    ("line", "id_"),
    [('{"jsonrpc": "2.0", "id": 7, "method": "ping"', 7), ('{"id": "a", "x": "\\ud800"}', "a"),
     ('{"jsonrpc": "2.0", "method": "x", "params": {"id": 2', None), ("What?", None)],
)  # fmt: skip
def test_a_line_that_cannot_be_read_is_answered_and_the_next_is_served(
    line: str, id_: object, stdio: Stdio
) -> None:
    stdio.write(json.dumps(HELLO))
    stdio.read()

    stdio.write(line, '{"jsonrpc": "2.0", "id": 8, "method": "ping"}')
    error, answer = stdio.read(), stdio.read()

    assert (error["error"]["code"], error["id"]) == (-32700, id_)
    assert answer["id"] == 8
    assert "result" in answer


@pytest.mark.parametrize(
    ("line", "id_", "why"),
    [('{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, "an integer, not null."),
     ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, "an integer, not 1.5."),
     ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', None, "an integer, not true."),
     ('{"jsonrpc": "2.0", "id": 7, "method": 5}', 7, "The method of a request must be a string."),
     ('{"method": "ping", "id": "a"}', "a", 'must have the member "jsonrpc"'),
     ('{"jsonrpc": "2.0", "params": [], "method": "ping", "id": 7}', 7, "The params of a request"),
     ("[]", None, "A message must be one JSON object.")],
)  # fmt: skip
def test_what_is_no_message_is_answered_with_its_id_where_that_can_be_read(
    line: str, id_: object, why: str, stdio: Stdio
) -> None:
    stdio.write(json.dumps(HELLO))
    stdio.read()

    stdio.write(line, '{"jsonrpc": "2.0", "id": 8, "method": "ping"}')
    error, answer = stdio.read(), stdio.read()

    assert (error["error"]["code"], error["id"]) == (-32600, id_)
    assert why in error["error"]["message"]
    assert answer["id"] == 8
    assert "result" in answer


@pytest.mark.parametrize("first", ["initialize", "server/discover"])
def test_a_second_call_with_the_id_of_one_under_way_is_refused_and_the_first_is_answered(
    first: str, tmp_path: Path
) -> None:
    may_end = threading.Event()
    ran: list[int] = []

    @skill(risk="read", thread="any")
    def wait() -> str:
        ran.append(1)
        may_end.wait()
        return "done"

    is_legacy = first == "initialize"
    params: dict[str, Any] = {"name": "wait", "arguments": {}}
    if not is_legacy:
        params["_meta"] = envelope()
    call = json.dumps({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params})
    with live(tmp_path, wait) as running, stage.stdio(tmp_path) as client:
        client.write(json.dumps(HELLO if is_legacy else PROBE))
        running.beside(client.read)
        if is_legacy:
            client.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        client.write(call)
        running.until(lambda: bool(ran))
        client.write(call)
        refused = running.beside(client.read)
        may_end.set()
        answer = running.beside(client.read)

    assert (refused["id"], refused["error"]["code"]) == (9, -32600)
    assert (answer["id"], answer["result"]["content"][0]["text"]) == (9, "done")
    assert len(ran) == 1


def test_what_the_modern_era_has_no_more_is_told_to_a_legacy_client_alone(stdio: Stdio) -> None:
    """There ``logging/setLevel`` is no method."""
    stdio.write(json.dumps(PROBE), json.dumps(HELLO))

    probed, greeted = stdio.read(), stdio.read()

    assert "logging" not in probed["result"]["capabilities"]
    assert "logging" in greeted["result"]["capabilities"]


def _hello(version: object) -> dict[str, Any]:
    return HELLO | {"params": HELLO["params"] | {"protocolVersion": version}}


DRAWS = {"extensions": {APPS: {"mimeTypes": [PAGE_TYPE]}}}
DRAWING = HELLO | {"params": HELLO["params"] | {"capabilities": DRAWS}}


@pytest.mark.parametrize("first", [PROBE, _hello(REVISIONS[1]), _hello(REVISIONS[2])])
def test_the_first_message_is_answered_before_the_sdk_is_imported(
    first: dict[str, Any], tmp_path: Path
) -> None:
    """Some clients wait for a second; here the SDK is never there."""
    without = "import sys; sys.modules['mcp'] = sys.modules['anyio'] = sys.modules['pydantic'] = "
    words = "None; from dcc_bridge.cli import main; main(['connect'])"
    command = (sys.executable, "-c", f"{without}{words}")
    with stage.stdio(tmp_path, command=command) as stdio:
        stdio.write(json.dumps(first))

        answer = stdio.read()

    assert answer["id"] == first["id"]
    assert "instructions" in answer["result"]


@pytest.mark.long
@pytest.mark.usefixtures("new_interpreter")
def test_the_first_answer_takes_little_work(tmp_path: Path) -> None:
    """Some clients wait for a second. It is processor time: other tests share the cores."""
    if sys.platform != "linux":
        pytest.skip("reads Linux's /proc")
    with stage.stdio(tmp_path) as stdio:
        stdio.write(json.dumps(PROBE))
        stdio.read()
        ticks = (
            Path(f"/proc/{stdio.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        )

    seconds = sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    assert seconds < FIRST, f"{seconds} s"


ODD_HELLOS: list[dict[str, Any]] = [
    *({"id": None}, {"id": True}, {"method": "ping"}, {"params": []}, {"params": {"_meta": 1}}),
    *map(_hello, ("2024-11-05", "2026-07-28", 7, None)),
    {"params": {"capabilities": {}}},
]
ODD_PROBES: list[dict[str, Any]] = [
    *({"params": {}}, {"params": {"_meta": {}}}, {"params": {"_meta": "x"}}),
    {"params": {"_meta": envelope() | {CAPABILITIES: {"roots": 1}}}},
]
ODD = [HELLO | odd for odd in ODD_HELLOS] + [PROBE | odd for odd in ODD_PROBES]
NO_REQUESTS = ("", "What?", "[]", "null", "7", '{"id": 1, "method": "initialize"}')


@pytest.mark.parametrize(
    "line",
    [*NO_REQUESTS, *map(json.dumps, ODD), pytest.param("[" * 100_000, id="deep")],
)
def test_what_is_not_plainly_one_of_the_two_is_left_to_the_lobby(line: str) -> None:
    assert first_answer(line.encode()) is None


@pytest.mark.parametrize("first", [PROBE, _hello(REVISIONS[1]), _hello(REVISIONS[2]), DRAWING])
def test_the_first_answer_is_the_one_that_comes_later_too(
    first: dict[str, Any], stdio: Stdio, tmp_path: Path
) -> None:
    """What is no message goes before, so that the lobby answers."""
    stdio.write("What?", json.dumps(first))
    stdio.read()
    with stage.stdio(tmp_path) as early:
        early.write(json.dumps(first))

        assert early.read() == stdio.read()


def test_a_probe_is_told_all_revisions_and_who_answers(stdio: Stdio) -> None:
    stdio.write(json.dumps(PROBE))

    result = stdio.read()["result"]

    assert result["supportedVersions"] == ["2026-07-28", "2025-11-25", "2025-06-18"]
    assert (result["ttlMs"], result["cacheScope"]) == (3_600_000, "private")
    info = result["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert info["icons"][0]["src"].startswith("data:image/png;base64,")


def test_a_handshake_declares_pages_to_a_client_that_draws_them_alone() -> None:
    told = first_answer(json.dumps(DRAWING).encode())
    other = first_answer(json.dumps(HELLO).encode())

    assert told is not None
    assert other is not None
    assert told["result"]["capabilities"].pop("extensions") == {APPS: {}}
    assert told == other
