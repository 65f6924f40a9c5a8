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
    scene = "the scene to open; default: an empty scene, or the sample scene of our own application"
    parser.add_argument("--scene", type=Path, metavar="FILE", help=scene)
    headless = "open no window, even if there is a screen"
    parser.add_argument("--headless", action="store_true", help=headless)
    parser.add_argument("--window", action="store_true", help=argparse.SUPPRESS)


def opening(
    program: LocalProgram,
    options: argparse.Namespace,
    settings: Settings,
    skills: Sequence[Path] = (),
) -> Opening:
    """Return the parameters with which an application is started.

    Args:
        program: The application.
        options: The options of `fill`.
        settings: The settings of the application's bridge.
        skills: Folders of skills, after all others.

    Raises:
        Failure: A part of the installation is missing.
    """
    try:
        scene = options.scene or data_folder("resources") / program.sample
    except FileNotFoundError as error:
        raise exits.Failure(str(error)) from None
    leaf_skills: list[Path] = []
    for command in leaves.commands().values():
        leaf_skills += command.skill_folders()
    return Opening(
        scene=scene,
        skills=leaf_skills,
        settings=replace(settings, skills=(*settings.skills, *skills)),
        window=_wants_window(program, options),
        as_copy=options.scene is None,
    )


def run(program: LocalProgram, opening: Opening, on_ready: Callable[[Running], None]) -> None:
    """Run an application until its window is closed, or a signal comes.

    Args:
        program: The application.
        opening: The parameters with which the application is started.
        on_ready: Called on the main thread once the application takes requests.

    Raises:
        Failure: The scene cannot be read.
        MissingExtra: A package that the application needs is not installed.
        BridgeError: The application's bridge cannot be started.
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
        from dcc_bridge.headless import Headless  # takes 0.5 s, which a host in a window saves

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


# ---- Logging: a sentence in the terminal, the whole record in a file. The logs of the SDK and of
# uvicorn go only to the file, because the commands print their important errors.


@contextmanager
def logging_to_file() -> Iterator[None]:
    """Log to the terminal and to a file, for the length of a ``with`` block."""
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)
    terminal.setFormatter(_Sentence())
    terminal.addFilter(_is_for_terminal)
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


def _is_for_terminal(record: logging.LogRecord) -> bool:
    package = record.name.partition(".")[0]
    return package not in _SILENT


class _Sentence(CleanFormatter):
    """Formats a record as one line: the first line of its text, and the last of a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        first, *rest = super().format(record).splitlines() or [""]
        if not rest:
            return f"dcc-bridge: {safe_line(first, 1000)}"
        text = safe_line(f"{first}: {rest[-1]}", 1000)
        return f"dcc-bridge: {text} (more in {log_file()})"
