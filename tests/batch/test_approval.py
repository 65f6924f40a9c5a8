"""One consent for a plan: what is shown to hold, and what is refused."""

from __future__ import annotations

import os
import random
import shutil
import sys
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from dcc_batch import approval, files, plan
from dcc_batch.approval import NotApproved, Rule
from dcc_batch.plan import HostFacts, Plan, PlanError, Request
from dcc_batch.swap import Places
from dcc_bridge import private_files
from dcc_bridge.audit import reader
from dcc_bridge.audit.log import log_folder
from tests import homes
from tests.batch.conftest import ROOT, Command, write_plan

LIMIT = 60.0  # seconds for what takes none


def written(folder: Path, policy: str) -> Path:
    """Write a policy."""
    (file := folder / "batch.toml").write_text(policy)
    return file


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
    asked, granted = [it for it in lines if it.get("call") == f"batch-{approved.id}"]
    assert names == [plan.user()]
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


def test_a_key_that_does_not_count_here_approves_nothing(made: Plan) -> None:
    entry = signed(made, Ed25519PrivateKey.generate(), "mallory")
    files.write_json(made.folder / approval.FILE, [entry])

    with pytest.raises(NotApproved, match="The key of mallory is not one that counts here"):
        approval.check(made, Rule.read())


def test_two_people_must_agree_where_the_plan_or_the_policy_says_so(tmp_path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes_raw().hex()
    made = write_plan(tmp_path, approvers=2)
    policy = written(tmp_path, f'approvers = 2\nkeys = ["{approval.public_key()}", "{public}"]\n')
    approval.approve(made)
    approval.approve(made)  # one person's second consent is one consent

    with pytest.raises(NotApproved, match="2 people must approve"):
        approval.check(made, Rule.read(policy))
    entries = files.read_json(made.folder / approval.FILE)
    files.write_json(made.folder / approval.FILE, [*entries, signed(made, key, "bob")])

    assert approval.check(made, Rule.read(policy)) == [plan.user(), "bob"]


def test_a_second_person_is_named_as_the_next_step_until_they_have_agreed(
    made: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    states = [tmp_path / "alice", tmp_path / "bob"]
    keys = []
    for state in states:
        homes.set_all(monkeypatch, homes.state(state))
        keys.append(approval.public_key())
    policy = written(tmp_path, f"approvers = 2\nkeys = {keys}\n")
    monkeypatch.setattr(approval.Rule.read.__func__, "__defaults__", (policy, ()))  # type: ignore[attr-defined]  # a class method's function

    said = []
    for state in (states[0], *states):  # the first of them agrees twice
        homes.set_all(monkeypatch, homes.state(state))
        approval.approve(made)
        said.append(command("status", made.folder)[1].splitlines()[-1])

    wanted = "2 people must approve the plan before it is run, and 1 did so far."
    waits = f"dcc-bridge: {wanted} Next: dcc-bridge batch approve {made.folder}"
    assert said == [waits, waits, f"dcc-bridge: Next: dcc-bridge batch run {made.folder}"]


def test_of_two_people_who_agree_at_once_none_loses_their_consent(
    made: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, claim = approval._read, private_files.claim
    bob = threading.Thread(target=approval.approve, args=(made,))
    goes_on = threading.Event()
    homes.set_all(monkeypatch, homes.state(tmp_path / "alice"))

    def claims(descriptor: int, *, wait: bool = False) -> bool:
        ours = {file.stat().st_ino for file in made.folder.iterdir()}
        if wait and os.fstat(descriptor).st_ino in ours and threading.current_thread() is bob:
            goes_on.set()  # he waits for alice
        return claim(descriptor, wait=wait)

    def reads(folder: Path) -> list[dict[str, Any]]:
        entries = read(folder)
        if threading.current_thread() is bob:
            goes_on.set()
        elif bob.ident is None:  # alice has read what there is, and has not written yet
            homes.set_all(monkeypatch, homes.state(tmp_path / "bob"))
            bob.start()
            goes_on.wait(LIMIT)
        return entries

    monkeypatch.setattr(private_files, "claim", claims)
    monkeypatch.setattr(approval, "_read", reads)
    approval.approve(made)
    bob.join(LIMIT)

    keys = {entry["key"] for entry in files.read_json(made.folder / approval.FILE)}
    assert goes_on.is_set()
    assert len(keys) == 2


def test_a_policy_says_for_how_long_a_consent_holds(made: Plan, tmp_path: Path) -> None:
    approval.approve(made, hours=72)
    rule = Rule.read(written(tmp_path, "hours = 8\n"))
    begun = datetime.now(UTC)

    assert approval.check(made, rule) == [plan.user()]
    assert rule.hours == 8
    with pytest.raises(NotApproved, match=r"The approval of .* ended at"):
        approval.check(made, replace(rule, hours=-1))
    (entry,) = files.read_json(made.folder / approval.FILE)
    assert datetime.fromisoformat(entry["expires"]) > begun + timedelta(hours=71)


HOURS, PEOPLE = "1 to 8760 hours, not", "approvers is a whole number, at least 1"


@pytest.mark.parametrize(
    ("policy", "why"),
    [
        *((f"hours = {it}", HOURS) for it in ("0", "-1", "1e9", "true", '"8"', "nan")),
        *((f"approvers = {it}", PEOPLE) for it in ("0", "-1", "1.5", "true", '"2"')),
        ("approvers = ", "cannot be read"),
    ],
)
def test_a_policy_that_cannot_be_kept_or_read_lets_nothing_run(
    tmp_path: Path, policy: str, why: str
) -> None:
    with pytest.raises(NotApproved, match=why):
        Rule.read(written(tmp_path, f"{policy}\n"))


def test_a_skill_of_ours_is_found_where_the_worker_has_the_bridge(tmp_path: Path) -> None:
    ours = ROOT / "plugins" / "standalone" / "skills" / "delete_prims.py"
    elsewhere = tmp_path / "share" / "dcc_bridge" / "plugins" / "standalone" / "skills" / ours.name
    for sha256, is_same in ((files.digest_file(ours), True), ("0" * 64, False)):
        facts = HostFacts("host 1", "0.1.0", sha256, str(elsewhere))
        request = Request("standalone", "delete_prims", {})
        made = plan.write(tmp_path / str(is_same), request, facts, tmp_path, [])

        if is_same:
            made.check_skill()
        else:
            with pytest.raises(PlanError, match="was changed after the plan was made"):
                made.check_skill()


@pytest.mark.skipif(sys.platform == "win32", reason="rights are POSIX's")
def test_the_key_is_a_file_that_only_its_user_can_read() -> None:
    approval.public_key()

    assert (approval.key_folder() / "key").stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("made")
def test_a_plan_is_never_written_over(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="There is a plan in"):
        write_plan(tmp_path)


def test_a_scene_outside_the_root_is_refused(made: Plan, tmp_path: Path) -> None:
    for path in ("../x.usda", "/etc/x.usda", "a/../../x.usda", "a//x.usda"):
        with pytest.raises(PlanError, match="does not lie below"):
            Places.of(made, {"path": path}, tmp_path)


def test_where_a_policy_names_no_keys_the_users_own_counts(approved: Plan, tmp_path: Path) -> None:
    rule = Rule.read(written(tmp_path, "approvers = 1\n"))

    assert approval.check(approved, rule) == [plan.user()]


def test_a_plan_that_wants_nobody_is_not_run_without_consent(tmp_path: Path) -> None:
    with pytest.raises(NotApproved, match="Somebody must approve the plan"):
        approval.check(write_plan(tmp_path, approvers=0), Rule(frozenset(), approvers=0))


@pytest.mark.parametrize(("approvers", "counts"), [(1, True), (2, False)])
def test_keys_that_a_job_names_do_not_make_two_people_of_one(
    made: Plan, tmp_path: Path, approvers: int, counts: bool
) -> None:
    keys = [Ed25519PrivateKey.generate() for _ in range(2)]
    files.write_json(made.folder / approval.FILE, [signed(made, key, "me") for key in keys])
    named = [key.public_key().public_bytes_raw().hex() for key in keys]

    rule = Rule.read(written(tmp_path, f"approvers = {approvers}\n"), trusted=named)

    assert (rule.keys >= set(named)) is counts
    if not counts:
        with pytest.raises(NotApproved, match="2 people must approve"):
            approval.check(made, rule)


def test_a_plan_wants_as_many_people_as_the_policy_wherever_it_is_run(tmp_path: Path) -> None:
    keys = [str(it) * 64 for it in (1, 2, 3)]
    rule = Rule.read(written(tmp_path, f"approvers = 2\nkeys = {keys}\n"))

    assert [rule.people(wanted) for wanted in (1, 2, 3)] == [2, 2, 3]
    with pytest.raises(NotApproved, match="4 people would have to approve"):
        rule.people(4)
