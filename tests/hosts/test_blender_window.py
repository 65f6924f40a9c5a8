"""Blender in its window: dialogs of its own and of Qt, real clicks, and its own undo."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult
from PIL import Image, ImageChops

from tests.hosts import blender_window
from tests.hosts.application import Application, until
from tests.hosts.blender_window import Screen
from tests.live import status

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in blender_window.NEEDED),
        reason=f"not all of {', '.join(blender_window.NEEDED)} are installed",
    ),
]
PICTURE = os.environ.get("BLENDER_PICTURE")
"""Where the picture of the README is written, if it is to be made anew."""
TRIALS = Path(__file__).parent / "blender_trial" / "skills"
CUBE = {"pattern": "C*", "type_name": "*"}
WAYS = {"accept": -94, "decline": -73}
"""How far above OK each choice is, in pixels, where there are three."""
_BUTTON = 14
"""Rows of pixels that a button has at least."""


class Seat:
    """A person in front of Blender, and an agent that asks."""

    def __init__(self, application: Application, screen: Screen) -> None:
        self.application = application
        self.screen = screen
        self._agents = ThreadPoolExecutor()

    def ask(self, tool: str, **arguments: Any) -> Future[CallToolResult]:
        return self._agents.submit(self.application.call, tool, arguments)

    def ok(self) -> tuple[int, int]:
        """Wait for a dialog of Blender's own, and give the middle of its lowest button."""
        self.screen.move(600, 420)  # a button below the mouse has another colour
        until(lambda: self.find_ok() is not None, "no dialog")
        at = self.find_ok()
        assert at is not None
        return at

    def find_ok(self) -> tuple[int, int] | None:
        """Look for the blue of the button that Enter would press."""
        with Image.open(self.screen.picture(self.application.folder / "screen.png")) as picture:
            blue = _blue(picture.convert("RGB"))
        part = blue.resize((1, blue.height), Image.Resampling.BOX).tobytes()
        rows = [mean / 255 * blue.width > 400 for mean in part]
        for y in reversed(range(_BUTTON, len(rows))):
            box = blue.crop((0, y - 1, blue.width, y)).getbbox()
            if box is not None and box[2] - box[0] < 700 and all(rows[y - _BUTTON : y]):
                return (box[0] + box[2]) // 2, y - _BUTTON // 2
        return None

    def answer(self, way: str) -> None:
        """Click on a choice, and on OK."""
        x, y = self.ok()
        self.screen.click(x - 100, y + WAYS[way])
        self.screen.click(x, y)

    def seen(self) -> dict[str, Any]:
        """Look into Blender."""
        self.application.order("write")
        self.application.obeyed()
        file = self.application.folder / "seen.json"
        seen: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return seen

    def undo(self) -> None:
        """Press Ctrl Z over the 3D view."""
        self.screen.move(300, 500)
        self.screen.key("ctrl+z")

    def close(self) -> int:
        self.application.order("close")
        code = self.application.end()
        self._agents.shutdown()
        return code


@pytest.fixture
def seat(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Seat]:
    is_qt = getattr(request, "param", "blender") == "qt"
    with (
        blender_window.screen() as screen,
        blender_window.blender(
            tmp_path, screen, qt=is_qt, DCC_BRIDGE_SKILLS=str(TRIALS)
        ) as application,
    ):
        yield Seat(application, screen)


def test_a_click_in_blenders_own_dialog_deletes_and_its_own_undo_brings_back(seat: Seat) -> None:
    """There is no Qt; OK alone agrees to nothing, and a decline is told from it."""
    seat.application.call("list_objects", {})  # its window is up
    agreed = seat.ask("delete_objects", **CUBE)
    seat.screen.click(*seat.ok())  # nothing is chosen: it is shown again
    seat.ok()
    open_still = not agreed.done()
    seat.answer("accept")
    result = agreed.result()
    gone = seat.seen()["objects"]
    seat.undo()
    until(lambda: "Cube" in seat.seen()["objects"], "undo brought nothing back")
    refused = seat.ask("delete_objects", **CUBE)
    seat.answer("decline")

    assert open_still
    assert (status(result), gone) == ("done", ["Light"])
    assert status(refused.result()) == "refused"
    assert "said no" in str(refused.result().content)
    assert "Cube" in seat.seen()["objects"]
    assert seat.close() == 0, seat.application.output


def test_esc_deletes_nothing(seat: Seat) -> None:
    """The dialog lists twelve cameras, and goes; all of them stay."""
    seat.application.call("list_objects", {})  # its window is up
    seat.application.order("fill")
    seat.application.obeyed()
    asked = seat.ask("delete_objects", pattern="shot_*")
    seat.ok()
    if PICTURE:
        with Image.open(seat.screen.picture(Path(PICTURE))) as picture:
            picture.convert("RGB").quantize(256).save(PICTURE, optimize=True)
    seat.screen.key("Escape")

    assert status(asked.result()) == "refused"
    assert "without an answer" in str(asked.result().content)
    assert sum(name.startswith("shot_") for name in seat.seen()["objects"]) == 12
    # Blender's own exit code is 1 after Esc was pressed.
    assert seat.close() in (0, 1), seat.application.output


@pytest.mark.parametrize("seat", ["qt"], indirect=True)
def test_a_click_in_a_dialog_of_qt_does_the_same(seat: Seat) -> None:
    """Where PySide6 is installed; Blender's timer serves it."""
    agreed = seat.ask("delete_objects", **CUBE)
    until(lambda: "verb" in seat.seen(), "no dialog of Qt")
    time.sleep(1)  # it takes no click in its first moment
    seat.screen.click(*seat.seen()["verb"])
    result = agreed.result()
    gone = seat.seen()["objects"]
    seat.undo()

    assert (status(result), gone) == ("done", ["Light"])
    until(lambda: "Cube" in seat.seen()["objects"], "undo brought nothing back")
    assert seat.close() == 0, seat.application.output


def _blue(picture: Image.Image) -> Image.Image:
    """Give a picture that is white where there is the blue of Blender's buttons."""
    near = [
        part.point([255 * (abs(value - wanted) < 14) for value in range(256)])
        for part, wanted in zip(picture.split(), (71, 114, 179), strict=True)
    ]
    return ImageChops.darker(ImageChops.darker(near[0], near[1]), near[2])
