"""One consent for a plan: what is shown to hold, and what is refused."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import pytest

from dcc_bridge.audit import reader
from dcc_bridge.audit.log import log_folder
from dcc_bridge_batch import approval, files, plan
from dcc_bridge_batch.approval import NotApproved
from dcc_bridge_batch.plan import HostFacts, Plan, PlanError, Request
from dcc_bridge_batch.swap import Places
from tests import homes
from tests.batch.conftest import write_plan


def accepted(folder: Path) -> bool:
    """Tell whether a plan would be run, as a run and each of its hosts look at it."""
    try:
        read = Plan.read(folder)
        approval.check(read)
        read.check_skill()
    except (PlanError, NotApproved):
        return False
    return True


def test_a_plan_that_its_user_approved_may_run_and_the_record_has_it(approved: Plan) -> None:
    name = approval.check(approved)

    lines = [line.fields for log in reader.logs(log_folder()) for line in reader.follow(log)]
    asked, granted = [it for it in lines if it.get("call") == f"batch-{approved.id}"]
    assert name == plan.user()
    assert asked["message"] == f"Let skill change 3 of 3 scenes below {approved.root}?"
    assert granted["event"] == "granted"
    assert granted["name"] == plan.user()
    assert granted["objects_digest"] == approved.digest
    assert granted["digest"] == approved.header["skill"]["sha256"]


def mutate(file: Path, chance: random.Random) -> bytes:
    """Change a file by one byte: another one, one more or one less; gives what it was."""
    was = file.read_bytes()
    at = chance.randrange(len(was))
    other = bytes([(was[at] + chance.randrange(1, 256)) % 256])
    new = chance.choice([was[:at] + other + was[at + 1 :], was[:at] + other + was[at:],
                         was[:at] + was[at + 1 :]])  # fmt: skip
    file.write_bytes(new)
    return was


@pytest.mark.parametrize(
    "count", [60, pytest.param(1000, marks=[pytest.mark.long, pytest.mark.timeout(300)])]
)
def test_a_plan_or_skill_or_approval_that_was_changed_is_refused(
    approved: Plan, count: int
) -> None:
    chance = random.Random(18)
    folder = approved.folder
    skill = Path(approved.header["skill"]["file"])
    names = (*(folder / it for it in (plan.HEADER, plan.SCENES, approval.FILE)), skill)
    assert accepted(folder)

    wrong = []
    for number in range(count):
        file = names[number % len(names)]
        was = mutate(file, chance)
        if accepted(folder):
            wrong.append((file.name, was, file.read_bytes()))
        file.write_bytes(was)

    assert wrong == []
    assert accepted(folder)


def test_an_approval_ends(made: Plan) -> None:
    approval.approve(made, hours=-1)

    with pytest.raises(NotApproved, match=r"The approval by .* ended at"):
        approval.check(made)


def test_an_approval_is_for_one_plan_alone(approved: Plan, tmp_path: Path) -> None:
    other = write_plan(tmp_path / "other", count=4)
    shutil.copy(approved.folder / approval.FILE, other.folder)

    with pytest.raises(NotApproved, match="is for another plan"):
        approval.check(other)


@pytest.mark.parametrize("has_key", [True, False])
def test_what_another_user_approved_does_not_count(
    made: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_key: bool
) -> None:
    homes.set_all(monkeypatch, homes.state(tmp_path / "mallory"))
    approval.approve(made)
    homes.set_all(monkeypatch, homes.state(tmp_path / "alice"))
    if has_key:
        approval.approve(write_plan(tmp_path / "hers"))

    with pytest.raises(NotApproved, match="was changed or was given by another user"):
        approval.check(made)


def test_a_farm_has_the_one_consent_count_that_its_job_names(
    approved: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    consent = approval.digest(approved)
    homes.set_all(monkeypatch, homes.state(tmp_path / "worker"))
    agreed = approval.check(approved, consent)
    approval.approve(approved)  # as the worker's own user

    with pytest.raises(NotApproved, match="was changed or was given by another user"):
        approval.check(approved, consent)

    assert agreed == plan.user()


def test_a_consent_that_somebody_else_put_there_is_not_exported(
    made: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a farm its digest is all that counts."""
    bundle = pytest.importorskip(
        "dcc_bridge_batch.bundle", reason="a bundle needs Open Job Description"
    )
    homes.set_all(monkeypatch, homes.state(tmp_path / "mallory"))
    approval.approve(made)
    homes.set_all(monkeypatch, homes.state(tmp_path / "alice"))

    with pytest.raises(NotApproved, match="was changed or was given by another user"):
        bundle.export(made, tmp_path / "job", sys.executable)

    assert not (tmp_path / "job" / "parameter_values.json").exists()


def test_a_key_that_is_damaged_approves_nothing(
    made: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes.set_all(monkeypatch, homes.state(tmp_path))
    approval.approve(made)
    (approval.key_folder() / "key").write_bytes(b"")

    with pytest.raises(NotApproved, match="The key of your consent is damaged: delete"):
        approval.check(made)


def test_a_skill_that_was_changed_since_is_named(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("# as it was planned")
    facts = HostFacts("host 1", "0.1.0", files.digest_file(mine), str(mine))
    made = plan.write(tmp_path / "plan", Request("usd", "mine", {}), facts, tmp_path, [])

    made.check_skill()
    mine.write_text("# something else")

    with pytest.raises(PlanError, match="was changed after the plan was made"):
        made.check_skill()


@pytest.mark.skipif(sys.platform == "win32", reason="rights are POSIX's")
@pytest.mark.usefixtures("approved")
def test_the_key_is_a_file_that_only_its_user_can_read() -> None:
    assert (approval.key_folder() / "key").stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("made")
def test_a_plan_is_never_written_over(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="There is already a plan in"):
        write_plan(tmp_path)


def test_a_scene_outside_the_root_is_refused(made: Plan, tmp_path: Path) -> None:
    for path in ("../x.usda", "/etc/x.usda", "a/../../x.usda", "a//x.usda"):
        with pytest.raises(PlanError, match="is not below the root"):
            Places.of(made, {"path": path}, tmp_path)
