"""The bridge of this process, as skills reach it. Any thread. There is one at most."""

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
    remove_main = flows.install(main)
    mine = _installed = ElicitationContext(broker, main, host, desk)

    def remove() -> None:
        global _installed
        if _installed is mine:
            _installed = None
            remove_main()

    return remove


def current_context() -> ElicitationContext | None:
    """Return the bridge of this process, as skills reach it. Any thread.

    Returns:
        It, or None where a skill's function runs by itself.

    Raises:
        Nothing.
    """
    return _installed


def running_caller(kind: type[C]) -> C | None:
    """Return the call in whose skill the code runs; None outside of any.

    Args:
        kind: What is known of it here: `Caller`, or what extends it.
    """
    running = flows.current.get()
    return running if isinstance(running, kind) else None


def caller_here(kind: type[C]) -> C:
    """Return the call in whose skill the code runs, or a new one of the host's own.

    Args:
        kind: What is known of it here: `Caller`, or what extends it.
    """
    running = running_caller(kind)
    if running is not None:
        return running
    context = current_context()
    if context is None or context.main.is_current:
        return kind(skill="host", title="The host itself")
    return kind(skill="host", title="Unknown", client=BACKGROUND)  # whatever started it


def look(fn: Callable[[], T]) -> Flow[T]:
    """Run something that only reads the scene on the main thread."""
    context = current_context()
    if context is None or context.main.is_current:
        return fn()
    call = flows.current.get()
    limit = context.broker.settings.client_deadline
    name = "a look at the scene"
    future = call.control.look(fn) if call else context.main.submit(fn, name=name, read=True)
    return cast("T", (yield future, limit))
