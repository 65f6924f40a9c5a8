"""The prompts that the suite asks for. Worker."""

from __future__ import annotations

import base64
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import EmbeddedResource, ImageContent, TextResourceContents

from tests.conformance.skills.content import PNG


def add(server: MCPServer[Any]) -> None:
    """Add them."""
    server.prompt()(test_simple_prompt)
    server.prompt()(test_prompt_with_arguments)
    server.prompt()(test_prompt_with_embedded_resource)
    server.prompt()(test_prompt_with_image)


def test_simple_prompt() -> str:
    """A prompt that is one sentence."""
    return "This is a simple prompt for testing."


def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt that takes two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    """A prompt that brings a text."""
    text = TextResourceContents(
        uri=resourceUri, mime_type="text/plain", text="Embedded resource content for testing."
    )
    embedded = UserMessage(EmbeddedResource(type="resource", resource=text))
    return [embedded, UserMessage("Please process the embedded resource above.")]


def test_prompt_with_image() -> list[UserMessage]:
    """A prompt that brings an image."""
    data = base64.b64encode(PNG).decode()
    image = UserMessage(ImageContent(type="image", data=data, mime_type="image/png"))
    return [image, UserMessage("Please analyze the image above.")]
