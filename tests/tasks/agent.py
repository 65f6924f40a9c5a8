"""An agent that plays a task over HTTP, and counts what it costs."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp import Client
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, ImageContent

from tests.live import Tap, connected, text
from tests.tasks.task import Row, differing

LIMIT: Final = 180.0
"""Seconds that a call may take: it only ends a hang."""
_MAX_SAID: Final = 400  # characters of an answer that a sentence quotes
_MAX_NAMED: Final = 6  # items that differ


class Refused(Exception):
    """A call of a play failed, with the words of the answer."""


class Meter(Tap):
    """A transport that counts the bytes that go out and come back."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.sent += len(request.content)
        return await super().handle_async_request(request)


class Agent:
    """An agent that works for a person, who agrees while the task is played."""

    def __init__(self, client: Client, meter: Meter, folder: Path, row: Row) -> None:
        self.folder = folder
        self.row = row
        self._client = client
        self._meter = meter
        self._answer = "accept"
        self._is_playing = False
        self._asked = ""  # the words of the latest question

    def asked(self, params: ElicitRequestParams) -> ElicitResult:
        """Answer a question as the person does: a form is accepted with its defaults."""
        self._asked = params.message
        if self._is_playing:
            self.row.questions += 1
        if self._answer != "accept":
            return ElicitResult(action="decline")
        schema: Any = getattr(params, "requested_schema", None) or {}
        content: dict[str, Any] = {}
        for name, prop in schema.get("properties", {}).items():
            if prop.get("type") == "boolean":
                content[name] = True
            elif "default" in prop:
                content[name] = prop["default"]
        return ElicitResult(action="accept", content=content)

    # ---- what a play does

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that must succeed, and return what it told.

        Raises:
            Refused: It failed.
        """
        result = await self._send(tool, arguments)
        if result.is_error:
            raise Refused(f"{tool} {_short(arguments)} said: {text(result)[:_MAX_SAID]}")
        return _facts(result)

    async def batch(self, *steps: dict[str, Any], **more: Any) -> Any:
        """Call `batch` with some steps, and return what it told."""
        return await self.call("batch", steps=list(steps), **more)

    async def run(self, code: str, why: str, **more: Any) -> Any:
        """Run code, where no verb does it."""
        self.row.by = "code"
        return await self.call("run_python", code=code, why=why, **more)

    async def slip(self, tool: str, hint: str, **arguments: Any) -> None:
        """Make a mistake; note where it loses anything, or where no answer says what to do.

        The person declines what is asked. A mistake that no tool can refuse, such as a wrong unit,
        is undone once the answer has told of it.

        Args:
            tool: The tool.
            hint: The words of the answer, or of the question, that say what to do.
            **arguments: Those of the tool.
        """
        self.row.slips += 1
        self._answer = "decline"
        words = f"{tool} {_short(arguments)}"
        before = await self.facts()
        depth = await self._depth()
        self._asked = ""
        result = await self._send(tool, arguments)
        said = f"{self._asked} {text(result)}"
        self._answer = "accept"
        if await self._depth() > depth:
            await self._send("undo_last", {})
        if hint not in said:
            self.row.wrong.append(f"{words} does not say {hint!r}: {said[:_MAX_SAID]}")
        await self.same(before, words)

    # ---- what the judge does

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        """Count what is done in the block."""
        depth = await self._depth()
        self._meter.heard.clear()
        self._meter.sent = 0
        self._is_playing = True
        try:
            yield
        finally:
            self._is_playing = False
            self.row.sent = self._meter.sent
            self.row.received = len(self._meter.heard)
            self.row.steps = await self._depth() - depth

    async def facts(self) -> dict[str, str]:
        """Return a digest of each item of the scene."""
        return dict(_facts(await self._send("real_facts", {})))

    async def same(self, before: Mapping[str, str], after: str) -> None:
        """Note what differs from before."""
        names = differing(before, await self.facts())
        if names:
            told = ", ".join(names[:_MAX_NAMED])
            self.row.wrong.append(f"after {after}: {len(names)} differ: {told}")

    async def take_back(self) -> None:
        """Undo each step of the play, the latest first."""
        calls = (await self.call("recent_calls", limit=50))["calls"]
        left = self.row.steps
        for call in calls:
            if left and "undo_step" in call and "undone_by" not in call:
                await self.call("undo_last", call_id=call["call"])
                left -= 1

    async def take_picture(self, file: Path) -> None:
        """Write what `look` draws of the scene to a file, with the suffix of its format.

        Nothing is written where the application draws nothing without a window, as in FreeCAD.
        """
        result = await self._send("look", {})
        for part in result.content:
            if isinstance(part, ImageContent):
                suffix = part.mime_type.rpartition("/")[2]
                file.with_suffix(f".{suffix}").write_bytes(base64.b64decode(part.data))

    async def _depth(self) -> int:
        return int(_facts(await self._send("scene_state", {}))["depth"])

    async def _send(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        result = await self._client.call_tool(tool, arguments)
        if self._is_playing:
            self.row.calls += 1
            is_edit = not result.is_error and tool != "save" and "now" in _facts(result)
            self.row.edits += is_edit
        return result


@asynccontextmanager
async def connected_agent(url: str, token: str, folder: Path, row: Row) -> AsyncIterator[Agent]:
    """Connect an agent to an application."""
    agents: list[Agent] = []
    meter = Meter()

    def asked(params: ElicitRequestParams) -> ElicitResult:
        return agents[0].asked(params)

    async with connected(url, token, asked=asked, tap=meter, limit=LIMIT) as client:
        agents.append(Agent(client, meter, folder, row))
        yield agents[0]


def items_of(told: Mapping[str, Any]) -> list[str]:
    """Return the items that `create` has made."""
    return [str(made["item"]) for made in told["made"]]


def _facts(result: CallToolResult) -> Any:
    data = result.structured_content
    if data is None:  # beside a picture the facts are a text
        told = getattr(result.content[0], "text", "")
        return json.loads(told) if told.startswith("{") else {}
    if set(data) == {"result"}:
        return data["result"]
    return data


def _short(arguments: Mapping[str, Any] | Sequence[Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)[:160]
