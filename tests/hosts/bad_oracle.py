"""What is wrong with what a bad skill has left: the scene and the files, by what was agreed to."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import Final
from unittest.mock import patch

from dcc_bridge.consent.ledger import Ledger
from dcc_bridge.consent.undo_steps import Steps
from tests.hosts.bad_plans import Act, Plan, make, smaller
from tests.hosts.bad_port import Port, Scene
from tests.hosts.bad_skills import Play, Result


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


class Judge:
    """Runs programs in one host, each in a scene of its own, and says what is wrong with them."""

    def __init__(self, kind: type[Port], folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        """Take the host, which puts its scene into a folder; the loop is on another thread."""
        self._kind = kind
        self._folder = folder
        self._loop = loop

    def find(self, seed: int) -> str:
        """Run the program of a seed; say what it did that nobody agreed to, or "".

        It is shrunk to the smallest program that does any such thing.
        """
        plan = make(seed, self._kind)
        wrong = self.play(plan)
        if not wrong:
            return ""
        plan = self._shrunk(plan)
        return f"seed {seed}: {self.play(plan) or wrong}\n{plan}"

    def play(self, plan: Plan) -> list[str]:
        folder = Path(tempfile.mkdtemp(prefix="p", dir=self._folder))
        port = self._kind(folder)
        state = {"XDG_STATE_HOME": str(folder)}  # of a scene without a file the copies are there
        try:
            with patch.dict(os.environ, state):
                result = Play(plan, port, self._loop).run()
            return [*_of_scene(plan, result, port, folder), *_of_files(result, port, folder)]
        finally:
            port.close()
            shutil.rmtree(folder)

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
    gone = before.objects - after.objects - result.lost
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


CHECKS: Final = ("a grant is alive", "what was lost was agreed to", "losing", "guard")
"""What keeps a body to what was agreed to."""
_VIEWS: Final = ("mute", "namespace", "update_mode", "activate", "copy_over")
"""By host, what `guard` alone refuses or puts back."""


def found_without(
    check: str, kind: type[Port], folder: Path, loop: asyncio.AbstractEventLoop
) -> list[str]:
    """Switch a check of the bridge off, and play a program that it would have stopped."""
    at = kind.items[0]
    view = next(name for name in _VIEWS if name in kind.own)
    agreed = Act("ask", ("confirm", "yes", "undoable", at))
    bodies = [("value",), ("wipe",), ("save",), (view,)]
    acts = [Act(name, (at, at)) for name in bodies[CHECKS.index(check)]]
    body = (*([agreed] if check != CHECKS[0] else ()), *acts)
    plan = Plan("destructive", True, True, "main", "yes", "allow", False, body)

    class Blind(kind):  # type: ignore[misc, valid-type]  # a class that mypy does not know
        def __init__(self, folder: Path) -> None:
            super().__init__(folder)
            if check == CHECKS[1]:
                self.host.lost = lambda agreed: []
            elif check == CHECKS[3]:
                self.host.guard = lambda put_back, read: nullcontext()

    with ExitStack() as stack:
        if check == CHECKS[0]:
            stack.enter_context(patch.object(Ledger, "allows_change", True))
        elif check == CHECKS[2]:
            stack.enter_context(patch.object(Steps, "check_loss", lambda *_: None))
        return Judge(Blind, folder, loop).play(plan)


def main(kind: type[Port], words: Sequence[str]) -> str:
    """Run programs where a host has an interpreter of its own; gives what is wrong, or "".

    The words are where their scenes are put, the first seed, and how many programs; or only where,
    to see that something is found with each of `CHECKS` switched off. The file ``seed`` says how
    far it is.
    """
    logging.disable(logging.WARNING)  # what programs do wrong on purpose
    folder = Path(words[0])
    with looping() as loop:
        if not words[1:]:
            blind = [it for it in CHECKS if not found_without(it, kind, folder, loop)]
            return f"nothing is found without {blind}" if blind else ""
        first, count = map(int, words[1:])
        judge, wrong = Judge(kind, folder, loop), list[str]()
        for seed in range(first, first + count):
            (folder / "seed").write_text(str(seed))
            wrong.append(judge.find(seed))
        return "\n".join(filter(None, wrong))
