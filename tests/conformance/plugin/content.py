"""Tools whose result or schema a skill does not have: sound, texts with a URI, headers. Worker."""

from __future__ import annotations

import base64
from typing import Annotated, Any, Final

from mcp.server.mcpserver import MCPServer
from mcp_types import AudioContent, EmbeddedResource, TextResourceContents
from pydantic import Field

# A header that announces no samples: 8000 Hz, one channel, 16 bits.
_WAV: Final = b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0\x80>\0\0\x02\0\x10\0data\0\0\0\0"
SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""What the suite wants to find again, word by word."""


def add(server: MCPServer[Any]) -> None:
    """Add the tools."""
    server.tool()(test_audio_content)
    server.tool()(test_embedded_resource)
    server.tool()(test_x_mcp_header)
    server.tool()(json_schema_2020_12_tool)
    # The SDK makes a tool's schema of its signature and has no other way in.
    listed = server._tool_manager.get_tool("json_schema_2020_12_tool")
    assert listed is not None
    listed.parameters = SCHEMA


def test_audio_content() -> AudioContent:
    """Return a sound."""
    return AudioContent(type="audio", data=base64.b64encode(_WAV).decode(), mime_type="audio/wav")


def test_embedded_resource() -> EmbeddedResource:
    """Return a text with an address of its own."""
    uri = "test://embedded-resource"
    text = TextResourceContents(uri=uri, mime_type="text/plain", text="An embedded resource.")
    return EmbeddedResource(type="resource", resource=text)


def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
) -> str:
    """Take an argument that the client repeats in a header."""
    return f"The region is {region}."


def json_schema_2020_12_tool() -> str:
    """Have a schema with words of JSON Schema 2020-12."""
    return "It is the schema that counts."
