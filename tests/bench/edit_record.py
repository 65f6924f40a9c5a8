"""What the record adds to an edit: the runner alone, without a record, with one, and on a disk.

``python -m tests.bench.edit_record [--folder PLACE] [--calls N]``. No network and no client: it is
the run of one skill from the queue to its outcome. A read is measured beside it: nothing is to be
added there.
"""

from __future__ import annotations

import argparse
import operator
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
from dcc_bridge.testing import FakeHost
from tests.audit.dying import no_loop
from tests.bench.figures import over, paired, show, timed

COLUMNS = ("ms", "without p50", "with p50", "with p95", "added", "ratio")


class Unsynced(Disk):
    """A disk that nobody waits for."""

    def sync(self, opened: int) -> None:
        """Do nothing."""


def calling(one: Skill, host: FakeHost, auditor: Auditor) -> Callable[[], None]:
    """Make a function that runs a skill once."""
    pump = Pump()
    runner = Runner(host, pump.main, Settings(), no_loop, _no_clock, auditor=auditor)

    def call() -> None:
        run = runner.start(one, {}, Call(one.name, one.title, one.metadata.risk, Client("bench")))
        pump.run(run.outcome.done)
        assert run.outcome.result().status == "done"

    return call


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
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--calls", type=int, default=50, help="calls in a round")
    parser.add_argument("--rounds", type=int, default=10)
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=told.folder) as folder:
        book, unsynced = AuditLog(Path(folder)), AuditLog(Path(folder))
        unsynced.disk = Unsynced()
        found = _measure({"synced": book, "not synced": unsynced}, told.rounds, told.calls)
        book.close()
        unsynced.close()
    show(f"{told.rounds} rounds of {told.calls} in {told.folder}", COLUMNS, found)


def _measure(
    books: dict[str, AuditLog], rounds: int, calls: int
) -> list[tuple[str, float, float, float, str, str]]:
    taken: dict[tuple[str, str], list[list[float]]] = defaultdict(list)
    for _ in range(rounds):
        auditors: dict[str, Auditor] = {"": nowhere, **books}
        for name, auditor in auditors.items():
            host = FakeHost(["a"])
            for one in skills(host):
                taken[one.name, name].append(timed(calling(one, host, auditor), calls))
    rows = []
    for kind, name in [("edit", name) for name in books] + [("read", "synced")]:
        bare, ours = taken[kind, ""], taken[kind, name]
        more, ratio = paired(ours, bare, operator.sub), paired(ours, bare, operator.truediv)
        figures = over(bare, 50), over(ours, 50), over(ours, 95)
        rows.append((f"{kind}, {name}", *figures, f"{more:+.3f}", f"{ratio:.2f} x"))
    return rows


if __name__ == "__main__":
    main()
