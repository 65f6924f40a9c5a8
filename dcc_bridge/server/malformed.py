"""Answers that the protocol has no place for: a list as the content, a form in a form. Worker.

The SDK checks a request against the specification before any handler sees it, and refuses a retry
with such an answer (-32602), or with all its answers as something that is no object; the question
would wait for its deadline. So a middleware puts a cancel in the answer's place, marked as what it
is, and the broker asks once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import ElicitResult
from pydantic import ValidationError

_MARK: Final = "dcc-bridge/malformed"
_INSTEAD: Final = {"action": "cancel", "_meta": {_MARK: True}}


async def mark(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Let a malformed answer to a parked call through, as one; everything else as it is."""
    params = ctx.params or {}
    answers = params.get("inputResponses")
    if ctx.method == "tools/call" and params.get("requestState") and answers is not None:
        ctx = replace(ctx, params={**params, "inputResponses": _readable(answers)})
    return await call_next(ctx)


def answer(answers: Mapping[str, Any], key: str) -> Any:
    """Give the answer to a question, or None; what was no object of answers is one to each."""
    return answers.get(key, answers.get(_MARK))


def is_marked(answer: ElicitResult) -> bool:
    """Whether it stands for a malformed one."""
    return bool(answer.meta and _MARK in answer.meta)


def _readable(answers: object) -> dict[str, Any]:
    if not isinstance(answers, dict):
        return {_MARK: _INSTEAD}
    return {k: one if k != _MARK and _fits(one) else _INSTEAD for k, one in answers.items()}


def _fits(answer: object) -> bool:
    """Whether it is an answer; of those to sampling and roots there are none: we never ask."""
    try:
        ElicitResult.model_validate(answer, by_name=False)
    except ValidationError:
        return False
    return True
