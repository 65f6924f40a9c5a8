"""OAuth 2.1's authorization code with PKCE: the requests and answers of one sign-in.

What is sent and how an answer is read is oauthlib's (RFC 6749 and 7636); who must have answered is
looked at here (RFC 9207). oauthlib refuses plain http unless a variable of the environment says
otherwise for the whole process; our addresses were looked at before, so it is shown them as https.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, Final

from dcc_bridge.elicitation.secret import Secret
from dcc_bridge.elicitation.web.provider import Provider, Tokens
from dcc_bridge.errors import MissingExtra

if TYPE_CHECKING:
    from oauthlib.oauth2 import WebApplicationClient

_VERIFIER: Final = 64
_KNOWN_ERROR: Final = re.compile(r"[a-z_]{1,40}")


class Refused(Exception):
    """An answer of a provider that cannot be used; says why.

    Attributes:
        by_person: The person said no there.
    """

    def __init__(self, why: str, *, by_person: bool = False) -> None:
        super().__init__(why)
        self.by_person = by_person


@dataclass(frozen=True)
class Flow:
    """One sign-in, from its first request to its tokens.

    Attributes:
        provider: Where.
        redirect: Where the answer comes to.
        state: Proves that an answer belongs to it: 256 random bits.
    """

    provider: Provider
    redirect: str
    state: str = field(default_factory=token_urlsafe)
    _client: Any = field(init=False, repr=False)
    _verifier: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make what proves that the code is changed by whoever asked for it.

        Raises:
            MissingExtra: oauthlib is not installed.
        """
        client = _client(self.provider.client_id)
        object.__setattr__(self, "_client", client)
        object.__setattr__(self, "_verifier", client.create_code_verifier(_VERIFIER))

    @property
    def url(self) -> str:
        """Where the person goes."""
        scheme, _, rest = self.provider.authorize_url.partition("://")
        uri = self._client.prepare_request_uri(
            f"https://{rest}",
            redirect_uri=self.redirect,
            scope=list(self.provider.scopes) or None,
            state=self.state,
            code_challenge=self._client.create_code_challenge(self._verifier, "S256"),
            code_challenge_method="S256",
        )
        return f"{scheme.lower()}://{uri.partition('://')[2]}"

    def code(self, query: str, told: Mapping[str, str]) -> str:
        """Read the answer that the person's browser brings.

        Args:
            query: As it came.
            told: The same, read.

        Raises:
            Refused: It is no good.
        """
        if self.provider.issuer and told.get("iss") != self.provider.issuer:
            raise Refused("the answer came from another issuer than the one that was asked")
        with _explained():
            uri = f"https://127.0.0.1/?{query}"
            return str(self._client.parse_request_uri_response(uri, self.state)["code"])

    def request(self, code: str) -> str:
        """Make the body of the request that changes a code for tokens."""
        return str(
            self._client.prepare_request_body(
                code, redirect_uri=self.redirect, code_verifier=self._verifier
            )
        )

    def tokens(self, body: str) -> Tokens:
        """Read what came of that.

        Raises:
            Refused: There is no token in it that can be used.
        """
        with _explained():
            told = self._client.parse_request_body_response(body)
            if str(told.get("token_type", "")).lower() != "bearer":
                raise Refused("its token is of a kind that is not known here")
            expires = told.get("expires_in")
            return Tokens(
                Secret(str(told["access_token"])),
                _secret(told.get("refresh_token")),
                _secret(told.get("id_token")),
                float(expires) if expires is not None else None,
                tuple(told.get("scope") or self.provider.scopes),
            )


def _secret(text: object) -> Secret | None:
    return Secret(text) if isinstance(text, str) and text else None


def _client(client_id: str) -> WebApplicationClient:
    try:
        oauth2 = import_module("oauthlib.oauth2")  # 0.1 s and an extra that only this needs
    except ImportError:
        raise MissingExtra("Signing in", "signin") from None
    made: WebApplicationClient = oauth2.WebApplicationClient(client_id)
    return made


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what oauthlib raises into a sentence. A provider's own words are not passed on."""
    from oauthlib.oauth2 import OAuth2Error

    try:
        yield
    except OAuth2Error as error:
        name = str(error.error)
        known = name if _KNOWN_ERROR.fullmatch(name) else "an error without a name"
        raise Refused(f"it says {known}", by_person=name == "access_denied") from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise Refused("its answer cannot be read") from None
