"""A host in a process of its own, to be killed: its person never answers. Main thread.

Takes the folder of the running hosts; prints its URL, a token and its process once it is ready.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

from dcc_bridge import elicit_form_sync, skill
from dcc_bridge.testing import FakeHost, ScriptedPresenter
from tests.live import Live
from tests.server.skills import CONFIRM


@skill(risk="edit")
def work() -> str:
    """Work for a while, then ask."""
    time.sleep(0.05)
    return elicit_form_sync("Go on?", CONFIRM).action


def main(runtime: Path) -> None:
    """Serve until SIGTERM."""
    presenter = ScriptedPresenter()
    running = Live(runtime, work, host=FakeHost(has_ui=True), presenter=presenter, input="host")
    over = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(True))
    print(running.bridge.url, running.bridge.instance.token("test"), flush=True)
    running.until(lambda: bool(over), 600)
    running.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
