"""A broker whose clocks stand still, for tests of questions without a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dcc_bridge.audit.log import Auditor, nowhere
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Question, Reply, Route
from dcc_bridge.elicitation.routing import SessionAnswers
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.headless import Pump
from dcc_bridge.threads.flows import current
from tests.stand_ins import FakeHost

FORM = parse(
    {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}
)
YES = Reply("accept", {"confirm": True})
NO = Reply("decline")
WRONG = Reply("accept", {"confirm": "yes"})
CLAUDE = Client("claude", "Claude Code", "2.0")


class Clock:
    """A timer that strikes when a test lets it."""

    def __init__(self) -> None:
        self.waiting: list[tuple[float, Callable[[], None]]] = []

    def __call__(self, seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
        entry = (seconds, fn)
        self.waiting.append(entry)
        return lambda: self.waiting.remove(entry) if entry in self.waiting else None

    def strike(self) -> None:
        for _, fn in list(self.waiting):
            fn()


class Time:
    """A monotonic clock that goes on when a test moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def ask(
    *,
    host: Any = None,
    client: Any = None,
    settings: Settings | None = None,
    call: Call | None = None,
    fallback: dict[str, Any] | None = None,
    auditor: Auditor = nowhere,
    grants: SessionAnswers | None = None,
    **more: Any,
) -> tuple[Any, Clock, Broker]:
    """Put a question, and return its future, the clock and the broker."""
    clock = Clock()
    broker = Broker(settings, host=host, clock=clock, auditor=auditor, grants=grants)
    asking = call or Call("delete", "Delete", client=CLAUDE)
    asking.route = replace(asking.route, form=client)
    form = replace(FORM, fallback=fallback)
    return broker.ask(Question("Sure?", asking, form, **more)), clock, broker


def ask_both(host: Any, client: Any) -> tuple[Any, Clock, Broker]:
    """Put a question to the host and to a client that can withdraw it, at once."""
    call = Call("x", "X", client=CLAUDE, route=Route(withdrawable=True))
    return ask(host=host, client=client, call=call, settings=Settings(input="either"))


@contextmanager
def asking(
    person: Any, host: FakeHost | None = None, call: Call | None = None, **broker: Any
) -> Iterator[Call]:
    """Be a skill on the main thread."""
    call = call or Call("delete", "Delete", "destructive")
    pump = Pump()
    remove = context.install(
        Broker(host=person, clock=Clock(), **broker), pump.main, host or FakeHost(["cam1"])
    )
    token = current.set(call)
    try:
        yield call
    finally:
        current.reset(token)
        remove()
