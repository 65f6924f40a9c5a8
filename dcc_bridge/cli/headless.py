"""The standalone host without a window. Main thread, except `Headless.stop`."""

from __future__ import annotations

from dcc_bridge.bridge import Bridge
from dcc_bridge.cli import hosting, signals
from dcc_bridge.cli.hosting import OnReady, Opening
from dcc_bridge.hosts.standalone import UsdSession, install
from dcc_bridge.pump import Pump


class Headless:
    """A host whose main thread waits for work and does nothing else."""

    def __init__(self, session: UsdSession, opening: Opening) -> None:
        """Take the scene; nothing runs yet."""
        self._pump = Pump()
        self.is_stopping = False
        self.main = self._pump.main
        self.session = session
        self.bridge = Bridge(
            session,
            self.main,
            settings=opening.settings,
            skills=opening.skills,
        )

    def stop(self) -> None:
        """End it soon. Any thread."""
        self.is_stopping = True
        self._pump.wake(0.0)

    def run(self, on_ready: OnReady) -> None:
        """Run until `stop`."""
        try:
            ready = self.bridge.start()
            ready.add_done_callback(lambda _: self._pump.wake(0.0))
            self._pump.run(lambda: self.is_stopping or ready.done())
            if not self.is_stopping:
                ready.result()
                on_ready(self)
                self._pump.run(lambda: self.is_stopping)
        finally:
            self.bridge.stop()


def run(opening: Opening, on_ready: OnReady) -> None:
    """Run a host until it, or the process, is told to stop."""
    session = hosting.session(opening)
    uninstall = install(session)
    host = Headless(session, opening)
    try:
        with signals.calling(host.stop):
            host.run(on_ready)
    finally:
        uninstall()
