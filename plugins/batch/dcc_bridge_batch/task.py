"""One task: a chunk of scenes, edited in the warm host of its session. A process of its own.

It is what Open Job Description starts, here or on a farm. It ends with 0 if each of its scenes has
come to an end or to a failure of its own, with `HOST_GONE` if the host went away, so that another
session may go on, with `PAUSED` if too many scenes of the plan have failed, with `NO_LEDGER` if
nothing can be noted of what it does, and with `BROKEN` if something else keeps it from going on.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread

from dcc_bridge.spi.batch import Unreachable

from . import approval, hosts, ledger, swap
from .host_job import label
from .hosts import HostFailed, WarmHost
from .ledger import LedgerError, TaskLedger
from .plan import Plan, Scene
from .swap import Left, Places

BROKEN: Final = 74  # an error of input or output, as sysexits.h has it
HOST_GONE: Final = 75  # as sysexits.h has it: try again
PAUSED: Final = 76
NO_LEDGER: Final = 77
_MOST_TRIES: Final = 2  # of a scene with which the host ends
_DIFFERS: Final = "It asks something else than what was approved: {}"


@dataclass(frozen=True, slots=True)
class Work:
    """The scenes that a task is to edit, and where they and their host are.

    Attributes:
        plan: The plan.
        root: The folder of the scenes, where this computer has it.
        task: The number of the task.
        run: The name of the run: what failed in it is not tried again in it.
        session: The folder of the session's host.
        url: Where the host is.
    """

    plan: Plan
    root: Path
    task: int
    run: str
    session: Path
    url: str


def run(
    work: Work,
    consent: str = "",
    is_stopping: Callable[[], bool] = lambda: False,
    say: Callable[[str], None] = print,
) -> int:
    """Do a task, and give its exit code.

    Args:
        work: What it is to do.
        consent: The digest of the consent that counts here; "" for the user's own.
        is_stopping: Whether it is to end after the scene of now.
        say: Takes the messages of Open Job Description.

    Raises:
        NotApproved: The plan may not be run.
    """
    try:
        with TaskLedger(work.plan, work.task) as book:
            # not before: a rollback withdraws the consent and has this lock, maybe for a while
            approval.check(work.plan, consent)
            return anyio.run(_run, work, book, is_stopping, say)
    except approval.NotApproved as error:
        say(f"openjd_fail: {' '.join(str(error).split())}")
        raise
    except (Unreachable, HostFailed, TimeoutError) as error:
        say(f"openjd_status: The host went away: {error}")
        return HOST_GONE
    except LedgerError as error:
        say(f"openjd_fail: The ledger of the plan cannot be written: {error.strerror or error}.")
        return NO_LEDGER
    except OSError as error:  # those of a scene are noted in the ledger
        why = f"{error.strerror}: {error.filename}" if error.filename else error
        say(f"openjd_fail: The task cannot go on: {why}.")
        return BROKEN


async def _run(
    work: Work, book: TaskLedger, is_stopping: Callable[[], bool], say: Callable[[str], None]
) -> int:
    numbers = work.plan.numbers(work.task)
    async with hosts.connected(work.session, work.url, label(work.plan.id)) as host:
        for position, number in enumerate(numbers):
            if is_stopping():
                return 0
            if ledger.is_over(work.plan, work.run):
                say("openjd_fail: Too many scenes have failed, so the run pauses.")
                return PAUSED
            last = book.last(number)
            if last is None or not _is_over(last, work.run):
                with anyio.fail_after(work.plan.request.limit):
                    await _Edit(work, book, host, work.plan.scene(number)).run()
            say(f"openjd_progress: {100 * (position + 1) / len(numbers):.2f}")
            sys.stdout.flush()
    return 0


def _is_over(last: ledger.Entry, run: str) -> bool:
    return last["state"] in ledger.FINAL or (last["state"] == "failed" and last["run"] == run)


class _Unchanged(Left):
    """A scene is as it was after the skill ran in its copy."""


class _Edit:
    """The edit of one scene, from the ledger's last word to the next final one."""

    def __init__(self, work: Work, book: TaskLedger, host: WarmHost, scene: Scene) -> None:
        self._work = work
        self._book = book
        self._host = host
        self._scene = scene
        self._number = int(scene["n"])
        self._copy = uuid.uuid4().hex[:8]  # so that no other attempt has its files
        self._places = self._at(self._copy)

    def _at(self, copy: str) -> Places:
        """Return the files of an attempt."""
        return Places.of(self._work.plan, self._scene, self._work.root, copy)

    async def run(self) -> None:
        """Edit the scene; what keeps it from that is an entry of the ledger.

        Unreachable: the host is gone, and the ledger says what it was doing. LedgerError.
        """
        if self._scene["state"] != "asks":
            self._book.write(self._number, "left", why=self._scene["why"])
            return
        last = self._book.last(self._number) or {}
        attempt = int(last.get("attempt", 0)) + 1
        try:
            done = self._recovered(last) or await self._replaced(last, attempt)
        except Left as left:
            swap.discard(self._places)
            facts = {"unchanged": True} if isinstance(left, _Unchanged) else {}
            self._book.write(self._number, "left", why=str(left), **facts)
        except swap.Unsure:
            return  # it stays "proved", and is looked at again
        except (HostFailed, swap.Unproved, OSError) as error:
            swap.discard(self._places)
            why = f"{error.strerror}." if isinstance(error, OSError) else str(error)
            named = {"attempt": attempt, "run": self._work.run}
            self._book.write(self._number, "failed", why=why, **named)
        else:  # if this cannot be written, the next run finds the scene replaced, and says so
            self._book.write(self._number, "done", **done)

    def _recovered(self, last: ledger.Entry) -> dict[str, Any] | None:
        """Return what an attempt did that ended before it could say so; None for nothing.

        Raises:
            Left: Somebody else has changed the scene.
        """
        if last.get("state") != "proved":
            return None
        names = ("sha256", "changed", "proof", "copy")
        facts: dict[str, Any] = {name: last[name] for name in names if name in last}
        now = swap.digest(self._places.scene)
        if now == self._scene["sha256"]:
            return None
        places = self._at(last.get("copy", ""))
        left = Left(swap.GONE if now is None else swap.CHANGED)
        if places.work.exists() or not places.kept.exists():  # it was not put in place
            swap.discard(places)
            raise left
        if now == last["sha256"]:
            return facts
        # somebody may have gone on with the edited scene: rollback and commit look at both
        return {**facts, "kept": f"{left} The original is {places.kept}."}

    async def _replaced(self, last: ledger.Entry, attempt: int) -> dict[str, Any]:
        tries = int(last.get("tries", 0)) if last.get("state") == "editing" else 0
        for copy in self._book.attempts(self._number):
            swap.sweep(self._at(copy))
        if tries >= _MOST_TRIES:
            raise HostFailed(f"The host ended {tries} times when the skill was run in it.")
        facts = {"attempt": attempt, "copy": self._copy}
        self._book.write(self._number, "editing", **facts, tries=tries + 1)
        sha256 = self._scene["sha256"]
        stamp = await anyio.to_thread.run_sync(swap.prepare, self._places, sha256)
        done = {**await self._edit(), "copy": self._copy}
        self._book.write(self._number, "proved", **done, attempt=attempt)
        await anyio.to_thread.run_sync(swap.replace, self._places, stamp, done["sha256"], sha256)
        return done

    async def _edit(self) -> dict[str, Any]:
        """Edit, save and prove the copy; give its digest, and how many items became others."""
        host = self._host
        request = self._work.plan.request
        places = self._places
        await host.tool(
            "batch_open", file=str(places.work), name=places.scene.name, number=self._number
        )
        status, sentence = await host.skill(request.skill, request.arguments)
        # what was asked comes with what was saved: each call takes as long as a small scene does
        asked = await host.tool("batch_save" if status == "done" else "batch_asked")
        other = asked.get("other")
        if other is not None:
            raise Left(_DIFFERS.format(other))
        if status != "done":
            raise HostFailed(sentence or f"The skill ended as {status}.")
        if "unchanged" in asked:
            raise _Unchanged(asked["unchanged"])
        return {name: asked[name] for name in ("sha256", "changed", "proof")}
