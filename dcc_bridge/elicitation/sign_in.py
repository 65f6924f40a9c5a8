"""Signing in at a site, by OAuth 2.1: the person goes there, and the bridge gets the tokens.

The person's password is entered at the site, the code comes back to the bridge's own address, and
the bridge itself exchanges it for tokens: the one request to another computer that is ever made, to
where the skill says. Threads: as `dcc_bridge.elicitation.ask`.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcc_bridge.elicitation import ask, secret, types
from dcc_bridge.elicitation.ask_secret import ResultVisit, open_page
from dcc_bridge.elicitation.question import Question
from dcc_bridge.errors import SignInFailed


@dataclass(frozen=True, slots=True)
class Provider:
    """A site with OAuth 2.1, at which this application is registered as a public client.

    The address to register there is ``http://127.0.0.1/signed-in``; the port is another one each
    time, which providers allow for a client on the person's own computer (RFC 8252, section 7.3),
    unless the bridge's settings name one.

    Attributes:
        authorize_url: Where the person signs in: https, or http on this computer.
        token_url: Where a code is exchanged for tokens, by the bridge itself; the same holds for
            it.
        client_id: As the provider knows the application.
        scopes: What is asked for.
        issuer: Who must have answered (RFC 9207); "" where the provider does not say.
        name: What a person reads; "" for the host of `authorize_url`.
    """

    authorize_url: str
    token_url: str
    client_id: str
    scopes: tuple[str, ...] = ()
    issuer: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        """Check that its URLs are safe to use; RefusedAddress says why one is not."""
        from dcc_bridge.elicitation import urls  # 5 ms that only who signs in needs

        for url in (self.authorize_url, self.token_url):
            urls.read(url)

    @property
    def title(self) -> str:
        """What a person reads."""
        from dcc_bridge.elicitation import urls  # the same

        return self.name or urls.read(self.authorize_url).place.host


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a provider gave.

    Attributes:
        access: What requests to the provider are sent with.
        refresh: What a new one can be had with, or None.
        identity: An OpenID Connect ID token, not verified, or None.
        expires_in: Seconds for which `access` is good, or None where the provider did not say.
        scopes: What was granted.
    """

    access: secret.Secret
    refresh: secret.Secret | None = None
    identity: secret.Secret | None = None
    expires_in: float | None = None
    scopes: tuple[str, ...] = ()

    @property
    def secrets(self) -> list[secret.Secret]:
        """Every secret in it."""
        return [s for s in (self.access, self.refresh, self.identity) if s is not None]


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
    return _tokens(provider, question, visit, ask.ask_question_sync(question, "sign_in"))


async def sign_in(
    provider: Provider,
    *,
    message: str | None = None,
    timeout: float | None = None,
    key: str | None = None,
) -> Tokens:
    """Have the person sign in at a site, in an async skill. See `sign_in_sync`."""
    question, visit = _open(provider, message, timeout, key)
    return _tokens(provider, question, visit, await ask.ask_question(question, "sign_in"))


def _open(
    provider: Provider, message: str | None, timeout: float | None, key: str | None
) -> tuple[Question, ResultVisit[Tokens]]:
    text = message or f"Please sign in at {provider.title}."
    return open_page(
        text, None, timeout, key, lambda desk, question: desk.sign_in(question, provider)
    )


def _tokens(
    provider: Provider,
    question: Question,
    visit: ResultVisit[Tokens],
    answer: types.ElicitationResponse,
) -> Tokens:
    tokens, visit.result = visit.result, None  # the page must not keep them alive
    if visit.failure:
        raise SignInFailed(provider.title, visit.failure)
    if not answer.accepted or tokens is None:
        raise ask.refusal(question, answer)
    question.call.dialogue.secrets.extend(tokens.secrets)
    return tokens
