"""The errors that a refusal raises in the skill that asked. Any thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge import errors
from dcc_bridge.elicitation import types
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.types import ElicitationResponse

_ERRORS: Final = {  # by the message of the response
    types.NOT_SUPPORTED: errors.NobodyToAsk,
    types.TIMED_OUT: errors.TimedOut,
    types.HOST_BLOCKED: errors.HostBlocked,
}


def check(question: Question, answer: ElicitationResponse) -> None:
    """Raise an error unless a question was agreed to.

    Args:
        question: The question.
        answer: The response to the question.

    Raises:
        NotConfirmed: The question was refused; the type and the message say how.
        NotRecorded: The answer could not be recorded.
    """
    if answer.message == types.NOT_RECORDED:
        raise errors.NotRecorded("the disk refuses it.")
    if not question.agrees(answer):
        raise refusal(question, answer)


def refusal(question: Question, answer: ElicitationResponse) -> errors.NotConfirmed:
    """Return the error that says how a question was refused."""
    kind: type[errors.NotConfirmed] = errors.Declined
    if answer.message in _ERRORS:
        kind = _ERRORS[answer.message]
    elif answer.action == "cancel":
        kind = errors.Cancelled
    answered = question.answered(answer)
    how = types.outcome(answered.how, answered.by)
    reason = answer.reason or ""
    # Of a muted client the reason is not a person's words, but for how long the client is muted.
    if answer.message == types.MUTED:
        how = f"{how} ({reason})"
        reason = ""
    left = question.call.remainder
    if answer.message == types.TIMED_OUT and reason:  # how the answer can still be had
        left = f"{left} {reason}"
        reason = ""
    return kind(question.message, reason, how, left)
