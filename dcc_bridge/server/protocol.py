"""Serializes questions and tools, and reads answers, malformed ones too. Worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import mcp_types as types
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from pydantic import ValidationError

from dcc_bridge.audit.redact import each_text
from dcc_bridge.elicitation.question import Question, Reply, Unable, Unreadable
from dcc_bridge.elicitation.view import argument_views
from dcc_bridge.skills.registry import Entry

Answer = Reply | Unable | Unreadable

MOST_ITEMS: Final = 20  # items of a consent that are listed to a client
_NOT_YET: Final = (
    "{title}. The application is busy, so what this tool takes cannot be told yet: list the tools "
    "again in a moment."
)
_MARK: Final = "dcc-bridge/malformed"
_INSTEAD: Final = {"action": "cancel", "_meta": {_MARK: True}}


def input_required(question: Question, state: str) -> types.InputRequiredResult:
    """Put a question to a modern client, which sends the call again with the answer."""
    return types.InputRequiredResult(
        input_requests={question.key: elicit_request(question)}, request_state=state
    )


def reply(response: Any) -> Answer:
    """Read a modern client's answer. It is checked against its form by the broker."""
    if not isinstance(response, types.ElicitResult) or _is_marked(response):
        return Unreadable()
    return Reply(response.action, response.content)


def modes(capabilities: types.ClientCapabilities | None) -> tuple[bool, bool]:
    """Tell whether a client can draw a form, and whether it can open a page.

    It must have said so: the SDK sends to clients that declared nothing. A bare ``{}`` is form.
    """
    elicitation = capabilities.elicitation if capabilities is not None else None
    if elicitation is None:
        return False, False
    return elicitation.form is not None or elicitation.url is None, elicitation.url is not None


def tool(entry: Entry) -> types.Tool:
    """Describe a skill to an agent.

    Raises:
        BrokenSkill: A type of its signature cannot be described.
    """
    skill, signature = entry.skill, entry.signature
    risk = skill.metadata.risk
    return types.Tool(
        name=skill.name,
        title=skill.title,
        description=signature.description if signature else _NOT_YET.format(title=skill.title),
        input_schema=signature.schema if signature else {"type": "object"},
        output_schema=signature.returns.schema if signature else None,
        annotations=types.ToolAnnotations(
            title=skill.title,
            read_only_hint=risk == "read",
            destructive_hint=risk == "destructive",
            open_world_hint=False,
        ),
    )


def unavailable(name: str, why: str) -> types.Tool:
    """Describe a file that could not be loaded, so that the agent can say so."""
    return types.Tool(
        name=name,
        description=f"Unavailable: its file could not be loaded. {why}",
        input_schema={"type": "object"},
    )


def carried(value: Any) -> Any:
    """Give a value whose texts UTF-8 can carry, however deep: a file's name may hold others."""
    return each_text(value, lambda text: text.encode("utf-8", "replace").decode())


def _parts(question: Question) -> list[str | None]:
    """Say in a client's plain text what a dialog would draw."""
    shown = "\n".join(question.items[:MOST_ITEMS])
    rest = len(question.items) - MOST_ITEMS
    more = f"\nand {rest} more" if rest > 0 else ""
    is_known = question.items or question.arguments or not question.undoable
    says_undo = question.consent and is_known
    undo = _undo(question) if says_undo else None
    given = "\n".join(f"- {argument}" for argument in argument_views(question.arguments))
    return [question.message, given, shown + more, undo, question.reason]


def _undo(question: Question) -> str:
    if question.undoable:
        return "It can be undone as one step."
    place = question.consent.kept if question.consent else None
    kept = f" A copy is kept first, in {place}" if place else ""
    return f"It can NOT be undone.{kept}"


def elicit_request(question: Question, legacy_id: str | None = None) -> types.ElicitRequest:
    """Serialize a question; a page's has an id on the legacy era."""
    if question.page is not None:
        message = "\n\n".join(filter(None, (question.message, question.page.description)))
        return types.ElicitRequest(
            params=types.ElicitRequestURLParams(
                message=carried(message),
                url=question.page.url,
                elicitation_id=legacy_id,
            )
        )
    message = "\n\n".join(part for part in _parts(question) if part)
    schema = question.form.schema if question.form is not None else {}
    params = types.ElicitRequestFormParams(
        message=carried(message), requested_schema=carried(schema)
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


def _is_marked(answer: types.ElicitResult) -> bool:
    """Whether it stands for a malformed answer."""
    return bool(answer.meta and _MARK in answer.meta)


def _readable(answers: object) -> dict[str, Any]:
    if not isinstance(answers, dict):
        return {_MARK: _INSTEAD}
    return {
        key: answer if key != _MARK and _is_valid(answer) else _INSTEAD
        for key, answer in answers.items()
    }


def _is_valid(answer: object) -> bool:
    """Whether it answers an elicitation; sampling and roots are never asked for."""
    try:
        types.ElicitResult.model_validate(answer, by_name=False)
    except ValidationError:
        return False
    return True
