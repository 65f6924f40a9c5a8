"""``dcc-bridge connect``: joins a client that speaks stdio to the hosts that run.

Clients start it; ``dcc-bridge client`` writes it into their configuration. stdout carries the
protocol and nothing else.
"""

from __future__ import annotations

import argparse
import re
import signal
from functools import partial
from typing import Final

import anyio

from dcc_bridge.cli import target
from dcc_bridge.cli.exits import SUCCESS
from dcc_bridge.client import proxy
from dcc_bridge.client.proxy.choice import Wanted
from dcc_bridge.server import discovery

_LABEL: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--host", metavar="NAME", help="only this application, such as maya")
    parser.add_argument(
        "--scene", metavar="GLOB", help="only scenes whose name matches, such as 'shot_*'"
    )
    parser.add_argument(
        "--instance", metavar="ID", help="only this one, as `dcc-bridge list` names it"
    )
    parser.add_argument(
        "--label",
        type=label,
        default="stdio",
        metavar="NAME",
        help="under which hosts know the client that starts this",
    )


def run(options: argparse.Namespace) -> int:
    """Serve until the client closes stdin."""
    running = partial(discovery.running, target.settings().runtime)
    running()  # a folder that is not ours is said here, in a sentence
    wanted = Wanted(options.host, options.scene, options.instance)
    # Python's own handler would wait for the thread that reads stdin; nothing here has to be saved.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(proxy.serve, running, wanted, options.label)
    except* BrokenPipeError:
        pass  # the client is gone
    return SUCCESS


def label(text: str) -> str:
    """Read a label.

    Raises:
        ArgumentTypeError: It cannot be one.
    """
    if not _LABEL.fullmatch(text):
        raise argparse.ArgumentTypeError(f"letters, digits, - and _ only, 40 at most; not {text!r}")
    return text
