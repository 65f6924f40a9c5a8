"""Calls that outlive their client, or whose host is killed: what agent and person are told.

``npm`` and ``pip`` bring the clients into the user's cache, once; ``-m frameworks`` runs them.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.kinds import NPM
from tests.clients.long_host import LEDGER
from tests.clients.outliving import AGREES, CLIENTS, Host, Reply, Told, killed_at_last, until
from tests.server.task_wire import Wire

QUESTION: Final = "Delete this camera?\n\ncam1\n\nOne undo brings all of it back."
DECLINES: Final[Reply] = {"action": "decline"}
CANCELS: Final[Reply] = {"action": "cancel"}
CASES: Final[dict[str, tuple[str, Reply | None, str]]] = {
    "a long skill": ("bake", None, "baked"),
    "a question at once": ("delete_at_once", AGREES, "deleted cam1"),
    "a late question": ("delete_late", AGREES, "deleted cam1"),
    "a late question, declined": ("delete_late", DECLINES, "Declined in the client"),
    "a late question, cancelled": ("delete_late", CANCELS, "without an answer"),
    "a question at once, declined": ("delete_at_once", DECLINES, "Declined in the client"),
    "a question at once, cancelled": ("delete_at_once", CANCELS, "without an answer"),
}
"""What is called, what the person says to it, and what the agent is told."""
ARGUMENTS: Final = {"bake": {"seconds": 5.0}}
NO_ID: Final = {"mcpdo"}
"""They show nobody the id of a task of theirs, and list no tasks while one asks: the id of a killed
one's task must come from elsewhere, here from another client of the same label."""
GONE: Final = {
    ("strands", "HTTP"): ("Connection to the MCP server was closed", "All connection attempts"),
    ("mcpdo", "HTTP"): ("fetch failed", "MCP client request failed"),
    ("strands", "connect"): ("is no longer running", "in the middle of the task"),
    ("mcpdo", "connect"): ("is no longer running", "in the middle of the task"),
}
"""What a client says that waits for a host that is gone: by HTTP in its own words."""

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.timeout(400),  # the first ones wait until the clients were fetched
    pytest.mark.skipif(NPM is None, reason="needs npm, which brings the clients"),
]


@pytest.mark.parametrize("way", ["HTTP", "connect"])
@pytest.mark.parametrize("name", CLIENTS)
def test_a_call_that_lasts_or_asks_runs_once_and_says_how_it_ended(
    name: str, way: str, tmp_path: Path
) -> None:
    with (
        killed_at_last(Host(tmp_path)) as host,
        killed_at_last(CLIENTS[name](host.target(way), tmp_path)) as client,
    ):
        heard = {
            case: client.call(tool, reply, **ARGUMENTS.get(tool, {}))
            for case, (tool, reply, _) in CASES.items()
        }

    for case, (_, reply, text) in CASES.items():
        print(f"{name} by {way}: {case}: {heard[case]}")
        assert text in heard[case].text, case
        assert heard[case].asked == [QUESTION] * (reply is not None), case
    assert noted(tmp_path) == {
        "bake began": 1,
        "bake ended": 1,
        "delete_at_once began": 3,
        "delete_at_once deleted": 1,
        "delete_late began": 3,
        "delete_late deleted": 1,
    }


@pytest.mark.parametrize("way", ["HTTP", "connect"])
@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_that_was_killed_and_started_again_answers_and_fetches_by_the_id(
    name: str, way: str, tmp_path: Path
) -> None:
    with killed_at_last(Host(tmp_path)) as host:
        with killed_at_last(CLIENTS[name](host.target(way), tmp_path)) as killed:
            task = begun(host, "delete_late") if name in NO_ID else killed.begin("delete_late")
            before = until(killed, task, "input_required")
        with killed_at_last(CLIENTS[name](host.target(way), tmp_path)) as fresh:
            asked = until(fresh, task, "input_required")
            fresh.answer(task, asked.keys[0], AGREES)
            ended = until(fresh, task, "completed")

    print(f"{name} by {way}: {before}, {asked}, {ended}")
    assert before.asked == asked.asked == [QUESTION]
    assert "deleted cam1" in ended.text
    assert noted(tmp_path) == {"delete_late began": 1, "delete_late deleted": 1}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_task_that_its_client_gives_up_ends_in_the_middle_and_says_so(
    name: str, tmp_path: Path
) -> None:
    with (
        killed_at_last(Host(tmp_path)) as host,
        killed_at_last(CLIENTS[name](host.target("HTTP"), tmp_path)) as client,
    ):
        task = begun(host, "bake", seconds=60.0)
        client.give_up(task)
        ended = until(client, task, "cancelled")

    print(f"{name}: {ended}")
    assert "ancelled" in ended.text
    assert noted(tmp_path) == {"bake began": 1}


@pytest.mark.parametrize("name", NO_ID)
def test_a_client_that_shows_no_id_hears_how_its_call_stands_once_it_is_started_again(
    name: str, tmp_path: Path
) -> None:
    """With an id in what it shows it would not be on the list."""
    with killed_at_last(Host(tmp_path)) as host:
        with killed_at_last(CLIENTS[name](host.target("HTTP"), tmp_path)) as killed:
            shown = killed.begin("delete_late")
        with killed_at_last(CLIENTS[name](host.target("HTTP"), tmp_path)) as fresh:
            (call,) = json.loads(fresh.call("recent_calls").text)["calls"]
        token = f"{host.id}.{call['call']}"

    print(f"{name}: {call}")
    assert "Delete this camera?" in shown
    assert token not in shown
    assert (call["tool"], call["state"]) == ("delete_late", "asking")
    assert noted(tmp_path) == {"delete_late began": 1}


@pytest.mark.parametrize("way", ["HTTP", "connect"])
@pytest.mark.parametrize("name", CLIENTS)
def test_the_agent_of_a_host_that_was_killed_and_started_again_is_told_where_each_call_was(
    name: str, way: str, tmp_path: Path
) -> None:
    """The one that waits hears that it is gone; whoever asks by the id, how far the call was."""
    with (
        killed_at_last(Host(tmp_path)) as host,
        killed_at_last(CLIENTS[name](host.target(way), tmp_path)) as client,
        ThreadPoolExecutor() as pool,
    ):
        call = pool.submit(client.call, "bake", seconds=60.0)
        until_noted(tmp_path, "bake began", call)
        tasks = {
            "bake": begun(host, "bake", seconds=60.0),
            "delete_late": begun(host, "delete_late"),
        }
        host.kill()  # after the last of them was a task, and so was the client's own
        meanwhile = call.result()
    with (
        killed_at_last(Host(tmp_path)) as again,
        killed_at_last(CLIENTS[name](again.target(way), tmp_path)) as client,
    ):
        afterwards = {tool: client.look(task) for tool, task in tasks.items()}

    print(f"{name} by {way}: {meanwhile}, {afterwards}")
    assert any(words in meanwhile.text for words in GONE[name, way]), meanwhile
    assert {look.status for look in afterwards.values()} == {"failed"}
    for tool, look in afterwards.items():  # nobody had agreed to anything yet
        assert f"{tool} changed nothing. Call it again." in look.text
    assert "nothing was done" not in meanwhile.text
    assert noted(tmp_path) == {"bake began": 2, "delete_late began": 1}


def begun(host: Host, tool: str, **arguments: Any) -> str:
    """Begin a task with the clients' token, and give its id: mcpdo shows nobody that of its own."""
    wire = Wire(host.instance.url, host.token)
    with wire.http:
        return str(wire.call(tool, arguments=ARGUMENTS.get(tool, {}) | arguments)["taskId"])


def until_noted(runtime: Path, line: str, call: Future[Told]) -> None:
    """Wait until a call has begun, however long its client takes to start."""
    while not (runtime / LEDGER).exists() or not noted(runtime)[line]:
        assert not call.done(), call.result()
        time.sleep(0.02)


def noted(runtime: Path) -> Counter[str]:
    """Count what the calls did."""
    return Counter((runtime / LEDGER).read_text().splitlines())
