"""The bridge of this process, as skills reach it, and how they wait for it. Any thread.

There is one bridge at most. A flow is a generator that yields the futures it has to wait for;
`run_sync` drives it on a thread, `run_async` in a coroutine. `blocking` and `awaiting` make of one
the two functions that skills call.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from dcc_bridge.consent.call import current
from dcc_bridge.errors import BrokenSkill, StartError, WrongThread

if TYPE_CHECKING:  # skills import this, and need none of it
    from dcc_bridge.config import Settings
    from dcc_bridge.elicitation.ask_secret import Desk
    from dcc_bridge.elicitation.broker import Broker
    from dcc_bridge.host import Host
    from dcc_bridge.threads.main_thread import MainThread

P = ParamSpec("P")
T = TypeVar("T")
Wait = tuple[Future[Any], float | None]  # and the seconds that a blocked thread gives it to begin
Flow = Generator[Wait, Any, T]  # alike on a thread and in a coroutine; its driver waits for it
importing: ContextVar[bool] = ContextVar("dcc_bridge_importing", default=False)
_installed: ElicitationContext | None = None


@dataclass(frozen=True, slots=True)
class ElicitationContext:
    """What asking needs of the bridge of this process."""

    broker: Broker
    main: MainThread  # the way to the main thread
    host: Host  # whose scene it is
    desk: Desk | None = None  # gives out pages; None where there is no server

    @property
    def settings(self) -> Settings:
        """How the bridge behaves."""
        return self.broker.settings


def install(
    broker: Broker, main: MainThread, host: Host, desk: Desk | None = None
) -> Callable[[], None]:
    """Let skills ask through a broker; gives what takes it away. StartError if there is one."""
    global _installed
    if _installed is not None:
        raise StartError("A bridge is already running in this process; stop it first.")
    mine = _installed = ElicitationContext(broker, main, host, desk)

    def remove() -> None:
        global _installed
        if _installed is mine:
            _installed = None

    return remove


def current_context() -> ElicitationContext | None:
    """Return the bridge of this process, as skills reach it. Any thread.

    Returns:
        It, or None where a skill's function runs by itself.

    Raises:
        Nothing.
    """
    return _installed


def run_sync(flow: Flow[T], name: str) -> T:
    """Run a flow, and block at each future that it yields.

    `name` is the public function that was called, without "_sync".

    Raises:
        WrongThread: It was called in a coroutine, which would stop the loop that brings its answer.
        Busy: The main thread did not come to it as long as a call may wait there.
        BrokenSkill: It was called by the top level of a skill file.
    """
    _refuse_at_import()
    if (context := current_context()) is not None:
        refuse_in_coroutine(context.main, name)
    resume: Callable[[Any], Wait] = flow.send
    value: Any = None
    try:
        while True:
            future, limit = resume(value)
            assert context is not None  # without a bridge there is nothing to wait for
            try:
                resume, value = flow.send, context.main.wait(future, limit)
            except BaseException as error:  # noqa: BLE001 - the flow cleans up, and raises it again
                future.cancel()
                resume, value = flow.throw, error
    except StopIteration as stop:
        return cast("T", stop.value)


async def run_async(flow: Flow[T], name: str) -> T:
    """Run a flow for a public function of that name, and await each future that it yields.

    Raises:
        WrongThread: Its loop stops the main thread.
        BrokenSkill: It was called by the top level of a skill file.
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
                resume, value = flow.send, await wrap_future(future)
            except BaseException as error:  # noqa: BLE001 - the flow cleans up, and raises it again
                resume, value = flow.throw, error
    except StopIteration as stop:
        return cast("T", stop.value)


def blocking(flow: Callable[P, Flow[T]]) -> Callable[P, T]:
    """Make of a flow, named with "_sync", the function that waits for its end. See `run_sync`."""

    @functools.wraps(flow)
    def fn(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_sync(flow(*args, **kwargs), flow.__name__.removesuffix("_sync"))

    _sign(fn, flow)
    return fn


def awaiting(sync: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Make the twin of a `blocking` function that is awaited. See `run_async`."""
    flow = cast("Callable[P, Flow[T]]", inspect.unwrap(sync))
    name = flow.__name__.removesuffix("_sync")

    @functools.wraps(flow)
    async def fn(*args: P.args, **kwargs: P.kwargs) -> T:
        return await run_async(flow(*args, **kwargs), name)

    fn.__name__ = fn.__qualname__ = name
    does = f"Do in an async skill what `{name}_sync` does in others; it is awaited."
    fn.__doc__ = f"{does}\n\n{inspect.getdoc(flow)}"
    _sign(fn, flow)
    return fn


def _sign(fn: Any, flow: Callable[..., Flow[Any]]) -> None:
    """Have help() and editors show what a flow ends in as what the function returns."""
    signature = inspect.signature(flow)
    ends_in = signature.return_annotation.removeprefix("Flow[").removesuffix("]")
    fn.__signature__ = signature.replace(return_annotation=ends_in)


def look(fn: Callable[[], T]) -> Flow[T]:
    """Run something that only reads the scene on the main thread."""
    context = current_context()
    if context is None or context.main.is_current:
        return fn()
    call, limit = current.get(), context.broker.settings.client_deadline
    name = "a look at the scene"
    future = call.control.look(fn) if call else context.main.submit(fn, name=name, read=True)
    return cast("T", (yield future, limit))


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
    """Await a future of another thread; one that is done costs no turn of the loop."""
    if future.done() and not future.cancelled():
        return future.result()
    import asyncio  # 50 ms that `import dcc_bridge` need not cost; a coroutine has it already

    return await asyncio.wrap_future(future)


def refuse_without_call(what: str) -> None:
    """Refuse what would reach the scene from a thread of no call: nobody would answer for it."""
    if _installed is not None and not _installed.main.is_current and current.get() is None:
        raise WrongThread(
            f"{what} belongs to the call of a skill, and this thread to none, so what it changes "
            "could not be undone with it. Start the thread with: carry(fn)."
        )


def refuse_in_coroutine(main: MainThread, name: str) -> None:
    """Refuse to block the event loop of a coroutine, which has to bring the answer."""
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
    """Refuse to await the main thread in a loop that a job runs on its own stack.

    A coroutine without a call is the host's own: its loop goes on where a skill shows a dialog.
    """
    context = current_context()
    if context is not None and context.main.job is not None and current.get() is not None:
        raise WrongThread(why)


def _refuse_at_import() -> None:
    """Refuse to ask where no call is: whoever wants a skill of the file would wait as well."""
    if importing.get():
        raise BrokenSkill("It asks when it is imported; ask inside the function.")
