"""Keeps the messages sent to legacy sessions, for clients that lost their stream. Worker.

A *stream* is one HTTP response that carries server-sent events; a *session* has several. An *event*
is a message as it was sent on a stream, with a number that counts within its session. A client that
lost a stream comes back with the number of the last event it got, and is sent the later ones.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from contextvars import ContextVar
from typing import Final, NamedTuple
from weakref import WeakValueDictionary

from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter
from starlette.datastructures import Headers
from starlette.types import Message, Send

RETRY_MS: Final = 1000
"""Milliseconds until a legacy client that lost its stream comes back.

`service.SESSION_GRACE_S` is longer.
"""
_PRIMED_ERA: Final = "2025-11-25"
"""The first revision in which a stream begins with an empty event."""
_STREAM_HEADERS: Final = [
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"content-type", b"text/event-stream"),
]
MAX_EVENTS: Final = 256
"""Events of one session that are kept."""
MAX_SESSION_BYTES: Final = 8 * 2**20
"""Bytes of the events of one session."""
MAX_TOTAL_BYTES: Final = 64 * 2**20
"""Bytes of the events of all sessions."""


class _Event(NamedTuple):
    """A message as it was sent on a stream; `sent` is empty if only a number was sent."""

    number: int
    stream: str
    sent: bytes


class SessionEvents:
    """The last events of one session.

    Attributes:
        label: The label of the session's client.
        size: The total bytes of the stored events.
        used: The time of the client's last request, in monotonic seconds.
    """

    def __init__(self, label: str = "") -> None:
        self.label = label
        self.size = 0
        self.used = time.monotonic()
        self._count = 0
        self._events: deque[_Event] = deque()

    def add(self, stream: str, sent: bytes) -> str:
        """Store an event, drop the oldest if there are too many, and return the event's id."""
        self._count += 1
        self.size += len(sent)
        self._events.append(_Event(self._count, stream, sent))
        while len(self._events) > MAX_EVENTS or self.size > MAX_SESSION_BYTES:
            self.drop_oldest()
        return str(self._count)

    def drop_oldest(self) -> None:
        """Remove the oldest event."""
        oldest = self._events.popleft()
        self.size -= len(oldest.sent)

    def after(self, number: int) -> tuple[str | None, list[EventMessage]]:
        """Return the stream of an event, and the messages sent on that stream after the event.

        Args:
            number: The event's id.

        Returns:
            The stream and the messages; (None, []) if the event is not stored any more.
        """
        stream = None
        messages = []
        for event in self._events:
            if event.number == number:
                stream = event.stream
            elif stream is not None and event.stream == stream and event.sent:
                message = jsonrpc_message_adapter.validate_json(event.sent)
                messages.append(EventMessage(message, str(event.number)))
        return stream, messages


# The events of the session to which the request of this context belongs.
_current: ContextVar[SessionEvents | None] = ContextVar("dcc_bridge_session_events", default=None)


class ReplayStore(EventStore):
    """The events sent to legacy sessions, for a client that lost its stream and comes back.

    The SDK has one store for all sessions, and its stream ids are request ids, which are equal in
    different sessions. So each session has its own `SessionEvents`, as a context variable of its
    requests: `opening` creates them for the request that opens a session, whose tasks inherit them,
    and `enter` finds them again. They live as long as the session's tasks.

    Events are stored as serialized text, so that their bytes can be counted.

    Args:
        max_bytes: The bytes that the events of all sessions may have together. Above it the client
            with the most bytes loses the oldest events of its largest session.
    """

    def __init__(self, max_bytes: int = MAX_TOTAL_BYTES) -> None:
        self._max_bytes = max_bytes
        self._total = 0  # an upper bound: a session that has ended is still counted
        self._sessions: WeakValueDictionary[str, SessionEvents] = WeakValueDictionary()

    def opening(self, label: str, send: Send) -> Send:
        """Create the events of a session that a request may open, and make them current.

        Args:
            label: The label of the request's client.
            send: Sends the response.

        Returns:
            A function to use in place of `send`. It also reads the session's id in the response's
            headers, by which `enter` finds the events.
        """
        events = SessionEvents(label)
        _current.set(events)

        async def send_and_note(message: Message) -> None:
            if message["type"] == "http.response.start":
                session = Headers(raw=message["headers"]).get("mcp-session-id")
                if session is not None:
                    self._sessions[session] = events
            await send(message)

        return send_and_note

    def enter(self, session: str) -> None:
        """Make the events of a request's session current; none if the session is not known."""
        _current.set(self._sessions.get(session))
        self.note_use(session)

    def note_use(self, session: str) -> None:
        """Set the time of the last request of a session's client to now."""
        events = self._sessions.get(session)
        if events is not None:
            events.used = time.monotonic()

    def sessions(self, label: str) -> list[str]:
        """List the ids of a client's sessions, the one that was silent the longest first."""
        own = []
        for session, events in self._sessions.items():
            if events.label == label:
                own.append((events.used, session))
        return [session for _, session in sorted(own)]

    def forget(self, session: str) -> None:
        """Remove a session that has ended, with its events.

        The events are dropped one by one, because a timer may still hold the `SessionEvents`.
        """
        events = self._sessions.pop(session, None)
        while events is not None and events.size:
            events.drop_oldest()

    async def store_event(self, stream_id: str, message: JSONRPCMessage | None) -> str:
        """Store a message that the SDK sends on a stream of the current session; return its id."""
        text = ""
        if message:
            text = message.model_dump_json(by_alias=True, exclude_unset=True)
        return self.keep(stream_id, text.encode())

    def keep(self, stream_id: str, sent: bytes = b"") -> str:
        """Store an event of the current session as serialized text.

        `_total` also counts ended sessions. So the total is counted anew before an event is dropped
        for being above the limit.

        Args:
            stream_id: The stream on which the event is sent.
            sent: The message; empty if only an id is sent.

        Returns:
            The event's id; "" if the request belongs to no session.
        """
        events = _current.get()
        if events is None:
            return ""
        before = events.size
        event_id = events.add(stream_id, sent)
        self._total += events.size - before
        while self._total > self._max_bytes:
            self._total = sum(other.size for other in self._sessions.values())
            if self._total > self._max_bytes:
                self._largest().drop_oldest()
        return event_id

    async def send_result(
        self, request_id: str, sent: bytes, session: str, era: str, send: Send
    ) -> None:
        """Send a result as the SDK does, in its own stream, and store the events.

        Args:
            request_id: The id of the answered request, which is also the id of the stream.
            sent: The response, serialized.
            session: The id of the session.
            era: The revision of the protocol that the client speaks.
            send: Sends the HTTP response.
        """
        headers = [
            *_STREAM_HEADERS,
            (b"mcp-session-id", session.encode()),
            (b"x-accel-buffering", b"no"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        parts = []
        # From this revision on the stream begins with an empty event. A client that loses the
        # stream before the result can name the id of that event.
        if era >= _PRIMED_ERA:
            parts.append(f"id: {self.keep(request_id)}\r\ndata: \r\nretry: {RETRY_MS}")
        event_id = self.keep(request_id, sent)
        parts.append(f"id: {event_id}\r\nevent: message\r\ndata: {sent.decode()}")
        for part in parts:
            body = f"{part}\r\n\r\n".encode()
            await send({"type": "http.response.body", "body": body, "more_body": True})
        await send({"type": "http.response.body"})

    def _largest(self) -> SessionEvents:
        """Return the largest session of the client with the most bytes in all its sessions."""
        client_size: Counter[str] = Counter()
        for events in self._sessions.values():
            client_size[events.label] += events.size
        return max(
            self._sessions.values(), key=lambda events: (client_size[events.label], events.size)
        )

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Send again the messages that followed an event on its stream."""
        events = _current.get()
        if events is None or not last_event_id.isdecimal():
            return None
        stream, since = events.after(int(last_event_id))
        for message in since:
            await send_callback(message)
        return stream
