"""A session of Open Job Description whose actions are waited for, and its log. Any thread."""

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
    """A session of Open Job Description, whose actions are waited for."""

    def __init__(self, job: Any, values: Any, on_progress: Callable[[int, float], None]) -> None:
        self._job = job
        self._on_progress = on_progress
        self._task = -1
        self._ended = threading.Event()
        self._is_cancelled = False
        self._status: ActionStatus | None = None
        self.why = ""  # the last sentence of an action that failed
        self._session = Session(
            session_id=uuid.uuid4().hex,
            job_parameter_values=values,
            callback=self._on_status,
            os_env_vars={session.OWNER: str(os.getpid())},
        )

    def __enter__(self) -> TaskSession:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the environment, which stops the host, and take the folder away."""
        for identifier in reversed(self._session.environments_entered):
            self._ended.clear()
            self._session.exit_environment(identifier=identifier)
            self._ended.wait()
        self._session.cleanup()

    def enter(self) -> int:
        """Enter the job's environment; give 0 if its host runs, or the exit code of what failed."""
        (environment,) = self._job.jobEnvironments
        self._do(
            lambda: self._session.enter_environment(environment=environment, identifier="WarmHost")
        )
        if self._session.state == SessionState.READY:
            return 0
        return (self._status.exit_code if self._status is not None else None) or -1

    def run_task(self, number: int) -> int | None:
        """Run a task, and give its exit code; None if it got none."""
        self._task = number
        value = ParameterValue(type=ParameterValueType.INT, value=str(number))
        script = self._job.steps[0].script
        self._do(
            lambda: self._session.run_task(
                step_script=script, task_parameter_values={"Task": value}
            )
        )
        status = self._status
        if status is not None and status.state == ActionState.SUCCESS:
            self._on_progress(number, 1.0)
            return 0
        return (status.exit_code or None) if status is not None else None

    def _do(self, begin: Callable[[], object]) -> None:
        """Begin an action, and wait for its end."""
        self._ended.clear()
        begin()
        if self._is_cancelled:  # while there was none that could be: between two tasks
            self.cancel()
        self._ended.wait()

    def cancel(self) -> None:
        """Have the action of now end, or the next one. Any thread."""
        self._is_cancelled = True
        with suppress(RuntimeError):  # there is none
            self._session.cancel_action()

    def _on_status(self, _: str, status: ActionStatus) -> None:
        if status.progress is not None and status.state == ActionState.RUNNING:
            self._on_progress(self._task, status.progress / 100)
        if status.state != ActionState.RUNNING:
            self._status = status
            self.why = status.fail_message or status.status_message or self.why
            self._ended.set()


class _Log(logging.FileHandler):
    """A log of a run; where the disk is full, what it would have said is lost."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Do nothing: the ledger cannot be written then either, and the run says so, once."""

    def close(self) -> None:
        """Close the file, whatever becomes of what was not written yet."""
        with suppress(OSError):
            super().close()


@contextmanager
def logged(file: Path) -> Iterator[None]:
    """Have what the sessions log in a file, and not in the terminal."""
    handler = _Log(file, encoding="utf-8", errors="backslashreplace")
    shape = "%(asctime)s %(session_id)s %(message)s"
    defaults = {"session_id": "-"}
    handler.setFormatter(logging.Formatter(shape, defaults=defaults))
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
