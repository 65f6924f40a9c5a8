"""The context in which code asks: the bridge of this process, and the call that runs. Any thread.

A started bridge calls `install`. There is one bridge in a process at most. Skills that ask and look
at the scene reach the bridge by `current_context`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from dcc_bridge.elicitation.caller import BACKGROUND
from dcc_bridge.elicitation.question import Caller
from dcc_bridge.threads import flows
from dcc_bridge.threads.flows import Flow

if TYPE_CHECKING:  # skills import this, and need none of it
    from dcc_bridge.config import Settings
    from dcc_bridge.elicitation.broker import Broker
    from dcc_bridge.elicitation.desk import Desk
    from dcc_bridge.host import Host
    from dcc_bridge.threads.main_thread import MainThread

T = TypeVar("T")
C = TypeVar("C", bound=Caller)
_installed: ElicitationContext | None = None


@dataclass(frozen=True, slots=True)
class ElicitationContext:
    """The parts of the bridge that asking needs.

    Attributes:
        broker: Puts the questions.
        main: The way to the main thread.
        host: The application.
        desk: Makes pages; None where there is no server.
    """

    broker: Broker
    main: MainThread
    host: Host
    desk: Desk | None = None

    @property
    def settings(self) -> Settings:
        """The settings of the bridge."""
        return self.broker.settings


def install(
    broker: Broker, main: MainThread, host: Host, desk: Desk | None = None
) -> Callable[[], None]:
    """Let skills ask through a broker.

    Args:
        broker: Puts the questions.
        main: The way to the main thread.
        host: The application.
        desk: Makes pages; None where there is no server.

    Returns:
        A function that takes the broker away again; harmless the second time.

    Raises:
        StartError: A bridge runs in this process already.
    """
    global _installed
    remove_main = flows.install(main)
    context = ElicitationContext(broker, main, host, desk)
    _installed = context

    def remove() -> None:
        global _installed
        if _installed is context:
            _installed = None
            remove_main()

    return remove


def current_context() -> ElicitationContext | None:
    """Return the context of this process. Any thread. It raises nothing.

    Returns:
        The context of the bridge that runs; None where no bridge runs.
    """
    return _installed


def running_caller(kind: type[C]) -> C | None:
    """Return the call in whose skill the code runs; None outside of any call.

    Args:
        kind: The type of the call: `Caller`, or a subclass. A call of another type is ignored.
    """
    running = flows.current.get()
    if isinstance(running, kind):
        return running
    return None


def caller_here(kind: type[C]) -> C:
    """Return the call in whose skill the code runs, or a new one of the host's own.

    Args:
        kind: The type of the call: `Caller`, or a subclass.
    """
    running = running_caller(kind)
    if running is not None:
        return running
    context = current_context()
    if context is None or context.main.is_current:
        return kind(skill="host", title="The application itself")
    # An agent's skill may have started this thread, so the thread does not ask as the host.
    return kind(skill="host", title="Unknown", client=BACKGROUND)


def look(fn: Callable[[], T]) -> Flow[T]:
    """Run a function that only reads the scene, on the main thread.

    Returns:
        A flow with the function's result.
    """
    context = current_context()
    if context is None or context.main.is_current:
        return fn()
    call = flows.current.get()
    limit = context.broker.settings.deadline
    if call is not None:
        future = call.control.look(fn)
    else:
        future = context.main.submit(fn, name="a look at the scene", read=True)
    return cast("T", (yield future, limit))
