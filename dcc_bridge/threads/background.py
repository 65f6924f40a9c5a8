"""A thread for one function. Any thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from dcc_bridge.threads.jobs import QueuedJob

T = TypeVar("T")


def run_in_thread(fn: Callable[[], T], name: str) -> Future[T]:
    """Run a function on a daemon thread of its own, in a copy of the caller's context.

    The threads of anyio's pool are no daemons: one that is stuck in a network drive, or in a skill,
    would keep the host from ending.

    Args:
        fn: The function.
        name: The end of the thread's name.

    Returns:
        The result. If the future is cancelled before the function begins, it never begins.

    Raises:
        RuntimeError: The system gives no more threads.
    """
    job = QueuedJob(fn, name, read=True)
    threading.Thread(target=job.run, name=f"dcc_bridge {name}", daemon=True).start()
    return job.future
