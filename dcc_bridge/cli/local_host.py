"""Runs our own application in this process, for ``serve`` and ``demo``. Main thread."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from dcc_bridge.audit.program_log import CleanFormatter, ProgramLog, log_file
from dcc_bridge.cli import exits, leaves
from dcc_bridge.config import Settings, data_folder
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.program import LocalProgram, Opening

if TYPE_CHECKING:
    from dcc_bridge.headless import Headless
    from dcc_bridge.program import WindowedHost

    Running: TypeAlias = Headless[Any] | WindowedHost

_SILENT: Final = ("mcp", "uvicorn", "httpx2", "httpcore2", "sse_starlette")


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the options of a host to a parser."""
    scene = "the scene to open; default: an empty one, or our own application's sample"
    parser.add_argument("--scene", type=Path, metavar="FILE", help=scene)
    headless = "no window, even if there is a screen"
    parser.add_argument("--headless", action="store_true", help=headless)
    parser.add_argument("--window", action="store_true", help=argparse.SUPPRESS)


def opening(
    program: LocalProgram,
    options: argparse.Namespace,
    settings: Settings,
    skills: Sequence[Path] = (),
) -> Opening:
    """Read what an application is to be started with.

    Args:
        program: The application.
        options: What `fill` takes.
        settings: How its bridge behaves.
        skills: Folders of skills that come after all others.

    Raises:
        Failure: A part of the installation is missing.
    """
    try:
        scene = options.scene or data_folder("resources") / program.sample
    except FileNotFoundError as error:
        raise exits.Failure(str(error)) from None
    offered = [folder for it in leaves.commands().values() for folder in it.skill_folders()]
    return Opening(
        scene=scene,
        skills=offered,
        settings=replace(settings, skills=(*settings.skills, *skills)),
        window=_wants_window(program, options),
        as_copy=options.scene is None,
    )


def run(program: LocalProgram, opening: Opening, on_ready: Callable[[Running], None]) -> None:
    """Run an application until it is told to stop.

    Args:
        program: The application.
        opening: What it is started with.
        on_ready: Called on the main thread once it takes requests.

    Raises:
        Failure: The scene cannot be read.
        MissingExtra: What the application needs is not installed.
        BridgeError: Its bridge cannot be started.
    """
    with ExitStack() as stack:
        stack.enter_context(logging_to_file())
        try:
            host = stack.enter_context(program.opened(opening))
        except (OSError, ValueError) as error:
            raise exits.Failure(str(error)) from None
        if opening.window:
            program.show(host, opening, on_ready)
            return
        from dcc_bridge.headless import Headless  # 0.5 s, and a host in a window needs it not

        running = Headless(
            host, opening.skills, settings=opening.settings, operations=program.operations
        )
        stack.enter_context(exits.on_signal(running.stop))
        running.run(lambda: on_ready(running))


def _wants_window(program: LocalProgram, options: argparse.Namespace) -> bool:
    if options.headless or options.window:
        return not options.headless
    is_there, why_not = program.find_screen()
    if why_not:
        exits.tell(why_not)
    return is_there


# ---- logging: a sentence in the terminal, the whole record in a file. What the SDK and uvicorn log
# is for the file alone: what is news of it, is told by us


@contextmanager
def logging_to_file() -> Iterator[None]:
    """Add the handlers to the root logger while in the ``with``."""
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)
    terminal.setFormatter(_Sentence())
    terminal.addFilter(lambda record: record.name.partition(".")[0] not in _SILENT)
    root = logging.getLogger()
    handlers: tuple[logging.Handler, ...] = (ProgramLog(), terminal)
    for handler in handlers:
        root.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()


class _Sentence(CleanFormatter):
    """Formats a record as one line: its first, and of a traceback the last."""

    def format(self, record: logging.LogRecord) -> str:
        first, *rest = super().format(record).splitlines() or [""]
        text = safe_line(f"{first}: {rest[-1]}" if rest else first, 1000)
        return f"dcc-bridge: {text}" + (f" (more in {log_file()})" if rest else "")
