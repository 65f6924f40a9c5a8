"""Asks for a secret on a page of this application, so that no client and no model sees it.

The client or the host's dialog shows the person the page's URL. The secret goes from the person's
browser to this process and nowhere else. For threads see `dcc_bridge.elicitation.ask`.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

from dcc_bridge.elicitation import ask
from dcc_bridge.elicitation.context import caller_here, current_context
from dcc_bridge.elicitation.question import Caller, Page, Question
from dcc_bridge.elicitation.refusal import refusal
from dcc_bridge.elicitation.secret import Secret as Secret  # skills import both from here
from dcc_bridge.elicitation.types import CANCELLED, NOT_SUPPORTED, outcome
from dcc_bridge.errors import NobodyToAsk
from dcc_bridge.threads.flows import Flow, awaiting, blocking


@blocking
def ask_secret_sync(
    message: str, *, label: str, timeout: float | None = None, key: str | None = None
) -> Flow[Secret]:
    """Have the person enter a secret on a page of this application, and wait for it.

    Args:
        message: The purpose of the secret, in a sentence; shown as plain text.
        label: The name of the secret in a few words: "API key of the tracker".
        timeout: Seconds for an answer; None for the settings' own limit.
        key: The name of the request on the wire.

    Returns:
        The secret; call ``reveal()`` where its text is used.

    Raises:
        NotConfirmed: The person entered no secret: `Declined`, `Cancelled`, `TimedOut`, or
            `NobodyToAsk` where neither the client nor the host can open a page.
        WrongThread: `ask_secret_sync` was called in a coroutine; use ``await ask_secret``.
    """
    context = current_context()
    call = caller_here(Caller)
    if context is None or context.desk is None:
        raise NobodyToAsk(message, how=outcome(NOT_SUPPORTED))
    text = ask.sayable(message)
    if not key:
        key = ask.next_key(call)
    question = Question(text, call, title=label, key=key, timeout=timeout)
    url, visit = context.desk.secret(question, label)
    question = replace(question, page=Page(url, visit=visit))
    # If asking fails or the task is cancelled, nothing else ends the page.
    with ExitStack() as stack:
        stack.callback(visit.end, CANCELLED)
        answer = yield from ask.ask_flow(question)
        stack.pop_all()
    secret = visit.result
    visit.result = None  # else the page would keep the secret alive
    if not answer.accepted or secret is None:
        raise refusal(question, answer)
    call.dialogue.secrets.append(secret)
    return secret


ask_secret = awaiting(ask_secret_sync)
