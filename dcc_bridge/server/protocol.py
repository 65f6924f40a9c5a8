"""Serializes questions, tools and results for clients, and reads their answers. Worker.

Every value for a client goes through `show_hidden`, which makes hidden characters visible. Every
value from a client goes through `restore_hidden`, so that an agent or a form may name an item as it
was shown. JSON alone is not enough: it escapes the character ESC, but no character that reorders
text or is invisible.
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

from dcc_bridge import known_clients
from dcc_bridge.elicitation.caller import Client, SeenClient
from dcc_bridge.elicitation.caller_view import argument_views
from dcc_bridge.elicitation.client_details import client_details
from dcc_bridge.elicitation.consent_view import undo_line
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
    STATUS,
    TASKS,
)
from dcc_bridge.server.answer_size import fitted, fitted_string, fitted_text, size
from dcc_bridge.skills.call_history import Outcome, Status
from dcc_bridge.skills.registry import Entry
from dcc_bridge.skills.returns import Returns, is_file, plain

log = logging.getLogger(__name__)

Answer = Expired | Reply | Unable | Unreadable

MODERN: Final = "2026-07-28"
"""The revision of the modern era."""
CALL: Final = "tools/call"
MAX_IMAGE_BYTES: Final = 8_000_000
"""Bytes of an image that is sent. For a larger image the client gets a link."""
MAX_CONSENT_ITEMS: Final = 20
"""Items of a consent that are listed to a client."""
_ESCAPE: Final = re.compile(r"\\[bfru]")
"""How JSON writes a control character."""
_UNTYPED: Final = Returns(Any, "")
_SIGNATURE_BYTES: Final = 16
"""Bytes at the start of a file that tell which kind of image it is."""
_BINARY: Final = "application/octet-stream"
_EXPERIMENTAL: Final = "Experimental:"
"""The first word of a description, because `dcc-bridge tools` shows the first line."""
_NOT_YET: Final = (
    "{title}. The application is busy, so the arguments of this tool are not known yet. List the "
    "tools again in a moment."
)
_NOW: Final = "now"  # the key of what is different in the scene, in the answer of an edit
_ENVELOPE_BYTES: Final = 800
"""Bytes of an answer beside its text and its data."""
_CUT: Final = "The result had {whole:,} bytes: its long lists and texts are cut."
_MARK: Final = "dcc-bridge/malformed"
_MARKED_CANCEL: Final = {"action": "cancel", "_meta": {_MARK: True}}
"""Replaces a malformed answer."""


def input_required(question: Question, state: str) -> types.InputRequiredResult:
    """Return a question for a modern client, which repeats the call with the answer.

    Args:
        question: The question.
        state: Identifies the parked call. The client sends the state with its answer.
    """
    return types.InputRequiredResult(
        input_requests={question.key: elicit_request(question)},
        request_state=state,
        _meta={LIMIT: question.offers.left},  # the requests themselves have no meta in this era
    )


def reply(response: Any) -> Answer:
    """Read a client's answer, which the broker checks against the form."""
    if not isinstance(response, types.ElicitResult):
        return Unreadable()
    meta = response.meta or {}
    if _MARK in meta:
        return Unreadable()
    if MISFIT in meta:
        return Expired(INVALID_ANSWER)
    return Reply(response.action, restore_hidden(response.content))


def raw_reply(answer: object) -> Answer:
    """Read a client's answer that was not validated before."""
    if not _is_valid(answer):
        return Unreadable()
    return reply(types.ElicitResult.model_validate(answer, by_name=False))


def is_left(response: Any) -> bool:
    """Return whether a modern client abandons its call instead of answering."""
    return isinstance(response, types.ElicitResult) and LEFT in (response.meta or {})


def modes(capabilities: types.ClientCapabilities | None) -> tuple[bool, bool]:
    """Return whether a client can draw a form, and whether it can open a page.

    Both must be declared: the SDK would also send questions to clients that declare nothing.
    """
    if capabilities is None or capabilities.elicitation is None:
        return False, False
    elicitation = capabilities.elicitation
    opens_pages = elicitation.url is not None
    draws_forms = elicitation.form is not None or not opens_pages  # a bare {} means forms
    return draws_forms, opens_pages


def seen_client(session: ServerSession | Connection, label: str) -> SeenClient:
    """Return a client as its session describes it, under the label that its token proved."""
    client = Client(label)
    params = session.client_params
    if params is not None and params.client_info:
        client = Client(label, params.client_info.name, params.client_info.version)
    capabilities = session.client_capabilities
    draws_forms, opens_pages = modes(capabilities)
    tasks = capabilities is not None and TASKS in (capabilities.extensions or {})
    pages = draws_pages(capabilities)
    era = session.protocol_version
    return SeenClient(client, era, draws_forms, opens_pages, time.time(), tasks, pages)


def draws_pages(capabilities: types.ClientCapabilities | None) -> bool:
    """Return whether a client draws the pages of MCP Apps beside results."""
    if capabilities is None:
        return False
    return known_clients.draws_pages({"extensions": capabilities.extensions})


def tool(entry: Entry) -> types.Tool:
    """Describe a skill to an agent.

    Raises:
        BrokenSkill: A type in the skill's signature cannot be described.
    """
    skill = entry.skill
    signature = entry.signature
    if signature is None:
        description = _NOT_YET.format(title=skill.title)
        input_schema: dict[str, Any] = {"type": "object"}
        output_schema = None
    else:
        description = signature.description
        input_schema = signature.schema
        output_schema = signature.returns.schema
    if skill.is_experimental:
        description = f"{_EXPERIMENTAL} {description}"
    risk = skill.metadata.risk
    return types.Tool(
        name=skill.name,
        title=skill.title,
        description=description,
        input_schema=input_schema,
        output_schema=output_schema,
        annotations=types.ToolAnnotations(
            read_only_hint=risk == "read",
            destructive_hint=risk == "destructive",
            idempotent_hint=skill.metadata.idempotent or None,
            open_world_hint=False,
        ),
    )


def unavailable(name: str, why: str) -> types.Tool:
    """Describe a tool that cannot be called, so that the agent can say why."""
    return types.Tool(
        name=name,
        description=f"Unavailable: {why}",
        input_schema={"type": "object"},
    )


def show_hidden(value: Any) -> Any:
    """Return a value for a client, with each hidden character in its texts and names made visible.

    Characters that UTF-8 cannot encode, as in some file names, count as hidden. Sentences, which
    may quote texts made visible before, go through `safe_whole` instead.
    """
    if not isinstance(value, str) and _hides_nothing(value):
        return value
    return _each_text(value, visible)


def restore_hidden(value: Any) -> Any:
    """Return a client's value with the hidden characters that `show_hidden` had made visible."""
    return _each_text(value, from_visible)


def _hides_nothing(value: Any) -> bool:
    """Return whether no text in a JSON value hides a character, by one fast check of its JSON."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):  # the sender of the value reports the error
        return False
    return hides_nothing(text) and _ESCAPE.search(text) is None


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value with each text in it changed, the names of its members too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        items = value.items()
        return {_each_text(name, change): _each_text(member, change) for name, member in items}
    if isinstance(value, list | tuple):
        return [_each_text(item, change) for item in value]
    return value


def _passages(question: Question) -> list[str]:
    """Return the texts that a dialog would draw, without hidden characters."""
    passages = [safe_whole(question.message)]
    arguments = [f"- {argument}" for argument in argument_views(question.arguments)]
    passages.append("\n".join(arguments))
    passages.append(_item_list(question))
    if question.consent:
        passages.append(undo_line(question.consent) or "")
    passages.append(safe_whole(question.reason or ""))
    passages.append(client_details(question) or "")
    return [passage for passage in passages if passage]


def _item_list(question: Question) -> str:
    """Return the items of a consent, one per line, so that no name looks like two."""
    lines = ""
    if question.consent:
        shown = question.consent.shown_items[:MAX_CONSENT_ITEMS]
        lines = "\n".join(safe_line(item, len(item)) for item in shown)
    rest = len(question.items) - MAX_CONSENT_ITEMS
    if rest > 0:
        lines += f"\nand {rest} more"
    return lines


def elicit_request(question: Question, legacy_id: str | None = None) -> types.ElicitRequest:
    """Return the request that asks a question, or sends the person to the question's page.

    Args:
        question: The question.
        legacy_id: The id of a page in the legacy era; None in the modern era, without such ids.
    """
    meta: Any = {LIMIT: question.offers.left}
    if question.page is not None:
        passages = [text for text in (question.message, question.page.description) if text]
        page = types.ElicitRequestURLParams(
            message=safe_whole("\n\n".join(passages)),
            url=question.page.url,
            elicitation_id=legacy_id,
            _meta=meta,
        )
        return types.ElicitRequest(params=page)
    schema: dict[str, Any] = {}
    if question.form is not None:
        schema = question.form.schema
    params = types.ElicitRequestFormParams(
        message="\n\n".join(_passages(question)), requested_schema=show_hidden(schema), _meta=meta
    )
    return types.ElicitRequest(params=params)


async def mark_malformed(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Replace a malformed answer to a parked call by a marked cancel. SDK middleware.

    The SDK validates a request before any handler sees it, and refuses a malformed answer (-32602),
    such as a list as the content. The question would then wait for its deadline. For the marked
    cancel the broker asks once more.
    """
    params = ctx.params or {}
    answers = params.get("inputResponses")
    if ctx.method == CALL and params.get("requestState") and answers is not None:
        ctx = replace(ctx, params={**params, "inputResponses": _readable(answers)})
    return await call_next(ctx)


def answer_to(answers: Mapping[str, Any], key: str) -> Any:
    """Return the answer to the question of a key, if there is one.

    If the answers were no object, the marked cancel in their place answers every question.
    """
    return answers.get(key, answers.get(_MARK))


def _readable(answers: object) -> dict[str, Any]:
    """Return answers that the SDK accepts, with a marked cancel for each malformed one."""
    if not isinstance(answers, dict):
        return {_MARK: _MARKED_CANCEL}
    readable = {}
    for key, answer in answers.items():
        if key != _MARK and _is_valid(answer):
            readable[key] = answer
        else:
            readable[key] = _MARKED_CANCEL
    return readable


def _is_valid(answer: object) -> bool:
    """Return whether an answer is a valid result of an elicitation."""
    try:
        types.ElicitResult.model_validate(answer, by_name=False)
    except ValidationError:
        return False
    return True


def result(outcome: Outcome, most: int, returns: Returns = _UNTYPED) -> types.CallToolResult:
    """Serialize the outcome of a call.

    Args:
        outcome: How the call ended.
        most: The bytes of text and data that the client gets; pictures and files are not counted.
        returns: The type that the skill declares to return.
    """
    if outcome.error is None:
        outcome = _with_account(outcome, returns)
    room = most - _ENVELOPE_BYTES - size(outcome.note)
    if outcome.error is not None:
        error = fitted_string(safe_whole(outcome.error), room)
        return _result(outcome.status, [_sentence(error)], is_error=True)
    try:
        content, structured = _told(outcome.value, returns, room)
    except (TypeError, ValueError, RecursionError) as error:
        log.warning("a result cannot be told", exc_info=error)
        why = f"The skill ran and its changes remain, but its result cannot be sent: {error}"
        return _result(outcome.status, [_sentence(fitted_string(why, room))], is_error=True)
    if not content and outcome.status == "done":
        content = [_sentence("Done.")]
    if outcome.note:
        content = [*content, _sentence(outcome.note)]
    return _result(outcome.status, content, structured=structured)


def _with_account(outcome: Outcome, returns: Returns) -> Outcome:
    """Return an outcome with what is different in the scene in its value, or else in its note.

    In the value if that is an object without a schema, as clients may show the object alone.
    """
    if not outcome.now:
        return outcome
    value = outcome.value
    if not returns.is_typed and isinstance(value, dict) and _NOW not in value:
        return replace(outcome, value={**value, _NOW: outcome.now})
    has_pictures = isinstance(value, list) and any(map(is_file, value))
    if has_pictures and isinstance(value[0], dict):
        return replace(outcome, value=[{**value[0], _NOW: outcome.now}, *value[1:]])
    return replace(outcome, note=f"{outcome.note} {_NOW.title()}: {outcome.now}.".strip())


def _told(
    value: Any, returns: Returns, room: int
) -> tuple[list[types.ContentBlock], dict[str, Any] | None]:
    """Return a value as content blocks and as a JSON object, both within a size together.

    A large value without a schema is told once, as a text: a client shows its model either of the
    two, and the protocol wants the object only where there is a schema.

    Raises:
        TypeError, ValueError, RecursionError: The value is no JSON, or not of its type.
    """
    content: list[types.ContentBlock] = []
    if value is not None:
        content = _content(value, room)
    structured = show_hidden(returns.structured(value))
    if structured is None:
        return content, None
    texts = [block.text for block in content if isinstance(block, types.TextContent)]
    whole = size(structured) + sum(map(size, texts))
    if whole <= room:
        return content, structured
    if returns.schema is None:
        return content, None
    note = _CUT.format(whole=whole)
    half = (room - size(note)) // 2
    if returns.is_described:
        short = _cut(value, half)
        return [*_content(short, half), _sentence(note)], show_hidden(returns.structured(short))
    short = fitted(plain(value), half, marks=False)
    structured = show_hidden(returns.structured(short))
    if size(structured) > half + _ENVELOPE_BYTES:
        raise ValueError(f"it has {whole:,} bytes, and no part of it can be left out.")
    return [*_content(short, half), _sentence(note)], structured


def _cut(value: Any, room: int) -> Any:
    """Return an object or a text, with what is left of it in a size; pictures stay beside it."""
    if isinstance(value, list):
        return [_cut(value[0], room), *value[1:]]
    if isinstance(value, str):
        return fitted_string(value, room)
    return json.loads(fitted_text(plain(value), room))


def plain_dump(result: types.CallToolResult, *, is_modern: bool) -> dict[str, Any] | None:
    """Return a result as the SDK would serialize it; None unless it has only texts."""
    content = []
    for block in result.content:
        if block.type != "text":
            return None
        content.append({"text": block.text, "type": "text"})
    dumped: dict[str, Any] = {"_meta": result.meta, "content": content, "isError": result.is_error}
    if is_modern:
        dumped["resultType"] = result.result_type
    if result.structured_content is not None:
        dumped["structuredContent"] = result.structured_content
    return dumped


def failure(text: str) -> types.CallToolResult:
    """Return the result of a call that never began."""
    return _result("not_started", [_sentence(text)], is_error=True)


def image_type(head: bytes) -> str | None:
    """Return the MIME type of an image that clients draw; None for any other file.

    The signatures are those of the WHATWG's MIME Sniffing Standard, 6.1.

    Args:
        head: The first bytes of the file, 12 at least.
    """
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def _content(value: Any, room: int) -> list[types.ContentBlock]:
    """Return the content blocks for a value that a skill returned, their texts within a size."""
    if isinstance(value, list | tuple) and any(is_file(item) for item in value):
        room //= max(1, sum(not is_file(item) for item in value))
        blocks = []
        for item in value:
            blocks += _content(item, room)
        return blocks
    if isinstance(value, bytes | bytearray):
        return [_bytes(bytes(value))]
    if isinstance(value, PurePath):
        return [_path(Path(value))]
    if isinstance(value, str):
        return [types.TextContent(type="text", text=fitted_string(show_hidden(value), room))]
    text = fitted_text(show_hidden(plain(value)), room)
    return [types.TextContent(type="text", text=text)]


def _bytes(data: bytes) -> types.ContentBlock:
    encoded = base64.b64encode(data).decode()
    kind = image_type(data[:_SIGNATURE_BYTES])
    if kind is not None:
        return types.ImageContent(type="image", data=encoded, mime_type=kind)
    uri = f"dcc-bridge://result/{sha256(data).hexdigest()[:16]}"
    blob = types.BlobResourceContents(uri=uri, mime_type=_BINARY, blob=encoded)
    return types.EmbeddedResource(type="resource", resource=blob)


def _path(path: Path) -> types.ContentBlock:
    """Return an image itself, a link to any other file, or the path if no file can be read."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            is_image = image_type(file.read(_SIGNATURE_BYTES)) is not None
        if is_image and size <= MAX_IMAGE_BYTES:
            return _bytes(path.read_bytes())
    except OSError:  # a folder, or nothing
        return _text(str(path))
    kind = mimetypes.guess_type(path.name)[0] or _BINARY
    uri = path.absolute().as_uri()
    return types.ResourceLink(name=show_hidden(path.name), uri=uri, mime_type=kind, size=size)


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
    """Return a sentence of the bridge, which may quote texts made visible before."""
    return types.TextContent(type="text", text=safe_whole(text))


def _text(text: str) -> types.TextContent:
    """Return a text from the scene or a skill."""
    return types.TextContent(type="text", text=show_hidden(text))
