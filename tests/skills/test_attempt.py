"""The loop of consent: a body is tried, and a person is asked about what it really lost."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from dcc_bridge import confirm_sync, elicit_form_sync, skill
from dcc_bridge.consent.audit_hook import Writer, watched_by
from dcc_bridge.consent.outside import OutsideGuard, ReachedOutside
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.host import SceneGuard
from tests.live import live, status, text
from tests.stand_ins import FakeHost, FakeTrial, Person, after

YES: Final = Reply("accept", {"confirm": True})
NO: Final = Reply("decline")
HERO: Final = Reply("accept", {"name": "hero"})
NAME: Final = {"type": "object", "properties": {"name": {"type": "string"}}}
CAMERAS: Final = ["cam0", "cam1", "cam2"]


@pytest.fixture
def host() -> FakeHost:
    """A scene of three, with a step to undo and one to redo."""
    host = FakeHost([], has_ui=True)
    for number in range(4):
        with host.undo_step(f"The person's {number}"):
            host.items.append(f"cam{number}")
    host.undo()
    return host


@pytest.fixture
def own_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The temporary folder is not where the test's files are."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


class Stage:
    """A scene, and what was asked of the person in it."""

    def __init__(self, folder: Path, host: FakeHost) -> None:
        self._folder = folder
        self.host = host
        self.person = Person()

    def call(self, fn: Callable[..., Any], *answers: Any, **settings: Any) -> tuple[str, str]:
        """Have a client call a skill; gives how it ended, and what the client was told."""
        self.person = Person(*answers)
        with live(self._folder, fn, host=self.host, presenter=self.person, **settings) as running:
            result = running.call(fn.__name__)
        return status(result), text(result)

    @property
    def asked(self) -> list[tuple[str, ...]]:
        return [question.items for question in self.person.shown]

    def state(self) -> tuple[list[str], list[str], list[str]]:
        redo = [entry.label for entry in self.host._redo]
        return list(self.host.items), self.host.labels, redo


@pytest.fixture
def stage(host: FakeHost, tmp_path: Path) -> Stage:
    return Stage(tmp_path / "run", host)


def test_a_plain_function_that_loses_nothing_asks_nobody_and_is_one_step(stage: Stage) -> None:
    steps = len(stage.host.labels)

    def add_light() -> None:
        """Add a light."""
        stage.host.items.append("light")

    assert stage.call(add_light)[0] == "done"
    assert stage.asked == []
    assert len(stage.host.labels) == steps + 1


def test_a_plain_function_that_loses_something_asks_with_what_it_loses(stage: Stage) -> None:
    steps = len(stage.host.labels)

    def clear() -> None:
        """Clear."""
        stage.host.items.clear()

    assert stage.call(clear, YES)[0] == "done"
    assert stage.asked == [tuple(CAMERAS)]
    assert stage.host.items == []
    assert len(stage.host.labels) == steps + 1


@pytest.mark.parametrize("answer", [NO, Reply("cancel")])
def test_after_a_no_scene_undo_and_redo_are_as_before(stage: Stage, answer: Reply) -> None:
    before = stage.state()

    def clear() -> None:
        """Clear."""
        stage.host.items.clear()

    assert stage.call(clear, answer)[0] == "refused"
    assert stage.state() == before


def test_an_error_asks_nobody_whatever_was_lost_before_it(stage: Stage) -> None:
    before = stage.state()

    def clear() -> None:
        """Clear."""
        stage.host.items.clear()
        raise ValueError("on purpose")

    ended, told = stage.call(clear)

    assert (ended, "on purpose" in told) == ("failed", True)
    assert stage.asked == []
    assert stage.state() == before


def test_what_else_is_lost_the_second_time_is_asked_for_too(stage: Stage) -> None:
    def drop_last() -> None:
        """Drop what is last."""
        stage.host.items.pop()

    theirs = lambda: stage.host.items.append("theirs")  # noqa: E731

    assert stage.call(drop_last, after(theirs, YES), YES)[0] == "done"
    assert stage.asked == [("cam2",), ("theirs",)]
    assert stage.host.items == CAMERAS


def test_a_body_that_loses_something_else_each_time_ends_after_three_questions(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, FakeHost([f"cam{number}" for number in range(9)], has_ui=True))
    before = stage.state()
    runs: list[int] = []

    def drop_another() -> None:
        """Drop another one each time."""
        stage.host.items.remove(f"cam{len(runs)}")
        runs.append(1)

    ended, told = stage.call(drop_another, YES, YES, YES)

    assert (ended, len(runs)) == ("no_consent", 4)
    assert "deletes different items each time" in told
    assert stage.asked == [("cam0",), ("cam1",), ("cam2",)]
    assert stage.state() == before


def test_a_body_that_took_long_says_so_and_is_asked_for_first_the_next_time(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seconds = iter(range(0, 10_000, 12))
    monkeypatch.setattr("dcc_bridge.consent.attempt.perf_counter", lambda: next(seconds))

    @skill
    def drop() -> None:
        """Drop one."""
        stage.host.items.pop()

    person = Person(NO, NO)
    with live(tmp_path, drop, host=stage.host, presenter=person) as running:
        running.call("drop")
        running.call("drop")

    first, second = (question.message for question in person.shown)
    assert first.endswith("It will take about 12 s.")
    assert second == "Drop?"


def test_arguments_and_what_was_told_are_those_of_the_run_that_stays(
    tmp_path: Path, host: FakeHost
) -> None:
    seen: list[list[str]] = []

    @skill
    def drop(names: list[str]) -> list[str]:
        """Drop some."""
        seen.append(list(names))
        for name in names:
            host.items.remove(name)
        names.clear()
        return host.items

    with live(tmp_path, drop, host=host, presenter=Person(YES)) as running:
        result = running.call("drop", {"names": ["cam0", "cam1"]})

    assert status(result) == "done"
    assert seen == [["cam0", "cam1"]] * 2
    assert host.items == ["cam2"]


def test_an_answer_that_is_no_consent_is_asked_for_once(stage: Stage) -> None:
    def rename_and_drop() -> None:
        """Ask for a name, and drop the others."""
        answer = elicit_form_sync("Which name?", NAME, consent=False)
        stage.host.items[:] = [(answer.data or {})["name"]]

    assert stage.call(rename_and_drop, HERO, YES)[0] == "done"
    assert [question.message for question in stage.person.shown] == [
        "Which name?",
        "Delete 2 cams?",
    ]
    assert stage.host.items == ["hero"]


@pytest.mark.parametrize("asks", ["form", "consent"])
def test_a_yes_that_lists_nothing_is_none_to_what_is_lost(stage: Stage, asks: str) -> None:
    before = stage.state()

    def clear() -> None:
        """Ask something, and clear."""
        if asks == "form":
            elicit_form_sync("Which name?", NAME)
        else:
            confirm_sync("Use metres?")
        stage.host.items.clear()

    first = Reply("accept", {"name": "hero"} if asks == "form" else {"confirm": True})

    assert stage.call(clear, first, NO)[0] == "refused"
    assert stage.asked == [(), tuple(CAMERAS)]
    assert stage.state() == before
    assert stage.call(clear, first, YES)[0] == "done"
    assert stage.asked == [(), tuple(CAMERAS)]


def test_a_form_of_a_called_skill_is_no_yes_to_what_its_caller_loses(stage: Stage) -> None:
    @skill(risk="destructive")
    def drop() -> None:
        """Ask, and drop one."""
        elicit_form_sync("Which name?", NAME)
        stage.host.items.remove("cam0")

    @skill(risk="edit")
    def tidy() -> None:
        """Drop two."""
        drop()
        stage.host.items.remove("cam1")

    assert stage.call(tidy, HERO, YES)[0] == "done"
    assert stage.asked == [(), ("cam0", "cam1")]


def test_a_loss_before_the_bodys_own_question_is_asked_for_first(stage: Stage) -> None:
    def drop_and_ask() -> None:
        """Drop one, and ask about another."""
        stage.host.items.remove("cam0")
        for item in confirm_sync("Delete it?", items=["cam1"]):
            stage.host.items.remove(item)

    assert stage.call(drop_and_ask, YES, YES)[0] == "done"
    assert stage.asked == [("cam0",), ("cam1",)]
    assert stage.host.items == ["cam2"]


def test_a_body_that_catches_everything_is_asked_for_all_the_same(stage: Stage) -> None:
    before = stage.state()

    def clear() -> None:
        """Clear, and catch what comes of that."""
        stage.host.items.clear()
        with suppress(BaseException):
            elicit_form_sync("Which name?", NAME, consent=False)

    assert stage.call(clear, HERO, NO)[0] == "refused"
    assert stage.asked == [(), tuple(CAMERAS)]
    assert stage.state() == before


def test_an_edit_around_a_question_is_one_step_and_not_there_while_it_is_asked(
    stage: Stage,
) -> None:
    steps = len(stage.host.labels)
    seen = []

    def add_two() -> None:
        """Add a light, and one with a name that is asked for."""
        stage.host.items.append("light")
        answer = elicit_form_sync("Which name?", NAME, consent=False)
        stage.host.items.append((answer.data or {})["name"])

    def look() -> None:
        seen.append(list(stage.host.items))

    assert stage.call(add_two, after(look, HERO))[0] == "done"
    assert seen == [CAMERAS]
    assert stage.host.items == [*CAMERAS, "light", "hero"]
    assert len(stage.host.labels) == steps + 1
    assert len(stage.asked) == 1


@pytest.mark.parametrize(("heeds", "ending"), [(True, "refused"), (False, "no_consent")])
def test_a_no_after_an_edit_leaves_nothing_of_it(stage: Stage, heeds: bool, ending: str) -> None:
    before = stage.state()

    def add_and_ask() -> str:
        """Add a light, and ask whether to go on."""
        stage.host.items.append("light")
        answer = elicit_form_sync("Go on?", NAME)
        if answer.accepted or not heeds:
            stage.host.items.append("another")
        return "not now"

    assert stage.call(add_and_ask, NO)[0] == ending
    assert stage.asked == [()]
    assert stage.state() == before


def test_a_body_that_asks_something_else_each_time_goes_on_after_its_question(
    stage: Stage,
) -> None:
    numbers = iter(range(9))

    def add_two() -> None:
        """Ask in words that are never the same, between two edits."""
        stage.host.items.append("light")
        elicit_form_sync(f"Which name? {next(numbers)}", NAME, consent=False)
        stage.host.items.append("hero")

    assert stage.call(add_two, HERO, HERO)[0] == "done"
    assert stage.host.items == [*CAMERAS, "light", "hero"]
    assert len(stage.asked) == 2


def test_where_nothing_can_be_reverted_a_plain_function_is_asked_for_first(stage: Stage) -> None:
    stage.host.tries = False
    ran: list[int] = []

    def clear() -> None:
        """Clear."""
        ran.append(1)
        stage.host.items.clear()

    assert stage.call(clear, NO)[0] == "refused"
    assert (ran, stage.person.shown[0].message) == ([], "Clear?")
    assert stage.call(clear, YES)[0] == "done"
    assert ran == [1]


def test_in_a_host_that_sees_no_losses_a_plain_function_is_asked_for_first(
    tmp_path: Path,
) -> None:
    class Blind(FakeHost):
        lost = SceneGuard.lost

    stage = Stage(tmp_path, Blind(CAMERAS, has_ui=True))

    def clear() -> None:
        """Clear."""
        stage.host.items.clear()

    assert stage.call(clear, NO)[0] == "refused"
    assert [question.message for question in stage.person.shown] == ["Clear?"]
    assert stage.host.items == CAMERAS


@pytest.mark.parametrize("marks", [{"tried": False}, {"undo": False}])
def test_a_body_that_must_not_run_twice_is_asked_for_first(
    stage: Stage, marks: dict[str, Any]
) -> None:
    ran: list[int] = []

    @skill(**marks)
    def clear() -> None:
        """Clear."""
        ran.append(1)
        stage.host.items.clear()

    assert stage.call(clear, YES)[0] == "done"
    assert (ran, stage.person.shown[0].message) == ([1], "Clear?")


# ---- the studio wants each edit asked for


def test_an_edit_is_asked_for_with_what_it_really_changes(stage: Stage) -> None:
    @skill(risk="edit")
    def add_light() -> None:
        """Add a light."""
        stage.host.items.append("light")

    assert stage.call(add_light, YES, edit="ask")[0] == "done"
    (question,) = stage.person.shown
    assert question.message == "Add light?\nIt makes 1 light: light."
    assert stage.host.items == [*CAMERAS, "light"]


def test_an_edit_that_changes_nothing_asks_nobody(stage: Stage) -> None:
    @skill(risk="edit")
    def look() -> str:
        """Look."""
        return "seen"

    assert stage.call(look, edit="ask") == ("done", "seen")
    assert stage.asked == []


def test_an_edit_that_asks_for_consent_itself_is_asked_for_first(stage: Stage) -> None:
    ran: list[int] = []

    @skill(risk="edit")
    def drop() -> None:
        """Ask, and drop one."""
        ran.append(1)
        for item in confirm_sync("Delete it?", items=["cam0"]):
            stage.host.items.remove(item)

    assert stage.call(drop, YES, YES, edit="ask")[0] == "done"
    assert [question.message for question in stage.person.shown] == ["Drop?", "Delete it?"]
    assert ran == [1, 1]


# ---- what undo does not bring back


def _write(folder: Path) -> None:
    (folder / "shot.usda").write_text("new")


def _remove(folder: Path) -> None:
    (folder / "kept.usda").unlink()


def _program(folder: Path) -> None:
    command = ["true"]
    if sys.platform == "win32":
        command = ["cmd", "/c", "exit"]
    subprocess.run(command, check=True)


def _thread(folder: Path) -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()


OUTSIDE: Final = {
    "write ": _write,
    "remove ": _remove,
    "start another program": _program,
    "start a thread": _thread,
}


@pytest.mark.parametrize("catches", [False, True])
@pytest.mark.parametrize("risk", ["edit", "destructive"])
@pytest.mark.parametrize("does", OUTSIDE)
def test_a_body_that_reaches_outside_the_scene_is_asked_for_first(
    stage: Stage,
    tmp_path: Path,
    does: str,
    risk: Any,
    catches: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "kept.usda").write_text("kept")
    before = stage.state()
    act = OUTSIDE[does]

    @skill(risk=risk)
    def publish() -> None:
        """Add a note, and reach out."""
        stage.host.items.append("note")
        with suppress(Exception if catches else ()):  # type: ignore[arg-type]  # none at all
            act(tmp_path)

    assert stage.call(publish, NO)[0] == "refused"
    (question,) = stage.person.shown
    assert question.message.startswith("Publish?\nUndo cannot reverse this")
    assert does in question.message
    assert not question.undoable
    assert stage.state() == before
    assert (tmp_path / "kept.usda").exists()
    assert not (tmp_path / "shot.usda").exists()
    assert stage.call(publish, YES)[0] == "done"
    assert stage.host.items == [*CAMERAS, "note"]


@pytest.mark.usefixtures("own_temporary")
def test_a_body_that_loses_something_and_reaches_outside_is_asked_about_that(
    stage: Stage, tmp_path: Path
) -> None:
    """It ends at the write, and what it had lost until then is no answer to that."""

    def publish() -> None:
        """Clear, and write."""
        stage.host.items.clear()
        _write(tmp_path)

    assert stage.call(publish, YES)[0] == "done"
    (question,) = stage.person.shown
    assert f"- write the new file {tmp_path / 'shot.usda'}\n" in question.message
    assert question.message.endswith("It first deletes cam0, cam1, cam2.")
    assert (tmp_path / "shot.usda").exists()
    assert stage.host.items == []


@pytest.mark.usefixtures("own_temporary")
def test_a_file_that_is_written_over_is_copied_first(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "shot.usda").write_text("as it was")

    def publish() -> None:
        """Write over a file."""
        _write(tmp_path)

    with live(tmp_path / "run", publish, host=stage.host, presenter=Person(YES)) as running:
        running.call("publish")
        (record,) = running.bridge.recent.records()

    assert record.effect.copy is not None
    assert (record.effect.copy / "shot.usda").read_text() == "as it was"
    assert (tmp_path / "shot.usda").read_text() == "new"


@pytest.mark.usefixtures("own_temporary")
@pytest.mark.parametrize("catches", [False, True])
def test_what_was_agreed_to_as_a_whole_writes_no_file_of_which_nobody_was_told(
    stage: Stage, tmp_path: Path, catches: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the person has something to redo that a trial would take: as in FreeCAD."""
    monkeypatch.setattr(FakeTrial, "keeps_redo", False)
    before = stage.state()

    def publish() -> None:
        """Clear, and write."""
        stage.host.items.clear()
        with suppress(Exception if catches else ()):  # type: ignore[arg-type]  # none at all
            _write(tmp_path)

    assert stage.call(publish, YES, NO)[0] == "refused"
    first, second = (question.message for question in stage.person.shown)
    assert first == "Publish?"
    assert "write " in second
    assert stage.state() == before
    assert not (tmp_path / "shot.usda").exists()
    assert stage.call(publish, YES, YES)[0] == "done"
    assert (tmp_path / "shot.usda").exists()
    assert stage.host.items == []


@pytest.mark.usefixtures("own_temporary")
def test_a_writer_that_nobody_can_replace_is_asked_about_too(tmp_path: Path) -> None:
    """A method of a class in C, as most of FreeCAD's are."""
    made: list[str] = []
    guard = OutsideGuard(__file__)

    with watched_by(guard, [(list, "append", lambda made, path: [path])]):
        assert sys.getprofile() is not None
        with suppress(ReachedOutside):
            made.append("shot.usda")
        sys.path.count("no writer")

    assert sys.getprofile() is None
    assert guard.wanted == ["write a file"]
    assert made == []


def test_files_of_its_own_in_the_temporary_folder_are_none_to_ask_about(stage: Stage) -> None:
    @skill(risk="edit")
    def compute() -> None:
        """Use a file for a moment."""
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "cache.bin")
            with open(file, "wb") as stream:
                stream.write(b"1")
        stage.host.items.append("note")

    assert stage.call(compute)[0] == "done"
    assert stage.asked == []


def test_a_loop_of_its_own_is_nothing_to_ask_about(stage: Stage) -> None:
    @skill(risk="edit")
    def wait() -> None:
        """Wait in a loop of its own."""
        asyncio.run(asyncio.sleep(0))
        stage.host.items.append("note")

    assert stage.call(wait)[0] == "done"
    assert stage.asked == []


# ---- nothing is asked twice, and nothing never


@pytest.fixture
def no_shared_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test's own folder be none of the temporary ones."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))


def test_an_edit_that_took_long_is_asked_for_what_it_loses_the_next_time_too(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seconds = iter(range(0, 10_000, 12))
    monkeypatch.setattr("dcc_bridge.consent.attempt.perf_counter", lambda: next(seconds))

    @skill(risk="edit")
    def drop() -> None:
        """Drop one."""
        stage.host.items.pop()

    person = Person(NO, NO)
    with live(tmp_path, drop, host=stage.host, presenter=person) as running:
        ends = [status(running.call("drop")) for _ in range(2)]

    assert ends == ["refused", "refused"]
    assert [question.items for question in person.shown] == [("cam2",), ("cam2",)]
    assert stage.host.items == CAMERAS


def test_the_time_that_a_person_takes_is_none_of_the_body(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("dcc_bridge.consent.attempt.perf_counter", lambda: now[0])

    @skill
    def drop() -> None:
        """Ask for a name, and drop one."""
        elicit_form_sync("Which name?", NAME, consent=False)
        stage.host.items.pop()

    thinks = lambda: now.append(now.pop() + 60.0)  # noqa: E731
    assert stage.call(drop, after(thinks, HERO), NO)[0] == "refused"
    assert stage.person.shown[1].message == "Delete cam cam2?"


@pytest.mark.parametrize("lazily", [iter, lambda rest: {"gone": [iter(rest)]}])
def test_what_a_body_does_when_its_result_is_read_is_tried_as_well(
    stage: Stage, lazily: Callable[[Any], Any]
) -> None:
    before = stage.state()

    def clear() -> Any:
        """Clear, when somebody asks for what it gives."""
        return lazily(map(stage.host.items.remove, CAMERAS))

    assert stage.call(clear, NO)[0] == "refused"
    assert stage.asked == [tuple(CAMERAS)]
    assert stage.state() == before


@pytest.mark.parametrize("marks", [{"tried": False}, {"undo": False}])
def test_a_yes_to_a_called_skill_that_is_not_tried_covers_nothing_of_the_caller(
    stage: Stage, marks: dict[str, Any]
) -> None:
    ran: list[str] = []

    @skill(**marks)
    def export() -> None:
        """Export."""
        ran.append("export")

    def clear() -> None:
        """Export, and clear."""
        with suppress(BaseException):
            export()
        stage.host.items.clear()

    assert stage.call(clear, NO)[0] == "refused"
    (question,) = stage.person.shown
    assert question.message.startswith("Clear?")
    assert ("- Export" in question.message) == ("undo" in marks)
    assert question.undoable == ("undo" not in marks)
    assert (ran, stage.host.items) == ([], CAMERAS)


@pytest.mark.usefixtures("no_shared_folder")
def test_an_edit_that_calls_what_cannot_be_undone_is_asked_once(
    stage: Stage, tmp_path: Path
) -> None:
    @skill(undo=False)
    def export() -> None:
        """Export."""
        (tmp_path / "shot.usda").write_text("new")

    @skill(risk="edit")
    def note() -> None:
        """Add a note, and export."""
        stage.host.items.append("note")
        export()

    assert stage.call(note, YES)[0] == "done"
    assert [question.message for question in stage.person.shown] == ["Export?"]
    assert (tmp_path / "shot.usda").read_text() == "new"


@pytest.mark.usefixtures("no_shared_folder")
def test_a_body_that_has_to_run_untried_asks_for_no_input_again(
    stage: Stage, tmp_path: Path
) -> None:
    @skill(risk="edit")
    def publish() -> None:
        """Ask for a name, and write a file."""
        answer = elicit_form_sync("Which name?", NAME, consent=False)
        (tmp_path / "shot.usda").write_text((answer.data or {})["name"])

    assert stage.call(publish, HERO, YES)[0] == "done"
    assert len(stage.person.shown) == 2
    assert (tmp_path / "shot.usda").read_text() == "hero"


@pytest.mark.usefixtures("no_shared_folder")
def test_a_no_to_the_bodys_own_question_is_no_reason_to_ask_another(
    stage: Stage, tmp_path: Path
) -> None:
    @skill(risk="edit")
    def publish() -> None:
        """Ask, and write a file whatever the answer is."""
        elicit_form_sync("Publish it?", NAME)
        (tmp_path / "shot.usda").write_text("new")

    assert stage.call(publish, NO, YES)[0] == "refused"
    assert [question.message for question in stage.person.shown] == ["Publish it?"]
    assert not (tmp_path / "shot.usda").exists()


def test_calls_are_followed_only_for_writers_that_cannot_be_replaced() -> None:
    """To follow each call slows a body down: not for what this Python does not have."""
    followed = []
    guard = OutsideGuard(__file__)
    missing: Writer = (os, "a_function_of_another_system", lambda: [])
    in_c: Writer = (dict, "popitem", lambda *_: [])

    for writers in ([missing], [missing, in_c], [missing]):
        with watched_by(guard, writers):
            followed.append(sys.getprofile() is not None)

    assert followed == [False, True, False]
    assert sys.getprofile() is None
