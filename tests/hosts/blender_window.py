"""Blender in a window on a screen of its own, with the plug-in installed as an add-on."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import platformdirs

from tests.hosts import freecad
from tests.hosts.application import Application, started, until

ROOT: Final = Path(__file__).parents[2]
PLUG_IN: Final = ROOT / "plugins" / "blender"
PROGRAM: Final = shutil.which("blender")
NEEDED: Final = ("blender", "Xvfb", "xdotool", "import")
_PERSON: Final = Path(__file__).parent / "blender_person.py"
_SIZE: Final = (1280, 800)
_QT: Final = "6.8.3"
"""A PySide6 for the Python that Debian's Blender runs on."""


class Screen:
    """An X server, and a hand on its mouse and keyboard."""

    def __init__(self, display: str) -> None:
        self.display = display

    def click(self, x: int, y: int) -> None:
        """Move the mouse there, as a hand does, and press its left button."""
        self.do("mousemove", str(x - 3), str(y - 3), "sleep", "0.2", "mousemove", str(x), str(y))
        self.do("sleep", "0.3", "click", "1")

    def move(self, x: int, y: int) -> None:
        self.do("mousemove", str(x), str(y))

    def key(self, *keys: str) -> None:
        self.do("key", "--delay", "60", *keys)

    def do(self, *words: str) -> str:
        done = subprocess.run(
            ["xdotool", *words], env=self._environment, check=True, capture_output=True, text=True
        )
        return done.stdout

    def picture(self, file: Path) -> Path:
        """See all of it."""
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
    size = f"{_SIZE[0]}x{_SIZE[1]}x24"
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", size, "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=(writer,), stderr=subprocess.DEVNULL) as server:
        os.close(writer)
        with open(reader) as told:
            yield Screen(f":{told.readline().strip()}")
        server.terminate()


@contextmanager
def blender(
    folder: Path, screen: Screen, *, qt: bool = False, **more: str
) -> Iterator[Application]:
    """Run Blender as long as the block lasts, with the add-on; its mouse is in the middle."""
    scripts = folder / "scripts"
    install(scripts / "addons" / "dcc_bridge_blender", qt=qt)
    screen.move(_SIZE[0] // 2, _SIZE[1] // 2)
    words = ("--factory-startup", "--addons", "dcc_bridge_blender")
    with opened(folder, screen, *words, BLENDER_USER_SCRIPTS=str(scripts), **more) as running:
        yield running


@contextmanager
def opened(folder: Path, screen: Screen, *words: str, **more: str) -> Iterator[Application]:
    """Run Blender as long as the block lasts, with what is installed in its home."""
    assert PROGRAM is not None
    width, height = map(str, _SIZE)
    command = [PROGRAM, *words, "--window-geometry", "0", "0", width, height]
    ours = {"DISPLAY": screen.display, "LIBGL_ALWAYS_SOFTWARE": "1"}
    with started([*command, "--python", _PERSON], folder, **ours, **more) as running:
        yield running


def install(target: Path, *, qt: bool) -> None:
    """Put the add-on where Blender looks, with what it depends on beside it."""
    shutil.copytree(PLUG_IN / "dcc_bridge_blender", target)
    shutil.copytree(PLUG_IN / "skills", target / "skills")
    vendor = target / "vendor"
    vendor.mkdir()
    folders = [freecad.dependencies(), *([_pyside()] if qt else [])]
    parts = [part for folder in folders for part in folder.iterdir()]
    for part in [ROOT / "dcc_bridge", *parts]:
        with suppress(FileExistsError):
            (vendor / part.name).symlink_to(part)


def _pyside() -> Path:
    """Install PySide6 for Blender's Python, once."""
    cache = platformdirs.user_cache_path("dcc_bridge_tests", ensure_exists=True)
    folder = cache / f"pyside-{_QT}"
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as new:
            wanted = f"PySide6-Essentials=={_QT}"
            pip = ["/usr/bin/python3", "-m", "pip", "install", "--quiet", "--target", f"{new}/it"]
            subprocess.run([*pip, wanted], check=True, timeout=240)
            with suppress(OSError):
                os.rename(f"{new}/it", folder)
    return folder


__all__ = ["NEEDED", "PROGRAM", "Screen", "blender", "install", "opened", "screen", "until"]
