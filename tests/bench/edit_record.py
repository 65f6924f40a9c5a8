"""What the record adds to an edit: the runner alone, without a record, with one, and on a disk.

``python -m tests.bench.edit_record [--folder PLACE] [--calls N]``. No network and no client: it is
the run of one skill from the queue to its outcome. A read is measured beside it: nothing is to be
added there.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from dcc_bridge import skill
from dcc_bridge.audit.log import AuditLog, Auditor, Disk, nowhere
from dcc_bridge.config import Settings
from dcc_bridge.elicitation.call import Call, Client
from dcc_bridge.headless import Pump
from dcc_bridge.skills.runner import Runner
from dcc_bridge.skills.skill import Skill, describe
from tests.audit.dying import no_loop
from tests.bench.figures import more, options, over, show, timed
from tests.stand_ins import FakeHost

COLUMNS = ("ms", "without p50", "with p50", "with p95", "added", "ratio")


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


def main() -> None:
    """Measure and print."""
    folder_option = {"type": Path, "default": Path(tempfile.gettempdir())}
    chosen = options(__doc__, ("--folder", folder_option), rounds=10, calls=50)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        book, unsynced = AuditLog(Path(folder)), AuditLog(Path(folder))
        unsynced.disk = Unsynced()
        rows = _measure({"synced": book, "not synced": unsynced}, chosen.rounds, chosen.calls)
        book.close()
        unsynced.close()
    show(f"{chosen.rounds} rounds of {chosen.calls} in {chosen.folder}", COLUMNS, rows)


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
