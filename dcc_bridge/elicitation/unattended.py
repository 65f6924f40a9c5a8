"""The answer where nobody can be asked. Any thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from dcc_bridge.elicitation.types import (
    FALLBACK_USED,
    NOT_SUPPORTED,
    AnsweredBy,
    ElicitationResponse,
)

if TYPE_CHECKING:
    from dcc_bridge.elicitation.allowance import Allowance
    from dcc_bridge.elicitation.call import Call
    from dcc_bridge.elicitation.question import Question


def answer(
    question: Question,
    rule: Literal["refuse", "deny", "allow"] = "refuse",
    allowed: Allowance | None = None,
) -> ElicitationResponse:
    """Answer with the declared fallback, or decline.

    Args:
        question: Its fallback was validated when it was asked.
        rule: The setting ``unattended``.
        allowed: The only skills for which the rule "allow" holds; None for all.
    """
    if rule == "deny":
        return ElicitationResponse(False, None, NOT_SUPPORTED, "decline", "nobody")
    call = question.call
    allow = rule == "allow" and (allowed is None or _covers(allowed, call))
    lone = question.form.lone_confirmation if question.form and question.consent else None
    if question.fallback is None and allow and lone is not None:
        return ElicitationResponse(True, {lone.name: True}, FALLBACK_USED, "accept", "policy")
    if question.fallback is None:
        return ElicitationResponse(False, None, NOT_SUPPORTED, "decline", "nobody")
    by: AnsweredBy = "policy" if allow and question.consent else "fallback"
    return ElicitationResponse(True, dict(question.fallback), FALLBACK_USED, "accept", by)


def _covers(allowed: Allowance, call: Call) -> bool:
    """Whether the list has the skill that was called, and the one in it that loses something."""
    losing = call.losing_here or call.skill
    inner = losing == call.skill or allowed.covers(losing, "")
    return inner and allowed.covers(call.skill, call.digest)
