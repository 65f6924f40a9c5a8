"""Streams that break at random moments, and ids that nobody was given: the body runs once."""

from __future__ import annotations

import json
import random
import socket
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from mcp_types import INVALID_PARAMS
from starlette.types import Receive, Scope

from dcc_bridge import elicit_form_sync, on_main, skill
from dcc_bridge.consent.call import current_call
from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.server import fast_path, tasks
from dcc_bridge.server.auth import AuthMiddleware
from tests.live import LIMIT, Live, live
from tests.server.skills import NAME
from tests.server.task_wire import ENDED, Message, Wire
from tests.stand_ins import FakeHost, Person
from tests.tiers import sampled

NOTICE = "The same call was"
CONFIRM = {"type": "object", "properties": {"confirm": {"type": "boolean"}}}
WORK = (0.005, 0.015)  # seconds that a run takes at least before and after its edit


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a call be a task after a moment, so that a stream can break before and after."""
    monkeypatch.setattr(tasks, "TASK_AFTER_S", 0.01)
    for cap in ("MAX_TASKS", "MAX_CLIENT_TASKS"):  # so many calls take hours otherwise
        monkeypatch.setattr(tasks, cap, 10_000)
    monkeypatch.setattr(fast_path, "FAST_PATH_S", 0.005)


class Breaking:
    """Sends requests, half of whose connections are lost at some moment, and the answer with it.

    Which ones of a method depends on the seed alone, not on how fast the host is.
    """

    def __init__(self, wire: Wire, seed: int, longest: float) -> None:
        self._wire = wire
        self._longest = longest  # seconds after which what is to break has broken
        self._seed = seed
        self._chances: dict[str, random.Random] = {}
        self.broken: dict[int, float] = {}  # those lost, by id, and the seconds until each broke
        self.lost = Counter[str]()  # how many of them had which method

    def send(self, method: str, params: Message) -> Message | None:
        """Send a request once; None if its stream broke, whatever of the answer had come."""
        body, headers = self._wire.request(method, params)
        data, where = json.dumps(body).encode(), urlsplit(self._wire.url)
        headers |= {"Host": where.netloc, "Content-Type": "application/json"}
        headers |= {"Content-Length": str(len(data)), "Connection": "close"}
        headers |= {"Authorization": str(self._wire.http.headers["authorization"])}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        answer = b""
        chance = self._chances.setdefault(method, random.Random(f"{self._seed} {method}"))
        with socket.create_connection((str(where.hostname), where.port or 0)) as connection:
            begin = time.monotonic()
            connection.sendall(f"POST {where.path} HTTP/1.1\r\n{head}\r\n".encode() + data)
            if chance.random() < 0.5:
                time.sleep(chance.uniform(0.0001, self._longest))  # the moment it breaks
                connection.close()
                self.broken[body["id"]] = time.monotonic() - begin
                self.lost[method] += 1
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


class Written:
    """What the host wrote as a whole, one by one; what was cut off is not among it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._messages: list[Message] = []
        serve = AuthMiddleware.__call__

        async def noting(app: AuthMiddleware, scope: Scope, receive: Receive, send: Any) -> None:
            response, body = send.__self__, bytearray()

            async def send_noted(message: Any) -> None:
                body.extend(message.get("body", b""))
                await send(message)
                if response.response_complete:  # uvicorn drops what comes after a disconnect
                    self._messages.append(json.loads(body))

            await serve(app, scope, receive, send_noted if scope["type"] == "http" else send)

        monkeypatch.setattr(AuthMiddleware, "__call__", noting)

    def runs(self, requests: Collection[int]) -> dict[tuple[int, int], str]:
        """Give the runs whose result was written to one of these requests, and its whole text.

        A run goes by its number and by which one of that number it is.
        """
        runs = dict[tuple[int, int], str]()
        for message in self._messages:
            result = message.get("result", {})
            plain = result.get("result", result)
            if message["id"] in requests and not plain.get("isError") and "content" in plain:
                number, run = map(int, plain["content"][0]["text"].split())
                runs[number, run] = " ".join(it["text"] for it in plain["content"])
        return runs


def not_lost(number: int, runs: list[int], lost: dict[tuple[int, int], str]) -> list[int]:
    """Leave out the runs whose result was lost as it was written, or told of in such a one."""
    telling = [run for (its, run), text in lost.items() if its == number and NOTICE in text]
    return [it for it in runs if (number, it) not in lost and it > max(telling, default=0)]


def adder(
    host: FakeHost, ran: Counter[int], risk: Any, may_end: Callable[[str], bool]
) -> Callable[..., Any]:
    """Make a skill that adds its number to the scene, in the middle of a little work.

    It goes on until its call, which `may_end` is given by its id, may end.
    """

    @skill(risk=risk)
    async def add(number: int) -> str:
        ran[number] += 1
        run = f"{number} {ran[number]}"
        await anyio.sleep(WORK[0])
        await on_main(lambda: host.items.append(run))
        while not may_end(current_call().id):
            await anyio.sleep(0.001)
        await anyio.sleep(WORK[1])
        return run

    return add


def is_task(running: Live, call: str) -> bool:
    """Tell whether a call that goes on outlasts its first request."""
    return running.bridge._server.calls._parked[call].is_task


@pytest.mark.long
@pytest.mark.parametrize("count", [10, 1000])
def test_a_task_whose_streams_break_at_any_moment_ran_once_and_its_result_is_fetched(
    count: int, tmp_path: Path
) -> None:
    """From the handle on it is once; what breaks before that is the next test's."""
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
        return fetched, len(breaking.broken)

    with live(tmp_path, ask) as running:
        fetched, broken = running.beside(client, limit=600)

    assert fetched == [str(number) for number in range(count)]
    assert ran == Counter(range(count))
    assert broken > count  # of three requests at least for each


@pytest.mark.long
@pytest.mark.parametrize("risk", ["edit", "destructive"])
@pytest.mark.parametrize(
    ("count", "declares"),
    [(8, True), (250, True), (250, False)],
)
def test_a_call_sent_again_after_its_stream_broke_never_counts_twice_unnoticed(
    count: int, risk: str, declares: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that nobody waited for was undone, or else the next one is told of it.

    Until a client has a handle, or a result, its call may run again; once holds from the handle on.
    But where its whole result was written, and its client left before it read it: the host cannot
    tell that from one that came. So there are no more of them than requests that the client left
    once a run could have ended; and none where it knows tasks, as a run lasts longer than its
    first request. What is destructive is asked about then, too.
    """
    host, ran, asked = FakeHost(has_ui=True), Counter[int](), defaultdict[int, list[str]](list)
    written = Written(monkeypatch)

    def agree(question: Question) -> Reply:
        asked[question.call.arguments.value["number"]].append(str(question.reason))
        return Reply("accept", {"confirm": True})

    def client() -> tuple[dict[int, str], Breaking]:
        wire, texts = Wire.of(running, declares=declares), dict[int, str]()
        breaking = Breaking(wire, 11, 0.05)
        for number in range(count):
            params = {"name": "add", "arguments": {"number": number}}
            result = breaking.insist("tools/call", params)
            if result["resultType"] == "task":
                look = breaking.insist("tasks/get", params := {"taskId": result["taskId"]})
                while look["status"] not in ENDED:
                    look = breaking.insist("tasks/get", params)
                result = look["result"]
            texts[number] = " ".join(it["text"] for it in result["content"])
        return texts, breaking

    usual = {"host": host, "presenter": Person(then=agree), "dialogs_per_minute": 100_000}
    add = adder(host, ran, risk, lambda call: not declares or is_task(running, call))
    with live(tmp_path, add, **usual) as running:
        texts, breaking = running.beside(client, limit=900)
        running.until(lambda: not running.bridge.main.waiting)

    stands: dict[int, list[int]] = {number: [] for number in range(count)}
    for item in host.items:
        number, run = map(int, item.split())
        stands[number].append(run)
    reasons = {it: [texts[it], *asked[it]] for it in stands}
    unnoticed = {
        number
        for number, runs in stands.items()
        if len(runs) > 1 and not any(NOTICE in text for text in reasons[number])
    }
    assert sum(ran.values()) > count or declares, "no stream broke in the middle: it shows nothing"
    assert all(stands.values())
    assert breaking.lost["tools/call"] >= count  # over the four long runs 1,000 at least
    late = {request for request, seconds in breaking.broken.items() if seconds >= sum(WORK)}
    lost = written.runs(late)
    others = {it: not_lost(it, stands[it], lost) for it in unnoticed}
    assert not {it: runs for it, runs in others.items() if len(runs) > 1}
    second = sum(len(stands[it]) - 1 for it in unnoticed)
    share = f"{len(late)} of {len(breaking.broken)} lost requests were late"
    print(f"{second} second runs unnoticed: {share}; {dict(breaking.lost)}")
    assert second <= (0 if declares else len(late))
    if risk == "destructive":
        assert all(len(asked[it]) >= len(runs) for it, runs in stands.items())


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
