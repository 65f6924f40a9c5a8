"""Runs a plan on this computer, by sessions of Open Job Description. Any thread.

Each session enters the job's environment once, which starts its host, and takes one task after the
other. Which task comes next is a queue; what a task needs to know is in the ledger.
"""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from openjd.model import ParameterValue, ParameterValueType
from openjd.sessions import LOG, ActionState, ActionStatus, Session, SessionState

from dcc_batch import approval, bundle, ledger, session, task
from dcc_batch.files import only_process
from dcc_batch.plan import Plan

LOG_FILE: Final = "run.log"
_MOST_DEATHS: Final = 5  # of hosts in a row, with no task ended between
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
    ) -> None:
        """Take what to run, with how many sessions, and who is told how far a task is, 0 to 1."""
        self._plan = plan
        self._jobs = jobs
        self._on_progress = on_progress
        self._name = uuid.uuid4().hex[:8]
        self._job, self._values = bundle.job(plan, sys.executable, self._name)
        self._tasks: queue.SimpleQueue[int] = queue.SimpleQueue()
        # How often a task's host went since a scene of it came to an end, and how many had by then.
        self._tries: dict[int, tuple[int, int]] = {}
        self._lock = threading.Lock()
        self._sessions: set[_TaskSession] = set()
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
        approval.check(plan, approval.Rule.read())
        plan.check_skill()
        with only_process(plan.folder), _logged(plan.folder / LOG_FILE):
            for number in range(plan.tasks) if self.only is None else self.only:
                if self._has_work(number):
                    self._tasks.put(number)
            count = max(1, min(self._jobs, self._tasks.qsize()))
            workers = [threading.Thread(target=self._work) for _ in range(count)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        if self._why:
            raise Stopped(self._why)

    def _has_work(self, number: int) -> bool:
        entries = ledger.entries(self._plan, number)
        return any(
            (entry := entries.get(scene)) is None or entry["state"] not in ledger.FINAL
            for scene in self._plan.numbers(number)
        )

    def _work(self) -> None:
        """Take tasks, in one session after the other, until there are none."""
        while not (self._is_stopping.is_set() or self._tasks.empty()):
            try:
                self._in_session()
            except Exception as error:  # noqa: BLE001 - a thread's error would be nobody's
                self._end(f"{type(error).__name__}: {error}")

    def _in_session(self) -> None:
        with _TaskSession(self._job, self._values, self._on_progress) as running:
            with self._lock:
                self._sessions.add(running)
            try:
                if not running.enter():
                    self._host_died(running.why)
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
        tries, before = self._tries.get(number, (0, 0))
        settled = self._settled(number)
        if settled > before:
            tries = self._deaths = 0
        self._tries[number] = tries + 1, settled
        if tries + 1 >= _TRIES:
            self._end(f"Task {number} ended {_TRIES} times without a result: {why}")
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
            self._end(f"{self._deaths} hosts in a row could not be started, or ended: {why}")

    def _end(self, why: str) -> None:
        self._why = self._why or why
        self._is_stopping.set()


class _TaskSession:
    """A session of Open Job Description, whose actions are waited for."""

    def __init__(self, job: Any, values: Any, on_progress: Callable[[int, float], None]) -> None:
        self._job = job
        self._on_progress = on_progress
        self._task = -1
        self._ended = threading.Event()
        self._status: ActionStatus | None = None
        self.why = ""  # the last sentence of an action that failed
        self._session = Session(
            session_id=uuid.uuid4().hex,
            job_parameter_values=values,
            callback=self._on_status,
            os_env_vars={session.OWNER: str(os.getpid())},
        )

    def __enter__(self) -> _TaskSession:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the environment, which stops the host, and take the folder away."""
        for identifier in reversed(self._session.environments_entered):
            self._ended.clear()
            self._session.exit_environment(identifier=identifier)
            self._ended.wait()
        self._session.cleanup()

    def enter(self) -> bool:
        """Enter the job's environment; tell whether its host runs."""
        (environment,) = self._job.jobEnvironments
        self._ended.clear()
        self._session.enter_environment(environment=environment, identifier="WarmHost")
        self._ended.wait()
        return self._session.state == SessionState.READY

    def run_task(self, number: int) -> int | None:
        """Run a task, and give its exit code; None if it got none."""
        self._task = number
        self._ended.clear()
        value = ParameterValue(type=ParameterValueType.INT, value=str(number))
        script = self._job.steps[0].script
        self._session.run_task(step_script=script, task_parameter_values={"Task": value})
        self._ended.wait()
        status = self._status
        if status is not None and status.state == ActionState.SUCCESS:
            self._on_progress(number, 1.0)
            return 0
        return (status.exit_code or None) if status is not None else None

    def cancel(self) -> None:
        """Have the action of now end. Any thread."""
        with suppress(RuntimeError):  # there is none
            self._session.cancel_action()

    def _on_status(self, _: str, status: ActionStatus) -> None:
        if status.progress is not None and status.state == ActionState.RUNNING:
            self._on_progress(self._task, status.progress / 100)
        if status.state != ActionState.RUNNING:
            self._status = status
            self.why = status.fail_message or status.status_message or self.why
            self._ended.set()


class _logged:
    """Has what the sessions log in a file, and not in the terminal."""

    def __init__(self, file: Path) -> None:
        self._handler = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
        shape, defaults = "%(asctime)s %(session_id)s %(message)s", {"session_id": "-"}
        self._handler.setFormatter(logging.Formatter(shape, defaults=defaults))
        self._propagates = LOG.propagate

    def __enter__(self) -> None:
        LOG.propagate = False
        LOG.setLevel(logging.INFO)
        LOG.addHandler(self._handler)

    def __exit__(self, *_: object) -> None:
        LOG.removeHandler(self._handler)
        LOG.propagate = self._propagates
        self._handler.close()
