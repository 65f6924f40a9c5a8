"""Serializes questions, tools and results, and reads answers, malformed ones too. Worker.

Here is the border to clients: what leaves it is `carried`, with nothing hidden in any text, and
what comes in is `taken`, so that an agent or a form may name an item as it was shown. JSON alone is
not enough: it escapes the character ESC, but none that reorders or that cannot be seen.
"""

from __future__ import annotations

import base64
import json
import logging
import mimetypes
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Any, Final

import mcp_types as types
from mcp.server.connection import Connection
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.session import ServerSession
from pydantic import ValidationError

from dcc_bridge.elicitation.caller import Client, SeenClient
from dcc_bridge.elicitation.question import Expired, Question, Reply, Unable, Unreadable
from dcc_bridge.elicitation.text import (
    from_visible,
    hides_nothing,
    safe_line,
    safe_whole,
    visible,
)
from dcc_bridge.elicitation.types import (
    INVALID_ANSWER,
    LEFT,
    LIMIT,
    MISFIT,
    SESSION_HEADER,
    STATUS,
)
from dcc_bridge.elicitation.view import argument_views, client_details, undo_line
from dcc_bridge.skills.call_history import Outcome, Status
from dcc_bridge.skills.registry import Entry
from dcc_bridge.skills.signature import Returns, is_file, plain

log = logging.getLogger(__name__)

Answer = Expired | Reply | Unable | Unreadable

MODERN: Final = "2026-07-28"  # the revision of the newer era
CALL: Final = "tools/call"
MOST_IMAGE: Final = 8_000_000  # bytes of an image that is sent; of a larger one the place is told
_ESCAPED: Final = re.compile(r"\\[bfru]")  # what JSON writes for a control character
_UNTYPED: Final = Returns(Any, "")
_HEAD: Final = 16
_BINARY: Final = "application/octet-stream"
MOST_ITEMS: Final = 20  # items of a consent that are listed to a client
_EXPERIMENTAL: Final = "Experimental:"  # first, in the line that `dcc-bridge tools` shows
_NOT_YET: Final = (
    "{title}. The application is busy, so what this tool takes cannot be told yet: list the tools "
    "again in a moment."
)
_MARK: Final = "dcc-bridge/malformed"
_INSTEAD: Final = {"action": "cancel", "_meta": {_MARK: True}}


def input_required(question: Question, state: str) -> types.InputRequiredResult:
    """Put a question to a modern client, which sends the call again with the answer."""
    return types.InputRequiredResult(
        input_requests={question.key: elicit_request(question)},
        request_state=state,
        _meta={LIMIT: question.offers.left},  # a request in it carries no meta in this era
    )


def reply(response: Any) -> Answer:
    """Read a client's answer. It is checked against its form by the broker."""
    if not isinstance(response, types.ElicitResult) or _MARK in (response.meta or {}):
        return Unreadable()
    if MISFIT in (response.meta or {}):
        return Expired(INVALID_ANSWER)
    return Reply(response.action, taken(response.content))


def raw_reply(answer: object) -> Answer:
    """Read the same as it came, which nobody validated."""
    valid = _is_valid(answer)
    return reply(types.ElicitResult.model_validate(answer, by_name=False) if valid else answer)


def is_left(response: Any) -> bool:
    """Tell whether a modern client gives up its call instead of answering."""
    return isinstance(response, types.ElicitResult) and LEFT in (response.meta or {})


def modes(capabilities: types.ClientCapabilities | None) -> tuple[bool, bool]:
    """Tell whether a client can draw a form, and whether it can open a page."""
    # it must have said so: the SDK sends to clients that declared nothing; a bare {} is form
    elicitation = capabilities.elicitation if capabilities is not None else None
    if elicitation is None:
        return False, False
    return elicitation.form is not None or elicitation.url is None, elicitation.url is not None


def seen_client(session: ServerSession | Connection, label: str) -> SeenClient:
    """Read what a client says of itself, and whose label is proved."""
    params = session.client_params
    info = params.client_info if params is not None else None
    client = Client(label, info.name if info else "", info.version if info else "")
    era, able = session.protocol_version, modes(session.client_capabilities)
    return SeenClient(client, era, *able, time.time())


def session_of(headers: Mapping[str, str], era: str) -> str:
    """Return the session that a request belongs to; "" where its client tells of none."""
    return headers.get(SESSION_HEADER if era >= MODERN else "mcp-session-id", "")


def tool(entry: Entry) -> types.Tool:
    """Describe a skill to an agent; BrokenSkill where a type in its signature cannot be."""
    skill, signature = entry.skill, entry.signature
    risk = skill.metadata.risk
    description = signature.description if signature else _NOT_YET.format(title=skill.title)
    if skill.is_experimental:
        description = f"{_EXPERIMENTAL} {description}"
    return types.Tool(
        name=skill.name,
        title=skill.title,
        description=description,
        input_schema=signature.schema if signature else {"type": "object"},
        output_schema=signature.returns.schema if signature else None,
        annotations=types.ToolAnnotations(
            title=skill.title,
            read_only_hint=risk == "read",
            destructive_hint=risk == "destructive",
            idempotent_hint=skill.metadata.idempotent or None,
            open_world_hint=False,
        ),
    )


def unavailable(name: str, why: str) -> types.Tool:
    """Describe a file that could not be loaded, so that the agent can say so."""
    return types.Tool(
        name=name,
        description=f"Unavailable: {why}",
        input_schema={"type": "object"},
    )


def carried(value: Any) -> Any:
    """Return a value for a client: each hidden character in its texts and names is visible.

    Those that UTF-8 cannot carry are among them: a file's name may hold some. It is for values;
    sentences, which may quote what is visible already, go through `safe_whole`.
    """
    if not isinstance(value, str) and _hides_nothing(value):
        return value
    return _each_text(value, visible)


def taken(value: Any) -> Any:
    """Return a value of a client's with the characters in it that `carried` had made visible."""
    return _each_text(value, from_visible)


def _hides_nothing(value: Any) -> bool:
    """Return whether no text in a value of JSON's hides anything, by one look at all of it in C."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # what it is will be told where it is sent
        return False
    return hides_nothing(text) and _ESCAPED.search(text) is None


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        items = value.items()
        return {_each_text(name, change): _each_text(member, change) for name, member in items}
    if isinstance(value, list | tuple):
        return [_each_text(item, change) for item in value]
    return value


def _parts(question: Question) -> list[str | None]:
    """Say in a client's plain text what a dialog would draw, with nothing hidden in it."""
    items = question.consent.shown_items if question.consent else ()
    # an item has a line of its own, so that no name can pass for two
    shown = "\n".join(safe_line(item, len(item)) for item in items[:MOST_ITEMS])
    rest = len(question.items) - MOST_ITEMS
    more = f"\nand {rest} more" if rest > 0 else ""
    undo = undo_line(question.consent) if question.consent else None
    given = "\n".join(f"- {argument}" for argument in argument_views(question.arguments))
    message = safe_whole(question.message)
    reason = safe_whole(question.reason or "")
    return [message, given, shown + more, undo, reason, client_details(question)]


def elicit_request(question: Question, legacy_id: str | None = None) -> types.ElicitRequest:
    """Serialize a question; a page's has an id on the legacy era."""
    meta: Any = {LIMIT: question.offers.left}
    if question.page is not None:
        message = "\n\n".join(filter(None, (question.message, question.page.description)))
        page = types.ElicitRequestURLParams(
            message=safe_whole(message), url=question.page.url, elicitation_id=legacy_id, _meta=meta
        )
        return types.ElicitRequest(params=page)
    message = "\n\n".join(part for part in _parts(question) if part)
    schema = question.form.schema if question.form is not None else {}
    params = types.ElicitRequestFormParams(
        message=message, requested_schema=carried(schema), _meta=meta
    )
    return types.ElicitRequest(params=params)


async def mark_malformed(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Replace a malformed answer to a parked call by a marked cancel. The SDK's middleware."""
    # The SDK validates a request before any handler sees it, and refuses a retry with an answer
    # that the protocol has no place for (-32602): a list as the content, or no object at all. The
    # question would wait for its deadline; this way the broker asks once more.
    params = ctx.params or {}
    answers = params.get("inputResponses")
    if ctx.method == "tools/call" and params.get("requestState") and answers is not None:
        ctx = replace(ctx, params={**params, "inputResponses": _readable(answers)})
    return await call_next(ctx)


def answer_to(answers: Mapping[str, Any], key: str) -> Any:
    """Give the answer to a question, or None; what was no object of answers counts for each."""
    return answers.get(key, answers.get(_MARK))


def _readable(answers: object) -> dict[str, Any]:
    if not isinstance(answers, dict):
        return {_MARK: _INSTEAD}
    return {key: it if key != _MARK and _is_valid(it) else _INSTEAD for key, it in answers.items()}


def _is_valid(answer: object) -> bool:
    """Whether it answers an elicitation; sampling and roots are never asked for."""
    try:
        types.ElicitResult.model_validate(answer, by_name=False)
    except ValidationError:
        return False
    return True


def result(outcome: Outcome, returns: Returns = _UNTYPED) -> types.CallToolResult:
    """Serialize the outcome of a call, by the type that its skill declares."""
    if outcome.error is not None:
        return _result(outcome.status, [_sentence(outcome.error)], is_error=True)
    try:
        content = [] if outcome.value is None else _content(outcome.value)
        structured = carried(returns.structured(outcome.value))
    except (TypeError, ValueError, RecursionError) as error:
        log.warning("a result cannot be told", exc_info=error)
        why = f"The skill ran, and its changes stand, but what it returned cannot be told: {error}"
        return _result(outcome.status, [_sentence(why)], is_error=True)
    if not content and outcome.status == "done":
        content = [_sentence("Done.")]
    notes = [_sentence(outcome.note)] if outcome.note else []
    return _result(outcome.status, [*content, *notes], structured=structured)


def plain_dump(result: types.CallToolResult, *, is_modern: bool) -> dict[str, Any] | None:
    """Give a result of texts alone as the SDK validates and serializes it; None for any other."""
    content = [{"text": it.text, "type": "text"} for it in result.content if it.type == "text"]
    dumped: dict[str, Any] = {"_meta": result.meta, "content": content, "isError": result.is_error}
    dumped |= {"resultType": result.result_type} if is_modern else {}
    if result.structured_content is not None:
        dumped["structuredContent"] = result.structured_content
    return dumped if len(content) == len(result.content) else None


def failure(text: str) -> types.CallToolResult:
    """Give the result of a call that never began."""
    return _result("not_started", [_sentence(text)], is_error=True)


def image_type(head: bytes) -> str | None:
    """Tell the kind of an image that clients draw, by the WHATWG's MIME Sniffing Standard, 6.1."""
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
    if isinstance(value, str):
        return [_text(value)]
    text = json.dumps(carried(plain(value)), ensure_ascii=False)
    return [types.TextContent(type="text", text=text)]


def _bytes(data: bytes) -> types.ContentBlock:
    encoded = base64.b64encode(data).decode()
    if (kind := image_type(data[:_HEAD])) is not None:
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
    return types.ResourceLink(name=carried(path.name), uri=uri, mime_type=kind, size=size)


def _result(
    status: Status,
    content: list[types.ContentBlock],
    *,
    is_error: bool = False,
    structured: dict[str, Any] | None = None,
) -> types.CallToolResult:
    return types.CallToolResult(
        content=content, structured_content=structured, is_error=is_error, _meta={STATUS: status}
    )


def _sentence(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=safe_whole(text))


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=carried(text))
