"""An agent picks up an answer that came after its call had ended, by the same call made again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge import confirm_sync, elicit_form_sync, skill
from dcc_bridge.elicitation.question import Expired, Reply
from dcc_bridge.panel.rows import ended
from dcc_bridge.server import parked_calls
from tests.live import Live, live, status, text
from tests.server.skills import NAME
from tests.stand_ins import FakeHost, Person
from tests.tiers import every_era

YES = Reply("accept", {"confirm": True})
CAMERAS = ["cam1", "cam2"]


class Studio:
    """A host with cameras, and a person who answers when the test says so."""

    def __init__(self, folder: Path) -> None:
        self.host = FakeHost([*CAMERAS], has_ui=True)
        self.person = Person()
        self.folder = folder

    def skills(self) -> list[Callable[..., Any]]:
        host = self.host

        @skill(risk="destructive", confirms=True)
        def confirmed() -> int:
            gone = confirm_sync("Delete all?", items=lambda: list(host.items), verb="Delete")
            host.items.clear()
            return len(gone)

        @skill
        def tried() -> int:
            gone = len(host.items)
            host.items.clear()
            return gone

        @skill(risk="destructive", tried=False)
        def asked_first() -> int:
            gone = len(host.items)
            host.items.clear()
            return gone

        @skill(risk="edit")
        def named() -> str:
            answer = elicit_form_sync("Which name?", NAME)
            name = (answer.data or {}).get("name", "nothing")
            if answer.accepted:
                host.items.append(name)
            return str(name)

        return [confirmed, tried, asked_first, named]

    def running(self) -> Any:
        return live(self.folder, *self.skills(), host=self.host, presenter=self.person)

    def expire(self, running: Live, tool: str) -> str:
        """Call a tool, and let the time of its question pass; returns what the agent is told."""
        called = running.start(tool)
        running.until(lambda: bool(self.person.shown))
        self.person.settles[-1](Expired())
        running.until(called.done)
        return text(called.result())

    def answer_late(self, running: Live, reply: Reply = YES) -> None:
        """Open the card that expired, and answer."""
        running.until(lambda: bool(self.person.chips))
        self.person.chips[-1].answer_here()
        self.person.settles[-1](reply)


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    return Studio(tmp_path)


LOSING = ["confirmed", "tried", "asked_first"]


@pytest.mark.parametrize("tool", LOSING)
def test_nothing_is_edited_before_the_call_is_made_again(tool: str, studio: Studio) -> None:
    with studio.running() as running:
        told = studio.expire(running, tool)
        studio.answer_late(running)
        before = list(studio.host.items)
        result = running.call(tool)

    assert "the same call with the same arguments gets the answer" in told
    assert before == CAMERAS
    assert status(result) == "done", text(result)
    assert studio.host.items == []
    assert len(studio.person.shown) == 2


@pytest.mark.parametrize("tool", LOSING)
def test_the_person_is_asked_again_where_the_scene_has_changed(tool: str, studio: Studio) -> None:
    with studio.running() as running:
        studio.expire(running, tool)
        studio.answer_late(running)
        if tool == "asked_first":
            studio.host._file = Path("another.scene")
        else:
            studio.host.items.append("cam3")
        again = running.start(tool)
        running.until(lambda: len(studio.person.shown) == 3)
        studio.person.settles[-1](Reply("decline"))
        running.until(again.done)

    assert "cam1" in studio.host.items


@pytest.mark.parametrize("tool", LOSING)
def test_a_late_question_that_is_put_off_stands_in_the_history_of_its_call(
    tool: str, studio: Studio
) -> None:
    with studio.running() as running:
        studio.expire(running, tool)
        studio.answer_late(running, Reply("cancel"))
        (record,) = running.bridge.recent.records()

    assert [(answer.how, answer.by) for answer in record.answers] == [
        ("timed_out", "nobody"),
        ("cancelled", "host"),
    ]
    assert ended(record) == "the question was closed in the app"
    assert studio.host.items == CAMERAS


def test_a_late_question_that_is_taken_from_the_panel_stands_in_the_history_too(
    studio: Studio,
) -> None:
    with studio.running() as running:
        studio.expire(running, "tried")
        ((question, _),) = running.bridge.broker.asked
        running.bridge.broker.dismiss(question)
        (record,) = running.bridge.recent.records()

    assert record.answers[-1].how == "cancelled"


def test_an_input_that_was_typed_late_is_taken_as_if_it_came_in_time(studio: Studio) -> None:
    with studio.running() as running:
        studio.expire(running, "named")
        studio.answer_late(running, Reply("accept", {"name": "key_light"}))
        result = running.call("named")

    assert text(result) == "key_light"
    assert studio.host.items == [*CAMERAS, "key_light"]


@every_era
def test_a_client_that_cannot_keep_its_request_open_picks_the_answer_up(
    era: str, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parked_calls, "MIN_CLIENT_TIMEOUT_S", 0.0)
    with studio.running() as running:
        running.leave("tried", lambda: bool(studio.person.shown), era=era)
        running.until(lambda: bool(studio.person.notices))
        studio.person.settles[-1](YES)
        before = list(studio.host.items)
        result = running.call("tried", era=era)

    assert before == CAMERAS
    assert status(result) == "done", text(result)
    assert studio.person.taken_down == ["answered"]
    assert len(studio.person.shown) == 1


def test_a_command_of_the_persons_own_takes_its_card_along(
    studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not time out: the person has ended it."""
    monkeypatch.setattr(parked_calls, "MIN_CLIENT_TIMEOUT_S", 0.0)
    with studio.running() as running:
        running.leave("tried", lambda: bool(studio.person.shown), label="cli")
        running.until(lambda: bool(studio.person.taken_down))

    assert studio.person.taken_down == ["cancelled"]
    assert studio.host.items == CAMERAS


@every_era
def test_a_client_that_cancels_before_any_client_times_out_takes_its_card_along(
    era: str, studio: Studio
) -> None:
    with studio.running() as running:
        running.leave("tried", lambda: bool(studio.person.shown), era=era)
        running.until(lambda: bool(studio.person.taken_down))

    assert studio.person.taken_down == ["cancelled"]
    assert running.bridge.broker.asked == []


@every_era
def test_a_client_that_comes_back_in_time_goes_on_with_the_same_card(
    era: str, studio: Studio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parked_calls, "MIN_CLIENT_TIMEOUT_S", 0.0)
    with studio.running() as running:
        running.leave("tried", lambda: bool(studio.person.shown), era=era)
        running.until(lambda: bool(studio.person.notices))
        again = running.start("tried", era=era)
        running.until(lambda: bool(running.bridge.broker.open))
        studio.person.settles[0](YES)
        running.until(again.done)

    assert status(again.result()) == "done"
    assert studio.host.items == []
    assert len(studio.person.shown) == 1
