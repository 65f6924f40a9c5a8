"""Signing in at a site, by OAuth 2.1: the person goes there, and the bridge gets the tokens.

The person's password is entered at the site, the code comes back to the bridge's own address, and
the bridge itself exchanges it for tokens: the one request to another computer that is ever made, to
where the skill says. Threads: as `dcc_bridge.elicitation.ask`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

from dcc_bridge.elicitation import secret
from dcc_bridge.elicitation.ask_secret import enter_on_page
from dcc_bridge.elicitation.context import Flow, awaiting, blocking
from dcc_bridge.errors import MissingExtra

if TYPE_CHECKING:
    import httpx2
    from oauthlib.oauth2 import WebApplicationClient

log = logging.getLogger(__name__)

_TIMEOUT: Final = 20.0  # seconds for a provider to exchange a code for tokens
_MOST: Final = 1 << 20  # bytes of its answer
_KNOWN_ERROR: Final = re.compile(r"[a-z_]{1,40}")


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


@blocking
def sign_in_sync(
    provider: Provider,
    *,
    message: str | None = None,
    timeout: float | None = None,
    key: str | None = None,
) -> Flow[Tokens]:
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
    text = message or f"Please sign in at {provider.title}."
    tokens, call = yield from enter_on_page(
        text, None, timeout, key, lambda desk, it: desk.sign_in(it, provider), provider.title
    )
    call.dialogue.secrets.extend(tokens.secrets)
    return tokens


sign_in = awaiting(sign_in_sync)


class UnusableAnswer(Exception):
    """An answer of a provider that cannot be used; says why."""

    def __init__(self, why: str, *, by_person: bool = False) -> None:
        super().__init__(why)
        self.by_person = by_person  # the person said no there


class SignInFlow:
    """The requests and answers of one sign-in."""

    def __init__(self, provider: Provider, redirect: str) -> None:
        """Make the state and the code verifier; MissingExtra where oauthlib is not installed."""
        self.provider = provider
        self.state = token_urlsafe()  # proves that an answer belongs to it: 256 random bits
        self._redirect = redirect  # the URL to which the answer comes
        try:
            oauth2 = import_module("oauthlib.oauth2")  # 0.1 s and an extra that only this needs
        except ImportError:
            raise MissingExtra("Signing in", "signin") from None
        self._client: WebApplicationClient = oauth2.WebApplicationClient(provider.client_id)
        self._verifier = self._client.create_code_verifier(64)  # characters

    @property
    def url(self) -> str:
        """Where the person goes."""
        scheme, _, rest = self.provider.authorize_url.partition("://")
        uri: str = self._client.prepare_request_uri(
            f"https://{rest}",
            redirect_uri=self._redirect,
            scope=list(self.provider.scopes) or None,
            state=self.state,
            code_challenge=self._client.create_code_challenge(self._verifier, "S256"),
            code_challenge_method="S256",
        )
        return f"{scheme.lower()}://{uri.partition('://')[2]}"

    def code(self, query: str) -> str:
        """Read the code that the person's browser brings back, or raise UnusableAnswer."""
        issuer = self.provider.issuer
        if issuer and parse_qs(query, keep_blank_values=True).get("iss") != [issuer]:
            raise UnusableAnswer("the answer came from another issuer than the one that was asked")
        with _explained():
            uri = f"https://127.0.0.1/?{query}"
            return str(self._client.parse_request_uri_response(uri, self.state)["code"])

    async def exchange(self, code: str) -> Tokens:
        """Have the provider exchange a code for tokens, or raise UnusableAnswer. Worker."""
        import anyio  # these two take 0.1 s that only who signs in needs
        import httpx2

        from dcc_bridge.elicitation import urls

        url = urls.read(self.provider.token_url)
        body = self._client.prepare_request_body(
            code, redirect_uri=self._redirect, code_verifier=self._verifier
        )
        through_proxy = not url.place.is_loopback  # a proxy may be the only way out
        try:
            with anyio.fail_after(_TIMEOUT):
                async with httpx2.AsyncClient(timeout=_TIMEOUT, trust_env=through_proxy) as http:
                    return self._tokens(await _post(http, url.url, str(body)))
        except (TimeoutError, httpx2.TimeoutException):
            raise UnusableAnswer("it did not answer in time") from None
        except (httpx2.HTTPError, OSError) as error:
            log.warning("the provider at %s cannot be reached: %r", url.place.host, error)
            raise UnusableAnswer("it cannot be reached") from None

    def _tokens(self, body: bytes) -> Tokens:
        with _explained():
            answer = self._client.parse_request_body_response(body.decode())
            if str(answer.get("token_type", "")).lower() != "bearer":
                raise UnusableAnswer("its token is of an unknown kind")
            expires = answer.get("expires_in")
            return Tokens(
                secret.Secret(str(answer["access_token"])),
                _secret(answer.get("refresh_token")),
                _secret(answer.get("id_token")),
                float(expires) if expires is not None else None,
                tuple(answer.get("scope") or self.provider.scopes),
            )


def _secret(text: object) -> secret.Secret | None:
    return secret.Secret(text) if isinstance(text, str) and text else None


async def _post(http: httpx2.AsyncClient, url: str, content: str) -> bytes:
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    body = bytearray()
    async with http.stream("POST", url, content=content, headers=headers) as response:
        async for part in response.aiter_bytes():
            body += part
            if len(body) > _MOST:
                raise UnusableAnswer("its answer is too long")
    return bytes(body)


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what oauthlib raises into a sentence. A provider's own words are not passed on."""
    from oauthlib.oauth2 import OAuth2Error

    try:
        yield
    except OAuth2Error as error:
        name = str(error.error)
        known = name if _KNOWN_ERROR.fullmatch(name) else "an unnamed error"
        raise UnusableAnswer(f"it says {known}", by_person=name == "access_denied") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise UnusableAnswer("its answer cannot be read") from None
