"""The demo's person at the window: told of, photographed, and played on the dialog's own buttons.

On the loop of the agent's client; every widget is reached by the host's ui lane.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import anyio

from dcc_bridge.cli.call import ASK
from dcc_bridge.cli.demo import SAID
from dcc_bridge.cli.exits import Failure
from dcc_bridge.cli.windowed import Windowed
from dcc_bridge.qt.binding import QGuiApplication, QPixmap, QPoint

if TYPE_CHECKING:
    from dcc_bridge.cli.demo import Narrator
    from dcc_bridge.cli.hosting import Running
    from dcc_bridge.client.person import Person
    from dcc_bridge.qt.question_dialog import QuestionDialog

T = TypeVar("T")
_LOOK: Final = 0.05
"""Seconds between two looks for the dialog."""
_SEEN: Final = 1.0
"""Seconds for which a dialog that is played can be seen."""
_GRABBED: Final = ("xcb", "windows")
"""Platforms that give a picture of the screen itself."""


class AtWindow:
    """A person whom the host asks in a dialog."""

    def __init__(self, answer: str, narrator: Narrator, screenshot: Path | None) -> None:
        """Take what they will do.

        Args:
            answer: `ASK` leaves it to a real person; else the button that is pressed.
            narrator: Tells it.
            screenshot: Where a picture is saved, or None.
        """
        self.person: Person | None = None
        self._answer = answer
        self._narrator = narrator
        self._screenshot = screenshot

    async def attend(self, running: Running) -> None:
        """Wait for the dialog, and answer it."""
        assert isinstance(running, Windowed)
        dialog = await _found(running)
        self._narrator.step("A dialog over the host's window asks the person:")
        self._narrator.quote(dialog.question.message)
        file = self._screenshot
        if file is not None:
            await anyio.sleep(_SEEN)
            await _on_ui(running, lambda: _save(running, dialog, file))
        if self._answer == ASK:
            self._narrator.step("Answer it there.")
        else:
            await anyio.sleep(_SEEN)
            text = await _on_ui(running, lambda: _press(dialog, self._answer))
            self._narrator.step(f"The person {SAID[self._answer]}: --answer presses {text!r}.")


async def _found(running: Windowed) -> QuestionDialog:
    """Wait until a dialog is shown and can be pressed."""
    while True:
        armed = await _on_ui(
            running, lambda: [d for d in running.presenter.dialogs if _is_armed(d)]
        )
        if armed:
            return armed[0]
        await anyio.sleep(_LOOK)


def _is_armed(dialog: QuestionDialog) -> bool:
    return dialog.isVisible() and dialog.exits.verb.isEnabled()


def _press(dialog: QuestionDialog, answer: str) -> str:
    """Press the button of an answer, and give what stands on it."""
    exits = dialog.exits
    button = {"accept": exits.verb, "decline": exits.decline, "cancel": exits.cancel}[answer]
    text = button.text().replace("&", "")
    button.click()
    return text


def _save(running: Windowed, dialog: QuestionDialog, file: Path) -> None:
    if not _picture(running, dialog).save(str(file)):
        raise Failure(f"The picture cannot be saved in {file}: is it the name of a .png?")


def _picture(running: Windowed, dialog: QuestionDialog) -> QPixmap:
    """Give the window with the dialog over it, from the screen where that can be had."""
    window = running.window
    if QGuiApplication.platformName() in _GRABBED:
        area = window.frameGeometry().united(dialog.frameGeometry())
        return window.screen().grabWindow(0, area.x(), area.y(), area.width(), area.height())
    picture = window.grab()
    dialog.render(picture, window.mapFromGlobal(dialog.mapToGlobal(QPoint())))
    return picture


async def _on_ui(running: Windowed, fn: Callable[[], T]) -> T:
    return await asyncio.wrap_future(running.main.post(fn))
