"""A real application with the bridge in it, as it is from outside: an agent, a person, an end."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeVar

import anyio
from mcp import Client
from mcp_types import CallToolResult

from dcc_bridge.cli import interpreter
from dcc_bridge.server import discovery
from dcc_bridge.server.discovery import Instance
from tests import live
from tests.hosts.orders import DONE, ORDERS
from tests.live import ERAS, AskedFn, connected

T = TypeVar("T")
ROOT: Final = Path(__file__).parents[2]
_OUTPUT: Final = "output.txt"
LIMIT: Final = 120.0  # seconds; an application that draws in software beside other tests is slow


class Application:
    """A process, with its bridge once that runs."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._ordered = 0
        self.folder = folder  # its own folder, which is its home as well
        self.pid = process.pid

    @property
    def instance(self) -> Instance:
        """The bridge that runs in it; waits until one does."""
        until(lambda: self._running() or not self.is_alive, "the bridge did not start")
        assert self.is_alive, f"it ended: {self.output}"
        return self._running()[0]

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def output(self) -> str:
        """All that it wrote, once it ended, what Blender notes of a crash, and its exit code."""
        self._process.wait(LIMIT)
        said = (self.folder / _OUTPUT).read_text(encoding="utf-8", errors="replace")
        crash = [file.read_text(errors="replace") for file in self.folder.glob("*.crash.txt")]
        return "".join([said, *crash, f"\nexit code {self._process.returncode}"])

    def _running(self) -> list[Instance]:
        return discovery.running(self.folder / "runtime")

    @asynccontextmanager
    async def client(
        self, era: str = ERAS[-1], asked: AskedFn | None = None, *, label: str = "test"
    ) -> AsyncIterator[Client]:
        instance = self.instance
        token = instance.token(label)
        async with connected(instance.url, token, era, asked, limit=LIMIT) as session:
            yield session

    def call(self, tool: str, arguments: dict[str, Any], **client: Any) -> CallToolResult:
        """Call a tool once, from a client of its own."""

        async def agent() -> CallToolResult:
            async with self.client(**client) as session:
                return await session.call_tool(tool, arguments)

        return self.run(agent)

    def run(self, agent: Callable[[], Awaitable[T]], limit: float = LIMIT) -> T:
        """Let an agent work to its end."""

        async def bounded() -> T:
            with anyio.fail_after(limit):
                return await agent()

        try:
            return anyio.run(bounded)
        except Exception as error:  # whatever a client makes of a server that died
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(2)
                raise AssertionError(f"it ended: {self.output}") from error
            raise

    def order(self, *orders: str) -> None:
        """Tell the person who sits at it what to do next; see `tests.hosts.person`."""
        with open(self.folder / ORDERS, "a", encoding="utf-8") as out:
            out.writelines(f"{order}\n" for order in orders)
        self._ordered += len(orders)

    def obeyed(self) -> None:
        until(lambda: len(_lines(self.folder / DONE)) >= self._ordered or not self.is_alive)
        assert self.is_alive, self.output

    def end(self, limit: float = LIMIT) -> int:
        try:
            self._process.wait(limit)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise AssertionError(f"it did not end: {self.output}") from None
        return self._process.returncode


@contextmanager
def started(
    command: Sequence[str | Path], folder: Path, **environment: str
) -> Iterator[Application]:
    """Run an application as long as the block lasts, with an empty folder as its home."""
    env = interpreter.environment()  # a virtual environment's Python is not the application's
    kept = {n: v for n, v in env.items() if not n.startswith(("DCC_BRIDGE_", "XDG_"))}
    ours = {
        "HOME": str(folder),
        "DCC_BRIDGE_RUNTIME": str(folder / "runtime"),
        "DCC_BRIDGE_AUDIT": str(folder / "audit"),
        "DCC_BRIDGE_DEADLINE": "120",
    }
    with (folder / _OUTPUT).open("w") as out:  # a pipe that nobody reads would fill up
        process = subprocess.Popen(
            [str(word) for word in command],
            env={**kept, **ours, **environment},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            text=True,
        )
    with process:
        try:
            yield Application(process, folder)
        finally:
            process.kill()


def until(condition: Callable[[], object], otherwise: str = "it did not come true") -> None:
    """Wait for a condition, for as long as an application may take."""
    live.until(condition, otherwise, LIMIT)


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def undone_on_record(application: Application) -> list[str]:
    """Return the skills whose calls the audit log has as undone by the person at the host."""
    events: list[dict[str, Any]] = []
    for file in application.folder.rglob("audit/*.jsonl"):
        lines = file.read_text(encoding="utf-8").splitlines()
        events.extend(json.loads(line) for line in lines if line.endswith("}"))
    undone = [line for line in events if line["event"] == "undone" and line["by"] == "host"]
    return [line["skill"] for line in undone]
