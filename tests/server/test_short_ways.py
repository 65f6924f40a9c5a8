"""What a request does not pass through, because nobody here has a use for it."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import httpx2
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from tests.live import live


def test_no_span_is_made_of_a_message(tmp_path: Path) -> None:
    modules: list[str] = []

    def look(server: MCPServer[Any]) -> None:
        modules.extend(type(middleware).__module__ for middleware in server.middleware)

    with live(tmp_path, extend=look):
        pass

    assert modules
    assert not [module for module in modules if "otel" in module]


def test_mcp_requests_pass_by_the_router_and_a_page_of_a_plug_in_does_not(tmp_path: Path) -> None:
    scopes: list[MutableMapping[str, Any]] = []

    async def note(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        assert ctx.request is not None
        scopes.append(ctx.request.scope)
        return await call_next(ctx)

    async def page(request: Request) -> PlainTextResponse:
        return PlainTextResponse("a page")

    def add(server: MCPServer[Any]) -> None:
        server.middleware.append(note)
        server.custom_route("/page", ["GET"])(page)

    with live(tmp_path, extend=add) as running:
        running.call("current_scene")
        bearer = {"Authorization": f"Bearer {running.bridge.instance.token('test')}"}
        url = running.bridge.url.replace("/mcp", "/page")
        answer = running.beside(lambda: httpx2.get(url, headers=bearer))

    assert scopes
    assert all("router" not in scope for scope in scopes)
    assert answer.text == "a page"


def test_nothing_wakes_the_worker_once_a_stream_is_over(tmp_path: Path) -> None:
    with live(tmp_path) as running:
        running.call("current_scene", era="2025-11-25")
        looking = running.bridge._worker.spawn(_tasks())
        running.until(looking.done)
        names = looking.result()

    assert not [name for name in names if "watcher" in name]


async def _tasks() -> list[str]:
    return [str(task.get_coro()) for task in asyncio.all_tasks()]
