"""How our clients speak HTTP to a bridge: on this computer only, with a token. Any thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlsplit

import httpx2

_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_TIMEOUT: Final = httpx2.Timeout(30.0, read=300.0)
"""Seconds; the server sends something every 15 s while a person decides."""
_LIMITS: Final = httpx2.Limits(max_connections=None)
"""Calls that wait for a person keep theirs open; another one must not wait for them."""


def is_local(url: str) -> bool:
    """Tell whether a URL leads to this computer: no other one is given a token."""
    return urlsplit(url).hostname in _LOOPBACK


def open_(
    token: str, on_response: Callable[[httpx2.Response], Awaitable[None]] | None = None
) -> httpx2.AsyncClient:
    """Make the HTTP client of a connection.

    Args:
        token: Proves who we are.
        on_response: Told of each response, before its body is read.
    """
    return httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {token}"},
        timeout=_TIMEOUT,
        limits=_LIMITS,
        trust_env=False,  # a proxy of the environment would be told the token
        event_hooks={"response": [on_response] if on_response is not None else []},
    )
