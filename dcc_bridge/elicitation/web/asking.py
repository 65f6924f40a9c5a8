"""Asking for a secret: on a page of this application, so that nobody else ever sees it.

The address goes to the person through their client, or through the host's dialog; what they enter
goes from their browser to this process and nowhere else. Threads: as `dcc_bridge.elicitation.ask`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcc_bridge.elicitation import ask, consent
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.types import ElicitationResponse
from dcc_bridge.elicitation.web.secret import Secret
from dcc_bridge.errors import NobodyToAsk

if TYPE_CHECKING:
    from dcc_bridge.elicitation.web.desk import SecretVisit


def ask_secret_sync(
    message: str, *, label: str, timeout: float | None = None, key: str | None = None
) -> Secret:
    """Have the person enter a secret on a page of this application, and wait for it.

    Args:
        message: What it is for, a sentence; shown as plain text.
        label: What is to be entered, in a few words: "API key of the tracker".
        timeout: Seconds for an answer; None for the settings' own limit.
        key: The name of the request on the wire.

    Returns:
        The secret; call ``reveal()`` where its text is used.

    Raises:
        NotConfirmed: There is none: `Declined`, `Cancelled`, `TimedOut`, or `NobodyToAsk` where
            neither the client nor the host can open a page.
        WrongThread: It was called in a coroutine; use ``await ask_secret``.
    """
    question, visit = _open(message, label, timeout, key)
    return _given(question, visit, ask.ask_question_sync(question, "ask_secret"))


async def ask_secret(
    message: str, *, label: str, timeout: float | None = None, key: str | None = None
) -> Secret:
    """Have the person enter a secret in an async skill. See `ask_secret_sync`."""
    question, visit = _open(message, label, timeout, key)
    return _given(question, visit, await ask.ask_question(question))


def _open(
    message: str, label: str, timeout: float | None, key: str | None
) -> tuple[Question, SecretVisit]:
    here, call = current_context(), ask.current_call()
    if here is None or here.desk is None:
        raise NobodyToAsk(message)
    said = ask.sayable(message)
    question = Question(said, call, title=label, key=key or ask.next_key(call), timeout=timeout)
    url, visit = here.desk.secret(question, label)
    return replace(question, url=url, visit=visit), visit


def _given(question: Question, visit: SecretVisit, answer: ElicitationResponse) -> Secret:
    secret, visit.secret = visit.secret, None
    if not answer.accepted or secret is None:
        raise consent.refusal(question.message, answer)
    question.call.secrets.append(secret)
    return secret
