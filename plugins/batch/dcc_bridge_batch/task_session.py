"""Runs the actions of an Open Job Description session, and writes their log. Any thread.

The library ``openjd-sessions`` starts an action and reports its end by a callback. `TaskSession`
waits for that end.
"""

from __future__ import annotations

import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from openjd.model import ParameterValue, ParameterValueType
from openjd.sessions import LOG, ActionState, ActionStatus, Session, SessionState

from . import session


class TaskSession:
    """A session of Open Job Description, whose methods return when their action has ended.

    Attributes:
        why: The last message of an action that failed; "" if none has failed.
    """

    def __init__(self, job: Any, values: Any, on_progress: Callable[[int, float], None]) -> None:
        """Prepare the session, without starting its host.

        Args:
            job: The job, an `openjd.model.Job`.
            values: The values of its parameters.
            on_progress: Called on any thread with the number of a task and the finished part of the
                task, from 0 to 1.
        """
        self._job = job
        self._on_progress = on_progress
        self._task = -1
        self._ended = threading.Event()
        self._is_cancelled = False
        self._status: ActionStatus | None = None
        self.why = ""
        self._session = Session(
            session_id=uuid.uuid4().hex,
            job_parameter_values=values,
            callback=self._on_status,
            os_env_vars={session.OWNER: str(os.getpid())},
        )

    def __enter__(self) -> TaskSession:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the environment, which stops the host, and delete the session's folder."""
        for identifier in reversed(self._session.environments_entered):
            self._ended.clear()
            self._session.exit_environment(identifier=identifier)
            self._ended.wait()
        self._session.cleanup()

    def enter(self) -> int:
        """Enter the job's environment, which starts its host.

        Returns:
            0 if the host runs, else the exit code of the failed action, or -1 if it has none.
        """
        (environment,) = self._job.jobEnvironments
        self._ended.clear()
        self._session.enter_environment(environment=environment, identifier="WarmHost")
        self._wait_for_end()
        if self._session.state == SessionState.READY:
            return 0
        return self._exit_code() or -1

    def run_task(self, number: int) -> int | None:
        """Run a task.

        Returns:
            Its exit code; None if it failed without one.
        """
        self._task = number
        value = ParameterValue(type=ParameterValueType.INT, value=str(number))
        script = self._job.steps[0].script
        self._ended.clear()
        self._session.run_task(step_script=script, task_parameter_values={"Task": value})
        self._wait_for_end()
        if self._status is not None and self._status.state == ActionState.SUCCESS:
            self._on_progress(number, 1.0)
            return 0
        return self._exit_code()

    def _exit_code(self) -> int | None:
        """Return the exit code of the last action, which failed; None if it has none."""
        if self._status is None:
            return None
        return self._status.exit_code or None

    def _wait_for_end(self) -> None:
        """Wait until the action that was just started has ended."""
        if self._is_cancelled:  # `cancel` was called before this action started
            self.cancel()
        self._ended.wait()

    def cancel(self) -> None:
        """Cancel the running action and all later ones. Any thread."""
        self._is_cancelled = True
        with suppress(RuntimeError):  # no action is running
            self._session.cancel_action()

    def _on_status(self, _: str, status: ActionStatus) -> None:
        if status.progress is not None and status.state == ActionState.RUNNING:
            self._on_progress(self._task, status.progress / 100)
        if status.state != ActionState.RUNNING:
            self._status = status
            self.why = status.fail_message or status.status_message or self.why
            self._ended.set()


class _RunLog(logging.FileHandler):
    """The log file of a run, which drops records while the disk is full."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Do nothing: the run reports the full disk, because its ledger cannot be written."""

    def close(self) -> None:
        """Close the file, even if its last records cannot be written."""
        with suppress(OSError):
            super().close()


@contextmanager
def logged(file: Path) -> Iterator[None]:
    """Write the log of all sessions into a file instead of the terminal, during the block."""
    handler = _RunLog(file, encoding="utf-8", errors="backslashreplace")
    line_format = "%(asctime)s %(session_id)s %(message)s"
    defaults = {"session_id": "-"}
    handler.setFormatter(logging.Formatter(line_format, defaults=defaults))
    propagated = LOG.propagate
    LOG.propagate = False
    LOG.setLevel(logging.INFO)
    LOG.addHandler(handler)
    try:
        yield
    finally:
        LOG.removeHandler(handler)
        LOG.propagate = propagated
        handler.close()
