"""One task: a chunk of scenes, edited in the warm host of its session. A process of its own.

It is what Open Job Description starts, here or on a farm. It ends with 0 if each of its scenes has
come to an end or to a failure of its own, with `HOST_GONE` if the host went away, so that another
session may go on, and with `PAUSED` if too many scenes of the plan have failed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio
import anyio.to_thread

from dcc_batch import approval, hosts, ledger, swap
from dcc_batch.host_job import label
from dcc_batch.hosts import HostFailed, WarmHost
from dcc_batch.ledger import TaskLedger
from dcc_batch.plan import Plan, Scene
from dcc_batch.planning import SCENE_LIMIT
from dcc_batch.swap import Left, Places
from dcc_bridge.errors import Unreachable

HOST_GONE: Final = 75  # as sysexits.h has it: try again
PAUSED: Final = 76
_MOST_TRIES: Final = 2  # of a scene with which the host ends
_DIFFERS: Final = "It asks something else than what was approved: {}"


@dataclass(frozen=True, slots=True)
class Work:
    """What a task is to do, and where."""

    plan: Plan
    root: Path  # the folder of the scenes, where this computer has it
    task: int  # which chunk
    run: str  # names the run: what failed in it is not tried again in it
    session: Path  # the folder of the session's host
    url: str  # where the host is


def run(
    work: Work,
    trusted: Sequence[str] = (),
    is_stopping: Callable[[], bool] = lambda: False,
    say: Callable[[str], None] = print,
) -> int:
    """Do a task, and give its exit code.

    Args:
        work: What it is to do.
        trusted: Public keys whose consent counts here.
        is_stopping: Whether it is to end after the scene of now.
        say: Takes the messages of Open Job Description.

    Raises:
        NotApproved: The plan may not be run.
        OSError: The ledger cannot be written.
    """
    approval.check(work.plan, approval.Rule.read(trusted=trusted))
    try:
        with TaskLedger(work.plan, work.task) as book:
            return anyio.run(_run, work, book, is_stopping, say)
    except (Unreachable, HostFailed, TimeoutError) as error:
        say(f"openjd_status: The host went away: {error}")
        return HOST_GONE


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
                with anyio.fail_after(SCENE_LIMIT):
                    await _Edit(work, book, host, work.plan.scene(number)).run()
            say(f"openjd_progress: {100 * (position + 1) / len(numbers):.2f}")
            sys.stdout.flush()
    return 0


def _is_over(last: ledger.Entry, run: str) -> bool:
    return last["state"] in ledger.FINAL or (last["state"] == "failed" and last["run"] == run)


class _Edit:
    """The edit of one scene, from the ledger's last word to the next final one."""

    def __init__(self, work: Work, book: TaskLedger, host: WarmHost, scene: Scene) -> None:
        self._work = work
        self._book = book
        self._host = host
        self._scene = scene
        self._number = int(scene["n"])
        self._places = Places.of(work.plan, scene, work.root)

    async def run(self) -> None:
        """Edit the scene; what keeps it from that is an entry of the ledger.

        Unreachable: the host is gone, and the ledger says what it was doing. OSError of the ledger.
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
            self._book.write(self._number, "left", why=str(left))
        except swap.Unsure:
            return  # it stays "proved", and is looked at again
        except (HostFailed, OSError) as error:
            swap.discard(self._places)
            why = f"{error.strerror}." if isinstance(error, OSError) else str(error)
            facts = {"why": why, "attempt": attempt, "run": self._work.run}
            self._book.write(self._number, "failed", **facts)
        else:  # if this cannot be written, the next run finds the scene replaced, and says so
            self._book.write(self._number, "done", **done)

    def _recovered(self, last: ledger.Entry) -> dict[str, Any] | None:
        """Give what a task did that ended before it could say so; None where there is nothing."""
        if last.get("state") != "proved":
            return None
        done = {"sha256": last["sha256"], "changed": last["changed"]}
        try:
            is_done = swap.was_replaced(self._places, last["sha256"], self._scene["sha256"])
        except Left as left:
            if not self._places.kept.exists():
                raise
            # somebody may have gone on with the edited scene: rollback and commit look at both
            swap.discard(self._places)
            return {**done, "kept": f"{left} The original is {self._places.kept.name}."}
        return done if is_done else None

    async def _replaced(self, last: ledger.Entry, attempt: int) -> dict[str, Any]:
        tries = int(last.get("tries", 0)) if last.get("state") == "editing" else 0
        if tries:
            swap.sweep(self._places)
        if tries >= _MOST_TRIES:
            raise HostFailed(f"The host ended {tries} times when the skill was run in it.")
        self._book.write(self._number, "editing", attempt=attempt, tries=tries + 1)
        sha256 = self._scene["sha256"]
        stamp = await anyio.to_thread.run_sync(swap.prepare, self._places, sha256)
        done = await self._edit()
        self._book.write(self._number, "proved", **done, attempt=attempt)
        await anyio.to_thread.run_sync(swap.replace, self._places, stamp, done["sha256"], sha256)
        return done

    async def _edit(self) -> dict[str, Any]:
        """Edit, save and prove the copy; give its digest, and how many items became others."""
        host, request = self._host, self._work.plan.request
        places = self._places
        await host.tool(
            "batch_open", file=str(places.work), name=places.scene.name, number=self._number
        )
        status, sentence = await host.skill(request.skill, request.arguments)
        asked = await host.tool("batch_asked")
        questions = [it for it in asked["asked"] if it["kind"] != "input"]
        if questions[asked["granted"] :]:
            raise Left(_DIFFERS.format(questions[-1]["message"]))
        if status != "done":
            raise HostFailed(sentence or f"The skill ended as {status}.")
        if not asked["granted"]:
            raise Left("It asks nothing now: there is nothing to do.")
        saved = await host.tool("batch_save")
        if "unchanged" in saved:
            raise Left(saved["unchanged"])
        return {"sha256": saved["sha256"], "changed": saved["changed"]}
