"""While a question is open the host and the other agents go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dcc_bridge import elicit_form_sync
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.testing import ScriptedPresenter
from tests.live import Live, live, status
from tests.server.skills import CONFIRM, Skills

YES = Reply("accept", {"confirm": True})


def call(running: Live, tool: str, **arguments: Any) -> Any:
    """Start a call on a client of its own."""

    async def agent() -> Any:
        async with running.client() as client:
            return await client.call_tool(tool, arguments)

    return running.go(agent)


def test_a_second_client_can_read(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), ScriptedPresenter()

    with live(
        tmp_path, skills.delete(), skills.read(), host=skills.host, presenter=person
    ) as running:
        first = call(running, "delete")
        running.until(lambda: bool(person.shown))
        read = running.call("count")
        waiting = not first.done()
        person.settles[0](YES)
        running.until(first.done)

    assert waiting
    assert read.content[0].text == "127"  # type: ignore[union-attr]  # it is text
    assert status(first.result()) == "done"


def test_a_second_destructive_call_waits_its_turn(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), ScriptedPresenter()

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        first = call(running, "delete", pattern="cam1")
        running.until(lambda: bool(person.shown))
        second = call(running, "delete", pattern="cam2")
        running.until(lambda: running.bridge.main.waiting == 1)
        shown = len(person.shown)
        person.settles[0](YES)
        running.until(lambda: len(person.shown) == 2)
        person.settles[1](YES)
        running.until(lambda: first.done() and second.done())

    assert shown == 1
    assert skills.ran["delete"] == 2
    assert len(skills.host.labels) == 2


def test_the_person_at_the_host_is_told_what_was_done_and_can_take_it_back(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), ScriptedPresenter(YES, Reply("decline"))

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
    assert "since" in person.notices[1]
    assert len(person.notices) == 2


def test_the_hosts_own_button_gets_its_own_question(tmp_path: Path) -> None:
    skills, person = Skills(has_ui=True), ScriptedPresenter(None, YES)

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        first = call(running, "delete")
        running.until(lambda: bool(person.shown))
        answer = elicit_form_sync("From a shelf button?", CONFIRM)
        person.settles[0](YES)
        running.until(first.done)

    assert answer.answered_by == "host"
    assert status(first.result()) == "done"
