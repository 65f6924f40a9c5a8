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

# Seconds after which a host that is there, and to which no connection held, is tried again.
_RETRY_AFTER: Final = 5.0
_HANDSHAKE: Final = "initialize"
_LOBBYS: Final = frozenset({_HANDSHAKE, "server/discover", "ping", SET_LEVEL})
# Notices that concern only the host in which the client works.
_OF_ONE_HOST: Final = frozenset({*CHANGED, UPDATED})
_UNANSWERED: Final = (
    "The answer reached nobody, and the call has ended: look at the scene before you try again."
)
_TOOLS: Final = [it.model_dump(by_alias=True, exclude_none=True, mode="json") for it in lobby.TOOLS]


class Router:
    """Everything that goes on between a client, the lobby and the hosts."""

    def __init__(
        self,
        choice: HostChoice,  # which host is meant
        running: Callable[[], Sequence[Instance]],  # looks which hosts run; called in a thread
        label: str,  # the name under which the hosts know the client
        say: Say,  # sends to the client
        tasks: TaskGroup,  # where connections run
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
        self._handshake: types.JSONRPCRequest | None = None
        self._early: list[types.JSONRPCMessage] = []
        self._client = ClientState()
        self.say_lobby: Callable[[types.JSONRPCMessage], None]
        self.publish: Publish

    async def from_client(self, message: types.JSONRPCMessage) -> None:
        """Send a message of the client on; never waits for a host."""
        if self._handshake is not None:
            self._early.append(message)  # what is said to a host depends on what is agreed on
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
        is_own = request.method == "tools/call" and (request.params or {}).get("name") in lobby.OWN
        if request.method == _HANDSHAKE:
            self._handshake = request
        elif request.method == SET_LEVEL and self._host is not None and self._client.hello:
            self._upstream(self._host).ask(request.method, request.params or {})
        if request.method == LISTEN:
            self._listen(request)
        elif request.method in TASK_METHODS and target is None:
            await self._say(failure(request, self._choice.why_none()))
        elif request.method in _LOBBYS or is_own or target is None:
            self.say_lobby(request)
        elif parked is not None and not self._is_there(parked):
            why = f"{describe(parked)}, which asked this question, is not running any more. "
            await self._say(failure(request, why + _UNANSWERED))
        else:
            self._upstream(target).request(request)

    def _task_host(self, request: types.JSONRPCRequest) -> Instance | None:
        task = (request.params or {}).get("taskId") if request.method in TASK_METHODS else None
        name = str(task).partition(".")[0]
        return next((host for host in self._choice.running if host.id == name), None)

    def _listen(self, request: types.JSONRPCRequest) -> None:
        self.say_lobby(request)
        if self._host is None:
            return
        upstream = self._upstreams.get(self._host.id)
        if upstream is not None and not upstream.is_over:
            upstream.send(request)
        else:
            self._upstream(self._host)  # which is told of all that is listened to

    def _notice(self, notice: types.JSONRPCNotification) -> None:
        if notice.method != CANCELLED:
            self.say_lobby(notice)
            if self._host is not None and notice.method != "notifications/initialized":
                self._upstream(self._host).send(notice)
            return
        if (number := (notice.params or {}).get("requestId")) is None:
            return
        upstreams = list(self._upstreams.values())
        concerned = [upstream for upstream in upstreams if upstream.in_flight.pop(number, None)]
        if self._client.listening.pop(number, None) is not None:
            concerned = upstreams
        for upstream in concerned:
            upstream.send(notice)
        self.say_lobby(notice)

    async def from_lobby(self, message: types.JSONRPCMessage) -> None:
        """Pass on what the lobby says, and take in what was agreed on."""
        handshake = self._handshake  # another one may come while the client reads
        await self._say(message)
        if handshake is None or getattr(message, "id", None) != handshake.id:
            return
        if isinstance(message, types.JSONRPCResponse):
            self._client.agree(handshake, message)
            if self._host is not None:
                self._upstream(self._host)
        self._handshake = None
        early, self._early = self._early, []
        for early_message in early:
            await self.from_client(early_message)

    async def from_host(self, upstream: Upstream, message: types.JSONRPCMessage) -> None:
        """Pass on what a host says."""
        if isinstance(message, types.JSONRPCRequest):
            await self._say(self._requests.number(upstream, message))
        elif isinstance(message, types.JSONRPCNotification):
            await self._noticed(upstream, message)
        else:
            request = upstream.in_flight.get(message.id) if message.id is not None else None
            if request is not None:
                # its connection may be lost now, which answers what is in flight a second time
                with anyio.CancelScope(shield=True):
                    await self._say(self._answered(upstream, request, message))
                # not before: nothing keeps a connection open that has nothing in flight
                upstream.in_flight.pop(request.id, None)
                self._leave(upstream)
                self._close_when_left(upstream)

    async def _noticed(self, upstream: Upstream, notice: types.JSONRPCNotification) -> None:
        passed_on: types.JSONRPCNotification | None = notice
        if notice.method == CANCELLED:
            passed_on = self._requests.withdrawn(upstream, notice)
        elif notice.method == ACKNOWLEDGED:
            passed_on = None  # the lobby has acknowledged it
        elif notice.method in _OF_ONE_HOST:
            passed_on = notice if self._is_current(upstream) else None
        if passed_on is not None:
            await self._say(passed_on)

    def _answered(
        self,
        upstream: Upstream,
        request: types.JSONRPCRequest,
        message: types.JSONRPCResponse | types.JSONRPCError,
    ) -> types.JSONRPCResponse | types.JSONRPCError:
        if isinstance(message, types.JSONRPCError):
            gone = upstream.is_lost or message.error.code == types.CONNECTION_CLOSED
            return failure(request, self._lost(upstream, request)) if gone else message
        self._states.note(request, message.result, upstream.host)
        if "ttlMs" in message.result and "taskId" not in message.result:  # the next host may differ
            message.result["ttlMs"] = 0
        if request.method == "tools/call" and "content" in message.result:
            news = self._choice.take_news(upstream.host)
            return message if news is None else preceded(message, news)
        if request.method != "tools/list":
            return message
        tools = [it for it in message.result.get("tools", []) if it.get("name") not in lobby.OWN]
        upstream.learn(tools)
        ours = [] if message.result.get("nextCursor") else _TOOLS
        return message.model_copy(update={"result": {**message.result, "tools": tools + ours}})

    async def watch(self, every: float) -> None:
        """Look again and again, every so many seconds, which hosts run."""
        while True:
            await anyio.sleep(every)
            await self.look()

    async def look(self) -> None:
        """Look which hosts run, and go to the one that is meant."""
        async with self._look_lock:
            try:
                hosts = await run_sync(self._running)
            except (OSError, StartError):
                hosts = []  # its folder is gone, or cannot be read in this moment
            chosen = self._choice.look(hosts)
            for upstream in list(self._upstreams.values()):
                if not self._is_there(upstream.host):
                    upstream.lose()
            await self._go(chosen)

    async def use(self, host: Instance) -> None:
        """Go to a host that was chosen."""
        async with self._look_lock:
            await self._go(host)

    async def _go(self, host: Instance | None) -> None:
        before, self._host = self._host, host
        upstream = self._upstreams.get(host.id) if host is not None else None
        if host is not None and upstream is None:
            self._connect(host)
        elif host is not None and upstream is not None:
            upstream.host = host
        if (before.id if before else None) == (host.id if host else None):
            return
        if upstream is not None:
            self._client.repeat(upstream)
        if before is not None and before.id in self._upstreams:
            self._leave(self._upstreams[before.id])
        await self._announce_change()

    def _connect(self, host: Instance) -> None:
        """Have a connection to hear of changes from, if the client may hear of them."""
        is_too_early = self._retry_at.get(host.id, 0.0) > anyio.current_time()
        hears = self._client.hello is not None or self._client.listening
        if hears and not (is_too_early or self._is_closed):
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
        """Give the connection to a host, opened if need be."""
        upstream = self._upstreams.get(host.id)
        if upstream is None or upstream.is_over:
            upstream = self._upstreams[host.id] = Upstream(host, self._client.hello)
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
            self._retry_at[host.id] = anyio.current_time() + _RETRY_AFTER
        for notice in self._requests.abandon(upstream, f"{describe(host)} went away."):
            await self._say(notice)
        while upstream.in_flight:
            _, request = upstream.in_flight.popitem()
            await self._say(failure(request, self._lost(upstream, request)))

    async def _is_running(self, host: Instance) -> bool:
        with suppress(OSError, StartError):
            return host.secret in [other.secret for other in await run_sync(self._running)]
        return False

    def _lost(self, upstream: Upstream, request: types.JSONRPCRequest) -> str:
        is_task = request.method in TASK_METHODS  # its call began before this request
        what = "the task" if is_task else (request.params or {}).get("name", request.method)
        if request.id in upstream.unsent and not is_task:
            return f"{describe(upstream.host)} went away before {what} was sent: nothing was done."
        return (
            f"{describe(upstream.host)} went away in the middle of {what}. Whether it was done, in "
            "part or as a whole, is not known: look at the scene before you try again."
        )

    def close(self) -> None:
        """End what its client left at a question, then all connections; open no other one."""
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
