"""What a refusal raises in the skill that asked. Any thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge import errors
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.types import ElicitationResponse

_REFUSALS: Final = {
    types.NOT_SUPPORTED: errors.NobodyToAsk,
    types.TIMED_OUT: errors.TimedOut,
    types.HOST_BLOCKED: errors.HostBlocked,
}


def check(question: Question, answer: ElicitationResponse) -> None:
    """Raise the NotConfirmed that says why unless a question was agreed to; or NotRecorded."""
    if answer.message == types.NOT_RECORDED:
        raise errors.NotRecorded("the disk refuses it.")
    if not question.agrees(answer):
        raise refusal(question, answer)


def refusal(question: Question, answer: ElicitationResponse) -> errors.NotConfirmed:
    """Make the error that says how a question was refused."""
    if (kind := _REFUSALS.get(answer.message or "")) is None:
        kind = errors.Cancelled if answer.action == "cancel" else errors.Declined
    answered = question.answered(answer)
    how, reason = types.outcome(answered.how, answered.by), answer.reason or ""
    if answer.message == types.MUTED:  # the reason is the bridge's: for how long
        how, reason = f"{how} ({reason})", ""
    return kind(question.message, reason, how, question.call.remainder)
