"""The bridge of this process, as skills reach it: one at most. Any thread, but for `install`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from dcc_bridge.elicitation.call import carried_loss, current
from dcc_bridge.errors import StartError, WrongThread

if TYPE_CHECKING:  # skills import this, and need none of it
    from dcc_bridge.elicitation.broker import Broker
    from dcc_bridge.elicitation.web.desk import Desk
    from dcc_bridge.host import Host
    from dcc_bridge.threads import MainThread

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Installed:
    """What asking needs.

    Attributes:
        broker: Puts questions.
        main: The way to the main thread.
        host: Whose scene it is.
        desk: Gives out pages of this application, or None where there is no server.
    """

    broker: Broker
    main: MainThread
    host: Host
    desk: Desk | None = None


_installed: Installed | None = None


def install(
    broker: Broker, main: MainThread, host: Host, desk: Desk | None = None
) -> Callable[[], None]:
    """Let skills ask through a broker. Main thread.

    Returns:
        What takes it away again.

    Raises:
        StartError: There is one already in this process.
    """
    global _installed
    if _installed is not None:
        raise StartError("A bridge is already running in this process; stop it first.")
    mine = _installed = Installed(broker, main, host, desk)

    def remove() -> None:
        global _installed
        if _installed is mine:
            _installed = None

    return remove


def bridge() -> Installed | None:
    """Give the bridge of this process, or None where a skill's function runs by itself."""
    return _installed


def look_sync(fn: Callable[[], T]) -> T:
    """Run something that only reads the scene on the main thread, and wait for it.

    Raises:
        Busy: The main thread did not come to it as long as a call may wait there.
    """
    here = _installed
    if here is None or here.main.is_current:
        return fn()
    look = here.main.submit(fn, name="a look at the scene", read=True)
    return here.main.wait(look, here.broker.settings.call_deadline)


async def look(fn: Callable[[], T]) -> T:
    """Run something that only reads the scene on the main thread."""
    here = _installed
    if here is None:
        return fn()
    return await arrival(here.main.submit(fn, name="a look at the scene", read=True))


async def on_main(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Reach the scene from an async skill: run a function on the host's main thread.

    What it changes is an undo step of the skill.

    Raises:
        WrongThread: It was called outside a skill.
    """
    call = current.get()
    if call is None:
        raise WrongThread(
            "on_main belongs into an async skill; elsewhere there is no call to be of."
        )
    loses = call.losing_here  # told by this stack, which the job has not

    def there() -> T:
        carried_loss.set(loses or carried_loss.get())
        return fn(*args, **kwargs)

    result: T = await arrival(call.edit(there))
    return result


async def arrival(future: Future[T]) -> T:
    """Wait for a future in a coroutine."""
    import asyncio  # 50 ms that `import dcc_bridge` need not cost; a coroutine has it already

    return await asyncio.wrap_future(future)


def refuse_in_coroutine(main: MainThread, instead: str) -> None:
    """Refuse to block where that would stop the answer itself.

    Raises:
        WrongThread: The caller is a coroutine, or on a loop that is not the main thread's.
    """
    asyncio = sys.modules.get("asyncio")
    if main.job is not None or asyncio is None:
        return
    try:
        task = asyncio.current_task()
    except RuntimeError:
        return
    if task is not None or not main.is_current:
        raise WrongThread(
            f"{instead}_sync would stop the loop that brings its answer. "
            f"In a coroutine use: await {instead}(...)."
        )
