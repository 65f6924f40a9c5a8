"""The way to a provider and back, by OAuth 2.1's authorization code with PKCE.

What is sent and how an answer is read is oauthlib's (RFC 6749 and 7636); who must have answered is
checked here (RFC 9207). oauthlib refuses plain http unless an environment variable says otherwise
for the whole process; our URLs were checked before, so it is shown them as https.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hmac import compare_digest
from importlib import import_module
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs

import anyio

from dcc_bridge.elicitation import secret, sign_in, urls
from dcc_bridge.elicitation.question import Question
from dcc_bridge.errors import MissingExtra
from dcc_bridge.server.one_time_page import CLOSE, OneTimePage, PageEnding

if TYPE_CHECKING:
    import httpx2
    from oauthlib.oauth2 import WebApplicationClient

log = logging.getLogger(__name__)

_TIMEOUT: Final = 20.0  # seconds for a provider to exchange a code for tokens
_MOST: Final = 1 << 20  # bytes of its answer
_KNOWN_ERROR: Final = re.compile(r"[a-z_]{1,40}")


class UnusableAnswer(Exception):
    """An answer of a provider that cannot be used; says why."""

    def __init__(self, why: str, *, by_person: bool = False) -> None:
        super().__init__(why)
        self.by_person = by_person  # the person said no there


class SignInFlow:
    """The requests and answers of one sign-in."""

    def __init__(self, provider: sign_in.Provider, redirect: str) -> None:
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

    async def exchange(self, code: str) -> sign_in.Tokens:
        """Have the provider exchange a code for tokens, or raise UnusableAnswer. Worker."""
        import httpx2  # 0.1 s that only who signs in needs

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

    def _tokens(self, body: bytes) -> sign_in.Tokens:
        with _explained():
            answer = self._client.parse_request_body_response(body.decode())
            if str(answer.get("token_type", "")).lower() != "bearer":
                raise UnusableAnswer("its token is of an unknown kind")
            expires = answer.get("expires_in")
            return sign_in.Tokens(
                secret.Secret(str(answer["access_token"])),
                _secret(answer.get("refresh_token")),
                _secret(answer.get("id_token")),
                float(expires) if expires is not None else None,
                tuple(answer.get("scope") or self.provider.scopes),
            )


class SignInPage(OneTimePage):
    """What a person sees who comes back from a provider."""

    ours = False

    def __init__(self, question: Question, flow: SignInFlow) -> None:
        super().__init__(question)
        self.flow = flow  # what is asked of the provider
        self.result: sign_in.Tokens | None = None  # the tokens that it gave
        self._came_back = False

    def is_of(self, state: str) -> bool:
        """Whether an answer belongs to this sign-in."""
        return compare_digest(state.encode(), self.flow.state.encode())

    async def come_back(self, query: str) -> bool:
        """Take what the provider sends the person back with. Worker.

        Tells whether it was the first answer that somebody waited for; a later one changes nothing.
        """
        was_first, self._came_back = not self._came_back, True  # a code is used once
        if not was_first or self.question is None:
            return False
        try:
            tokens = await self.flow.exchange(self.flow.code(query))
        except UnusableAnswer as error:
            self._refuse(error)
            return True
        if self.question is not None:  # else it timed out meanwhile, and nobody takes them
            self.result = tokens
            self.leave("accept", PageEnding(200, "You are signed in", CLOSE))
        return True

    def _refuse(self, error: UnusableAnswer) -> None:
        if error.by_person:
            self.leave("decline")
        elif self.question is not None:
            self.failure = str(error)
            text = f"The site's answer was not used: {error}. {CLOSE}"
            self.leave("cancel", PageEnding(200, "You are not signed in", text))


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
