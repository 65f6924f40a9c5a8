"""A skill in a test is tried, asked about and undone as in an application."""

from __future__ import annotations

from typing import Any

import pytest

from dcc_bridge import confirm_sync, elicit_form, elicit_form_sync, skill
from dcc_bridge.testing import PretendedHost, agree, close, decline, fill, opened, play

NAME: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}


@pytest.fixture
def host() -> PretendedHost:
    return PretendedHost(["cam1", "cam2", "cam3"])


def test_a_loss_stays_in_one_step_after_a_yes(host: PretendedHost) -> None:
    @skill
    def drop(count: int) -> int:
        """Drop the first ones."""
        del host.items[:count]
        return count

    played = play(drop, {"count": 2}, host=host, answers=[agree()])

    assert (played.status, played.value) == ("done", 2)
    assert [asked.items for asked in played.asked] == [("cam1", "cam2")]
    assert host.items == ["cam3"]
    assert len(host.labels) == 1


@pytest.mark.parametrize("answer", [decline("not now"), close()])
def test_nothing_is_lost_without_a_yes(answer: Any, host: PretendedHost) -> None:
    @skill
    def drop() -> None:
        """Drop all."""
        host.items.clear()

    played = play(drop, host=host, answers=[answer])

    assert played.status == "refused"
    assert (host.items, host.labels) == (["cam1", "cam2", "cam3"], [])


def test_what_is_unticked_stays(host: PretendedHost) -> None:
    @skill(risk="destructive", confirms=True)
    def drop() -> None:
        """Drop some."""
        agreed = confirm_sync("Drop them?", items=list(host.items), may_take_fewer=True)
        host.items = [item for item in host.items if item not in agreed]

    played = play(drop, host=host, answers=[agree(leave_out=["cam2"])])

    assert (played.status, host.items) == ("done", ["cam2"])


def test_a_form_is_filled_in_by_the_main_thread_and_by_a_coroutine(host: PretendedHost) -> None:
    @skill(risk="edit")
    def add() -> str:
        """Add one."""
        name = (elicit_form_sync("Which name?", NAME).data or {})["name"]
        host.items.append(name)
        return str(name)

    @skill(risk="read")
    async def ask() -> str:
        """Ask."""
        answer = await elicit_form("Which name?", NAME)
        return str((answer.data or {})["name"])

    added = play(add, host=host, answers=[fill(name="cam4")])
    told = play(ask, host=host, answers=[fill(name="cam5")])

    assert (added.value, told.value) == ("cam4", "cam5")
    assert added.asked[0].fields == ("name",)
    assert host.items[-1] == "cam4"


def test_a_script_that_does_not_fit_the_questions_is_told(host: PretendedHost) -> None:
    @skill
    def drop() -> None:
        """Drop all."""
        host.items.clear()

    with pytest.raises(AssertionError, match=r"fewer answers.*Delete 3 cams"):
        play(drop, host=host)
    with pytest.raises(AssertionError, match="asked 1 question, and the test has 1 more answer"):
        play(drop, host=host, answers=[decline(), agree()])


@pytest.mark.parametrize("wrong", ["cam1", "cam9"])
def test_what_cannot_be_unticked_is_told(wrong: str, host: PretendedHost) -> None:
    @skill(risk="destructive", confirms=True)
    def drop() -> None:
        """Drop some."""
        confirm_sync("Drop them?", items=list(host.items), may_take_fewer=wrong == "cam9")

    with pytest.raises(AssertionError, match=f"{wrong} cannot be unticked in: Drop them"):
        play(drop, host=host, answers=[agree(leave_out=[wrong])])


def test_an_error_of_the_skill_is_told_and_its_edit_undone(host: PretendedHost) -> None:
    @skill
    def fail() -> None:
        """Fail."""
        host.items.append("half")
        raise ValueError("The rig has no root.")

    played = play(fail, host=host)

    assert played.status == "failed"
    assert "The rig has no root." in (played.error or "")
    assert "half" not in host.items


def test_arguments_that_do_not_fit_end_the_call_as_an_agent_is_told(host: PretendedHost) -> None:
    """As every other error that an agent could make: none of them is raised in the test."""

    @skill
    def drop(count: int) -> None:
        """Drop some."""

    played = play(drop, {"count": "many"}, host=host)

    assert played.status == "not_started"
    assert (played.error or "").startswith("drop cannot be called like this: count")


def test_answers_that_were_not_needed_are_told_with_the_error_of_the_call(
    host: PretendedHost,
) -> None:
    @skill
    def fail() -> None:
        """Fail."""
        raise ValueError("The rig has no root.")

    with pytest.raises(AssertionError, match=r"1 more answer.*'failed': .*The rig has no root"):
        play(fail, host=host, answers=[agree()])


def test_an_unknown_application_is_an_error() -> None:
    with pytest.raises(LookupError, match=r"'paint'\. There are: blender"):
        opened("paint").__enter__()
