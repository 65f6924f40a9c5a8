"""Streams that break at random moments, and ids that nobody was given: the body runs once."""

from __future__ import annotations

import json
import random
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from mcp_types import INVALID_PARAMS

from dcc_bridge import elicit_form_sync, on_main, skill
from dcc_bridge.elicitation.question import Question, Reply, Settle, TakeDown
from dcc_bridge.server import fast_path, tasks
from tests.live import LIMIT, live
from tests.server.task_wire import ENDED, Message, Wire
from tests.stand_ins import FakeHost
from tests.tiers import sampled

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
CONFIRM = {"type": "object", "properties": {"confirm": {"type": "boolean"}}}


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a call be a task after a moment, so that a stream can break before and after."""
    monkeypatch.setattr(tasks, "TASK_AFTER", 0.01)
    monkeypatch.setattr(tasks, "MOST", 10_000)  # so many calls take hours otherwise
    monkeypatch.setattr(fast_path, "SOON", 0.005)


class Breaking:
    """Sends requests whose connection is lost at some moment, of which some are answered."""

    def __init__(self, wire: Wire, chance: random.Random, longest: float) -> None:
        self._wire = wire
        self._longest = longest  # seconds after which what is to break has broken
        self._chance = chance
        self.broken = 0  # how many got no answer

    def send(self, method: str, params: Message) -> Message | None:
        """Send a request once; None if its stream broke before the whole answer had come."""
        body, headers = self._wire.request(method, params)
        data, where = json.dumps(body).encode(), urlsplit(self._wire.url)
        headers |= {"Host": where.netloc, "Content-Type": "application/json"}
        headers |= {"Content-Length": str(len(data)), "Connection": "close"}
        headers |= {"Authorization": str(self._wire.http.headers["authorization"])}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        answer = b""
        with socket.create_connection((str(where.hostname), where.port or 0)) as connection:
            connection.sendall(f"POST {where.path} HTTP/1.1\r\n{head}\r\n".encode() + data)
            breaks = self._chance.random() < 0.5
            connection.settimeout(self._chance.uniform(0.0001, self._longest) if breaks else LIMIT)
            try:
                while part := connection.recv(65_536):
                    answer += part
            except TimeoutError:
                self.broken += 1
                return None
        message: Message = json.loads(answer.partition(b"\r\n\r\n")[2])
        return message

    def insist(self, method: str, params: Message) -> Message:
        """Send a request again and again until it is answered, as a client does."""
        while (message := self.send(method, params)) is None:
            pass
        result: Message = message["result"]
        return result


class Consents:
    """A person at the host who agrees at once, and reads why it is asked."""

    def __init__(self) -> None:
        self.reasons: dict[int, list[str | None]] = {}

    def show(self, question: Question, settle: Settle) -> TakeDown:
        number = question.call.arguments.value["number"]
        self.reasons.setdefault(number, []).append(question.reason)
        settle(Reply("accept", {"confirm": True}))
        return lambda reason: None

    def chip(self, *_: Any) -> TakeDown:
        return lambda reason: None

    def notice(self, *_: Any) -> TakeDown:
        return lambda reason: None


def adder(host: FakeHost, ran: Counter[int], risk: Any) -> Callable[..., Any]:
    """Make a skill that adds its number to the scene, in the middle of a little work."""

    @skill(risk=risk)
    async def add(number: int) -> int:
        """Add a number."""
        ran[number] += 1
        await anyio.sleep(0.005)
        await on_main(lambda: host.items.append(str(number)))
        await anyio.sleep(0.015)
        return number

    return add


@pytest.mark.parametrize("count", sampled([10], [10, 1000]))
def test_a_task_whose_streams_break_at_any_moment_ran_once_and_its_result_is_fetched(
    count: int, tmp_path: Path
) -> None:
    ran = Counter[int]()

    @skill(risk="read", task="ask")
    def ask(number: int) -> str:
        """Ask for a name."""
        ran[number] += 1
        return str((elicit_form_sync("Name?", NAME).data or {}).get("name"))

    def client() -> tuple[list[str], int]:
        wire, fetched = Wire.of(running), list[str]()
        breaking = Breaking(wire, random.Random(7), 0.006)
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
    assert broken > count / 20


@pytest.mark.parametrize("risk", ["edit", "destructive"])
@pytest.mark.parametrize(
    ("count", "declares"),
    [(8, True), *(pytest.param(250, it, marks=pytest.mark.long) for it in (True, False))],
)
def test_a_call_sent_again_after_its_stream_broke_never_counts_twice_unnoticed(
    count: int, risk: str, declares: bool, tmp_path: Path
) -> None:
    """A run that nobody waited for was undone, or else the next one is told of it.

    But where a result was sent, and lost on the way: the host cannot tell that from one that came.
    That is a matter of less than a millisecond; what is destructive is asked about then, too.
    """
    host, ran, person = FakeHost(has_ui=True), Counter[int](), Consents()

    def client() -> dict[int, str]:
        wire, said = Wire.of(running, declares=declares), dict[int, str]()
        breaking = Breaking(wire, random.Random(11), 0.05)
        for number in range(count):
            params = {"name": "add", "arguments": {"number": number}}
            result = breaking.insist("tools/call", params)
            if result["resultType"] == "task":
                look = breaking.insist("tasks/get", params := {"taskId": result["taskId"]})
                while look["status"] not in ENDED:
                    look = breaking.insist("tasks/get", params)
                result = look["result"]
            said[number] = " ".join(it["text"] for it in result["content"])
        return said

    usual = {"host": host, "presenter": person, "dialogs_per_minute": 100_000}
    with live(tmp_path, adder(host, ran, risk), **usual) as running:
        said = running.beside(client, limit=900)
        running.until(lambda: not running.bridge.main.waiting)

    again = [number for number in range(count) if ran[number] > 1]
    assert again or declares, "no stream broke in the middle: it shows nothing"
    assert set(map(int, host.items)) == set(range(count))
    twice = [number for number in range(count) if host.items.count(str(number)) > 1]
    told = {it: [said[it], *person.reasons.get(it, [])] for it in twice}
    unnoticed = [
        it for it in twice if not any("The same call was" in str(text) for text in told[it])
    ]
    most = count // 50 if declares else 1 + count // 10  # how many results are lost is chance
    assert len(unnoticed) <= most, {it: told[it] for it in unnoticed}
    if risk == "destructive":
        assert all(len(person.reasons[it]) >= host.items.count(str(it)) for it in range(count))


@pytest.mark.parametrize("count", sampled([25], [25, 10_000]))
def test_an_id_or_a_key_that_its_client_was_not_given_is_never_accepted(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forged, foreign, expired and repeated ones, with every method."""
    monkeypatch.setattr(tasks, "KEPT", 0.0)  # what has ended is gone at once
    ran = Counter[str]()

    @skill(risk="read", task="ask")
    def ask(name: str) -> str:
        """Ask for a name."""
        ran[name] += 1
        return str((elicit_form_sync("Name?", NAME).data or {}).get("name"))

    def client() -> tuple[Counter[Any], Message]:
        wire, foreign, chance = Wire.of(running), Wire.of(running, "other"), random.Random(3)
        ended = wire.call("ask", arguments={"name": "ended"})["taskId"]
        wire.cancel(ended)
        while "result" in wire.send("tasks/get", {"taskId": ended}):
            pass
        task = wire.call("ask", arguments={"name": "open"})["taskId"]
        (key,) = wire.get(task)["inputRequests"]
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
        monkeypatch.setattr(tasks, "KEPT", LIMIT)
        wire.update(task, **right)
        for _ in range(20):
            wire.update(task, **answers)  # it was answered
        return codes, wire.until(task)

    with live(tmp_path, ask) as running:
        codes, look = running.beside(client, limit=900)

    assert codes == {INVALID_PARAMS: count, "complete": count}
    assert look["result"]["content"][0]["text"] == "Ada"
    assert ran == {"ended": 1, "open": 1}
