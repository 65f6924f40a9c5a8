"""FastMCP's client, 4.x, in each era that it speaks."""

import os
from contextlib import asynccontextmanager

import anyio
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from person import run, text

ERA = os.environ["ERA"]
MODERN = "2026-07-28"


@asynccontextmanager
async def connect(target, case, person):
    """Connect as a case says."""

    async def asked(message, kind, params, context):
        action, content = await person.answer(message, getattr(params, "url", None))
        return ElicitResult(action=action, content=content)

    if "url" in target:
        transport = StreamableHttpTransport(target["url"], headers=target["headers"])
    else:
        transport = StdioTransport(**target, keep_alive=False)
    client = Client(
        transport,
        mode=ERA if ERA == MODERN else "legacy",
        elicitation_handler=asked if case["declares"] else None,
    )
    async with client as session:
        assert session.protocol_version == ERA
        yield session


async def call(session, tool, arguments, limit, person):
    """Call a tool."""
    told = await session.call_tool(
        tool, arguments, progress_handler=person.progress, raise_on_error=False, timeout=limit
    )
    return text(told)


anyio.run(run, connect, call)
