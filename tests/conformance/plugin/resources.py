"""The resources that the suite asks for; those of the scene are the bridge's own. Worker."""

from __future__ import annotations

import json
from typing import Any

from mcp.server.mcpserver import MCPServer

from tests.conformance.skills.content import PNG


def add(server: MCPServer[Any]) -> None:
    """Add them."""
    server.resource("test://static-text", mime_type="text/plain")(static_text)
    server.resource("test://static-binary", mime_type="image/png")(static_binary)
    server.resource("test://watched-resource", mime_type="text/plain")(watched_resource)
    server.resource("test://template/{id}/data", mime_type="application/json")(template)


def static_text() -> str:
    """A text that stays as it is."""
    return "This is the content of the static text resource."


def static_binary() -> bytes:
    """An image of one pixel."""
    return PNG


def watched_resource() -> str:
    """A text of whose changes a client may want to hear."""
    return "Watched resource content"


def template(id: str) -> str:
    """What belongs to an id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
