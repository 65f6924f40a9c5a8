"""Asking for consent on the main thread: the question, the answers, the scene, the copy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import pytest

from dcc_bridge import checkpoints, confirm, confirm_sync
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.confirm import Grant
from dcc_bridge.consent.copies import ask_with_checkpoint
from dcc_bridge.consent.ledger import CallGrant
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.consent_view import undo_line
from dcc_bridge.elicitation.question import Consent, Expired, Question, Reply
from dcc_bridge.errors import (
    Cancelled,
    Declined,
    NobodyToAsk,
    NoCheckpoint,
    NotConfirmed,
    NotRecorded,
    TimedOut,
    WrongThread,
)
from dcc_bridge.threads import flows
from dcc_bridge.threads.flows import current
from tests.elicitation.brokers import FORM, NO, YES, asking
from tests.stand_ins import FakeHost, Person, after

NOT_TICKED = Reply("accept", {"confirm": False})


def about(question: Question) -> tuple[Sequence[str], Sequence[str], bool, str | None]:
    """Give what a question is about: the items, their kinds, undo, and where a copy is kept."""
    assert question.consent
    consent = question.consent
    return consent.items, consent.kinds, consent.undoable, consent.kept


def button(question: Question) -> str | None:
    assert question.form is not None
    (field,) = question.form.fields
    assert (field.name, field.kind, field.required) == ("confirm", "boolean", True)
    return field.title


def test_the_question_says_what_its_author_gave_and_has_a_title_a_verb_and_a_key_else() -> None:
    person = Person(*[YES] * 3)

    with asking(person) as call:
        confirm_sync(
            "Delete it?", items=["cam1"], verb="Delete", title="Gone", timeout=7, key="mine"
        )
        confirm_sync("Sure?")
        confirm_sync("Sure?", verb="Delete")

    question, first, second = person.shown
    assert (question.message, question.title, question.timeout) == ("Delete it?", "Gone", 7)
    assert (question.call, question.key, question.reason) == (call, "mine", None)
    assert about(question) == (("cam1",), ("cam",), True, None)
    assert button(question) == "Delete"
    assert (first.title, button(first), second.title) == ("Confirm", "Confirm", "Delete")
    assert first.key != second.key
    assert first.timeout is None


def test_texts_may_be_made_from_the_items() -> None:
    person = Person(YES)

    with asking(person):
        grant = confirm_sync(
            lambda items: f"Delete {len(items)}?",
            items=lambda: ["a1", "b1"],
            verb=lambda items: f"Delete {items[0]}",
        )

    assert person.shown[0].message == "Delete 2?"
    assert button(person.shown[0]) == "Delete a1"
    assert grant == ["a1", "b1"]


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (NO, Declined, "Declined in the app"),
        (Reply("decline", reason="not now"), Declined, "'not now'"),
        (Reply("cancel"), Cancelled, "The question was closed in the app"),
        (Expired(), TimedOut, "in time"),
        (NOT_TICKED, Declined, "Declined in the app"),
    ],
)
def test_what_is_no_yes_is_an_error_that_says_which(answer: Any, error: Any, words: str) -> None:
    with asking(Person(answer)) as call:
        with pytest.raises(NotConfirmed, match=words) as caught:
            confirm_sync("Delete it?")

        assert type(caught.value) is error
        assert "Delete it?" in str(caught.value)
        assert ("The reason given" in str(caught.value)) is ("not now" in words)
        assert not call.ledger.live


def test_where_nobody_can_be_asked_or_nothing_be_written_down_nobody_agrees() -> None:
    def full(event: Any, *, durable: bool = False) -> None:
        raise NotRecorded("the disk is full.")

    with asking(None), pytest.raises(NobodyToAsk):
        confirm_sync("Delete it?")
    with (
        asking(Person(YES), auditor=full),
        pytest.raises(NotRecorded, match=r"\bthe disk"),
    ):
        confirm_sync("Delete it?")


def test_a_yes_to_what_is_still_there_is_a_grant() -> None:
    with asking(Person(YES)) as call:
        grant = confirm_sync("Delete it?", items=["cam1"])

        assert call.ledger.live
        assert call.lasting.checkpoint is None
        assert (grant, grant.checkpoint) == (["cam1"], None)


def test_what_the_person_unticks_is_in_no_grant() -> None:
    person = Person(replace(YES, left_out=("cam2",)))

    with asking(person, FakeHost(["cam1", "cam2", "cam3"])) as call:
        grant = confirm_sync("Delete them?", items=["cam1", "cam2", "cam3"])
        (granted,) = call.ledger.live

        assert (grant, grant.left_out) == (["cam1", "cam3"], ("cam2",))
        assert granted.items == ("cam1", "cam3")
        assert grant.apply_sync(list) == ["cam1", "cam3"]


@pytest.mark.parametrize(
    ("items", "more", "may_take_fewer"),
    [
        (["cam1", "cam2"], {"may_take_fewer": True}, True),
        (["cam1"], {"may_take_fewer": True}, False),
        (["cam1", "cam2"], {}, False),
        (["cam1", "cam2"], {"may_take_fewer": True, "undoable": False}, False),
    ],
)
def test_items_may_be_unticked_where_the_edit_makes_sense_without_them(
    items: list[str], more: dict[str, Any], may_take_fewer: bool
) -> None:
    person = Person(NO)

    with asking(person, FakeHost(items)), pytest.raises(Declined):
        confirm_sync("Delete them?", items=items, **more)

    consent = person.shown[0].consent
    assert consent is not None
    assert consent.may_take_fewer is may_take_fewer


@pytest.mark.parametrize("is_looked_up", [True, False])
def test_a_scene_that_changed_is_shown_again_and_the_grant_is_for_what_is_there(
    is_looked_up: bool,
) -> None:
    host = FakeHost(["cam1", "cam2"])
    person = Person(after(host.items.pop, YES), YES)
    items = (lambda: tuple(host.items)) if is_looked_up else list(host.items)

    with asking(person, host) as call:
        grant = confirm_sync(lambda items: f"{len(items)}?", items=items)

        assert call.ledger.live
    assert grant == ["cam1"] or not is_looked_up
    assert [shown.message for shown in person.shown] == ["2?", "1?" if is_looked_up else "2?"]
    assert person.shown[1].reason == (
        "The scene has changed since this question was asked. Please check the list again."
    )


@pytest.mark.parametrize("before", [False, True])
def test_after_three_questions_about_a_restless_scene_there_is_no_new_grant(before: bool) -> None:
    host = FakeHost(["cam0"])
    person = Person(then=after(lambda: host.items.append(f"cam{len(host.items)}"), YES))

    with asking(person, host) as call:
        call.ledger.grants = [CallGrant("earlier")] if before else []
        with pytest.raises(Cancelled, match=r"'4\?'"):
            confirm_sync(lambda items: f"{len(items)}?", items=lambda: tuple(host.items))

        assert bool(call.ledger.live) is before
    assert len(person.shown) == 3


def test_a_scene_that_changed_before_the_edit_is_asked_about_again() -> None:
    host, person = FakeHost(["cam1", "cam2"]), Person(YES, YES)
    edited: list[list[str]] = []

    with asking(person, host) as call:
        grant = confirm_sync("Delete them?", items=lambda: tuple(host.items))
        host.items = ["cam2"]
        result = grant.apply_sync(lambda items: edited.append(items) or "done")  # type: ignore[func-returns-value]  # None

        assert call.ledger.live
    assert (edited, result) == ([["cam2"]], "done")
    assert grant == ["cam2"]
    assert about(person.shown[1])[0] == ("cam2",)
    assert "changed" in (person.shown[1].reason or "")


def test_nobody_is_asked_again_where_all_items_went_before_the_edit() -> None:
    host, person, edited = FakeHost(["cam1"]), Person(YES), list[Any]()

    with asking(person, host) as call:
        grant = confirm_sync("Delete them?", items=lambda: tuple(host.items))
        host.items = []
        grant.apply_sync(edited.append)

        assert not call.ledger.live
    assert edited == [[]]
    assert len(person.shown) == 1


def test_a_no_to_the_scene_that_changed_before_the_edit_leaves_nothing_granted() -> None:
    host, edited = FakeHost(["cam1", "cam2"]), list[Any]()

    with asking(Person(YES, NO), host) as call:
        grant = confirm_sync("Delete them?", items=lambda: tuple(host.items))
        host.items = ["cam2"]
        with pytest.raises(Declined):
            grant.apply_sync(edited.append)

        assert not call.ledger.live
    assert edited == []


def test_an_edit_of_a_restless_scene_is_given_up_after_two_more_questions() -> None:
    host, edited = FakeHost(["cam0"]), list[Any]()
    person = Person(YES, then=after(lambda: host.items.append(f"x{len(host.items)}"), YES))

    with asking(person, host) as call:
        grant = confirm_sync("Delete them?", items=lambda: tuple(host.items))
        host.items.append("cam1")
        with pytest.raises(Cancelled, match="Delete them"):
            grant.apply_sync(edited.append)

        assert not call.ledger.live
    assert edited == []
    assert len(person.shown) == 3


@pytest.fixture
def scene(tmp_path: Path) -> FakeHost:
    host = FakeHost(["cam1"], file=tmp_path / "shot.json")
    host.save()
    return host


def test_what_undo_does_not_bring_back_is_kept_after_the_yes(
    scene: FakeHost, tmp_path: Path
) -> None:
    (written := tmp_path / "out.txt").write_text("old")
    person = Person(after(lambda: kept.extend(tmp_path.glob("*.checkpoints/*")), YES))
    kept: list[Path] = []

    with asking(person, scene) as call:
        grant = confirm_sync("Write it?", undoable=False, files=lambda: [written])

        assert not call.lasting.undoable
        assert call.lasting.checkpoint == grant.checkpoint
    assert kept == []
    assert about(person.shown[0])[2:] == (False, str(tmp_path / "shot.json.checkpoints"))
    assert grant.checkpoint is not None
    assert [file.read_text() for file in grant.checkpoint.rglob("out.txt")] == ["old"]


def test_a_second_yes_keeps_a_second_copy_of_the_scene_where_no_files_are_named(
    scene: FakeHost, tmp_path: Path
) -> None:
    person = Person(YES, YES)

    with asking(person, scene):
        grant = confirm_sync("Save it?", items=lambda: tuple(scene.items), undoable=False)
        first = grant.checkpoint
        scene.items.append("cam2")
        grant.apply_sync(lambda items: None)

    assert about(person.shown[0])[3] == str(tmp_path / "shot.json.checkpoints")
    assert first is not None
    assert first != grant.checkpoint
    assert list(first.rglob("shot*.json"))


@pytest.mark.parametrize(("undoable", "file"), [(True, "shot.json"), (False, "new.txt")])
def test_where_undo_helps_or_nothing_is_lost_no_copy_is_kept_or_spoken_of(
    undoable: bool, file: str, scene: FakeHost, tmp_path: Path
) -> None:
    person = Person(YES)

    with asking(person, scene) as call:
        grant = confirm_sync("Write it?", undoable=undoable, files=[tmp_path / file])

        assert call.lasting.undoable is undoable
    assert about(person.shown[0])[3] is None
    assert grant.checkpoint is None
    assert not list(tmp_path.glob("*.checkpoints/*"))


def test_without_a_bridge_a_skill_agrees_to_nothing_by_itself() -> None:
    token = current.set(Call("delete", "Delete", "destructive"))
    try:
        with pytest.raises(NobodyToAsk, match="Delete it"):
            confirm_sync("Delete it?", items=["cam1"], undoable=False)
    finally:
        current.reset(token)


def test_a_coroutine_asks_and_edits_without_blocking_its_loop() -> None:
    host, person, edited = FakeHost(["cam1"]), Person(YES, YES), list[Any]()

    async def asks() -> str:
        grant = await confirm("Delete it?", items=lambda: tuple(host.items), verb="Delete")
        with pytest.raises(WrongThread, match=r"await grant\.apply"):
            grant.apply_sync(edited.append)
        with pytest.raises(WrongThread, match=r"In a coroutine use: await confirm\("):
            confirm_sync("Delete it?")
        await confirm("Sure?")
        return await grant.apply(lambda items: f"no {items}")

    with asking(person, host):
        result = anyio.run(asks)

    assert result == "no ['cam1']"
    assert edited == []
    assert (person.shown[0].message, button(person.shown[0])) == ("Delete it?", "Delete")
    assert (button(person.shown[1]), about(person.shown[1])[2]) == ("Confirm", True)


@pytest.mark.parametrize("is_before_a_body", [False, True])
def test_without_its_copy_there_is_no_grant(
    is_before_a_body: bool, scene: FakeHost, tmp_path: Path
) -> None:
    (tmp_path / "shot.json.checkpoints").write_text("in the way")

    with asking(Person(YES), scene) as call:
        asks: dict[bool, Callable[[], object]] = {
            False: lambda: confirm_sync("Save it?", undoable=False),
            True: lambda: flows.run_sync(
                ask_with_checkpoint(before_a_body(call, undoable=False), call), "x"
            ),
        }
        with pytest.raises(NoCheckpoint):
            asks[is_before_a_body]()

        assert not call.ledger.live


def before_a_body(call: Call, *, undoable: bool) -> Question:
    """Make the question that stands before the body of a skill."""
    return Question("Save it?", call, FORM, consent=Consent(undoable=undoable))


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(
    ("undoable", "answer", "place", "copies"),
    [
        (False, YES, True, 1),
        (False, NO, True, 0),
        (False, NOT_TICKED, True, 0),
        (True, YES, False, 0),
    ],
)
def test_a_question_before_a_body_keeps_a_copy_after_a_yes(
    undoable: bool, answer: Reply, place: bool, copies: int, is_async: bool, scene: FakeHost
) -> None:
    person = Person(answer)

    with asking(person, scene) as call:
        question = before_a_body(call, undoable=undoable)
        if is_async:
            response = anyio.run(flows.run_async, ask_with_checkpoint(question, call), "confirm")
        else:
            response = flows.run_sync(ask_with_checkpoint(question, call), "confirm")

        assert (call.lasting.checkpoint is not None) is bool(copies)
    folder = checkpoints.checkpoint_folder(scene)
    assert response.action == answer.action
    assert about(person.shown[0])[3] == (str(folder) if place else None)
    assert len(list(folder.glob("*"))) == copies


def test_of_a_folder_no_copy_is_promised_and_none_is_kept(scene: FakeHost, tmp_path: Path) -> None:
    person = Person(*[YES] * 3)
    full = tmp_path / "full"
    empty = tmp_path / "empty"
    file = tmp_path / "file"
    full.mkdir()
    empty.mkdir()
    (full / "a").touch()
    file.touch()

    with asking(person, scene) as call:
        for files in ([full], [full, file], [empty]):
            confirm_sync("Clear it?", undoable=False, files=files)
        copy = call.lasting.checkpoint

    said = [undo_line(question.consent) for question in person.shown if question.consent]
    place = checkpoints.checkpoint_folder(scene)
    none_of_full = "This can NOT be undone. NO copy is kept of full"
    assert said == [
        none_of_full,
        f"{none_of_full}. A copy of the rest is kept first, in {place}",
        "Nothing is overwritten. Undo does not remove a new file.",
    ]
    assert copy is not None
    assert [it.name for it in copy.iterdir()] == ["file"]


def test_a_thread_of_nobodys_call_edits_nothing_and_looks_nothing_up() -> None:
    reached: list[list[str]] = []
    refused: list[Exception] = []

    def on_thread(grant: Grant) -> None:
        def look() -> list[str]:
            reached.append([])
            return ["cam1"]

        for reach in (
            lambda: grant.apply_sync(reached.append),
            lambda: confirm_sync("Delete it?", items=look),
        ):
            try:
                reach()
            except WrongThread as error:
                refused.append(error)

    with asking(Person(YES)):
        grant = confirm_sync("Delete it?", items=["cam1"])
        thread = Thread(target=on_thread, args=(grant,))
        thread.start()
        running = context.current_context()
        assert running is not None
        while thread.is_alive():
            running.main.drain()

    assert (len(refused), reached) == (2, [])
