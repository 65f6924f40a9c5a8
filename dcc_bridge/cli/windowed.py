"""The standalone host in a window. Main thread, except `Windowed.stop`.

Imported only where a window is wanted: it needs PySide6 and a screen.
"""

from __future__ import annotations

import sys
from concurrent.futures import Future
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dcc_bridge.bridge import Bridge
from dcc_bridge.cli import hosting
from dcc_bridge.cli.exits import Failure
from dcc_bridge.cli.hosting import OnReady, Opening
from dcc_bridge.config import data_folder
from dcc_bridge.errors import BridgeError
from dcc_bridge.hosts.standalone import UsdSession, install
from dcc_bridge.qt.event_loop import HostLoop
from dcc_bridge.qt.panel import Panel
from dcc_bridge.qt.presenter import DialogPresenter

if TYPE_CHECKING:
    from dcc_standalone.window import MainWindow


class Windowed:
    """A host at which a person sits, with its bridge. Made while its window is shown."""

    def __init__(self, session: UsdSession, opening: Opening, window: MainWindow) -> None:
        """Tie a bridge to the window; nothing is served yet."""
        self._loop = HostLoop()
        self.main = self._loop.main
        self.host = session
        self.window = window
        self.presenter = DialogPresenter(self.main, session, lambda: window)
        self.is_stopping = False
        self._has_started = False
        self.bridge = Bridge(
            session,
            self.main,
            presenter=self.presenter,
            settings=opening.settings,
            skills=opening.skills,
        )
        self.panel = Panel(self.bridge, self.presenter.bring)
        window.add_agents(self.panel, self.panel.enter)

    def start(self) -> Future[None]:
        """Start the server; done once it takes requests.

        Raises:
            BridgeError: It cannot be started.
        """
        ready = self.bridge.start()
        self._has_started = True
        return ready

    def stop(self) -> None:
        """Close the window soon. Any thread."""
        self.is_stopping = True
        self.main.post(self.window.close_now)

    def close(self) -> bool:
        """End the bridge; its widgets are gone then.

        Returns:
            False if a skill's frame lies below this one: the window then closes again later.
        """
        self.is_stopping = True
        self.bridge.stop()
        if self._has_started and not self.bridge.stopped.done():
            self.bridge.stopped.add_done_callback(lambda _: self.window.close_now())
            return False
        self.panel.close_for_good()
        self.presenter.close()
        self._loop.close()
        return True


class _Application:
    """Callbacks of the window: start the bridge when it is shown, stop it when it closes."""

    def __init__(self, session: UsdSession, opening: Opening, on_ready: OnReady) -> None:
        self._session = session
        self._opening = opening
        self._on_ready = on_ready
        self._host: Windowed | None = None
        self.error: BaseException | None = None

    def begin(self, window: MainWindow) -> None:
        host = self._host = Windowed(self._session, self._opening, window)
        try:
            ready = host.start()
        except BridgeError as error:
            self._fail(window, error)
            return
        ready.add_done_callback(lambda _: host.main.post(lambda: self._go_on(host, ready)))

    def end(self) -> bool:
        return self._host is None or self._host.close()

    def _go_on(self, host: Windowed, ready: Future[None]) -> None:
        try:
            ready.result()
            host.window.set_server(f"MCP: {host.bridge.url}", True)
            self._on_ready(host)
        except BaseException as error:  # noqa: BLE001 - it belongs to who called `run`
            self._fail(host.window, error)

    def _fail(self, window: MainWindow, error: BaseException) -> None:
        self.error = error
        window.close_now()


def run(opening: Opening, on_ready: OnReady) -> None:
    """Run a host until its window is closed, or the process is told to stop."""
    session = hosting.session(opening)
    application = _Application(session, opening, on_ready)
    uninstall = install(session)
    try:
        _module().run(session, on_ready=application.begin, on_quit=application.end)
    finally:
        uninstall()
    if application.error is not None:
        raise application.error


def _module() -> Any:
    """Find the application, which travels beside the package."""
    folder = str(data_folder("plugins") / "standalone")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return import_module("dcc_standalone.app")
    except ImportError as error:
        raise Failure(
            f"The standalone host's window is not installed ({error}). "
            "pip install 'dcc-bridge[demo]', or use --headless."
        ) from None
