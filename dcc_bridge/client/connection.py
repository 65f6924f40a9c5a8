"""Connects a client to a bridge, by HTTP with a token; a person is asked. On the client's loop."""

from __future__ import annotations

import hmac
import secrets
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final, Literal, cast
from urllib.parse import urlencode, urljoin, urlsplit

import anyio
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.session import ClientRequestContext, ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from dcc_bridge.client import Person
from dcc_bridge.client.agent import Agent
from dcc_bridge.client.tasks import TaskFollower, time_left
from dcc_bridge.elicitation.question import Reply
from dcc_bridge.elicitation.schema import parse
from dcc_bridge.elicitation.types import MISFIT
from dcc_bridge.errors import SchemaError, Unreachable, own_version

Era = Literal["auto", "legacy"]
_LATE: Final = 0.2  # seconds that the host has to end its question first, and say why
_ENDS_WITHIN: Final = 0.05  # seconds from an answer to the end of its response
_SILENCE: Final = 300.0  # seconds; the server sends something every 15 s while a person decides
_LIMITS: Final = httpx2.Limits(max_connections=None)  # calls that wait for a person keep theirs
_NETWORK: Final = (MCPError, httpx2.HTTPError, httpx2.InvalidURL)
_NOT_THE_HOST: Final = (
    "it does not accept the token: the token belongs to another host, or another program answers "
    "there (restart an application that was running while dcc_bridge was updated)"
)
_MOST_HEAD: Final = 4096  # bytes
_PAGES: Final = "/ask/"  # where a bridge has its own pages
_PROOF: Final = "/proof"  # where it proves that it made a token, as `server.discovery.host_proof`


class NotTheHost(httpx2.ConnectError):
    """What answers at the host's address did not prove that it is the host."""


def http_client(
    token: str,  # proves who we are; it goes out only where the host has proved itself first
    # Told of each response, before its body is read.
    on_response: Callable[[httpx2.Response], Awaitable[None]] | None = None,
    silence: float | None = None,  # seconds without a word of the host; None for five minutes
    # Looks whether the host is there, before each connection.
    is_running: Callable[[], Awaitable[bool]] | None = None,
) -> httpx2.AsyncClient:
    """Make the HTTP client of a connection to a host of this computer."""
    check = _HostCheck(token, silence or _SILENCE, is_running)
    hooks = [_drain_on_close, *([on_response] if on_response else [])]
    return httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {token}"},
        timeout=httpx2.Timeout(30.0, read=silence or _SILENCE),
        limits=_LIMITS,
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # trusts nobody: it reads no certificates
        trust_env=False,  # a proxy of the environment would be told the token
        event_hooks={"request": [check.prepare], "response": hooks},
    )


async def _drain_on_close(response: httpx2.Response) -> None:
    response.stream = _DrainedBody(cast("httpx2.AsyncByteStream", response.stream))


class _DrainedBody(httpx2.AsyncByteStream):
    """A response's body that is drained when it is closed, so that its connection is used again.

    The SDK closes a stream of events at the answer, and what ends the stream comes right behind.
    Else each call of a legacy client would need a connection, and a proof, of its own. Whoever
    reads it closes it: not another task while a part is awaited.
    """

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream, self._parts = stream, aiter(stream)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        return await anext(self._parts)

    async def aclose(self) -> None:
        """Close it, at the latest after `_ENDS_WITHIN`."""
        try:
            with anyio.move_on_after(_ENDS_WITHIN), suppress(httpx2.HTTPError):
                async for _ in self._parts:
                    pass
        finally:
            await self._stream.aclose()


class _HostCheck:
    """Has the host prove itself on each connection, before the first request goes out on it.

    When a host is gone, anybody may take its port; what it had proved before says nothing of them.
    """

    def __init__(
        self, token: str, limit: float, is_running: Callable[[], Awaitable[bool]] | None
    ) -> None:
        self.token, self.limit, self.is_running = token, limit, is_running

    async def prepare(self, request: httpx2.Request) -> None:
        """Be there when a connection is opened for a request."""
        request.extensions = {**request.extensions, "trace": partial(self._trace, request.url)}

    async def _trace(self, url: httpx2.URL, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.started":
            if self.is_running is not None and not await self.is_running():
                raise NotTheHost("The host is no longer running.")
        elif event == "connection.connect_tcp.complete":
            stream, is_proved = info["return_value"], False
            try:
                with anyio.move_on_after(self.limit):
                    is_proved = await self._is_proved(url, stream)
            finally:
                if not is_proved:
                    await stream.aclose()  # it is nobody's yet
            if not is_proved:
                raise NotTheHost("What answers there is not the host.")

    async def _is_proved(self, url: httpx2.URL, stream: Any) -> bool:
        nonce = secrets.token_hex(16)
        proof = hmac.new(self.token.encode(), nonce.encode(), "sha256").hexdigest().encode()
        query = urlencode({"label": self.token.rpartition(".")[0], "nonce": nonce})
        host = url.netloc.decode("ascii")
        await stream.write(f"GET {_PROOF}?{query} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        received = b""
        while _may_prove(received) and (part := await stream.read(_MOST_HEAD)):
            received += part
        return received.endswith(proof)


def _may_prove(received: bytes) -> bool:
    """Tell whether a response can become a proof by what is still to come of it."""
    head, end, body = received.partition(b"\r\n\r\n")
    if not end:
        return len(head) < _MOST_HEAD
    return b"content-length: 64" in head.lower() and len(body) < 64


@asynccontextmanager
async def connect(
    url: str,  # where it is: on this computer, for the token travels in the clear
    token: str,  # proves who we are
    *,
    era: Era = "auto",  # "legacy" speaks 2025-11-25: the server asks in the middle of a request
    person: Person | None = None,  # answers questions; None declares that nobody can be asked
    silence: float | None = None,  # as `http_client` takes it
) -> AsyncIterator[Agent]:
    """Connect to a bridge; Unreachable: nothing answers, it is another host, or it went away."""
    if urlsplit(url).hostname not in ("127.0.0.1", "localhost", "::1"):
        raise Unreachable(url, "only a host on this computer is given the token")
    is_connected = False
    answer = _callback(person, url) if person is not None else None
    tasks = TaskFollower(answer)
    try:
        async with (
            http_client(token, silence=silence) as http,
            Client(
                streamable_http_client(url, http_client=http),
                mode=era,
                elicitation_callback=answer,
                extensions=[tasks],
                client_info=types.Implementation(name="dcc-bridge", version=own_version()),
            ) as client,
        ):
            is_connected = True
            yield Agent(client, tasks)
    except BaseExceptionGroup as group:
        raise _explained(_only_error(group), url, is_connected) from None


def _explained(error: BaseException, url: str, is_connected: bool) -> BaseException:
    if not isinstance(error, _NETWORK):
        return error
    if is_connected:
        return Unreachable(url, "it went away")
    if isinstance(error, NotTheHost):
        return Unreachable(url, _NOT_THE_HOST)
    refused = isinstance(error, MCPError)
    return Unreachable(url, "it refuses the connection" if refused else "nothing answers there")


def _callback(person: Person, host: str) -> ElicitationFnT:
    page = urljoin(host, _PAGES)

    async def answer(
        context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        limit, until = time_left(params)
        reply = Reply("cancel")  # to what cannot be drawn nobody has agreed
        with anyio.move_on_after(limit + _LATE), suppress(SchemaError):
            if isinstance(params, types.ElicitRequestFormParams):
                form = parse(params.requested_schema)
                reply = await person.ask(params.message, form, until=until)
            else:
                ours = params.url.startswith(page)
                reply = await person.visit(params.message, params.url, ours=ours, until=until)
        content = dict(reply.content) if isinstance(reply.content, Mapping) else None
        misfit = {MISFIT: True} if reply.reason else None
        return types.ElicitResult(action=reply.action, content=content, _meta=misfit)

    return answer


def _only_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Give the one error that task groups have wrapped; of several of the network's, the first."""
    alike = group.split(_NETWORK)[1] is None
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        if len(error.exceptions) > 1 and not alike:
            return group
        error = error.exceptions[0]
    return error
