"""How our clients speak HTTP to a bridge: on this computer only, with a token. Any thread."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol, Self
from urllib.parse import urlsplit

import httpx2

_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_TIMEOUT: Final = httpx2.Timeout(30.0, read=300.0)
"""Seconds; the server sends something every 15 s while a person decides."""
_LIMITS: Final = httpx2.Limits(max_connections=None)
"""Calls that wait for a person keep theirs open; another one must not wait for them."""


class Recorded(Protocol):
    """What a host wrote down of the way to it, where only its user could."""

    @property
    def certificate(self) -> str:
        """The certificate that it shows, as PEM; "" where nothing is encrypted."""
        ...

    @property
    def address(self) -> str:
        """The address of this computer at which it listens."""
        ...


@dataclass(frozen=True, slots=True)
class Pinned:
    """The one certificate that a connection trusts, and where it goes.

    Attributes:
        certificate: As PEM.
        address: An IP address of this computer; the name in the URL is the server's business.
    """

    certificate: str
    address: str

    @classmethod
    def of(cls, host: Recorded) -> Self | None:
        """Give what is to be trusted of a host, or None where nothing is encrypted."""
        return cls(host.certificate, host.address) if host.certificate else None

    def context(self) -> ssl.SSLContext:
        """Make what checks that the server has this very certificate, and its key.

        It stands for itself: no authority's word counts, nor does the name by which it is called.
        """
        trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trusting.check_hostname = False
        trusting.verify_mode = ssl.CERT_REQUIRED
        trusting.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # it need not sign itself
        trusting.load_verify_locations(cadata=self.certificate)
        return trusting


class _Pinned(httpx2.AsyncHTTPTransport):
    """Asks no name server where this computer is."""

    def __init__(self, pinned: Pinned) -> None:
        super().__init__(verify=pinned.context(), trust_env=False, limits=_LIMITS)
        self._address = pinned.address

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.url = request.url.copy_with(host=self._address)  # its Host header stays
        return await super().handle_async_request(request)


def is_local(url: str) -> bool:
    """Tell whether a URL leads to this computer: no other one is given a token."""
    return urlsplit(url).hostname in _LOOPBACK


def open_(
    token: str,
    on_response: Callable[[httpx2.Response], Awaitable[None]] | None = None,
    pinned: Pinned | None = None,
) -> httpx2.AsyncClient:
    """Make the HTTP client of a connection.

    Args:
        token: Proves who we are.
        on_response: Told of each response, before its body is read.
        pinned: The only certificate that is trusted, of a host that wrote it down.
    """
    return httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {token}"},
        timeout=_TIMEOUT,
        limits=_LIMITS,
        transport=_Pinned(pinned) if pinned is not None else None,
        trust_env=False,  # a proxy of the environment would be told the token
        event_hooks={"response": [on_response] if on_response is not None else []},
    )
