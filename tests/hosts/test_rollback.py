"""Nothing that goes wrong leaves a half-edited scene, and nothing of the artist's is undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pxr import Sdf, Usd

from dcc_bridge.audit import reader
from dcc_bridge.audit.log import AuditLog, Disk
from tests.hosts.programs import Fault, Program
from tests.tiers import sampled

EVERY: tuple[Fault, ...] = ("exception", "cancel", "killed")
AT_QUESTIONS: tuple[Fault, ...] = ("refused", "artist")


def faults(program: Program) -> list[tuple[Fault, int]]:
    anywhere = [(fault, at) for at in range(program.steps) for fault in EVERY]
    asked = [(fault, at) for at in program.questions for fault in AT_QUESTIONS]
    return [*anywhere, *asked]


class Quick(Disk):
    """A disk that does not wait: that it does is told in the tests of the record."""

    def sync(self, opened: int) -> None:
        """Go on."""


@pytest.fixture
def book(tmp_path: Path) -> Iterator[AuditLog]:
    """A record, which is whole at the end: no edit without its grant, and none without its end."""
    kept = AuditLog(tmp_path / "audit")
    kept.disk = Quick()
    yield kept
    kept.close()
    (file,) = reader.logs(tmp_path / "audit")
    told = reader.read(file)
    assert (told.trouble, told.ending, told.unfinished) == (None, "closed", [])
    of_call: dict[str, list[str]] = {}
    for line in told.lines():
        of_call.setdefault(line.fields.get("call", ""), []).append(line.event)
    for call, events in of_call.items():
        if "begin" in events:
            assert "granted" in events[: events.index("begin")], (call, events)
            assert sum(events.count(ending) for ending in reader.ENDINGS) == 1, (call, events)


def play(seed: int, fault: Fault, at: int, book: AuditLog) -> str:
    """Run a program with a fault, and see that it holds; gives how it ended."""
    program = Program(seed)
    outcome, before, after = program.run(fault, at, book)
    status: str = outcome.status
    where = f"seed {seed}, {fault} at step {at} of {program.steps}: {status}"
    if program.artist is None:
        assert status in ("failed", "refused", "cancelled"), where
        assert after == before, where
    else:
        assert status in ("failed", "partly_applied"), where
        assert after == program.artist, where
    return status


def test_a_program_that_nothing_happens_to_changes_the_scene() -> None:
    """Else the tests below would prove nothing: it edits, and each stretch is a step."""
    program = Program(1)

    outcome, before, after = program.run()

    assert outcome.status == "done"
    assert after.digest != before.digest
    assert 1 <= len(after.labels) - len(before.labels) <= 3


@pytest.mark.parametrize("seed", sampled(range(4), range(12)))
def test_a_fault_at_every_step_leaves_the_scene_as_it_was(seed: int, book: AuditLog) -> None:
    """Values, time samples, relationships, the order of siblings, undo stack and record."""
    for fault, at in faults(Program(seed)):
        play(seed, fault, at, book)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(10))
def test_ten_thousand_programs(part: int, book: AuditLog) -> None:
    """Each with one of the faults that can happen in it, all of them in turn."""
    ended: dict[str, int] = {}

    for seed in range(1000 * (part + 1), 1000 * (part + 2)):
        program = Program(seed)
        artists: list[tuple[Fault, int]] = [("artist", at) for at in program.questions]
        every = [*faults(program), *artists, *artists]
        status = play(seed, *every[seed % len(every)], book)
        ended[status] = ended.get(status, 0) + 1

    assert ended.keys() >= {"failed", "refused", "cancelled", "partly_applied"}


def siblings(stage: Usd.Stage) -> None:
    batch = Sdf.BatchNamespaceEdit()
    for old, new in (("/World/a", "/a"), ("/a", "/World/a")):  # there and back: it is the last now
        batch.Add(Sdf.NamespaceEdit(old, new))
    assert stage.GetRootLayer().Apply(batch)


def reparented(stage: Usd.Stage) -> None:
    batch = Sdf.BatchNamespaceEdit()
    batch.Add(Sdf.NamespaceEdit.Reparent("/World/d", "/World/c", -1))
    assert stage.GetRootLayer().Apply(batch)


def hidden(stage: Usd.Stage) -> None:
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        stage.GetPrimAtPath("/World/a").SetActive(False)


@pytest.mark.parametrize(
    "edit",
    [
        lambda it: it.GetAttributeAtPath("/World/b.focalLength").Set(25.0, 1.0),
        lambda it: it.GetAttributeAtPath("/World/b.focalLength").Set(24.0, 2.0),
        lambda it: it.GetAttributeAtPath("/World/a.focalLength").Set(36.0),
        lambda it: it.GetRelationshipAtPath("/World/a.sees").SetTargets(["/World/c", "/World/b"]),
        siblings,
        reparented,
        hidden,
    ],
)
def test_the_digest_sees_whatever_a_rollback_must_bring_back(
    edit: Callable[[Usd.Stage], None],
) -> None:
    """The oracle of the tests above: one time sample, the order of targets or of siblings."""
    session = Program(0).session
    before = session.scene_digest()

    edit(session.stage)
    after = session.scene_digest()
    session.undo()

    assert after != before == session.scene_digest()
