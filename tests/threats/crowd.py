"""Sixteen clients of both eras that call, answer, cancel, disconnect and dawdle, at random.

``python -m tests.threats.crowd FILE``. It reads the URL, the tokens, the seconds and the seed as
JSON, writes what each call was told to the file, and prints its counts.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, Final, TextIO

import anyio
import httpx2
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitRequestParams, ElicitResult

from tests.live import ERAS, status, text

PLAIN: Final = ("look", "look_any", "edit")
ASKING: Final = ("ask", "ask_any", "ask_loop", "delete")
MOODS: Final = {"answer": 72, "decline": 7, "never": 5, "cancel": 8, "disconnect": 8}
PATIENCE: Final = 15.0
"""Seconds after which a call that has not ended never will."""
DAWDLES: Final = 4.0
"""Seconds that a client stays which never answers; its question has ended by then."""


class Caller:
    """One client: calls one thing after another, in a mood of its own each time."""

    def __init__(self, number: int, orders: dict[str, Any], into: TextIO, counts: Counter[str]):
        self._random = Random(orders["seed"] * 1000 + number)
        self._name = f"{orders['seed']}-{number}"
        self._url, self._token = orders["url"], orders["tokens"][number]
        self._end = time.monotonic() + orders["seconds"]
        self._pause = orders["pause"]
        self._mode: Any = ERAS[-1] if number % 2 else "legacy"
        self._into, self._counts = into, counts
        self._calls = 0
        self._mood = "answer"
        self._answered = ""

    async def work(self) -> None:
        """Connect again and again, until it is time."""
        while time.monotonic() < self._end:
            try:
                await self._stay()
            except* httpx2.TransportError:
                self._counts["broken"] += 1

    async def _stay(self) -> None:
        """Connect, and call until it leaves."""
        with anyio.CancelScope() as connection:
            async with self._connected() as client:
                while time.monotonic() < self._end:
                    await self._call(client, connection)
                    await anyio.sleep(self._random.uniform(0.0, self._pause))

    async def _call(self, client: Client, connection: anyio.CancelScope) -> None:
        self._calls += 1
        word, self._answered = f"{self._name}-{self._calls}", ""
        asks = self._random.random() < 0.5
        tool = self._random.choice(ASKING if asks else PLAIN)
        self._mood = mood = self._random.choices([*MOODS], [*MOODS.values()])[0]
        leave = {"cancel": self._random.uniform(0.0, 0.3), "never": DAWDLES}.get(mood, PATIENCE)
        leave = self._random.uniform(0.0, 0.3) if mood == "disconnect" else leave
        began = time.monotonic()
        outcome = "cut"
        with anyio.move_on_after(leave) as scope:
            try:
                result = await client.call_tool(tool, {"word": word})
                outcome = f"{status(result)} {text(result)}"
            except MCPError as error:
                outcome = f"error {error}"
        if scope.cancelled_caught and leave == PATIENCE:
            outcome = "hung"
        self._note(tool, word, mood, outcome.replace("\n", " "), time.monotonic() - began)
        if mood == "disconnect":
            connection.cancel()
            await anyio.sleep(0)

    def _note(self, tool: str, word: str, mood: str, outcome: str, took: float) -> None:
        self._counts["calls"] += 1
        self._counts["asked"] += tool in ASKING
        self._counts[f"{mood}: {outcome.split()[0]}"] += 1
        line = {"tool": tool, "word": word, "mood": mood, "answered": self._answered, "took": took}
        self._into.write(json.dumps({**line, "said": outcome}) + "\n")

    async def _answer(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult:
        await anyio.sleep(self._random.uniform(0.0, 0.05))
        if self._mood == "never":
            await anyio.sleep(2 * PATIENCE)
        word = params.message.split()[1]
        if self._mood == "decline":
            await anyio.sleep(self._random.uniform(0.0, 0.6))  # too fast, and the host is asked
            return ElicitResult(action="decline")
        self._answered = word
        return ElicitResult(action="accept", content={"word": f"{word}!"})

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self._token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE, verify=False) as http:
            transport = streamable_http_client(self._url, http_client=http)
            async with Client(
                transport, mode=self._mode, elicitation_callback=self._answer
            ) as client:
                yield client


async def crowd(orders: dict[str, Any], file: Path) -> Counter[str]:
    """Let them all work at once."""
    counts: Counter[str] = Counter()
    with file.open("a") as into:
        async with anyio.create_task_group() as together:
            for number in range(len(orders["tokens"])):
                together.start_soon(Caller(number, orders, into, counts).work)
    return counts


if __name__ == "__main__":
    print(json.dumps(anyio.run(crowd, json.load(sys.stdin), Path(sys.argv[1]))))
