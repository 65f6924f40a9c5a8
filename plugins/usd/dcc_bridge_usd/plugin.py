"""Our own application in a window, with its bridge. Main thread, but for `Windowed.stop`.

The module needs a screen, so it is imported only where a window is wanted.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QRegion

from dcc_bridge.spi import BridgeError
from dcc_bridge.spi.drawing import Bridge
from dcc_bridge.spi.program import Opening, WindowedHost
from dcc_bridge.spi.qt import (
    DialogPresenter,
    HostLoop,
    KeepBar,
    Panel,
    QGuiApplication,
    QPixmap,
    QPoint,
    QuestionDialog,
)

from .host import UsdSession
from .operations import operations
from .window import app, commands
from .window.main_window import MainWindow

_GRABBING_PLATFORMS: Final = ("xcb", "windows")  # of Qt; they give a picture of the screen itself


class Windowed(WindowedHost):
    """A host at which a person sits, with its bridge. It is made while its window is shown."""

    def __init__(self, session: UsdSession, opening: Opening, window: MainWindow) -> None:
        self._loop = HostLoop()
        self.main = self._loop.main
        self.host = session
        self.window = window
        self.presenter = DialogPresenter(
            self.main, session, lambda: window, key=commands.AGENTS_KEY
        )
        self._has_started = False
        self.bridge = Bridge(
            session,
            self.main,
            presenter=self.presenter,
            settings=opening.settings,
            skills=opening.skills,
            operations=operations,
        )
        self.panel = Panel(self.bridge, self.presenter.bring)
        self.keep_bar = KeepBar(
            self.bridge, self.presenter.notifications, lambda: self.panel.is_seen
        )
        self.presenter.is_shown_elsewhere = self.keep_bar.covers
        window.add_agents(
            self.panel, self.presenter.enter, self.panel.enter, self.panel.enter_clients
        )

    def start(self) -> Future[None]:
        """Start the server.

        Returns:
            Done once the server takes requests.

        Raises:
            BridgeError: The server cannot be started.
        """
        ready = self.bridge.start()
        self._has_started = True
        return ready

    def stop(self) -> None:
        """Close the window soon. Any thread."""
        self.is_stopping = True
        self.main.post(self.window.close_now)

    def close(self) -> bool:
        """End the bridge and its widgets.

        Returns:
            Whether that is done; False while a skill runs below, and the window is closed once the
            bridge has stopped.
        """
        self.is_stopping = True
        self.bridge.stop()
        if self._has_started and not self.bridge.stopped.done():
            self.bridge.stopped.add_done_callback(lambda _: self.window.close_now())
            return False
        self.keep_bar.close()
        self.panel.close_for_good()
        self.presenter.close()
        self._loop.close()
        return True

    def asked(self) -> str | None:
        """Return the message of the dialog that can be answered now; None if there is none."""
        dialog = self._dialog()
        return None if dialog is None else dialog.question.message

    def answer(self, action: str) -> str:
        """Press the button of an answer ("accept", "decline" or "cancel"), and return its text."""
        exits = self._shown_dialog().exits
        button = {"accept": exits.verb, "decline": exits.decline, "cancel": exits.cancel}[action]
        text = str(button.text()).replace("&", "")
        button.click()
        return text

    def save_picture(self, file: Path) -> bool:
        """Save a picture of the window with the dialog over it; return whether that worked."""
        return bool(_picture(self.window, self._shown_dialog()).save(str(file)))

    def tell(self, caption: str) -> None:
        """Show a caption over the viewport."""
        self.window.tell(caption)

    def _dialog(self) -> QuestionDialog | None:
        """Return the dialog that is shown and can be answered."""
        for dialog in self.presenter.dialogs:
            if dialog.isVisible() and dialog.exits.verb.isEnabled():
                return dialog
        return None

    def _shown_dialog(self) -> QuestionDialog:
        dialog = self._dialog()
        if dialog is None:
            raise LookupError("No question can be answered now.")
        return dialog


class _Application:
    """Callbacks of the window: start the bridge when it is shown, stop it when it closes."""

    def __init__(
        self, session: UsdSession, opening: Opening, on_ready: Callable[[WindowedHost], None]
    ) -> None:
        self._session = session
        self._opening = opening
        self._on_ready = on_ready
        self._host: Windowed | None = None
        self.error: BaseException | None = None

    def begin(self, window: MainWindow) -> None:
        host = Windowed(self._session, self._opening, window)
        self._host = host
        try:
            ready = host.start()
        except BridgeError as error:
            self._fail(window, error)
        else:
            ready.add_done_callback(lambda _: host.main.post(lambda: self._go_on(host, ready)))

    def end(self) -> bool:
        if self._host is None:
            return True
        return self._host.close()

    def _go_on(self, host: Windowed, ready: Future[None]) -> None:
        try:
            ready.result()
            host.window.set_server(f"MCP: {host.bridge.url}", True)
            self._on_ready(host)
        except (BridgeError, OSError) as error:  # no server, or nobody reads what is announced
            self._fail(host.window, error)

    def _fail(self, window: MainWindow, error: BaseException) -> None:
        self.error = error
        window.close_now()


def run(session: UsdSession, opening: Opening, on_ready: Callable[[WindowedHost], None]) -> None:
    """Run a host until its window is closed, or the process is asked to stop.

    Args:
        session: The host.
        opening: How the host is opened.
        on_ready: Called once the server takes requests.

    Raises:
        BridgeError: The server cannot be started.
        OSError: `on_ready` failed.
        KeyboardInterrupt: The process was interrupted.
    """
    application = _Application(session, opening, on_ready)
    code = app.run(session, on_ready=application.begin, on_quit=application.end)
    if application.error is not None:
        raise application.error
    if code == 128 + signal.SIGINT:
        raise KeyboardInterrupt


def _picture(window: MainWindow, dialog: QuestionDialog) -> QPixmap:
    """Return a picture of the window with the dialog over it, from the screen where possible.

    It is transparent beside the two: what else is on the screen is not ours to show.
    """
    if QGuiApplication.platformName() in _GRABBING_PLATFORMS:
        # From the handles: a widget may keep a frame that it read before its window had one.
        frames = QRegion(window.windowHandle().frameGeometry())
        frames += dialog.windowHandle().frameGeometry()
        area = frames.boundingRect()
        grabbed = window.screen().grabWindow(0, area.x(), area.y(), area.width(), area.height())
        cut = QPixmap(grabbed.size())
        cut.setDevicePixelRatio(grabbed.devicePixelRatio())
        cut.fill(Qt.GlobalColor.transparent)
        painter = QPainter(cut)
        painter.setClipRegion(frames.translated(-area.topLeft()))
        painter.drawPixmap(0, 0, grabbed)
        painter.end()
        return cut
    picture = window.grab()
    dialog.render(picture, window.mapFromGlobal(dialog.mapToGlobal(QPoint())))
    return picture
