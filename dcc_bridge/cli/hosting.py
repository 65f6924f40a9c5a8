"""``dcc-bridge serve``: a host with the server in it, until it is told to stop. Main thread.

The standalone host runs in this process, for ``demo`` too, and every other one in its own batch
interpreter.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

import platformdirs

from dcc_bridge import private_files
from dcc_bridge.audit import redact
from dcc_bridge.cli import exits, hosts, interpreter
from dcc_bridge.config import Settings, data_folder
from dcc_bridge.elicitation.text import safe_line

if TYPE_CHECKING:
    from dcc_bridge.headless import Headless
    from dcc_bridge.hosts.standalone import UsdSession
    from dcc_bridge_standalone import Windowed

    Running = Headless[UsdSession] | Windowed
    OnReady = Callable[[Running], None]

# The scene that comes with us, in the resources.
SHOT: Final = Path("scenes", "shot_010_layout.usda")
_TRY: Final = "from PySide6.QtWidgets import QApplication; QApplication([])"
_MOST: Final = 2_000_000  # bytes from which on the file is put aside and a new one begun
_SILENT: Final = ("mcp", "uvicorn", "httpx2", "httpcore2", "sse_starlette")
_UNSEEN: Final = ("offscreen", "minimal")  # Qt's platforms that nobody looks at
_EXTRA: Final = "pip install 'dcc-bridge-mcp[demo]'"
_HOW: Final = (
    "It has no window: questions go to the client that calls. If that cannot ask, --unattended "
    "decides. Agents find it through `dcc-bridge client add NAME`, you with "
    "`dcc-bridge tools` and `dcc-bridge call`. Ctrl+C ends it."
)


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
    scene = "the scene to open; default: an empty one, or a sample scene in the standalone host"
    parser.add_argument("--scene", type=Path, metavar="FILE", help=scene)
    headless = "no window, even if there is a screen"
    parser.add_argument("--headless", action="store_true", help=headless)
    parser.add_argument("--window", action="store_true", help=argparse.SUPPRESS)


def fill_serve(parser: argparse.ArgumentParser) -> None:
    """Add what ``serve`` takes to a parser."""
    interpreter.fill(parser, "any but standalone has no window, and its own batch interpreter")
    fill(parser)
    port = "the server's port; default: any free one"
    parser.add_argument("--port", type=int, metavar="N", help=port)


def run_serve(options: argparse.Namespace) -> int:
    """Serve until SIGINT, SIGTERM, or the window is closed; Failure if it could not be started."""
    if options.host != "standalone":
        return _serve_elsewhere(options)
    if options.interpreter:
        raise exits.Failure("--interpreter needs a --host other than standalone.")
    rule, allow_list = interpreter.read_unattended(options.unattended)
    settings = hosts.settings(port=options.port, unattended=rule, allow_list=allow_list)
    run(opening(options, interpreter.skill_folders(options), settings), _announce)
    return exits.SUCCESS


def _announce(running: Running) -> None:
    where = "in a window" if running.host.has_ui else "without a window"
    print(f"Ready: {safe_line(running.host.scene())}, {where}, at {running.bridge.url}", flush=True)


def _serve_elsewhere(options: argparse.Namespace) -> int:
    """Give the exit code; Failure if the host was not told to end, or did not end well."""
    if options.window:
        raise exits.Failure(
            f"{options.host} is served without a window here; --window is for the standalone host. "
            f"With a window, the plug-in serves: dcc-bridge install {options.host}"
        )
    with (
        interpreter.started(options, sys.stderr, port=options.port) as started,
        exits.on_signal(started.stop),
    ):
        if (ready := started.wait_until_ready()) is not None:
            what = f"{safe_line(ready['host'])}, {safe_line(ready['scene'])}"
            print(f"Ready: {what}, without a window, at {ready['url']}", flush=True)
            exits.tell(_HOW)
        else:  # freecadcmd goes on, and waits for somebody who types
            started.end()
        code, was_stopped = started.process.wait(), started.was_stopped.is_set()
        if (error := started.report().get("error")) is not None:
            raise exits.Failure(error, exits.USAGE if ready is None else exits.TOOL_ERROR)
        if was_stopped and code == 0:
            return exits.SUCCESS
        when = "when it was told to" if was_stopped else "by itself"
        sentence = f"{started.program} ended {when}, with {code}. Its output is above."
        raise exits.Failure(sentence, exits.TOOL_ERROR)


# ---- the standalone host


def opening(options: argparse.Namespace, skills: list[Path], settings: Settings) -> Opening:
    """Read what a host is to be started with; Failure if a part of the installation is missing.

    The options are what `fill` takes; the folders of `skills` come after all others.
    """
    try:
        ours = data_folder("plugins") / "standalone" / "skills"
        scene = options.scene or data_folder("resources") / SHOT
    except FileNotFoundError as error:
        raise exits.Failure(str(error)) from None
    settings = replace(settings, skills=(*settings.skills, *skills))
    is_bundled = options.scene is None
    return Opening(scene, (ours,), settings, _wants_window(options), is_bundled)


def run(opening: Opening, on_ready: OnReady) -> None:
    """Run a host until it is told to stop; `on_ready` is called there once it takes requests.

    Failure says why it cannot be started, StartError why its server cannot.
    """
    with kept(), _session(opening) as host:
        if opening.window:
            windowed().run(host, opening, on_ready)
            return
        from dcc_bridge.headless import Headless  # 0.5 s, and a host in a window needs it not

        running = Headless(host, opening.skills, settings=opening.settings)
        with exits.on_signal(running.stop):
            running.run(lambda: on_ready(running))


def windowed() -> ModuleType:
    """Import what starts the application; Failure where it is not installed."""
    folder = str(data_folder("plugins") / "standalone")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return importlib.import_module("dcc_bridge_standalone")
    except ImportError as error:
        what = f"The standalone host's window is not installed ({error})"
        raise exits.Failure(f"{what}. {_EXTRA}, or use --headless.") from None


@contextmanager
def _session(opening: Opening) -> Iterator[UsdSession]:
    """Have the scene open in a ``with``; Failure if it cannot be read, or there is no such host."""
    try:  # needs the extra, and this module does not
        from dcc_bridge.hosts.standalone import UsdSession, install
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


# ---- logging: a sentence in the terminal, the whole record in a file. What the SDK and uvicorn log
# is for the file alone: what is news of it, is told by us


def file() -> Path:
    """Give the path of the log file."""
    return platformdirs.user_state_path("dcc_bridge") / "log" / "host.log"


@contextmanager
def kept() -> Iterator[None]:
    """Add the handlers to the root logger while in the ``with``."""
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)
    terminal.setFormatter(_Sentence())
    terminal.addFilter(lambda record: record.name.partition(".")[0] not in _SILENT)
    root = logging.getLogger()
    handlers: tuple[logging.Handler, ...] = (_File(), terminal)
    for handler in handlers:
        root.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


class _File(logging.FileHandler):
    def __init__(self) -> None:
        super().__init__(file(), encoding="utf-8", delay=True)
        self.setFormatter(_Clean("%(asctime)s %(process)d %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # a disk that is full must not end what was logged
            super().emit(record)

    def handleError(self, record: logging.LogRecord) -> None:
        """Say nothing: logging would write the record, token and all, to the terminal."""

    def close(self) -> None:
        with suppress(OSError):  # what could not be written is tried once more
            super().close()

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        private_files.folder(path.parent)
        with suppress(FileNotFoundError):
            if path.stat().st_size > _MOST:
                os.replace(path, path.with_suffix(".1.log"))
        try:
            opened = private_files.create(path)
        except FileExistsError:
            opened = private_files.reopen(path)
        return open(opened, "a", encoding="utf-8", errors="backslashreplace")


class _Clean(logging.Formatter):
    """Removes tokens from every record; from our own they are gone already."""

    def format(self, record: logging.LogRecord) -> str:
        return redact.redact_tokens(super().format(record))


class _Sentence(_Clean):
    """Formats a record as one line: its first, and of a traceback the last."""

    def format(self, record: logging.LogRecord) -> str:
        first, *rest = super().format(record).splitlines() or [""]
        text = safe_line(f"{first}: {rest[-1]}" if rest else first, 1000)
        return f"dcc-bridge: {text}" + (f" (more in {file()})" if rest else "")
