"""Runs a plan on this computer, by sessions of Open Job Description. Any thread.

Each session enters the job's environment once, which starts its host, and takes one task after the
other. Which task comes next is a queue; what a task needs to know is in the ledger.
"""

from __future__ import annotations

import queue
import sys
import threading
import uuid
from collections.abc import Callable
from typing import Final

from dcc_bridge.cli import exits

from . import approval, bundle, ledger, task
from .files import only_process
from .plan import Plan
from .task_session import TaskSession, logged

LOG_FILE: Final = "run.log"
_SEE_LOG: Final = f"{LOG_FILE} in the plan's folder says why."
_MOST_DEATHS: Final = 5  # of hosts in a row, with no task ended between
_FINAL: Final = (exits.USAGE, exits.REFUSED)  # the plan is not to be run as it is
_TRIES: Final = 4  # of a task with which the host goes


class Stopped(Exception):
    """A run has ended before all was tried. A sentence for the person."""


class Run:
    """One run of a plan."""

    def __init__(
        self,
        plan: Plan,
        jobs: int,
        on_progress: Callable[[int, float], None] = lambda task, part: None,
        *,
        is_any_version: bool = False,
    ) -> None:
        """Take what to run, with how many sessions, and who is told how far a task is, 0 to 1."""
        self._plan = plan
        self._jobs = jobs
        self._on_progress = on_progress
        self._name = uuid.uuid4().hex[:8]
        self._job, self._values = bundle.job(
            plan, sys.executable, self._name, is_any_version=is_any_version
        )
        self._tasks: queue.SimpleQueue[int] = queue.SimpleQueue()
        # How often a task's host went since a scene of it came to an end, and how many had by then.
        self._tries: dict[int, tuple[int, int]] = {}
        self._lock = threading.Lock()
        self._sessions: set[TaskSession] = set()
        self.only: list[int] | None = None  # the tasks that are run; None for all
        self._is_stopping = threading.Event()
        self._why = ""  # it ended before its end, a sentence
        self._deaths = 0

    def stop(self) -> None:
        """End soon: each session finishes the scene that it is at. Any thread."""
        self._is_stopping.set()
        with self._lock:
            sessions = list(self._sessions)
        for running in sessions:
            running.cancel()

    def run(self) -> None:
        """Run what is left to do.

        Stopped: not all was tried. Busy: another run is under way. NotApproved, PlanError: the plan
        may not be run.
        """
        plan = self._plan
        approval.check(plan)
        plan.check_skill()
        with only_process(plan.folder), logged(plan.folder / LOG_FILE):
            for number in range(plan.tasks) if self.only is None else self.only:
                if self.has_work(number):
                    self._tasks.put(number)
            count = max(1, min(self._jobs, self._tasks.qsize()))
            workers = [threading.Thread(target=self._work) for _ in range(count)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        if self._why:
            raise Stopped(self._why)

    def has_work(self, number: int) -> bool:
        """Return whether a task has a scene that is not over."""
        entries = ledger.entries(self._plan, number)
        for scene in self._plan.numbers(number):
            entry = entries.get(scene)
            if entry is None or entry["state"] not in ledger.FINAL:
                return True
        return False

    def _work(self) -> None:
        """Take tasks, in one session after the other, until there are none."""
        while not (self._is_stopping.is_set() or self._tasks.empty()):
            try:
                self._in_session()
            except Exception as error:  # noqa: BLE001 - a thread's error would be nobody's
                self._end(f"{type(error).__name__}: {error}")

    def _in_session(self) -> None:
        with TaskSession(self._job, self._values, self._on_progress) as running:
            with self._lock:
                self._sessions.add(running)
            try:
                if code := running.enter():
                    self._not_entered(code, running.why)
                    return
                while not self._is_stopping.is_set():
                    try:
                        number = self._tasks.get_nowait()
                    except queue.Empty:
                        return
                    if not self._ended(number, running.run_task(number), running.why):
                        return
            finally:
                with self._lock:
                    self._sessions.discard(running)

    def _not_entered(self, code: int, why: str) -> None:
        """Take note that a session has no host."""
        if code in _FINAL and not self._is_stopping.is_set():
            self._end(why)
        else:
            self._host_died(why)

    def _ended(self, number: int, code: int | None, why: str) -> bool:
        """Take note of how a task ended; tell whether its session can go on."""
        if code == 0:
            self._deaths = 0
            return True
        if self._is_stopping.is_set():
            return False
        if code == task.PAUSED:
            count = ledger.failures(self._plan, self._name)
            self._end(
                f"The run pauses: {count:,} of {self._plan.count:,} scenes have failed. "
                "`dcc-bridge batch status` says why; a second run tries them again."
            )
            return False
        if code == task.NO_LEDGER or code in _FINAL:  # it would be so in another session
            self._end(why)
            return False
        tries, before = self._tries.get(number, (0, 0))
        settled = self._settled(number)
        if settled > before:
            tries = 0
            self._deaths = 0
        self._tries[number] = tries + 1, settled
        if tries + 1 >= _TRIES:
            self._end(f"Task {number} ended {_TRIES} times without a result: {why or _SEE_LOG}")
        else:
            self._tasks.put(number)
            self._host_died(why)
        return False

    def _settled(self, number: int) -> int:
        entries = ledger.entries(self._plan, number).values()
        return sum(it["state"] in (*ledger.FINAL, "failed") for it in entries)

    def _host_died(self, why: str) -> None:
        self._deaths += 1
        if self._deaths >= _MOST_DEATHS + self._jobs:
            what = f"{self._deaths} hosts in a row could not be started, or ended"
            self._end(f"{what}: {why or _SEE_LOG}")

    def _end(self, why: str) -> None:
        self._why = self._why or why
        self._is_stopping.set()
