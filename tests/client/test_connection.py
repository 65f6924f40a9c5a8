"""A client's way to a bridge, over real HTTP."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import anyio
import httpx2
import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from dcc_bridge import elicit_form_sync, skill
from dcc_bridge.client import Person, Script, connection, tasks
from dcc_bridge.client.agent import Agent, Result
from dcc_bridge.client.connection import Era, connect, http_client
from dcc_bridge.client.tasks import TaskFollower
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.schema import Form
from dcc_bridge.errors import Unreachable
from dcc_bridge.server import discovery
from tests.client.impostor import IMPOSTORS, impostor_server
from tests.hosts.application import until
from tests.live import LIMIT, Live, live

CONFIRM = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


@skill(risk="read")
def ask(schema: dict[str, Any] | None = None) -> dict[str, Any]:
    answer = elicit_form_sync("Sure?", schema or CONFIRM)
    return {"action": answer.action, "data": answer.data, "by": answer.answered_by}


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Live]:
    """Run one at which no question ends because its client has gone without a word."""
    with live(tmp_path, ask, session_grace=300.0, deadline=300.0) as running:
        yield running


def call(host: Live, tool: str, person: Person | None = None, era: Era = "auto") -> Result:
    async def agent() -> Result:
        token = host.bridge.instance.token("test")
        async with connect(host.bridge.url, token, era=era, person=person) as client:
            return await client.call(tool, {})

    return host.run(agent)


def enter(url: str, token: str = "test.0", **options: Any) -> None:
    async def agent() -> None:
        async with connect(url, token, **options):
            raise AssertionError("it must not come to this")

    anyio.run(agent)


def test_no_certificates_are_read_for_a_host_of_this_computer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To read them takes longer than many a call."""
    read: list[object] = []
    monkeypatch.setattr("httpcore2.default_ssl_context", lambda **how: read.append(how))

    http_client("test.0")

    assert read == []


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_person_is_asked_in_either_era(host: Live, era: Era) -> None:
    result = call(host, "ask", Script("accept"), era)

    assert result.structured == {"action": "accept", "data": {"ok": True}, "by": "client"}


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_without_a_person_the_client_declares_that_it_can_ask_nobody(host: Live, era: Era) -> None:
    result = call(host, "ask", None, era)

    assert result.structured == {"action": "decline", "data": {}, "by": "nobody"}


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_twenty_calls_of_a_client_share_a_few_connections(
    host: Live, era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each connection costs a proof, and a legacy client's was closed with each answer."""
    opened: list[object] = []
    check = connection._HostCheck
    prove = check._is_proved

    async def counted(self: Any, url: Any, stream: Any) -> bool:
        opened.append(stream)
        return await prove(self, url, stream)

    async def agent() -> list[bool]:
        token = host.bridge.instance.token("test")
        async with connect(host.bridge.url, token, era=era) as client:
            return [(await client.call("ask", {})).is_error for _ in range(20)]

    monkeypatch.setattr(check, "_is_proved", counted)

    assert host.run(agent) == [False] * 20
    assert len(opened) < 6  # a call may come before the end of the response before it


class Body(httpx2.AsyncByteStream):
    """Gives an answer, and then ends in its own way."""

    def __init__(self, end: Callable[[], Awaitable[None]]) -> None:
        self._end, self.is_closed = end, False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"answer"
        await self._end()

    async def aclose(self) -> None:
        self.is_closed = True


async def break_off() -> None:
    raise httpx2.ReadError("the host is gone")


@pytest.mark.anyio
@pytest.mark.parametrize("end", [anyio.sleep_forever, break_off])
async def test_a_response_that_does_not_end_after_its_answer_is_closed_without_a_word(
    end: Callable[[], Awaitable[None]],
) -> None:
    body = Body(end)
    drained = connection._DrainedBody(body)
    answer = await anext(aiter(drained))

    with anyio.fail_after(LIMIT):
        await drained.aclose()

    assert answer == b"answer"
    assert body.is_closed


def test_nothing_at_the_address_is_told_in_a_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen

        with pytest.raises(Unreachable, match="nothing answers there"):
            enter(f"http://127.0.0.1:{taken.getsockname()[1]}/mcp")


@pytest.mark.parametrize("era", ["auto", "legacy"])
@pytest.mark.parametrize("impostor", IMPOSTORS)
def test_whoever_took_the_port_of_a_host_is_not_given_the_token(impostor: str, era: Era) -> None:
    token = discovery.issue_token("secret", "test")
    silence = 1.0 if impostor == "says nothing" else LIMIT
    with impostor_server(impostor) as (url, heard):
        with pytest.raises(Unreachable, match="it does not accept the token"):
            enter(url, token, era=era, silence=silence)
        until(lambda: heard, "nothing was sent")

    assert token.encode() not in heard
    assert b"authorization" not in heard.lower()


def test_a_token_of_another_host_is_refused(host: Live) -> None:
    with pytest.raises(Unreachable, match="it does not accept the token"):
        host.run(lambda: anyio.to_thread.run_sync(enter, host.bridge.url))


@pytest.mark.parametrize("url", ["http://192.0.2.1:80/mcp", "https://example.org/mcp", "nonsense"])
def test_no_other_computer_is_given_the_token(url: str) -> None:
    with pytest.raises(Unreachable, match="only a host on this computer"):
        enter(url)


def test_a_proxy_of_the_environment_is_not_told_the_token(
    host: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    assert not call(host, "ask").is_error


class Leaving(Script):
    """Closes the host before answering."""

    def __init__(self, host: Live) -> None:
        super().__init__("accept")
        self._host = host

    async def ask(self, message: str, form: Form, *, until: str = "") -> Reply:
        self._host.pump.main.when_unwound(self._host.bridge.stop)
        with anyio.CancelScope(shield=True):  # in the older era the question is withdrawn
            while not self._host.bridge.stopped.done():
                await anyio.sleep(0.01)
        return await super().ask(message, form, until=until)


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_host_that_goes_away_in_the_middle_of_a_call_never_leaves_the_client_waiting(
    host: Live, era: Era
) -> None:
    """Either it still said that it was closing, or nobody answers any more."""
    try:
        result = call(host, "ask", Leaving(host), era)
    except Unreachable as error:
        assert "went away" in str(error)  # noqa: PT017 - either way is right
    else:
        assert result.structured == {"action": "cancel", "data": {}, "by": "nobody"}


class Absent(Script):
    """Is asked, and never answers."""

    def __init__(self) -> None:
        super().__init__("accept")
        self.asked = anyio.Event()

    async def ask(self, message: str, form: Form, *, until: str = "") -> Reply:
        self.asked.set()
        await anyio.sleep_forever()
        raise AssertionError("it must not come to this")


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_a_call_that_is_cancelled_at_its_question_has_ended_in_the_host(
    host: Live, era: Era
) -> None:
    person = Absent()

    async def agent() -> None:
        token = host.bridge.instance.token("test")
        async with (
            connect(host.bridge.url, token, era=era, person=person) as client,
            anyio.create_task_group() as calling,
        ):
            calling.start_soon(client.call, "ask", {})
            await person.asked.wait()
            calling.cancel_scope.cancel()

    host.run(agent)

    host.until(lambda: not host.bridge.broker.open, 5)
    host.until(lambda: host.bridge.recent.records()[0].ended is not None, 5)
    (record,) = host.bridge.recent.records()
    assert [(it.how, it.by) for it in record.answers] == [("cancelled", "nobody")]


class Session:
    """Its host asks at first, and is gone when it is called again."""

    def __init__(self) -> None:
        self.calls: list[str | None] = []
        self.waits = anyio.Event()

    async def call_tool(self, *args: Any, request_state: str | None = None, **more: Any) -> Any:
        self.calls.append(request_state)
        if args[0] == "wait":
            self.waits.set()
            await anyio.sleep_forever()
        if request_state is None:
            return types.InputRequiredResult(request_state="1.0")
        raise MCPError(types.CONNECTION_CLOSED, "It is gone.")


class Asking:
    """A client that asks a person, who answers or not."""

    def __init__(self, *, answers: bool = False) -> None:
        self.session = Session()
        self.asked = anyio.Event()
        self._answers = answers

    async def call_tool(self, *args: Any, **more: Any) -> Any:
        asked = await self.session.call_tool(*args)
        if self._answers:
            return await self.session.call_tool(*args, request_state=asked.request_state)
        self.asked.set()
        await anyio.sleep_forever()


@pytest.mark.anyio
async def test_a_call_is_cancelled_at_its_question_though_its_host_is_gone() -> None:
    client = Asking()
    async with anyio.create_task_group() as calling:
        calling.start_soon(Agent(cast("Client", client)).call, "ask", {})
        await client.asked.wait()
        calling.cancel_scope.cancel()

    assert client.session.calls == [None, "1.0"]


@pytest.mark.anyio
async def test_a_cancelled_call_ends_no_question_of_an_earlier_one_that_failed() -> None:
    client = Asking(answers=True)
    agent = Agent(cast("Client", client))
    with suppress(MCPError):
        await agent.call("ask", {})
    async with anyio.create_task_group() as calling:
        calling.start_soon(agent.call, "wait", {})
        await client.session.waits.wait()
        calling.cancel_scope.cancel()

    assert client.session.calls == [None, "1.0", None]


QUESTION = types.ElicitRequest(
    params=types.ElicitRequestFormParams(message="?", requested_schema=cast("Any", CONFIRM))
)
OPEN = {"status": "input_required", "poll_interval_ms": 1, "input_requests": {"k": QUESTION}}
ENDED = {"status": "completed", "result": types.CallToolResult(content=[])}


Sent = list[tuple[str, Any]]


async def follow(
    monkeypatch: pytest.MonkeyPatch,
    looks: Callable[[Sent], dict[str, Any]],
    person: Any,
    send: Callable[[Sent], None] = lambda sent: None,
) -> tuple[types.CallToolResult, Sent]:
    """Follow a task that a host shows so at each look; gives what it sent besides looks, too."""
    sent: Sent = []

    async def exchange(session: Any, method: str, result: Any, **params: Any) -> Any:
        if method == "tasks/get":
            return tasks._TaskState.model_validate(looks(sent))
        sent.append((method, params))
        send(sent)

    monkeypatch.setattr(tasks, "_send", exchange)
    with anyio.fail_after(5):
        return await TaskFollower(person).follow(cast("Any", None), "x.1"), sent


@pytest.mark.anyio
async def test_an_answer_whose_request_broke_is_sent_again_and_the_person_asked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    async def person(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params)
        return types.ElicitResult(action="accept", content={"ok": True})

    def send(sent: Sent) -> None:
        if len(sent) == 1:
            raise MCPError(types.CONNECTION_CLOSED, "gone")

    _, sent = await follow(monkeypatch, lambda sent: OPEN if len(sent) < 2 else ENDED, person, send)

    answers = [params["input_responses"]["k"].content for _, params in sent]
    assert (len(asked), answers) == (1, [{"ok": True}] * 2)


@pytest.mark.anyio
async def test_a_question_of_a_task_that_was_answered_elsewhere_is_taken_from_the_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    prompts: list[str] = []

    async def person(context: Any, params: Any) -> types.ElicitResult:
        prompts.append("shown")
        try:
            await anyio.sleep_forever()
        finally:
            prompts.append("taken away")
        raise AssertionError("it must not come to this")

    result, sent = await follow(monkeypatch, lambda _: ENDED if prompts else OPEN, person)

    assert not result.is_error
    assert prompts == ["shown", "taken away"]
    assert sent == []


@pytest.mark.anyio
async def test_a_question_of_a_task_for_which_nobody_is_here_stays_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result, sent = await follow(monkeypatch, lambda _: OPEN, None)

    assert result.is_error
    assert "?" in str(result.content)
    assert sent == []
