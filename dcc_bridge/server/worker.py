"""The worker: one daemon thread with an event loop for the whole server, and the listening socket.

The heavy imports (mcp and uvicorn take 0.5 s) happen on it, so the host is alive meanwhile. Made
and stopped on any thread.

The loop is asyncio's own rather than an anyio portal, because a portal refuses calls from its own
thread, and a question may be asked, answered and timed there as well as anywhere else.
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
from typing import Any, Final, Protocol, TypeVar

import anyio

from dcc_bridge.callbacks import call_later, call_safely
from dcc_bridge.errors import BridgeClosed, StartError
from dcc_bridge.pyside_imports import unsearched_imports

log = logging.getLogger(__name__)
T = TypeVar("T")
_LONG: Final = 3600.0
LOOPBACK: Final = "127.0.0.1"


class Service(Protocol):
    """What runs on the worker until it is told to stop."""

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve; call `ready` once requests are taken."""

    def stop(self) -> None:
        """Make `run` return soon. On the worker."""


class Deadlines:
    """Functions that are called later on the loop, which has one timer for all of them.

    Of a call's deadlines hardly any is reached: one that is set behind another, and stopped before
    it is due, costs no turn of the loop.
    """

    def __init__(self, soon: Callable[[Callable[[], object]], None]) -> None:
        self._soon = soon  # calls a function on the loop, from any thread
        self._lock = threading.Lock()
        self._set: dict[object, tuple[float, Context, Callable[[], None]]] = {}
        self._next = float("inf")  # when the loop looks here; never behind a deadline
        self._timer: asyncio.TimerHandle | None = None

    def add(self, seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
        """Call a function in its caller's context after some seconds; gives what stops it."""
        key, due = object(), time.monotonic() + seconds
        with self._lock:
            self._set[key] = due, copy_context(), fn
            is_first, self._next = due < self._next, min(due, self._next)
        if is_first:
            self._soon(self._look)

        def stop() -> None:
            with self._lock:
                self._set.pop(key, None)

        return stop

    def _look(self) -> None:
        """Call what is due, and look again when the next one is. On the loop."""
        now = time.monotonic()
        with self._lock:
            due = sorted((at, id(key), key) for key, (at, *_) in self._set.items() if at <= now)
        for *_, key in due:
            if (deadline := self._set.pop(key, None)) is not None:  # else it was stopped meanwhile
                call_safely(deadline[1].run, deadline[2])
        with self._lock:
            self._next = min((at for at, *_ in self._set.values()), default=now + _LONG)
        if self._timer is not None:
            self._timer.cancel()
        wait = max(0.0, self._next - time.monotonic())
        self._timer = asyncio.get_running_loop().call_later(wait, self._look, context=Context())


class Worker:
    """One daemon thread and its loop."""

    def __init__(self, make: Callable[[Worker], Service]) -> None:
        """Prepare; nothing runs yet."""
        self._make = make  # makes the service; called on the worker, for its imports
        self._loop: asyncio.AbstractEventLoop | None = None
        self._deadlines = Deadlines(self.soon)
        self._service: Service | None = None
        self._stopped = self._is_woken = False
        self._handed: deque[tuple[Context, Callable[[], object]]] = deque()
        self._thread = threading.Thread(target=self._run, name="dcc_bridge worker", daemon=True)
        self.started: Future[None] = Future()  # done once requests are taken, or with why not

    def start(self) -> None:
        """Start the thread, and return at once."""
        self._thread.start()

    @property
    def is_current(self) -> bool:
        """Whether the caller is on the worker."""
        return threading.current_thread() is self._thread

    def spawn(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the loop; BridgeClosed where that does not run. Any thread."""
        if (loop := self._loop) is None or loop.is_closed():
            coroutine.close()
            raise BridgeClosed
        return asyncio.run_coroutine_threadsafe(coroutine, loop)

    def soon(self, fn: Callable[[], object]) -> None:
        """Call a function on the loop, those of a thread in their order; none once it ended.

        A loop that was woken already is not woken again: in that system call a thread that is in
        the middle of its work loses the interpreter's lock. Any thread.
        """
        if self._loop is not None:
            self._handed.append((copy_context(), fn))
            self._wake()

    def _wake(self) -> None:
        if self._is_woken or (loop := self._loop) is None:
            return
        is_sure = False
        try:
            self._is_woken = True
            with suppress(RuntimeError):  # it was closed in this very moment
                loop.call_soon_threadsafe(self._call_handed, context=Context())
            is_sure = True
        finally:
            if not is_sure:  # Ctrl+C on the main thread, say: the next one wakes it
                self._is_woken = False

    def _call_handed(self) -> None:
        self._is_woken = False  # first: who hands something in from now on wakes the loop again
        try:
            for _ in range(len(self._handed)):
                context, fn = self._handed.popleft()
                call_safely(context.run, fn)
        finally:  # one may have been cancelled; the others are called all the same
            if self._handed:
                self._wake()

    def later(self, seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
        """Call a function on the loop after some seconds; gives what stops it. Any thread."""
        if self._loop is None:  # not up yet, or gone: a question must end all the same
            return call_later(seconds, fn)
        return self._deadlines.add(seconds, fn)

    def stop(self, limit: float = 5.0) -> None:
        """End the service and join the thread, which is left alone if busy after the limit."""
        self._stopped = True  # `_serve` looks at it once `soon` would be heard
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
        except BaseException as error:  # the top of a thread: it belongs to `started`
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
            self._handed.clear()


def listen(port: int) -> socket.socket:
    """Make the listening socket; 0 is any free port. StartError says why there is none.

    Tokens travel in the clear, so only this computer reaches it.
    """
    # asyncio sets TCP_NODELAY only where the protocol is named, and without it each call waits
    # 44 ms for a delayed acknowledgement (measured; `Transport._set_nodelay` in base_events.py)
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if sys.platform == "win32":  # where with the other one a second program could take the port
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
