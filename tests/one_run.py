"""A runner with its main thread and its broker, as a bridge has them, without a server."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from dcc_bridge.audit.log import Auditor, nowhere
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.host import Host
from dcc_bridge.skills.run import Run
from dcc_bridge.skills.runner import Runner
from dcc_bridge.skills.skill import Skill
from dcc_bridge.threads.main_thread import MainThread
from tests.stand_ins import Person

SETTINGS: Final = Settings(dialogs_per_minute=10**6, pending_questions=50)


def no_loop(coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
    """Refuse to run a coroutine: there is no worker."""
    raise AssertionError("no skill here is a coroutine")


def no_clock(seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
    """Never ring."""
    return lambda: None


def no_wake(delay: float) -> None:
    """Do nothing: the test serves the main thread by itself."""


@dataclass(frozen=True)
class OneRun:
    """What one call after another runs with; this thread is the main one.

    Attributes:
        main: The queue to the main thread.
        broker: Asks the person.
        runner: Runs skills.
    """

    main: MainThread
    broker: Broker
    runner: Runner

    def start(self, skill: Skill, call: Call | None = None) -> Run:
        """Start a call of a skill without arguments."""
        return self.runner.start(skill, {}, call or call_of(skill))


def call_of(skill: Skill) -> Call:
    """Return a call of a skill that has not begun."""
    return Call(skill.name, skill.title, skill.metadata.risk, Client("test"))


@contextmanager
def one_run(
    host: Host,
    person: Person,
    settings: Settings = SETTINGS,
    *,
    auditor: Auditor = nowhere,
    spawn: Callable[[Coroutine[Any, Any, Any]], Future[Any]] = no_loop,
    wake: Callable[[float], None] = no_wake,
) -> Iterator[OneRun]:
    """Have a runner in a host, before which a person sits."""
    main = MainThread(wake)
    broker = Broker(settings, host=person, clock=no_clock, auditor=auditor)
    remove = context.install(broker, main, host)
    try:
        runner = Runner(host, main, settings, spawn, no_clock, auditor=auditor)
        yield OneRun(main, broker, runner)
    finally:
        broker.close()
        main.close()
        remove()
