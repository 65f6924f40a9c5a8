"""The jobs that wait for the host's main thread. Under the lock of `MainThread`."""

from __future__ import annotations

import contextvars
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextvars import ContextVar
from typing import Any, Final, cast

from greenlet import GreenletExit, getcurrent, greenlet

# The label of the client for whom the code runs; "" for the host itself.
client: ContextVar[str] = ContextVar("dcc_bridge_client", default="")

MAX_SPARE_STACKS: Final = 4
"""Stacks that are kept for further jobs."""
_SORTS: Final = 30
"""Nested sorts by which `_call_deep` grows the C stack."""


class QueuedJob:
    """A function that runs once: on the main thread, or on a thread of its own.

    Attributes:
        client: The label of the client for whom the job was queued.
        context: The context in which the job runs.
        edited: The job has changed the scene; the runner sets this while the job runs.
        future: The result of the job.
        gives_way: Other jobs may edit while this one waits. Set when the job asks for input; it
            does not count once the job has edited.
        name: Whose job it is, for messages.
        read: The job does not change the scene.
        stack: The job's greenlet, from its beginning to its end.
    """

    def __init__(self, fn: Callable[[], Any], name: str, read: bool) -> None:
        self.name = name
        self.read = read
        self.edited = False
        self.gives_way = False
        self.client = client.get()
        self.future: Future[Any] = Future()
        self.stack: greenlet | None = None
        self._fn: Any = fn
        self.context = contextvars.copy_context()

    def run(self) -> None:
        """Run the function, unless the future was cancelled."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.context.run(self._fn)
        except BaseException as error:  # it belongs to whoever submitted the job
            self.future.set_exception(error)
            if isinstance(error, GreenletExit):  # the stack ends, and no other job is to have it
                raise
        else:
            self.future.set_result(result)
        finally:  # so that all that the function held is freed at once, and not by the collector
            self._fn = None
            self.context = contextvars.Context()

    def fail(self, error: Exception) -> None:
        """End the job before it has begun."""
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


class JobStacks:
    """The greenlets of jobs, used again: starting one takes as long as a whole read job.

    Main thread.
    """

    def __init__(self) -> None:
        self._spare: list[greenlet] = []

    def take(self) -> greenlet:
        """Return a greenlet that waits for a job and may run it on top of the caller's stack."""
        if self._spare:
            stack = self._spare[-1]
            stack.parent = getcurrent()
            # A context of its own: the last job's callbacks may have left something in the old one.
            stack.gr_context = None
            may_run_here = stack.switch(None)
            if may_run_here:
                return self._spare.pop()
        stack = greenlet(_run_jobs)
        _call_deep(stack.switch)
        return stack

    def add(self, stack: greenlet) -> None:
        """Keep the greenlet of a job that has ended, and drop the oldest if there are too many."""
        if not stack.dead:
            self._spare.append(stack)
        if len(self._spare) > MAX_SPARE_STACKS:
            _end(self._spare.pop(0))

    def clear(self) -> None:
        """End the greenlets that wait for a job."""
        while self._spare:
            _end(self._spare.pop())


def _run_jobs() -> None:
    """Run one job after another: the body of a greenlet. It holds nothing of a job that ended."""
    while True:
        # The greenlet is resumed with a job, or with None, which asks whether the caller's stack
        # stays in its place. greenlet has moved a stack that reaches deeper than this greenlet
        # began: see `_call_deep`.
        parent = cast("greenlet", getcurrent().parent)
        job = parent.switch(not getattr(parent, "_stack_saved", True))
        if job is not None:
            job.run()
            job.stack = None
            del job


def _end(stack: greenlet) -> None:
    stack.parent = getcurrent()
    stack.throw()


def _call_deep(fn: Callable[[], None], sorts: int = _SORTS) -> None:
    """Call a function with 150 KB more of C stack below it.

    greenlet moves away whatever of the main stack overlaps a job's stack. A job started near the
    bottom and resumed in a deeper place (the host's own modal loop) would move that place's C++
    objects away, and calling them crashes. Started deep, it is resumed from shallower places only.
    A Python call takes no C stack since 3.11; a key function called by list.sort does, 5 KB each.
    """
    if sorts:
        sorted((0,), key=lambda _: _call_deep(fn, sorts - 1))  # type: ignore[arg-type,return-value]  # None sorts alone
    else:
        fn()


class JobQueue:
    """Jobs that wait: first in, first out for one client, and the clients take turns."""

    def __init__(self) -> None:
        # The jobs of each client; the client whose turn it is comes first.
        self._lines: dict[str, deque[QueuedJob]] = {}

    def __len__(self) -> int:
        return sum(len(line) for line in list(self._lines.values()))

    def __iter__(self) -> Iterator[QueuedJob]:
        return (job for line in self._lines.values() for job in line)

    def append(self, job: QueuedJob) -> None:
        """Put a job behind the other jobs of its client."""
        self._lines.setdefault(job.client, deque()).append(job)

    def remove(self, job: QueuedJob) -> None:
        """Take a job out.

        Raises:
            ValueError: The job is not in the queue.
        """
        line = self._lines.get(job.client, deque())
        line.remove(job)
        if not line:
            del self._lines[job.client]

    def take(self, *, reads_only: bool) -> QueuedJob | None:
        """Take out the next job, and let the other clients have their turns before its client's.

        Args:
            reads_only: Only a job that does not change the scene may start.

        Returns:
            The job; None if there is none that may start.
        """
        for label, line in self._lines.items():
            for job in line:
                if job.read or not reads_only:
                    self.remove(job)
                    if line:
                        self._lines[label] = self._lines.pop(label)
                    return job
        return None
