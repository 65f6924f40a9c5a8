"""Starts our own application with its bridge, in a window where there is a screen. Main thread.

What ``dcc-bridge serve`` and ``demo`` have in common. It needs neither the scene's library nor Qt
before it is asked to start: what is not installed is said in a sentence.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from dcc_bridge.cli import exits, hosting
from dcc_bridge.config import Settings, data_folder

if TYPE_CHECKING:
    from dcc_bridge.headless import Headless

    from .host import UsdSession
    from .plugin import Windowed

    Running = Headless[UsdSession] | Windowed
    OnReady = Callable[[Running], None]

# The scene that comes with us, in the resources.
SHOT: Final = Path("scenes", "shot_010_layout.usda")
_TRY: Final = "from PySide6.QtWidgets import QApplication; QApplication([])"
_UNSEEN: Final = ("offscreen", "minimal")  # Qt's platforms that nobody looks at
_EXTRA: Final = "pip install 'dcc-bridge-mcp[demo]'"


@dataclass(frozen=True, slots=True)
class Opening:
    """What a host is started with."""

    scene: Path  # the file it opens
    skills: tuple[Path, ...]  # folders of skill files, the most trusted first
    settings: Settings  # how its bridge behaves
    window: bool  # whether a person can sit at it
    # The scene is the one that comes with us: a copy is opened, never the file itself.
    bundled: bool = False


def opening(options: argparse.Namespace, skills: list[Path], settings: Settings) -> Opening:
    """Read what a host is to be started with; Failure if a part of the installation is missing.

    The options are what `hosting.fill` takes; the folders of `skills` come after all others.
    """
    try:
        plugins = data_folder("plugins")
        scene = options.scene or data_folder("resources") / SHOT
    except FileNotFoundError as error:
        raise exits.Failure(str(error)) from None
    settings = replace(settings, skills=(*settings.skills, *skills))
    is_bundled = options.scene is None
    folders = []
    if importlib.util.find_spec(
        "openjd"
    ):  # what agents plan with it, a person approves and runs here
        folders.append(plugins / "batch" / "dcc_bridge_batch" / "skills")
    return Opening(scene, tuple(folders), settings, _wants_window(options), is_bundled)


def run(opening: Opening, on_ready: OnReady) -> None:
    """Run a host until it is told to stop; `on_ready` is called there once it takes requests.

    Failure says why it cannot be started, StartError why its server cannot.
    """
    with hosting.kept(), _session(opening) as host:
        if opening.window:
            windowed().run(host, opening, on_ready)
            return
        from dcc_bridge.headless import Headless  # 0.5 s, and a host in a window needs it not

        from .operations import operations

        running = Headless(host, opening.skills, settings=opening.settings, operations=operations)
        with exits.on_signal(running.stop):
            running.run(lambda: on_ready(running))


def windowed() -> ModuleType:
    """Import what starts the application; Failure where it is not installed."""
    try:
        return importlib.import_module(".plugin", __package__)
    except ImportError as error:
        what = f"The standalone host's window is not installed ({error})"
        raise exits.Failure(f"{what}. {_EXTRA}, or use --headless.") from None


@contextmanager
def _session(opening: Opening) -> Iterator[UsdSession]:
    """Have the scene open in a ``with``; Failure if it cannot be read, or there is no such host."""
    try:  # needs the extra, and this module does not
        from . import install
        from .host import UsdSession
    except ImportError as error:
        sentence = f"The standalone host is not installed ({error}). {_EXTRA}"
        raise exits.Failure(sentence) from None

    try:
        session = UsdSession(opening.scene, has_ui=opening.window, as_copy=opening.bundled)
    except (OSError, ValueError) as error:
        raise exits.Failure(str(error)) from None
    uninstall = install(session)
    try:
        yield session
    finally:
        uninstall()


def _wants_window(options: argparse.Namespace) -> bool:
    if options.headless or options.window:
        return not options.headless
    is_there, why_not = find_screen()
    if why_not:
        exits.tell(why_not)
    return is_there


def find_screen() -> tuple[bool, str]:
    """Tell whether there is a screen, and why one that was announced cannot be used, or ""."""
    if os.environ.get("QT_QPA_PLATFORM", "").startswith(_UNSEEN):
        return False, ""
    announced = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not announced and sys.platform not in ("win32", "darwin"):
        return False, ""
    if importlib.util.find_spec("PySide6") is None:
        return False, "PySide6 is not installed, so the host runs without a window."
    command = [sys.executable, "-c", _TRY]  # another process: Qt aborts one that has no screen
    try:
        tried = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=20.0, check=False
        )
    except subprocess.TimeoutExpired:
        return False, "The screen does not respond, so the host runs without a window."
    if tried.returncode == 0:
        return True, ""
    # What says most is Qt's own first line, or the end of a traceback.
    lines = [line.strip() for line in tried.stderr.splitlines() if line.strip()]
    of_qt = [line.partition(": ")[2] for line in lines if line.startswith("qt.qpa")]
    reason = (of_qt or lines[-1:] or [f"it ended with {tried.returncode}."])[0]
    return False, f"Qt cannot show a window here, so the host runs without one: {reason}"
