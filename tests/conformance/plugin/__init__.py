"""What skills cannot express, through the SDK's own API: `extend` is for the bridge. Worker."""

from __future__ import annotations

from typing import Any

from mcp.server.mcpserver import MCPServer

from tests.conformance.plugin import content, lists, notices, prompts, requests, resources


def extend(server: MCPServer[Any]) -> None:
    """Add everything to the SDK's own server object."""
    for part in (content, lists, notices, prompts, requests, resources):
        part.add(server)
