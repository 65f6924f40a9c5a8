"""The port through which the panel reads and steers a bridge. Without Qt.

`dcc_bridge.bridge.Bridge` offers it; a test may offer less than a server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from dcc_bridge.callbacks import Unsubscribe
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.call import Client
from dcc_bridge.host import Host
from dcc_bridge.main_thread import MainThread
from dcc_bridge.skills.call_history import Recent


class Seen(Protocol):
    """A client as its last message showed it. Read from any thread."""

    @property
    def client(self) -> Client:
        """Its label, and what it says of itself."""
        ...

    @property
    def form(self) -> bool:
        """Whether it says that it can draw a form."""
        ...

    @property
    def at(self) -> float:
        """When its last message came, in seconds since the epoch."""
        ...


class Clients(Protocol):
    """The clients that spoke to the server. Read from any thread."""

    @property
    def seen(self) -> Sequence[Seen]:
        """The clients, the one that spoke last first."""
        ...


class Port(Protocol):
    """A bridge, as the panel sees it. Everything here is called on the main thread."""

    @property
    def host(self) -> Host:
        """The application."""
        ...

    @property
    def main(self) -> MainThread:
        """The way to its main thread."""
        ...

    @property
    def broker(self) -> Broker:
        """What puts questions, with the grants and the mutes."""
        ...

    @property
    def recent(self) -> Recent:
        """The calls."""
        ...

    @property
    def clients(self) -> Clients:
        """Who is connected."""
        ...

    @property
    def address(self) -> str | None:
        """Where agents reach it, or None while they cannot."""
        ...

    @property
    def is_paused(self) -> bool:
        """Whether no edit may begin for now."""
        ...

    def pause(self) -> None:
        """Let no edit begin."""
        ...

    def resume(self) -> None:
        """Let edits begin again."""
        ...

    def cancel(self, call: str) -> object:
        """End a call that is queued or runs, by its id."""
        ...

    def undo(self, label: str) -> bool:
        """Undo an agent's step if it is on top of the stack, and say whether it was."""
        ...

    def watch(self, fn: Callable[[], None]) -> Unsubscribe:
        """Call a function, on any thread, whenever any of this changes; gives what ends that."""
        ...
