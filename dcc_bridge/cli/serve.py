"""``dcc-bridge serve``: a host with the server in it, until it is told to stop.

The standalone host runs in this process, every other one in its own batch interpreter.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from dcc_bridge.cli import hosting, serving, unattended
from dcc_bridge.cli.exits import SUCCESS, Failure
from dcc_bridge.cli.hosting import Running
from dcc_bridge.hosts.batch import HOSTS

_OURS: Final = "standalone"


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "--host",
        choices=sorted(HOSTS),
        default=_OURS,
        help="any other than standalone is started without a window, in its own batch interpreter",
    )
    hosting.fill(parser)
    parser.add_argument(
        "--skills",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="a folder of skill files besides our own; may be given more than once",
    )
    parser.add_argument(
        "--port", type=int, metavar="N", help="where the server listens; 0, or nothing, for any"
    )
    unattended.fill(parser)
    parser.add_argument(
        "--interpreter", metavar="PATH", help="the host's batch interpreter, if not on PATH"
    )


def run(options: argparse.Namespace) -> int:
    """Serve until SIGINT, SIGTERM, or the window is closed.

    Raises:
        Failure: It could not be started.
    """
    if options.host != _OURS:
        return _elsewhere(options)
    if options.interpreter:
        raise Failure("--interpreter is for another --host than standalone.")
    opening = hosting.opening(
        options,
        skills=options.skills,
        port=options.port,
        rule=unattended.read(options.unattended),
    )
    hosting.run(opening, _announce)
    return SUCCESS


def _elsewhere(options: argparse.Namespace) -> int:
    if options.window:
        raise Failure(
            f"{options.host} is served without a window here; --window is for the standalone host. "
            f"With a window, the plug-in serves: dcc-bridge install {options.host}"
        )
    for folder in options.skills:
        if not folder.is_dir():
            raise Failure(f"There is no folder of skills at {folder}.")
    return serving.run(options)


def _announce(running: Running) -> None:
    scene = running.session.scene()
    where = "in a window" if running.session.has_ui else "without a window"
    print(f"Ready: {scene}, {where}, at {running.bridge.url}", flush=True)
