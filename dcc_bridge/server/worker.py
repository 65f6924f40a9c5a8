"""The worker: one daemon thread with an event loop for the whole server. Any thread.

The slow imports (mcp and uvicorn take 0.5 s) happen on the worker, so that the host does not wait.

The loop is a plain asyncio loop and no anyio portal. A portal refuses calls from its own thread,
but questions are also asked, answered and timed on the worker.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from contextvars import Context, copy_context
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import anyio

from dcc_bridge.callbacks import call_later, call_safely
from dcc_bridge.errors import BridgeClosed, StartError
from dcc_bridge.pyside_imports import unsearched_imports

log = logging.getLogger(__name__)
T = TypeVar("T")
_IDLE_S: Final = 3600.0
"""Seconds until the loop's timer fires if no deadline is set."""
LOOPBACK: Final = "127.0.0.1"


class _Deadline(NamedTuple):
    """A function to call at a time, in monotonic seconds, and its caller's context."""

    due: float
    context: Context
    fn: Callable[[], None]


class Service(Protocol):
    """A service that runs on the worker until it is told to stop."""

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve, and call `ready` once requests are taken."""

    def stop(self) -> None:
        """Make `run` return soon. On the worker."""


class Deadlines:
    """Functions to call later on the loop, with one timer for all of them.

    Most deadlines are stopped before they are due. With one timer, a deadline that is later than
    another costs no turn of the loop until then.

    Args:
        soon: Calls a function on the loop, from any thread.
    """

    def __init__(self, soon: Callable[[Callable[[], object]], None]) -> None:
        self._soon = soon
        self._lock = threading.Lock()
        self._deadlines: dict[object, _Deadline] = {}
        self._next = float("inf")  # the time of the next `_look`, never later than a deadline
        self._timer: asyncio.TimerHandle | None = None

    def add(self, seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
        """Call a function in its caller's context after some seconds. Any thread.

        Returns:
            A function that prevents the call.
        """
        key = object()
        due = time.monotonic() + seconds
        with self._lock:
            self._deadlines[key] = _Deadline(due, copy_context(), fn)
            is_first = due < self._next
            if is_first:
                self._next = due
        if is_first:
            self._soon(self._look)

        def stop() -> None:
            with self._lock:
                self._deadlines.pop(key, None)

        return stop

    def _look(self) -> None:
        """Call the functions that are due, and set the timer for the next deadline. On the loop."""
        now = time.monotonic()
        due = []
        with self._lock:
            for key, deadline in self._deadlines.items():
                if deadline.due <= now:
                    due.append((deadline.due, id(key), key))
        for _, _, key in sorted(due):
            reached = self._deadlines.pop(key, None)
            if reached is not None:  # else an earlier function has stopped this one
                call_safely(reached.context.run, reached.fn)
        with self._lock:
            times = [deadline.due for deadline in self._deadlines.values()]
            self._next = min(times, default=now + _IDLE_S)
        if self._timer is not None:
            self._timer.cancel()
        wait = max(0.0, self._next - time.monotonic())
        self._timer = asyncio.get_running_loop().call_later(wait, self._look, context=Context())


class Worker:
    """One daemon thread and its loop.

    Attributes:
        started: Done once requests are taken, or fails with the error that prevents this.
    """

    def __init__(self, make: Callable[[Worker], Service]) -> None:
        """Prepare; nothing runs yet.

        Args:
            make: Makes the service. Called on the worker, and imports the service's modules there.
        """
        self._make = make
        self._loop: asyncio.AbstractEventLoop | None = None
        self._deadlines = Deadlines(self.soon)
        self._service: Service | None = None
        self._stopped = False
        self._is_woken = False
        self._queue: deque[tuple[Context, Callable[[], object]]] = deque()
        self._thread = threading.Thread(target=self._run, name="dcc_bridge worker", daemon=True)
        self.started: Future[None] = Future()

    def start(self) -> None:
        """Start the thread, and return at once."""
        self._thread.start()

    @property
    def is_current(self) -> bool:
        """Whether the caller is on the worker."""
        return threading.current_thread() is self._thread

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the loop. Any thread.

        Raises:
            BridgeClosed: The loop does not run.
        """
        loop = self._loop
        if loop is None or loop.is_closed():
            coroutine.close()
            raise BridgeClosed
        return asyncio.run_coroutine_threadsafe(coroutine, loop)

    def soon(self, fn: Callable[[], object]) -> None:
        """Call a function on the loop, or drop it if the loop has ended. Any thread.

        The functions of one thread are called in their order. The loop is woken only once for many
        functions, because the caller loses the interpreter's lock in that system call.
        """
        if self._loop is not None:
            self._queue.append((copy_context(), fn))
            self._wake()

    def _wake(self) -> None:
        loop = self._loop
        if self._is_woken or loop is None:
            return
        has_ended = False
        try:
            self._is_woken = True
            with suppress(RuntimeError):  # the loop was closed just now
                loop.call_soon_threadsafe(self._call_queue, context=Context())
            has_ended = True
        finally:
            if not has_ended:  # such as Ctrl+C on the main thread: the next call wakes the loop
                self._is_woken = False

    def _call_queue(self) -> None:
        self._is_woken = False  # first, so that a function added from now on wakes the loop again
        try:
            for _ in range(len(self._queue)):
                context, fn = self._queue.popleft()
                call_safely(context.run, fn)
        finally:  # even if a function was cancelled, the others must be called
            if self._queue:
                self._wake()

    def later(self, seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
        """Call a function on the loop after some seconds. Any thread.

        Returns:
            A function that prevents the call.
        """
        if self._loop is None:  # not started yet, or ended: deadlines still must be kept
            return call_later(seconds, fn)
        return self._deadlines.add(seconds, fn)

    def stop(self, limit: float = 5.0) -> None:
        """End the service and wait for the thread, which is left running after the limit.

        Args:
            limit: Seconds to wait for the thread.
        """
        self._stopped = True  # `_serve` checks it once `soon` reaches the loop
        if self._service is not None:
            self.soon(self._service.stop)
        if self._thread.ident is not None and not self.is_current:
            self._thread.join(limit)

    def _run(self) -> None:
        try:
            with ExitStack() as imports:
                imports.enter_context(unsearched_imports())
                self.started.add_done_callback(lambda _: imports.close())
                self._service = self._make(self)
                anyio.run(self._serve, self._service)
        except BaseException as error:  # the top of a thread: the error belongs to `started`
            if not self.started.done():
                self.started.set_exception(error)
            else:
                log.exception("the server ended by itself")

    async def _serve(self, service: Service) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            if self._stopped:
                raise BridgeClosed
            await service.run(lambda: self.started.set_result(None))
        finally:
            self._loop = None
            self._queue.clear()


def listen(port: int) -> socket.socket:
    """Return a socket that listens on the loopback address: tokens travel in the clear.

    Args:
        port: The port; 0 for any free one.

    Raises:
        StartError: The port cannot be used.
    """
    # asyncio sets TCP_NODELAY only if the protocol is named here. Without it each call waits 44 ms
    # for a delayed acknowledgement (measured; `Transport._set_nodelay` in base_events.py).
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform == "win32":  # where SO_REUSEADDR would let a second program take the port
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
    else:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        sock.bind((LOOPBACK, port))
        sock.listen(128)
    except (OSError, OverflowError) as error:
        sock.close()
        raise StartError(
            f"Port {port} cannot be used ({error}). Choose another one, or 0 for any free one."
        ) from error
    return sock
