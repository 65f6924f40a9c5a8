"""A host in a process of its own whose calls outlive their clients, and that can be killed.

``python -m tests.clients.long_host FOLDER`` prints its id once it takes requests. What every
call did is a line in the folder's `LEDGER`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from dcc_bridge import check_cancelled, confirm_sync, report_progress, skill
from tests.client.proxy.until_killed import serve
from tests.stand_ins import FakeHost

LEDGER: Final = "ledger"
LATE: Final = 3.5  # seconds before a late question; then the call is a task


class Long(FakeHost):
    """A scene of cameras."""

    name = "Long"


def skills(folder: Path) -> list[Callable[..., Any]]:
    """Make what the host can do."""

    def note(*words: str) -> None:
        with open(folder / LEDGER, "ab", buffering=0) as ledger:
            ledger.write((" ".join(words) + "\n").encode())

    def work(seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            report_progress(1, 2, "half of it")
            check_cancelled()
            time.sleep(0.02)

    def delete(name: str) -> str:
        confirm_sync("Delete this camera?", items=["cam1"], verb="Delete")
        note(name, "deleted")
        return "deleted cam1"

    @skill(risk="read", thread="any", timeout=None)
    def bake(seconds: float) -> str:
        """Take long."""
        note("bake", "began")
        work(seconds)
        note("bake", "ended")
        return "baked"

    @skill(risk="destructive", confirms=True)
    def delete_at_once() -> str:
        """Ask and delete."""
        note("delete_at_once", "began")
        return delete("delete_at_once")

    @skill(risk="destructive", confirms=True, thread="any")
    def delete_late() -> str:
        """Work, then ask and delete."""
        note("delete_late", "began")
        work(LATE)
        return delete("delete_late")

    return [bake, delete_at_once, delete_late]


if __name__ == "__main__":
    runtime = Path(sys.argv[1])
    serve(runtime, Long(["cam1"]), lambda bridge: skills(runtime))
