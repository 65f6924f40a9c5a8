"""Plays files in an application, through its bridge, and notes what is not as it should be."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio
from mcp import Client
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult

from tests.cli import commands
from tests.cli.commands import Served
from tests.live import connected, text

SKILLS: Final = Path(__file__).parent / "skills"
LIMIT: Final = 120.0  # seconds that a call may take
MOST: Final = 20  # items that are inspected
_MOST_NAMED: Final = 8  # items that differ
_MOST_EDITED: Final = 4  # items that are edited
_FORMATS: Final = {
    "blender": (".obj", ".fbx", ".glb", ".stl", ".ply", ".blend"),
    "freecad": (".step", ".stl", ".FCStd"),
    "usd": (".usda", ".usdc"),
}
"""The formats to which each application exports."""
_RAW: Final = re.compile(
    r"Traceback|\b(?:StopIteration|NotImplementedError|AttributeError|SystemError|KeyError|TypeError"
    r"|IndexError|UnicodeDecodeError|ReferenceError)\b|codec can't|object has no attribute"
    r"|did not bring back|without consent"
)
"""The words that no answer may have: an exception of the code, or an alarm of the bridge."""


@dataclass
class Outcome:
    """The outcome of a file.

    Attributes:
        file: The file.
        host: The application.
        calls: How many calls were made.
        last: The last of them.
        refused: The calls that ended with a sentence, each with it.
        wrong: What is not as it should be.
    """

    file: Path
    host: str
    calls: int = 0
    last: str = ""
    refused: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class Player:
    """An agent that plays in an application which runs."""

    def __init__(self, client: Client, tools: set[str], outcome: Outcome, folder: Path) -> None:
        self._client = client
        self._tools = tools
        self.outcome = outcome
        self._folder = folder
        self.answer = "decline"

    def asked(self, params: ElicitRequestParams) -> ElicitResult:
        """Answer a question of the bridge."""
        if self.answer != "accept":
            return ElicitResult(action="decline")
        schema = getattr(params, "requested_schema", None) or {}
        content: dict[str, Any] = {}
        for name, prop in schema.get("properties", {}).items():
            if prop.get("type") == "boolean":
                content[name] = True
            elif "default" in prop:
                content[name] = prop["default"]
        return ElicitResult(action="accept", content=content)

    async def call(self, tool: str, answer: str = "decline", **arguments: Any) -> CallToolResult:
        """Call a tool; note an answer that no agent should get."""
        self.answer = answer
        self.outcome.calls += 1
        self.outcome.last = f"{tool} {_short(arguments)}"
        with anyio.fail_after(LIMIT):
            result = await self._client.call_tool(tool, arguments)
        said = text(result)
        raw = _RAW.search(said)
        if raw:
            self.outcome.wrong.append(f"{tool} {_short(arguments)} says {_around(said, raw)}")
        elif result.is_error:
            self.outcome.refused.append(f"{tool} {_short(arguments)}: {said[:300]}")
        return result

    async def facts(self) -> dict[str, str]:
        """Return what the scene holds."""
        return dict(_data(await self.call("real_facts")))

    async def same(self, before: dict[str, str], after: str) -> None:
        """Note what differs from before."""
        now = await self.facts()
        differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
        if differing:
            told = ", ".join(_difference(name, before, now) for name in differing[:_MOST_NAMED])
            self.outcome.wrong.append(f"after {after}: {len(differing)} differ: {told}")

    async def read(self, *, looks: bool = True) -> list[dict[str, Any]]:
        """Call each verb that reads, and return the rows of the items."""
        await self.call("summary")
        rows = list(_data(await self.call("list_items", limit=200)).get("rows", []))
        items = [row["item"] for row in _various(rows, MOST)]
        if items:
            await self.call("inspect", items=items)
        await self.call("check")
        if looks and "look" in self._tools:
            await self.call("look", size=200)
        return rows

    async def export(self, suffixes: Sequence[str]) -> None:
        """Export the scene to each format; nothing may be there where it failed."""
        before = await self.facts()
        for suffix in suffixes:
            file = self._folder / f"out{suffix}"
            done = await self.call("export_file", "accept", path=str(file))
            if done.is_error == file.exists():
                self.outcome.wrong.append(f"export to {suffix}: {text(done)[:200]}")
            await self.same(before, f"export to {suffix}")

    async def edit(self, rows: list[dict[str, Any]], most: int) -> None:
        """Delete, rename, move and copy items of each type, and undo it."""
        for row in _various(rows, most):
            item = row["item"]
            before = await self.facts()
            await self.call("delete", "decline", items=[item])
            await self.same(before, f"declined delete of {item}")
            await self._undone(before, "delete", items=[item])
            await self._undone(before, "rename", names={item: "Another_name"})
            await self._undone(before, "transform", items=[item], move=[1.0, 2.0, 3.0])
            await self._undone(before, "duplicate", items=[item])

    async def bring(self, file: Path) -> None:
        """Import a file, read what came, and undo it."""
        before = await self.facts()
        done = await self.call("import_file", "accept", path=str(file))
        if done.is_error:
            await self.same(before, "an import that failed")
            return
        await self.read(looks=False)
        await self.call("undo_last", "accept")
        await self.same(before, "undone import")

    async def _undone(self, before: dict[str, str], tool: str, **arguments: Any) -> None:
        done = await self.call(tool, "accept", **arguments)
        words = f"{tool} {_short(arguments)}"
        if done.is_error:
            await self.same(before, f"refused {words}")
            return
        undone = await self.call("undo_last", "accept")
        if undone.is_error:
            self.outcome.wrong.append(f"{words} cannot be undone: {text(undone)[:200]}")
        await self.same(before, f"undone {words}")


@asynccontextmanager
async def _player(served: Served, outcome: Outcome, folder: Path) -> AsyncIterator[Player]:
    players: list[Player] = []

    def asked(params: ElicitRequestParams) -> ElicitResult:
        return players[0].asked(params)

    token = served.instance.token("real files")
    async with connected(served.url, token, asked=asked, limit=LIMIT) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        players.append(Player(client, tools, outcome, folder))
        yield players[0]


@contextmanager
def _served(host: str, folder: Path, *words: str | Path) -> Iterator[Served]:
    """Serve an application with the skills that play in it."""
    more = ("--host", host, "--headless", "--skills", SKILLS, *words)
    with commands.serve_in(folder, LIMIT, *more) as running:
        yield running


def play_copy(host: str, file: Path) -> Outcome:
    """Open a copy of a file in an application, and play all that there is to play."""
    outcome = Outcome(file, host)
    with _folder() as folder:
        scene = Path(shutil.copy(file, folder))
        content = scene.read_bytes()
        failure = _run(host, folder, partial(_play, outcome, folder), "--scene", scene)
        if failure:
            outcome.wrong.append(f"{failure} (last: {outcome.last})")
        if scene.read_bytes() != content:
            outcome.wrong.append("the file itself was changed")
    return outcome


def play_imports(host: str, files: Sequence[Path]) -> list[Outcome]:
    """Import each of some files into an empty scene of an application, and undo it."""
    outcomes = [Outcome(file, host) for file in files]
    left = list(outcomes)
    with _folder() as folder:
        while left:  # an application that crashes is started anew for the files that are left
            failure = _run(host, folder, partial(_import_each, left, folder))
            if failure:
                crashed = left.pop(0) if left else outcomes[-1]
                crashed.wrong.append(f"{failure} (last: {crashed.last})")
    return outcomes


async def _play(outcome: Outcome, folder: Path, served: Served) -> None:
    async with _player(served, outcome, folder) as player:
        first = await player.facts()
        rows = await player.read()
        await player.same(first, "reading")
        if outcome.host == "freecad":
            await player.call("real_compute", "accept")
        await player.export(_FORMATS[outcome.host])
        await player.edit(rows, _MOST_EDITED)


async def _import_each(left: list[Outcome], folder: Path, served: Served) -> None:
    async with _player(served, left[0], folder) as player:
        while left:
            player.outcome = left[0]
            await player.bring(left[0].file)
            left.pop(0)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="real-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _run(
    host: str, folder: Path, agent: Callable[[Served], Awaitable[None]], *words: str | Path
) -> str:
    """Have an agent play in an application; return what failed, or ""."""
    try:
        with _served(host, folder, *words) as served:
            try:
                anyio.run(agent, served)
            except Exception as error:  # noqa: BLE001 - whatever a client makes of a host that died
                with suppress(subprocess.TimeoutExpired):
                    served.process.wait(2)
                    return f"it ended with {served.process.returncode}: {_causes(error)[:300]}"
                return f"it hangs: {_causes(error)[:300]}"
    except AssertionError:
        said = (folder / commands.SAID).read_text("utf-8", "replace")
        return f"it did not open: {said[-300:]}"
    return ""


def _causes(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_causes(part) for part in error.exceptions)
    return f"{type(error).__name__}: {error}"


def _various(rows: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Choose rows of as many types as there are, then others."""
    by_type = {row.get("type"): row for row in reversed(rows)}
    chosen = list(by_type.values())[::-1][:most]
    for row in rows:
        if len(chosen) < most and row not in chosen:
            chosen.append(row)
    return chosen


def _data(result: CallToolResult) -> dict[str, Any]:
    data: dict[str, Any] = result.structured_content or {}
    if set(data) == {"result"}:
        return dict(data["result"])
    return data


def _difference(name: str, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    if name not in now:
        return f"{name} is gone"
    if name not in before:
        return f"{name} is new"
    return f"{name} is another"


def _short(arguments: dict[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)[:120]


def _around(said: str, found: re.Match[str]) -> str:
    return said[max(found.start() - 150, 0) : found.end() + 150].replace("\n", " ")
