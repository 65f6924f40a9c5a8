"""No scene is lost where a step of its replacement meets somebody else: files alone, no host."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from dcc_bridge_batch import files, hosts, ledger, outcome, plan, swap, task
from dcc_bridge_batch.plan import Plan, Request
from dcc_bridge_batch.swap import Places, SceneLeft
from tests.batch.conftest import FACTS, Command, scene_line

ORIGINAL, EDITED, OWN = "as it was planned", "as the skill left it", "a day of somebody's work"


@dataclass
class Case:
    """One scene of a plan, and the copy that the skill has edited."""

    plan: Plan
    places: Places
    stamp: files.Stamp
    planned: str  # digests
    proved: str

    def replace(self) -> None:
        swap.replace(self.places, self.stamp, self.proved, self.planned)

    def texts(self) -> dict[str, str]:
        """Give what each file is, by what it is for."""
        named = {name: getattr(self.places, name) for name in ("scene", "work", "original")}
        return {name: file.read_text() for name, file in named.items() if file.exists()}

    def note(self, state: ledger.State, **facts: Any) -> None:
        """Write a line of the ledger."""
        with ledger.TaskLedger(self.plan, 0) as book:
            book.write(0, state, **facts)

    def leave(self, text: str | None) -> None:
        """Have somebody write this to the scene, or delete it."""
        self.places.scene.unlink()
        if text is not None:
            self.places.scene.write_text(text)


def plan_of(folder: Path, count: int = 1) -> Plan:
    """Plan scenes that are a text each."""
    root = folder / "show"
    root.mkdir()
    lines = []
    for number in range(count):
        file = root / f"shot_{number}.usda"
        file.write_text(ORIGINAL)
        sha256 = files.digest_file(file)
        lines.append(scene_line(number, file.name, [f"/item_{number}"], sha256=sha256))
    return plan.write(folder / "plan", Request("usd", "tidy", {}), FACTS, root, lines)


@pytest.fixture
def case(tmp_path: Path) -> Case:
    made = plan_of(tmp_path)
    scene = made.scene(0)
    places = Places.of(made, scene, made.root)
    stamp = swap.prepare(places, scene["sha256"])
    places.work.write_text(EDITED)
    return Case(made, places, stamp, scene["sha256"], files.digest_file(places.work))


def beside(
    monkeypatch: pytest.MonkeyPatch, step: str, act: Callable[..., object], *, first: bool = False
) -> None:
    """Have somebody else act right after a step of `files`, or before it."""
    usual = getattr(files, step)

    def stepped(*words: Any) -> Any:
        if first:
            act(*words)
        result = usual(*words)
        if not first:
            act(*words)
        return result

    monkeypatch.setattr(files, step, stepped)


@pytest.mark.parametrize("way", ["in place", "by a rename"])
@pytest.mark.parametrize("links", [False], indirect=True)
@pytest.mark.usefixtures("links")
def test_a_save_while_the_original_is_copied_stays(
    case: Case, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    def save(source: Path, _: Path) -> None:
        other = source.with_name("other") if way == "by a rename" else source
        other.write_text(OWN)
        os.replace(other, source)

    beside(monkeypatch, "copy_file", save)
    with pytest.raises(SceneLeft, match="It was changed after it was planned"):
        case.replace()

    assert case.texts() == {"scene": OWN, "work": EDITED}


def test_a_save_after_the_original_has_its_second_name_stays(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(folder: Path) -> None:
        (folder / "other").write_text(OWN)
        os.replace(folder / "other", case.places.scene)

    beside(monkeypatch, "sync_folder", save, first=True)
    with pytest.raises(SceneLeft, match="It was changed after it was planned"):
        case.replace()

    assert case.texts() == {"scene": OWN, "work": EDITED}


def test_an_original_that_is_deleted_meanwhile_is_kept(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside(monkeypatch, "sync_folder", lambda _: case.places.scene.unlink(), first=True)
    with pytest.raises(SceneLeft, match="It no longer exists"):
        case.replace()

    assert case.texts() == {"work": EDITED, "original": ORIGINAL}


def test_a_save_while_rollback_reads_the_scene_stays(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    case.replace()

    def save(file: Path) -> None:
        if file == case.places.scene:
            file.write_text(OWN)

    beside(monkeypatch, "digest_file", save)
    with pytest.raises(SceneLeft, match="It was changed after the run"):
        swap.roll_back(case.places, case.proved, case.planned)

    assert case.texts() == {"scene": OWN, "original": ORIGINAL}


def failing_rename(monkeypatch: pytest.MonkeyPatch, error: OSError, after: Any) -> None:
    """Have the next rename report an error, after it has done something else."""
    rename = os.replace

    def replace(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "replace", rename)
        after(source, target)
        raise error

    monkeypatch.setattr(os, "replace", replace)


@pytest.mark.usefixtures("links")
def test_a_rename_that_is_done_and_reports_an_error_loses_no_original(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing_rename(monkeypatch, FileNotFoundError(2, "No such file or directory"), os.replace)

    case.replace()

    assert case.texts() == {"scene": EDITED, "original": ORIGINAL}


@pytest.mark.usefixtures("links")
def test_a_rename_that_fails_leaves_the_scene_and_no_second_name(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing_rename(monkeypatch, OSError(5, "Input/output error"), lambda *_: None)

    with pytest.raises(OSError, match="Input/output error"):
        case.replace()

    assert case.texts() == {"scene": ORIGINAL, "work": EDITED}


def test_where_it_is_not_known_whether_a_rename_was_done_every_file_stays(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def save(_: Path, target: Path) -> None:
        target.with_name("other").write_text(OWN)
        target.with_name("other").replace(target)

    failing_rename(monkeypatch, OSError(5, "Input/output error"), save)

    with pytest.raises(swap.UnclearReplacement):
        case.replace()

    assert case.texts() == {"scene": OWN, "work": EDITED, "original": ORIGINAL}


def test_a_copy_that_was_written_to_after_it_was_proved_is_not_put_in_place(case: Case) -> None:
    case.places.work.write_text("somebody's, half")

    with pytest.raises(swap.UnprovedCopy, match="The copy was changed after it was verified"):
        case.replace()

    assert case.texts()["scene"] == ORIGINAL


def ended(case: Case, text: str | None) -> ledger.Entry:
    """Have a task end after its rename, then somebody else leave this scene; give what is told."""
    case.note("proved", sha256=case.proved, changed=1, attempt=1)
    case.replace()
    case.leave(text)
    return gone_on(case)


def gone_on(case: Case) -> ledger.Entry:
    """Have the next run look at the scene; give what it says."""
    work = task.Work(case.plan, case.plan.root, 0, "second", case.plan.folder, "")
    with ledger.TaskLedger(case.plan, 0) as book:
        edit = task._Edit(work, book, cast(hosts.WarmHost, None), case.plan.scene(0))
        anyio.run(edit.run)  # what it recovers needs no host
    return ledger.entries(case.plan, 0)[0]


@pytest.mark.parametrize("text", [OWN, None])
def test_a_scene_that_is_another_one_after_a_crash_is_told_with_its_original(
    case: Case, text: str | None
) -> None:
    entry = ended(case, text)

    totals = outcome.totals(case.plan)
    assert entry["state"] == "done"
    assert f"The original is {case.places.original}." in entry["kept"]
    assert list(totals.reasons) == [entry["kept"]]
    assert outcome.troubles(case.plan) == [("done", entry["kept"], ["shot_0.usda"])]


def test_rollback_brings_back_a_scene_that_was_deleted_after_a_crash(case: Case) -> None:
    ended(case, None)

    totals = outcome.roll_back(case.plan, case.plan.root)

    assert totals.states == {"rolled_back": 1}
    assert case.texts() == {"scene": ORIGINAL}


@pytest.mark.parametrize("text", [OWN, None])
def test_commit_keeps_the_original_of_a_scene_that_is_not_as_the_run_left_it(
    case: Case, text: str | None
) -> None:
    replaced(case)
    case.leave(text)

    totals = outcome.commit(case.plan, case.plan.root)

    assert totals.states == {"done": 1}
    assert case.texts()["original"] == ORIGINAL
    assert list(totals.reasons) == [
        f"It was changed after the run; the original is {case.places.original}."
    ]


def replaced(case: Case) -> None:
    """Replace the scene, and say so."""
    case.replace()
    case.note("done", sha256=case.proved, changed=1)


@pytest.mark.parametrize("end", [outcome.commit, outcome.roll_back])
def test_an_original_that_was_written_to_is_neither_deleted_nor_put_back(
    case: Case, end: Callable[[Plan, Path], outcome.Totals]
) -> None:
    os.link(case.places.scene, case.places.scene.with_name("another name"))
    replaced(case)
    case.places.scene.with_name("another name").write_text(OWN)

    totals = end(case.plan, case.plan.root)

    assert totals.states == {"done": 1}
    assert "has been changed" in next(iter(totals.reasons))
    assert case.texts() == {"scene": EDITED, "original": OWN}


def test_a_scene_as_the_run_left_it_is_committed(case: Case) -> None:
    replaced(case)

    assert outcome.commit(case.plan, case.plan.root).states == {"committed": 1}
    assert case.texts() == {"scene": EDITED}
    assert list(case.plan.root.rglob(".*")) == []


@pytest.mark.parametrize("look", [lambda it: it.scene(0), lambda it: list(it.scenes())])
def test_a_line_of_a_plan_that_is_changed_after_it_was_read_is_refused(
    tmp_path: Path, look: Callable[[Plan], object]
) -> None:
    made = plan_of(tmp_path, 2)
    file = made.folder / plan.SCENES
    assert made.scene(1)["path"] == "shot_1.usda"

    file.write_bytes(file.read_bytes().replace(b"/item_0", b"/item_9", 1))

    with pytest.raises(plan.PlanError, match="was changed after it was made"):
        look(made)
    assert made.scene(1)["path"] == "shot_1.usda"


def test_a_folder_that_another_save_has_just_made_is_not_swept_away(case: Case) -> None:
    folder = case.places.scene.parent
    (folder / ".dcc_bridge-new").mkdir()
    (folder / ".dcc_bridge-ours").mkdir()
    (folder / ".dcc_bridge-ours" / case.places.work.name).touch()

    swap.sweep(case.places)

    assert [it.name for it in folder.glob(".dcc_bridge-*")] == [".dcc_bridge-new"]


def test_commit_below_another_root_records_nothing_as_committed(case: Case, tmp_path: Path) -> None:
    replaced(case)
    (tmp_path / "not mounted").mkdir()

    there = outcome.commit(case.plan, tmp_path / "not mounted")

    assert there.states == {"done": 1}
    assert there.refused == [("shot_0.usda", swap.NOT_HERE)]
    assert list(there.reasons) == [swap.NOT_HERE]
    assert outcome.commit(case.plan, case.plan.root).states == {"committed": 1}


def test_a_commit_that_ended_before_it_could_say_so_is_said_by_the_next_one(case: Case) -> None:
    replaced(case)
    case.places.original.unlink()

    assert outcome.commit(case.plan, case.plan.root).states == {"committed": 1}


@pytest.mark.parametrize("state", ["done", "proved"])
def test_rollback_where_the_originals_lie_untouched_records_nothing_as_rolled_back(
    case: Case, tmp_path: Path, state: ledger.State
) -> None:
    case.replace()
    case.note(state, sha256=case.proved, changed=1)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "shot_0.usda").write_text(ORIGINAL)

    there = outcome.roll_back(case.plan, tmp_path / "elsewhere")
    edited = case.texts()
    back = outcome.roll_back(case.plan, case.plan.root)

    assert there.states == {state: 1}
    assert there.refused == [("shot_0.usda", swap.NOT_HERE)]
    assert edited == {"scene": EDITED, "original": ORIGINAL}
    assert back.states == {"rolled_back": 1}
    assert case.texts() == {"scene": ORIGINAL}


@pytest.mark.parametrize(("root", "state"), [("show", "rolled_back"), ("other", "rolling_back")])
def test_a_rollback_that_ended_before_it_could_say_so_is_said_by_the_next_one_there_alone(
    case: Case, tmp_path: Path, root: str, state: str
) -> None:
    replaced(case)
    case.note("rolling_back", sha256=case.proved, changed=1, root=str(tmp_path / root))
    os.replace(case.places.original, case.places.scene)

    assert outcome.roll_back(case.plan, case.plan.root).states == {state: 1}


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_one_scene_that_cannot_be_ended_stops_no_other_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command, end: str
) -> None:
    made = plan_of(tmp_path, 3)
    for number in range(3):
        places = Places.of(made, made.scene(number), made.root)
        stamp = swap.prepare(places, made.scene(number)["sha256"])
        places.work.write_text(EDITED)
        proved = files.digest_file(places.work)
        swap.replace(places, stamp, proved, made.scene(number)["sha256"])
        with ledger.TaskLedger(made, 0) as book:
            book.write(number, "done", sha256=proved, changed=1)

    def refusing(fn: Callable[..., None]) -> Callable[..., None]:
        def refuse(path: Path, *more: Any) -> None:
            if Path(path).name.startswith(".shot_0") and ".kept" in Path(path).name:
                raise PermissionError(13, "Permission denied", str(path))
            fn(path, *more)

        return refuse

    with monkeypatch.context() as denied:
        denied.setattr(os, "replace", refusing(os.replace))
        denied.setattr(os, "unlink", refusing(os.unlink))
        code, text = command(end, made.folder)
    said = " ".join(text.split())
    first = outcome.totals(made).states

    wanted = "committed" if end == "commit" else "rolled_back"
    assert code == 1
    assert f"could not be {wanted.replace('_', ' ')}; see above: shot_0.usda." in said
    kept = Places.of(made, made.scene(0), made.root).original
    assert f"1 changed: Permission denied. The original is {kept}. Fix this" in said
    assert first == {wanted: 2, "done": 1}
    assert command(end, made.folder)[0] == 0
    assert outcome.totals(made).states == {wanted: 3}


@pytest.mark.parametrize("state", ["left", "failed"])
@pytest.mark.parametrize("end", [outcome.commit, outcome.roll_back])
def test_what_a_killed_attempt_kept_of_a_scene_that_was_not_changed_goes_at_the_end(
    case: Case, end: Callable[[Plan, Path], outcome.Totals], state: ledger.State
) -> None:
    os.link(case.places.scene, case.places.original)
    case.note("proved", sha256=case.proved, changed=1)
    case.note(state, why="It is locked.", run="first", attempt=1)

    assert end(case.plan, case.plan.root).states == {state: 1}
    assert case.texts() == {"scene": ORIGINAL}


@pytest.mark.parametrize("state", ["left", "failed"])
@pytest.mark.parametrize("text", [EDITED, OWN])
def test_an_original_beside_a_scene_that_is_said_to_be_as_it_was_is_not_forgotten(
    case: Case, state: ledger.State, text: str
) -> None:
    case.replace()
    case.places.scene.write_text(text)
    case.note("proved", sha256=case.proved, changed=1)
    case.note(state, why="Something is odd.", run="first", attempt=1)

    totals = outcome.roll_back(case.plan, case.plan.root)

    if text == EDITED:
        assert totals.states == {"rolled_back": 1}
        assert case.texts() == {"scene": ORIGINAL}
    else:
        assert totals.states == {state: 1}
        since = f"It was changed after the run; the original is {case.places.original}."
        (why,) = totals.reasons
        assert why.startswith(
            f"Something is odd. {since} To restore the original, move the scene away"
        )
        assert case.texts() == {"scene": OWN, "original": ORIGINAL}


@pytest.mark.parametrize("text", [OWN, None])
def test_a_scene_that_was_never_replaced_is_not_said_to_be_done(
    case: Case, text: str | None
) -> None:
    os.link(case.places.scene, case.places.original)  # and then the task was killed
    case.note("proved", sha256=case.proved, changed=1, attempt=1)
    case.leave(text)

    entry = gone_on(case)

    assert entry["state"] == "left"
    assert entry["why"] == (swap.CHANGED if text else swap.GONE)
    assert case.texts()["original"] == ORIGINAL


@pytest.mark.skipif(
    sys.platform != "linux" or os.getuid() != 0, reason="only root gives files away"
)
def test_an_edited_scene_has_the_owner_the_group_the_mode_and_the_attributes_of_the_original(
    case: Case,
) -> None:
    if sys.platform != "linux":  # for mypy
        return
    os.chown(case.places.scene, 1234, 4321)
    case.places.scene.chmod(0o664)
    try:
        os.setxattr(case.places.scene, "user.shot", b"010")
    except OSError:
        pytest.skip("this file system has no attributes")
    case.places.work.unlink()
    case.stamp = swap.prepare(case.places, case.planned)
    case.places.work.write_text(EDITED)

    case.replace()

    facts = case.places.scene.stat()
    assert (facts.st_uid, facts.st_gid, facts.st_mode & 0o777) == (1234, 4321, 0o664)
    assert os.getxattr(case.places.scene, "user.shot") == b"010"
