"""Our own application with its bridge, and the demo's person who sits at it. Main thread.

Imported by ``dcc-bridge serve`` and ``demo`` where a window is wanted: it needs a screen. Of
`Windowed`, `stop` may be called on any thread; `AtWindow` runs on the loop of the agent's client,
and reaches every widget through the main thread's queue.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import anyio

from dcc_bridge.bridge import Bridge
from dcc_bridge.cli.exits import INTERRUPTED, Failure
from dcc_bridge.qt import event_loop, presenter
from dcc_bridge.qt.binding import QGuiApplication, QPixmap, QPoint
from dcc_bridge.qt.panel import panel
from dcc_bridge.spi import BridgeError

from .host import UsdSession
from .operations import operations
from .window import app, commands

if TYPE_CHECKING:
    from dcc_bridge.client import Person
    from dcc_bridge.client.terminal_io import Narrator
    from dcc_bridge.qt.question_dialog import QuestionDialog

    from .serve import OnReady, Opening, Running
    from .window.main_window import MainWindow

T = TypeVar("T")
_POLL: Final = 0.05  # seconds between two looks for the dialog
_SEEN: Final = 1.0  # seconds after which a dialog is drawn
_STEP: Final = 3.0  # seconds for which each step of the demo can be seen
_GRABBED: Final = ("xcb", "windows")  # platforms that give a picture of the screen itself


class Windowed:
    """A host at which a person sits, with its bridge. Made while its window is shown."""

    def __init__(self, session: UsdSession, opening: Opening, window: MainWindow) -> None:
        self._loop = event_loop.HostLoop()
        self.main = self._loop.main
        self.host = session
        self.window = window
        self.presenter = presenter.DialogPresenter(
            self.main, session, lambda: window, key=commands.AGENTS_KEY
        )
        self.is_stopping = False
        self._has_started = False
        settings, skills = opening.settings, opening.skills
        self.bridge = Bridge(
            session,
            self.main,
            presenter=self.presenter,
            settings=settings,
            skills=skills,
            operations=operations,
        )
        self.panel = panel.Panel(self.bridge, self.presenter.bring)
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


def run(session: UsdSession, opening: Opening, on_ready: OnReady) -> None:
    """Run a host until its window is closed, or the process is told to stop."""
    application = _Application(session, opening, on_ready)
    code = app.run(session, on_ready=application.begin, on_quit=application.end)
    if application.error is not None:
        raise application.error
    if code == INTERRUPTED:
        raise KeyboardInterrupt


# ---- the demo's person at the window


class AtWindow:
    """A person whom the host asks in a dialog."""

    def __init__(self, answer: str | None, narrator: Narrator, screenshot: Path | None) -> None:
        self.person: Person | None = None
        self._answer = answer  # the button that is pressed; None leaves it to a real person
        self._narrator = narrator
        self._screenshot = screenshot  # where a picture is saved

    async def attend(self, running: Running) -> None:
        """Wait for the dialog, and answer it."""
        assert isinstance(running, Windowed)
        dialog = await _wait_for_dialog(running)
        self._narrator.step("A dialog over the host's window asks the person:")
        self._narrator.quote(dialog.question.message)
        if (file := self._screenshot) is not None:
            await anyio.sleep(_SEEN)
            if not await _on_ui(running, lambda: _picture(running, dialog).save(str(file))):
                raise Failure(f"The picture cannot be saved in {file}: does its name end in .png?")
        if (answer := self._answer) is None:
            self._narrator.step("Answer it there.")
        else:
            await anyio.sleep(_STEP)
            text = await _on_ui(running, lambda: _press(dialog, answer))
            self._narrator.answer(answer, f": --answer presses {text!r}")

    async def show(self, running: Running, caption: str, *, is_last: bool) -> None:
        """Say in the window what is to be seen there, and leave time for it."""
        assert isinstance(running, Windowed)
        if is_last and self._answer is None:
            self._narrator.step("Close the window to end the demo.")
            caption += " Close this window to end the demo."
        await _on_ui(running, lambda: running.window.tell(caption))
        await anyio.sleep(_STEP)

    def stay(self, running: Running) -> None:
        """Wait until a real person closes the window."""
        while self._answer is None and not running.is_stopping:
            time.sleep(_POLL)


async def _wait_for_dialog(running: Windowed) -> QuestionDialog:
    """Wait until a dialog is shown and can be pressed."""

    def find_armed() -> list[QuestionDialog]:
        dialogs = running.presenter.dialogs
        return [it for it in dialogs if it.isVisible() and it.exits.verb.isEnabled()]

    while not (armed := await _on_ui(running, find_armed)):
        await anyio.sleep(_POLL)
    return armed[0]


def _press(dialog: QuestionDialog, answer: str) -> str:
    """Press the button of an answer, and give what stands on it."""
    exits = dialog.exits
    button = {"accept": exits.verb, "decline": exits.decline, "cancel": exits.cancel}[answer]
    text = button.text().replace("&", "")
    button.click()
    return text


def _picture(running: Windowed, dialog: QuestionDialog) -> QPixmap:
    """Give the window with the dialog over it, from the screen where that can be had."""
    window = running.window
    if QGuiApplication.platformName() in _GRABBED:
        # From their handles: a widget may keep a frame that it read before its window had one.
        frames = [it.windowHandle().frameGeometry() for it in (window, dialog)]
        area = frames[0].united(frames[1])
        return window.screen().grabWindow(0, area.x(), area.y(), area.width(), area.height())
    picture = window.grab()
    dialog.render(picture, window.mapFromGlobal(dialog.mapToGlobal(QPoint())))
    return picture


async def _on_ui(running: Windowed, fn: Callable[[], T]) -> T:
    return await asyncio.wrap_future(running.main.post(fn))
