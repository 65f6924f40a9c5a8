"""A bridge with a skill in a Qt host, complete: tokens, policy, and the main thread.

Importing this module imports what a plug-in of a host would import, and neither mcp nor uvicorn.
"""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from tempfile import TemporaryDirectory

from dcc_bridge import skill
from dcc_bridge.bridge import Bridge
from dcc_bridge.config import Settings
from dcc_bridge.qt.event_loop import HostLoop
from dcc_bridge.skills.skill import describe
from tests.bench.agent import Server
from tests.stand_ins import FakeHost


class BridgedServer:
    """A bridge. Main thread.

    Attributes:
        started: Where it is, as soon as requests are taken.
    """

    def __init__(self) -> None:
        """Start it."""
        self._runtime = TemporaryDirectory()
        self._loop = HostLoop()
        settings = Settings(runtime=Path(self._runtime.name))
        self.main = self._loop.main  # the way to the main thread
        self._bridge = Bridge(FakeHost(), self.main, settings=settings)
        self._bridge.registry.add(describe(ping))
        self.started: Future[Server] = Future()
        self._bridge.start().add_done_callback(self._note_start)

    def stop(self) -> None:
        """Stop it."""
        self._bridge.stop()
        self._loop.close()
        self._runtime.cleanup()

    def _note_start(self, started: Future[None]) -> None:
        try:
            started.result()
        except Exception as error:  # noqa: BLE001 - it belongs to whoever waits for the start
            self.started.set_exception(error)
        else:
            token = self._bridge.instance.token("bench")
            self.started.set_result(Server(self._bridge.url, token))


@skill(risk="read")
def ping() -> str:
    """Say that the server is there."""
    return "pong"
