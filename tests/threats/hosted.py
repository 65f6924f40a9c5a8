"""A host in a process of its own, to be killed: its person never answers. Main thread.

Takes the folder of the running hosts; prints its port and a token once it is ready.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path
from threading import Event

from dcc_bridge import elicit_form_sync, skill
from tests.live import live
from tests.server.skills import CONFIRM
from tests.stand_ins import FakeHost, Person
from tests.threats.raw import Raw


@skill(risk="edit")
def work() -> str:
    """Work for a while, then ask."""
    time.sleep(0.05)
    return elicit_form_sync("Go on?", CONFIRM).action


if __name__ == "__main__":
    over = Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    at_host = {"host": FakeHost(has_ui=True), "presenter": Person(), "input": "host"}
    with live(Path(sys.argv[1]), work, **at_host) as running:
        raw = Raw.to(running)
        print(raw.port, raw.token, flush=True)
        running.until(over.is_set, 600)
