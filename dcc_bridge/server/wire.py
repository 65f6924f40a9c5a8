"""Questions, answers and tools as they go over the wire. Worker."""

from __future__ import annotations

import logging
from typing import Any, Final

from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ClientCapabilities,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError

from dcc_bridge.audit.redact import each_text
from dcc_bridge.elicitation.question import Question, Reply, Unable, Unreadable
from dcc_bridge.server import malformed
from dcc_bridge.skills.registry import Entry

log = logging.getLogger(__name__)
Answer = Reply | Unable | Unreadable

MOST_ITEMS: Final = 20
"""Items of a consent that are listed to a client."""
_NOT_YET: Final = (
    "{title}. The application is busy, so what this tool takes cannot be told yet: list the tools "
    "again in a moment."
)


def input_required(question: Question, state: str) -> InputRequiredResult:
    """Put a question to a modern client, which sends the call again with the answer."""
    return InputRequiredResult(
        input_requests={question.key: _request(question)}, request_state=state
    )


async def ask_legacy(request: ServerRequestContext[Any, Any], question: Question) -> Answer:
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
        return Unreadable()
    return Reply(result.action, result.content)


async def tell_completed(request: ServerRequestContext[Any, Any], question: Question) -> None:
    """Tell a legacy client that the page, to which it sent the person, has what it needs."""
    await request.session.send_elicit_complete(question.id, related_request_id=request.request_id)


def _fall_through(code: int) -> Reply | Unable:
    """Read a client's error instead of an answer; it never becomes the call's error."""
    if code == CONNECTION_CLOSED:
        return Reply("cancel")
    if code == INVALID_PARAMS:
        log.error("a client found our question invalid: this is a bug of the bridge")
    return Unable(lasting=code == METHOD_NOT_FOUND)


def reply(response: Any) -> Answer:
    """Read a modern client's answer. It is checked against its form by the broker."""
    if not isinstance(response, ElicitResult) or malformed.is_marked(response):
        return Unreadable()
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
    """Describe a skill to an agent.

    Raises:
        BrokenSkill: A type of its signature cannot be described.
    """
    skill, signature = entry.skill, entry.signature
    risk = skill.metadata.risk
    return Tool(
        name=skill.name,
        title=skill.title,
        description=signature.description if signature else _NOT_YET.format(title=skill.title),
        input_schema=signature.schema if signature else {"type": "object"},
        output_schema=signature.returns.schema if signature else None,
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


def carried(told: Any) -> Any:
    """Give a value whose texts UTF-8 can carry, however deep: a file's name may hold others."""
    return each_text(told, lambda text: text.encode("utf-8", "replace").decode())


def _parts(question: Question) -> list[str | None]:
    """Say in a client's plain text what a dialog would draw."""
    shown = "\n".join(question.items[:MOST_ITEMS])
    rest = len(question.items) - MOST_ITEMS
    more = f"\nand {rest} more" if rest > 0 else ""
    says_undo = question.consent and (question.items or not question.undoable)
    undo = _undo(question) if says_undo else None
    return [question.message, shown + more, undo, question.reason]


def _undo(question: Question) -> str:
    if question.undoable:
        return "It can be undone as one step."
    kept = f" A copy is kept first, in {question.kept}" if question.kept else ""
    return f"It can NOT be undone.{kept}"


def _request(question: Question, legacy_id: str | None = None) -> ElicitRequest:
    if question.url is not None:
        message = "\n\n".join(filter(None, (question.message, question.description)))
        return ElicitRequest(
            params=ElicitRequestURLParams(
                message=carried(message),
                url=question.url,
                elicitation_id=legacy_id,
            )
        )
    message = "\n\n".join(part for part in _parts(question) if part)
    schema = question.form.schema if question.form is not None else {}
    params = ElicitRequestFormParams(message=carried(message), requested_schema=carried(schema))
    return ElicitRequest(params=params)
