"""Routes messages between a client, the lobby and the hosts. On the proxy's loop.

===================================  ===========================================================
message of the client                goes to
===================================  ===========================================================
handshake, probe, ping               the lobby, whose answer holds for every host
``list_hosts``, ``use_host``         the lobby
a retry with a state                 the host that issued the state
a request about a task               the host with whose id the task's id begins; if that host has
                                     ended, the current host, whose audit log knows the task
an answer to a host's request        that host
``subscriptions/listen``             the lobby, which keeps it open, and a copy to the current host
anything else                        the current host; if there is none, the lobby
===================================  ===========================================================

The *current host* is the one in which the client works. Its tools and notices are the client's.
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
    LIST,
    LISTEN,
    failure,
    with_text_before,
)
from dcc_bridge.client.proxy.pending import HostRequests, RetryStates
from dcc_bridge.client.proxy.upstream import Upstream
from dcc_bridge.elicitation.types import TASK_METHODS
from dcc_bridge.errors import StartError

if TYPE_CHECKING:
    from dcc_bridge.server.discovery import Instance

Say = Callable[[types.JSONRPCMessage], Awaitable[None]]
Publish = Callable[[ServerEvent], Awaitable[None]]

_RETRY_AFTER_S: Final = 5.0  # from the loss of a connection to the next try
_HANDSHAKE: Final = "initialize"
_LOBBY_METHODS: Final = frozenset({_HANDSHAKE, "server/discover", "ping", SET_LEVEL})
# Notices that are passed on only from the current host.
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
        choice: Chooses the current host.
        running: Returns the hosts that run; called in a thread.
        label: The name under which the hosts know the client.
        say: Sends a message to the client.
        tasks: The task group in which connections run.

    Attributes:
        say_lobby: Sends a message to the lobby. To be set before `from_client` is called.
        publish: Sends an event of the modern era to the client. To be set before `look` is called.
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
        # The handshake that is not answered yet, and the client's messages after it. Where they go
        # depends on the version in the answer.
        self._handshake: types.JSONRPCRequest | None = None
        self._early: list[types.JSONRPCMessage] = []
        self._client = ClientState()
        self.say_lobby: Callable[[types.JSONRPCMessage], None]
        self.publish: Publish

    async def from_client(self, message: types.JSONRPCMessage) -> None:
        """Pass on a message of the client, without waiting for a host."""
        if self._handshake is not None:
            self._early.append(message)
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
        self._client.store(request)
        asking_host = self._states.host(request)
        target = asking_host or self._task_host(request) or self._host
        if request.method == _HANDSHAKE:
            self._handshake = request
        elif request.method == SET_LEVEL and self._host is not None and self._client.hello:
            self._upstream(self._host).send_own(request.method, request.params or {})
        if request.method == LISTEN:
            self._listen(request)
        elif request.method in TASK_METHODS and target is None:
            await self._say(failure(request, self._choice.why_none()))
        elif _is_for_lobby(request) or target is None:
            self.say_lobby(request)
        elif asking_host is not None and not self._is_there(asking_host):
            why = f"{describe(asking_host)}, which asked this question, is not running any more. "
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
        """Pass on that the client needs no answer to a request any more."""
        params = notice.params or {}
        request_id = params.get("requestId")
        if request_id is None:
            return
        was_listening = self._client.listen_requests.pop(request_id, None) is not None
        for upstream in list(self._upstreams.values()):
            was_in_flight = upstream.in_flight.pop(request_id, None) is not None
            if was_in_flight or was_listening:
                upstream.send(notice)
        self.say_lobby(notice)

    async def from_lobby(self, message: types.JSONRPCMessage) -> None:
        """Pass on a message of the lobby; after its answer to a handshake, pass on what waited."""
        handshake = self._handshake  # the client may send another handshake during `_say`
        await self._say(message)
        if handshake is None or getattr(message, "id", None) != handshake.id:
            return
        if isinstance(message, types.JSONRPCResponse):
            self._client.set_hello(handshake, message)
            if self._host is not None:
                self._upstream(self._host)
        self._handshake = None
        early = self._early
        self._early = []
        for early_message in early:
            await self.from_client(early_message)

    async def from_host(self, upstream: Upstream, message: types.JSONRPCMessage) -> None:
        """Pass on a message of a host."""
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
        # Shielded: a connection that is lost now would answer the request a second time.
        with anyio.CancelScope(shield=True):
            if isinstance(message, types.JSONRPCError) and _lobby_lists(upstream, request):
                self.say_lobby(request)
            else:
                await self._say(self._answer_for_client(upstream, request, message))
        # Only now: a connection with nothing in flight may be closed.
        upstream.in_flight.pop(request.id, None)
        self._leave(upstream)
        self._close_when_left(upstream)

    async def _notice_of_host(self, upstream: Upstream, notice: types.JSONRPCNotification) -> None:
        if notice.method == ACKNOWLEDGED:
            return  # the lobby has acknowledged the request
        if notice.method in _CURRENT_HOST_NOTICES and not self._is_current(upstream):
            return
        if notice.method == CANCELLED:
            cancelled = self._requests.withdraw(upstream, notice)
            if cancelled is not None:
                await self._say(cancelled)
            return
        await self._say(notice)

    def _answer_for_client(
        self,
        upstream: Upstream,
        request: types.JSONRPCRequest,
        message: types.JSONRPCResponse | types.JSONRPCError,
    ) -> types.JSONRPCResponse | types.JSONRPCError:
        """Return a host's answer to a request, changed where the client needs another one."""
        if isinstance(message, types.JSONRPCError):
            if upstream.is_lost or message.error.code == types.CONNECTION_CLOSED:
                return failure(request, self._loss_text(upstream, request))
            problem = upstream.host.version_problem()
            if problem is not None and request.method == "tools/call":
                return failure(request, f"{message.error.message.rstrip('.')}. {problem}")
            return message
        self._states.store(request, message.result, upstream.host)
        if "ttlMs" in message.result and "taskId" not in message.result:  # the next host may differ
            message.result["ttlMs"] = 0
        if request.method == "tools/call" and "content" in message.result:
            restart = self._choice.take_restart_notice(upstream.host)
            other_version = self._choice.take_version_notice(upstream.host)
            notices = [notice for notice in (restart, other_version) if notice is not None]
            if not notices:
                return message
            return with_text_before(message, " ".join(notices))
        if request.method == "tools/list":
            return _with_lobby_tools(upstream, message)
        return message

    async def watch(self, interval: float) -> None:
        """Call `look` for ever, every `interval` seconds."""
        while True:
            await anyio.sleep(interval)
            await self.look()

    async def look(self) -> None:
        """Read which hosts run, and change to the host that is chosen among them."""
        async with self._look_lock:
            try:
                hosts = await run_sync(self._running)
            except (OSError, StartError):
                hosts = []  # the folder of their records cannot be read
            chosen = self._choice.look(hosts)
            for upstream in list(self._upstreams.values()):
                if not self._is_there(upstream.host):
                    upstream.lose()
            await self._change_host(chosen)

    async def use(self, host: Instance) -> None:
        """Change to a host that was chosen."""
        async with self._look_lock:
            await self._change_host(host)

    async def _change_host(self, host: Instance | None) -> None:
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
        """Open a connection, if the client may get notices of the host before it calls."""
        is_too_early = self._retry_at.get(host.id, 0.0) > anyio.current_time()
        if is_too_early or self._is_closed:
            return
        if self._client.hello is not None or self._client.listen_requests:
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
        """Return the connection to a host; open one if there is none."""
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
        """Close the connection if it is not needed any more."""
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
            if _lobby_lists(upstream, request):
                self.say_lobby(request)
                continue
            await self._say(failure(request, self._loss_text(upstream, request)))

    async def _is_running(self, host: Instance) -> bool:
        with suppress(OSError, StartError):
            hosts = await run_sync(self._running)
            return host.secret in [running.secret for running in hosts]
        return False

    def _loss_text(self, upstream: Upstream, request: types.JSONRPCRequest) -> str:
        """Return whether a request was done, as far as is known, after its host went away."""
        host = describe(upstream.host)
        why = f"{host} ended"
        problem = upstream.host.version_problem()
        if problem is not None:
            why = f"{problem} The connection to {host} was lost"
        if request.method in TASK_METHODS:
            name = "the task"  # its call began before this request
        else:
            params = request.params or {}
            name = params.get("name", request.method)
            if request.id in upstream.unsent:
                return f"{why} before {name} was sent. Nothing was done."
        return (
            f"{why} during {name}. It is not known whether {name} was done, in part or "
            "as a whole. Look at the scene before you try again."
        )

    def close(self) -> None:
        """Cancel the client's open questions, then close all connections.

        `_connect` opens no other connection from here on.
        """
        self._is_closed = True
        for host, request in self._states.cancel_all():
            if self._is_there(host):
                self._upstream(host).request(request)
                self._upstream(host).cancelling.add(request.id)
        for upstream in self._upstreams.values():
            self._close_when_left(upstream)

    def _close_when_left(self, upstream: Upstream) -> None:
        if self._is_closed and upstream.cancelling.isdisjoint(upstream.in_flight):
            upstream.close()


def _is_for_lobby(request: types.JSONRPCRequest) -> bool:
    """Return whether the lobby answers a request even if hosts run."""
    if request.method in _LOBBY_METHODS:
        return True
    params = request.params or {}
    return request.method == "tools/call" and params.get("name") in lobby.OWN


def _lobby_lists(upstream: Upstream, request: types.JSONRPCRequest) -> bool:
    """Return whether the lobby lists the tools in place of a host of another version.

    If that host cannot list its own, an agent can still ask `list_hosts` for the reason.
    """
    return request.method == LIST and upstream.host.version_problem() is not None


def _with_lobby_tools(upstream: Upstream, message: types.JSONRPCResponse) -> types.JSONRPCResponse:
    """Store the headers of a host's tools; return its list with the lobby's tools at the end."""
    tools = [tool for tool in message.result.get("tools", []) if tool.get("name") not in lobby.OWN]
    upstream.store_headers(tools)
    if not message.result.get("nextCursor"):
        tools += _LOBBY_TOOLS
    return message.model_copy(update={"result": {**message.result, "tools": tools}})


def _id(host: Instance | None) -> str | None:
    if host is None:
        return None
    return host.id
