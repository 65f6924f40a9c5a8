"""The way to the host's main thread. Everything that touches its state is in this file.

There are two lanes. *ui* shows and dismisses questions; it never touches the scene and is always
served. *job* runs skills: one at a time, never one inside another, the clients in turns.

A job runs in a greenlet of its own, of `JobStacks`. When it waits for an answer it switches back to
`drain`, which returns to the host's own event loop, so the host stays alive; when the answer is
there, a later `drain` switches in again. The skill keeps its Python stack and cannot tell.

================  ==========================================================================
a job is          and then
================  ==========================================================================
queued            it starts when nobody holds the slot; if its caller gave up it never starts
running           it is on the stack; nothing else but the ui lane is served
suspended         it waits for an answer; an edit keeps the slot, but for one that asks for input
                  and has not edited; a read does not. Read jobs are served meanwhile, unless the
                  suspended one has already edited
done              its result or its exception belongs to whoever submitted it
================  ==========================================================================

A host gives `wake` (call `drain` on the main thread, soon or later); for calls that it makes into
Python itself, `spin` (run its event loop until a future is done); and for long jobs, `repaint`
(paint, take no input). While it paints nothing is served and nothing can wait: the host's code that
runs then is on the job's own stack.

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

BUDGET: Final = 0.008  # seconds that one drain may take before it gives the host its turn
HELD_RETRY: Final = 0.1  # seconds to a second try of a job that met the host's dialog, or of a wake
LOOKS: Final = 5
MOST_LOOKS: Final = 60
IDLE: Final = 0.1  # seconds that an idle host computes in one, and takes to come to a job
_THROWS: Final = 8  # how often a suspended job is told to end before it is left behind


class MainThread:
    """The host's main thread, as everybody else reaches it. Made on that thread."""

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
            wake: Makes the host call `drain` on its main thread after that many seconds. With 0 it
                is called from any thread, otherwise from the main thread.
            spin: Runs the host's event loop until the future is done; None where there is none.
            blocked: Tells whether the host shows a modal dialog of its own, so that jobs must wait.
            repaint: Paints the host's windows; None where there are none. Told whether to serve
                what stops a job, and no other input; returns whether the person pressed Esc.
        """
        self._wake_host, self._spin, self._repaint = wake, spin, repaint
        self._blocked = blocked or (lambda: False)
        self._painting = self._missed = False
        self.ident = threading.get_ident()
        self._lock = threading.Lock()
        self._woken = self._closed = self._spinning = self._tries_again = False
        self._ui: deque[QueuedJob] = deque()
        self._jobs = JobQueue()
        self._ready: deque[QueuedJob] = deque()
        self._later: deque[Callable[[], None]] = deque()
        self._stacks = JobStacks()
        self._suspended: dict[QueuedJob, None] = {}
        self.holder: QueuedJob | None = None  # the suspended one that keeps the slot, or None
        # Called with it where another job waits for it or is refused; says for what it waits.
        self.look_at_holder: Callable[[QueuedJob], str] = lambda holder: ""
        self.running: QueuedJob | None = None  # the job that is on its stack, or None
        self.is_settled = False  # the garbage of the start was collected

    @property
    def is_current(self) -> bool:
        """Whether the caller is on the main thread."""
        return threading.get_ident() == self.ident

    @property
    def job(self) -> QueuedJob | None:
        """The job whose own stack the caller is on, or None; None for the host as it paints."""
        job = None if self._painting else self.running
        return job if job is not None and self.is_current and getcurrent() is job.stack else None

    @property
    def is_unwound(self) -> bool:
        """Whether nothing of ours is on the main thread's stack."""
        return self.running is None and not self._spinning

    @property
    def waiting(self) -> int:
        """How many jobs are queued behind the one that holds the slot."""
        return len(self._jobs)

    def submit(self, fn: Callable[[], T], *, name: str = "a job", read: bool = False) -> Future[T]:
        """Queue a job, for the client that `dcc_bridge.threads.jobs.client` names. Any thread.

        It runs in a copy of the caller's context. It raises nothing: once the bridge has stopped
        the future has BridgeClosed.

        Args:
            fn: What is called on the main thread.
            name: Whose it is, in messages.
            read: It does not change the scene, so it may run while an edit waits for an answer.

        Returns:
            What it gives or raises. The future always ends; cancelled, the job never starts.
        """
        job = QueuedJob(fn, name, read)
        job.future.add_done_callback(self._drop)
        return self._queue(self._jobs, job)

    def post(self, fn: Callable[[], T]) -> Future[T]:
        """Queue something for the ui lane: it must be quick and must not touch the scene.

        Any thread.

        It raises nothing: once the bridge has stopped the future has BridgeClosed.

        Args:
            fn: What is called on the main thread.

        Returns:
            What it gives or raises.
        """
        return self._queue(self._ui, QueuedJob(fn, "a question", read=True))

    def wait(self, future: Future[T], limit: float | None = None) -> T:
        """Wait for a future without freezing the host.

        A job is suspended; elsewhere on the main thread the host's event loop is spun; any other
        thread simply blocks.

        Args:
            future: What is waited for.
            limit: Seconds that another thread gives a job to begin; None for ever.

        Returns:
            What the future gives.

        Raises:
            Busy: The main thread waits for another answer, paints in mid-job, or was too late.
            BridgeClosed: It stopped.
            Exception: What the future raised.
        """
        if not self.is_current:
            return _blocked_for(future, limit)
        if not future.done():
            if self._closed:
                raise BridgeClosed
            if self._painting:
                raise Busy("A skill is running; nothing can be asked until it is done.")
            self._suspend(job, future) if (job := self.job) else self._spin_for(future)
        return future.result()

    def when_unwound(self, fn: Callable[[], None]) -> None:
        """Call a function on the main thread as soon as nothing of ours is on its stack.

        It raises nothing.

        Args:
            fn: What is called.
        """
        with self._lock:
            self._later.append(fn)
        self._wake()

    def drain(self) -> None:
        """Serve what is queued, for at most `BUDGET` seconds. The host calls it after a wake.

        It raises nothing: what a job raises is its future's.
        """
        if self._painting:
            self._missed = True
            return
        with self._lock:
            self._woken = False
        end = time.perf_counter() + BUDGET
        while self._step():
            if time.perf_counter() > end:
                self._wake()
                return

    def repaint(self, serves_stop: bool = False) -> bool:
        """Let the host paint its windows in the middle of a job. Elsewhere it does nothing.

        It raises nothing.

        Args:
            serves_stop: The buttons that stop a job are served, and Esc.

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
            missed, self._missed = self._missed, False
            if missed:  # `_woken` still holds, so nobody else will wake the host
                self._ask_host(0.0)

    def close(self) -> None:
        """End everything: fail what is queued, resume what has its answer, end what is suspended.

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
            if not (closed := self._closed):
                lane.append(job)
        self._wake() if not closed else job.fail(BridgeClosed(job.name))
        return job.future

    def _drop(self, future: Future[Any]) -> None:
        if future.cancelled():
            with self._lock:  # there is none if it was taken out, or never put in
                for job in [it for it in self._jobs if it.future is future]:
                    self._jobs.remove(job)

    def _wake(self) -> None:
        with self._lock:
            if self._woken:
                return
            self._woken = True
        self._ask_host(0.0)

    def _ask_host(self, seconds: float) -> None:
        """Have the host call `drain`; where that fails, again soon: what waits must not lie."""
        try:
            self._wake_host(seconds)
        except Exception:  # the host's own; whoever queued something is not to blame
            log.exception("the host could not be woken; it is tried again")
            with self._lock:
                self._woken = False
                is_first, self._tries_again = not (self._closed or self._tries_again), True
            if is_first:
                call_later(HELD_RETRY, self._try_again)

    def _try_again(self) -> None:
        with self._lock:
            self._tries_again = False
        self._wake()

    def _step(self) -> bool:
        if self._ui:
            self._ui.popleft().run()
            return True
        if not self.is_unwound:
            return False
        if self._later:
            self._later.popleft()()
            return True
        return self._serve_job()

    def _serve_job(self) -> bool:
        if not (self._ready or self._jobs):
            return False
        if self._blocked():
            self._ask_host(HELD_RETRY)
            return False
        return self._resume_next() or self._start_next()

    def _start_next(self) -> bool:
        job = self._take()
        if job is None:
            return False
        job.stack = self._stacks.take()
        self._switch(job)
        return True

    def _take(self) -> QueuedJob | None:
        """Take the first job that may start now, refusing those that cannot wait."""
        holder = self.holder
        while True:
            with self._lock:
                job = self._jobs.take(reads_only=holder is not None)
            if holder is None or (job is not None and not holder.edited) or not (job or self._jobs):
                return job
            what = self.look_at_holder(holder)
            is_over = holder in self._ready  # its question has ended just now
            if job is not None and is_over:
                with self._lock:
                    self._jobs.append(job)
            if job is None or is_over:
                return None
            then = f" and waits for {what}; try again then" if what else "; try again in a moment"
            job.fail(Busy(f"busy: {holder.name} is in the middle of an edit{then}."))

    def _switch(self, job: QueuedJob, error: BaseException | None = None) -> None:
        stack = cast("greenlet", job.stack)
        stack.parent = getcurrent()
        self.running = job
        try:
            stack.switch(job) if error is None else stack.throw(error)
        finally:
            self.running = None
            has_ended = stack.dead or job.stack is None
            if has_ended:
                self._suspended.pop(job, None)
                self._stacks.add(stack)
            else:
                self._suspended[job] = None
            if not job.read:
                self.holder = None if has_ended or (job.gives_way and not job.edited) else job

    def _suspend(self, job: QueuedJob, future: Future[Any]) -> None:
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
        if not self._ready:  # whoever adds one wakes the host after that
            return False
        with self._lock:
            # what gave way waits for an edit that came meanwhile
            held = not self._closed and self.holder
            job = next((it for it in self._ready if not held or it.read or it is held), None)
            if job is not None:
                self._ready.remove(job)
        if job is not None and job in self._suspended:
            self._switch(job)
        return job is not None

    def _spin_for(self, future: Future[Any]) -> None:
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
        for _ in range(_THROWS):
            if job not in self._suspended:
                return
            self._switch(job, BridgeClosed(job.name))
        self._suspended.pop(job)
        self.holder = None if job is self.holder else self.holder


def freeze(main: MainThread, clock: CallLater) -> Unsubscribe:
    """Keep the collector from all that a start leaves; gives what lets it look there again.

    A full collection stops every thread, for 0.1 s where a server's modules are imported. So what
    exists, the host's objects too, is `gc.freeze`-d: it goes when nothing refers to it, and a cycle
    among it stays. What is garbage already is collected, and the rest frozen again, once the whole
    process has used next to no processor for some seconds, so in no drag; a process that never
    rests in the first minute keeps it. `DCC_BRIDGE_FREEZE=0` leaves a host's collector alone.
    """
    is_alone = not gc.get_freeze_count()  # else the host froze something itself, and it stays so
    frees: tuple[Unsubscribe, Unsubscribe] = (gc.freeze, gc.unfreeze)
    put_aside, thaw = frees if is_alone else (lambda: None, lambda: None)
    put_aside()

    def look(used: float, idle: int, left: int) -> None:
        if main._closed:
            return
        has_work = not main.is_unwound or main.waiting or main._suspended
        is_idle = time.process_time() - used < IDLE and not has_work
        if not is_idle or idle + 1 < LOOKS:
            look_later(idle + 1 if is_idle else 0, left - 1)
        else:
            asked = time.monotonic()
            main.submit(lambda: collect(asked, left), name="the collector", read=True)

    def look_later(idle: int, left: int) -> None:
        if left:
            clock(1.0, partial(look, time.process_time(), idle, left))

    def collect(asked: float, left: int) -> None:
        if time.monotonic() - asked > IDLE:  # the host was busy, or showed a dialog of its own
            look_later(0, left - 1)
        else:
            thaw()
            gc.collect()
            gc.freeze()
            main.is_settled = True

    look_later(0, MOST_LOOKS)
    return thaw


def _blocked_for(future: Future[T], limit: float | None) -> T:
    """Block until a future is done, or give a job up that does not begin; then it never does."""
    try:
        return future.result(limit)
    except TimeoutError:
        if not future.cancel():  # it runs, or the error is its own
            return future.result()
    raise Busy(f"The host's main thread was busy for {limit:g} s; try again later.")
