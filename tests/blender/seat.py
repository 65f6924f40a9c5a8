"""Somebody in front of Blender's window, with a real mouse, and an agent that asks them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final

import anyio
from mcp_types import CallToolResult
from PIL import Image, ImageChops

from dcc_bridge.known_clients import CLI_LABEL
from tests.blender.window import REST, SIZE
from tests.hosts.application import Application, until
from tests.hosts.screen import Screen

WAYS: Final = {"accept": -2, "decline": -1}
"""How many buttons to the left of *Cancel* an answer is; that is a consent's blue one at first."""
_GAP: Final = 6  # pixels between two buttons
_AROUND: Final = (100, 0, 1050, SIZE[1])  # where a dialog can be
_ASIDE: Final = 50  # pixels from a button's middle to where nothing is written on it
_BUTTON: Final = 18  # rows of pixels that a button has at least


class Seat:
    """A person in front of Blender, and an agent that asks."""

    def __init__(self, application: Application, screen: Screen) -> None:
        self.application = application  # Blender
        self.screen = screen  # where it is drawn
        # The exit codes that are well: Blender's own is 1 after Esc, until a render.
        self.codes: tuple[int, ...] = (0,)
        self._agents = ThreadPoolExecutor()

    def ask(self, tool: str, *, label: str = "test", **arguments: Any) -> Future[CallToolResult]:
        self.screen.move(*REST)  # its dialog opens there
        return self._agents.submit(self.application.call, tool, arguments, label=label)

    # ---- what they see

    def go(self) -> dict[str, Any]:
        """Go to the question, once one waits; give how it looks when it takes an answer."""

        def takes(seen: dict[str, Any]) -> bool:
            if seen["waits"] and not seen["question"]:
                self.do("go")
            return bool(seen["takes"])

        return self.sees(takes)

    def blue(self) -> tuple[int, int, int]:
        """Go to the question; give the button that Enter presses."""
        self.go()
        self.screen.move(*REST)  # a button below the mouse has another colour
        until(lambda: self.find_blue() is not None, "no dialog")
        at = self.find_blue()
        assert at is not None
        return at

    def find_blue(self) -> tuple[int, int, int] | None:
        """Look for the blue of the button that Enter would press."""
        blue = _blue(self.screen.look().crop(_AROUND))
        part = blue.resize((1, blue.height), Image.Resampling.BOX).tobytes()
        rows = [mean / 255 * blue.width > 120 for mean in part]
        for y in reversed(range(_BUTTON, len(rows))):
            box = blue.crop((0, y - 1, blue.width, y)).getbbox()
            if box is not None and all(rows[y - _BUTTON : y]):
                return _AROUND[0] + (box[0] + box[2]) // 2, y - _BUTTON // 2, box[2] - box[0]
        return None

    def seen(self) -> dict[str, Any]:
        self.do("write")
        file = self.application.folder / "seen.json"
        seen: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return seen

    def sees(self, condition: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """Wait until it looks like that in Blender; give how it looks then."""
        seen: dict[str, Any] = {}

        def is_true() -> object:
            seen.update(self.seen())
            return condition(seen)

        until(is_true, "it did not come true in Blender")
        return seen

    # ---- what they do

    def go_to_text(self) -> None:
        """Go to an empty text in the place of the 3D view; keys count once it is drawn."""
        self.screen.move(*REST)
        self.do("text")
        self.sees(lambda seen: seen["text_editors_drawn"])

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

    def click_until(self, place: tuple[int, int], condition: Callable[[], object]) -> None:
        """Click on a place until something came true, as somebody impatient does."""

        def try_once() -> object:
            self.screen.move(*REST)
            self.click(*place)
            return soon(condition)

        until(try_once, "nobody heard the click")

    def answer(self, way: str) -> None:
        """Click on an answer; look again where Blender was drawing meanwhile."""
        question = self.go()["waits"]
        until(lambda: self._answer(way, question), "no answer was taken")

    def _answer(self, way: str, question: str) -> bool:
        """Click, unless it was answered; a click may be taken long after it was made."""
        self.screen.move(*REST)  # a button below the mouse has another colour
        seen = self.seen()
        if seen["waits"] != question:
            return True
        if not seen["question"]:
            self.do("go")
        at = self.find_blue() if seen["takes"] else None
        if at is None:
            return False
        self.click_answer(way)
        return soon(lambda: self.seen()["waits"] != question)

    def click_answer(self, way: str) -> bool:
        """Click on an answer and look no more, where Blender stands still then; give whether."""
        at = self.find_blue()
        if at is not None:
            x, y, width = at
            self.click(x + WAYS[way] * (width + _GAP) + _ASIDE, y)
        return at is not None

    def click_verb(self) -> None:
        """Click on the verb of a dialog of Qt, once that stays in its place and takes it."""
        places: list[Any] = [None]

        def stays() -> bool:
            places.append(self.seen().get("verb"))
            return places[-1] is not None and places[-1] == places[-2]

        until(stays, "no dialog")
        self.click(*places[-1])

    def leave(self, tool: str, arguments: dict[str, Any], meanwhile: Callable[[], object]) -> None:
        """Have an agent ask and go away, once something was done; wait until its dialog is gone.

        It asks as a command of the person's own does. The dialog of any other client stays once
        the client may have timed out, which a slow drawing would decide.
        """

        async def agent() -> None:
            client = self.application.client(label=CLI_LABEL)
            async with client as session, anyio.create_task_group() as calls:
                calls.start_soon(session.call_tool, tool, arguments)
                await anyio.to_thread.run_sync(meanwhile)
                calls.cancel_scope.cancel()

        self.screen.move(*REST)  # its dialog opens there
        self.application.run(agent)
        self.sees(lambda seen: not seen["waits"])

    def undo(self) -> None:
        self.screen.move(300, 500)
        self.screen.tap("ctrl+z")

    def let_pass(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        until(lambda: time.monotonic() > end)

    def _colour(self, x: int, y: int) -> tuple[int, ...]:
        return tuple(self.screen.look().crop((x, y, x + 1, y + 1)).tobytes())

    def close(self) -> int:
        self.application.order("close")
        code = self.application.end()
        self._agents.shutdown()
        return code


def soon(condition: Callable[[], object], seconds: float = 5) -> bool:
    """Wait for a condition, but not for long; give whether it came true."""
    end = time.monotonic() + seconds
    until(lambda: condition() or time.monotonic() > end)
    return bool(condition())


def _blue(picture: Image.Image) -> Image.Image:
    """Give a picture that is white where there is the blue of Blender's buttons."""
    near = [
        part.point([255 * (abs(value - wanted) < 14) for value in range(256)])
        for part, wanted in zip(picture.split(), (71, 114, 179), strict=True)
    ]
    return ImageChops.darker(ImageChops.darker(near[0], near[1]), near[2])
