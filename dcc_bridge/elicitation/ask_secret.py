"""Asking for a secret, on a page of this application, so that nobody else ever sees it.

The URL goes to the person through their client or the host's dialog; what they enter goes from
their browser to this process and nowhere else. Threads: as `dcc_bridge.elicitation.ask`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from dcc_bridge.elicitation import ask
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.context import Flow, awaiting, blocking, current_context
from dcc_bridge.elicitation.question import Page, Question, Visit
from dcc_bridge.elicitation.secret import Secret as Secret  # skills import both from here
from dcc_bridge.elicitation.types import CANCELLED, NOT_SUPPORTED, outcome
from dcc_bridge.errors import NobodyToAsk, SignInFailed

if TYPE_CHECKING:
    from dcc_bridge.elicitation.sign_in import Provider, Tokens

T = TypeVar("T")


class ResultVisit(Visit, Protocol[T]):
    """A page of this application that brings something back."""

    result: T | None  # what came of it, once the question was accepted
    failure: str  # why nothing came of it although the person did what was asked, or ""


class Desk(Protocol):
    """The port through which skills get pages: `dcc_bridge.server.page_site`. Any thread."""

    def secret(self, question: Question, label: str) -> tuple[str, ResultVisit[Secret]]:
        """Make a page on which a secret with that label is entered; gives its URL and the page.

        The last part of the URL is its only credential.
        """

    def sign_in(self, question: Question, provider: Provider) -> tuple[str, ResultVisit[Tokens]]:
        """Give the URL at a provider and the page for coming back; MissingExtra: no library."""


@blocking
def ask_secret_sync(
    message: str, *, label: str, timeout: float | None = None, key: str | None = None
) -> Flow[Secret]:
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
    secret, call = yield from enter_on_page(
        message, label, timeout, key, lambda desk, question: desk.secret(question, label)
    )
    call.dialogue.secrets.append(secret)
    return secret


ask_secret = awaiting(ask_secret_sync)


def enter_on_page(
    message: str,
    title: str | None,
    timeout: float | None,
    key: str | None,
    make: Callable[[Desk, Question], tuple[str, ResultVisit[T]]],
    site: str = "",  # what the error names where the page fails
) -> Flow[tuple[T, Call]]:
    """Make a page, send the person there, and give what they bring back, with the call."""
    installed, call = current_context(), ask.current_call()
    if installed is None or installed.desk is None:
        raise NobodyToAsk(message, how=outcome(NOT_SUPPORTED))
    text, key = ask.sayable(message), key or ask.next_key(call)
    question = Question(text, call, title=title, key=key, timeout=timeout)
    url, visit = make(installed.desk, question)
    question = replace(question, page=Page(url, visit=visit))
    with ExitStack() as stack:  # where asking fails or its task is cancelled, nobody else does so
        stack.callback(visit.end, CANCELLED)
        answer = yield from ask.ask_flow(question)
        stack.pop_all()
    result, visit.result = visit.result, None  # the page must not keep it alive
    if visit.failure:
        raise SignInFailed(site, visit.failure)
    if not answer.accepted or result is None:
        raise ask.refusal(question, answer)
    return result, call
