"""The official Python client, 2.x, in each era that it speaks."""

import os
from contextlib import asynccontextmanager
from unittest.mock import patch

import anyio
import httpx2
import mcp.client.session
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult
from person import HTTP_LIMIT, run, text

ERA = os.environ["ERA"]
MODERN = "2026-07-28"


@asynccontextmanager
async def connect(target, case, person):
    """Connect as a case says."""

    async def asked(context, params):
        action, content = await person.answer(params.message, getattr(params, "url", None))
        return ElicitResult(action=action, content=content)

    async with httpx2.AsyncClient(headers=target.get("headers"), timeout=HTTP_LIMIT) as http:
        if "url" in target:
            transport = streamable_http_client(target["url"], http_client=http)
        else:
            transport = stdio_client(StdioServerParameters(**target))
        client = Client(
            transport,
            mode=ERA if ERA == MODERN else "legacy",
            elicitation_callback=asked if case["declares"] else None,
        )
        with patch.object(mcp.client.session, "LATEST_HANDSHAKE_VERSION", ERA):
            async with client as session:
                assert session.session.protocol_version == ERA
                yield session


async def call(session, tool, arguments, limit, person):
    """Call a tool."""
    told = await session.call_tool(
        tool, arguments, progress_callback=person.progress, read_timeout_seconds=limit
    )
    return text(told)


anyio.run(run, connect, call)
