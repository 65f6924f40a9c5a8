"""Runs a plan on this computer, by sessions of Open Job Description. Any thread.

Each session enters the job's environment once, which starts its host, and takes one task after the
other from a queue. All that a task needs to know of earlier runs is in the ledger.
"""

from __future__ import annotations

import queue
import sys
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dcc_bridge.cli import exits

from . import approval, bundle, ledger, task
from .files import only_process
from .plan import Plan
from .task_session import TaskSession, logged

LOG_FILE: Final = "run.log"
_SEE_LOG: Final = f"{LOG_FILE} in the plan's folder says why."
_MAX_HOST_DEATHS: Final = 5  # in a row, without the end of a task between them
_FINAL_EXIT_CODES: Final = (exits.USAGE, exits.REFUSED)  # the plan cannot be run as it is
_MAX_TASK_TRIES: Final = 4  # of a task during which the host goes away


class RunStopped(Exception):
    """A run has ended before all scenes were tried. Its text is a sentence for the person."""


@dataclass(frozen=True, slots=True)
class _TaskTries:
    """The tries of a task during which its host went away.

    Attributes:
        tries: How many there were since a scene of the task last came to an end.
        settled: How many scenes of the task had come to an end by then.
    """

    tries: int = 0
    settled: int = 0


class Run:
    """One run of a plan.

    Attributes:
        only: The numbers of the tasks that are run; None for all.
    """

    def __init__(
        self,
        plan: Plan,
        jobs: int,
        on_progress: Callable[[int, float], None] = lambda task, part: None,
        *,
        is_any_version: bool = False,
    ) -> None:
        """Prepare the run and its job.

        Args:
            plan: The plan that is run.
            jobs: How many sessions, each with a host of its own, run at a time.
            on_progress: Called on any thread with the number of a task and the part of it that is
                over, from 0 to 1.
            is_any_version: Whether the host may have another version than the one of the plan.
        """
        self.only: list[int] | None = None
        self._plan = plan
        self._jobs = jobs
        self._on_progress = on_progress
        self._name = uuid.uuid4().hex[:8]
        self._job, self._values = bundle.job(
            plan, sys.executable, self._name, is_any_version=is_any_version
        )
        self._tasks: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._task_tries: dict[int, _TaskTries] = {}
        self._lock = threading.Lock()
        self._sessions: set[TaskSession] = set()
        self._is_stopping = threading.Event()
        self._why_stopped = ""  # a sentence, if the run ends before all scenes were tried
        self._host_deaths = 0

    def stop(self) -> None:
        """End the run soon: each session finishes the scene that it is at. Any thread."""
        self._is_stopping.set()
        with self._lock:
            sessions = list(self._sessions)
        for session in sessions:
            session.cancel()

    def run(self) -> None:
        """Run the tasks that have scenes left to do, and return when all have ended.

        Raises:
            RunStopped: Not all scenes were tried.
            PlanBusy: Another run is under way.
            NotApproved: Nobody has approved the plan.
            PlanError: The skill was changed after the plan was made.
        """
        plan = self._plan
        approval.check(plan)
        plan.check_skill()
        tasks = range(plan.tasks) if self.only is None else self.only
        with only_process(plan.folder), logged(plan.folder / LOG_FILE):
            for number in tasks:
                if self.has_work(number):
                    self._tasks.put(number)
            count = max(1, min(self._jobs, self._tasks.qsize()))
            workers = [threading.Thread(target=self._work) for _ in range(count)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        if self._why_stopped:
            raise RunStopped(self._why_stopped)

    def has_work(self, number: int) -> bool:
        """Return whether a task has a scene that is not in a final state."""
        entries = ledger.entries(self._plan, number)
        for scene in self._plan.numbers(number):
            entry = entries.get(scene)
            if entry is None or entry["state"] not in ledger.FINAL_STATES:
                return True
        return False

    def _work(self) -> None:
        """Take tasks, in one session after the other, until there are none."""
        while not (self._is_stopping.is_set() or self._tasks.empty()):
            try:
                self._run_session()
            except Exception as error:  # noqa: BLE001 - nobody else sees an error of this thread
                self._stop(f"{type(error).__name__}: {error}")

    def _run_session(self) -> None:
        with TaskSession(self._job, self._values, self._on_progress) as session:
            with self._lock:
                self._sessions.add(session)
            try:
                code = session.enter()
                if code != 0:
                    self._note_no_host(code, session.why)
                    return
                while not self._is_stopping.is_set():
                    try:
                        number = self._tasks.get_nowait()
                    except queue.Empty:
                        return
                    code_of_task = session.run_task(number)
                    if not self._note_task_end(number, code_of_task, session.why):
                        return
            finally:
                with self._lock:
                    self._sessions.discard(session)

    def _note_no_host(self, code: int, why: str) -> None:
        """Note that a session could not start its host."""
        if code in _FINAL_EXIT_CODES and not self._is_stopping.is_set():
            self._stop(why)
        else:
            self._note_host_death(why)

    def _note_task_end(self, number: int, code: int | None, why: str) -> bool:
        """Note how a task ended, and return whether its session can go on."""
        if code == 0:
            self._host_deaths = 0
            return True
        if self._is_stopping.is_set():
            return False
        if code == task.PAUSED:
            count = ledger.failures(self._plan, self._name)
            self._stop(
                f"The run pauses: {count:,} of {self._plan.count:,} scenes have failed. "
                "`dcc-bridge batch status` says why; a second run tries them again."
            )
            return False
        if code == task.NO_LEDGER or code in _FINAL_EXIT_CODES:  # so it would be in any session
            self._stop(why)
            return False
        earlier = self._task_tries.get(number, _TaskTries())
        settled = self._settled_scenes(number)
        tries = earlier.tries + 1
        if settled > earlier.settled:
            tries = 1
            self._host_deaths = 0
        self._task_tries[number] = _TaskTries(tries, settled)
        if tries >= _MAX_TASK_TRIES:
            reason = why or _SEE_LOG
            self._stop(f"Task {number} ended {_MAX_TASK_TRIES} times without a result: {reason}")
        else:
            self._tasks.put(number)
            self._note_host_death(why)
        return False

    def _settled_scenes(self, number: int) -> int:
        """Count the scenes of a task that have come to an end or to a failure of their own."""
        entries = ledger.entries(self._plan, number).values()
        settled_states = (*ledger.FINAL_STATES, "failed")
        return sum(entry["state"] in settled_states for entry in entries)

    def _note_host_death(self, why: str) -> None:
        self._host_deaths += 1
        if self._host_deaths >= _MAX_HOST_DEATHS + self._jobs:
            deaths = f"{self._host_deaths} hosts in a row could not be started, or ended"
            self._stop(f"{deaths}: {why or _SEE_LOG}")

    def _stop(self, why: str) -> None:
        """Stop the run for a reason; the first reason is the one that the person reads."""
        if not self._why_stopped:
            self._why_stopped = why
        self._is_stopping.set()
