"""What was sent to a legacy session, for a client that lost its stream and comes back. Worker.

The SDK has one store for all sessions, and its stream ids are the requests' own numbers, which are
the same in every session. So each session has `SessionEvents` of its own, in the context of each of
its requests: `ReplayStore.opening` creates them for the request that opens a session, whose tasks
inherit them, and `ReplayStore.enter` finds them again. They live as long as the session's tasks.
"""

from __future__ import annotations

from collections import deque
from contextvars import ContextVar
from typing import Final
from weakref import WeakValueDictionary

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage
from starlette.datastructures import Headers
from starlette.types import Message, Send

MOST_EVENTS: Final = 256
MOST_BYTES: Final = 8 * 2**20


class SessionEvents:
    """The last events of one session."""

    def __init__(self) -> None:
        self._count = 0
        self._bytes = 0
        self._events: deque[tuple[int, str, JSONRPCMessage | None, int]] = deque()

    def add(self, stream: str, message: JSONRPCMessage | None) -> str:
        """Keep an event, dropping the oldest where there are too many; gives its id."""
        self._count += 1
        size = len(message.model_dump_json(by_alias=True)) if message is not None else 0
        self._bytes += size
        self._events.append((self._count, stream, message, size))
        while len(self._events) > MOST_EVENTS or self._bytes > MOST_BYTES:
            self._bytes -= self._events.popleft()[3]
        return str(self._count)

    def after(self, number: int) -> tuple[str | None, list[EventMessage]]:
        """Give the stream that an event was on, and what was sent there since."""
        stream = next((on for count, on, *_ in self._events if count == number), None)
        since = [
            EventMessage(message, str(count))
            for count, on, message, _ in self._events
            if on == stream and count > number and message is not None
        ]
        return stream, since


_current: ContextVar[SessionEvents | None] = ContextVar("dcc_bridge_session_events", default=None)


class ReplayStore(EventStore):
    """The events of all sessions, as the SDK wants them."""

    def __init__(self) -> None:
        self._sessions: WeakValueDictionary[str, SessionEvents] = WeakValueDictionary()

    def opening(self, send: Send) -> Send:
        """Create the events of a session that a request may open, and note whose they are.

        Args:
            send: Where the response goes; the session's id is read on the way.
        """
        events = SessionEvents()
        _current.set(events)

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                session = Headers(raw=message["headers"]).get("mcp-session-id")
                if session is not None:
                    self._sessions[session] = events
            await send(message)

        return noting

    def enter(self, session: str) -> None:
        """Find the events of the session that a request belongs to."""
        _current.set(self._sessions.get(session))

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep what is sent on a stream of the current session."""
        events = _current.get()
        return events.add(stream_id, message) if events is not None else ""

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Send again what followed an event on its stream."""
        events = _current.get()
        if events is None or not last_event_id.isdecimal():
            return None
        stream, since = events.after(int(last_event_id))
        for message in since:
            await send_callback(message)
        return stream
