"""Real hosts, a real ``dcc-bridge connect`` in a process, and a real MCP client on its stdio."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import anyio
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult

from tests import homes
from tests.cli.commands import COMMAND, environment
from tests.live import ERAS, LIMIT, AskedFn, _callback, _handler, text

OWN = ["list_hosts", "use_host"]
SKILLS = {"ask", "choose", "visit", "wait", "where", "who"}
"""What the small host brings; the bridge has tools of its own besides."""


def alone(runtime: Path) -> dict[str, str]:
    """Give an environment in which nobody else's hosts and clients are known."""
    return environment(runtime, **homes.state(runtime / "state"))


class Small:
    """A small host in a process."""

    def __init__(self, runtime: Path, scene: str, **env: str) -> None:
        command = [sys.executable, "-m", "tests.client.proxy.host", str(runtime), scene]
        self.process = subprocess.Popen(
            command, env={**alone(runtime), **env}, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.id = self.process.stdout.readline().strip().removeprefix("serving ")
        assert self.id, "the host did not start"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@contextmanager
def small(runtime: Path, scene: str = "shot.ma", **env: str) -> Iterator[Small]:
    host = Small(runtime, scene, **env)
    try:
        yield host
    finally:
        host.kill()


def command(runtime: Path, *words: str) -> StdioServerParameters:
    args = [*COMMAND[1:], "connect", "--label", "test", *words]
    return StdioServerParameters(command=COMMAND[0], args=args, env=alone(runtime))


class Stdio:
    """A client's lines on the stdio of a proxy, also broken ones."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def write(self, *lines: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def read(self) -> Any:
        """Wait for the next line."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())


@contextmanager
def stdio(
    runtime: Path, *words: str, command: tuple[str, ...] = (*COMMAND, "connect", "--label", "test")
) -> Iterator[Stdio]:
    """Run a proxy; in the end it is killed, as with a client that crashes."""
    pipe, env = subprocess.PIPE, alone(runtime)
    with subprocess.Popen(
        [*command, *words], env=env, stdin=pipe, stdout=pipe, text=True
    ) as process:
        try:
            yield Stdio(process)
        finally:
            process.kill()


@asynccontextmanager
async def client(
    runtime: Path,
    era: str = ERAS[-1],
    asked: AskedFn | None = None,
    *words: str,
    heard: Callable[[Any], None] | None = None,
) -> AsyncIterator[Client]:
    """Connect a real client through the proxy; without ``asked`` it declares no elicitation."""
    with (
        open(os.devnull, "w") as nowhere,
        patch("mcp.client.session.LATEST_HANDSHAKE_VERSION", era),
    ):
        session = Client(
            stdio_client(command(runtime, *words), errlog=nowhere),
            mode=era if era == ERAS[-1] else "legacy",
            elicitation_callback=_callback(asked) if asked is not None else None,
            message_handler=_handler(heard) if heard is not None else None,
        )
        async with session:
            assert session.session.protocol_version == era
            yield session


def run(agent: Callable[[], Any], limit: float = 50.0) -> Any:
    async def limited() -> Any:
        with anyio.fail_after(limit):
            return await agent()

    return anyio.run(limited)


async def until(condition: Callable[[], Any], limit: float = LIMIT) -> None:
    """Wait until a condition holds, be it a coroutine's."""
    end = time.monotonic() + limit
    while True:
        held = condition()
        if await held if hasattr(held, "__await__") else held:
            return
        assert time.monotonic() < end, "the condition did not come true in time"
        await anyio.sleep(0.02)


async def names(session: Client) -> list[str]:
    return [tool.name for tool in (await session.list_tools()).tools]


def are_whole(listed: list[str]) -> bool:
    """Tell whether a list has the host's tools, and the proxy's at its end."""
    return set(listed) >= SKILLS and listed[-2:] == OWN


async def said(session: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that must succeed, and give what it says."""
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    return text(result)


async def told(session: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must succeed, and give its data."""
    result: CallToolResult = await session.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    data = result.structured_content
    assert isinstance(data, dict)
    return data
