"""The standalone host in this process: what it is started with, and what runs then. Main thread."""

from __future__ import annotations

import argparse
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

from dcc_bridge.cli import exits, logs
from dcc_bridge.config import Settings, data_folder

if TYPE_CHECKING:
    from dcc_bridge.cli.windowed import Windowed
    from dcc_bridge.headless import Headless
    from dcc_bridge.hosts.standalone import UsdSession

    Running = Headless[UsdSession] | Windowed
    OnReady = Callable[[Running], None]

# The scene that comes with us, in the resources.
SHOT: Final = Path("scenes", "shot_010_layout.usda")
_TRY: Final = "from PySide6.QtWidgets import QApplication; QApplication([])"
_SCREEN_TIMEOUT: Final = 20.0
_UNSEEN: Final = ("offscreen", "minimal")  # Qt's platforms that nobody looks at


@dataclass(frozen=True, slots=True)
class Opening:
    """What a host is started with."""

    scene: Path  # the file it opens
    skills: tuple[Path, ...]  # folders of skill files, the most trusted first
    settings: Settings  # how its bridge behaves
    window: bool  # whether a person can sit at it
    # The scene is the one that comes with us: a copy is opened, never the file itself.
    bundled: bool = False


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of a host to a parser."""
    parser.add_argument(
        "--scene",
        type=Path,
        metavar="FILE",
        help="the scene to open; default: an empty one, or a sample scene in the standalone host",
    )
    parser.add_argument(
        "--headless", action="store_true", help="no window, even if there is a screen"
    )
    parser.add_argument("--window", action="store_true", help=argparse.SUPPRESS)


def opening(options: argparse.Namespace, skills: list[Path], settings: Settings) -> Opening:
    """Read what a host is to be started with.

    Args:
        options: What `fill` takes.
        skills: Folders of skill files that come after all others.
        settings: How its bridge behaves.

    Raises:
        Failure: A part of the installation is not there.
    """
    try:
        ours = data_folder("plugins") / "standalone" / "skills"
        scene = options.scene or data_folder("resources") / SHOT
    except FileNotFoundError as error:
        raise exits.Failure(str(error)) from None
    window = _wants_window(options)
    settings = replace(settings, skills=(*settings.skills, *skills))
    return Opening(scene, (ours,), settings, window, bundled=options.scene is None)


def run(opening: Opening, on_ready: OnReady) -> None:
    """Run a host until it is told to stop; `on_ready` is called there once it takes requests.

    Raises:
        Failure: It cannot be started; says why.
        StartError: Its server cannot.
    """
    with logs.kept(), _session(opening) as host:
        if opening.window:
            windowed().run(host, opening, on_ready)
            return
        from dcc_bridge.headless import Headless  # 0.5 s, and a host in a window needs it not

        running = Headless(host, opening.skills, settings=opening.settings)
        with exits.on_signal(running.stop):
            running.run(lambda: on_ready(running))


def windowed() -> ModuleType:
    """Import the module of this folder that needs the extra "demo".

    Raises:
        Failure: It is not installed.
    """
    try:
        return importlib.import_module("dcc_bridge.cli.windowed")
    except ImportError as error:
        raise _not_installed(error) from None


@contextmanager
def _session(opening: Opening) -> Iterator[UsdSession]:
    """Have the scene open while in the ``with``.

    Raises:
        Failure: It cannot be read, or the host is not installed.
    """
    try:  # needs the extra, and this module does not
        from dcc_bridge.hosts.standalone import UsdSession, install
    except ImportError as error:
        raise _not_installed(error) from None

    try:
        session = UsdSession(opening.scene, has_ui=opening.window, as_copy=opening.bundled)
    except (OSError, ValueError) as error:
        raise exits.Failure(str(error)) from None
    uninstall = install(session)
    try:
        yield session
    finally:
        uninstall()


def _not_installed(error: ImportError) -> exits.Failure:
    return exits.Failure(
        f"The standalone host is not installed ({error}). pip install 'dcc-bridge-mcp[demo]'"
    )


def _wants_window(options: argparse.Namespace) -> bool:
    if options.headless or options.window:
        return not options.headless
    is_there, why_not = find_screen()
    if why_not:
        exits.tell(why_not)
    return is_there


def find_screen() -> tuple[bool, str]:
    """Look for a screen.

    Returns:
        Whether there is one; and if one was announced but cannot be used, a sentence that says why.
    """
    if os.environ.get("QT_QPA_PLATFORM", "").startswith(_UNSEEN):
        return False, ""
    announced = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not announced and sys.platform not in ("win32", "darwin"):
        return False, ""
    if importlib.util.find_spec("PySide6") is None:
        return False, "PySide6 is not installed, so the host runs without a window."
    why_not = _try()
    return not why_not, why_not


def _try() -> str:
    """Make an application in another process: Qt aborts the one that has no screen or library."""
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _TRY],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SCREEN_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "The screen does not respond, so the host runs without a window."
    if tried.returncode == 0:
        return ""
    return f"Qt cannot show a window here, so the host runs without one: {_reason(tried)}"


def _reason(tried: subprocess.CompletedProcess[str]) -> str:
    """Give the line that says most: Qt's own first one, or the end of a traceback."""
    lines = [line.strip() for line in tried.stderr.splitlines() if line.strip()]
    of_qt = [line.partition(": ")[2] for line in lines if line.startswith("qt.qpa")]
    return (of_qt or lines[-1:] or [f"it ended with {tried.returncode}."])[0]
