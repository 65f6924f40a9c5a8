"""A question always ends, and nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import threading
import time
from asyncio.selector_events import BaseSelectorEventLoop
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import anyio
import pytest
import uvicorn
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult

from dcc_bridge import confirm_sync, elicit_form_sync, on_main, report_progress, skill
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.errors import StartError
from dcc_bridge.threads import flows
from tests.bench.agent import LEGACY, MODERN, Agent, Server
from tests.live import ERAS, LIMIT, Live, live, status, text
from tests.server.skills import CONFIRM, Skills
from tests.stand_ins import FakeHost, Person
from tests.tiers import every_era, repeated

OPEN = None


def gone(*_: str) -> None:
    """Do what a host does whose window is gone."""
    raise RuntimeError("Internal C++ object already deleted.")


@every_era
def test_a_client_that_cancels_its_request_takes_the_question_along(
    era: str, tmp_path: Path
) -> None:
    skills, person = Skills(has_ui=True), Person(OPEN)

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        running.leave("delete", lambda: bool(person.shown), era=era)
        running.until(lambda: bool(person.taken_down))
        running.until(lambda: running.bridge.main.waiting == 0 and not running.bridge.broker.open)

    assert person.taken_down == ["cancelled"]
    assert len(skills.host.items) == 127


@pytest.mark.parametrize(
    ("era", "session_grace", "grace"), [(LEGACY, 1.0, 1.0), (MODERN, 60.0, 0.0)]
)
def test_a_client_that_is_gone_ends_its_question_a_legacy_one_after_its_whole_grace(
    era: str, session_grace: float, grace: float, tmp_path: Path
) -> None:
    """A system closes what a killed process had open; the grace is since its last stream ended."""
    skills, person = Skills(has_ui=True), Person(OPEN)

    settings: Any = {"presenter": person, "session_grace": session_grace}
    with live(tmp_path, skills.delete(), host=skills.host, **settings) as running:
        agent = Agent(Server(running.bridge.url, running.bridge.instance.token("lost")), era)
        earlier = time.monotonic()  # by then the streams of the handshake have ended
        agent.send(agent.calling("delete"))
        running.until(lambda: bool(person.shown) and time.monotonic() > earlier + 0.7 * grace)
        lost = time.monotonic()
        agent.close()
        running.until(lambda: bool(person.taken_down))
        took = time.monotonic() - lost

    assert took >= 0.9 * grace
    assert person.taken_down == ["cancelled"]
    assert len(skills.host.items) == 127


@every_era
def test_a_question_whose_client_leaves_ends_by_its_deadline_or_with_its_request(
    era: str, tmp_path: Path
) -> None:
    skills = Skills()
    asked: list[str] = []

    async def never(params: Any) -> Any:
        asked.append(params.message)
        await anyio.sleep_forever()

    # A legacy client's question ends with its request, and not before it was asked.
    delete = skills.delete(timeout=0.3 if era == MODERN else LIMIT)
    with live(tmp_path, delete, host=skills.host) as running:
        running.leave("delete", lambda: bool(asked), era=era, asked=never)
        running.until(lambda: not running.bridge.broker.open)
        running.until(running.bridge.main.submit(lambda: None).done)

    assert len(skills.host.items) == 127
    assert skills.ran["delete"] == 1


def test_stopping_ends_ten_open_questions_and_tells_each_skill(tmp_path: Path) -> None:
    person, heard = Person(), []

    @skill(risk="read", thread="any")
    def wait() -> None:
        heard.append(elicit_form_sync("Well?", CONFIRM).message)

    host = FakeHost(has_ui=True)
    running = Live(tmp_path, wait, presenter=person, host=host, open_questions_of_a_client=10)
    agents = [running.start("wait") for _ in range(10)]
    broker = running.bridge.broker
    running.until(lambda: len(broker.open) == 10 and len(person.shown) == 3)
    running.stop()
    running.until(lambda: all(one.done() for one in agents) and len(heard) == 10)

    assert len(person.shown) == 3  # the others waited in line
    assert heard == ["bridge_closed"] * 10
    assert not list(tmp_path.glob("*.json"))


def test_what_a_coroutine_changes_while_it_is_stopped_is_undone_too(tmp_path: Path) -> None:
    """It takes the end of its question for an answer, and goes on."""
    host, person = FakeHost(["cam0"], has_ui=True), Person(OPEN)

    def name_and_add() -> None:
        elicit_form_sync("Which name?", CONFIRM)
        host.items.append("named")

    @skill(risk="edit")
    async def add() -> None:
        await on_main(host.items.append, "first")
        await on_main(name_and_add)

    running = Live(tmp_path, add, host=host, presenter=person)
    running.start("add")
    running.until(lambda: bool(person.shown))
    running.stop()

    assert host.items == ["cam0"]


@pytest.mark.parametrize("era", ERAS[1:])
def test_a_coroutine_that_runs_when_its_host_stops_ends_and_its_client_is_told(
    era: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What it changed is undone, it may clean up, and nothing is left for somebody to retrieve."""
    host, words, waiting = FakeHost(["cam0"]), list[str](), threading.Event()

    @skill(risk="edit")
    async def render() -> None:
        await on_main(host.items.append, "cam1")
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            words.append("cleaned up")

    running = Live(tmp_path, render, host=host)
    call = running.start("render", era=era)
    running.until(waiting.is_set)
    running.stop()
    running.until(call.done)
    gc.collect()

    result = call.result()
    assert result.is_error
    assert "because the bridge was stopped" in text(result)
    assert (host.items, words) == (["cam0"], ["cleaned up"])
    assert not [it for it in caplog.records if it.name in ("asyncio", "uvicorn.error")]


def test_a_request_that_does_not_end_when_its_host_stops_is_answered_all_the_same(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A thread cannot be stopped; 500 would be a bug of ours."""
    waiting, go_on = threading.Event(), threading.Event()

    @skill(risk="read", thread="any")
    def render() -> None:
        waiting.set()
        go_on.wait(LIMIT)

    async def agent() -> str:
        async with running.client() as client:
            with pytest.raises(MCPError) as refused:
                await client.call_tool("render", {})
            return refused.value.error.message

    running = Live(tmp_path, render)
    call = running.go(agent)
    running.until(waiting.is_set)
    running.stop()
    running.until(call.done)
    go_on.set()

    assert call.result().startswith("The host stopped during this request.")
    assert not [it for it in caplog.records if it.name == "uvicorn.error"]


def test_what_a_host_cannot_take_back_does_not_keep_the_bridge_from_its_end(
    tmp_path: Path,
) -> None:
    host = FakeHost()

    with patch.object(host, "watch", lambda changed: gone):
        Live(tmp_path / "first", host=host).stop()

    Live(tmp_path / "second").stop()


ODD = "caf\udce9"
"""How Python reads a file's name that is Latin-1."""


@pytest.mark.parametrize("era", ERAS[1:])
def test_a_text_that_utf_8_cannot_carry_is_asked_and_told_all_the_same(
    era: str, tmp_path: Path
) -> None:
    heard: list[str] = []

    @skill(risk="edit")
    def rename() -> str:
        report_progress(1, 2, f"Looking at {ODD}")
        form = {"type": "object", "properties": {"go": {"type": "boolean", "title": ODD}}}
        return elicit_form_sync(f"Rename {ODD}?", form).action

    def person(params: Any) -> ElicitResult:
        heard.append(params.message)
        return ElicitResult(action="accept", content={"go": True})

    with live(tmp_path, rename) as running:
        result = running.call("rename", era=era, asked=person)

    assert (text(result), heard) == ("accept", ["Rename caf\u2039U+DCE9\u203a?"])


def test_a_surface_that_fails_to_take_a_question_down_keeps_no_place_in_line(
    tmp_path: Path,
) -> None:
    skills, person = Skills(has_ui=True), Person()

    class Failing(Person):
        def show(self, question: Any, settle: Any) -> Any:
            person.show(question, settle)
            return gone

    with live(
        tmp_path, skills.delete(), host=skills.host, presenter=Failing(), pending_questions=1
    ) as running:
        for _ in range(2):
            called = running.start("delete")
            running.until(lambda: bool(person.settles))
            person.settles.pop()(Reply("decline"))
            running.until(called.done)

    assert len(person.shown) == 2


def test_items_without_a_text_end_their_question_as_one_that_is_not_on_record(
    tmp_path: Path,
) -> None:
    """As a thing in Blender that is gone by then."""

    class Gone:
        def __repr__(self) -> str:
            raise ReferenceError("it has been removed")

    items: list[Any] = [Gone()]
    skills, person = Skills(has_ui=True), Person(OPEN)

    @skill(risk="destructive", confirms=True)
    def wipe() -> None:
        confirm_sync("Wipe?", items=items)

    with (
        patch.object(skills.host, "kinds", lambda items: ["camera"]),
        live(tmp_path, wipe, host=skills.host, presenter=person) as running,
    ):
        result = running.call("wipe")
        left = running.bridge.broker.open

    assert (status(result), left, person.shown) == ("failed", [], [])


def test_stopping_in_the_middle_of_a_skills_own_frame_is_done_after_it(tmp_path: Path) -> None:
    seen: list[str] = []

    @skill(risk="read")
    def stopper() -> str:
        running.bridge.stop()
        seen.append("still here")
        return "done"

    running = Live(tmp_path, stopper)
    result = running.start("stopper")
    running.until(running.bridge.stopped.done)
    running.until(result.done)

    assert seen == ["still here"]


def test_a_legacy_client_hears_of_progress_while_its_person_thinks(tmp_path: Path) -> None:
    """Clients that count the time of their own person are kept waiting by it."""
    heard = anyio.Event()

    @skill(risk="read")
    def ask() -> str:
        return str(elicit_form_sync("Sure?", CONFIRM).action)

    async def think(params: Any) -> ElicitResult:
        with anyio.fail_after(10):
            await heard.wait()
        return ElicitResult(action="accept", content={"confirm": True})

    async def note(progress: float, total: float | None, message: str | None) -> None:
        assert message == "Waiting for the person's answer"
        heard.set()

    async def agent() -> str:
        async with running.client(ERAS[1], think) as client:
            return text(await client.call_tool("ask", {}, progress_callback=note))

    with live(tmp_path, ask, keepalive=0.05) as running:
        assert running.run(agent) == "accept"


def test_stopping_above_the_hosts_own_question_ends_it_first(tmp_path: Path) -> None:
    person = Person()
    running = Live(tmp_path, presenter=person, host=FakeHost(has_ui=True))
    running.bridge.main.post(running.bridge.stop)

    answer = elicit_form_sync("From a shelf button?", CONFIRM)
    running.until(running.bridge.stopped.done)

    assert answer.message == "bridge_closed"


def test_stopping_ends_a_suspended_skill_and_a_queued_call(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), Person(OPEN)

    async def agent() -> Any:
        async with running.client() as client:
            await client.list_tools()  # or it asks for them once its call is answered
            return await client.call_tool("delete", {})

    def states() -> list[str]:
        return sorted(call.state for call in running.bridge.recent.records())

    running = Live(tmp_path, skills.delete(), host=skills.host, presenter=person)
    first, second = running.go(agent), running.go(agent)
    running.until(lambda: bool(person.shown) and states() == ["asking", "queued"])
    running.stop()
    running.until(lambda: first.done() and second.done())

    texts = sorted(text(one.result()) for one in (first, second))
    assert any("bridge_closed" in one for one in texts)
    assert any("stopped in the host" in one for one in texts)
    assert len(skills.host.items) == 127


def test_a_connection_that_comes_as_the_server_closes_is_closed_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else its client waits for five minutes: the process goes on, and keeps the socket."""
    servers: list[Any] = []
    startup, accept = uvicorn.Server.startup, vars(BaseSelectorEventLoop)["_accept_connection"]

    async def note(server: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        servers.append(server)
        await startup(server, sockets)

    def accept_at_the_end(*args: Any) -> None:
        servers[0].end()
        accept(*args)

    monkeypatch.setattr(uvicorn.Server, "startup", note)
    monkeypatch.setattr(BaseSelectorEventLoop, "_accept_connection", accept_at_the_end)
    with live(tmp_path) as running:
        address = urlsplit(running.bridge.url)

        with socket.create_connection((address.hostname, address.port), timeout=5) as client:
            closed = running.beside(lambda: client.recv(1))

    assert closed == b""


@pytest.mark.parametrize("times", repeated(4, 20))
def test_twenty_starts_and_stops_leave_nothing_behind(times: int, tmp_path: Path) -> None:
    skills = Skills()
    with live(tmp_path, skills.read(), host=skills.host) as running:
        running.call("count")
    threads, files = threading.active_count(), _open_files()

    for _ in range(times):
        with live(tmp_path, skills.read(), host=skills.host) as running:
            running.call("count", era=ERAS[1])

    assert threading.active_count() <= threads
    assert _open_files() <= files + 2
    assert not list(tmp_path.glob("*.json"))


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0


def test_a_taken_port_is_a_sentence(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        port = int(running.bridge.url.split(":")[2].split("/")[0])
        context._installed = None  # another process, as far as the port is concerned
        flows._main = None

        with pytest.raises(StartError, match=f"Port {port} cannot be used"):
            Live(tmp_path, port=port)


def test_a_second_start_in_one_process_is_a_sentence(tmp_path: Path) -> None:
    with live(tmp_path), pytest.raises(StartError, match="already running in this process"):
        Live(tmp_path)
