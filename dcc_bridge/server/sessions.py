"""What was sent to the sessions of legacy clients, for one that comes back. Worker."""

from __future__ import annotations

import time
from collections import Counter, deque
from contextvars import ContextVar
from typing import Final
from weakref import WeakValueDictionary

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter
from starlette.datastructures import Headers
from starlette.types import Message, Send

# Milliseconds until a legacy client that lost its stream comes back; `service.SESSION_GRACE_S` is
# longer.
COME_BACK: Final = 1000
_PRIMED: Final = "2025-11-25"  # the first revision in which a stream begins with an empty event
_STREAM: Final = [
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"content-type", b"text/event-stream"),
]
MOST_EVENTS: Final = 256  # of a session, for a client that comes back
MOST_BYTES: Final = 8 * 2**20  # of them
MOST_OF_ALL: Final = 64 * 2**20  # of all sessions


class SessionEvents:
    """The last events of one session."""

    def __init__(self, label: str = "") -> None:
        self.label = label  # its client's
        self.size = 0  # the bytes of all of them
        self.used = time.monotonic()  # when its client was last heard of; monotonic seconds
        self._count = 0
        self._events: deque[tuple[int, str, bytes]] = deque()

    def add(self, stream: str, sent: bytes) -> str:
        """Keep an event, dropping the oldest where there are too many; gives its id."""
        self._count += 1
        self.size += len(sent)
        self._events.append((self._count, stream, sent))
        while len(self._events) > MOST_EVENTS or self.size > MOST_BYTES:
            self.drop_oldest()
        return str(self._count)

    def drop_oldest(self) -> None:
        """Forget the oldest event."""
        self.size -= len(self._events.popleft()[2])

    def after(self, number: int) -> tuple[str | None, list[EventMessage]]:
        """Give the stream that an event was on, and what was sent there since."""
        stream = next((on for count, on, *_ in self._events if count == number), None)
        return stream, [
            EventMessage(jsonrpc_message_adapter.validate_json(sent), str(count))
            for count, on, sent in self._events
            if on == stream and count > number and sent
        ]


_current: ContextVar[SessionEvents | None] = ContextVar("dcc_bridge_session_events", default=None)


class ReplayStore(EventStore):
    """What was sent to legacy sessions, for a client that lost its stream and comes back.

    The SDK has one store for all sessions, and its stream ids are the requests' own numbers, which
    are the same in every session. So each session has `SessionEvents` of its own, in the context of
    each of its requests: `opening` creates them for the request that opens a session, whose tasks
    inherit them, and `enter` finds them again. They live as long as the session's tasks.

    What was sent is kept as the text that it is on the wire: so its bytes are counted.
    """

    def __init__(self, most_bytes: int = MOST_OF_ALL) -> None:
        self._most_bytes = most_bytes  # of all; then the client with the most loses its oldest
        self._total = 0  # theirs, or more: a session that has ended is still counted
        self._sessions: WeakValueDictionary[str, SessionEvents] = WeakValueDictionary()

    def opening(self, label: str, send: Send) -> Send:
        """Create the events of a session that a request may open; the response has its id."""
        events = SessionEvents(label)
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
        self.note_use(session)

    def note_use(self, session: str) -> None:
        """Note that a session's client was heard of just now."""
        if (events := self._sessions.get(session)) is not None:
            events.used = time.monotonic()

    def sessions(self, label: str) -> list[str]:
        """List the sessions of a client, the one that was silent the longest first."""
        own = [(it.used, name) for name, it in self._sessions.items() if it.label == label]
        return [name for _, name in sorted(own)]

    def forget(self, session: str) -> None:
        """Forget a session that was ended, and its events: some timer may hold them still."""
        events = self._sessions.pop(session, None)
        while events is not None and events.size:
            events.drop_oldest()

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Keep what is sent on a stream of the current session."""
        text = message.model_dump_json(by_alias=True, exclude_unset=True) if message else ""
        return self.keep(stream_id, text.encode())

    def keep(self, stream_id: str, sent: bytes = b"") -> str:
        """Keep the same as it is on the wire, nothing where a number is all that is sent."""
        events = _current.get()
        if events is None:
            return ""
        before = events.size
        event = events.add(stream_id, sent)
        self._total += events.size - before
        while self._total > self._most_bytes:
            self._total = sum(it.size for it in self._sessions.values())
            if self._total > self._most_bytes:
                self._greediest().drop_oldest()
        return event

    async def send_result(self, id_: str, sent: bytes, session: str, era: str, send: Send) -> None:
        """Send a result as the SDK does, in a stream of its own, and keep it."""
        headers = [*_STREAM, (b"mcp-session-id", session.encode()), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        first = f"id: {self.keep(id_)}\r\ndata: \r\nretry: {COME_BACK}" if era >= _PRIMED else ""
        event = f"id: {self.keep(id_, sent)}\r\nevent: message\r\ndata: {sent.decode()}"
        for part in filter(None, (first, event)):
            body = f"{part}\r\n\r\n".encode()
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body"})

    def _greediest(self) -> SessionEvents:
        """Find the largest session of the client whose sessions are the largest together."""
        of_client: Counter[str] = Counter()
        for events in self._sessions.values():
            of_client[events.label] += events.size
        return max(self._sessions.values(), key=lambda it: (of_client[it.label], it.size))

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
