"""Serializes the result of a call: texts, images, files, structured data. Worker."""

from __future__ import annotations

import base64
import json
import logging
import mimetypes
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any, Final

import mcp_types as types

from dcc_bridge.errors import NO_OTHER_WAY
from dcc_bridge.server.protocol import carried
from dcc_bridge.skills.call_history import Outcome, Status
from dcc_bridge.skills.returns import Returns, is_file, plain

log = logging.getLogger(__name__)

STATUS: Final = "dcc-bridge/status"  # in a result's _meta: how a call ended, in the runner's words
REFUSED: Final = f"The person did not agree to this. {NO_OTHER_WAY}"
MOST_IMAGE: Final = 8_000_000  # bytes of an image that is sent; of a larger one the place is told

_UNTYPED: Final = Returns(Any, "")
_HEAD: Final = 16
_BINARY: Final = "application/octet-stream"


def result(outcome: Outcome, returns: Returns = _UNTYPED) -> types.CallToolResult:
    """Serialize the outcome of a call.

    Args:
        outcome: How the run ended, and with what.
        returns: The type that the skill declares.
    """
    if outcome.error is not None:
        return _result(outcome.status, [_text(outcome.error)], is_error=True)
    try:
        content = [] if outcome.value is None else _content(outcome.value)
        structured = returns.structured(outcome.value)
    except (TypeError, ValueError, RecursionError) as error:
        log.warning("a result cannot be told", exc_info=error)
        why = f"The skill ran, and its changes stand, but what it returned cannot be told: {error}"
        return _result(outcome.status, [_text(why)], is_error=True)
    if outcome.status == "refused":
        content.append(_text(REFUSED))
    return _result(outcome.status, content or [_text("Done.")], structured=structured)


def failure(text: str) -> types.CallToolResult:
    """Give the result of a call that never began."""
    return _result("not_started", [_text(text)], is_error=True)


def image_type(head: bytes) -> str | None:
    """Tell the kind of an image from how it begins, or None where it is none that clients draw.

    The magic numbers are those of the WHATWG's MIME Sniffing Standard, section 6.1.
    """
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else None


def _content(value: Any) -> list[types.ContentBlock]:
    if isinstance(value, list | tuple) and any(is_file(item) for item in value):
        return [block for item in value for block in _content(item)]
    if isinstance(value, bytes | bytearray):
        return [_bytes(bytes(value))]
    if isinstance(value, PurePath):
        return [_path(Path(value))]
    text = value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)
    return [_text(text)]


def _bytes(data: bytes) -> types.ContentBlock:
    encoded = base64.b64encode(data).decode()
    kind = image_type(data[:_HEAD])
    if kind is not None:
        return types.ImageContent(type="image", data=encoded, mime_type=kind)
    uri = f"dcc-bridge://result/{sha256(data).hexdigest()[:16]}"
    blob = types.BlobResourceContents(uri=uri, mime_type=_BINARY, blob=encoded)
    return types.EmbeddedResource(type="resource", resource=blob)


def _path(path: Path) -> types.ContentBlock:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            if image_type(file.read(_HEAD)) and size <= MOST_IMAGE:
                return _bytes(path.read_bytes())
    except OSError:  # a folder, or nothing: its place is all there is to say
        return _text(str(path))
    kind = mimetypes.guess_type(path.name)[0] or _BINARY
    uri = path.absolute().as_uri()
    return types.ResourceLink(
        type="resource_link", name=path.name, uri=uri, mime_type=kind, size=size
    )


def _result(
    status: Status,
    content: list[types.ContentBlock],
    *,
    is_error: bool = False,
    structured: dict[str, Any] | None = None,
) -> types.CallToolResult:
    return types.CallToolResult(
        content=content,
        structured_content=structured,
        is_error=is_error,
        _meta={STATUS: status},
    )


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=carried(text))
