"""Blender in a window on a screen of its own, with the plug-in installed as an add-on."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import distribution
from pathlib import Path
from typing import Final

import platformdirs

from dcc_bridge.errors import DISTRIBUTION
from tests.hosts import freecad
from tests.hosts.application import Application, started
from tests.hosts.screen import Screen

ROOT: Final = Path(__file__).parents[2]
PLUG_IN: Final = ROOT / "plugins" / "blender"
PROGRAM: Final = shutil.which("blender")
_PERSON: Final = Path(__file__).parent / "person.py"
SIZE: Final = (1280, 800)
REST: Final = (600, 420)  # where the mouse is while nothing is clicked: a dialog opens around it
_QT: Final = "6.8.3"  # a PySide6 for the Python that Debian's Blender runs on


@contextmanager
def blender(
    folder: Path, screen: Screen, *, qt: bool = False, **more: str
) -> Iterator[Application]:
    """Run Blender as long as the block lasts, with the add-on."""
    scripts = folder / "scripts"
    install(scripts / "addons" / "dcc_bridge_blender", qt=qt)
    screen.move(*REST)
    words = ("--factory-startup", "--addons", "dcc_bridge_blender")
    with opened(folder, screen, *words, BLENDER_USER_SCRIPTS=str(scripts), **more) as running:
        yield running


@contextmanager
def opened(folder: Path, screen: Screen, *words: str, **more: str) -> Iterator[Application]:
    """Run Blender as long as the block lasts, with what is installed in its home."""
    assert PROGRAM is not None
    width, height = map(str, SIZE)
    command = [PROGRAM, *words, "--window-geometry", "0", "0", width, height]
    # other tests of this process have Qt draw nowhere
    seen = {"DISPLAY": screen.display, "QT_QPA_PLATFORM": "xcb"}
    ours = {**seen, "LIBGL_ALWAYS_SOFTWARE": "1", "TMPDIR": str(folder)}  # where it notes a crash
    with started([*command, "--python", _PERSON], folder, **ours, **more) as running:
        yield running


def install(target: Path, *, qt: bool) -> None:
    """Put the add-on where Blender looks, with what it depends on beside it."""
    shutil.copytree(PLUG_IN / "dcc_bridge_blender", target)
    vendor = target / "vendor"
    vendor.mkdir()
    folders = [freecad.dependencies(), *([_pyside()] if qt else [])]
    parts = [part for folder in folders for part in folder.iterdir()]
    (ours,) = Path(str(distribution(DISTRIBUTION).locate_file(""))).glob(
        "dcc_bridge_mcp-*.dist-info"
    )
    for part in [ROOT / "dcc_bridge", ours, *parts]:
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
