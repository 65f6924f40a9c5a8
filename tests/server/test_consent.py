"""One confirmed destructive edit, in each era, whoever is there to be asked."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Literal

import pytest

from dcc_bridge import skill
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.testing import FakeHost, ScriptedPresenter
from tests.live import ERAS, AskedFn, Tap, accept, live, say, status, text
from tests.server.skills import Skills
from tests.tiers import every_era

REPLIES = {
    "accept": Reply("accept", {"confirm": True}),
    "decline": Reply("decline"),
    "cancel": Reply("cancel"),
}
SAYS: dict[str, AskedFn] = {
    "accept": accept(confirm=True),
    "decline": say("decline"),
    "cancel": say("cancel"),
}


@pytest.mark.parametrize("action", REPLIES)
@every_era
def test_the_person_at_the_host_decides(era: str, action: str, tmp_path: Path) -> None:
    skills, person, tap = Skills(has_ui=True), ScriptedPresenter(REPLIES[action]), Tap()

    with live(tmp_path, skills.delete(), host=skills.host, presenter=person) as running:
        result = running.call("delete", era=era, asked=accept(confirm=True), tap=tap)

    agreed = action == "accept"
    assert len(skills.host.items) == (0 if agreed else 127)
    assert status(result) == ("done" if agreed else "refused")
    assert skills.ran["delete"] == 1
    assert b"elicitation/create" not in tap.heard


@pytest.mark.parametrize("action", SAYS)
@every_era
def test_the_client_is_asked_where_nobody_is_at_the_host(
    era: str, action: str, tmp_path: Path
) -> None:
    skills, tap = Skills(), Tap()

    with live(tmp_path, skills.delete(), host=skills.host) as running:
        result = running.call("delete", era=era, asked=SAYS[action], tap=tap)

    agreed = action == "accept"
    assert len(skills.host.items) == (0 if agreed else 127)
    assert status(result) == ("done" if agreed else "refused")
    assert skills.ran["delete"] == 1
    assert b"Delete 127 cameras?" in tap.heard


@pytest.mark.parametrize("fallback", [None, {"confirm": False}, {"confirm": True}])
@every_era
def test_nothing_is_deleted_or_sent_where_nobody_can_be_asked(
    era: str, fallback: dict[str, Any] | None, tmp_path: Path
) -> None:
    skills, tap = Skills(), Tap()

    with live(tmp_path, skills.delete(fallback), host=skills.host) as running:
        result = running.call("delete", era=era, tap=tap)

    assert len(skills.host.items) == 127
    assert status(result) in ("refused", "no_consent")
    assert skills.ran["delete"] == 1
    assert skills.host.labels == []
    assert b"elicitation/create" not in tap.heard


@every_era
def test_an_accept_that_says_no_deletes_nothing(era: str, tmp_path: Path) -> None:
    skills = Skills()

    with live(tmp_path, skills.delete(), host=skills.host) as running:
        result = running.call("delete", era=era, asked=accept(confirm=False))

    assert len(skills.host.items) == 127
    assert status(result) == "refused"
    assert "Do not try" in text(result)


@every_era
def test_an_async_skill_asks_and_edits_the_same_way(era: str, tmp_path: Path) -> None:
    skills = Skills()

    with live(tmp_path, skills.delete_async(), host=skills.host) as running:
        refused = running.call("delete", era=era, asked=say("decline"))
        before = len(skills.host.items)
        result = running.call("delete", era=era, asked=accept(confirm=True))

    assert status(refused) == "refused"
    assert before == 127
    assert result.structured_content == {"deleted": 127, "by": "client"}
    assert skills.host.items == []


@every_era
def test_a_skill_on_a_pool_thread_asks_too(era: str, tmp_path: Path) -> None:
    skills = Skills()

    with live(tmp_path, skills.ask_on_pool()) as running:
        result = running.call("ask_on_pool", era=era, asked=accept(n=7))

    assert result.structured_content == {"data": {"n": 7}, "message": None, "by": "client"}


@every_era
def test_undo_brings_everything_back_as_one_step(era: str, tmp_path: Path) -> None:
    count = random.randint(2, 400)
    skills = Skills(count)

    with live(tmp_path, skills.delete(), host=skills.host) as running:
        before = skills.host.scene_digest()
        running.call("delete", era=era, asked=accept(confirm=True))
        empty = skills.host.items == []
        skills.host.undo()

    assert empty
    assert skills.host.scene_digest() == before


@every_era
def test_three_questions_run_the_body_once(era: str, tmp_path: Path) -> None:
    skills = Skills()

    with live(tmp_path, skills.thrice(), host=skills.host) as running:
        result = running.call("thrice", era=era, asked=accept(confirm=True))

    assert result.structured_content == {"heard": ["accept"] * 3}
    assert skills.ran["thrice"] == 1
    assert len(skills.host.items) == 126


@every_era
def test_a_refusal_at_the_third_question_undoes_what_the_first_allowed(
    era: str, tmp_path: Path
) -> None:
    skills, answers = Skills(), iter([accept(confirm=True), accept(confirm=True), say("decline")])

    with live(tmp_path, skills.thrice(), host=skills.host) as running:
        result = running.call("thrice", era=era, asked=lambda params: next(answers)(params))

    assert len(skills.host.items) == 127
    assert skills.host.labels == []
    assert skills.ran["thrice"] == 1
    assert status(result) == "refused"


@every_era
def test_a_destructive_skill_that_does_not_ask_never_runs_unasked(era: str, tmp_path: Path) -> None:
    skills = Skills()

    @skill
    def wipe() -> str:
        """Delete everything without a word."""
        skills.ran["wipe"] += 1
        skills.host.items.clear()
        return "gone"

    with live(tmp_path, wipe, host=skills.host) as running:
        nobody = running.call("wipe", era=era)
        declined = running.call("wipe", era=era, asked=say("decline"))
        before = (skills.ran["wipe"], len(skills.host.items))
        agreed = running.call("wipe", era=era, asked=accept(confirm=True))

    assert before == (0, 127)
    assert [status(one) for one in (nobody, declined, agreed)] == ["refused", "refused", "done"]
    assert skills.host.items == []


def test_a_fallback_lets_an_edit_go_on_and_is_labelled(tmp_path: Path) -> None:
    skills = Skills()

    @skill(risk="edit")
    def add() -> dict[str, Any]:
        """Add a camera with a name that the person may choose."""
        from dcc_bridge import elicit_form_sync

        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        answer = elicit_form_sync("Which name?", schema, fallback_values={"name": "cam_new"})
        skills.host.items.append((answer.data or {})["name"])
        return {"message": answer.message, "by": answer.answered_by}

    with live(tmp_path, add, host=skills.host) as running:
        result = running.call("add")

    assert result.structured_content == {"message": "fallback_values_used", "by": "fallback"}
    assert skills.host.items[-1] == "cam_new"


def test_a_change_before_the_first_question_is_undone_and_named(tmp_path: Path) -> None:
    skills = Skills()

    @skill(risk="destructive", confirms=True)
    def hasty() -> str:
        """Delete first and ask later."""
        from dcc_bridge import elicit_form_sync
        from tests.server.skills import CONFIRM

        skills.host.items.clear()
        elicit_form_sync("Was that all right?", CONFIRM)
        return "asked"

    with live(tmp_path, hasty, host=skills.host) as running:
        result = running.call("hasty", asked=accept(confirm=True))

    assert len(skills.host.items) == 127
    assert status(result) == "no_consent"


@pytest.mark.parametrize("era", ERAS)
def test_a_yes_for_the_session_is_for_the_same_arguments_alone(era: str, tmp_path: Path) -> None:
    """Where the question names no items: it shows the arguments, and a choice counts as one."""
    host, given = FakeHost(has_ui=True), []
    session = Reply("accept", {"confirm": True}, remember=True)
    person = ScriptedPresenter(session, Reply("decline"), Reply("decline"))

    @skill(risk="edit", ask_missing=True)
    def put(path: str, axis: Literal["x", "y"]) -> None:
        """Put it there."""
        given.append((path, axis))
        host.items.append(path)

    with live(tmp_path, put, host=host, presenter=person, edit="ask", input="client") as running:
        for path, axis in (("a", "x"), ("a", "x"), ("b", "x"), ("a", "y")):
            running.call("put", {"path": path}, era=era, asked=accept(axis=axis))

    assert given == [("a", "x"), ("a", "x")]
    assert [dict(question.arguments) for question in person.shown] == [
        {"path": "a", "axis": "x"},
        {"path": "b", "axis": "x"},
        {"path": "a", "axis": "y"},
    ]
