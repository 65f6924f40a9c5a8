"""What is wrong with what an undecorated body has left, judged by the scene and the files alone."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from dcc_bridge.consent import attempt, loss_questions
from dcc_bridge.consent.ledger import Ledger
from dcc_bridge.consent.undo_steps import Steps
from dcc_bridge.errors import NotUndoable
from tests.hosts.bad_port import Scene
from tests.hosts.undecorated_plans import Act, Plan, every, make, smaller
from tests.hosts.undecorated_play import Asked, Play, Result, Seen, quiet
from tests.hosts.undecorated_port import Field

_OF_THE_LOOP: Final = ("Delete ", "Program?")  # how the questions of the loop itself begin
_UNASKED: Final = ("It wanted to", "record cannot be written")
"""What is in the errors of a body that had to be asked for, and was not."""


@dataclass
class Counts:
    """What programs did, so that it is seen that they did anything."""

    programs: int = 0
    asked: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    unsaid: Counter[str] = field(default_factory=Counter)  # files that no agreed question named

    def add(self, result: Result) -> None:
        """Count one program."""
        self.programs += 1
        self.asked += len(result.asked)
        self.statuses[result.status] += 1


class Judge:
    """Runs programs in one host, each in a scene of its own, and says what is wrong with them."""

    def __init__(self, kind: type[Field], folder: Path) -> None:
        """Take the host, which puts its scenes into a folder."""
        self._kind = kind
        self._folder = folder
        self.counts = Counts()
        self.last: Result | None = None

    def find(self, seed: int) -> str:
        """Run the program of a seed; return what it did that nobody agreed to, or "".

        It is shrunk to the smallest program that does any such thing.
        """
        plan = make(seed, self._kind)
        wrong = self.play(plan)
        if not wrong:
            return ""
        plan = self._shrunk(plan)
        wrong = self.play(plan) or wrong
        assert self.last is not None
        ended = f"{self.last.status}: {self.last.error}"
        asked = [f"{it.message!r} {list(it.items)} {it.answer}" for it in self.last.asked]
        lines = [f"seed {seed}: {wrong}", str(plan), *asked, ended]
        return "\n  ".join(lines)

    def play(self, plan: Plan) -> list[str]:
        """Run a program, and return what is wrong with what it left."""
        with self._place() as folder:
            port = self._opened(plan, folder)
            try:
                result = Play(plan, port, folder).run()
                wrong = self._of_kept(plan, result, port) if result.status == "done" else []
            finally:
                port.close()
        self.counts.add(result)
        self.last = result
        if result.audit:
            wrong.append(f"the record: {result.audit}")
        if any(word in (result.error or "") for word in _UNASKED):
            wrong.append(f"it was not asked for: {result.error}")
        return [*wrong, *self._of_scene(plan, result), *self._of_files(result)]

    def _opened(self, plan: Plan, folder: Path) -> Field:
        """Open a scene; an edit of the person's leaves nothing to redo."""
        port = self._kind(folder)
        if not plan.has_redo:
            port.work()
        return port

    @contextmanager
    def _place(self) -> Iterator[Path]:
        """Make the folders of one program; its temporary files are not beside its scene."""
        whole = Path(tempfile.mkdtemp(prefix="p", dir=self._folder))
        folder, temporary = whole / "scene", whole / "temporary"
        folder.mkdir()
        temporary.mkdir()
        state = {"XDG_STATE_HOME": str(folder / "bridge")}
        try:
            with patch.dict("os.environ", state), patch.object(tempfile, "tempdir", str(temporary)):
                yield folder
        finally:
            shutil.rmtree(whole)

    def _shrunk(self, plan: Plan) -> Plan:
        """Take away of a bad program what it does not need to be one."""
        again = True
        while again:
            again = False
            for other in smaller(plan):
                if self.play(other):
                    plan, again = other, True
                    break
        return plan

    def _of_scene(self, plan: Plan, result: Result) -> list[str]:
        before, after = result.before, result.after
        agreed = [asked for asked in result.asked if asked.is_agreed]
        is_other = _is_other(result)
        if is_other and any(asked.lasts for asked in agreed):
            return []  # they agreed that it is another scene
        wrong = [f"{after.scene.file} is open"] if is_other else []
        listed = set[str]().union(*(asked.marks for asked in agreed))
        is_whole = any(not asked.items for asked in agreed)
        gone = before.things - after.things - listed
        if gone and not is_whole:
            wrong.append(f"gone: {sorted(gone)}")
        if result.status == "partly_applied" and result.theirs:
            return wrong  # somebody's edit lies on top of what it did before its own question
        if result.status == "done":
            return wrong
        expected = self._with_theirs(plan, result)
        return [*wrong, *_differing(expected, after, result.status)]

    def _with_theirs(self, plan: Plan, result: Result) -> Seen:
        """Return the scene before a program with what somebody edited meanwhile."""
        if not result.theirs:
            return result.before
        with self._place() as folder:
            port = self._opened(plan, folder)
            try:
                for _ in range(result.theirs):
                    port.work()
                return Seen(port.look(), frozenset(port.things()), {})
            finally:
                port.close()

    def _of_kept(self, plan: Plan, result: Result, port: Field) -> list[str]:
        """Say what is wrong with the stacks after a program that is done, and undo it."""
        kinds = {act.kind for act in every(plan.body)}
        if kinds & port.pushing or _is_other(result):
            return []
        wrong = _in_stacks(result)
        if wrong or result.theirs or _agreed_to_last(result.asked):
            return wrong
        before = result.before.scene
        try:
            for _ in range(_added(result)):
                port.host.undo()
        except NotUndoable as error:
            return [f"one undo does not bring all back: {error}"]
        undone = port.look()
        if (undone.state, undone.objects) != (before.state, before.objects):
            return ["one undo does not bring all back"]
        return []

    def _of_files(self, result: Result) -> list[str]:
        before, after = result.before.files, result.after.files
        changed = [it for it in {*before, *after} if before.get(it) != after.get(it)]
        wrong = []
        if changed and not _agreed_to_last(result.asked):
            wrong.append(f"written or removed: {sorted(changed)}")
        messages = "\n".join(it.message for it in result.asked if it.is_agreed and it.lasts)
        self.counts.unsaid.update(name for name in changed if name not in messages)
        lines = result.counted
        if len(lines) != len(set(lines)):
            wrong.append(f"done twice: {lines}")
        return wrong


def _added(result: Result) -> int:
    """Return how many entries of the undo stack a program has left."""
    return len(result.after.scene.undo) - len(result.before.scene.undo) - result.theirs


def _in_stacks(result: Result) -> list[str]:
    """Compare the stacks, and what undo does not hold, with those before a program."""
    before, after = result.before.scene, result.after.scene
    added = _added(result)
    wrong = []
    if after.view != before.view:
        wrong.append(f"the view is {after.view}, and was {before.view}")
    if after.undo[: len(before.undo)] != before.undo or added < 0:
        wrong.append(f"the undo stack is {after.undo}, and was {before.undo}")
    if added > 1 and all(asked.message.startswith(_OF_THE_LOOP) for asked in result.asked):
        wrong.append(f"{added} entries more: {after.undo}")
    if not added and not result.theirs:
        wrong += _in_nothing(before, after)
    return wrong


def _in_nothing(before: Scene, after: Scene) -> list[str]:
    """Compare a scene with what it was where no entry was left."""
    wrong = []
    if after.state != before.state:
        wrong.append("changed, and nothing to undo")
    if after.redo != before.redo:
        wrong.append(f"nothing changed, and to redo is {after.redo}")
    return wrong


def _is_other(result: Result) -> bool:
    """Return whether another scene is open, or this one has another file."""
    before, after = result.before.scene, result.after.scene
    return (after.which, after.file) != (before.which, before.file)


def _agreed_to_last(asked: Sequence[Asked]) -> bool:
    return any(it.is_agreed and it.lasts for it in asked)


def _differing(expected: Seen, after: Seen, status: str) -> list[str]:
    """Compare a scene after a refusal or an error with what it has to be."""
    wrong = []
    if (after.scene.state, after.things) != (expected.scene.state, expected.things):
        wrong.append(f"{status}, and the scene is another one")
    if after.scene.view != expected.scene.view:
        wrong.append(f"{status}, and the view is {after.scene.view}")
    stacks = after.scene.undo, after.scene.redo
    if stacks != (expected.scene.undo, expected.scene.redo):
        wrong.append(f"{status}, and the stacks are {stacks}")
    return wrong


CHECKS: Final = ("judge", "revert", "guard", "list", "answers")
"""What the loop consists of."""


def found_without(check: str, kind: type[Field], folder: Path) -> list[str]:
    """Switch a check of the loop off, and play a program that it would have stopped."""
    at = kind.items[0]
    answers = ("yes",) * 8
    plans = {
        "judge": Plan(answers, False, False, (Act("delete", (at, at)),)),
        "revert": Plan(("no",) * 8, False, False, (Act("delete", (at, at)),)),
        "guard": Plan(answers, False, False, (Act("write_over", ("1",)),)),
        "list": Plan(answers, False, False, (Act("drift", (*kind.items[1:6:2],)),)),
        "answers": Plan(("no",) * 8, False, False, (Act("delete", (at, at)),)),
    }

    class Blind(kind):  # type: ignore[misc, valid-type]  # a class that mypy does not know
        def __init__(self, folder: Path) -> None:
            super().__init__(folder)
            if check == "judge":
                self.host.lost = lambda agreed: []

    with ExitStack() as stack:
        if check == "revert":
            stack.enter_context(patch.object(Steps, "_revert", lambda *_: None))
            stack.enter_context(patch.object(Steps, "roll_back", lambda *_: None))
        elif check == "guard":
            stack.enter_context(patch.object(attempt, "watched_by", lambda *_: _nothing()))
        elif check == "list":
            covered = property(lambda ledger: None if ledger.grants else [])
            stack.enter_context(patch.object(Ledger, "covered", covered))
        elif check == "answers":
            stack.enter_context(patch.object(loss_questions, "check", lambda *_: None))
            covered = property(lambda ledger: None if ledger.refused else [])
            stack.enter_context(patch.object(Ledger, "covered", covered))
        return Judge(Blind, folder).play(plans[check])


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def main(kind: type[Field], words: Sequence[str]) -> str:
    """Run programs where a host has an interpreter of its own; return what is wrong, or "".

    The words are where their scenes are put, the first seed, and how many programs; or only where,
    to see that something is found with each of `CHECKS` switched off. The file ``seed`` says how
    far it is, ``counts`` what was done.
    """
    quiet()
    folder = Path(words[0])
    if not words[1:]:
        blind = [it for it in CHECKS if not found_without(it, kind, folder)]
        return f"nothing is found without {blind}" if blind else ""
    first, count = map(int, words[1:])
    judge = Judge(kind, folder)
    wrong: list[str] = []
    for seed in range(first, first + count):
        (folder / "seed").write_text(str(seed))
        found: Any = judge.find(seed)
        if found:
            wrong.append(found)
            print(found, file=sys.stderr, flush=True)
    (folder / "counts").write_text(repr(judge.counts))
    return "\n".join(wrong)
