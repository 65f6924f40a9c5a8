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
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, Protocol, TypeVar

import anyio

from dcc_bridge.errors import BridgeClosed, StartError

log = logging.getLogger(__name__)
T = TypeVar("T")
LOOPBACK: Final = "127.0.0.1"


class Service(Protocol):
    """What runs on the worker until it is told to stop."""

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve; call `ready` once requests are taken."""

    def stop(self) -> None:
        """Make `run` return soon. On the worker."""


class Worker:
    """One daemon thread and its loop."""

    def __init__(self, make: Callable[[Worker], Service]) -> None:
        """Prepare; nothing runs yet.

        Args:
            make: Makes the service; called on the worker, so that its imports are done there.
        """
        self._make = make
        self._loop: asyncio.AbstractEventLoop | None = None
        self._service: Service | None = None
        self._stopped = False
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
        """Run a coroutine on the loop. Any thread.

        Raises:
            BridgeClosed: The worker is not running.
        """
        loop = self._loop
        if loop is None or loop.is_closed():
            coroutine.close()
            raise BridgeClosed
        return asyncio.run_coroutine_threadsafe(coroutine, loop)

    def soon(self, fn: Callable[[], object]) -> None:
        """Call a function on the loop, in its turn. Any thread; nothing happens once it ended."""
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # it was closed in this very moment
                loop.call_soon_threadsafe(fn)

    def later(self, seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
        """Call a function on the loop after some seconds. Any thread.

        Returns:
            What stops it.
        """
        waiting: list[asyncio.TimerHandle] = []

        def begin() -> None:
            waiting.append(asyncio.get_running_loop().call_later(seconds, fn))

        def cancel() -> None:
            for handle in waiting:
                handle.cancel()

        if self._loop is None:  # not up yet, or gone: a question must end all the same
            clock = threading.Timer(seconds, fn)
            clock.daemon = True
            clock.start()
            return clock.cancel
        self.soon(begin)
        return lambda: self.soon(cancel)

    def stop(self, limit: float = 5.0) -> None:
        """End the service and join the thread.

        Args:
            limit: Seconds to wait; a thread that is still busy then is left to the interpreter.
        """
        self._stopped = True  # `_serve` looks at it once `soon` would be heard
        service = self._service
        if service is not None:
            self.soon(service.stop)
        if self._thread.ident is not None and not self.is_current:
            self._thread.join(limit)

    def _run(self) -> None:
        try:
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


def listen(port: int, bind: str = LOOPBACK) -> socket.socket:
    """Make the listening socket.

    Args:
        port: Which one; 0 for any free one.
        bind: The address; any other one than `LOOPBACK` is refused.

    Raises:
        StartError: Other computers could connect, or the port is taken or may not be used.
    """
    if bind != LOOPBACK:
        raise StartError(
            f"bind={bind!r} is refused: the server listens on {LOOPBACK} only, because tokens "
            "travel in the clear. From another computer, forward the port with "
            f"`ssh -L PORT:{LOOPBACK}:PORT THIS_COMPUTER`, with the same number twice."
        )
    # asyncio sets TCP_NODELAY only where the protocol is named, and without it each call waits
    # 44 ms for a delayed acknowledgement (measured; `Transport._set_nodelay` in base_events.py)
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        sock.bind((bind, port))
        sock.listen(128)
    except (OSError, OverflowError) as error:
        sock.close()
        raise StartError(
            f"Port {port} cannot be used ({error}). Choose another one, or 0 for any free one."
        ) from error
    return sock
