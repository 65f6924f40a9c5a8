"""A screen for an application of its own, and a hand on its mouse and keyboard."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from PIL import Image, ImageGrab

SIZE: Final = (1440, 900)
_NEEDED: Final = ("Xvfb", "xdotool", "import")


def missing() -> list[str]:
    return [name for name in _NEEDED if shutil.which(name) is None]


class Screen:
    """An X server."""

    def __init__(self, display: str) -> None:
        self.display = display  # its name

    def click(self, window: str, x: int, y: int) -> None:
        """Move the mouse to a place in the window of that title, and press its left button."""
        found = ("search", "--onlyvisible", "--name", window)
        near, there = (("mousemove", "--window", "%1", str(x - d), str(y - d)) for d in (3, 0))
        self.do(*found, *near, "sleep", "0.3", *there, "sleep", "0.3", "click", "1")

    def move(self, x: int, y: int) -> None:
        self.do("mousemove", str(x), str(y))

    def press(self) -> None:
        self.do("click", "1")

    def tap(self, *keys: str) -> None:
        """Press keys, where no window manager says whose they are."""
        self.do("key", "--delay", "60", *keys)

    def write(self, text: str) -> None:
        self.do("type", "--delay", "60", text)

    def begin_to_write(self, text: str) -> subprocess.Popen[bytes]:
        """Write, and give what ends once all is written."""
        command = ["xdotool", "type", "--delay", "100", text]
        return subprocess.Popen(command, env=self._environment)

    def key(self, window: str, *keys: str) -> None:
        """Press keys in the window of that title."""
        self.do("search", "--onlyvisible", "--name", window, "windowfocus", "--sync", "key", *keys)

    def do(self, *words: str) -> None:
        subprocess.run(["xdotool", *words], env=self._environment, check=True, capture_output=True)

    def ask(self, *words: str, limit: float = 60) -> str:
        """Give what xdotool prints; fail where it takes more seconds than the limit."""
        command = ["xdotool", *words]
        done = subprocess.run(
            command,
            env=self._environment,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            timeout=limit,
        )
        return done.stdout

    def look(self) -> Image.Image:
        return ImageGrab.grab(xdisplay=self.display).convert("RGB")

    def picture(self, file: Path) -> Path:
        command = ["import", "-window", "root", str(file)]
        subprocess.run(command, env=self._environment, check=True)
        return file

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "DISPLAY": self.display}


@contextmanager
def screen(width: int = SIZE[0], height: int = SIZE[1]) -> Iterator[Screen]:
    """Run an X server as long as the block lasts."""
    reader, writer = os.pipe()
    size = f"{width}x{height}x24"
    # At its own 100 dots an inch Qt 5 counts in other pixels than the mouse.
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", size, "-dpi", "96"]
    with subprocess.Popen(command, pass_fds=(writer,), stderr=subprocess.DEVNULL) as server:
        os.close(writer)
        with open(reader) as told:
            display = told.readline().strip()
        try:
            yield Screen(f":{display}")
        finally:
            server.terminate()
