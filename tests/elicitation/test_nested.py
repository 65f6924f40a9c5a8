"""A destructive skill that an edit calls asks for consent, and is undone without it."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import pytest

from dcc_bridge import carry, confirm_sync, elicit_form, elicit_form_sync, on_main, skill
from dcc_bridge.consent.call import destructive_skill
from dcc_bridge.elicitation.question import Reply
from tests.elicitation.brokers import NO, YES
from tests.live import ERAS, accept, live, status, text
from tests.server.skills import CONFIRM
from tests.stand_ins import FakeHost, Person
from tests.tiers import every_era

CAMERAS: Final = ["cam0", "cam1", "cam2"]
FOR_THE_SESSION: Final = Reply("accept", {"confirm": True}, remember=True)
Called = Callable[..., Any]


@pytest.fixture
def host() -> FakeHost:
    return FakeHost(CAMERAS, has_ui=True)


@pytest.fixture
def call(host: FakeHost, tmp_path: Path) -> Called:
    """Call a skill of a client that accepts whatever it is asked, where a person sits."""

    def call(tool: Callable[..., Any], *said: Any, era: str = ERAS[-1], **settings: Any) -> Any:
        person = Person(*said)
        with live(tmp_path, tool, host=host, presenter=person, **settings) as running:
            result = running.call(tool.__name__, asked=accept(confirm=True), era=era)
        return result, person.shown

    return call


def deleting(host: FakeHost) -> Callable[..., Any]:
    """Make a destructive skill that asks by a form, and one careless enough not to look."""

    @skill(risk="destructive", confirms=True)
    def delete_cameras(*, heedless: bool = False) -> str:
        """Delete the cameras if the form says so."""
        answer = elicit_form_sync("Delete them?", CONFIRM)
        if heedless or (answer.accepted and (answer.data or {})["confirm"]):
            host.items = [item for item in host.items if not item.startswith("cam")]
        return answer.action

    return delete_cameras


def tidying(host: FakeHost, *, heedless: bool = False, first: bool = False) -> Callable[..., Any]:
    """Make an edit that calls it."""
    delete_cameras = deleting(host)

    @skill(risk="edit", undo="Tidy up")
    def tidy() -> str:
        """Delete the cameras, and leave a note."""
        if first:
            host.items.append("begun")
        said: str = delete_cameras(heedless=heedless)
        host.items.append("note")
        return said

    return tidy


@every_era
def test_its_form_is_asked_as_consent_and_covers_its_own_undo_step_alone(
    era: str, host: FakeHost, call: Called
) -> None:
    result, shown = call(tidying(host), YES, era=era)
    tidied, labels = list(host.items), list(host.labels)
    for _ in labels:
        host.undo()

    assert [(one.consent is not None, one.call.skill, one.message) for one in shown] == [
        (True, "tidy", "Delete them?")
    ]
    assert (text(result), status(result), tidied) == ("accept", "done", ["note"])
    assert [label.partition(" [")[0] for label in labels] == ["Tidy up", "Tidy up"]
    assert host.items == CAMERAS


def test_where_it_names_what_is_lost_all_is_one_undo_step(host: FakeHost, call: Called) -> None:
    @skill(risk="destructive", confirms=True)
    def delete() -> None:
        """Delete one."""
        host.items.remove(*confirm_sync("Delete it?", items=["cam0"]))

    @skill(risk="edit", undo="Tidy up")
    def tidy() -> None:
        """Delete one, and leave a note."""
        delete()
        host.items.append("note")

    result, _ = call(tidy, YES)

    assert (status(result), host.items) == ("done", ["cam1", "cam2", "note"])
    assert len(host.labels) == 1


@every_era
@pytest.mark.parametrize("said", [NO, Reply("accept", {"confirm": False})])
def test_without_a_yes_what_it_changes_all_the_same_is_undone(
    said: Reply, era: str, host: FakeHost, call: Called
) -> None:
    result, _ = call(tidying(host, heedless=True), said, era=era)

    assert (status(result), host.items, host.labels) == ("no_consent", CAMERAS, [])


def test_what_the_outer_one_changed_before_is_not_held_against_it(
    host: FakeHost, call: Called
) -> None:
    result, _ = call(tidying(host, first=True), YES)

    assert (status(result), host.items) == ("done", ["begun", "note"])


def test_a_yes_to_the_edit_is_none_to_the_deletion_in_it(host: FakeHost, call: Called) -> None:
    result, shown = call(tidying(host, heedless=True), FOR_THE_SESSION, NO, edit="ask")

    assert [one.consent is not None for one in shown] == [True, True]
    assert [one.offers.remember for one in shown] == [0, None]
    assert (status(result), host.items) == ("no_consent", CAMERAS)


def test_what_was_agreed_to_for_the_session_does_not_cover_a_deletion(
    host: FakeHost, tmp_path: Path
) -> None:
    person = Person(FOR_THE_SESSION, YES, NO)

    @skill(risk="destructive", confirms=True)
    def delete() -> None:
        """Delete what a person agreed to."""
        for item in confirm_sync("Delete them?", items=lambda: host.items, verb="Delete"):
            host.items.remove(item)

    @skill(risk="edit")
    def tidy() -> None:
        """Delete."""
        delete()

    with live(tmp_path, tidy, host=host, presenter=person, edit="ask") as running:
        first = running.call("tidy")
        host.items = list(CAMERAS)
        second = running.call("tidy")

    assert [one.call.risk for one in person.shown] == ["destructive"] * 3
    assert [status(first), status(second)] == ["done", "refused"]
    assert host.items == CAMERAS


@pytest.mark.parametrize("calls_one", [False, True])
def test_what_an_edit_asks_for_itself_is_asked_at_the_client_before_and_after_such_a_skill(
    calls_one: bool, call: Called
) -> None:
    @skill(risk="destructive", confirms=True)
    def delete() -> None:
        """Delete nothing."""

    @skill(risk="edit")
    def rename() -> str:
        """Ask."""
        if calls_one:
            delete()
        return elicit_form_sync("Rename?", CONFIRM).answered_by

    result, shown = call(rename)

    assert (text(result), shown) == ("client", [])


def ask() -> None:
    elicit_form_sync("Delete them?", CONFIRM)


async def ask_in_a_coroutine() -> None:
    await elicit_form("Delete them?", CONFIRM)


async def ask_in_a_task() -> None:
    await asyncio.create_task(ask_in_a_coroutine())


async def ask_on_the_main_thread() -> None:
    await on_main(ask)


@pytest.mark.parametrize("asks", [ask_in_a_coroutine, ask_in_a_task, ask_on_the_main_thread])
def test_a_coroutine_that_awaits_one_asks_for_consent_wherever_that_asks(
    asks: Callable[[], Coroutine[Any, Any, None]], host: FakeHost, call: Called
) -> None:
    @skill(risk="destructive", confirms=True)
    async def delete() -> None:
        """Delete everything, whatever is said."""
        await asks()
        await on_main(host.items.clear)

    @skill(risk="edit")
    async def tidy() -> None:
        """Delete."""
        await delete()

    result, shown = call(tidy, NO)

    assert [one.consent is not None for one in shown] == [True]
    assert (status(result), host.items) == ("no_consent", CAMERAS)


@pytest.mark.parametrize(("risk", "by"), [("destructive", "host"), ("edit", "client")])
def test_a_thread_of_a_skill_on_the_pool_asks_for_consent_where_that_skill_would(
    risk: Any, by: str, call: Called
) -> None:
    answered: list[str] = []

    def ask_there() -> None:
        answered.append(elicit_form_sync("Delete them?", CONFIRM).answered_by)

    @skill(risk=risk, confirms=risk == "destructive")
    def delete() -> None:
        """Ask on a thread."""
        thread = threading.Thread(target=carry(ask_there))
        thread.start()
        thread.join(20)

    @skill(risk="edit", thread="any")
    def tidy() -> None:
        """Delete."""
        delete()

    _, shown = call(tidy, NO)

    assert answered == [by]
    assert [one.consent is not None for one in shown] == [True] * (by == "host")


@pytest.mark.parametrize("thread", ["main", "any"])
def test_a_skill_that_says_it_only_reads_cannot_call_one(
    thread: Any, host: FakeHost, call: Called
) -> None:
    """It has no undo step, and runs while the edit of another one waits."""
    delete_cameras = deleting(host)

    @skill(risk="read", thread=thread)
    def look() -> None:
        """Delete, and fail."""
        delete_cameras()
        raise ValueError("too late")

    result, shown = call(look, YES)

    assert (host.items, shown) == (CAMERAS, [])
    assert text(result).startswith('look: look is declared as risk="read"')


def test_outside_of_any_call_it_is_a_plain_function() -> None:
    @skill(risk="destructive")
    def look() -> str:
        """Tell what runs."""
        return destructive_skill.get()

    assert look() == ""


@pytest.mark.parametrize("risk", ["read", "edit", "destructive"])
def test_a_marked_function_still_looks_as_it_was(risk: Any) -> None:
    def plain(pattern: str = "*") -> int:
        """Count."""
        return len(pattern)

    marked = skill(risk=risk)(plain)

    assert (marked.__name__, marked.__doc__, marked("cam")) == ("plain", "Count.", 3)
    assert inspect.signature(marked) == inspect.signature(plain)
