"""``dcc-bridge undo``: the last action of an agent in a running host, taken back."""

from __future__ import annotations

import argparse

import anyio

from dcc_bridge.cli import answers, results, target
from dcc_bridge.cli.target import Target
from dcc_bridge.client.agent import Result
from dcc_bridge.client.person import Person


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "url", nargs="?", metavar="URL", help="where the host is; without it, the one that runs"
    )


def run(options: argparse.Namespace) -> int:
    """Undo it, unless something else was changed since."""
    host = target.find(options.url)
    with answers.person(answers.ASK, f"{host.host}, to undo,") as person:
        result = anyio.run(_undo, host, person)
    return results.show(result, as_json=False)


async def _undo(host: Target, person: Person | None) -> Result:
    async with host.connect(person=person) as client:
        return await client.call("undo_last", {})
