"""A task is found through any proxy of its client, wherever that one works."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS

from dcc_bridge.elicitation.types import SKILLS, TASKS
from dcc_bridge.known_clients import APPS
from tests.client.proxy.stage import Stdio, small, stdio
from tests.live import ERAS, LIMIT
from tests.server.task_wire import META

ADA = {"action": "accept", "content": {"name": "Ada"}}


class Proxy:
    """A client of a proxy that knows tasks."""

    def __init__(self, stdio: Stdio) -> None:
        self._stdio = stdio
        self._ids = itertools.count(1)

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and give the message that answers it."""
        able: dict[str, Any] = {"elicitation": {}, "extensions": {TASKS: {}}}
        meta = {f"{META}protocolVersion": ERAS[-1], f"{META}clientCapabilities": able}
        body = {"jsonrpc": "2.0", "id": next(self._ids), "method": method}
        self._stdio.write(json.dumps({**body, "params": params | {"_meta": meta}}))
        message: dict[str, Any] = {}
        while message.get("id") != body["id"]:
            message = self._stdio.read()
        return message

    def leave(self) -> int:
        """Close its stdin, as a client does that ends, and wait for its exit code."""
        process = self._stdio.process
        assert process.stdin is not None
        process.stdin.close()
        return process.wait(LIMIT)

    def until(self, task: str, status: str) -> dict[str, Any]:
        end = time.monotonic() + LIMIT
        look: dict[str, Any] = {}
        while look.get("status") != status:
            assert time.monotonic() < end, look
            look = self.send("tasks/get", taskId=task)["result"]
        return look


@contextmanager
def proxy(runtime: Path, *words: str) -> Iterator[Proxy]:
    with stdio(runtime, *words) as client:
        yield Proxy(client)


@pytest.mark.real
def test_a_fresh_proxy_that_works_elsewhere_finds_answers_and_fetches_a_task(
    tmp_path: Path,
) -> None:
    with small(tmp_path, "one.ma") as first, small(tmp_path, "two.ma") as second:
        with proxy(tmp_path, "--instance", first.id) as killed:
            found = killed.send("server/discover")["result"]
            task = killed.send("tools/call", name="ask_in_task", arguments={})["result"]["taskId"]
        with proxy(tmp_path, "--instance", second.id) as fresh:
            asked = fresh.until(task, "input_required")
            fresh.send(
                "tasks/update",
                taskId=task,
                inputResponses=dict.fromkeys(asked["inputRequests"], ADA),
            )
            ended = fresh.until(task, "completed")
            fresh.send("tools/call", name="use_host", arguments={"host": first.id})
            again = fresh.send("tools/call", name="ask_in_task", arguments={"item": "cam2"})
            fresh.until(again["result"]["taskId"], "input_required")
            forged = fresh.send("tasks/get", taskId=f"{first.id}.{32 * '0'}")
        with proxy(tmp_path) as between:  # two hosts run, and none was chosen
            fetched = between.send("tasks/get", taskId=task)["result"]
            nowhere = between.send("tasks/get", taskId=f"gone-0000.{32 * '0'}")
        first.kill()
        with proxy(tmp_path, "--instance", second.id) as late:
            done = late.send("tasks/get", taskId=task)["result"]
            half = late.send("tasks/get", taskId=again["result"]["taskId"])["result"]

    assert found["capabilities"]["extensions"] == {TASKS: {}, SKILLS: {}, APPS: {}}
    assert ended["result"]["content"][0]["text"] == "one.ma: Ada"
    assert fetched["result"] == ended["result"]
    assert forged["error"]["code"] == INVALID_PARAMS
    assert nowhere["error"]["code"] == CONNECTION_CLOSED
    assert "Choose one with use_host" in nowhere["error"]["message"]
    assert done["status"] == half["status"] == "failed"
    assert "ask_in_task was done, and was not saved" in done["error"]["message"]
    assert "in the middle of ask_in_task" in half["error"]["message"]


@pytest.mark.real
def test_a_client_that_ends_leaves_the_question_of_a_task_open_and_no_other_one(
    tmp_path: Path,
) -> None:
    """A task is there to outlive its client; what asks in a request ends with that."""
    with small(tmp_path, "one.ma"):
        with proxy(tmp_path) as ending:
            asked = ending.send("tools/call", name="ask", arguments={})["result"]
            task = ending.send("tools/call", name="ask_in_task", arguments={})["result"]["taskId"]
            ending.until(task, "input_required")
            code = ending.leave()
        with proxy(tmp_path) as fresh:
            (key,) = fresh.until(task, "input_required")["inputRequests"]
            fresh.send("tasks/update", taskId=task, inputResponses={key: ADA})
            ended = fresh.until(task, "completed")
            told = fresh.send("tools/call", name="recent_calls", arguments={})["result"]

    calls = {it["tool"]: it for it in told["structuredContent"]["calls"]}
    assert (code, asked["resultType"]) == (0, "input_required")
    assert ended["result"]["content"][0]["text"] == "one.ma: Ada"
    assert calls["ask"]["state"] != "asking"
