"""``dcc-bridge list``: the hosts that are running."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from typing import Final

from dcc_bridge.cli import target
from dcc_bridge.cli.exits import SUCCESS
from dcc_bridge.elicitation.plain import line
from dcc_bridge.server import discovery
from dcc_bridge.server.discovery import Instance

_COLUMNS: Final = ("ID", "HOST", "VERSION", "SCENE", "STATE", "FOR", "PID", "URL")
_STEPS: Final = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "--json", action="store_true", help="print a JSON list and nothing else; empty for none"
    )


def run(options: argparse.Namespace) -> int:
    """List them, newest first."""
    found = discovery.running(target.settings().runtime)
    if options.json:
        print(json.dumps([one.told() for one in found], indent=2))
    elif found:
        _show([_COLUMNS, *map(_row, found)])
    else:
        print(f"No host is running. {target.START}")
    return SUCCESS


def _row(one: Instance) -> tuple[str, ...]:
    since = _age(time.time() - one.started)
    cells = one.id, one.host, one.version, one.scene, one.state, since, str(one.pid), one.url
    return tuple(line(cell) for cell in cells)


def _age(seconds: float) -> str:
    size, unit = next((step for step in _STEPS if seconds >= step[0]), _STEPS[-1])
    return f"{max(0, int(seconds // size))} {unit}"


def _show(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
