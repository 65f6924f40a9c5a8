"""The official Python client, 1.x, which speaks the legacy era."""

import os
from contextlib import asynccontextmanager
from datetime import timedelta
from unittest.mock import patch

import anyio
import httpx
import mcp.types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from person import HTTP_LIMIT, run, text

ERA = os.environ["ERA"]


class Session(ClientSession):
    """A session that can cancel its last request, which this client does not do by itself."""

    async def stop_last(self):
        """Tell the server that nobody waits for the last request."""
        params = types.CancelledNotificationParams(requestId=self._request_id - 1)
        notice = types.CancelledNotification(params=params)
        await self.send_notification(types.ClientNotification(notice))


@asynccontextmanager
async def connect(target, case, person):
    """Connect as a case says."""

    async def asked(context, params):
        action, content = await person.answer(params.message, getattr(params, "url", None))
        return types.ElicitResult(action=action, content=content)

    callback = asked if case["declares"] else None
    async with httpx.AsyncClient(headers=target.get("headers"), timeout=HTTP_LIMIT) as http:
        if "url" in target:
            transport = streamable_http_client(target["url"], http_client=http)
        else:
            transport = stdio_client(StdioServerParameters(**target))
        async with (
            transport as (reads, writes, *_),
            Session(reads, writes, elicitation_callback=callback) as session,
        ):
            with patch.object(types, "LATEST_PROTOCOL_VERSION", ERA):
                shaken = await session.initialize()
            assert shaken.protocolVersion == ERA
            yield session


async def call(session, tool, arguments, limit, person):
    """Call a tool."""
    told = await session.call_tool(
        tool,
        arguments,
        progress_callback=person.progress,
        read_timeout_seconds=timedelta(seconds=limit) if limit else None,
    )
    return text(told)


anyio.run(run, connect, call)
