"""Who waits for whom: a question that its client left, and questions that keep nobody."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import ElicitResult, InputRequiredResult

from dcc_bridge import confirm_sync, elicit_form_sync, skill
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.types import TIMED_OUT, cancelled_response
from tests.live import ERAS, Live, live, text
from tests.server.skills import NAME, YES, Skills
from tests.stand_ins import FakeHost, Person

UNTIL = r"a question of absent, until \d\d:\d\d:\d\d at the latest"


def skills(host: FakeHost) -> list[Callable[..., Any]]:
    """Make a skill that asks, after it has edited or before, and two that only come by."""

    @skill(risk="destructive", confirms=True)
    def delete(edits_first: bool = False) -> str:
        if edits_first:
            confirm_sync("The first?", verb="Delete")
            host.items.pop()
        confirm_sync("All of them?", verb="Delete")
        return "deleted"

    @skill(risk="edit")
    def rename() -> str:
        host.items[0] = "renamed"
        return "renamed"

    @skill(risk="read")
    def count() -> int:
        return len(host.items)

    return [delete, rename, count]


async def leave_at_question(running: Live, edits_first: bool = False) -> None:
    """Be a client that is asked, and never heard of again."""
    async with running.client(asked=yes, label="absent") as client:
        answers: Any = None
        state = None
        for _ in range(1 + edits_first):
            result = await client.session.call_tool(
                "delete",
                {"edits_first": edits_first},
                allow_input_required=True,
                input_responses=answers,
                request_state=state,
            )
            assert isinstance(result, InputRequiredResult)
            state = result.request_state
            answers = {key: yes(None) for key in result.input_requests or {}}


def yes(params: object) -> ElicitResult:
    return ElicitResult(action="accept", content={"confirm": True})


def test_nobody_who_comes_ends_a_question_that_its_client_left(tmp_path: Path) -> None:
    """It has its five minutes, as any other; a read that needs not wait goes on beside it."""
    host = FakeHost(["cam1", "cam2"])
    with live(tmp_path, *skills(host), host=host) as running:
        running.run(leave_at_question, running)

        result = running.call("count")

        assert not result.is_error, text(result)
        assert len(running.bridge.broker.open) == 1


@pytest.mark.parametrize("edits_first", [False, True])
def test_a_client_that_waits_has_its_turn_when_the_time_of_the_question_is_over(
    edits_first: bool, tmp_path: Path
) -> None:
    host = FakeHost(["cam1", "cam2"])
    with live(tmp_path, *skills(host), host=host) as running:
        running.run(leave_at_question, running, edits_first)
        waiting = running.start("rename")
        running.until(lambda: "queued" in [it.state for it in running.bridge.recent.records()])
        (question,) = running.bridge.broker.open
        running.bridge.broker.dismiss(question, cancelled_response(TIMED_OUT))
        running.until(waiting.done)

    assert text(waiting.result()) == "renamed"
    assert host.items == ["renamed", "cam2"]


def test_a_read_in_the_middle_of_an_edit_is_told_until_when(tmp_path: Path) -> None:
    host = FakeHost(["cam1", "cam2"])
    with live(tmp_path, *skills(host), host=host) as running:
        running.run(leave_at_question, running, True)

        why = text(running.call("count"))

    assert re.search(f"in the middle of an edit and waits for the answer to {UNTIL}; try", why)


@pytest.mark.parametrize("era", ERAS[1:])
def test_whoever_waits_is_told_for_whose_question(era: str, tmp_path: Path) -> None:
    host, heard = FakeHost(["cam1"]), list[str]()

    async def waiting() -> None:
        async with running.client(era=era) as client, anyio.create_task_group() as tasks:

            async def note(progress: float, total: float | None, message: str | None) -> None:
                heard.append(message or "")
                tasks.cancel_scope.cancel()

            tasks.start_soon(lambda: client.call_tool("rename", {}, progress_callback=note))

    with live(tmp_path, *skills(host), host=host, keepalive=0.05) as running:
        running.run(leave_at_question, running)
        running.run(waiting)

    assert re.fullmatch(f"Waiting for the answer to {UNTIL}", heard[0])


def test_twelve_clients_are_asked_for_input_at_once_and_edit_one_after_another(
    tmp_path: Path,
) -> None:
    """Nobody waits for a person at another client; each edit is an undo step of its own."""
    host, at_once = FakeHost(["cam"]), 12
    editing: list[str] = []

    @skill(risk="edit", undo="Name")
    def add_named() -> str:
        answer = elicit_form_sync("Which name?", NAME)
        assert not editing, "another edit is going on"
        editing.append("begun")
        host.items.append((answer.data or {})["name"])
        editing.clear()
        return host.items[-1]

    async def crowd() -> list[str]:
        asked, names = set[str](), list[str]()
        every = anyio.Event()

        async def one(label: str) -> None:
            async def person(params: Any) -> ElicitResult:
                asked.add(label)
                if len(asked) == at_once:
                    every.set()
                await every.wait()
                return ElicitResult(action="accept", content={"name": label})

            async with running.client(asked=person, label=label) as client:
                names.append(text(await client.call_tool("add_named", {})))

        async with anyio.create_task_group() as tasks:
            for number in range(at_once):
                tasks.start_soon(one, f"client{number}")
        return names

    with live(tmp_path, add_named, host=host) as running:
        names = running.run(crowd)

    assert sorted(names) == sorted(f"client{number}" for number in range(at_once))
    assert sorted(host.items[1:]) == sorted(names)
    steps = [record.effect.steps for record in running.bridge.recent.records()]
    assert len({label for labels in steps for label in labels}) == at_once


def test_an_edit_that_was_asked_for_input_waits_for_one_that_began_meanwhile(
    tmp_path: Path,
) -> None:
    """So that each can be undone: the answer comes while the other one is in its middle."""
    host, order = FakeHost(["cam1", "cam2"]), list[str]()

    @skill(risk="edit")
    def add_named() -> str:
        answer = elicit_form_sync("Which name?", NAME)
        order.append("added")
        host.items.append((answer.data or {})["name"])
        return "added"

    @skill(risk="edit", tried=False)  # else nothing of it is in the scene while it is asked
    def rename(name: str = "first") -> str:
        host.items[0] = "once"
        answer = elicit_form_sync("Which name?", NAME)
        order.append("renamed")
        host.items[0] = (answer.data or {})["name"]
        return "renamed"

    async def crowd() -> None:
        renaming, answered = anyio.Event(), anyio.Event()

        async def first(params: Any) -> ElicitResult:
            tasks.start_soon(call, "rename", second)
            await renaming.wait()
            answered.set()
            return ElicitResult(action="accept", content={"name": "cam3"})

        async def second(params: Any) -> ElicitResult:
            renaming.set()
            await answered.wait()
            read = await other.call_tool("recent_calls", {})  # the answer was on its way before
            assert not read.is_error
            return ElicitResult(action="accept", content={"name": "twice"})

        async def call(tool: str, person: Any) -> None:
            async with running.client(asked=person, label=tool) as client:
                assert not (await client.call_tool(tool, {})).is_error

        async with running.client() as other, anyio.create_task_group() as tasks:
            await call("add_named", first)

    with live(tmp_path, add_named, rename, host=host) as running:
        running.run(crowd)

    assert order == ["renamed", "added"]
    assert host.items == ["twice", "cam2", "cam3"]


def test_the_person_at_the_host_is_told_what_was_done_and_can_take_it_back(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), Person(YES, Reply("decline"))

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        running.call("delete")
        empty = not skills.host.items
        undo = person.undos[0]
        assert undo is not None
        undo()
        back = len(skills.host.items)
        undo()
        running.call("delete")

    assert empty
    assert back == 127
    assert "Delete" in person.notices[0]
    assert person.notices[1] == "It is already undone."
    assert len(person.notices) == 2
