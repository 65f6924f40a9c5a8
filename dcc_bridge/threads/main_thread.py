"""The queue to the host's main thread. Everything that touches the queue's state is in this file.

There are two lanes. *ui* shows and dismisses questions; it never touches the scene and is always
served. *job* runs skills: one at a time, never one inside another, the clients in turns.

A job runs in a greenlet of its own, of `JobStacks`. When the job waits for an answer it switches
back to `drain`, which returns to the host's own event loop, so the host stays alive. When the
answer is there, a later `drain` switches to the job again. The skill keeps its Python stack.

================  ==========================================================================
a job is          and then
================  ==========================================================================
queued            it starts when no job holds the slot; if its caller gave up it never starts
running           it is on the stack; nothing else but the ui lane is served
resting           it left the stack to let the host draw; nothing is served, as if it ran
suspended         it waits for an answer. An edit holds the slot, except one that asks for input
                  and has not edited; a read does not. Read jobs are served meanwhile, unless the
                  holder has edited already
done              its result or its exception belongs to whoever submitted it
================  ==========================================================================

A host provides `wake` (call `drain` on the main thread, soon or later); for the host's own Python
code that asks, `spin` (run the event loop until a future is done); and for long jobs, `repaint`
(paint, take no input). During `repaint` nothing is served and nothing can wait: the host's code
that runs then is on the job's own stack. A host that cannot paint from there calls `rest` in
`repaint`, and `go_on` a turn of its event loop later.

`submit`, `post` and `wait` may be called on any thread, the rest on the main thread only.
"""

from __future__ import annotations

import contextvars
import gc
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final, TypeVar, cast

from greenlet import getcurrent, greenlet

from dcc_bridge.callbacks import CallLater, Unsubscribe, call_later
from dcc_bridge.errors import BridgeClosed, Busy
from dcc_bridge.threads.jobs import JobQueue, JobStacks, QueuedJob

log = logging.getLogger(__name__)
T = TypeVar("T")
Spin = Callable[["Future[Any]"], None]

DRAIN_BUDGET_S: Final = 0.008
"""Seconds that one `drain` may take before the host has its turn."""
RETRY_S: Final = 0.1
"""Seconds to a second try of a job that met the host's dialog, or of a failed wake."""
IDLE_LOOKS: Final = 5
"""Looks in a row, one a second, at which a host must be idle before its garbage is collected."""
MAX_LOOKS: Final = 60
"""Looks after which the garbage of a start is left alone."""
IDLE_S: Final = 0.1
"""The most seconds that an idle host computes between two looks, and needs to begin a job."""
_MAX_THROWS: Final = 8
"""How often a suspended job gets an exception to end before it is given up."""


class MainThread:
    """The host's main thread, as all other threads reach it. Made on that thread.

    Attributes:
        holder: The suspended job that keeps the slot, or None.
        ident: The main thread's identifier.
        is_settled: Whether the garbage of the start was collected; see `freeze`.
        look_at_holder: Called with the holder when another job waits for the slot or is refused;
            returns a phrase for what the holder waits for, or "".
        running: The job that is on the stack, or None.
    """

    def __init__(
        self,
        wake: Callable[[float], None],
        spin: Spin | None = None,
        *,
        blocked: Callable[[], bool] | None = None,
        repaint: Callable[[bool], bool] | None = None,
    ) -> None:
        """Prepare the queue, on the main thread.

        Args:
            wake: Makes the host call `drain` on its main thread after that many seconds. Called
                with 0 on any thread, and with other values on the main thread.
            spin: Runs the host's event loop until the future is done; None for a host without one.
            blocked: Returns whether the host shows a modal dialog of its own, so that jobs must
                wait.
            repaint: Paints the host's windows; None for a host without windows. The argument says
                whether to serve the input that stops a job; the result, whether the person pressed
                Esc.
        """
        self._wake_host = wake
        self._spin = spin
        self._repaint = repaint
        self._blocked = blocked or (lambda: False)
        self.ident = threading.get_ident()
        self._lock = threading.Lock()
        self._painting = False
        self._resting: QueuedJob | None = None
        self._missed_drain = False  # the host called `drain` while it painted
        self._spinning = False
        self._woken = False
        self._tries_again = False  # a failed wake is to be tried again
        self._closed = False
        self._ui: deque[QueuedJob] = deque()
        self._jobs = JobQueue()
        self._ready: deque[QueuedJob] = deque()  # suspended jobs that have their answer
        self._when_unwound: deque[Callable[[], None]] = deque()
        self._stacks = JobStacks()
        self._suspended: dict[QueuedJob, None] = {}
        self.holder: QueuedJob | None = None
        self.look_at_holder: Callable[[QueuedJob], str] = lambda holder: ""
        self.running: QueuedJob | None = None
        self.is_settled = False

    @property
    def is_current(self) -> bool:
        """Whether the caller is on the main thread."""
        return threading.get_ident() == self.ident

    @property
    def job(self) -> QueuedJob | None:
        """The job on whose stack the caller is, or None; None while the host paints."""
        job = self.running
        if job is None or self._painting or not self.is_current:
            return None
        return job if getcurrent() is job.stack else None

    @property
    def is_unwound(self) -> bool:
        """Whether nothing of ours is on the main thread's stack."""
        return self.running is None and not self._spinning

    @property
    def is_resting(self) -> bool:
        """Whether a job rests, and `go_on` has to be called."""
        return self._resting is not None

    @property
    def waiting(self) -> int:
        """How many jobs are queued."""
        return len(self._jobs)

    def submit(self, fn: Callable[[], T], *, name: str = "a job", read: bool = False) -> Future[T]:
        """Queue a job, for the client that `dcc_bridge.threads.jobs.client` names. Any thread.

        The job runs in a copy of the caller's context. It raises nothing: once the bridge has
        stopped the future has BridgeClosed.

        Args:
            fn: The function that is called on the main thread.
            name: Whose job it is, in messages.
            read: Whether the job only reads the scene, and so may run while an edit waits for an
                answer.

        Returns:
            A future with the function's result or error, which always ends. If the future is
            cancelled before the job starts, the job never starts.
        """
        job = QueuedJob(fn, name, read)
        job.future.add_done_callback(self._drop)
        return self._queue(self._jobs, job)

    def post(self, fn: Callable[[], T]) -> Future[T]:
        """Queue a function for the ui lane: it must be quick and must not touch the scene.

        Any thread. It raises nothing: once the bridge has stopped the future has BridgeClosed.

        Args:
            fn: The function that is called on the main thread.

        Returns:
            A future with the function's result or error.
        """
        return self._queue(self._ui, QueuedJob(fn, "a question", read=True))

    def wait(self, future: Future[T], limit: float | None = None) -> T:
        """Wait for a future without freezing the host.

        A job is suspended; elsewhere on the main thread the host's event loop is run; any other
        thread blocks.

        Args:
            future: The future.
            limit: Seconds after which a thread that blocks gives up a job that has not begun; None
                for no limit.

        Returns:
            The future's result.

        Raises:
            Busy: The main thread waits for another answer or paints in a job, or the job has not
                begun within the limit.
            BridgeClosed: The bridge stopped.
            Exception: The future's exception.
        """
        if not self.is_current:
            return _block_until_done(future, limit)
        if future.done():
            return future.result()
        if self._closed:
            raise BridgeClosed
        if self._painting:
            raise Busy("A skill is running. Questions are possible again once it has ended.")
        job = self.job
        if job is not None:
            self._suspend(job, future)
        else:
            self._spin_for(future)
        return future.result()

    def when_unwound(self, fn: Callable[[], None]) -> None:
        """Call a function on the main thread as soon as nothing of ours is on its stack.

        It raises nothing.

        Args:
            fn: The function.
        """
        with self._lock:
            self._when_unwound.append(fn)
        self._wake()

    def drain(self) -> None:
        """Serve the lanes, for at most `DRAIN_BUDGET_S`. The host calls this after a wake.

        It raises nothing: the exception of a job belongs to its future.
        """
        if self._painting:
            self._missed_drain = True
            return
        with self._lock:
            self._woken = False
        end = time.perf_counter() + DRAIN_BUDGET_S
        while self._step():
            if time.perf_counter() > end:
                self._wake()
                return

    def repaint(self, serves_stop: bool = False) -> bool:
        """Let the host paint its windows in the middle of a job. Elsewhere it does nothing.

        It raises nothing.

        Args:
            serves_stop: Whether to serve the buttons that stop a job, and Esc.

        Returns:
            Whether Esc was pressed.
        """
        if self._repaint is None or self.job is None:
            return False
        self._painting = True
        try:
            return contextvars.Context().run(self._repaint, serves_stop)
        finally:
            self._painting = False
            if self._missed_drain:  # `_woken` is still set, so no other thread will wake the host
                self._missed_drain = False
                self._ask_host(0.0)

    def rest(self) -> None:
        """Leave the job's stack until `go_on`; `drain` returns to the host. Only in `repaint`.

        It raises nothing.
        """
        job = self.running
        if job is None or not self._painting:
            return
        self._resting = job
        stack = cast("greenlet", job.stack)
        cast("greenlet", stack.parent).switch()

    def go_on(self) -> None:
        """Go on with the job that rests; harmless where none does. It raises nothing."""
        job = self._resting
        self._resting = None
        if job is not None:
            self._switch(job)

    def close(self) -> None:
        """Fail the queued jobs, resume those that have their answer, and end the suspended ones.

        Must be called on the main thread when `is_unwound`. It raises nothing.
        """
        with self._lock:
            self._closed = True
            queued = [*self._jobs, *self._ui]
            self._jobs = JobQueue()
            self._ui.clear()
        for job in queued:
            job.fail(BridgeClosed(job.name))
        while self._resume_next():
            pass
        for job in list(self._suspended):
            self._end(job)
        self._stacks.clear()

    def _queue(self, lane: deque[QueuedJob] | JobQueue, job: QueuedJob) -> Future[Any]:
        with self._lock:
            is_closed = self._closed
            if not is_closed:
                lane.append(job)
        if is_closed:
            job.fail(BridgeClosed(job.name))
        else:
            self._wake()
        return job.future

    def _drop(self, future: Future[Any]) -> None:
        """Take a cancelled job out of the queue, unless it was taken out before."""
        if not future.cancelled():
            return
        with self._lock:
            for job in list(self._jobs):
                if job.future is future:
                    self._jobs.remove(job)

    def _wake(self) -> None:
        with self._lock:
            if self._woken:
                return
            self._woken = True
        self._ask_host(0.0)

    def _ask_host(self, seconds: float) -> None:
        """Have the host call `drain`; if that fails, try again soon."""
        try:
            self._wake_host(seconds)
        except Exception:  # the host's error; the thread that queued a job is not to blame
            log.exception("the host could not be woken; it is tried again")
            with self._lock:
                self._woken = False
                is_first = not (self._closed or self._tries_again)
                self._tries_again = True
            if is_first:
                call_later(RETRY_S, self._try_again)

    def _try_again(self) -> None:
        with self._lock:
            self._tries_again = False
        self._wake()

    def _step(self) -> bool:
        """Serve one job or callback; return False if nothing may be served now."""
        if self._resting is not None:
            return False
        if self._ui:
            self._ui.popleft().run()
            return True
        if not self.is_unwound:
            return False
        if self._when_unwound:
            fn = self._when_unwound.popleft()
            fn()
            return True
        return self._serve_job()

    def _serve_job(self) -> bool:
        if not (self._ready or self._jobs):
            return False
        if self._blocked():
            self._ask_host(RETRY_S)
            return False
        return self._resume_next() or self._start_next()

    def _start_next(self) -> bool:
        """Start the first job that may start; return False if there is none."""
        job = self._take()
        if job is None:
            return False
        job.stack = self._stacks.take()
        self._switch(job)
        return True

    def _take(self) -> QueuedJob | None:
        """Take the first job that may start now, and refuse the reads that must not start.

        While a suspended edit holds the slot, other edits stay in the queue. A read may start until
        the edit has changed the scene; from then on reads are refused as busy.
        """
        holder = self.holder
        while True:
            with self._lock:
                job = self._jobs.take(reads_only=holder is not None)
            if holder is None:
                return job
            if job is None and not self._jobs:
                return None
            if job is not None and not holder.edited:
                return job
            waits_for = self.look_at_holder(holder)
            if job is None:
                return None
            if holder in self._ready:  # its question has ended just now
                with self._lock:
                    self._jobs.append(job)
                return None
            advice = "; try again in a moment"
            if waits_for:
                advice = f" and waits for {waits_for}; try again then"
            job.fail(Busy(f"busy: {holder.name} is in the middle of an edit{advice}."))

    def _switch(self, job: QueuedJob, error: BaseException | None = None) -> None:
        """Run a job until it waits or ends.

        Args:
            job: The job.
            error: The exception that is raised where the job waits; None to let it go on.
        """
        stack = cast("greenlet", job.stack)
        stack.parent = getcurrent()
        self.running = job
        try:
            if error is None:
                stack.switch(job)
            else:
                stack.throw(error)
        finally:
            if self._resting is None:
                self._leave(job, stack)

    def _leave(self, job: QueuedJob, stack: greenlet) -> None:
        """Note that a job has left its stack, because it waits or has ended."""
        self.running = None
        has_ended = stack.dead or job.stack is None
        if has_ended:
            self._suspended.pop(job, None)
            self._stacks.add(stack)
        else:
            self._suspended[job] = None
        if not job.read:
            frees_slot = has_ended or (job.gives_way and not job.edited)
            self.holder = None if frees_slot else job

    def _suspend(self, job: QueuedJob, future: Future[Any]) -> None:
        """Switch from a job's stack back to `drain` until a future is done."""
        future.add_done_callback(lambda _: self._resume_later(job))
        stack = cast("greenlet", job.stack)
        while not future.done():
            cast("greenlet", stack.parent).switch()
        job.gives_way = False

    def _resume_later(self, job: QueuedJob) -> None:
        with self._lock:
            self._ready.append(job)
        self._wake()

    def _resume_next(self) -> bool:
        """Resume the first job that has its answer and may go on; return False if there is none."""
        if not self._ready:  # the thread that adds a job wakes the host after that
            return False
        with self._lock:
            job = self._take_ready()
        if job is not None and job in self._suspended:
            self._switch(job)
        return job is not None

    def _take_ready(self) -> QueuedJob | None:
        """Take out the first job that has its answer and may go on. Under the lock."""
        # An edit that gave way must wait for an edit that came meanwhile and holds the slot.
        holder = None if self._closed else self.holder
        for job in self._ready:
            if holder is None or job.read or job is holder:
                self._ready.remove(job)
                return job
        return None

    def _spin_for(self, future: Future[Any]) -> None:
        """Run the host's event loop until a future is done."""
        if self._spin is None:
            raise Busy("This application cannot wait for an answer while its own code runs.")
        if self._spinning:
            raise Busy("The host is already waiting for an answer; answer that question first.")
        self._spinning = True
        try:
            contextvars.Context().run(self._spin, future)
        finally:
            self._spinning = False
            self._wake()

    def _end(self, job: QueuedJob) -> None:
        """End a suspended job by an exception at the place where it waits."""
        for _ in range(_MAX_THROWS):
            if job not in self._suspended:
                return
            self._switch(job, BridgeClosed(job.name))
        self._suspended.pop(job)
        if job is self.holder:
            self.holder = None


def freeze(main: MainThread, clock: CallLater) -> Unsubscribe:
    """Keep the garbage collector from the objects that a start leaves.

    A full collection stops every thread, for 0.1 s where a server's modules are imported. So
    `gc.freeze` moves all objects, the host's too, out of the collector's reach. Once the process
    has been idle for some seconds, so not while a person drags something, the garbage among these
    objects is collected, and the rest frozen again. A process that is never idle in the first
    minute keeps the garbage. `DCC_BRIDGE_FREEZE=0` leaves a host's collector alone.

    Args:
        main: The main thread.
        clock: Calls a function after some seconds, on another thread.

    Returns:
        A function that moves the objects back.
    """
    thaw = _freeze_objects()

    def look(used: float, idle_looks: int, looks_left: int) -> None:
        if main._closed:
            return
        has_work = not main.is_unwound or main.waiting or main._suspended
        is_idle = time.process_time() - used < IDLE_S and not has_work
        idle_looks = idle_looks + 1 if is_idle else 0
        if idle_looks < IDLE_LOOKS:
            look_later(idle_looks, looks_left - 1)
            return
        submitted_at = time.monotonic()
        main.submit(lambda: collect(submitted_at, looks_left), name="the collector", read=True)

    def look_later(idle_looks: int, looks_left: int) -> None:
        if looks_left:
            clock(1.0, partial(look, time.process_time(), idle_looks, looks_left))

    def collect(submitted_at: float, looks_left: int) -> None:
        if time.monotonic() - submitted_at > IDLE_S:  # the host was busy, or showed a dialog
            look_later(0, looks_left - 1)
        else:
            thaw()
            gc.collect()
            gc.freeze()
            main.is_settled = True

    look_later(0, MAX_LOOKS)
    return thaw


def _freeze_objects() -> Unsubscribe:
    """Move all objects out of the collector's reach, unless the host itself has done so.

    Returns:
        A function that moves the objects back.
    """
    if gc.get_freeze_count():
        return _do_nothing
    gc.freeze()
    return gc.unfreeze


def _do_nothing() -> None:
    pass


def _block_until_done(future: Future[T], limit: float | None) -> T:
    """Block until a future is done; cancel its job if it does not begin within the limit."""
    try:
        return future.result(limit)
    except TimeoutError:
        if not future.cancel():  # the job runs, or the TimeoutError is the job's own
            return future.result()
    raise Busy(f"The host's main thread was busy for {limit:g} s; try again later.")
