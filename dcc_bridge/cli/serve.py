"""``dcc-bridge serve``: a host with the server in it, until it is told to stop.

The standalone host runs in this process, every other one in its own batch interpreter.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final

from dcc_bridge.cli import exits, hosting, hosts, interpreter
from dcc_bridge.elicitation.text import safe_line

if TYPE_CHECKING:
    from dcc_bridge.cli.hosting import Running

_OURS: Final = "standalone"
_HOW: Final = (
    "It has no window: questions go to the client that calls. If that cannot ask, --unattended "
    "decides. Agents find it through `dcc-bridge client add NAME`, you with "
    "`dcc-bridge tools` and `dcc-bridge call`. Ctrl+C ends it."
)


def fill(parser: argparse.ArgumentParser) -> None:
    """Add the command's options to a parser."""
    interpreter.fill(parser, "any but standalone has no window, and its own batch interpreter")
    hosting.fill(parser)
    parser.add_argument(
        "--port", type=int, metavar="N", help="the server's port; default: any free one"
    )


def run(options: argparse.Namespace) -> int:
    """Serve until SIGINT, SIGTERM, or the window is closed.

    Raises:
        Failure: It could not be started.
    """
    if options.host != _OURS:
        return _elsewhere(options)
    if options.interpreter:
        raise exits.Failure("--interpreter needs a --host other than standalone.")
    rule, allow_list = interpreter.read_unattended(options.unattended)
    settings = hosts.settings(port=options.port, unattended=rule, allow_list=allow_list)
    hosting.run(hosting.opening(options, interpreter.skill_folders(options), settings), _announce)
    return exits.SUCCESS


def _elsewhere(options: argparse.Namespace) -> int:
    if options.window:
        raise exits.Failure(
            f"{options.host} is served without a window here; --window is for the standalone host. "
            f"With a window, the plug-in serves: dcc-bridge install {options.host}"
        )
    with (
        interpreter.started(options, sys.stderr, port=options.port) as started,
        exits.on_signal(started.stop),
    ):
        ready = started.wait_until_ready()
        if ready is not None:
            what = f"{safe_line(ready['host'])}, {safe_line(ready['scene'])}"
            print(f"Ready: {what}, without a window, at {ready['url']}", flush=True)
            exits.tell(_HOW)
        else:  # freecadcmd goes on, and waits for somebody who types
            started.end()
        started.process.wait()
        return _ended(started, ready is not None)


def _ended(started: interpreter.Interpreter, was_ready: bool) -> int:
    """Give the exit code.

    Raises:
        Failure: It was not told to end, or did not end well.
    """
    error, code = started.report().get("error"), started.process.returncode
    if error is not None:
        raise exits.Failure(error, exits.TOOL_ERROR) if was_ready else exits.Failure(error)
    was_stopped = started.was_stopped.is_set()
    if was_stopped and code == 0:
        return exits.SUCCESS
    when = "when it was told to" if was_stopped else "by itself"
    raise exits.Failure(
        f"{started.program} ended {when}, with {code}. Its output is above.", exits.TOOL_ERROR
    )


def _announce(running: Running) -> None:
    scene = safe_line(running.host.scene())
    where = "in a window" if running.host.has_ui else "without a window"
    print(f"Ready: {scene}, {where}, at {running.bridge.url}", flush=True)
