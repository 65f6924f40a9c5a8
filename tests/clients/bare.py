"""The SDK's server and nothing of the bridge: it asks as the SDK does, in each era.

What a client does not do here either is the client's own affair. ``python -m tests.clients.bare
FILE`` serves on stdio, and notes in the file what became of each question.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult

from tests.bench.bare import BareServer
from tests.clients.kinds import MODERN
from tests.clients.skills import AGE


@contextmanager
def bare() -> Iterator[tuple[str, dict[str, str]]]:
    """Serve; gives the URL, and where a question's end is noted by its case."""
    ended: dict[str, str] = {}
    server = BareServer(_server(ended))
    try:
        yield server.started.result(20).url, ended
    finally:
        server.stop()


class _Noted(dict[str, str]):
    """What is also in a file, for another process."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def __setitem__(self, case: str, how: str) -> None:
        super().__setitem__(case, how)
        self._file.write_text(json.dumps(self))


def _server(ended: dict[str, str]) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("bare", log_level="CRITICAL")

    async def age(case: str, context: Context[Any, Any]) -> str | InputRequiredResult:
        """Ask for a number."""
        if str(context.protocol_version) >= MODERN:
            answer = (context.input_responses or {}).get("age")
            if not isinstance(answer, ElicitResult):
                form = ElicitRequestFormParams(message="How old are you?", requested_schema=AGE)
                return InputRequiredResult(input_requests={"age": ElicitRequest(params=form)})
        else:
            try:
                answer = await context.session.elicit_form(
                    "How old are you?", AGE, related_request_id=context.request_id
                )
            except anyio.get_cancelled_exc_class():
                ended[case] = "cancelled"
                raise
        return f"{answer.action} {answer.content} by client"

    async def seen(case: str) -> str:
        """Say what became of another call's question."""
        return ended.get(case, "open")

    server.tool()(age)
    server.tool()(seen)
    return server


if __name__ == "__main__":
    _server(_Noted(Path(sys.argv[1]))).run("stdio")
