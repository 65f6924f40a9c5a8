"""One consent for a plan: what is shown to hold, and what is refused."""

from __future__ import annotations

import random
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dcc_batch import approval, files, plan
from dcc_batch.approval import NotApproved, Rule
from dcc_batch.plan import HostFacts, Plan, PlanError, Request
from dcc_bridge.audit import reader
from dcc_bridge.audit.log import log_folder

QUESTION = {
    "message": "Delete 2 cameras?",
    "title": "Delete",
    "items": ["/a", "/b"],
    "kinds": ["Camera", "Camera"],
    "arguments": [],
    "details": None,
}


def write_plan(folder: Path, count: int = 3, **more: Any) -> Plan:
    """Write a plan of a skill in a file, without a host."""
    skill = folder / "skill.py"
    folder.mkdir(parents=True, exist_ok=True)
    skill.write_text("def skill(): ...\n")
    facts = HostFacts("host 1", "0.1.0", files.digest_file(skill), str(skill))
    scenes = [
        {
            **{"n": n, "path": f"shot_{n}.usda", "size": 10, "sha256": "0" * 64},
            **{"state": "asks", "why": "", "question": QUESTION},
            "question_sha256": plan.question_digest(QUESTION),
        }
        for n in range(count)
    ]
    request = Request("standalone", "skill", {"pattern": "*"}, **more)
    return plan.write(folder / "plan", request, facts, folder, scenes)


@pytest.fixture
def approved(tmp_path: Path) -> Plan:
    made = write_plan(tmp_path)
    approval.approve(made)
    return made


def accepted(folder: Path) -> bool:
    """Tell whether a plan would be run, as a run and each of its hosts look at it."""
    try:
        read = Plan.read(folder)
        approval.check(read, Rule.read())
        read.check_skill()
    except (PlanError, NotApproved):
        return False
    return True


def test_a_plan_that_its_user_approved_may_run_and_the_record_has_it(approved: Plan) -> None:
    names = approval.check(approved, Rule.read())

    lines = [line.fields for log in reader.logs(log_folder()) for line in reader.follow(log)]
    (granted,) = [it for it in lines if it.get("call") == f"batch-{approved.id}"]
    assert names == [plan.user()]
    assert granted["event"] == "granted"
    assert granted["objects_digest"] == approved.digest
    assert granted["digest"] == approved.header["skill"]["sha256"]


def test_a_plan_that_nobody_approved_may_not_run(tmp_path: Path) -> None:
    with pytest.raises(NotApproved, match="Somebody must approve the plan"):
        approval.check(write_plan(tmp_path), Rule.read())


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


def test_an_approval_ends(tmp_path: Path) -> None:
    made = write_plan(tmp_path)
    approval.approve(made, hours=-1)

    with pytest.raises(NotApproved, match=r"The approval of .* ended at"):
        approval.check(made, Rule.read())


def test_an_approval_is_for_one_plan_alone(approved: Plan, tmp_path: Path) -> None:
    other = write_plan(tmp_path / "other", count=4)
    shutil.copy(approved.folder / approval.FILE, other.folder)

    with pytest.raises(NotApproved, match="for another plan"):
        approval.check(other, Rule.read())


def signed(made: Plan, key: Ed25519PrivateKey, name: str) -> dict[str, Any]:
    """Sign a plan as somebody else does on their computer."""
    now = datetime.now(UTC)
    statement = {
        "purpose": "dcc-bridge batch approval 1",
        "plan": made.digest,
        "skill": made.header["skill"]["sha256"],
        "name": name,
        "key": key.public_key().public_bytes_raw().hex(),
        "signed": now.isoformat(timespec="seconds"),
        "expires": (now + timedelta(hours=1)).isoformat(timespec="seconds"),
    }
    return {**statement, "signature": key.sign(files.canonical(statement)).hex()}


def test_a_key_that_does_not_count_here_approves_nothing(tmp_path: Path) -> None:
    made = write_plan(tmp_path)
    entry = signed(made, Ed25519PrivateKey.generate(), "mallory")
    files.write_json(made.folder / approval.FILE, [entry])

    with pytest.raises(NotApproved, match="The key of mallory is not one that counts here"):
        approval.check(made, Rule.read())


def test_two_people_must_agree_where_the_plan_or_the_policy_says_so(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes_raw().hex()
    made = write_plan(tmp_path, approvers=2)
    policy = tmp_path / "batch.toml"
    policy.write_text(f'approvers = 2\nkeys = ["{approval.public_key()}", "{public}"]\n')
    approval.approve(made)
    approval.approve(made)  # one person's second consent is one consent

    with pytest.raises(NotApproved, match="2 people must approve"):
        approval.check(made, Rule.read(policy))
    entries = files.read_json(made.folder / approval.FILE)
    files.write_json(made.folder / approval.FILE, [*entries, signed(made, key, "bob")])

    assert approval.check(made, Rule.read(policy)) == [plan.user(), "bob"]


def test_a_policy_that_cannot_be_read_lets_nothing_run(tmp_path: Path) -> None:
    policy = tmp_path / "batch.toml"
    policy.write_text("approvers = ")

    with pytest.raises(NotApproved, match="cannot be read"):
        Rule.read(policy)


def test_the_key_is_a_file_that_only_its_user_can_read() -> None:
    approval.public_key()

    assert (approval.key_folder() / "key").stat().st_mode & 0o077 == 0


def test_a_plan_is_never_written_over(tmp_path: Path) -> None:
    write_plan(tmp_path)

    with pytest.raises(PlanError, match="There is a plan in"):
        write_plan(tmp_path)


def test_a_scene_outside_the_root_is_refused(tmp_path: Path) -> None:
    from dcc_batch.swap import Places

    made = write_plan(tmp_path)
    for path in ("../x.usda", "/etc/x.usda", "a/../../x.usda", "a//x.usda"):
        with pytest.raises(PlanError, match="does not lie below"):
            Places.of(made, {"path": path}, tmp_path)


def test_where_a_policy_names_no_keys_the_users_own_counts(approved: Plan, tmp_path: Path) -> None:
    policy = tmp_path / "batch.toml"
    policy.write_text("approvers = 1\n")

    assert approval.check(approved, Rule.read(policy)) == [plan.user()]


@pytest.mark.parametrize("count", ["0", "-1", "1.5", "true", '"2"'])
def test_a_policy_wants_at_least_one_person(tmp_path: Path, count: str) -> None:
    policy = tmp_path / "batch.toml"
    policy.write_text(f"approvers = {count}\n")

    with pytest.raises(NotApproved, match="approvers is a whole number, at least 1"):
        Rule.read(policy)


def test_a_plan_that_wants_nobody_is_not_run_without_consent(tmp_path: Path) -> None:
    with pytest.raises(NotApproved, match="Somebody must approve the plan"):
        approval.check(write_plan(tmp_path, approvers=0), Rule(frozenset(), approvers=0))
