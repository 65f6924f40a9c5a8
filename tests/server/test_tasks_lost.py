"""Streams that break at random moments, and ids that nobody was given: the body runs once."""

from __future__ import annotations

import json
import random
import socket
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp_types import INVALID_PARAMS

from dcc_bridge import elicit_form_sync, skill
from dcc_bridge.server import fast_path, tasks
from tests.live import LIMIT, live
from tests.server.skills import NAME
from tests.server.task_wire import ENDED, Message, Wire
from tests.tiers import sampled


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a call be a task after a moment, so that a stream can break before and after."""
    monkeypatch.setattr(tasks, "TASK_AFTER_S", 0.01)
    for cap in ("MAX_TASKS", "MAX_CLIENT_TASKS"):  # so many calls take hours otherwise
        monkeypatch.setattr(tasks, cap, 10_000)
    monkeypatch.setattr(fast_path, "FAST_PATH_S", 0.005)


class Breaking:
    """Sends requests, half of whose connections are lost at some moment, and the answer with it.

    Which ones depends on the seed alone, not on how fast the host is.
    """

    def __init__(self, wire: Wire, seed: int, longest: float) -> None:
        self._wire = wire
        self._longest = longest  # seconds after which what is to break has broken
        self._chance = random.Random(seed)
        self.broken = 0  # how many were lost

    def send(self, method: str, params: Message) -> Message | None:
        """Send a request once; None if its stream broke, whatever of the answer had come."""
        body, headers = self._wire.request(method, params)
        data, where = json.dumps(body).encode(), urlsplit(self._wire.url)
        headers |= {"Host": where.netloc, "Content-Type": "application/json"}
        headers |= {"Content-Length": str(len(data)), "Connection": "close"}
        headers |= {"Authorization": str(self._wire.http.headers["authorization"])}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        answer = b""
        with socket.create_connection((str(where.hostname), where.port or 0)) as connection:
            connection.sendall(f"POST {where.path} HTTP/1.1\r\n{head}\r\n".encode() + data)
            if self._chance.random() < 0.5:
                time.sleep(self._chance.uniform(0.0001, self._longest))  # the moment it breaks
                self.broken += 1
                return None
            connection.settimeout(LIMIT)
            while part := connection.recv(65_536):
                answer += part
        message: Message = json.loads(answer.partition(b"\r\n\r\n")[2])
        return message

    def insist(self, method: str, params: Message) -> Message:
        """Send a request again and again until it is answered, as a client does."""
        while (message := self.send(method, params)) is None:
            pass
        result: Message = message["result"]
        return result


@pytest.mark.long
@pytest.mark.parametrize("count", [10, 1000])
def test_a_task_whose_streams_break_at_any_moment_ran_once_and_its_result_is_fetched(
    count: int, tmp_path: Path
) -> None:
    """From the handle on it is once."""
    ran = Counter[int]()

    @skill(risk="read", task="ask")
    def ask(number: int) -> str:
        ran[number] += 1
        return str((elicit_form_sync("Name?", NAME).data or {}).get("name"))

    def client() -> tuple[list[str], int]:
        wire, fetched = Wire.of(running), list[str]()
        breaking = Breaking(wire, 7, 0.006)
        for number in range(count):
            task = wire.call("ask", arguments={"number": number})["taskId"]
            while (look := breaking.insist("tasks/get", {"taskId": task}))["status"] not in ENDED:
                answer = {"action": "accept", "content": {"name": str(number)}}
                answers = dict.fromkeys(look.get("inputRequests", {}), answer)
                breaking.insist("tasks/update", {"taskId": task, "inputResponses": answers})
            fetched.append(look["result"]["content"][0]["text"])
        return fetched, breaking.broken

    with live(tmp_path, ask) as running:
        fetched, broken = running.beside(client, limit=600)

    assert fetched == [str(number) for number in range(count)]
    assert ran == Counter(range(count))
    assert broken > count  # of three requests at least for each


@pytest.mark.parametrize("count", sampled([25], [25, 10_000]))
def test_an_id_or_a_key_that_its_client_was_not_given_is_never_accepted(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forged, foreign, expired and repeated ones, with every method."""
    monkeypatch.setattr(tasks, "RESULT_TTL_S", 0.0)  # what has ended is gone at once
    ran = Counter[str]()

    @skill(risk="read", task="ask")
    def ask(name: str) -> str:
        ran[name] += 1
        return str((elicit_form_sync("Name?", NAME).data or {}).get("name"))

    def client() -> tuple[Counter[Any], Message]:
        wire, foreign, chance = Wire.of(running), Wire.of(running, "other"), random.Random(3)
        ended = wire.call("ask", arguments={"name": "ended"})["taskId"]
        wire.cancel(ended)
        while "result" in wire.send("tasks/get", {"taskId": ended}):
            pass
        task = wire.call("ask", arguments={"name": "open"})["taskId"]
        (key,) = wire.until(task, "input_required")["inputRequests"]
        answers = {key: {"action": "accept", "content": {"name": "forged"}}}
        forgers: list[Callable[[], tuple[Wire, str]]] = [
            lambda: (foreign, task),
            lambda: (wire, ended),
            lambda: (wire, f"{task[:-16]}{chance.randbytes(8).hex()}"),
            lambda: (wire, f"{task.partition('.')[0]}.{chance.randbytes(16).hex()}"),
            lambda: (wire, chance.choice([task[:-1], f"{task}/", task.upper(), f"../{task}", "."])),
        ]
        codes = Counter[Any]()
        for _ in range(count):
            method = chance.choice(["tasks/get", "tasks/update", "tasks/cancel"])
            who, name = chance.choice(forgers)()
            codes[who.code(method, {"taskId": name, "inputResponses": answers})] += 1
            forged = {f"{key}{chance.randrange(9)}": answers[key], "": answers[key]}
            codes[str(wire.update(task, **forged)["resultType"])] += 1
        right = {key: {"action": "accept", "content": {"name": "Ada"}}}
        monkeypatch.setattr(tasks, "RESULT_TTL_S", LIMIT)
        wire.update(task, **right)
        for _ in range(20):
            wire.update(task, **answers)  # it was answered
        return codes, wire.until(task)

    with live(tmp_path, ask) as running:
        codes, look = running.beside(client, limit=900)

    assert codes == {INVALID_PARAMS: count, "complete": count}
    assert look["result"]["content"][0]["text"] == "Ada"
    assert ran == {"ended": 1, "open": 1}
