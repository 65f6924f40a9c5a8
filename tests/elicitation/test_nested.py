"""A destructive skill that an edit calls asks for consent, and is undone without it."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from mcp_types import CallToolResult

from dcc_bridge import carry, confirm_sync, elicit_form, elicit_form_sync, on_main, skill
from dcc_bridge.elicitation.call import destructive_skill
from dcc_bridge.elicitation.question import Question, Reply
from tests.live import accept, live, status, text
from tests.server.skills import CONFIRM
from tests.stand_ins import FakeHost, ScriptedPresenter
from tests.tiers import every_era

CAMERAS: Final = ["cam0", "cam1", "cam2"]
YES: Final = Reply("accept", {"confirm": True})
FOR_THE_SESSION: Final = Reply("accept", {"confirm": True}, remember=True)


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


def call(
    host: FakeHost, tool: Callable[..., Any], tmp_path: Path, *said: Any, **more: Any
) -> tuple[CallToolResult, list[Question]]:
    """Call a skill of a client that accepts whatever it is asked, where a person sits."""
    person = ScriptedPresenter(*said)
    settings = {key: more.pop(key) for key in ("edit",) if key in more}
    with live(tmp_path, tool, host=host, presenter=person, **settings) as running:
        result = running.call(tool.__name__, asked=accept(confirm=True), **more)
    return result, person.shown


@every_era
def test_its_form_is_asked_as_consent_and_covers_its_own_undo_step_alone(
    era: str, tmp_path: Path
) -> None:
    host = FakeHost(CAMERAS, has_ui=True)

    result, shown = call(host, tidying(host), tmp_path, YES, era=era)
    tidied, labels = list(host.items), list(host.labels)
    for _ in labels:
        host.undo()

    assert [(one.consent is not None, one.call.skill, one.message) for one in shown] == [
        (True, "tidy", "Delete them?")
    ]
    assert (text(result), status(result), tidied) == ("accept", "done", ["note"])
    assert [label.partition(" [")[0] for label in labels] == ["Tidy up", "Tidy up"]
    assert host.items == CAMERAS


def test_where_it_names_what_is_lost_all_is_one_undo_step(tmp_path: Path) -> None:
    host = FakeHost(CAMERAS, has_ui=True)

    @skill(risk="destructive", confirms=True)
    def delete() -> None:
        """Delete one."""
        host.items.remove(*confirm_sync("Delete it?", items=["cam0"]))

    @skill(risk="edit", undo="Tidy up")
    def tidy() -> None:
        """Delete one, and leave a note."""
        delete()
        host.items.append("note")

    result, _ = call(host, tidy, tmp_path, YES)

    assert (status(result), host.items) == ("done", ["cam1", "cam2", "note"])
    assert len(host.labels) == 1


@every_era
@pytest.mark.parametrize("said", [Reply("decline"), Reply("accept", {"confirm": False})])
def test_without_a_yes_what_it_changes_all_the_same_is_undone(
    said: Reply, era: str, tmp_path: Path
) -> None:
    host = FakeHost(CAMERAS, has_ui=True)

    result, _ = call(host, tidying(host, heedless=True), tmp_path, said, era=era)

    assert status(result) == "no_consent"
    assert host.items == CAMERAS
    assert host.labels == []


def test_what_the_outer_one_changed_before_is_not_held_against_it(tmp_path: Path) -> None:
    host = FakeHost(CAMERAS, has_ui=True)

    result, _ = call(host, tidying(host, first=True), tmp_path, YES)

    assert (status(result), host.items) == ("done", ["begun", "note"])


def test_a_yes_to_the_edit_is_none_to_the_deletion_in_it(tmp_path: Path) -> None:
    host = FakeHost(CAMERAS, has_ui=True)
    edit_only = (FOR_THE_SESSION, Reply("decline"))

    result, shown = call(host, tidying(host, heedless=True), tmp_path, *edit_only, edit="ask")

    assert [one.consent is not None for one in shown] == [True, True]
    assert [one.offers.remember for one in shown] == [0, None]
    assert status(result) == "no_consent"
    assert host.items == CAMERAS


def test_what_was_agreed_to_for_the_session_does_not_cover_a_deletion(tmp_path: Path) -> None:
    host = FakeHost(CAMERAS, has_ui=True)
    person = ScriptedPresenter(FOR_THE_SESSION, YES, Reply("decline"))

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


def test_an_edit_that_asks_for_itself_is_asked_at_the_client_as_before(tmp_path: Path) -> None:
    host = FakeHost(CAMERAS, has_ui=True)
    deleting(host)

    @skill(risk="edit")
    def rename() -> str:
        """Ask."""
        return elicit_form_sync("Rename?", CONFIRM).answered_by

    result, shown = call(host, rename, tmp_path)

    assert (text(result), shown) == ("client", [])


def test_a_coroutine_that_awaits_one_asks_for_consent(tmp_path: Path) -> None:
    host = FakeHost(CAMERAS, has_ui=True)

    @skill(risk="destructive", confirms=True)
    async def delete() -> None:
        """Delete everything, whatever is said."""
        await elicit_form("Delete them?", CONFIRM)
        await on_main(host.items.clear)

    @skill(risk="edit")
    async def tidy() -> None:
        """Delete."""
        await delete()

    result, shown = call(host, tidy, tmp_path, Reply("decline"))

    assert [one.consent is not None for one in shown] == [True]
    assert status(result) == "no_consent"
    assert host.items == CAMERAS


def test_what_such_a_coroutine_asks_on_the_main_thread_is_consent_too(tmp_path: Path) -> None:
    host = FakeHost(CAMERAS, has_ui=True)

    def ask_there() -> None:
        if elicit_form_sync("Delete them?", CONFIRM).accepted:
            host.items.clear()

    @skill(risk="destructive", confirms=True)
    async def delete() -> None:
        """Ask and delete on the main thread."""
        await on_main(ask_there)

    @skill(risk="edit")
    async def tidy() -> None:
        """Delete."""
        await delete()

    _, shown = call(host, tidy, tmp_path, Reply("decline"))

    assert [one.consent is not None for one in shown] == [True]
    assert host.items == CAMERAS


def test_a_thread_of_such_a_skill_asks_for_consent_too(tmp_path: Path) -> None:
    host = FakeHost(CAMERAS, has_ui=True)

    @skill(risk="destructive", confirms=True)
    def delete() -> None:
        """Ask on a thread."""

        def ask() -> None:
            elicit_form_sync("Delete?", CONFIRM)

        thread = threading.Thread(target=carry(ask))
        thread.start()
        thread.join(20)

    @skill(risk="edit", thread="any")
    def tidy() -> None:
        """Delete."""
        delete()

    _, shown = call(host, tidy, tmp_path, Reply("decline"))

    assert [one.consent is not None for one in shown] == [True]


@pytest.mark.parametrize("thread", ["main", "any"])
def test_a_skill_that_says_it_only_reads_cannot_call_one(thread: Any, tmp_path: Path) -> None:
    """It has no undo step, and runs while the edit of another one waits."""
    host = FakeHost(CAMERAS, has_ui=True)
    delete_cameras = deleting(host)

    @skill(risk="read", thread=thread)
    def look() -> None:
        """Delete, and fail."""
        delete_cameras()
        raise ValueError("too late")

    result, shown = call(host, look, tmp_path, YES)

    assert (host.items, shown) == (CAMERAS, [])
    assert text(result).startswith("look: look says that it only reads")


def test_a_task_that_such_a_coroutine_starts_asks_for_consent_too(tmp_path: Path) -> None:
    host = FakeHost(CAMERAS, has_ui=True)

    async def ask_there() -> None:
        await elicit_form("Delete them?", CONFIRM)

    @skill(risk="destructive", confirms=True)
    async def delete() -> None:
        """Ask in a task."""
        await asyncio.create_task(ask_there())

    @skill(risk="edit")
    async def tidy() -> None:
        """Delete."""
        await delete()

    _, shown = call(host, tidy, tmp_path, Reply("decline"))

    assert [one.consent is not None for one in shown] == [True]


def test_what_an_edit_asks_after_such_a_skill_has_returned_is_no_consent(tmp_path: Path) -> None:
    host = FakeHost(CAMERAS, has_ui=True)

    @skill(risk="destructive", confirms=True)
    def delete() -> None:
        """Delete nothing."""

    @skill(risk="edit")
    def rename() -> str:
        """Ask."""
        delete()
        return elicit_form_sync("Rename?", CONFIRM).answered_by

    result, shown = call(host, rename, tmp_path)

    assert (text(result), shown) == ("client", [])


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
