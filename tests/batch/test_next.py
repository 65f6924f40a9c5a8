"""What ``dcc-bridge batch`` says of a plan's scenes, and what it names as the next step."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from dcc_bridge import cli
from dcc_bridge_batch import approval, ask_person, engine, files, outcome
from dcc_bridge_batch.ledger import TaskLedger
from dcc_bridge_batch.plan import Plan, PlanError
from dcc_bridge_batch.swap import Places
from tests.batch.conftest import Command, write_plan

if sys.platform == "win32":
    pytest.skip("a terminal is POSIX's", allow_module_level=True)


NO_EDIT = ("nothing", "failed", "twice")


def done(folder: Path, count: int = 2) -> Plan:
    """Write an approved plan that was run: each scene is edited, and its original kept."""
    for number in range(count):
        (folder / f"shot_{number}.usda").write_text("original")
    made = write_plan(folder, count)
    approval.approve(made)
    with TaskLedger(made, 0) as book:
        for number in range(count):
            places = Places.of(made, made.scene(number), made.root)
            places.scene.rename(places.original)
            places.scene.write_text("edited")
            book.write(number, "done", sha256=files.digest_file(places.scene), changed=1)
    return made


@pytest.fixture
def edited(tmp_path: Path) -> Plan:
    return done(tmp_path)


def test_a_plan_that_would_change_no_scene_is_not_asked_about(
    command: Command, tmp_path: Path
) -> None:
    made = write_plan(tmp_path, states=NO_EDIT)

    code, said = command("approve", made.folder)

    assert code == 2
    assert "must approve" not in said
    assert "No scene would be changed, so there is nothing to approve." in " ".join(said.split())
    assert not (made.folder / approval.FILE).exists()


def test_nobody_can_sign_a_plan_that_would_change_no_scene(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="there is nothing to approve"):
        approval.approve(write_plan(tmp_path, states=NO_EDIT))


def test_a_status_before_the_run_says_what_is_to_be_tried_and_what_is_not(
    command: Command, tmp_path: Path
) -> None:
    made = write_plan(tmp_path, 8, states=("asks", *NO_EDIT))

    totals = outcome.totals(made)
    _, said = command("status", made.folder)

    assert totals.states == {"open": 2, "nothing": 2, "left": 4}
    assert not totals.is_over
    assert totals.reasons == {"It is failed.": 2, "It is twice.": 2}
    assert "2    not tried yet" in said
    assert "2    nothing to do" in said
    assert "2 left: It is failed.\n    shot_2.usda, shot_6.usda\n" in said
    assert "shot_1.usda" not in said  # nothing to do is no trouble


def test_a_status_for_a_program_has_each_scene_with_its_state(
    command: Command, tmp_path: Path
) -> None:
    made = write_plan(tmp_path, 3, states=("asks", "nothing", "failed"))

    code, said = command("status", made.folder, "--json")

    rows = [(row["scene"], row["state"], row["why"]) for row in json.loads(said)]
    assert code == 0
    assert rows == [
        ("shot_0.usda", "open", ""),
        ("shot_1.usda", "nothing", ""),
        ("shot_2.usda", "left", "It is failed."),
    ]
    assert json.loads(said)[0]["meaning"] == "not tried yet"


def test_a_scene_with_nothing_to_do_is_the_same_before_and_after_the_run(tmp_path: Path) -> None:
    made = write_plan(tmp_path, states=("nothing",))
    before = outcome.totals(made)

    with TaskLedger(made, 0) as book:
        for number in range(made.count):
            book.write(number, "left", why="It is nothing.")

    assert outcome.totals(made) == before
    assert before.states == {"nothing": 3}
    assert before.is_over


@pytest.mark.parametrize("is_approved", [False, True])
def test_a_status_names_the_next_step(made: Plan, command: Command, is_approved: bool) -> None:
    if is_approved:
        approval.approve(made)

    _, said = command("status", made.folder)

    step = "run" if is_approved else "approve"
    assert f"Next: dcc-bridge batch {step} {made.folder}\n" in said


@pytest.mark.parametrize("word", ["status", "run"])
def test_after_a_run_the_next_step_is_to_commit_or_to_roll_back_and_then_there_is_none(
    edited: Plan, command: Command, word: str
) -> None:
    ran = command(word, edited.folder)
    command("commit", edited.folder)
    committed = command(word, edited.folder)

    assert (ran[0], committed[0]) == (0, 0)
    assert f"Next: dcc-bridge batch commit {edited.folder}, or rollback" in ran[1]
    assert "Next:" not in committed[1]
    assert "There is nothing left to do." in committed[1]


def test_what_was_committed_cannot_be_rolled_back_and_that_is_told(
    edited: Plan, command: Command
) -> None:
    command("commit", edited.folder)

    code, said = command("rollback", edited.folder)

    assert code == 1
    assert "cannot be rolled back: the originals were deleted" in said


def test_the_record_tells_a_consent_a_commit_and_a_rollback_apart(
    edited: Plan, command: Command, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command("rollback", edited.folder)
    approval.approve(edited)

    cli.main(["audit", "show", "--call", f"batch-{edited.id}"])
    said = capsys.readouterr().out

    assert f'asked: "Let skill change 2 of 2 scenes below {tmp_path}?" 2 objects' in said
    assert "approved in the app" in said
    assert "rolled back, changed" in said
    assert "without an answer" not in said


def test_a_rollback_takes_the_consent_back_so_that_no_run_does_it_again_unasked(
    edited: Plan, command: Command, tmp_path: Path
) -> None:
    rolled = command("rollback", edited.folder)
    ran = command("run", edited.folder)

    assert [it.read_text() for it in tmp_path.glob("*.usda")] == ["original"] * 2
    assert rolled[0] == 0
    assert f"To run the plan again: dcc-bridge batch approve {edited.folder}\n" in rolled[1]
    assert ran[0] == 3
    assert "This plan is not approved yet" in ran[1]


def test_what_was_rolled_back_is_to_be_done_again_once_it_is_approved_again(
    edited: Plan, command: Command
) -> None:
    command("rollback", edited.folder)
    approval.approve(edited)

    _, said = command("status", edited.folder)

    assert engine.Run(edited, 1).has_work(0)
    assert f"Next: dcc-bridge batch run {edited.folder}\n" in said


def test_what_a_farm_did_elsewhere_is_rolled_back_there(command: Command, tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    made = done(tmp_path / "here")
    folder = (tmp_path / "here").rename(tmp_path / "farm") / "plan"

    missing = command("rollback", folder)
    code, _ = command("rollback", folder, "--root", tmp_path / "farm")

    assert missing == (
        2,
        f"dcc-bridge: There is no folder {made.root}. "
        "Use --root to name the folder of the scenes.\n",
    )
    assert code == 0
    assert [it.read_text() for it in (tmp_path / "farm").glob("*.usda")] == ["original"] * 2


@pytest.mark.parametrize(("count", "left"), [(2, (0, 1)), (2, (1,)), (7, range(7))])
def test_a_run_that_left_what_was_agreed_to_says_so_once_and_by_its_code(
    command: Command, tmp_path: Path, count: int, left: Sequence[int]
) -> None:
    made = done(tmp_path, count)
    with TaskLedger(made, 0) as book:
        for number in left:
            book.write(number, "left", why="It is locked.")

    code, said = command("run", made.folder)

    assert code == 1
    assert said.count("It is locked.") == 1
    assert f"  {len(left)} left: It is locked.\n" in said
    assert ("shot_4.usda and 2 more\n" in said) == (len(left) == 7)
    assert "The skipped scenes need a new plan." in said
    assert "There is nothing left to do." not in said


def test_a_run_that_did_all_that_was_agreed_to_is_done_though_the_plan_left_others(
    command: Command, tmp_path: Path
) -> None:
    made = write_plan(tmp_path, 3, states=("asks", "twice", "failed"))
    approval.approve(made)
    with TaskLedger(made, 0) as book:
        book.write(0, "done", sha256="", changed=1)
        for number in (1, 2):
            book.write(number, "left", why="It is twice.")

    assert command("run", made.folder)[0] == 0


def test_a_run_that_ctrl_c_ends_says_how_many_are_done_and_how_to_go_on(
    approved: Plan, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with TaskLedger(approved, 0) as book:
        book.write(0, "done", sha256="", changed=1)
        book.write(1, "left", why="It is locked.")
    monkeypatch.setattr(engine.Run, "run", lambda _: signal.raise_signal(signal.SIGINT))

    code, said = command("run", approved.folder)

    assert code == 130
    for state in ("changed, the original is kept", "left as it was", "not tried yet"):
        assert re.search(rf"^ *1 +{state} *$", said, re.MULTILINE)
    assert f"Ctrl+C ended the run. Next: dcc-bridge batch run {approved.folder}\n" in said


@pytest.mark.parametrize("is_approved", [False, True])
@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_what_was_never_run_is_neither_committed_nor_rolled_back_and_that_is_told(
    made: Plan, command: Command, end: str, is_approved: bool
) -> None:
    if is_approved:
        approval.approve(made)

    code, said = command(end, made.folder)

    word = "committed" if end == "commit" else "rolled back"
    is_run_next = is_approved and end == "commit"
    assert code == 0
    assert f"Nothing was run from {made.folder} yet, so no scene can be {word}." in said
    assert ("Its approval was revoked." in said) == (is_approved and end == "rollback")
    assert f"Next: dcc-bridge batch {'run' if is_run_next else 'approve'} {made.folder}\n" in said


def test_a_scene_that_cannot_be_rolled_back_is_told_with_its_original_and_what_to_do(
    edited: Plan, command: Command, tmp_path: Path
) -> None:
    places = Places.of(edited, edited.scene(0), edited.root)
    places.scene.write_text("a day of somebody's work")

    code, said = command("rollback", edited.folder)
    status = command("status", edited.folder)[1]
    places.scene.rename(tmp_path / "mine.usda")  # as it says
    again = command("rollback", edited.folder)[0]

    since = "It was changed after the run; the original is"
    why = f"{since} {places.original}. To restore the original, move"
    assert code == 1
    for text in (said, status):
        assert f"  1 changed: {why} the scene away and roll back again.\n    shot_0.usda\n" in text
        assert (
            f"Next: dcc-bridge batch rollback {edited.folder}, for the scenes that are not" in text
        )
    assert "1 scene could not be rolled back; see above: shot_0.usda." in said
    assert again == 0
    assert places.scene.read_text() == "original"


def test_each_time_is_told_in_one_form(
    made: Plan, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ask_person, "ask", lambda *_, **__: "terminal")
    said = command("approve", made.folder)[1]
    monkeypatch.setattr(approval, "datetime", Later)

    said += command("run", made.folder)[1]

    told = re.findall(r"(?:Made|until|ended at) +(.*?) ?(?:by|\. |$)", said, re.MULTILINE)
    assert len(told) == 3
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", it) for it in told)


class Later(datetime):
    """A clock that is a year ahead."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Later:
        return super().now(tz) + timedelta(days=365)


@pytest.mark.parametrize(
    ("over", "reported", "expected"),
    [
        ((), [(0, 0.25), (0, 0.5), (1, 0.5), (0, 0.5), (0, 0.25), (0, 1.0)], [1, 2, 4, 4, 4, 6]),
        ((0,), [(1, 0.25), (1, 1.0), (2, 1.0)], [5, 8, 10]),
    ],
)
def test_a_progress_counts_the_scenes_of_each_task_once(
    tmp_path: Path, over: tuple[int, ...], reported: list[tuple[int, float]], expected: list[float]
) -> None:
    made = write_plan(tmp_path, 10, chunk=4)
    for task in over:
        with TaskLedger(made, task) as book:
            for number in made.numbers(task):
                book.write(number, "left", why="It is locked.")

    progress = outcome.RunProgress(made)

    assert [progress.update(*it) for it in reported] == expected
