"""The cost, in an agent's context, of the list of tools of each host, tool by tool.

``python -m tests.bench.listed_tools [--host usd|bpy|freecad]``. Each host runs with a bridge, and a
client lists its tools, as an agent's client does. A token is counted as 3.8 bytes of JSON. Beside
the tokens of each tool stand those of its result's schema, which are among them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from mcp_types import Tool

from tests.bench import in_hosts
from tests.bench.figures import options, show
from tests.live import Live

BYTES_OF_A_TOKEN: Final = 3.8
"""As OpenAI's o200k_base counts the densest tool here; 4.2 in the mean."""
COLUMNS: Final = ("", "tokens", "result", "title")
_ITEMS: Final = 50  # of the scene, which the list does not depend on


def tokens(part: Any) -> int:
    """Return how many tokens a part of the list takes, as it is sent."""
    text = json.dumps(part, ensure_ascii=False, separators=(",", ":"))
    return ceil(len(text.encode()) / BYTES_OF_A_TOKEN)


def sent(tool: Tool) -> dict[str, Any]:
    """Return a tool as the list has it."""
    return tool.model_dump(mode="json", by_alias=True, exclude_none=True)


def listed(bridge: Live) -> Sequence[Tool]:
    """Return the tools that a client of a bridge gets."""

    async def agent() -> Sequence[Tool]:
        async with bridge.client() as client:
            return (await client.list_tools()).tools

    return bridge.run(agent)


def measure(host: str) -> None:
    """Print the table of a host."""
    with in_hosts.opened(host, _ITEMS) as (scene, _), TemporaryDirectory() as runtime:
        operations = scene.operations()
        bridge = Live(Path(runtime), host=scene.host, operations=lambda _: operations)
        try:
            tools = [sent(tool) for tool in listed(bridge)]
        finally:
            bridge.stop()
        title = f"{in_hosts.version_of(scene)}: {len(tools)} tools, {tokens(tools):,} tokens"
        show(title, COLUMNS, [_row(tool) for tool in tools])
    in_hosts.leave(host)


def _row(tool: dict[str, Any]) -> tuple[str, ...]:
    result = tool.get("outputSchema")
    return (
        tool["name"],
        f"{tokens(tool)}",
        f"{tokens(result)}" if result else "-",
        tool.get("title", ""),
    )


if __name__ == "__main__":
    chosen = options(__doc__, ("--host", {"choices": in_hosts.HOSTS}))
    for name in in_hosts.HOSTS:
        if chosen.host in (None, name):
            in_hosts.run("tests.bench.listed_tools", name)
