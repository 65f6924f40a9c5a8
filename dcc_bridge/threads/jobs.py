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

MOST_SPARE: Final = 4  # stacks that wait for a job
_LEVELS: Final = 30


class QueuedJob:
    """A function that runs once: on the main thread, or on one of its own."""

    def __init__(self, fn: Callable[[], Any], name: str, read: bool) -> None:
        self.name = name  # whose it is, for messages
        self.read = read  # it does not change the scene
        self.edited = False  # it has changed the scene; set by the runner while the job runs
        self.gives_way = False  # others may edit while it waits; set by who asks, until it edits
        self.client = client.get()  # for whom it was queued
        self.future: Future[Any] = Future()  # what came of it
        self.stack: greenlet | None = None  # its greenlet, from its beginning to its end
        self._fn: Any = fn
        self.context = contextvars.copy_context()  # in which it runs

    def run(self) -> None:
        """Run it, unless nobody waits for it any more."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            result = self.context.run(self._fn)
        except BaseException as error:  # it belongs to whoever submitted the job
            self.future.set_exception(error)
            if isinstance(error, GreenletExit):  # its stack ends, and no other job is to have it
                raise
        else:
            self.future.set_result(result)
        finally:  # what it ran is freed at once, and not by the collector
            self._fn, self.context = None, contextvars.Context()

    def fail(self, error: Exception) -> None:
        """End it before it has begun."""
        if self.future.set_running_or_notify_cancel():
            self.future.set_exception(error)


class JobStacks:
    """The greenlets of jobs, used again: to start one takes as long as all of a read's job.

    Main thread.
    """

    def __init__(self) -> None:
        self._spare: list[greenlet] = []

    def take(self) -> greenlet:
        """Give one that waits for a job, and may run it on top of the caller's stack."""
        if self._spare:
            stack = self._spare[-1]
            # a context of its own: the last job's callbacks may have left something there
            stack.parent, stack.gr_context = getcurrent(), None
            if stack.switch(None):
                return self._spare.pop()
        stack = greenlet(_run_jobs)
        _deep(stack.switch)
        return stack

    def add(self, stack: greenlet) -> None:
        """Keep one whose job has ended, in place of the oldest where there are enough."""
        if not stack.dead:
            self._spare.append(stack)
        if len(self._spare) > MOST_SPARE:
            _end(self._spare.pop(0))

    def clear(self) -> None:
        """End those that wait for a job."""
        while self._spare:
            _end(self._spare.pop())


def _run_jobs() -> None:
    """Run one job after another, the body of a greenlet; of those that ended it holds nothing."""
    while True:
        # It is resumed with a job, or with None, which asks whether the caller's stack stays in
        # its place. greenlet moved it where it reaches deeper than this one began: see `_deep`.
        parent = cast("greenlet", getcurrent().parent)
        job = parent.switch(not getattr(parent, "_stack_saved", True))
        if job is not None:
            job.run()
            job.stack = None
            del job


def _end(stack: greenlet) -> None:
    stack.parent = getcurrent()
    stack.throw()


def _deep(fn: Callable[[], None], levels: int = _LEVELS) -> None:
    """Call a function with 150 KB more of C stack below it.

    greenlet moves away whatever of the main stack overlaps a job's stack. A job started near the
    bottom and resumed in a deeper place (the host's own modal loop) would move that place's C++
    objects away, and calling them crashes. Started deep, it is resumed from shallower places only.
    A Python call takes no C stack since 3.11; a key function called by list.sort does, 5 KB each.
    """
    if levels:
        sorted((0,), key=lambda _: _deep(fn, levels - 1))  # type: ignore[arg-type,return-value]  # None sorts alone
    else:
        fn()


class JobQueue:
    """Jobs that wait: first in, first out for one client, and the clients take turns."""

    def __init__(self) -> None:
        self._lines: dict[str, deque[QueuedJob]] = {}  # the one whose turn it is first

    def __len__(self) -> int:
        return sum(map(len, list(self._lines.values())))

    def __iter__(self) -> Iterator[QueuedJob]:
        return (job for line in self._lines.values() for job in line)

    def append(self, job: QueuedJob) -> None:
        """Put a job behind the others of its client."""
        self._lines.setdefault(job.client, deque()).append(job)

    def remove(self, job: QueuedJob) -> None:
        """Take a job out; ValueError: it is not there."""
        line = self._lines.get(job.client, deque())
        line.remove(job)
        if not line:
            del self._lines[job.client]

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
