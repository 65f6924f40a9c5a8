"""``dcc-bridge serve``: the standalone host with its server, until it is told to stop."""

from __future__ import annotations

import argparse
from pathlib import Path

from dcc_bridge.cli import hosting
from dcc_bridge.cli.exits import SUCCESS
from dcc_bridge.cli.hosting import Running


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
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
        "--pages",
        action="store_true",
        help="no window: each question is a page for your browser, whose address is printed",
    )
    parser.add_argument(
        "--port", type=int, metavar="N", help="where the server listens; 0, or nothing, for any"
    )


def run(options: argparse.Namespace) -> int:
    """Serve until SIGINT, SIGTERM, or the window is closed."""
    opening = hosting.opening(
        options, skills=options.skills, port=options.port, pages=options.pages
    )
    hosting.run(opening, _announce)
    return SUCCESS


def _announce(running: Running) -> None:
    scene = running.session.scene()
    where = "in a window" if running.session.has_ui else "without a window"
    print(f"Ready: {scene}, {where}, at {running.bridge.url}", flush=True)
