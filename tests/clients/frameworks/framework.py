"""The MCP client of an agent framework in Python, used as its guide says.

It runs in the framework's own environment, and knows nothing of the bridge. FRAMEWORK and TARGET
are in the environment; calls come as JSON on standard input, and what was seen of each goes out.
"""

import asyncio
import json
import os
import sys
import traceback
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

PATIENCE = 300
TARGET = json.loads(os.environ["TARGET"])


class FrameworkPerson:
    """Says to each question what the call at hand wants said."""

    reply: dict
    asked: list

    def begin(self, call):
        """Take the next call."""
        self.reply, self.asked = call.get("reply") or {"action": "cancel"}, []

    def answer(self, message):
        """Give the arguments of an answer."""
        self.asked.append(message)
        return self.reply


PERSON = FrameworkPerson()


@asynccontextmanager
async def pydantic_ai():
    """Pydantic AI's toolset, over fastmcp."""
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
    from pydantic_ai.mcp import MCPToolset

    async def asked(message, kind, params, context):
        return ElicitResult(**PERSON.answer(message))

    if "url" in TARGET:
        transport = StreamableHttpTransport(TARGET["url"], headers=TARGET["headers"])
    else:
        transport = StdioTransport(**TARGET)
    async with MCPToolset(transport, elicitation_handler=asked) as toolset:

        async def names():
            return [tool.name for tool in await toolset.list_tools()]

        yield names, toolset.direct_call_tool


@asynccontextmanager
async def langchain():
    """LangChain's adapters, which open a session for each call."""
    from langchain_mcp_adapters.callbacks import Callbacks
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from mcp.types import ElicitResult

    async def asked(context, params, more):
        return ElicitResult(**PERSON.answer(params.message))

    way = {"transport": "http" if "url" in TARGET else "stdio"}
    client = MultiServerMCPClient({"host": TARGET | way}, callbacks=Callbacks(on_elicitation=asked))
    tools = {tool.name: tool for tool in await client.get_tools()}

    async def names():
        return list(tools)

    async def call(tool, arguments):
        return await tools[tool].ainvoke(arguments)

    yield names, call


@asynccontextmanager
async def strands():
    """Strands Agents' client, with tasks switched on."""
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp_types import ElicitResult
    from strands.tools.mcp import MCPClient, TasksConfig

    async def asked(context, params):
        return ElicitResult(**PERSON.answer(params.message))

    if "url" in TARGET:
        way = {"url": TARGET["url"], "headers": TARGET["headers"]}
    else:
        way = {"transport_callable": lambda: stdio_client(StdioServerParameters(**TARGET))}
    patience = TasksConfig(poll_timeout=timedelta(seconds=PATIENCE))
    client = MCPClient(**way, elicitation_callback=asked, tasks_config=patience)
    await asyncio.to_thread(client.start)
    try:

        async def names():
            return [it.tool_name for it in await asyncio.to_thread(client.list_tools_sync)]

        async def call(tool, arguments):
            return await client.call_tool_async("use-1", tool, arguments)

        yield names, call
    finally:
        await asyncio.to_thread(client.stop, None, None, None)


@asynccontextmanager
async def openai_agents():
    """OpenAI's Agents SDK: no questions, and five seconds for a call unless it is told more."""
    from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

    kind = MCPServerStreamableHttp if "url" in TARGET else MCPServerStdio
    async with kind(params=TARGET, client_session_timeout_seconds=PATIENCE) as server:

        async def names():
            return [tool.name for tool in await server.list_tools()]

        yield names, server.call_tool


def words(result):
    """Give all that a result says, however the framework wraps it."""
    if isinstance(result, str | dict | list):
        return result if isinstance(result, str) else json.dumps(result, default=str)
    return " ".join(getattr(part, "text", "") for part in result.content)


async def run():
    """Make each call, and print what was seen of it."""
    async with AsyncExitStack() as stack:
        connected = globals()[os.environ["FRAMEWORK"]]
        names, call = await stack.enter_async_context(connected())
        for it in json.load(sys.stdin):
            PERSON.begin(it)
            report = {"name": it["name"]}
            try:
                if it["tool"] == "tools/list":
                    report["text"] = " ".join(await names())
                else:
                    report["text"] = words(await call(it["tool"], it["arguments"]))
            except Exception as error:  # noqa: BLE001 - a framework raises what a tool's error says
                report["text"] = f"{type(error).__name__}: {error}"
                traceback.print_exc()
            print(json.dumps(report | {"asked": PERSON.asked}), flush=True)


asyncio.run(run())
