"""The way back from a provider: its answer comes in, and is changed for tokens. Worker.

The path is the same each time, because providers know it; what proves that an answer belongs to a
sign-in is its ``state``, which is used once.
"""

from __future__ import annotations

import logging
from typing import Final

import anyio
import httpx2
from starlette.requests import Request

from dcc_bridge.elicitation.urls import read
from dcc_bridge.elicitation.web.provider import Tokens
from dcc_bridge.server.pages.kept import Pages
from dcc_bridge.server.pages.oauth import Flow, Refused
from dcc_bridge.server.pages.visited import SignInPage

log = logging.getLogger(__name__)

_PATIENCE: Final = 20.0
"""Seconds for a provider to change a code for tokens."""
_MOST: Final = 1 << 20
_HEADERS: Final = {
    "Content-Type": "application/x-www-form-urlencoded",
    "Accept": "application/json",
}


def find(pages: Pages, request: Request) -> SignInPage | None:
    """Find the sign-in to which an answer belongs."""
    states = request.query_params.getlist("state")
    if len(states) != 1:
        return None
    return next(
        (page for page in pages.all if isinstance(page, SignInPage) and page.is_of(states[0])),
        None,
    )


async def finish(page: SignInPage, request: Request) -> bool:
    """Take an answer, and end the sign-in with what comes of it.

    Returns:
        Whether it was the first answer; a later one changes nothing.
    """
    if not page.begin():
        return False
    flow = page.flow
    try:
        code = flow.code(request.url.query, dict(request.query_params))
        tokens = await _change(flow, code)
    except Refused as refused:
        page.refuse(str(refused), by_person=refused.by_person)
    else:
        page.complete(tokens)
    return True


async def _change(flow: Flow, code: str) -> Tokens:
    url = read(flow.provider.token_url)
    try:
        with anyio.fail_after(_PATIENCE):
            async with httpx2.AsyncClient(
                timeout=_PATIENCE,
                trust_env=not url.place.is_loopback,  # a proxy may be the only way out
                follow_redirects=False,
            ) as http:
                return flow.tokens(await _post(http, url.url, flow.request(code)))
    except (TimeoutError, httpx2.TimeoutException):
        raise Refused("it did not answer in time") from None
    except (httpx2.HTTPError, OSError) as error:
        log.warning("the provider at %s cannot be reached: %r", url.place.host, error)
        raise Refused("it cannot be reached") from None


async def _post(http: httpx2.AsyncClient, url: str, body: str) -> str:
    got = bytearray()
    async with http.stream("POST", url, content=body, headers=_HEADERS) as response:
        async for part in response.aiter_bytes():
            got += part
            if len(got) > _MOST:
                raise Refused("its answer is too long")
    try:
        return got.decode()
    except UnicodeDecodeError:
        raise Refused("its answer cannot be read") from None
