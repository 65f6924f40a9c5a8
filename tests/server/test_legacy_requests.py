"""Requests of legacy sessions that the SDK would run and not answer, or answer unreadably."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from anyio import to_thread
from mcp_types import INVALID_REQUEST

from dcc_bridge import skill
from tests.live import Live, live
from tests.threats.raw import Headers, Raw, Response

VERSION = "2025-11-25"


class Session:
    """A legacy session with a bridge whose one skill goes on until it may end."""

    def __init__(self, running: Live, may_end: threading.Event, ran: list[int]) -> None:
        self.running = running
        self.may_end = may_end
        self.ran = ran
        self.raw = Raw.to(running)
        self.headers: Headers = {"MCP-Protocol-Version": VERSION}
        about = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {}}
        about["clientInfo"] = {"name": "raw", "version": "1"}
        answer = self.send(body("initialize", 0, about))
        fields = dict(line.partition(": ")[::2] for line in answer.head.lower().splitlines())
        self.headers = {**self.headers, "Mcp-Session-Id": fields["mcp-session-id"]}

    def send(self, message: bytes) -> Response:
        """Send a message, and wait for the answer."""
        return self.running.beside(lambda: self.raw.send(message, self.headers))

    async def _send_apart(self, message: bytes) -> Response:
        return await to_thread.run_sync(self.raw.send, message, self.headers)

    def call(self, request_id: int | str) -> Callable[[], Response]:
        """Let a call begin; gives what waits for its answer."""
        ran = len(self.ran)
        message = body("tools/call", request_id, {"name": "wait"})
        answer = self.running.go(self._send_apart, message)
        self.running.until(lambda: len(self.ran) > ran)
        return lambda: self.running.beside(answer.result)


def body(method: object, request_id: object, params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
    return json.dumps(message).encode()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    may_end = threading.Event()
    ran: list[int] = []

    @skill(risk="read", thread="any")
    def wait() -> str:
        ran.append(1)
        may_end.wait()
        return "done"

    with live(tmp_path, wait) as running:
        yield Session(running, may_end, ran)
        may_end.set()


def test_of_calls_with_one_id_at_once_the_first_runs_and_the_others_are_refused(
    session: Session,
) -> None:
    """A number and the same digits as a text are one id to the SDK's streams."""
    first = session.call(9)

    others = [session.send(body("tools/call", it, {"name": "wait"})) for it in (9, 9, "9")]
    session.may_end.set()

    assert [it.status for it in others] == [400] * 3
    assert [it.message["id"] for it in others] == [9, 9, "9"]
    assert {it.message["error"]["code"] for it in others} == {INVALID_REQUEST}
    assert "A request with the id 9 is still running." in others[0].message["error"]["message"]
    assert first().message["result"]["content"][0]["text"] == "done"
    assert len(session.ran) == 1


def test_an_id_is_free_again_once_its_request_is_answered(session: Session) -> None:
    session.may_end.set()
    session.call(9)()

    again = session.call(9)()

    assert again.message["result"]["content"][0]["text"] == "done"


def test_an_id_stays_taken_while_its_call_goes_on_without_a_stream(session: Session) -> None:
    message = body("tools/call", 9, {"name": "wait"})
    with session.raw.open() as sock:
        sock.sendall(session.raw.head(len(message), session.headers) + message)
        session.running.until(lambda: bool(session.ran))
    open_requests = session.running.bridge._server.open_requests
    session.running.until(lambda: open_requests() == 0)

    again = session.send(message)

    assert again.message["error"]["code"] == INVALID_REQUEST
    assert len(session.ran) == 1


@pytest.mark.parametrize(
    ("message", "request_id", "why"),
    [
        (b"[]", None, "A message must be one JSON object."),
        (b'{"id": 7, "method": "ping"}', 7, 'A message must have the member "jsonrpc"'),
        (body(5, 7, {}), 7, "The method of a request must be a string."),
        (body("ping", "a", []), "a", "The params of a request must be a JSON object."),
        (body("ping", None, {}), None, "must be a string or an integer, not null."),
        (body("ping", 1.5, {}), None, "must be a string or an integer, not 1.5."),
        (body("ping", True, {}), None, "must be a string or an integer, not true."),
        (b'{"jsonrpc": "2.0", "id": 7}', 7, "must have a method, a result or an error."),
        (b'{"jsonrpc": "2.0", "id": 7, "result": 1}', None, "The result of a response must be"),
        (b'{"jsonrpc": "2.0", "id": 7, "error": 1}', None, "The error of a response must have"),
        (b'{"jsonrpc": "2.0", "id": null, "result": {}}', None, "The id of a response must be"),
    ],
)
def test_what_is_no_message_is_refused_in_one_sentence_with_its_id_where_it_can_be_read(
    message: bytes, request_id: object, why: str, session: Session
) -> None:
    answer = session.send(message)

    error = answer.message["error"]
    assert (answer.status, answer.message["id"]) == (400, request_id)
    assert error["code"] == INVALID_REQUEST
    assert why in error["message"]
    assert "\n" not in error["message"]
    assert "pydantic" not in error["message"]
