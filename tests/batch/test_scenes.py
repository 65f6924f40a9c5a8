"""What becomes of each scene of a plan: one plan with a scene a task, and one warm host for all."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import shutil
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pxr import Sdf, Usd

from dcc_bridge.client.connection import connect
from dcc_bridge.server import discovery
from dcc_bridge_batch import approval, display, hosts, ledger, outcome, plan, report, task
from dcc_bridge_batch.files import digest_file
from dcc_bridge_batch.plan import HEADER, SCENES, HostFacts, Plan, PlanError
from dcc_bridge_batch.swap import Places
from tests.batch.conftest import (
    Session,
    Show,
    digests,
    make_show,
    places_of,
    session_of,
    write_scene,
)

if sys.platform == "win32":
    pytest.skip("locks and limits are POSIX's", allow_module_level=True)

CASES = (
    *("plain.usda", "a b/shot 1.usda", "ä ö/shot 1.usda", "雪.usda", "changed.usda", "gone.usda"),
    *("read only.usda", "held.usda", "no room.usda", "half.usda", "torn.usda", "renamed.usda"),
    *("back.usda", "edited.usda", "good.usda", "later.usda", "proof.usda"),
)
ODD = "sh\udce9t.usda"  # a byte that is no UTF-8
OTHERWISE = ("adds", "values", "back and forth")
WAYS = ("fails", "unsafe", "twice", "idle", "below", "elsewhere", *OTHERWISE)
STATES = {**dict.fromkeys(WAYS, "asks"), "fails": "failed", "unsafe": "unsafe"}


@dataclass
class WarmShow:
    """A show whose plan is approved, and a warm host for it."""

    show: Show
    session: Session
    before: dict[str, tuple[str, int]]  # the files as they were before the plan

    def entry(self, name: str) -> ledger.Entry:
        number = self.show.number(name)
        return ledger.entries(self.show.plan, number)[number]

    def run(self, name: str, run: str = "first") -> ledger.Entry:
        """Run the task of a scene; gives what the ledger says of it then."""
        self.session.run(name, run)
        return self.entry(name)

    def note(self, name: str, state: ledger.State, **facts: Any) -> None:
        number = self.show.number(name)
        with ledger.TaskLedger(self.show.plan, number) as book:
            book.write(number, state, **facts)

    def places(self, name: str) -> Places:
        return places_of(self.show.plan, self.show.number(name), self.root)

    def work(self, plan: Plan) -> task.Work:
        """Give the first task of a plan, for the warm host."""
        return task.Work(plan, self.root, 0, "first", self.session.folder, self.session.url)

    @property
    def root(self) -> Path:
        return self.show.root

    def is_as_before(self, name: str) -> bool:
        return digests(self.root)[name] == self.before[name]


def cameras(file: Path) -> int:
    stage = Usd.Stage.Open(Sdf.Layer.OpenAsAnonymous(str(file)))  # as it is on the disk
    return sum(prim.GetTypeName() == "Camera" for prim in stage.Traverse())


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmShow]:
    root = tmp_path_factory.mktemp("show")
    for name in CASES:
        write_scene(root / name)
    for way in WAYS:
        more = "subLayers = [@./under.usda@]" if way == "below" else ""
        write_scene(root / way / f"{way}.usda", way=way, more=more)
    (root / "below" / "under.usda").write_text("#usda 1.0\n")
    write_scene(root / "elsewhere" / "next" / "other.usda")
    write_scene(root / "other" / "differs.usda", cameras=3)
    write_scene(root / "empty.usda", cameras=0)
    write_scene(root / "no room.usda", cameras=200)
    (root / "broken.usda").write_text("#usda 1.0\ndef {{{\n")
    odd = write_scene(root / "odd.usda")
    os.rename(odd, os.fsencode(root) + b"/sh\xe9t.usda")
    before = digests(root)
    show = make_show(root, tmp_path_factory.mktemp("plan") / "plan", failures=1.0)
    approval.approve(show.plan)
    (root / "other" / "fewer").touch()
    with session_of(show, tmp_path_factory.mktemp("session") / "host") as session:
        yield WarmShow(show, session, before)


def test_a_plan_says_of_each_scene_what_it_would_be_asked(warm: WarmShow) -> None:
    scene = warm.show.scene("plain.usda")

    assert scene["state"] == "asks"
    assert scene["question"]["items"] == ["/World/cam_0", "/World/cam_1"]
    assert scene["question"]["kinds"] == ["Camera", "Camera"]
    assert scene["question"]["message"] == "Delete 2 cameras of plain.usda?"
    assert scene["sha256"] == warm.before["plain.usda"][0]


def test_a_plan_says_why_a_scene_cannot_be_changed(warm: WarmShow) -> None:
    states = {way: warm.show.scene(f"{way}/{way}.usda")["state"] for way in WAYS}

    assert states == STATES
    assert warm.show.scene("empty.usda")["state"] == "nothing"
    assert warm.show.scene("broken.usda")["state"] == "failed"
    assert "not a readable USD file" in warm.show.scene("broken.usda")["why"]
    assert "not one of ours" in warm.show.scene("fails/fails.usda")["why"]


def test_a_plan_writes_nothing_to_a_scene_nor_beside_it(warm: WarmShow) -> None:
    # what later tests of this file change is named for it; this scene and its folder are nobody's
    assert warm.is_as_before("empty.usda")
    assert warm.is_as_before("broken.usda")
    assert warm.is_as_before("unsafe/unsafe.usda")
    assert sorted(os.listdir(warm.root / "unsafe")) == ["unsafe.usda"]


@pytest.mark.core
@pytest.mark.parametrize(
    "name", ["plain.usda", "a b/shot 1.usda", "ä ö/shot 1.usda", "雪.usda", "later.usda"]
)
def test_what_was_agreed_to_is_done_and_the_original_is_kept(warm: WarmShow, name: str) -> None:
    entry, places = warm.run(name), warm.places(name)

    assert (entry["state"], entry["changed"]) == ("done", 2)
    assert cameras(places.scene) == 0
    assert entry["sha256"] == digest_file(places.scene)
    assert digest_file(places.original) == warm.before[name][0]
    assert not places.work.exists()


def test_a_scene_that_is_done_is_not_edited_again(warm: WarmShow) -> None:
    warm.run("good.usda")
    after = digests(warm.root)["good.usda"]

    assert warm.run("good.usda", "second")["state"] == "done"
    assert digests(warm.root)["good.usda"] == after


@pytest.mark.core
def test_a_scene_that_was_changed_since_the_plan_is_left(warm: WarmShow) -> None:
    write_scene(warm.root / "changed.usda", cameras=5)
    now = digests(warm.root)["changed.usda"]

    assert warm.run("changed.usda")["why"] == "It was changed after it was planned."
    assert digests(warm.root)["changed.usda"] == now


def test_a_scene_that_is_gone_is_left(warm: WarmShow) -> None:
    (warm.root / "gone.usda").unlink()

    assert warm.run("gone.usda")["why"] == "It no longer exists."


def test_a_question_about_other_items_is_not_granted(warm: WarmShow) -> None:
    entry = warm.run("other/differs.usda")

    assert entry["state"] == "left"
    assert entry["why"].startswith("It asks something that was not approved: Delete 2")
    assert warm.is_as_before("other/differs.usda")


def test_a_second_question_is_not_granted(warm: WarmShow) -> None:
    assert "And once more?" in warm.run("twice/twice.usda")["why"]
    assert warm.is_as_before("twice/twice.usda")


def test_a_scene_whose_name_is_no_text_fails_alone(
    warm: WarmShow, capsys: pytest.CaptureFixture[str]
) -> None:
    scene = warm.show.scene(ODD)

    report.write(warm.show.plan)
    display.show_plan(warm.show.plan, display.console())

    assert scene["state"] == "failed"
    assert scene["why"] == "Its name is not UTF-8, so no host can open it."
    assert "sh" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["fails/fails.usda", "unsafe/unsafe.usda", "empty.usda", ODD])
def test_a_scene_that_no_plan_can_speak_for_is_left(warm: WarmShow, name: str) -> None:
    assert warm.run(name)["state"] == "left"
    assert warm.is_as_before(name)


def test_a_skill_that_changes_nothing_leaves_the_scene(warm: WarmShow) -> None:
    assert warm.run("idle/idle.usda")["why"] == "The skill ran and changed nothing."
    assert warm.is_as_before("idle/idle.usda")


@pytest.mark.parametrize(
    ("way", "proof"), [("plain", "items"), ("values", "items"), ("adds", "scene")]
)
def test_the_saved_scene_says_whether_what_was_agreed_to_is_another_one(
    warm: WarmShow, way: str, proof: str
) -> None:
    name = "proof.usda" if way == "plain" else f"{way}/{way}.usda"
    entry = warm.run(name)

    assert (entry["state"], entry["proof"]) == ("done", proof)


def test_a_scene_that_holds_what_it_held_is_left_and_counted_apart(warm: WarmShow) -> None:
    before = outcome.totals(warm.show.plan).states["unchanged"]

    entry = warm.run("back and forth/back and forth.usda")

    assert entry["why"] == "The skill ran and changed nothing."
    assert outcome.totals(warm.show.plan).states["unchanged"] == before + 1
    assert warm.is_as_before("back and forth/back and forth.usda")


def test_a_change_to_another_file_than_the_scene_is_not_saved(warm: WarmShow) -> None:
    why = "Saving would also write under.usda, which the plan does not list."

    assert warm.run("below/below.usda")["why"] == why
    assert warm.is_as_before("below/below.usda")
    assert warm.is_as_before("below/under.usda")


def test_a_scene_that_the_skill_opens_instead_is_not_saved(warm: WarmShow) -> None:
    entry = warm.run("elsewhere/elsewhere.usda")

    assert entry["state"] == "failed"
    assert "wanted to open other.usda in place of" in entry["why"]
    assert warm.is_as_before("elsewhere/elsewhere.usda")
    assert warm.is_as_before("elsewhere/next/other.usda")


def test_a_read_only_scene_is_left(warm: WarmShow) -> None:
    (warm.root / "read only.usda").chmod(0o444)

    assert warm.run("read only.usda")["why"] == "It is read-only."


def test_a_scene_that_another_program_holds_is_left(warm: WarmShow) -> None:
    with (warm.root / "held.usda").open() as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        entry = warm.run("held.usda")

    assert entry["why"] == "Another program has locked it."


def test_where_there_is_no_room_the_scene_fails_and_the_next_run_goes_on(warm: WarmShow) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = warm.places("no room.usda").scene.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size - 1, hard))
    try:
        first = warm.run("no room.usda")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert (first["state"], first["why"]) == ("failed", "File too large.")
    assert warm.run("no room.usda", "first") == first
    assert warm.run("no room.usda", "second")["state"] == "done"


def test_a_task_that_ended_in_the_middle_of_a_scene_begins_it_again(warm: WarmShow) -> None:
    places = warm.places("half.usda")
    places.work.write_text("half of a")
    warm.note("half.usda", "editing", attempt=1, tries=1)

    assert warm.run("half.usda")["state"] == "done"
    assert cameras(places.scene) == 0
    assert not places.work.exists()
    assert not warm.places("half.usda").work.exists()


def test_a_torn_last_line_of_the_ledger_is_none(warm: WarmShow) -> None:
    number = warm.show.number("torn.usda")
    warm.note("torn.usda", "editing", attempt=1, tries=1)
    with ledger.file_of(warm.show.plan, number).open("ab") as out:
        out.write(b'{"n":%d,"state":"do' % number)

    assert warm.entry("torn.usda")["state"] == "editing"
    assert warm.run("torn.usda")["state"] == "done"


def test_a_task_that_ended_after_the_rename_says_so_and_edits_nothing(warm: WarmShow) -> None:
    name = "renamed.usda"
    warm.run(name)
    file = ledger.file_of(warm.show.plan, warm.show.number(name))
    lines = file.read_bytes().splitlines(keepends=True)
    assert [json.loads(line)["state"] for line in lines] == ["editing", "proved", "done"]
    file.write_bytes(b"".join(lines[:-1]))
    after = digests(warm.root)[name]

    assert warm.run(name, "second")["state"] == "done"
    assert digests(warm.root)[name] == after
    assert digest_file(warm.places(name).original) == warm.before[name][0]


def test_rollback_brings_back_the_very_files_and_leaves_what_was_edited_since(
    warm: WarmShow,
) -> None:
    back, edited = warm.places("back.usda"), warm.places("edited.usda")
    node = back.scene.stat().st_ino
    for name in ("back.usda", "edited.usda"):
        warm.run(name)
    kept = warm.places("edited.usda").original
    write_scene(edited.scene, cameras=7)

    totals = outcome.roll_back(warm.show.plan, warm.root)
    approval.approve(warm.show.plan)  # which it took back, and other tests need

    assert totals.states["rolled_back"] >= 1
    assert warm.is_as_before("back.usda")
    assert back.scene.stat().st_ino == node
    assert warm.entry("back.usda")["state"] == "rolled_back"
    assert cameras(edited.scene) == 7
    assert "changed after the run" in warm.entry("edited.usda")["kept"]
    assert digest_file(kept) == warm.before["edited.usda"][0]


def copied(warm: WarmShow, folder: Path) -> Plan:
    """Copy the plan, of which nothing was run, and approve it."""
    for name in (HEADER, SCENES):
        shutil.copy(warm.show.plan.folder / name, folder)
    plan = Plan.read(folder)
    approval.approve(plan)
    return plan


def test_a_task_whose_plan_cannot_be_read_any_more_does_not_blame_the_ledger(
    warm: WarmShow, tmp_path: Path
) -> None:
    plan, said = copied(warm, tmp_path), list[str]()
    (plan.folder / SCENES).unlink()

    code = task.run(warm.work(plan), say=said.append)

    assert code not in (0, task.NO_LEDGER)
    assert said == [
        f"openjd_fail: The task cannot continue: No such file or directory: {plan.folder / SCENES}."
    ]


def test_a_ledger_that_cannot_be_written_is_told_as_such(warm: WarmShow, tmp_path: Path) -> None:
    plan, said = copied(warm, tmp_path), list[str]()
    ledger.folder(plan).touch()

    code = task.run(warm.work(plan), say=said.append)

    assert code == task.NO_LEDGER
    assert said == ["openjd_fail: The ledger of the plan cannot be written: File exists."]


@pytest.mark.anyio
async def test_no_other_client_can_use_the_tools_of_a_warm_host(warm: WarmShow) -> None:
    (instance,) = discovery.running(warm.session.folder / "runtime")

    async with connect(instance.url, instance.token("claude")) as agent:
        result = await agent.call("batch_open", {"file": "/x.usda", "name": "x", "number": 0})

    assert result.is_error


def test_a_warm_host_is_not_among_the_hosts_that_agents_find(warm: WarmShow) -> None:
    assert warm.session.url not in [it.url for it in discovery.running()]


def test_a_host_does_not_start_for_a_plan_that_nobody_approved(
    warm: WarmShow, tmp_path: Path
) -> None:
    write_scene(tmp_path / "show" / "shot.usda")
    show = make_show(tmp_path / "show", tmp_path / "plan")

    with (
        pytest.raises(hosts.HostFailed, match="is not approved yet"),
        session_of(show, tmp_path / "host"),
    ):
        pytest.fail("it runs")


@pytest.mark.parametrize("is_any_version", [False, True])
def test_a_host_of_another_version_than_the_plans_runs_it_only_where_that_is_wanted(
    warm: WarmShow, tmp_path: Path, is_any_version: bool
) -> None:
    header = warm.show.plan.header
    skill = header["skill"]
    facts = HostFacts("Standalone 0.0", header["bridge"], skill["sha256"], skill["file"])
    made = plan.write(
        tmp_path / "plan", warm.show.plan.request, facts, warm.root, warm.show.plan.scenes()
    )
    approval.approve(made)
    show = Show(warm.root, made)

    with ExitStack() as stack:
        if not is_any_version:
            why = "The plan was made in Standalone 0.0, and this is .*, which may do something else"
            stack.enter_context(pytest.raises(PlanError, match=why))
        session = session_of(show, tmp_path / "host", is_any_version=is_any_version)
        assert stack.enter_context(session).url
