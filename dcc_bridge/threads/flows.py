"""Flows: functions that wait, written once for a thread and for a coroutine. Any thread.

A flow is a generator that yields each future for which it has to wait. `run_sync` drives a flow on
a thread, `run_async` in a coroutine. A function that skills call is written as a flow::

    @blocking
    def ask_sync(question): ...  # has `answer = yield future, None` in its body

    ask = awaiting(ask_sync)

The context variable `current` has the call in whose skill the code runs. A started bridge has
installed its `MainThread` here, which a flow must not stop.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, cast

from dcc_bridge.errors import BrokenSkill, StartError, WrongThread

if TYPE_CHECKING:  # skills import this, and need none of it
    from dcc_bridge.threads.main_thread import MainThread

P = ParamSpec("P")
T = TypeVar("T")
Wait = tuple[Future[Any], float | None]
"""A future, and the seconds in which the future's job must begin if a thread blocks; or None."""
Flow = Generator[Wait, Any, T]
"""A generator that yields futures, and is sent their results."""


class SceneAccess(Protocol):
    """The access of a call to the scene, which belongs to the main thread. Any thread."""

    def edit(self, fn: Callable[[], T]) -> Future[T]:
        """Run a part of the call on the main thread, in an undo step of the call."""

    def look(self, fn: Callable[[], T]) -> Future[T]:
        """Run a function on the main thread that only reads the scene."""


class RunningCall(Protocol):
    """A call that runs, as far as threads know calls."""

    @property
    def control(self) -> SceneAccess:
        """The call's access to the scene."""


# The call in whose skill the code runs; None outside of any call.
current: ContextVar[RunningCall | None] = ContextVar("dcc_bridge_call", default=None)
# Whether a skill file is being imported here: then there is no call that could wait.
importing: ContextVar[bool] = ContextVar("dcc_bridge_importing", default=False)
_main: MainThread | None = None


def install(main: MainThread) -> Callable[[], None]:
    """Set the main thread of this process.

    Returns:
        A function that removes the main thread.

    Raises:
        StartError: A bridge is running in this process already.
    """
    global _main
    if _main is not None:
        raise StartError("A bridge is already running in this process; stop it first.")
    _main = main

    def remove() -> None:
        global _main
        if _main is main:
            _main = None

    return remove


def main_thread() -> MainThread | None:
    """Return the main thread of this process; None where no bridge runs."""
    return _main


def run_sync(flow: Flow[T], name: str) -> T:
    """Run a flow, and block at each future that it yields.

    Args:
        flow: The flow.
        name: The name of the public function that was called, without "_sync".

    Raises:
        WrongThread: The caller is a coroutine, and would stop the loop that brings the answer.
        Busy: The main thread did not begin a job in time.
        BrokenSkill: The caller is the top level of a skill file.
    """
    _refuse_at_import()
    main = _main
    if main is not None:
        refuse_in_coroutine(main, name)
    resume: Callable[[Any], Wait] = flow.send
    value: Any = None
    try:
        while True:
            future, limit = resume(value)
            assert main is not None  # without a bridge there is nothing to wait for
            try:
                value = main.wait(future, limit)
                resume = flow.send
            except BaseException as error:  # noqa: BLE001 - the flow cleans up, and raises it again
                future.cancel()
                value = error
                resume = flow.throw
    except StopIteration as stop:
        return cast("T", stop.value)


async def run_async(flow: Flow[T], name: str) -> T:
    """Run a flow, and await each future that it yields.

    Args:
        flow: The flow.
        name: The name of the public function that was called.

    Raises:
        WrongThread: The coroutine's loop runs in a job, and so stops the main thread.
        BrokenSkill: The caller is the top level of a skill file.
    """
    _refuse_at_import()
    _refuse_on_job_stack(
        f"await {name}(...) would stop the main thread, which has to bring its answer. "
        f"In a skill that runs there use: {name}_sync(...)."
    )
    resume: Callable[[Any], Wait] = flow.send
    value: Any = None
    try:
        while True:
            future, _ = resume(value)
            try:
                value = await wrap_future(future)
                resume = flow.send
            except BaseException as error:  # noqa: BLE001 - the flow cleans up, and raises it again
                value = error
                resume = flow.throw
    except StopIteration as stop:
        return cast("T", stop.value)


def blocking(flow: Callable[P, Flow[T]]) -> Callable[P, T]:
    """Return the function that waits for the end of a flow, whose name ends in "_sync".

    See `run_sync` for what it raises.
    """

    @functools.wraps(flow)
    def fn(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_sync(flow(*args, **kwargs), flow.__name__.removesuffix("_sync"))

    _sign(fn, flow)
    return fn


def awaiting(sync: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return the coroutine function that does the same as a `blocking` one.

    See `run_async` for what it raises.
    """
    flow = cast("Callable[P, Flow[T]]", inspect.unwrap(sync))
    name = flow.__name__.removesuffix("_sync")

    @functools.wraps(flow)
    async def fn(*args: P.args, **kwargs: P.kwargs) -> T:
        return await run_async(flow(*args, **kwargs), name)

    fn.__name__ = name
    fn.__qualname__ = name
    first_line = f"Do in an async skill what `{name}_sync` does in others; it is awaited."
    fn.__doc__ = f"{first_line}\n\n{inspect.getdoc(flow)}"
    _sign(fn, flow)
    return fn


def _sign(fn: Any, flow: Callable[..., Flow[Any]]) -> None:
    """Set the signature that help() and editors show: the flow's, with the flow's result."""
    signature = inspect.signature(flow)
    result_type = signature.return_annotation.removeprefix("Flow[").removesuffix("]")
    fn.__signature__ = signature.replace(return_annotation=result_type)


async def on_main(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Reach the scene from an async skill: run a function on the host's main thread.

    What it changes is an undo step of the skill. Called on the worker's loop.

    Args:
        fn: It is run as a job of the main thread, once no other skill runs there.
        args: What it is called with.
        kwargs: The same, by name.

    Returns:
        What the function returned; what it raised is raised here.

    Raises:
        WrongThread: It was called outside a skill, or its loop stops the main thread.
    """
    call = current.get()
    if call is None:
        raise WrongThread("on_main is for async skills; here there is no call.")
    _refuse_on_job_stack(
        "on_main would wait for the main thread, which its loop stops. "
        "This skill already runs there: call the function itself."
    )
    return await wrap_future(call.control.edit(lambda: fn(*args, **kwargs)))


async def wrap_future(future: Future[T]) -> T:
    """Await a future of another thread; a future that is done costs no turn of the loop."""
    if future.done() and not future.cancelled():
        return future.result()
    import asyncio  # 50 ms that `import dcc_bridge` need not cost; a coroutine has it already

    return await asyncio.wrap_future(future)


def refuse_without_call(what: str) -> None:
    """Raise WrongThread on a thread that belongs to no call: its edits would be no call's.

    Args:
        what: The function that was called, for the message.
    """
    if _main is not None and not _main.is_current and current.get() is None:
        raise WrongThread(
            f"{what} belongs to the call of a skill, and this thread to none, so what it changes "
            "could not be undone with it. Start the thread with: carry(fn)."
        )


def refuse_in_coroutine(main: MainThread, name: str) -> None:
    """Raise WrongThread in a coroutine: its event loop has to bring the answer.

    Args:
        main: The main thread.
        name: The name of the public function that was called, without "_sync".
    """
    asyncio = sys.modules.get("asyncio")
    if main.job is not None or asyncio is None:
        return
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs on this thread
        return
    if task is not None or not main.is_current:
        raise WrongThread(
            f"{name}_sync would stop the loop that brings its answer. "
            f"In a coroutine use: await {name}(...)."
        )


def _refuse_on_job_stack(why: str) -> None:
    """Raise WrongThread in a loop that a job runs on its own stack.

    A coroutine without a call is the host's own: its loop goes on while a skill shows a dialog.
    """
    if _main is not None and _main.job is not None and current.get() is not None:
        raise WrongThread(why)


def _refuse_at_import() -> None:
    """Raise BrokenSkill while a file is imported: all calls of its skills would wait as well."""
    if importing.get():
        raise BrokenSkill("It asks when it is imported; ask inside the function.")
