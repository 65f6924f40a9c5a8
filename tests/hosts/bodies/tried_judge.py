"""Judges what a tried body has left by the scene and the files alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from dcc_bridge.consent import attempt, loss_questions
from dcc_bridge.consent.ledger import Ledger
from dcc_bridge.consent.undo_steps import Steps
from dcc_bridge.errors import NotUndoable
from tests.hosts.bodies.acts import Act, every
from tests.hosts.bodies.judge import Judge
from tests.hosts.bodies.port import MarkedPort, Scene
from tests.hosts.bodies.tried_plans import QUESTIONS, Plan, make, smaller
from tests.hosts.bodies.tried_play import Asked, Result, Seen, TriedPlay

_OF_THE_LOOP: Final = ("Delete ", "Program?")  # how the questions of the loop itself begin
_UNASKED: Final = ("It tried to", "record cannot be written")
"""What is in the errors of a body that had to be asked for, and was not."""


class TriedJudge(Judge[MarkedPort, Plan]):
    """Judges tried bodies."""

    checks = ("judge", "revert", "guard", "list", "answers")

    def __init__(self, kind: type[MarkedPort], folder: Path) -> None:
        """Take the host, which puts its scenes into a folder."""
        super().__init__(kind, folder)
        self._last: Result | None = None

    def make(self, seed: int) -> Plan:
        """Return the body of a seed."""
        return make(seed, self._kind)

    def smaller(self, plan: Plan) -> Iterator[Plan]:
        """Return the bodies that are a step smaller."""
        return smaller(plan)

    def told(self) -> list[str]:
        """Return the questions of the body that was played last, and how it ended."""
        assert self._last is not None
        asked = [f"{it.message!r} {list(it.items)} {it.answer}" for it in self._last.asked]
        return [*asked, f"{self._last.status}: {self._last.error}"]

    def play(self, plan: Plan) -> list[str]:
        """Run a body, and return what is wrong with what it left."""
        with self._place() as folder, self._opened_for(plan, folder) as port:
            result = TriedPlay(plan, port, folder).run()
            wrong = self._of_kept(plan, result, port) if result.status == "done" else []
        self._last = result
        self.statuses[result.status] += 1
        self.asked += len(result.asked)
        if result.audit:
            wrong.append(f"the record: {result.audit}")
        if any(word in (result.error or "") for word in _UNASKED):
            wrong.append(f"it was not asked for: {result.error}")
        return [*wrong, *self._of_scene(plan, result), *self._of_files(result)]

    def stopped_by(self, check: str) -> Plan:
        """Return a body that a check alone would stop."""
        items = self._kind.items
        acts = {
            "guard": Act("write_over", ("1",)),
            "list": Act("drift", (*items[1:6:2],)),
        }
        act = acts.get(check, Act("delete", (items[0], items[0])))
        answer = "no" if check in ("revert", "answers") else "yes"
        return Plan((answer,) * QUESTIONS, False, False, (act,))

    def switched_off(self, check: str) -> AbstractContextManager[Any]:
        """Have the loop do without a check while the block lasts."""
        if check == "judge":
            return patch.object(self, "_spoil", _blind)
        if check == "guard":
            return patch.object(attempt, "watched_by", lambda *_: nullcontext())
        stack = ExitStack()
        if check == "revert":
            stack.enter_context(patch.object(Steps, "_revert", lambda *_: None))
            stack.enter_context(patch.object(Steps, "roll_back", lambda *_: None))
        elif check == "list":
            stack.enter_context(patch.object(Ledger, "agreed_items", property(_all_once_granted)))
        else:
            stack.enter_context(patch.object(loss_questions, "check", lambda *_: None))
            stack.enter_context(patch.object(Ledger, "agreed_items", property(_all_once_refused)))
        return stack

    @contextmanager
    def _opened_for(self, plan: Plan, folder: Path) -> Iterator[MarkedPort]:
        """Have a scene; an edit of the person's leaves nothing to redo."""
        with self._opened(folder) as port:
            if not plan.has_redo:
                port.work()
            yield port

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
        with self._place() as folder, self._opened_for(plan, folder) as port:
            for _ in range(result.theirs):
                port.work()
            return Seen(port.look(), frozenset(port.things()), {})

    def _of_kept(self, plan: Plan, result: Result, port: MarkedPort) -> list[str]:
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


def _blind(port: Any) -> None:
    port.host.lost = lambda agreed: []


def _all_once_granted(ledger: Ledger) -> list[str] | None:
    return None if ledger.grants else []


def _all_once_refused(ledger: Ledger) -> list[str] | None:
    return None if ledger.refused else []
