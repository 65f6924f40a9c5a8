"""A client that wants everything has its share, and the others have theirs.

Threads, the main thread's queue, streams, requests and sessions.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import anyio
import pytest

from dcc_bridge import skill
from tests.live import Live, live
from tests.threats.raw import Raw, request

HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}


def go(work: Callable[[], Any]) -> Future[Any]:
    """Work on a thread of its own."""
    future: Future[Any] = Future()
    threading.Thread(target=lambda: future.set_result(work()), daemon=True).start()
    return future


def said(answer: dict[str, Any]) -> str:
    """Give what a call was told."""
    return str(answer["result"]["content"][0]["text"])


def is_running(running: Live, count: int) -> bool:
    """Whether so many calls run."""
    return sum(record.state == "running" for record in running.bridge.recent.records()) == count


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for other threads, without serving the main thread."""
    clock = threading.Event()
    for _ in range(2000):
        if condition():
            return
        clock.wait(0.005)
    raise AssertionError("the condition did not come true in time")


def opened(raw: Raw, version: str | None = None) -> tuple[int, str]:
    """Open a legacy session; gives the status and the session's id."""
    headers = {"MCP-Protocol-Version": version}
    response = raw.send(json.dumps(HANDSHAKE).encode(), headers)
    lines = [line.partition(": ") for line in response.head.lower().splitlines()]
    return response.status, next((it for name, _, it in lines if name == "mcp-session-id"), "")


def is_there(raw: Raw, session: str) -> bool:
    """Whether a legacy session can still be used."""
    ping = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"}).encode()
    headers = {"mcp-session-id": session, "MCP-Protocol-Version": "2025-11-25"}
    return raw.send(ping, headers).status == 200


def test_a_client_has_a_third_of_the_pool_and_the_bridges_own_tools_answer_beside_it(
    tmp_path: Path,
) -> None:
    over = threading.Event()

    @skill(risk="read", thread="any")
    def wait() -> str:
        """Wait on a thread of the pool."""
        return str(over.wait(20))

    def attack(running: Live) -> tuple[list[str], list[str], str]:
        greedy, other = Raw.to(running, "greedy"), Raw.to(running, "other")
        calls = [go(lambda: greedy.call("wait")) for _ in range(10)]
        running_now = [go(lambda: other.call("wait")) for _ in range(2)]
        wait_until(lambda: sum(call.done() for call in calls) == 8 and is_running(running, 4))
        refused = [said(call.result()) for call in calls if call.done()]
        recent = said(greedy.call("recent_calls"))
        over.set()
        return refused, [said(call.result(20)) for call in running_now], recent

    with live(tmp_path, wait, threads=6) as running:
        refused, others, recent = running.beside(lambda: attack(running))

    assert refused == 8 * [
        "2 pool calls of greedy are open already; try again once one of them has ended."
    ]
    assert others == ["True", "True"]
    assert "running" in recent


def test_a_client_that_queues_forty_jobs_has_one_of_them_before_each_of_another(
    tmp_path: Path,
) -> None:
    order: list[str] = []

    @skill(risk="read")
    def note(who: str) -> str:
        """Note whose turn it is."""
        order.append(who)
        return who

    with live(tmp_path, note, queued_calls=32) as running:
        greedy, other = Raw.to(running, "greedy"), Raw.to(running, "other")
        calls = [go(lambda: greedy.call("note", {"who": "greedy"})) for _ in range(40)]
        wait_until(lambda: sum(call.done() for call in calls) == 8)
        others = [go(lambda: other.call("note", {"who": "other"})) for _ in range(3)]
        wait_until(lambda: running.bridge.main.waiting == 35)
        refused = [said(call.result()) for call in calls if call.done()]
        running.until(lambda: all(call.done() for call in [*calls, *others]))

    assert order[:6] == ["greedy", "other"] * 3
    assert len(order) == 35
    assert all(text.startswith("fake is busy: 32 of your calls wait") for text in refused)


def test_of_requests_that_pile_up_each_client_has_its_turn(tmp_path: Path) -> None:
    busy, over = threading.Event(), threading.Event()
    order: list[str] = []

    @skill(risk="read")
    async def hold() -> None:
        """Hold the event loop, so that requests pile up."""
        busy.set()
        over.wait(20)

    @skill(risk="read")
    async def note(who: str) -> None:
        """Note whose turn it is."""
        order.append(who)

    def attack(running: Live) -> None:
        clients = {label: Raw.to(running, label) for label in ("holder", "greedy", "other")}
        with ExitStack() as stack:
            lines = []
            for who in (*30 * ["greedy"], "other"):
                lines.append(stack.enter_context(clients[who].line()))
                assert lines[-1].say("tools/list", {}).status == 200
            held = go(lambda: clients["holder"].call("hold"))
            assert busy.wait(20)
            for line, who in zip(lines, [*30 * ["greedy"], "other"], strict=True):
                params = {"name": "note", "arguments": {"who": who}}
                line.post(*request("tools/call", params, "note"))
            over.set()
            answers = [line.read() for line in lines]
            held.result(20)
        assert [answer.status for answer in answers] == 31 * [200]

    with live(tmp_path, hold, note) as running:
        running.beside(lambda: attack(running))

    assert len(order) == 31
    assert "other" in order[:3]


def test_a_client_has_so_many_streams_and_another_one_its_own(tmp_path: Path) -> None:
    def attack(running: Live) -> tuple[list[str], str, str]:
        greedy, other = Raw.to(running, "greedy"), Raw.to(running, "other")
        with ExitStack() as stack:
            heard = [greedy.listen(stack) for _ in range(4)]
            beside = other.listen(stack)
        with ExitStack() as stack:
            wait_until(lambda: greedy.listen(stack) == "")
        return heard[:3], heard[3], beside

    with live(tmp_path, sessions_of_a_client=3) as running:
        streams, why, beside = running.beside(lambda: attack(running))

    assert streams == ["", "", ""]
    assert why == "3 streams of greedy are open already; try again once one of them has ended."
    assert beside == ""


def test_a_client_holds_so_many_requests_open_whatever_they_are(tmp_path: Path) -> None:
    over = threading.Event()

    @skill(risk="read")
    async def rest() -> str:
        """Wait on the loop."""
        while not over.is_set():
            await anyio.sleep(0.005)
        return "rested"

    def attack(running: Live) -> tuple[int, str, int]:
        greedy, other = Raw.to(running, "greedy"), Raw.to(running, "other")
        calls = [go(lambda: greedy.call("rest")) for _ in range(4)]
        wait_until(lambda: is_running(running, 4))
        refused = greedy.say("tools/list", {})
        beside = other.say("tools/list", {}).status
        over.set()
        ends = [said(call.result(20)) for call in calls]
        assert ends == 4 * ["rested"]
        return refused.status, refused.message["error"]["message"], beside

    with live(tmp_path, rest, connections=8) as running:
        status, why, beside = running.beside(lambda: attack(running))

    assert status == 429
    assert why == "4 requests of greedy are open already; try again once one of them has ended."
    assert beside == 200


@pytest.mark.parametrize(
    "version",
    [None, "2025-11-25", "2025-11-25\r\nMCP-Protocol-Version: 2025-11-25"],
    ids=["unsaid", "said", "said twice"],
)
def test_a_client_that_never_ends_a_session_has_its_last_ones_only(
    version: str | None, tmp_path: Path
) -> None:
    """Whether it says its version in the handshake, twice or not; another client's stays."""

    def attack(running: Live) -> tuple[list[int], list[bool], bool]:
        greedy, other = Raw.to(running, "greedy"), Raw.to(running, "other")
        _, kept = opened(other)
        shaken = [opened(greedy, version) for _ in range(10)]
        there = [is_there(greedy, session) for _, session in shaken]
        return [status for status, _ in shaken], there, is_there(other, kept)

    with live(tmp_path, sessions_of_a_client=4) as running:
        statuses, there, kept = running.beside(lambda: attack(running))

    assert statuses == 10 * [200]
    assert there == 6 * [False] + 4 * [True]
    assert kept


def test_a_session_that_is_listened_to_makes_no_room(tmp_path: Path) -> None:
    def attack(running: Live) -> tuple[int, str, bool]:
        greedy = Raw.to(running, "greedy")
        with ExitStack() as stack:
            _, session = opened(greedy)
            headers = {"mcp-session-id": session, "MCP-Protocol-Version": "2025-11-25"}
            sock = stack.enter_context(greedy.open())
            sock.sendall(greedy.head(0, headers, "GET /mcp"))
            assert b"200" in sock.recv(65536)
            refused = greedy.send(json.dumps(HANDSHAKE).encode())
            return refused.status, refused.message["error"]["message"], is_there(greedy, session)

    with live(tmp_path, sessions_of_a_client=1) as running:
        status, why, is_kept = running.beside(lambda: attack(running))

    assert (status, is_kept) == (503, True)
    assert why == "greedy has 1 sessions, and all of them are in use: end one of them first."


def test_a_session_that_nobody_uses_ends_by_itself(tmp_path: Path) -> None:
    def look_less_and_less(running: Live) -> bool:
        """Each look is a use; gives whether a new one is there afterwards."""
        raw, clock = Raw.to(running), threading.Event()
        _, session = opened(raw)
        pauses = iter([0.1 * 2**n for n in range(7)])
        while is_there(raw, session):
            clock.wait(next(pauses))
        while not is_there(raw, opened(raw)[1]):  # on a busy machine it may have ended already
            clock.wait(0.01)
        return True

    with live(tmp_path, session_idle=0.2) as running:
        assert running.beside(lambda: look_less_and_less(running))
