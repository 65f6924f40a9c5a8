"""The jobs of the host's main thread: a job, the stacks in which jobs run, and their queue.

`MainThread` uses all of them: `JobQueue` under its lock, `JobStacks` on the main thread.
"""

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
"""Idle stacks that are kept for further jobs."""
_NESTED_SORTS: Final = 30
"""Calls of `sorted` by which `_call_deep` grows the C stack."""


class QueuedJob:
    """A function that runs once: on the main thread, or on a thread of its own.

    Attributes:
        client: The label of the client for whom the job was queued.
        context: The context in which the job runs.
        edited: Whether the job has changed the scene; the runner sets this while the job runs.
        future: The result of the job.
        gives_way: Whether other jobs may edit while this one waits, as it asks for input only.
            Does not count once `edited` is set.
        name: Whose job it is, for messages.
        read: Whether the job only reads the scene.
        stack: The job's greenlet, from the job's beginning to its end.
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
        except BaseException as error:  # the error belongs to whoever submitted the job
            self.future.set_exception(error)
            if isinstance(error, GreenletExit):  # ends the stack too, which runs no other job
                raise
        else:
            self.future.set_result(result)
        finally:  # frees at once, and not by the garbage collector, all that the function held
            self._fn = None
            self.context = contextvars.Context()

    def fail(self, error: Exception) -> None:
        """End a job that has not begun with an error."""
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


class JobStacks:
    """The greenlets of jobs. Ended jobs leave theirs to later ones. Main thread.

    To start a greenlet takes as long as a whole read job.
    """

    def __init__(self) -> None:
        self._spare: list[greenlet] = []

    def take(self) -> greenlet:
        """Return a greenlet that waits for a job, and may run on top of the caller's stack."""
        if self._spare:
            stack = self._spare[-1]
            stack.parent = getcurrent()
            # A new context: callbacks of the last job may have set variables in the old one.
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
    """Run one job after another: the body of a greenlet."""
    while True:
        # The greenlet is resumed with a job; or with None, to ask whether the caller's stack has
        # stayed in its place. greenlet moves a stack that reaches deeper than this greenlet began:
        # see `_call_deep`.
        parent = cast("greenlet", getcurrent().parent)
        job = parent.switch(not getattr(parent, "_stack_saved", True))
        if job is not None:
            job.run()
            job.stack = None
            del job


def _end(stack: greenlet) -> None:
    stack.parent = getcurrent()
    stack.throw()


def _call_deep(fn: Callable[[], None], sorts: int = _NESTED_SORTS) -> None:
    """Call a function with 150 KB more of C stack below the call.

    greenlet moves away the part of the main stack that overlaps a job's stack. If a job is started
    near the bottom of the stack and resumed from a deeper place, such as the host's modal loop, the
    C++ objects of that place are moved away, and calling them crashes. A job that is started deep
    is resumed from shallower places only. A Python call takes no C stack since 3.11; a key function
    that `sorted` calls takes 5 KB.
    """
    if sorts:
        sorted((0,), key=lambda _: _call_deep(fn, sorts - 1))  # type: ignore[arg-type,return-value]  # None sorts alone
    else:
        fn()


class JobQueue:
    """Jobs that wait: first in, first out for one client, and the clients take turns."""

    def __init__(self) -> None:
        # By the label of the client; the client whose turn it is comes first.
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
        """Take out the next job; its client has the next turn after all others.

        Args:
            reads_only: Whether only a job that reads may start.

        Returns:
            The job; None if no job may start.
        """
        for label, line in self._lines.items():
            for job in line:
                if job.read or not reads_only:
                    self.remove(job)
                    if line:
                        self._lines[label] = self._lines.pop(label)
                    return job
        return None
