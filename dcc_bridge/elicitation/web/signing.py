"""Signing in at a site, by OAuth 2.1: the person goes there, and the bridge gets the tokens.

The person's password is entered at the site, the code comes back to the bridge's own address, and
the bridge itself changes it for tokens: the one request to another computer that is ever made, to
where the skill says. Threads: as `dcc_bridge.elicitation.ask`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from dcc_bridge.elicitation import ask, consent
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.types import ElicitationResponse
from dcc_bridge.elicitation.web.provider import Provider, Tokens
from dcc_bridge.errors import NobodyToAsk, SignInFailed

if TYPE_CHECKING:
    from dcc_bridge.elicitation.web.desk import SignInVisit


def sign_in_sync(
    provider: Provider,
    *,
    message: str | None = None,
    timeout: float | None = None,
    key: str | None = None,
) -> Tokens:
    """Have the person sign in at a site, and wait for it. Needs the extra "signin".

    Args:
        provider: The site.
        message: What it is for, a sentence; shown as plain text.
        timeout: Seconds for it; None for the settings' own limit.
        key: The name of the request on the wire.

    Returns:
        The tokens. Keep them in this process: they are refused in a result.

    Raises:
        NotConfirmed: The person did not sign in: `Declined`, `Cancelled`, `TimedOut`, or
            `NobodyToAsk` where neither the client nor the host can open a page.
        SignInFailed: The site's answer cannot be used; says why.
        MissingExtra: The library for it is not installed.
        WrongThread: It was called in a coroutine; use ``await sign_in``.
    """
    question, visit = _open(provider, message, timeout, key)
    return _given(provider, question, visit, ask.ask_question_sync(question, "sign_in"))


async def sign_in(
    provider: Provider,
    *,
    message: str | None = None,
    timeout: float | None = None,
    key: str | None = None,
) -> Tokens:
    """Have the person sign in at a site, in an async skill. See `sign_in_sync`."""
    question, visit = _open(provider, message, timeout, key)
    return _given(provider, question, visit, await ask.ask_question(question))


def _open(
    provider: Provider, message: str | None, timeout: float | None, key: str | None
) -> tuple[Question, SignInVisit]:
    said = ask.sayable(message or f"Please sign in at {provider.title}.")
    here, call = current_context(), ask.current_call()
    if here is None or here.desk is None:
        raise NobodyToAsk(said)
    question = Question(said, call, key=key or ask.next_key(call), timeout=timeout)
    url, visit = here.desk.sign_in(question, provider)
    return replace(question, url=url, visit=visit), visit


def _given(
    provider: Provider, question: Question, visit: SignInVisit, answer: ElicitationResponse
) -> Tokens:
    tokens, visit.tokens = visit.tokens, None
    if visit.failure:
        raise SignInFailed(provider.title, visit.failure)
    if not answer.accepted or tokens is None:
        raise consent.refusal(question.message, answer)
    question.call.secrets.extend(tokens.secrets)
    return tokens
