"""The jobs that wait for the host's main thread. Under the lock of `MainThread`."""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any

from greenlet import greenlet

# The label of the client for whom the code runs; "" for the host itself.
client: ContextVar[str] = ContextVar("dcc_bridge_client", default="")


class QueuedJob:
    """A skill's run on the main thread.

    Attributes:
        name: Whose it is, for messages.
        client: For whom it was queued.
        read: It does not change the scene.
        edited: It has changed the scene; set by the runner while the job runs.
        future: What came of it.
        stack: Its greenlet, once it has begun.
        context: The context in which it runs.
    """

    def __init__(self, fn: Callable[[], Any], name: str, read: bool) -> None:
        self.name = name
        self.read = read
        self.edited = False
        self.client = client.get()
        self.future: Future[Any] = Future()
        self.stack: greenlet | None = None
        self._fn = fn
        self.context = contextvars.copy_context()

    def run(self) -> None:
        """Run it, unless nobody waits for it any more."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.context.run(self._fn))
        except BaseException as error:  # noqa: BLE001 - it belongs to whoever submitted the job
            self.future.set_exception(error)

    def fail(self, error: Exception) -> None:
        """End it before it has begun."""
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


class JobQueue:
    """Jobs that wait: first in, first out for one client, and the clients take turns."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[QueuedJob]] = {}  # the one whose turn it is first

    def __len__(self) -> int:
        """Count all of them."""
        return sum(map(len, list(self._lines.values())))

    def __iter__(self) -> Iterator[QueuedJob]:
        """Go through all of them."""
        return (job for line in self._lines.values() for job in line)

    def append(self, job: QueuedJob) -> None:
        """Put a job behind the others of its client."""
        self._lines.setdefault(job.client, deque()).append(job)

    def remove(self, job: QueuedJob) -> None:
        """Take a job out.

        Raises:
            ValueError: It is not there.
        """
        line = self._lines.get(job.client, deque())
        line.remove(job)
        if not line:
            del self._lines[job.client]

    def clear(self) -> None:
        """Take all of them out."""
        self._lines.clear()

    def take(self, *, reads_only: bool) -> QueuedJob | None:
        """Take out the next job that may start; its client's next turn is after all others'."""
        for label, line in self._lines.items():
            job = next((job for job in line if job.read or not reads_only), None)
            if job is not None:
                self.remove(job)
                if line:
                    self._lines[label] = self._lines.pop(label)
                return job
        return None
