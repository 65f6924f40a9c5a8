"""The standalone host without a window. Main thread, except `Headless.stop`."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from dcc_bridge.bridge import Bridge
from dcc_bridge.cli import hosting, signals
from dcc_bridge.cli.hosting import OnReady, Opening
from dcc_bridge.threads import Pump

if TYPE_CHECKING:
    from dcc_bridge.hosts.standalone import UsdSession


class Headless:
    """A host whose main thread waits for work and does nothing else."""

    def __init__(self, session: UsdSession, opening: Opening) -> None:
        """Take the scene; nothing runs yet."""
        self._pump = Pump()
        self.is_stopping = False
        self.main = self._pump.main
        self.session = session
        self.bridge = Bridge(session, self.main, settings=opening.settings, skills=opening.skills)

    def stop(self) -> None:
        """End it soon. Any thread."""
        self.is_stopping = True
        self._pump.wake(0.0)

    def run(self, on_ready: OnReady) -> None:
        """Run until `stop`."""
        try:
            started = self.bridge.start()
            loaded = self.main.submit(lambda: None, name="The start")
            self._until(started, loaded)
            if not self.is_stopping:
                started.result()
                on_ready(self)
            self._until()
        finally:
            self.bridge.stop()

    def _until(self, *futures: Future[Any]) -> None:
        """Serve the main thread until the futures are done, or without any until `stop`."""
        for future in futures:
            future.add_done_callback(lambda _: self._pump.wake(0.0))
        self._pump.run(
            lambda: self.is_stopping or (bool(futures) and all(one.done() for one in futures))
        )


def run(opening: Opening, on_ready: OnReady) -> None:
    """Run a host until it, or the process, is told to stop."""
    from dcc_bridge.hosts.standalone import install

    session = hosting.session(opening)
    uninstall = install(session)
    host = Headless(session, opening)
    try:
        with signals.calling(host.stop):
            host.run(on_ready)
    finally:
        uninstall()
