"""Processes that edit until they are killed: ``python -m tests.audit.dying``.

It reads the names of folders, one a line. For each it forks a process that edits for ever, says its
number, and takes it away once it is dead. What such a process changes in its scene it writes into
``scene`` in that folder, with the id of the call, and syncs it; its record is in ``audit``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Coroutine
from concurrent.futures import Future
from itertools import cycle
from pathlib import Path
from typing import Any

from dcc_bridge import confirm_sync, skill
from dcc_bridge.audit.log import AuditLog
from dcc_bridge.callbacks import call_later
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call, running_call
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.headless import Pump
from dcc_bridge.skills.call_history import Outcome
from dcc_bridge.skills.runner import Runner
from dcc_bridge.skills.skill import Skill, describe
from tests.stand_ins import FakeHost, Person


def skills(host: FakeHost, scene: int) -> list[Skill]:
    """Make an edit and a deletion whose every change is on the disk when it was made."""

    def change(names: list[str]) -> None:
        call = running_call()
        assert call is not None
        host.items = names
        os.write(scene, f"{call.id}\n".encode())
        os.fsync(scene)

    @skill(risk="edit")
    def add() -> None:
        change([*host.items, "cam"])

    @skill(risk="destructive", confirms=True)
    def delete() -> None:
        confirm_sync("Delete them?", items=lambda: host.items)
        change([])

    return [describe(add), describe(delete)]


def edit_for_ever(folder: Path) -> None:
    settings = Settings(dialogs_per_minute=1_000_000)
    log, pump, host = AuditLog(folder / "audit"), Pump(), FakeHost(has_ui=True)
    scene = os.open(folder / "scene", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    person = Person(then=Reply("accept", {"confirm": True}))
    broker = Broker(settings, host=person, auditor=log)
    context.install(broker, pump.main, host)
    runner = Runner(host, pump.main, settings, no_loop, call_later, auditor=log)
    for called in cycle(skills(host, scene)):
        call = Call(called.name, called.title, called.metadata.risk, Client("dying"))
        run = runner.start(called, {}, call)
        pump.run(run.outcome.done)
        assert run.outcome.result().status == "done", run.outcome.result()


def no_loop(coroutine: Coroutine[Any, Any, Outcome]) -> Future[Outcome]:
    """Refuse to run one: there is no worker."""
    raise AssertionError("no skill here is a coroutine")


def main() -> None:
    """Fork a process for each folder."""
    if sys.platform == "win32":
        raise NotImplementedError
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            try:
                edit_for_ever(Path(line.strip()))
            finally:
                os._exit(1)
        print(pid, flush=True)
        os.waitpid(pid, 0)
        print("gone", flush=True)


if __name__ == "__main__":
    main()
