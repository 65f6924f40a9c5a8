"""A headless bridge with the fixture: ``python -m tests.conformance.host [proxy]``.

It prints the address for the suite in one line, and ends when its standard input does. In front of
the bridge is the forwarder, or the proxy with an HTTP front.
"""

from __future__ import annotations

import asyncio
import socket
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio
import uvicorn
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPDeprecationWarning

from dcc_bridge import skill
from dcc_bridge.bridge import Bridge
from dcc_bridge.server import fast_path, tasks
from dcc_bridge.skills.registry import Registry
from dcc_bridge.skills.skill import Skill, describe
from tests.cli.commands import COMMAND, environment
from tests.conformance.forwarder import Forwarder
from tests.conformance.front import Front
from tests.conformance.plugin import extend
from tests.live import live
from tests.stand_ins import FakeHost

_SKILLS: Final = Path(__file__).with_name("skills")
_DEADLINE: Final = 20.0
"""Seconds after which a question that the suite left open is given up."""


def main() -> None:
    """Serve until standard input ends."""
    # the suite asks for what its newest revision deprecates: logging
    warnings.filterwarnings("ignore", category=MCPDeprecationWarning)
    # the suite's tools take a second, and are to be tasks
    tasks.TASK_AFTER_S, fast_path.FAST_PATH_S = 0.4, 0.2  # type: ignore[misc]  # constants elsewhere
    way = _through_proxy if sys.argv[1:] == ["proxy"] else _forward
    options: dict[str, Any] = {"skills": [_SKILLS], "deadline": _DEADLINE}
    with (
        TemporaryDirectory() as folder,
        live(Path(folder), host=FakeHost(), extend=extend, **options) as running,
    ):
        running.bridge.registry.add(_trigger(running.bridge.registry))
        suite = running.go(way, running.bridge)
        running.pump.spin(suite)
        suite.result()


def _trigger(registry: Registry) -> Skill:
    """Make the skill that changes the list of tools."""
    extra: list[Callable[[], None]] = []

    @skill(risk="read")
    def test_extra_tool() -> str:
        """Come and go."""
        return "Here for now."

    @skill(risk="read")
    def test_trigger_tool_change() -> str:
        """Add a tool, or take it away again."""
        if extra:
            extra.pop()()
        else:
            extra.append(registry.add(describe(test_extra_tool)))
        return "The tools changed."

    return describe(test_trigger_tool_change)


async def _through_proxy(bridge: Bridge) -> None:
    """The same, through proxies."""
    await asyncio.wrap_future(bridge.main.submit(lambda: None))
    runtime = bridge.settings.runtime
    assert runtime is not None
    arguments = [*COMMAND[1:], "connect", "--label", "conformance"]
    command = StdioServerParameters(command=COMMAND[0], args=arguments, env=environment(runtime))
    async with anyio.create_task_group() as tasks:
        front = Front(command, tasks)
        await front.start()
        sock = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(front, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        tasks.start_soon(server.serve, [sock])
        print(f"http://127.0.0.1:{sock.getsockname()[1]}/mcp", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        server.should_exit = True
        await anyio.sleep(0)
        tasks.cancel_scope.cancel()


async def _forward(bridge: Bridge) -> None:
    """Say where the bridge is once it is there with all its skills, and wait for the end."""
    await asyncio.wrap_future(bridge.main.submit(lambda: None))
    forwarder = Forwarder(bridge.url, bridge.instance.token("conformance"))
    print(await forwarder.start(), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    forwarder.close()


if __name__ == "__main__":
    main()
