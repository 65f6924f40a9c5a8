"""The demo's agent: a real MCP client over HTTP, and what it does, told step by step.

It runs on a thread of its own with a loop of its own; the scene is reached by the host's main
thread only.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

import anyio

from dcc_bridge.cli import results
from dcc_bridge.cli.audience import Audience
from dcc_bridge.cli.exits import TOOL_ERROR, Failure
from dcc_bridge.cli.hosting import Running
from dcc_bridge.cli.narrator import Narrator
from dcc_bridge.client import connection
from dcc_bridge.client.agent import Agent, Result
from dcc_bridge.client.http import Pinned

T = TypeVar("T")
LABEL: Final = "demo"


@dataclass(frozen=True, slots=True)
class Scene:
    """What there is, as far as the demo is about it.

    Attributes:
        prims: How many prims.
        kind: The USD type that the demo deletes.
        count: How many of that type.
    """

    prims: int
    kind: str
    count: int

    def __str__(self) -> str:
        """Say it as a person reads it."""
        return f"{self.prims} prims, {self.count} of them {noun(self.kind)}"


class Story:
    """One confirmed deletion, end to end."""

    def __init__(self, running: Running, narrator: Narrator, audience: Audience) -> None:
        """Take the host, who tells it, and who is asked."""
        self._running = running
        self._tell = narrator.step
        self._audience = audience

    async def play(self) -> int:
        """Do it, and tell it.

        Returns:
            The exit code that tells how the call for the deletion ended.

        Raises:
            Failure: Something did not go as it should.
            Unreachable: The host went away.
        """
        bridge, session = self._running.bridge, self._running.host
        where = "in a window" if session.has_ui else "without a window"
        self._tell(f"The host opens {await self._on_main(session.scene)} {where}.")
        self._tell(f"Its MCP server runs inside it at {bridge.url}; a client needs a token.")
        token = bridge.instance.token(LABEL)
        pinned = Pinned.of(bridge.instance)
        person = self._audience.person
        async with connection.connect(bridge.url, token, person=person, pinned=pinned) as client:
            count = len(await client.tools())
            self._tell(f"An agent connects over HTTP ({client.protocol}) and finds {count} tools.")
            return await self._edit(client)

    async def _edit(self, client: Agent) -> int:
        session = self._running.host
        digest = await self._on_main(session.scene_digest)
        before = await _look(client)
        self._tell(f"The agent calls scene_summary: {before}.")
        result = await self._delete(client, before.kind)
        self._tell_result(result)
        after = await _look(client, before.kind)
        if await self._on_main(session.scene_digest) == digest:
            self._tell(f"The scene is as it was: {after}. There is nothing to undo.")
            return results.code(result)
        self._tell(f"The scene now: {after}.")
        await self._on_main(session.undo)
        restored = await _look(client, before.kind)
        if await self._on_main(session.scene_digest) != digest:
            raise Failure(f"After the undo the scene is another one: {restored}.", TOOL_ERROR)
        self._tell(f"One undo in the host brings it back: {restored}, all as it was.")
        return results.code(result)

    async def _delete(self, client: Agent, kind: str) -> Result:
        self._tell(
            f"The agent calls delete_prims for all {noun(kind)}. On the host's main thread, in the "
            "middle of its body, the skill asks."
        )
        async with anyio.create_task_group() as asking:
            asking.start_soon(self._audience.attend, self._running)
            result = await client.call("delete_prims", {"type_name": kind})
            asking.cancel_scope.cancel()
        return result

    def _tell_result(self, result: Result) -> None:
        if result.is_error:
            raise Failure(" ".join(result.texts), TOOL_ERROR)
        data = result.structured or {}
        why = f" {data['why']}" if data.get("why") else ""
        refused = ", refused" if results.status(result) == "refused" else ""
        self._tell(
            f"The skill goes on and returns: {data.get('deleted', 0)} deleted{refused}.{why}"
        )

    async def _on_main(self, fn: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self._running.main.submit(fn, name="The demo"))


def noun(kind: str) -> str:
    """Give the plural of a USD type as a person says it."""
    return "cameras" if kind == "Camera" else f"{kind} prims"


async def _look(client: Agent, kind: str | None = None) -> Scene:
    """Ask for the scene.

    Args:
        client: The agent.
        kind: What to count; None for cameras, or where there is none, what there is most of.

    Raises:
        Failure: There is nothing in it.
    """
    result = await client.call("scene_summary", {})
    types: Mapping[str, int] = (result.structured or {}).get("types", {})
    known = Counter({name: count for name, count in types.items() if name.isidentifier()})
    if not known and kind is None:
        raise Failure("This scene has no prim with a type, so there is nothing to delete.")
    kind = kind or ("Camera" if "Camera" in known else known.most_common(1)[0][0])
    return Scene(sum(types.values()), kind, known[kind])
