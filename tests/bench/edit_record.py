"""What the record and the agreement cost an edit: the runner alone, no network and no client.

``python -m tests.bench.edit_record [--folder PLACE] [--calls N] [--prims N] [--rounds N]``. First
the run of one skill without a record, with one, and on a disk; a read is measured beside it, as
nothing is to be added there. Then a read, an edit and a destructive call on a USD scene of many
prims, with a person who answers at once; before the last of the reads the person edits by hand.
"""

from __future__ import annotations

import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pxr import Sdf

from dcc_bridge import confirm_sync, skill
from dcc_bridge.audit.log import AuditLog, Auditor, Disk, nowhere
from dcc_bridge.config import Settings
from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation import context
from dcc_bridge.elicitation.broker import Broker
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.headless import Pump
from dcc_bridge.skills.runner import Runner
from dcc_bridge.skills.skill import Skill, describe
from dcc_bridge.threads.main_thread import MainThread
from dcc_bridge_usd.host import UsdSession
from tests.audit.dying import no_loop
from tests.bench.figures import more, options, over, show, timed
from tests.stand_ins import FakeHost, Person

COLUMNS = ("ms", "without p50", "with p50", "with p95", "added", "ratio")
CALLS = 100  # with an agreement
BY_HAND = "read after an edit by hand"
SETTINGS = Settings(dialogs_per_minute=10**6)
YES = Reply("accept", {"confirm": True})


class Unsynced(Disk):
    """A disk that nobody waits for."""

    def sync(self, opened: int) -> None:
        """Do nothing."""


def calling(called: Skill, host: FakeHost, auditor: Auditor) -> Callable[[], None]:
    """Make a function that runs a skill once."""
    pump = Pump()
    runner = Runner(host, pump.main, Settings(), no_loop, _no_clock, auditor=auditor)

    def run_once() -> None:
        call = Call(called.name, called.title, called.metadata.risk, Client("bench"))
        run = runner.start(called, {}, call)
        pump.run(run.outcome.done)
        assert run.outcome.result().status == "done"

    return run_once


def _no_clock(seconds: float, fn: Callable[[], None]) -> Callable[[], None]:
    return lambda: None


def skills(host: FakeHost) -> tuple[Skill, Skill]:
    """Make an edit and a read."""

    @skill(risk="edit")
    def edit() -> None:
        """Edit."""
        host.items = ["b"] if host.items == ["a"] else ["a"]

    @skill(risk="read")
    def read() -> int:
        """Read."""
        return len(host.items)

    return describe(edit), describe(read)


def skills_of_a_scene(session: UsdSession) -> dict[str, Callable[..., Any]]:
    """Make a skill of each risk, by what is measured of it."""
    stage = session.stage

    @skill(risk="read")
    def read() -> str:
        """Look at a prim."""
        return str(stage.GetPrimAtPath("/World/p7").GetTypeName())

    @skill(risk="edit")
    def edit() -> None:
        """Give a camera another lens."""
        _set_lens(session)

    @skill(risk="destructive", confirms=True)
    def destroy() -> None:
        """Delete a prim and make it again."""
        (path,) = confirm_sync("Delete it?", items=["/World/p7"])
        stage.RemovePrim(path)
        stage.DefinePrim(path, "Camera")

    return {"read": read, "edit": edit, "destroy": destroy, BY_HAND: read}


def _set_lens(session: UsdSession) -> None:
    camera = session.stage.GetPrimAtPath("/World/p7")
    camera.GetAttribute("focalLength").Set(time.perf_counter())


def agreement(prims: int) -> dict[str, list[float]]:
    """Give the milliseconds of each run of a skill on a scene of so many prims."""
    session = UsdSession()
    calls = max(3, min(CALLS, 200_000 // prims))
    with Sdf.ChangeBlock():
        world = Sdf.CreatePrimInLayer(session.stage.GetRootLayer(), "/World")
        world.specifier = Sdf.SpecifierDef
        for number in range(prims):
            Sdf.PrimSpec(world, f"p{number}", Sdf.SpecifierDef, "Camera")
    main = MainThread(lambda delay: None)
    broker = Broker(SETTINGS, host=Person(then=YES))
    remove = context.install(broker, main, session)
    runner = Runner(session, main, SETTINGS, no_loop, _no_clock)
    taken: dict[str, list[float]] = {}
    for name, fn in skills_of_a_scene(session).items():
        called = describe(fn)
        taken[name] = []
        for _ in range(calls):
            if name == BY_HAND:
                _set_lens(session)
            call = Call(called.name, called.title, called.metadata.risk, Client("bench"))
            began = time.perf_counter()
            run = runner.start(called, {}, call)
            while not run.outcome.done():
                main.drain()
            taken[name].append(1000 * (time.perf_counter() - began))
            assert run.outcome.result().status == "done", run.outcome.result()
    remove()
    return taken


def main() -> None:
    """Measure and print."""
    folder_option = {"type": Path, "default": Path(tempfile.gettempdir())}
    chosen = options(__doc__, ("--folder", folder_option), rounds=10, calls=50, prims=2000)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        book, unsynced = AuditLog(Path(folder)), AuditLog(Path(folder))
        unsynced.disk = Unsynced()
        rows = _measure({"synced": book, "not synced": unsynced}, chosen.rounds, chosen.calls)
        book.close()
        unsynced.close()
    show(f"{chosen.rounds} rounds of {chosen.calls} in {chosen.folder}", COLUMNS, rows)
    rounds: dict[str, list[list[float]]] = defaultdict(list)
    for _ in range(chosen.rounds):
        for name, taken in agreement(chosen.prims).items():
            rounds[name].append(taken)
    title = f"{chosen.prims:,} prims, {chosen.rounds} rounds"
    show(
        title,
        ("", "ms p50", "ms p95"),
        [(it, over(of, 50), over(of, 95)) for it, of in rounds.items()],
    )


def _measure(books: dict[str, AuditLog], rounds: int, calls: int) -> list[tuple[object, ...]]:
    taken: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for _ in range(rounds):
        auditors: dict[str, Auditor] = {"": nowhere, **books}
        for name, auditor in auditors.items():
            host = FakeHost(["a"])
            for called in skills(host):
                times = timed(calling(called, host, auditor), calls)
                taken[called.name, name].append(times)
    rows: list[tuple[object, ...]] = []
    for kind, name in [("edit", name) for name in books] + [("read", "synced")]:
        bare, ours = taken[kind, ""], taken[kind, name]
        figures = over(bare, 50), over(ours, 50), over(ours, 95)
        rows.append((f"{kind}, {name}", *figures, *more(ours, bare)))
    return rows


if __name__ == "__main__":
    main()
