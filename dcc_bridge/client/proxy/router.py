"""Routes messages between a client, the lobby and the hosts. On the proxy's loop.

===================================  ===========================================================
what the client sends                goes to
===================================  ===========================================================
handshake, discovery, ping           the lobby, whose answer holds for every host
``list_hosts``, ``use_host``         the lobby
a retry with a state                 the host that issued the state
what names a task                    the host that the task's id begins with; where it ended, the
                                     host in which the client works, whose audit log knows of it
an answer to a host's request        that host
``subscriptions/listen``             the lobby, which keeps it open, and a copy to the host
anything else                        the host in which the client works; where there is none,
                                     the lobby
===================================  ===========================================================
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
import mcp_types as types
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync
from mcp.shared.subscriptions import ServerEvent

from dcc_bridge import json_rpc
from dcc_bridge.client.proxy import lobby
from dcc_bridge.client.proxy.client_state import SET_LEVEL, UPDATED, ClientState
from dcc_bridge.client.proxy.host_choice import HostChoice, describe
from dcc_bridge.client.proxy.messages import (
    ACKNOWLEDGED,
    CANCELLED,
    CHANGED,
    LISTEN,
    failure,
    preceded,
)
from dcc_bridge.client.proxy.pending import HostRequests, RetryStates
from dcc_bridge.client.proxy.upstream import Upstream
from dcc_bridge.elicitation.types import TASK_METHODS
from dcc_bridge.errors import StartError

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

Say = Callable[[types.JSONRPCMessage], Awaitable[None]]
Publish = Callable[[ServerEvent], Awaitable[None]]

# The time after which a host that is there, and to which no connection held, is tried again.
_RETRY_AFTER_S: Final = 5.0
_HANDSHAKE: Final = "initialize"
_LOBBY_METHODS: Final = frozenset({_HANDSHAKE, "server/discover", "ping", SET_LEVEL})
# Notices that concern only the host in which the client works.
_CURRENT_HOST_NOTICES: Final = frozenset({*CHANGED, UPDATED})
_UNANSWERED: Final = (
    "The answer was not delivered, and the call has ended. Look at the scene before you try again."
)
_LOBBY_TOOLS: Final = [
    tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in lobby.TOOLS
]


class Router:
    """Passes messages on between a client, the lobby and the hosts.

    Args:
        choice: The host in which the client works.
        running: Returns the hosts that run; called in a thread.
        label: The name under which the hosts know the client.
        say: Sends a message to the client.
        tasks: The group of tasks in which connections run.

    Attributes:
        say_lobby: Sends a message to the lobby. To be set before the first message.
        publish: Sends an event of the modern era to the client. To be set before the first look.
    """

    def __init__(
        self,
        choice: HostChoice,
        running: Callable[[], Sequence[Instance]],
        label: str,
        say: Say,
        tasks: TaskGroup,
    ) -> None:
        self._choice = choice
        self._running = running
        self._label = label
        self._say = say
        self._tasks = tasks
        self._look_lock = anyio.Lock()
        self._host: Instance | None = None
        self._upstreams: dict[str, Upstream] = {}
        self._retry_at: dict[str, float] = {}
        self._is_closed = False
        self._requests = HostRequests()
        self._states = RetryStates()
        # The handshake that is not answered yet, and the client's messages behind it.
        self._handshake: types.JSONRPCRequest | None = None
        self._early: list[types.JSONRPCMessage] = []
        self._client = ClientState()
        self.say_lobby: Callable[[types.JSONRPCMessage], None]
        self.publish: Publish

    async def from_client(self, message: types.JSONRPCMessage) -> None:
        """Pass a message of the client on; this never waits for a host."""
        if self._handshake is not None:
            self._early.append(message)  # the version that is agreed on decides where it goes
        elif isinstance(message, types.JSONRPCRequest):
            await self._request(message)
        elif isinstance(message, types.JSONRPCNotification):
            self._notice(message)
        else:
            self._requests.answer(message)

    async def _request(self, request: types.JSONRPCRequest) -> None:
        if any(request.id in upstream.in_flight for upstream in self._upstreams.values()):
            refusal = json_rpc.error_response(request.id, json_rpc.id_in_use(request.id))
            await self._say(types.JSONRPCError.model_validate(refusal))
            return
        self._client.remember(request)
        parked = self._states.host(request)
        target = parked or self._task_host(request) or self._host
        if request.method == _HANDSHAKE:
            self._handshake = request
        elif request.method == SET_LEVEL and self._host is not None and self._client.hello:
            self._upstream(self._host).ask(request.method, request.params or {})
        if request.method == LISTEN:
            self._listen(request)
        elif request.method in TASK_METHODS and target is None:
            await self._say(failure(request, self._choice.why_none()))
        elif _is_for_lobby(request) or target is None:
            self.say_lobby(request)
        elif parked is not None and not self._is_there(parked):
            why = f"{describe(parked)}, which asked this question, is not running any more. "
            await self._say(failure(request, why + _UNANSWERED))
        else:
            self._upstream(target).request(request)

    def _task_host(self, request: types.JSONRPCRequest) -> Instance | None:
        """Return the running host with whose id a task's id begins."""
        if request.method not in TASK_METHODS:
            return None
        params = request.params or {}
        host_id = str(params.get("taskId")).partition(".")[0]
        for host in self._choice.running:
            if host.id == host_id:
                return host
        return None

    def _listen(self, request: types.JSONRPCRequest) -> None:
        self.say_lobby(request)
        if self._host is None:
            return
        upstream = self._upstreams.get(self._host.id)
        if upstream is not None and not upstream.is_over:
            upstream.send(request)
        else:
            self._upstream(self._host)  # a new connection repeats all requests to listen

    def _notice(self, notice: types.JSONRPCNotification) -> None:
        if notice.method != CANCELLED:
            self.say_lobby(notice)
            if self._host is not None and notice.method != "notifications/initialized":
                self._upstream(self._host).send(notice)
            return
        self._cancel(notice)

    def _cancel(self, notice: types.JSONRPCNotification) -> None:
        """Pass on that the client needs no answer any more."""
        params = notice.params or {}
        request_id = params.get("requestId")
        if request_id is None:
            return
        was_listening = self._client.listening.pop(request_id, None) is not None
        for upstream in list(self._upstreams.values()):
            was_in_flight = upstream.in_flight.pop(request_id, None) is not None
            if was_in_flight or was_listening:
                upstream.send(notice)
        self.say_lobby(notice)

    async def from_lobby(self, message: types.JSONRPCMessage) -> None:
        """Pass a message of the lobby on, and note the handshake that it answers."""
        handshake = self._handshake  # the client may send another one while it reads
        await self._say(message)
        if handshake is None or getattr(message, "id", None) != handshake.id:
            return
        if isinstance(message, types.JSONRPCResponse):
            self._client.agree(handshake, message)
            if self._host is not None:
                self._upstream(self._host)
        self._handshake = None
        early = self._early
        self._early = []
        for early_message in early:
            await self.from_client(early_message)

    async def from_host(self, upstream: Upstream, message: types.JSONRPCMessage) -> None:
        """Pass a message of a host on."""
        if isinstance(message, types.JSONRPCRequest):
            await self._say(self._requests.number(upstream, message))
        elif isinstance(message, types.JSONRPCNotification):
            await self._notice_of_host(upstream, message)
        else:
            await self._answer_of_host(upstream, message)

    async def _answer_of_host(
        self, upstream: Upstream, message: types.JSONRPCResponse | types.JSONRPCError
    ) -> None:
        if message.id is None:
            return
        request = upstream.in_flight.get(message.id)
        if request is None:
            return
        # If the connection were lost now, what is in flight would be answered a second time.
        with anyio.CancelScope(shield=True):
            await self._say(self._answered(upstream, request, message))
        # Not before that: nothing keeps a connection open that has nothing in flight.
        upstream.in_flight.pop(request.id, None)
        self._leave(upstream)
        self._close_when_left(upstream)

    async def _notice_of_host(self, upstream: Upstream, notice: types.JSONRPCNotification) -> None:
        if notice.method == ACKNOWLEDGED:
            return  # the lobby has acknowledged the request
        if notice.method in _CURRENT_HOST_NOTICES and not self._is_current(upstream):
            return
        if notice.method == CANCELLED:
            withdrawn = self._requests.withdrawn(upstream, notice)
            if withdrawn is not None:
                await self._say(withdrawn)
            return
        await self._say(notice)

    def _answered(
        self,
        upstream: Upstream,
        request: types.JSONRPCRequest,
        message: types.JSONRPCResponse | types.JSONRPCError,
    ) -> types.JSONRPCResponse | types.JSONRPCError:
        """Return a host's answer to a request as the client gets it."""
        if isinstance(message, types.JSONRPCError):
            if upstream.is_lost or message.error.code == types.CONNECTION_CLOSED:
                return failure(request, self._lost(upstream, request))
            return message
        self._states.note(request, message.result, upstream.host)
        if "ttlMs" in message.result and "taskId" not in message.result:  # the next host may differ
            message.result["ttlMs"] = 0
        if request.method == "tools/call" and "content" in message.result:
            news = self._choice.take_news(upstream.host)
            if news is None:
                return message
            return preceded(message, news)
        if request.method == "tools/list":
            return _with_lobby_tools(upstream, message)
        return message

    async def watch(self, interval: float) -> None:
        """Look which hosts run, again and again.

        Args:
            interval: The time between two looks, in seconds.
        """
        while True:
            await anyio.sleep(interval)
            await self.look()

    async def look(self) -> None:
        """Look which hosts run, and change to the host in which the client is to work."""
        async with self._look_lock:
            try:
                hosts = await run_sync(self._running)
            except (OSError, StartError):
                hosts = []  # the folder of their records is gone, or cannot be read now
            chosen = self._choice.look(hosts)
            for upstream in list(self._upstreams.values()):
                if not self._is_there(upstream.host):
                    upstream.lose()
            await self._go(chosen)

    async def use(self, host: Instance) -> None:
        """Change to a host that was chosen."""
        async with self._look_lock:
            await self._go(host)

    async def _go(self, host: Instance | None) -> None:
        before = self._host
        self._host = host
        upstream = None
        if host is not None:
            upstream = self._upstreams.get(host.id)
            if upstream is None:
                self._connect(host)
            else:
                upstream.host = host
        if _id(before) == _id(host):
            return
        if upstream is not None:
            self._client.repeat(upstream)
        if before is not None and before.id in self._upstreams:
            self._leave(self._upstreams[before.id])
        await self._announce_change()

    def _connect(self, host: Instance) -> None:
        """Open a connection, for a client that may hear of a host's changes before it calls."""
        is_too_early = self._retry_at.get(host.id, 0.0) > anyio.current_time()
        if is_too_early or self._is_closed:
            return
        if self._client.hello is not None or self._client.listening:
            self._upstream(host)

    async def _announce_change(self) -> None:
        """Tell the client that its tools and resources are those of another host."""
        if self._client.hello is not None:
            for notice in self._client.change_notices():
                await self._say(notice)
            return
        for event in self._client.change_events():
            await self.publish(event)

    def _is_current(self, upstream: Upstream) -> bool:
        return self._host is not None and self._host.id == upstream.host.id

    def _is_there(self, host: Instance) -> bool:
        return host.id in [running.id for running in self._choice.running]

    def _upstream(self, host: Instance) -> Upstream:
        """Return the connection to a host, which is opened if there is none."""
        upstream = self._upstreams.get(host.id)
        if upstream is not None and not upstream.is_over:
            return upstream
        upstream = Upstream(host, self._client.hello)
        self._upstreams[host.id] = upstream
        self._tasks.start_soon(self._run, upstream)
        if self._is_current(upstream):
            self._client.repeat(upstream)
        return upstream

    def _leave(self, upstream: Upstream) -> None:
        """Close a connection that nobody needs."""
        if not upstream.in_flight and not self._is_current(upstream):
            upstream.close()

    async def _run(self, upstream: Upstream) -> None:
        host = upstream.host
        await upstream.run(host.token(self._label), self.from_host, partial(self._is_running, host))
        if self._upstreams.get(host.id) is upstream:
            del self._upstreams[host.id]
        if upstream.is_lost:
            self._retry_at[host.id] = anyio.current_time() + _RETRY_AFTER_S
        for notice in self._requests.abandon(upstream, f"{describe(host)} ended."):
            await self._say(notice)
        while upstream.in_flight:
            _, request = upstream.in_flight.popitem()
            await self._say(failure(request, self._lost(upstream, request)))

    async def _is_running(self, host: Instance) -> bool:
        with suppress(OSError, StartError):
            hosts = await run_sync(self._running)
            return host.secret in [running.secret for running in hosts]
        return False

    def _lost(self, upstream: Upstream, request: types.JSONRPCRequest) -> str:
        """Return what is known of a request whose host went away."""
        host = describe(upstream.host)
        if request.method in TASK_METHODS:
            name = "the task"  # its call began before this request
        else:
            params = request.params or {}
            name = params.get("name", request.method)
            if request.id in upstream.unsent:
                return f"{host} ended before {name} was sent. Nothing was done."
        return (
            f"{host} ended during {name}. It is not known whether {name} was done, in part or "
            "as a whole. Look at the scene before you try again."
        )

    def close(self) -> None:
        """End the calls that the client left at a question, then all connections.

        No other connection is opened from here on.
        """
        self._is_closed = True
        for host, request in self._states.leave():
            if self._is_there(host):
                self._upstream(host).request(request)
                self._upstream(host).left.add(request.id)
        for upstream in self._upstreams.values():
            self._close_when_left(upstream)

    def _close_when_left(self, upstream: Upstream) -> None:
        if self._is_closed and upstream.left.isdisjoint(upstream.in_flight):
            upstream.close()


def _is_for_lobby(request: types.JSONRPCRequest) -> bool:
    """Return whether the lobby answers a request, whichever hosts run."""
    if request.method in _LOBBY_METHODS:
        return True
    params = request.params or {}
    return request.method == "tools/call" and params.get("name") in lobby.OWN


def _with_lobby_tools(upstream: Upstream, message: types.JSONRPCResponse) -> types.JSONRPCResponse:
    """Return a host's list of tools with the lobby's own at its end, and let `upstream` learn."""
    tools = [tool for tool in message.result.get("tools", []) if tool.get("name") not in lobby.OWN]
    upstream.learn(tools)
    if not message.result.get("nextCursor"):
        tools += _LOBBY_TOOLS
    return message.model_copy(update={"result": {**message.result, "tools": tools}})


def _id(host: Instance | None) -> str | None:
    if host is None:
        return None
    return host.id
