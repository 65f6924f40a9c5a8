"""Runs a plan on this computer, in sessions of Open Job Description. Any thread.

Each session starts a host, by entering the job's environment, and takes tasks from a queue. The
tasks know earlier runs by the ledger.
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
_MAX_HOST_DEATHS: Final = 5  # in a row, without a task that ended well between them
_FINAL_EXIT_CODES: Final = (exits.USAGE, exits.REFUSED)  # the plan cannot be run as it is
_MAX_TASK_TRIES: Final = 4  # of a task during which the host ends


class RunStopped(Exception):
    """A run has ended before all scenes were tried. The message is a sentence for the person."""


@dataclass(frozen=True, slots=True)
class _TaskTries:
    """The number of times that a task's host ended without progress.

    Attributes:
        tries: The tries since `settled` last grew.
        settled: The number of the task's scenes that were finished or had failed.
    """

    tries: int = 0
    settled: int = 0


class Run:
    """One run of a plan.

    Attributes:
        only: The numbers of the tasks to run; None for all.
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
            plan: The plan to run.
            jobs: The number of sessions, each with its own host, that run at a time.
            on_progress: Called on any thread with the number of a task and the finished part of the
                task, from 0 to 1.
            is_any_version: Whether the host may have another version than the plan.
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
        self._why_stopped = ""  # the message of `RunStopped`
        self._host_deaths = 0

    def stop(self) -> None:
        """End the run soon: each session finishes its current scene. Any thread."""
        self._is_stopping.set()
        with self._lock:
            sessions = list(self._sessions)
        for session in sessions:
            session.cancel()

    def run(self) -> None:
        """Run the tasks that have scenes left to do, and return when all have ended.

        Raises:
            RunStopped: Not all scenes were tried.
            PlanBusy: Another process is using the plan.
            NotApproved: The plan has no valid consent.
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
        """Run one session after the other until no task is left. A thread of its own."""
        while not (self._is_stopping.is_set() or self._tasks.empty()):
            try:
                self._run_session()
            except Exception as error:  # noqa: BLE001 - top of a thread; the run reports the error
                self._stop(f"{type(error).__name__}: {error}")

    def _run_session(self) -> None:
        with TaskSession(self._job, self._values, self._on_progress) as session:
            with self._lock:
                self._sessions.add(session)
            try:
                code = session.enter()
                if code != 0:
                    self._handle_failed_start(code, session.why)
                    return
                while not self._is_stopping.is_set():
                    try:
                        number = self._tasks.get_nowait()
                    except queue.Empty:
                        return
                    code_of_task = session.run_task(number)
                    if not self._handle_task_end(number, code_of_task, session.why):
                        return
            finally:
                with self._lock:
                    self._sessions.discard(session)

    def _handle_failed_start(self, code: int, why: str) -> None:
        """Stop the run, or count the failure, if a session could not start its host."""
        if code in _FINAL_EXIT_CODES and not self._is_stopping.is_set():
            self._stop(why)
        else:
            self._count_host_death(why)

    def _handle_task_end(self, number: int, code: int | None, why: str) -> bool:
        """Stop the run or queue the task again if it failed; return whether the session goes on."""
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
        if code == task.NO_LEDGER or code in _FINAL_EXIT_CODES:  # the same in any session
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
            self._count_host_death(why)
        return False

    def _settled_scenes(self, number: int) -> int:
        """Count the scenes of a task that are finished or have failed."""
        entries = ledger.entries(self._plan, number).values()
        settled_states = (*ledger.FINAL_STATES, "failed")
        return sum(entry["state"] in settled_states for entry in entries)

    def _count_host_death(self, why: str) -> None:
        self._host_deaths += 1
        if self._host_deaths >= _MAX_HOST_DEATHS + self._jobs:
            deaths = f"{self._host_deaths} hosts in a row could not be started, or ended"
            self._stop(f"{deaths}: {why or _SEE_LOG}")

    def _stop(self, why: str) -> None:
        """Stop the run for a reason. The person reads only the first reason."""
        if not self._why_stopped:
            self._why_stopped = why
        self._is_stopping.set()
