"""A screen for an application of its own, and a hand on its mouse and keyboard."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SIZE: Final = (1440, 900)
_NEEDED: Final = ("Xvfb", "xdotool", "import")


def missing() -> list[str]:
    """List the programs that are not installed."""
    return [name for name in _NEEDED if shutil.which(name) is None]


class Screen:
    """An X server.

    Attributes:
        display: Its name.
    """

    def __init__(self, display: str) -> None:
        self.display = display

    def click(self, window: str, x: int, y: int) -> None:
        """Move the mouse to a place in the window of that title, and press its left button."""
        found = ("search", "--onlyvisible", "--name", window)
        near, there = (("mousemove", "--window", "%1", str(x - d), str(y - d)) for d in (3, 0))
        self.do(*found, *near, "sleep", "0.3", *there, "sleep", "0.3", "click", "1")

    def key(self, window: str, *keys: str) -> None:
        """Press keys in the window of that title."""
        self.do("search", "--onlyvisible", "--name", window, "windowfocus", "--sync", "key", *keys)

    def do(self, *words: str) -> None:
        """Let xdotool do something."""
        subprocess.run(["xdotool", *words], env=self._environment, check=True, capture_output=True)

    def picture(self, file: Path) -> Path:
        """Take a picture of all of it."""
        command = ["import", "-window", "root", str(file)]
        subprocess.run(command, env=self._environment, check=True)
        return file

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "DISPLAY": self.display}


@contextmanager
def screen() -> Iterator[Screen]:
    """Run an X server as long as the block lasts."""
    reader, writer = os.pipe()
    size = f"{SIZE[0]}x{SIZE[1]}x24"
    # At its own 100 dots an inch Qt 5 counts in other pixels than the mouse.
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", size, "-dpi", "96"]
    with subprocess.Popen(command, pass_fds=(writer,), stderr=subprocess.DEVNULL) as server:
        os.close(writer)
        with open(reader) as told:
            yield Screen(f":{told.readline().strip()}")
        server.terminate()
