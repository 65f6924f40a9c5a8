"""Questions, answers and results as they go over the wire. Worker."""

from __future__ import annotations

import json
import logging
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    CallToolResult,
    ClientCapabilities,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, ValidationError

from dcc_bridge.elicitation.question import Question, Reply, Unable
from dcc_bridge.elicitation.types import INVALID_ANSWER
from dcc_bridge.skills.registry import Entry
from dcc_bridge.skills.runner import Outcome, Status

log = logging.getLogger(__name__)

MOST_ITEMS: Final = 20
"""Items of a consent that are listed to a client."""
STATUS: Final = "dcc-bridge/status"
"""The key of a result's ``_meta`` that says how a call ended, in the runner's words."""

_UNREADABLE: Final = Unable(INVALID_ANSWER, ends=True)
"""An answer of a shape that the protocol does not know: no consent, and no fallback either."""

REFUSED: Final = (
    "The person did not agree to this. "
    "Do not try to reach the same result another way; ask them what they would like instead."
)


def input_required(question: Question, state: str) -> InputRequiredResult:
    """Put a question to a modern client, which sends the call again with the answer."""
    return InputRequiredResult(
        input_requests={question.key: _request(question)}, request_state=state
    )


async def ask_legacy(request: ServerRequestContext[Any, Any], question: Question) -> Reply | Unable:
    """Put a question to a legacy client in the middle of its request.

    A JSON-RPC error as the answer never becomes the call's error: the question falls through.
    """
    metadata = ServerMessageMetadata(related_request_id=request.request_id)
    try:
        result = await request.session.send_request(
            _request(question, question.id), ElicitResult, metadata=metadata
        )
    except MCPError as error:
        return _fall_through(error.error.code)
    except ValidationError:
        return _UNREADABLE
    return Reply(result.action, result.content)


def _fall_through(code: int) -> Reply | Unable:
    """Read a client's error instead of an answer; it never becomes the call's error."""
    if code == CONNECTION_CLOSED:
        return Reply("cancel")
    if code == INVALID_PARAMS:
        log.error("a client found our question invalid: this is a bug of the bridge")
    return Unable(lasting=code == METHOD_NOT_FOUND)


def reply(response: Any) -> Reply | Unable:
    """Read a modern client's answer. It is checked against its form by the broker."""
    if not isinstance(response, ElicitResult):
        return _UNREADABLE
    return Reply(response.action, response.content)


def modes(capabilities: ClientCapabilities | None) -> tuple[bool, bool]:
    """Tell whether a client can draw a form, and whether it can open a page.

    It must have said so: the SDK sends to clients that declared nothing. A bare ``{}`` is form.
    """
    told = capabilities.elicitation if capabilities is not None else None
    if told is None:
        return False, False
    return told.form is not None or told.url is None, told.url is not None


def tool(entry: Entry) -> Tool:
    """Describe a skill to an agent."""
    skill = entry.skill
    risk = skill.metadata.risk
    return Tool(
        name=skill.name,
        title=skill.title,
        description=entry.signature.description,
        input_schema=entry.signature.schema,
        annotations=ToolAnnotations(
            title=skill.title,
            read_only_hint=risk == "read",
            destructive_hint=risk == "destructive",
            open_world_hint=False,
        ),
    )


def unavailable(name: str, why: str) -> Tool:
    """Describe a file that could not be loaded, so that the agent can say so."""
    return Tool(
        name=name,
        description=f"Unavailable: its file could not be loaded. {why}",
        input_schema={"type": "object"},
    )


def result(outcome: Outcome) -> CallToolResult:
    """Give what came of a call."""
    if outcome.error is not None:
        return _result(outcome.status, [outcome.error], is_error=True)
    texts = [] if outcome.value is None else [_text(outcome.value)]
    if outcome.status == "refused":
        texts.append(REFUSED)
    structured = json.loads(texts[0]) if isinstance(outcome.value, dict) else None
    return _result(outcome.status, texts or ["Done."], structured=structured)


def failure(text: str) -> CallToolResult:
    """Give the result of a call that never began."""
    return _result("failed", [text], is_error=True)


def _result(
    status: Status,
    texts: list[str],
    *,
    is_error: bool = False,
    structured: dict[str, Any] | None = None,
) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text) for text in texts],
        structured_content=structured,
        is_error=is_error,
        _meta={STATUS: status},
    )


def _text(value: object) -> str:
    if isinstance(value, str):
        text = value
    elif isinstance(value, BaseModel):
        text = value.model_dump_json()
    else:
        text = json.dumps(value, default=str, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()  # a file's name may hold what UTF-8 cannot


def _parts(question: Question) -> list[str | None]:
    """Say in a client's plain text what a dialog would draw."""
    shown = "\n".join(question.items[:MOST_ITEMS])
    rest = len(question.items) - MOST_ITEMS
    more = f"\nand {rest} more" if rest > 0 else ""
    undo = "It can be undone as one step." if question.undoable else "It can NOT be undone."
    return [question.message, shown + more, undo if question.items else None, question.reason]


def _request(question: Question, legacy_id: str | None = None) -> ElicitRequest:
    if question.url is not None:
        return ElicitRequest(
            params=ElicitRequestURLParams(
                message=question.message, url=question.url, elicitation_id=legacy_id
            )
        )
    message = "\n\n".join(part for part in _parts(question) if part)
    schema = question.form.schema if question.form is not None else {}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))
