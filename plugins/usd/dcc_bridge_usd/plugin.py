"""Our own application in a window, with its bridge. Main thread, but for `Windowed.stop`.

It is imported where a window is wanted: it needs a screen.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from dcc_bridge.spi import BridgeError
from dcc_bridge.spi.drawing import Bridge
from dcc_bridge.spi.program import Opening, WindowedHost
from dcc_bridge.spi.qt import (
    DialogPresenter,
    HostLoop,
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

_GRABBED: Final = ("xcb", "windows")  # platforms that give a picture of the screen itself


class Windowed(WindowedHost):
    """A host at which a person sits, with its bridge. Made while its window is shown."""

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
        window.add_agents(
            self.panel, self.presenter.enter, self.panel.enter, self.panel.enter_clients
        )

    def start(self) -> Future[None]:
        """Start the server; done once it takes requests. BridgeError if it cannot be started."""
        ready = self.bridge.start()
        self._has_started = True
        return ready

    def stop(self) -> None:
        """Close the window soon. Any thread."""
        self.is_stopping = True
        self.main.post(self.window.close_now)

    def close(self) -> bool:
        """End the bridge and its widgets; False if a skill's frame is below: closed later then."""
        self.is_stopping = True
        self.bridge.stop()
        if self._has_started and not self.bridge.stopped.done():
            self.bridge.stopped.add_done_callback(lambda _: self.window.close_now())
            return False
        self.panel.close_for_good()
        self.presenter.close()
        self._loop.close()
        return True

    def asked(self) -> str | None:
        """Return the message of the dialog that can be answered now; None for none."""
        dialog = self._dialog()
        return None if dialog is None else dialog.question.message

    def answer(self, action: str) -> str:
        """Press the button of an answer, and return what stands on it."""
        exits = self._shown_dialog().exits
        button = {"accept": exits.verb, "decline": exits.decline, "cancel": exits.cancel}[action]
        text = str(button.text()).replace("&", "")
        button.click()
        return text

    def save_picture(self, file: Path) -> bool:
        """Save a picture of the window with the dialog over it; return whether that was done."""
        return bool(_picture(self.window, self._shown_dialog()).save(str(file)))

    def tell(self, caption: str) -> None:
        """Say something over the viewport."""
        self.window.tell(caption)

    def _dialog(self) -> QuestionDialog | None:
        """Return the dialog that is shown and can be pressed."""
        dialogs = self.presenter.dialogs
        return next((it for it in dialogs if it.isVisible() and it.exits.verb.isEnabled()), None)

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
        host = self._host = Windowed(self._session, self._opening, window)
        try:
            ready = host.start()
        except BridgeError as error:
            self._fail(window, error)
        else:
            ready.add_done_callback(lambda _: host.main.post(lambda: self._go_on(host, ready)))

    def end(self) -> bool:
        return self._host is None or self._host.close()

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
    """Run a host until its window is closed, or the process is told to stop."""
    application = _Application(session, opening, on_ready)
    code = app.run(session, on_ready=application.begin, on_quit=application.end)
    if application.error is not None:
        raise application.error
    if code == 128 + signal.SIGINT:
        raise KeyboardInterrupt


def _picture(window: MainWindow, dialog: QuestionDialog) -> QPixmap:
    """Return the window with the dialog over it, from the screen where that can be had."""
    if QGuiApplication.platformName() in _GRABBED:
        # From their handles: a widget may keep a frame that it read before its window had one.
        frames = [it.windowHandle().frameGeometry() for it in (window, dialog)]
        area = frames[0].united(frames[1])
        return window.screen().grabWindow(0, area.x(), area.y(), area.width(), area.height())
    picture = window.grab()
    dialog.render(picture, window.mapFromGlobal(dialog.mapToGlobal(QPoint())))
    return picture
