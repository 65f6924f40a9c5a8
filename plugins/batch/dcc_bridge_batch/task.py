"""One task: a chunk of scenes, edited in the warm host of its session. A process of its own.

Open Job Description starts the process, here or on a farm. Its exit code:

=============  ====================================================================================
0              each scene is finished or has failed
`HOST_GONE`    the host ended; the task can continue in another session
`PAUSED`       too many scenes of the plan have failed
`NO_LEDGER`    the ledger cannot be written
`BROKEN`       another error prevents the task from continuing
=============  ====================================================================================

For each scene, `_Edit` copies the file, runs the skill in the copy, checks the saved copy, and puts
the copy in the scene's place. The ledger is written before each of these steps.
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
from .swap import Places, SceneLeft

BROKEN: Final = 74  # EX_IOERR of sysexits.h
HOST_GONE: Final = 75  # EX_TEMPFAIL of sysexits.h: try again
PAUSED: Final = 76
NO_LEDGER: Final = 77
_MAX_SCENE_TRIES: Final = 2  # of a scene whose host ends during the edit
_ASKS_OTHER: Final = "It asks something that was not approved: {}"


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a task.

    Attributes:
        plan: The plan.
        root: The folder below which the scenes lie on this computer.
        task: The number of the task.
        run: The name of the run, in which no scene is tried again after it failed.
        session: The folder of the session's host.
        url: The URL of the host.
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
    """Run a task.

    Args:
        work: The work.
        consent: On a farm, the digest of the consent that is valid; "" for the user's own.
        is_stopping: Returns whether the task is to end after its current scene.
        say: Prints a message to Open Job Description.

    Returns:
        The exit code of the process.

    Raises:
        NotApproved: The plan has no valid consent.
    """
    try:
        with TaskLedger(work.plan, work.task) as book:
            # After the ledger is locked: a rollback withdraws the consent while it has this lock.
            approval.check(work.plan, consent)
            return anyio.run(_run, work, book, is_stopping, say)
    except approval.NotApproved as error:
        say(f"openjd_fail: {' '.join(str(error).split())}")
        raise
    except (Unreachable, HostFailed, TimeoutError) as error:
        say(f"openjd_status: The host ended: {error}")
        return HOST_GONE
    except LedgerError as error:
        say(f"openjd_fail: The ledger of the plan cannot be written: {error.strerror or error}.")
        return NO_LEDGER
    except OSError as error:  # not about a single scene: that would be in the ledger
        why = str(error)
        if error.filename:
            why = f"{error.strerror}: {error.filename}"
        say(f"openjd_fail: The task cannot continue: {why}.")
        return BROKEN


async def _run(
    work: Work, book: TaskLedger, is_stopping: Callable[[], bool], say: Callable[[str], None]
) -> int:
    numbers = work.plan.numbers(work.task)
    async with hosts.connected(work.session, work.url, label(work.plan.id)) as host:
        for position, number in enumerate(numbers):
            if is_stopping():
                return 0
            if ledger.has_too_many_failures(work.plan, work.run):
                say("openjd_fail: Too many scenes have failed, so the run pauses.")
                return PAUSED
            last = book.last(number)
            if last is None or not _is_over(last, work.run):
                edit = _Edit(work, book, host, work.plan.scene(number))
                with anyio.fail_after(work.plan.request.limit):
                    await edit.run()
            say(f"openjd_progress: {100 * (position + 1) / len(numbers):.2f}")
            sys.stdout.flush()
    return 0


def _is_over(last: ledger.Entry, run: str) -> bool:
    """Return whether a run is finished with a scene, by the scene's last entry."""
    if last["state"] in ledger.FINAL_STATES:
        return True
    return bool(last["state"] == "failed" and last["run"] == run)


class _SceneUnchanged(SceneLeft):
    """The skill changed nothing in the copy of the scene."""


class _Edit:
    """The edit of one scene, from its last entry in the ledger to an entry in a final state."""

    def __init__(self, work: Work, book: TaskLedger, host: WarmHost, scene: Scene) -> None:
        self._work = work
        self._book = book
        self._host = host
        self._scene = scene
        self._number = int(scene["n"])
        self._copy = uuid.uuid4().hex[:8]  # in the names of this attempt's files, and of no others
        self._places = self._places_of(self._copy)

    def _places_of(self, copy: str) -> Places:
        """Return the files of an attempt."""
        return Places.of(self._work.plan, self._scene, self._work.root, copy)

    async def run(self) -> None:
        """Edit the scene; an error about this scene becomes an entry of the ledger.

        Raises:
            Unreachable: The host has ended. The ledger has the state of the scene.
            LedgerError: The ledger cannot be written.
        """
        if self._scene["state"] != "asks":
            self._book.write(self._number, "left", why=self._scene["why"])
            return
        last = self._book.last(self._number) or {}
        attempt = int(last.get("attempt", 0)) + 1
        try:
            done = self._recover(last)
            if done is None:
                done = await self._replace(last, attempt)
        except SceneLeft as left:
            swap.discard(self._places)
            facts = {}
            if isinstance(left, _SceneUnchanged):
                facts["unchanged"] = True
            self._book.write(self._number, "left", why=str(left), **facts)
        except swap.UnclearReplacement:
            return  # the scene stays "proved", and the next run checks its file again
        except (HostFailed, swap.UnprovedCopy, OSError) as error:
            swap.discard(self._places)
            why = f"{error.strerror}." if isinstance(error, OSError) else str(error)
            run = self._work.run
            self._book.write(self._number, "failed", why=why, attempt=attempt, run=run)
        else:  # if this cannot be written, the next run finds the replaced scene (`_recover`)
            self._book.write(self._number, "done", **done)

    def _recover(self, last: ledger.Entry) -> dict[str, Any] | None:
        """Return the facts of an attempt that replaced the scene, but was not recorded as done.

        None if there is no such attempt, and the scene still has to be edited.

        Raises:
            SceneLeft: Somebody else has changed the scene.
        """
        if last.get("state") != "proved":
            return None
        names = ("sha256", "changed", "proof", "copy")
        facts: dict[str, Any] = {name: last[name] for name in names if name in last}
        now = swap.digest(self._places.scene)
        if now == self._scene["sha256"]:
            return None
        places = self._places_of(last.get("copy", ""))
        why = swap.CHANGED
        if now is None:
            why = swap.GONE
        if places.work.exists() or not places.original.exists():  # the copy was not put in place
            swap.discard(places)
            raise SceneLeft(why)
        if now == last["sha256"]:
            return facts
        # Somebody may have changed the edited scene: rollback and commit check both files.
        return {**facts, "kept": f"{why} The original is {places.original}."}

    async def _replace(self, last: ledger.Entry, attempt: int) -> dict[str, Any]:
        """Edit a copy, put it in the scene's place, and return the facts of the entry "done"."""
        tries = 0
        if last.get("state") == "editing":
            tries = int(last.get("tries", 0))
        for copy in self._book.attempts(self._number):
            swap.sweep(self._places_of(copy))
        if tries >= _MAX_SCENE_TRIES:
            raise HostFailed(f"The host ended {tries} times when the skill was run in it.")
        facts = {"attempt": attempt, "copy": self._copy}
        self._book.write(self._number, "editing", **facts, tries=tries + 1)
        planned = self._scene["sha256"]
        stamp = await anyio.to_thread.run_sync(swap.prepare, self._places, planned)
        proof = await self._edit_copy()
        done = {**proof, "copy": self._copy}
        self._book.write(self._number, "proved", **done, attempt=attempt)
        proved = done["sha256"]
        await anyio.to_thread.run_sync(swap.replace, self._places, stamp, proved, planned)
        return done

    async def _edit_copy(self) -> dict[str, Any]:
        """Edit, save and check the copy; return its digest and its proof from `batch_save`."""
        host = self._host
        request = self._work.plan.request
        places = self._places
        await host.tool(
            "batch_open", file=str(places.work), name=places.scene.name, number=self._number
        )
        status, sentence = await host.skill(request.skill, request.arguments)
        # Only one call, because a call takes as long as a small scene: "batch_save" also returns
        # whether the skill asked another question.
        tool = "batch_save" if status == "done" else "batch_asked"
        result = await host.tool(tool)
        other = result.get("other")
        if other is not None:
            raise SceneLeft(_ASKS_OTHER.format(other))
        if status != "done":
            raise HostFailed(sentence or f"The skill ended as {status}.")
        if "unchanged" in result:
            raise _SceneUnchanged(result["unchanged"])
        return {name: result[name] for name in ("sha256", "changed", "proof")}
