"""The way from a client to a bridge: HTTP with a token, and questions for a person on the way back.

On the client's own anyio loop.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Final, Literal
from urllib.parse import urlsplit

import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from dcc_bridge.client import http
from dcc_bridge.client.agent import Agent
from dcc_bridge.client.person import Person
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.errors import SchemaError, Unreachable

Era = Literal["auto", "legacy"]

_NETWORK: Final = (MCPError, httpx2.HTTPError, httpx2.InvalidURL)
_PAGES: Final = "/ask/"
"""Where a bridge has its own pages."""


@asynccontextmanager
async def connect(
    url: str,
    token: str,
    *,
    era: Era = "auto",
    person: Person | None = None,
) -> AsyncIterator[Agent]:
    """Connect to a bridge.

    Args:
        url: Where it is: on this computer, for the token travels in the clear.
        token: Proves who we are.
        era: "legacy" speaks 2025-11-25, in which the server asks in the middle of a request.
        person: Answers questions. With None the client declares that it cannot ask anybody.

    Raises:
        Unreachable: Nothing answers there, it is no bridge, it refuses the token, or it went away.
    """
    if not http.is_local(url):
        raise Unreachable(url, "only a host on this computer is given the token")
    seen = _Seen()
    try:
        async with (
            http.open_(token, seen.note) as opened,
            Client(
                streamable_http_client(url, http_client=opened),
                mode=era,
                elicitation_callback=_callback(person, url) if person is not None else None,
                client_info=_me(),
            ) as client,
        ):
            seen.is_connected = True
            yield Agent(client)
    except BaseExceptionGroup as group:
        raise seen.explained(url, _lone(group)) from None


class _Seen:
    """What is known of a connection when it fails."""

    def __init__(self) -> None:
        self.is_connected = False
        self._status = 0

    async def note(self, response: httpx2.Response) -> None:
        self._status = response.status_code

    def explained(self, url: str, error: BaseException) -> BaseException:
        """Give the error that the caller should see."""
        if not isinstance(error, _NETWORK):
            return error
        if self.is_connected:
            return Unreachable(url, "it went away")
        if not isinstance(error, MCPError):
            return Unreachable(url, "nothing answers there")
        refused = self._status in (401, 403, 421)
        return Unreachable(url, "it does not know us" if refused else "it is no MCP server")


def _callback(person: Person, host: str) -> ElicitationFnT:
    at = urlsplit(host)
    page = f"{at.scheme}://{at.netloc}{_PAGES}"

    async def answer(
        context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        if not isinstance(params, types.ElicitRequestFormParams):
            heard = await person.visit(params.message, params.url, ours=params.url.startswith(page))
            return types.ElicitResult(action=heard.action)
        try:
            form = parse(params.requested_schema)
        except SchemaError:  # to what cannot be drawn nobody has agreed
            return types.ElicitResult(action="cancel")
        heard = await person.ask(params.message, form)
        content = dict(heard.content) if isinstance(heard.content, Mapping) else None
        return types.ElicitResult(action=heard.action, content=content)

    return answer


def _me() -> types.Implementation:
    return types.Implementation(name="dcc-bridge", version=metadata.version("dcc-bridge"))


def _lone(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Give the one error that task groups have wrapped; of several of the network's, the first."""
    errors = list(_leaves(group))
    alike = all(isinstance(error, _NETWORK) for error in errors)
    return errors[0] if alike or len(errors) == 1 else group


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for one in error.exceptions:
        yield from _leaves(one)
