"""``dcc-bridge tools``: what a running host offers."""

from __future__ import annotations

import argparse

import anyio

from dcc_bridge.cli import target
from dcc_bridge.cli.exits import SUCCESS
from dcc_bridge.cli.target import Target
from dcc_bridge.client.agent import Tool
from dcc_bridge.elicitation.plain import line


def fill(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument(
        "url", nargs="?", metavar="URL", help="where the host is; without it, the one that runs"
    )


def run(options: argparse.Namespace) -> int:
    """List the tools."""
    found = anyio.run(_list, target.find(options.url))
    name, risk = (max((len(part) for part in column), default=0) for column in _columns(found))
    for tool in found:
        first = tool.description.strip().partition("\n")[0]
        print(f"{line(tool.name):{name}}  {tool.risk:{risk}}  {line(first)}".rstrip())
        for argument in tool.arguments:
            print(f"    {line(argument)}")
    return SUCCESS


async def _list(host: Target) -> list[Tool]:
    async with host.connect() as client:
        return await client.tools()


def _columns(tools: list[Tool]) -> tuple[list[str], list[str]]:
    return [line(tool.name) for tool in tools], [tool.risk for tool in tools]
