"""The page that shows results in a chat: MCP's extension "MCP Apps". Worker.

This is ``io.modelcontextprotocol/ui`` (SEP-1865, stable since 2026-01-26), for clients that declare
it with the MIME type of its pages; others see nothing of it. A tool whose result the page draws
names the page in its ``_meta``. The client reads the page as a resource, draws it in a frame from
which nothing can be loaded, and hands it the call and the result. No list of resources names it.

The page is no place to agree: no question goes to it, and of our tools it may call ``look`` alone.
A client refuses all others, as they are marked as the model's.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult
from mcp.server.extension import Extension
from mcp.server.lowlevel.helper_types import ReadResourceContents

from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.types import BEFORE_AFTER, PLACES
from dcc_bridge.known_clients import APPS, PAGE_TYPE, handshake_capabilities
from dcc_bridge.server.client_channel import Context
from dcc_bridge.server.protocol import draws_pages, image_type, show_hidden
from dcc_bridge.skills.call_history import Outcome
from dcc_bridge.skills.described import Legend
from dcc_bridge.skills.returns import is_file

URI: Final = "ui://dcc-bridge/scene.html"
_LOOK: Final = "look"
_DRAWN: Final = {
    *(_LOOK, "render", "batch", "create", "duplicate", "transform", "set_values", "group"),
    *("assign_material", "connect", "set_keys", "rename", "import_file", "delete", "clean"),
    "run_python",
}
"""The tools whose results the page draws."""
_OLD_MARK: Final = "ui/resourceUri"
"""The mark of earlier drafts, which VS Code needs (github.com/jongalloway/dotnet-mcp/pull/413)."""
_NO_DOMAINS: Final = ("connectDomains", "resourceDomains", "frameDomains", "baseUriDomains")
_PAGE_META: Final = {"csp": {name: [] for name in _NO_DOMAINS}, "prefersBorder": True}
_BEFORE: Final = "Now: "
"""The beginning of the text of a picture that was drawn before an edit, which is over by now."""


class ChatPage(Extension):
    """Declares the extension. The server itself marks its tools, and serves the page."""

    identifier = APPS


def content() -> ReadResourceContents:
    """Return the page."""
    text = Path(__file__).with_name("chat_page.html").read_text("utf-8")
    return ReadResourceContents(content=text, mime_type=PAGE_TYPE, meta={"ui": _PAGE_META})


async def tell_client(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Declare the extension, and mark the listed tools, for a client that draws pages.

    Each tool is marked with the page that draws its results, and as one that no page may call,
    except `look`. The marks of a plug-in's own tool stay. SDK middleware.
    """
    answer = await call_next(ctx)
    if not isinstance(answer, dict):
        return answer
    if ctx.method == "initialize":
        client = (ctx.params or {}).get("capabilities", {})
        answer["capabilities"] = handshake_capabilities(answer["capabilities"], client)
    elif ctx.method == "tools/list" and draws_pages(ctx.session.client_capabilities):
        answer["tools"] = [_marked(tool) for tool in answer["tools"]]
    return answer


def _marked(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a serialized tool with the marks of the extension."""
    meta: dict[str, Any] = {"ui": {}}
    if tool["name"] in _DRAWN:
        meta["ui"]["resourceUri"] = URI
        meta[_OLD_MARK] = URI
    if tool["name"] != _LOOK:
        meta["ui"]["visibility"] = ["model"]
    return {**tool, "_meta": {**meta, **tool.get("_meta", {})}}


def facts(outcome: Outcome, call: Call) -> dict[str, Any]:
    """Return what the page draws of a call beside its result, which is no part of the answer.

    Args:
        outcome: How the call ended.
        call: The call.
    """
    meta: dict[str, Any] = {}
    places = list(_places(outcome.value))
    if any(places):
        meta[PLACES] = show_hidden(places)
    if outcome.status == "done" and call.agreed_pictures:
        meta[BEFORE_AFTER] = [_picture(png, says) for png, says in call.agreed_pictures]
    return meta


def _places(value: Any) -> Iterator[list[Any]]:
    """Yield the places of items in each picture of a result; none for one without a legend."""
    if not isinstance(value, list):
        return
    legend: list[Any] = []
    for part in value:
        if isinstance(part, Legend):
            legend = list(part.places)
        elif is_file(part):
            yield legend
            legend = []


def _picture(data: bytes, says: str) -> dict[str, str]:
    """Return a picture as the page draws it, with what it shows."""
    shows = says
    if says.startswith(_BEFORE):
        shows = f"Before: {says.removeprefix(_BEFORE)}"
    return {
        "data": base64.b64encode(data).decode(),
        "mimeType": image_type(data[:16]) or "",
        "shows": show_hidden(shows),
    }
