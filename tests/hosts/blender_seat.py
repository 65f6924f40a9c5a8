"""Somebody in front of Blender's window, with a real mouse, and an agent that asks them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

from mcp_types import CallToolResult
from PIL import Image, ImageChops

from tests.hosts.application import Application, until
from tests.hosts.blender_window import REST, SIZE
from tests.hosts.screen import Screen

WAYS: Final = {"accept": -94, "decline": -73}
"""How far above OK each choice is, in pixels, where there are three."""
_AROUND: Final = (300, 0, 900, SIZE[1])
"""Where a dialog can be."""
_ASIDE: Final = 150
"""Pixels from a button's middle to where nothing is written on it."""
_BESIDE: Final = 20
"""Likewise on OK, and so near that a dialog which opens around the mouse is found again."""
_BUTTON: Final = 14
"""Rows of pixels that a button has at least."""


class Seat:
    """A person in front of Blender, and an agent that asks.

    Attributes:
        application: Blender.
        screen: Where it is drawn.
        codes: The exit codes that are well: Blender's own is 1 after Esc, until a render.
    """

    def __init__(self, application: Application, screen: Screen) -> None:
        self.application = application
        self.screen = screen
        self.codes: tuple[int, ...] = (0,)
        self._agents = ThreadPoolExecutor()

    def ask(self, tool: str, **arguments: Any) -> Future[CallToolResult]:
        """Have an agent call a skill."""
        self.screen.move(*REST)  # its dialog opens there
        return self._agents.submit(self.application.call, tool, arguments)

    # ---- what they see

    def ok(self) -> tuple[int, int]:
        """Wait for a dialog of Blender's own, and give the middle of its lowest button."""
        self.screen.move(*REST)  # a button below the mouse has another colour
        until(lambda: self.find_ok() is not None, "no dialog")
        at = self.find_ok()
        assert at is not None
        return at

    def find_ok(self) -> tuple[int, int] | None:
        """Look for the blue of the button that Enter would press."""
        blue = _blue(self.screen.look().crop(_AROUND))
        part = blue.resize((1, blue.height), Image.Resampling.BOX).tobytes()
        rows = [mean / 255 * blue.width > 400 for mean in part]
        for y in reversed(range(_BUTTON, len(rows))):
            box = blue.crop((0, y - 1, blue.width, y)).getbbox()
            if box is not None and all(rows[y - _BUTTON : y]):
                return _AROUND[0] + (box[0] + box[2]) // 2, y - _BUTTON // 2
        return None

    def seen(self) -> dict[str, Any]:
        """Look into Blender."""
        self.do("write")
        file = self.application.folder / "seen.json"
        seen: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return seen

    def sees(self, condition: Callable[[dict[str, Any]], object]) -> None:
        """Wait until it looks like that in Blender."""
        until(lambda: condition(self.seen()), "it did not come true in Blender")

    # ---- what they do

    def do(self, *orders: str) -> None:
        """Do what is not done with the mouse."""
        self.application.order(*orders)
        self.application.obeyed()

    def click(self, x: int, y: int) -> bool:
        """Move to a button, and press it once it lights up, as everybody does.

        Blender takes a move and a press that come at once, because a picture took it long, for a
        move alone.
        """
        dark = self._colour(x, y)
        self.screen.move(x, y)
        lit = soon(lambda: self._colour(x, y) != dark)
        self.screen.press()
        return lit

    def answer(self, way: str) -> None:
        """Click on a choice, and on OK; look again where Blender was drawing meanwhile."""
        self.sees(lambda seen: seen["question"])
        question = self.seen()["question"]
        until(lambda: self._answer(way, question), "no answer was taken")

    def _answer(self, way: str, question: str) -> bool:
        x, y = self.ok()
        choice = x + _ASIDE, y + WAYS[way]
        if not _is_blue(self._colour(*choice)):
            self.click(*choice)
            soon(lambda: _is_blue(self._colour(*choice)))
            self.screen.move(*REST)
            if not soon(lambda: _is_blue(self._colour(*choice))):
                return False
        self.click(x + _BESIDE, y)
        return soon(lambda: self.seen()["question"] != question)

    def undo(self) -> None:
        """Press Ctrl Z over the 3D view."""
        self.screen.move(300, 500)
        self.screen.tap("ctrl+z")

    def let_pass(self, seconds: float) -> None:
        """Do nothing for a time."""
        end = time.monotonic() + seconds
        until(lambda: time.monotonic() > end)

    def _colour(self, x: int, y: int) -> tuple[int, ...]:
        return tuple(self.screen.look().crop((x, y, x + 1, y + 1)).tobytes())

    def close(self) -> int:
        """Quit Blender; give its exit code."""
        self.application.order("close")
        code = self.application.end()
        self._agents.shutdown()
        return code


def soon(condition: Callable[[], object], seconds: float = 5) -> bool:
    """Wait for a condition, but not for long; give whether it came true."""
    end = time.monotonic() + seconds
    until(lambda: condition() or time.monotonic() > end)
    return bool(condition())


def _is_blue(colour: tuple[int, ...]) -> bool:
    return colour[2] - colour[0] > 60


def _blue(picture: Image.Image) -> Image.Image:
    """Give a picture that is white where there is the blue of Blender's buttons."""
    near = [
        part.point([255 * (abs(value - wanted) < 14) for value in range(256)])
        for part, wanted in zip(picture.split(), (71, 114, 179), strict=True)
    ]
    return ImageChops.darker(ImageChops.darker(near[0], near[1]), near[2])
