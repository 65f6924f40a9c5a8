"""``dcc-bridge call``: a tool of a running host, called once by a real MCP client."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import anyio

from dcc_bridge.cli import answers, results, target
from dcc_bridge.cli.target import Target
from dcc_bridge.client.agent import Result
from dcc_bridge.client.person import Person
from dcc_bridge.elicitation.plain import line

_ANSWER = """\
ask (the default) draws the question in this terminal; where there is none, the client
says that it can ask nobody. accept agrees to what is required and takes the defaults;
decline says no; cancel closes the question; a JSON object is the answer itself"""


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "url", nargs="?", metavar="URL", help="where the host is; without it, the one that runs"
    )
    parser.add_argument(
        "tool", metavar="TOOL", help="the tool's name, as `dcc-bridge tools` lists it"
    )
    parser.add_argument(
        "--args",
        type=_arguments,
        default={},
        metavar="JSON",
        help="the tool's arguments, an object",
    )
    parser.add_argument(
        "--era",
        choices=("auto", "legacy"),
        default="auto",
        help="auto speaks the newest revision of the protocol, legacy 2025-11-25",
    )
    parser.add_argument(
        "--answer", type=answers.parse, default=answers.ASK, metavar="ANSWER", help=_ANSWER
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print the result as JSON and nothing else; an error goes to stderr all the same",
    )


def run(options: argparse.Namespace) -> int:
    """Call the tool and show what came of it."""
    host = target.find(options.url)
    with answers.person(options.answer, f"{host.host}, for {options.tool},") as person:
        result = anyio.run(_call, host, options, person)
    return results.show(result, as_json=options.json)


async def _call(host: Target, options: argparse.Namespace, person: Person | None) -> Result:
    async with host.connect(era=options.era, person=person) as client:
        return await client.call(options.tool, options.args, _Progress().show)


class _Progress:
    """Says how far a call is, once for each thing that there is to say."""

    def __init__(self) -> None:
        self._last = ""

    async def show(self, progress: float, total: float | None, message: str | None) -> None:
        part = f"{progress / total:4.0%}  " if total else ""
        text = f"  {part}{line(message or '')}".rstrip()
        if text and text != self._last:
            self._last = text
            print(text, file=sys.stderr, flush=True)


def _arguments(text: str) -> dict[str, Any]:
    try:
        arguments = json.loads(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"this is not JSON ({error}): {text}") from None
    if not isinstance(arguments, dict):
        raise argparse.ArgumentTypeError(f"an object such as '{{\"name\": 1}}', not {text}")
    return arguments
