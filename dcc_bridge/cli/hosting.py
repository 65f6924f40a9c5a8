"""``dcc-bridge serve``: a host with the server in it, until it is told to stop. Main thread.

The standalone host, which its plug-in knows how to start, runs in this process, and every other
one in its own batch interpreter.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dcc_bridge.audit.program_log import CleanFormatter, ProgramLog, log_file
from dcc_bridge.cli import exits, hosts, interpreter, load
from dcc_bridge.elicitation.text import safe_line

if TYPE_CHECKING:
    from dcc_bridge_usd.serve import Running

_SILENT: Final = ("mcp", "uvicorn", "httpx2", "httpcore2", "sse_starlette")
_HOW: Final = (
    "It has no window: questions go to the client that calls. If that cannot ask, --unattended "
    "decides. Agents find it through `dcc-bridge client add NAME`, you with "
    "`dcc-bridge tools` and `dcc-bridge call`. Ctrl+C ends it."
)


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
    ours = load("usd/dcc_bridge_usd.serve")
    ours.run(ours.opening(options, interpreter.skill_folders(options), settings), _announce)
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


# ---- logging: a sentence in the terminal, the whole record in a file. What the SDK and uvicorn log
# is for the file alone: what is news of it, is told by us


@contextmanager
def kept() -> Iterator[None]:
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
