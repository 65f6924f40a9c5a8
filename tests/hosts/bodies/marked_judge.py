"""Judges what a marked body has left by what was agreed to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

from dcc_bridge.consent.ledger import Ledger
from dcc_bridge.consent.loss_guard import LossGuard
from tests.hosts.bodies.acts import Act
from tests.hosts.bodies.judge import Judge
from tests.hosts.bodies.marked_plans import Plan, make, smaller
from tests.hosts.bodies.marked_play import MarkedPlay, Result
from tests.hosts.bodies.port import Port, Scene

_VIEWS: Final = ("mute", "namespace", "update_mode", "activate", "copy_over")
"""By host, what `guard` alone refuses or puts back."""
_STOPPED: Final = {
    "a grant is alive": "value",
    "what was lost was agreed to": "wipe",
    "losing": "save",
}
"""By check, the act that it alone would stop; that of `guard` is one of `_VIEWS`."""


@contextmanager
def looping() -> Iterator[asyncio.AbstractEventLoop]:
    """Run a worker's loop, on a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


class MarkedJudge(Judge[Port, Plan]):
    """Judges marked bodies."""

    checks = (*_STOPPED, "guard")

    def make(self, seed: int) -> Plan:
        """Return the body of a seed."""
        return make(seed, self._kind)

    def smaller(self, plan: Plan) -> Iterator[Plan]:
        """Return the bodies that are a step smaller."""
        return smaller(plan)

    def told(self) -> list[str]:
        """Return nothing: all is in the plan."""
        return []

    def play(self, plan: Plan) -> list[str]:
        """Run a body, and return what is wrong with what it left."""
        with self._place() as folder, self._opened(folder) as port, looping() as loop:
            result = MarkedPlay(plan, port, folder, loop).run()
            wrong = [*_of_scene(plan, result, port, folder), *_of_files(result, port, folder)]
        return [*wrong, f"the record: {result.audit}"] if result.audit else wrong

    def stopped_by(self, check: str) -> Plan:
        """Return a body that asks about one item, unless it is about the grant, and does more."""
        at = self._kind.items[0]
        view = next(name for name in _VIEWS if name in self._kind.own)
        act = Act(_STOPPED.get(check, view), (at, at))
        agreed = Act("ask", ("confirm", "yes", "undoable", at))
        body = (act,) if check == "a grant is alive" else (agreed, act)
        return Plan("destructive", True, True, "main", "yes", "allow", False, body)

    def switched_off(self, check: str) -> AbstractContextManager[Any]:
        """Have the bridge do without a check while the block lasts."""
        if check == "a grant is alive":
            return patch.object(Ledger, "allows_change", True)
        if check == "losing":
            return patch.object(LossGuard, "check_loss", lambda *_: None)
        if check == "guard":
            return patch.object(self, "_spoil", _unguarded)
        return patch.object(self, "_spoil", _blind)


def _blind(port: Any) -> None:
    port.host.lost = lambda agreed: []


def _unguarded(port: Any) -> None:
    port.host.guard = lambda put_back, read: nullcontext()


def _of_scene(plan: Plan, result: Result, port: Port, folder: Path) -> list[str]:
    before, after, granted = result.before, result.after, result.granted
    is_other = after.which != before.which or after.file != before.file
    if granted.lasting and (is_other or after.files != before.files):
        return []  # they agreed that it is another scene, or that what it refers to is
    if is_other and port.is_told_late:
        is_kept = after.which == before.which or any(folder.rglob("*checkpoints/*/*"))
        what = f"{after.file} is open"
        wrong = [] if is_kept else [f"{what}, and no copy was kept"]
        return wrong + ([] if result.is_told else [f"{what}, and it is told as done"])
    wrong = [f"{after.file} is open"] if is_other else []
    wrong += _in_view(before, after)
    gone = (before.objects | result.theirs) - after.objects - result.lost
    if gone:
        wrong.append(f"gone: {sorted(gone)}")
    if result.theirs:  # what they did meanwhile lies on top, and is theirs
        return wrong
    if after.content != before.content and not result.changed:
        wrong.append("changed without a yes")
    if result.ended.content != after.content and not granted.foreign:
        wrong.append("changed after its end")
    must_stay = (plan.risk == "read" or result.status != "done") and not granted.foreign
    if must_stay and after.content != before.content:
        wrong.append(f"{result.status}, and the scene is another one")
    return wrong + _in_stacks(before, after, must_stay=must_stay)


def _in_view(before: Scene, after: Scene) -> list[str]:
    """Compare what the person sees and may edit; a layer may have left the scene."""
    wrong = []
    if after.view != before.view:
        wrong.append(f"the view is {after.view}, and was {before.view}")
    if any(after.locks.get(name, lock) != lock for name, lock in before.locks.items()):
        wrong.append(f"the locks are {after.locks}, and were {before.locks}")
    return wrong


def _in_stacks(before: Scene, after: Scene, *, must_stay: bool) -> list[str]:
    """Compare what the person can undo and redo; a change on top ends what could be redone."""
    if must_stay or after.undo == before.undo:
        is_same = (after.undo, after.redo) == (before.undo, before.redo)
    else:
        is_same = after.undo[: len(before.undo)] == before.undo
    return [] if is_same else [f"the stacks are {after.undo} and {after.redo}"]


def _of_files(result: Result, port: Port, folder: Path) -> list[str]:
    wrong = []
    kept = [it.read_bytes() for it in folder.rglob("*checkpoints/**/*") if it.is_file()]
    for name, old in result.before.files.items():
        what = f"{name} was written over"
        if result.after.files.get(name) == old:
            continue
        if old not in kept:
            wrong.append(f"{what}, and no copy was kept")
        elif not result.granted.lasting and not port.is_told_late:
            wrong.append(what)
        elif not result.granted.lasting and not result.is_told:
            wrong.append(f"{what}, and it is told as done")
    return wrong
