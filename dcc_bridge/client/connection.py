"""Connects a client to a bridge by HTTP. On the client's loop.

`http_client` makes each connection's host prove that it issued the token, before the token is sent.
`connect` adds the SDK's client, and the person who answers questions.
"""

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
# The host closes an overdue question and says why. This is the time for its message to arrive.
_LATE_ANSWER_S: Final = 0.2
_DRAIN_TIMEOUT_S: Final = 0.05  # the time from an answer to the end of its response
# The server sends something every 15 s while a person decides.
_SILENCE_TIMEOUT_S: Final = 300.0
# Each call that waits for a person keeps a connection.
_LIMITS: Final = httpx2.Limits(max_connections=None)
_NETWORK_ERRORS: Final = (MCPError, httpx2.HTTPError, httpx2.InvalidURL)
_NOT_THE_HOST: Final = (
    "it does not accept the token: the token belongs to another host, or another program answers "
    "there (restart an application that was running while dcc_bridge was updated)"
)
_MAX_HEAD_BYTES: Final = 4096
_PAGES: Final = "/ask/"  # the path of a bridge's own pages
_PROOF: Final = "/proof"
"""The path at which a host proves that it made a token, as `server.discovery.host_proof`."""


class NotTheHost(httpx2.ConnectError):
    """The program that answers at the host's address did not prove that it is the host."""


def http_client(
    token: str,
    on_response: Callable[[httpx2.Response], Awaitable[None]] | None = None,
    silence: float | None = None,
    is_running: Callable[[], Awaitable[bool]] | None = None,
) -> httpx2.AsyncClient:
    """Return the HTTP client of a connection to a host on this computer.

    Its requests raise `NotTheHost` if another program answers.

    Args:
        token: The client's token, which is sent only to a host that has proved itself.
        on_response: Receives each response, before its body is read.
        silence: The time after which a request ends if the host sends nothing, in seconds; None
            for five minutes.
        is_running: Returns whether the host runs; called before each connection.
    """
    silence = silence or _SILENCE_TIMEOUT_S
    check = _HostCheck(token, silence, is_running)
    response_hooks: list[Callable[[httpx2.Response], Awaitable[None]]] = [_drain_on_close]
    if on_response is not None:
        response_hooks.append(on_response)
    return httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {token}"},
        timeout=httpx2.Timeout(30.0, read=silence),
        limits=_LIMITS,
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),  # loads no certificates, so trusts none
        trust_env=False,  # a proxy from the environment would receive the token
        event_hooks={"request": [check.prepare], "response": response_hooks},
    )


async def _drain_on_close(response: httpx2.Response) -> None:
    response.stream = _DrainedBody(cast("httpx2.AsyncByteStream", response.stream))


class _DrainedBody(httpx2.AsyncByteStream):
    """A response's body that is drained on close, so that its connection can be used again.

    The SDK closes a stream of events at the answer, and the end of the stream follows at once.
    Without this class, each call of a legacy client would need its own connection and proof. Only
    the task that reads the body may close the body.
    """

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream
        self._parts = aiter(stream)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        return await anext(self._parts)

    async def aclose(self) -> None:
        """Read the rest of the body for at most `_DRAIN_TIMEOUT_S`, then close the stream."""
        try:
            with anyio.move_on_after(_DRAIN_TIMEOUT_S), suppress(httpx2.HTTPError):
                async for _ in self._parts:
                    pass
        finally:
            await self._stream.aclose()


class _HostCheck:
    """Makes the host prove itself on each connection, before the first request is sent there.

    When a host has ended, any program may take its port, so an earlier proof is worth nothing.

    Attributes:
        token: The token that the host issued.
        limit: The time for the proof, in seconds.
        is_running: Returns whether the host runs; None if that is not known.
    """

    def __init__(
        self, token: str, limit: float, is_running: Callable[[], Awaitable[bool]] | None
    ) -> None:
        self.token = token
        self.limit = limit
        self.is_running = is_running

    async def prepare(self, request: httpx2.Request) -> None:
        """Have `_trace` called when a connection is opened for a request."""
        request.extensions = {**request.extensions, "trace": partial(self._trace, request.url)}

    async def _trace(self, url: httpx2.URL, event: str, info: Mapping[str, Any]) -> None:
        if event == "connection.connect_tcp.started":
            if self.is_running is not None and not await self.is_running():
                raise NotTheHost("The host is no longer running.")
        elif event == "connection.connect_tcp.complete":
            await self._check(url, info["return_value"])

    async def _check(self, url: httpx2.URL, stream: Any) -> None:
        is_proved = False
        try:
            with anyio.move_on_after(self.limit):
                is_proved = await self._is_proved(url, stream)
        finally:
            if not is_proved:
                await stream.aclose()  # the pool does not own the stream yet
        if not is_proved:
            raise NotTheHost("What answers there is not the host.")

    async def _is_proved(self, url: httpx2.URL, stream: Any) -> bool:
        nonce = secrets.token_hex(16)
        proof = hmac.new(self.token.encode(), nonce.encode(), "sha256").hexdigest().encode()
        query = urlencode({"label": self.token.rpartition(".")[0], "nonce": nonce})
        host = url.netloc.decode("ascii")
        await stream.write(f"GET {_PROOF}?{query} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        received = b""
        while _may_prove(received):
            part = await stream.read(_MAX_HEAD_BYTES)
            if not part:
                break
            received += part
        return received.endswith(proof)


def _may_prove(received: bytes) -> bool:
    """Return whether a response that is not complete can still become a proof."""
    head, end, body = received.partition(b"\r\n\r\n")
    if not end:
        return len(head) < _MAX_HEAD_BYTES
    return b"content-length: 64" in head.lower() and len(body) < 64


@asynccontextmanager
async def connect(
    url: str,
    token: str,
    *,
    era: Era = "auto",
    person: Person | None = None,
    silence: float | None = None,
) -> AsyncIterator[Agent]:
    """Connect to a bridge, for the length of an ``async with`` block.

    Args:
        url: The address, which is on this computer, because the token travels in the clear.
        token: The client's token.
        era: "legacy" speaks the revision 2025-11-25, in which the server asks in the middle of a
            request; "auto" speaks the newest revision that both sides know.
        person: Answers questions; None declares that nobody can be asked.
        silence: The time after which a request ends if the host sends nothing, in seconds; None
            for five minutes.

    Yields:
        The connected client.

    Raises:
        Unreachable: Nothing answers, another program answers, or the host went away.
    """
    if urlsplit(url).hostname not in ("127.0.0.1", "localhost", "::1"):
        raise Unreachable(url, "only a host on this computer is given the token")
    is_connected = False
    answer = None
    if person is not None:
        answer = _callback(person, url)
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
        raise _public_error(_single_error(group), url, is_connected) from None


def _public_error(error: BaseException, url: str, is_connected: bool) -> BaseException:
    """Return the error that `connect` raises when `error` has ended a connection."""
    if not isinstance(error, _NETWORK_ERRORS):
        return error
    if is_connected:
        return Unreachable(url, "it went away")
    if isinstance(error, NotTheHost):
        return Unreachable(url, _NOT_THE_HOST)
    if isinstance(error, MCPError):
        return Unreachable(url, "it refuses the connection")
    return Unreachable(url, "nothing answers there")


def _callback(person: Person, host_url: str) -> ElicitationFnT:
    """Return the function by which the SDK asks the person."""
    pages = urljoin(host_url, _PAGES)

    async def answer(
        context: ClientRequestContext, params: types.ElicitRequestParams
    ) -> types.ElicitResult:
        limit, until = time_left(params)
        reply = Reply("cancel")  # also of a question that is overdue or cannot be drawn
        with anyio.move_on_after(limit + _LATE_ANSWER_S), suppress(SchemaError):
            if isinstance(params, types.ElicitRequestFormParams):
                form = parse(params.requested_schema)
                reply = await person.ask(params.message, form, until=until)
            else:
                ours = params.url.startswith(pages)
                reply = await person.visit(params.message, params.url, ours=ours, until=until)
        return _elicit_result(reply)

    return answer


def _elicit_result(reply: Reply) -> types.ElicitResult:
    content = None
    if isinstance(reply.content, Mapping):
        content = dict(reply.content)
    meta = None
    if reply.reason:
        meta = {MISFIT: True}
    return types.ElicitResult(action=reply.action, content=content, _meta=meta)


def _single_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error that task groups have wrapped; of several network errors, the first.

    A group with several errors of other kinds is returned as it is.
    """
    _, others = group.split(_NETWORK_ERRORS)
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        if len(error.exceptions) > 1 and others is not None:
            return group
        error = error.exceptions[0]
    return error
