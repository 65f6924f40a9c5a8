"""Both ways to answer a plain call, the short one and the SDK's, send the same bytes."""

from __future__ import annotations

import gc
import json
import logging
import math
import random
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Annotated, Any
from unittest.mock import patch
from urllib.parse import urlsplit

import anyio
import pytest
from mcp_types import CallToolResult
from pydantic import BaseModel, BeforeValidator
from starlette.responses import PlainTextResponse

from dcc_bridge import elicit_form_sync, report_progress, skill
from dcc_bridge.elicitation.types import LIMIT as LIMIT_LEFT
from dcc_bridge.server import fast_path, service
from dcc_bridge.server.fast_path import FastPath
from dcc_bridge.server.mcp_server import Server
from dcc_bridge.server.parked_calls import ParkedCall, ParkedCalls
from dcc_bridge.server.protocol import MODERN
from tests.bench.agent import FORM, envelope, is_whole
from tests.live import ERAS, LIMIT, Live, live, status

_QUICK, _WHOLE = 20, 10_000
_STATE = re.compile(rb'"requestState":"([^"]+)"')
# The chunk with an event of a legacy stream begins with its length and the event's number, which
# are other ones the second time.
_NUMBER = re.compile(rb"[0-9a-f]+\r\nid: [0-9]+(?=\r\n)")
_META = "io.modelcontextprotocol/"
_NO_HTTP = b"Invalid HTTP request"


class Camera(BaseModel):
    name: str
    focal: float | None = None


def _fussy(value: Any) -> Any:
    return {"a": 1}[value]


@skill(risk="read")
def ping() -> str:
    return "pöng \ud800"


@skill(risk="read")
def echo(value: Any = None) -> Any:
    return value


@skill(risk="read")
def typed(name: str, count: int = 1, camera: Camera | None = None) -> list[Camera | None]:
    return [camera, Camera(name=name)] * count


class Box(BaseModel):
    """What JSON has no number for."""

    size: float
    sizes: list[float]


@skill(risk="read")
def boundless() -> Box:
    return Box(size=float("nan"), sizes=[1.0, float("inf")])


@skill(risk="read")
def picture() -> bytes:
    return b"\x89PNG\r\n\x1a\n"


@skill(risk="read")
def mixed() -> dict[str, Any]:
    return {"none": None, "nan": float("nan"), "deep": [{"none": None, "large": 2**70}]}


@skill(risk="read")
def fails(how: str = "") -> None:
    raise ValueError(how)


@skill(risk="read")
def fussy(value: Annotated[str, BeforeValidator(_fussy)] = "a") -> str:
    return value


@skill(risk="read", thread="any")
def beside(text: str = "") -> str:
    return text


@skill(risk="read")
async def later() -> int:
    return 1


@skill(risk="edit")
def edits(value: float = 0.5) -> float:
    return value


SKILLS = (ping, echo, typed, boundless, picture, mixed, fails, fussy, beside, later, edits)


class BothWays:
    """A bridge, and what goes to it twice: as it is, and with the short way barred."""

    def __init__(self, running: Live, era: str = MODERN) -> None:
        self.running = running
        self.era = era
        self._session = ""  # of a legacy client
        self.state = ""  # of the last question
        self.short = 0  # answers that went the short way
        self._address = urlsplit(running.bridge.url)
        self._token = running.bridge.instance.token("test")
        self._sockets: dict[bool, socket.socket] = {}

    def request(self, body: bytes, **headers: str | None) -> bytes:
        """Make a plain request, with other headers besides or instead; None leaves one out."""
        name = headers.pop("name", "ping")
        every: dict[str, str | None] = {
            "Host": self._address.netloc,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self._token}",
            "MCP-Protocol-Version": self.era,
            "Mcp-Method": "tools/call" if self.era == MODERN else None,
            "Mcp-Name": name if self.era == MODERN else None,
            "Mcp-Session-Id": self._session or None,
            "Content-Length": str(len(body)),
            **headers,
        }
        lines = [f"{name}: {value}" for name, value in every.items() if value is not None]
        return "\r\n".join(["POST /mcp HTTP/1.1", *lines, "", ""]).encode("latin-1") + body

    def shake_hands(self) -> None:
        info = {"name": "test", "version": "1"}
        params = {"protocolVersion": self.era, "capabilities": {}, "clientInfo": info}
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        answer = self._answer(self.request(json.dumps(hello).encode()), True)
        self._session = re.findall(rb"mcp-session-id: (\w+)", answer)[0].decode()
        begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self._answer(self.request(json.dumps(begun).encode()), True)

    def answers(self, request: bytes) -> tuple[bytes, bytes]:
        """Give what each way answers."""
        short = self._answer(request, True)
        with patch.object(Server, "fetch_plain", lambda self, name: None):
            return short, self._answer(request, False)

    def _answer(self, request: bytes, short: bool) -> bytes:
        connection = self._sockets.pop(short, None) or self._connect()
        answer = b""
        with suppress(ConnectionError):  # what is no HTTP ends before anybody looks at it
            connection.sendall(request)
            while not is_whole(answer):
                part = connection.recv(65536)
                if not part:
                    break
                answer += part
        if is_whole(answer) and b"connection: close" not in answer.lower():
            self._sockets[short] = connection
        else:
            connection.close()
        if state := _STATE.search(answer):
            self.state = state[1].decode()
        return b"" if _NO_HTTP in answer else _NUMBER.sub(b"", _STATE.sub(b"", answer))

    def call(self, tool: str, more: dict[str, Any] | None = None) -> tuple[bytes, bytes]:
        """Call a tool without arguments, and give what each way answers."""
        message = _call(tool)
        message["params"] |= more or {}
        request = self.request(json.dumps(message).encode(), name=tool)
        return self.running.beside(lambda: self.answers(request))

    def send(self, request: bytes) -> None:
        """Send a request, and wait for nothing."""
        self._sockets[True] = self._connect()
        self._sockets[True].sendall(request)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Have other connections for as long as the block lasts, then hang up."""
        kept, self._sockets = self._sockets, {}
        yield
        self.close()
        self._sockets = kept

    def close(self) -> None:
        for connection in self._sockets.values():
            connection.close()

    def _connect(self) -> socket.socket:
        place = self._address.hostname, self._address.port
        return socket.create_connection(place, LIMIT)


@contextmanager
def _both(
    tmp_path: Path, *fns: Callable[..., Any], era: str = MODERN, **more: Any
) -> Iterator[BothWays]:
    with live(tmp_path, *fns, **more) as running:
        both = BothWays(running, era)
        if era != MODERN:
            running.beside(both.shake_hands)
        answer = FastPath._serialized

        def count(self: FastPath, *args: Any) -> bytes | None:
            both.short += 1
            return answer(self, *args)

        with patch.object(FastPath, "_serialized", count), closing(both):
            yield both


def _call(tool: str = "ping", arguments: Any = None, **more: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments or {}, "_meta": envelope()}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params, **more}


_LEGACY_CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ping"}}

# ---- generated requests

_VALUES: list[Any] = [None, True, 0, -1, 1.5, 2**53, 2**64, 10**400, "", "1", "a", "ä", "\ud800"]
_VALUES += [[], {}, [None], {"a": None}, {"name": "x"}, {"name": "x", "focal": "2"}, "x" * 70_000]
_VALUES += ["[1]", '{"name": "x"}', float("nan"), float("inf"), [[[[1]]]], {"ä": {"b": [1]}}]
_KEYS = ["jsonrpc", "id", "method", "params", "result", "x"]
_PARAMS = ["name", "arguments", "_meta", "requestState", "inputResponses", "task", "x"]
_METAS = [*envelope(), f"{_META}logLevel", "progressToken", "traceparent", "x"]
_HEADERS = (
    *("Accept", "Content-Type", "Mcp-Method", "Mcp-Name", "MCP-Protocol-Version"),
    *("Mcp-Param-Value", "Mcp-X", "Content-Encoding"),
)
_TEXTS = [
    *("", "ping", "Ping", "tools/call", "tools/list", "2026-07-28", "2025-11-25", "1999-01-01"),
    *("=?base64?cGluZw==?=", "application/json", "application/json; charset=utf-8", "*/*", "gzip"),
    *("text/event-stream, application/json", "text/event-stream", "application/*, text/*", "0"),
    *("APPLICATION/JSON", "  ping  ", "identity", "keep-alive", "http://evil.example", "p\xf6ng"),
]


def _generated(chance: random.Random, both: BothWays) -> bytes:
    """Make a request that is plain, or has some things in it that are not."""
    tool = chance.choice([*(fn.__name__ for fn in SKILLS), "missing", "host_status"])
    names = ["value", "name", "count", "camera", "how", "text", "x"]
    arguments = {key: chance.choice(_VALUES) for key in chance.sample(names, chance.randrange(3))}
    message: Any = _call(tool, arguments, id=chance.choice([1, "a", chance.choice(_VALUES)]))
    if both.era != MODERN:
        message["params"]["_meta"] = chance.choice([{}, {"progressToken": 7}, {"x": "y"}])
    for _ in range(chance.choice([0, 0, 1, 1, 2, 3])):
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        values, keys = chance.choice([(message, _KEYS), (params, _PARAMS), (meta, _METAS)])
        if isinstance(values, dict):
            _mutate(chance, values, keys)
    return both.request(_written(chance, message), name=tool)


def _with_each_header(both: BothWays) -> Iterator[bytes]:
    """Make plain requests in each of which one header is another one, or there twice."""
    body = json.dumps(_call("ping") if both.era == MODERN else _LEGACY_CALL).encode()
    for name in _HEADERS:
        # a handshake of the legacy era opens a session, and there are not many
        modern = ("1999-01-01", "2026-07-28", " 2026-07-28 ")
        for text in modern if name == "MCP-Protocol-Version" else (None, *_TEXTS):
            yield both.request(body, **{name: text})
            first, rest = both.request(body).split(b"\r\n", 1)
            yield first + f"\r\n{name}: {text}\r\n".encode("latin-1") + rest


def _mutate(chance: random.Random, values: dict[str, Any], keys: list[str]) -> None:
    key = chance.choice(keys)
    if chance.random() < 0.3:
        values.pop(key, None)
    else:
        values[key] = chance.choice([*_VALUES, "tools/call", "2026-07-28", values.get("name")])


def _written(chance: random.Random, message: Any) -> bytes:
    text = json.dumps(message, ensure_ascii=chance.random() < 0.8)
    how = chance.randrange(40)
    if how == 0:
        return json.dumps([message]).encode()
    if how == 1:
        return text[: chance.randrange(len(text))].encode("utf-8", "replace")
    if how == 2:
        return text.replace("{", '{"id": 7, "name": "ping", ', 1).encode("utf-8", "replace")
    if how == 3:
        return text.encode("utf-16", "surrogatepass")
    if how == 4:
        return b"\xef\xbb\xbf" + text.encode("utf-8", "replace")
    if how == 5:
        return text.replace("1", "[" * chance.choice([50, 900, 5000]), 1).encode("utf-8", "replace")
    if how == 6:
        return f" \r\n{text}\n ".encode("utf-8", "replace")
    return text.encode("utf-8", "surrogatepass")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("many", [_QUICK, pytest.param(_WHOLE, marks=pytest.mark.long)])
def test_generated_requests_get_the_same_bytes_on_both_ways(
    many: int, era: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    # a traceback with half a character in it cannot be sent to xdist's controller
    caplog.set_level(logging.CRITICAL, "dcc_bridge")
    chance = random.Random(many)

    with _both(tmp_path, *SKILLS, era=era) as both:

        def compare() -> list[tuple[bytes, bytes, bytes]]:
            generated = (_generated(chance, both) for _ in range(many))
            requests = chain(_with_each_header(both), generated)
            every = ((request, *both.answers(request)) for request in requests)
            return [it for it in every if it[1] != it[2]]

        differ = both.running.beside(compare, 1200)

    assert both.short > many / 5
    assert differ == []


# ---- what is not answered soon


def test_what_is_no_number_is_null_on_both_ways(tmp_path: Path) -> None:
    with _both(tmp_path, boundless) as both:
        body = json.dumps(_call("boundless")).encode()
        request = both.request(body, **{"Mcp-Name": "boundless"})
        short, whole = both.running.beside(lambda: both.answers(request), 60)

    assert b'"structuredContent":{"size":null,"sizes":[1.0,null]}' in short
    assert short == whole


def test_a_call_that_asks_is_asked_and_answered_as_on_the_sdks_way(tmp_path: Path) -> None:
    @skill(risk="read")
    def ask() -> str:
        return str(elicit_form_sync("Sure?", FORM, key="answer").data)

    with _both(tmp_path, ask) as both:
        asked, asked_by_sdk = both.call("ask")
        yes = {"answer": {"action": "accept", "content": {"sure": True}}}
        more = {"inputResponses": yes, "requestState": both.state}
        answered, _ = both.call("ask", more=more)

    assert both.short == 0
    bodies = [answer.partition(b"\r\n\r\n")[2] for answer in (asked, asked_by_sdk)]
    left = f'"{LIMIT_LEFT}":[0-9.]+'.encode()  # seconds, fewer with each moment
    assert re.sub(left, b"", bodies[0]) == re.sub(left, b"", bodies[1])
    assert b'"inputRequests"' in bodies[0]
    assert b"{'sure': True}" in answered


def test_a_call_that_lasts_is_handed_to_the_sdk_as_it_stands(tmp_path: Path) -> None:
    handed = threading.Event()
    runs: list[str] = []
    begin = ParkedCalls.begin

    async def note(self: ParkedCalls, *args: Any) -> Any:
        handed.set()
        return await begin(self, *args)

    @skill(risk="read", thread="any")
    def last() -> str:
        runs.append("last")
        assert handed.wait(LIMIT)
        return "over"

    soon = patch.object(fast_path, "FAST_PATH_S", 0.02)
    begins = patch.object(ParkedCalls, "begin", note)
    with _both(tmp_path, last) as both, soon, begins:
        short, by_sdk = both.call("last")

    assert short == by_sdk
    assert b'"over"' in short
    assert runs == ["last", "last"]


def test_progress_goes_to_whoever_wants_it(tmp_path: Path) -> None:
    @skill(risk="read")
    def counts() -> int:
        report_progress(1, 2, "half")
        return 2

    with _both(tmp_path, counts) as both:
        meta = {"_meta": {**envelope(), "progressToken": 7}}
        short, by_sdk = both.call("counts", more=meta)
        quiet, quiet_by_sdk = both.call("counts")

    assert short == by_sdk
    assert b'"progressToken":7' in short
    assert quiet == quiet_by_sdk


def waiting() -> tuple[Callable[..., Any], threading.Event, threading.Event]:
    """Make a skill that waits for ever; gives what is set when it began, and when it ended."""
    began, ended = threading.Event(), threading.Event()

    @skill(risk="read")
    async def wait() -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    return wait, began, ended


def test_a_client_that_leaves_ends_its_call_at_once(tmp_path: Path) -> None:
    wait, began, ended = waiting()

    with _both(tmp_path, wait) as both, patch.object(fast_path, "FAST_PATH_S", 600.0):
        both.send(both.request(json.dumps(_call("wait")).encode(), name="wait"))
        both.running.until(began.is_set)
        both.close()
        both.running.until(ended.is_set)
        both.running.until(lambda: both.running.bridge.recent.records()[0].ended is not None)

    assert ended.is_set()


def test_a_connection_that_rests_holds_nothing_of_its_last_call(tmp_path: Path) -> None:
    def held() -> list[object]:
        gc.collect()
        every = [it for it in gc.get_objects() if isinstance(it, ParkedCall | CallToolResult)]
        return [it for it in every if isinstance(it, ParkedCall) or "unique" in str(it.content)]

    with _both(tmp_path, echo) as both:
        before = held()
        answers = both.call("echo", {"arguments": {"value": "unique"}})
        both.running.until(lambda: both.running.bridge._server.calls.open == 0)
        after = held()

    assert all(b"unique" in answer for answer in answers)
    assert both.short == 1
    assert len(after) == len(before)


def test_a_call_that_the_sdk_is_handed_and_does_not_serve_is_ended(tmp_path: Path) -> None:
    wait, _, ended = waiting()
    refuse = PlainTextResponse("refused", 400)
    barred = patch.object(
        service, "FastPath", lambda server, sdk, events: FastPath(server, refuse, events)
    )
    with barred, _both(tmp_path, wait) as both, patch.object(fast_path, "FAST_PATH_S", 0.02):
        both.send(both.request(json.dumps(_call("wait")).encode(), name="wait"))
        both.running.until(ended.is_set)

    assert ended.is_set()


def test_a_head_whose_body_does_not_come_has_no_skill_imported(tmp_path: Path) -> None:
    fetched: list[str] = []
    fetch = Server.fetch_plain

    def note(self: Server, name: str) -> Any:
        fetched.append(name)
        return fetch(self, name)

    with _both(tmp_path, ping) as both, patch.object(Server, "fetch_plain", note):
        whole = both.request(json.dumps(_call()).encode())
        both.send(whole[: whole.index(b"\r\n\r\n") + 4])
        with both.aside():
            both.call("typed", {"arguments": {"name": "x"}})

    assert fetched == ["typed"]


def test_a_plug_in_that_looks_at_messages_sees_each_call(tmp_path: Path) -> None:
    seen: list[str] = []

    async def note(ctx: Any, call_next: Any) -> Any:
        seen.append(ctx.method)
        return await call_next(ctx)

    with _both(tmp_path, ping, extend=lambda server: server.middleware.append(note)) as both:
        both.call("ping")

    assert seen == ["tools/call", "tools/call"]
    assert both.short == 0


def test_a_type_that_fails_in_its_own_way_is_a_call_that_never_began(tmp_path: Path) -> None:
    with live(tmp_path, fussy) as running:
        result = running.call("fussy", {"value": "b"})

    assert result.is_error
    assert status(result) == "not_started"


@pytest.mark.parametrize(("held", "others", "turns"), [(0.0, 1, 4), (math.inf, 1, 0), (0.0, 0, 0)])
def test_a_worker_that_has_much_to_do_lets_the_main_thread_have_its_turns(
    held: float, others: int, turns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    had: list[str] = []
    wait, began, _ = waiting()
    sleep = time.sleep

    def note(seconds: float) -> None:
        if seconds == 0 and threading.current_thread().name == "dcc_bridge worker":
            had.append("a turn")
        sleep(seconds)

    monkeypatch.setattr(time, "sleep", note)
    monkeypatch.setattr(fast_path, "_TURN_S", held)

    with _both(tmp_path, ping, wait) as both:
        if others:
            both.send(both.request(json.dumps(_call("wait")).encode(), name="wait"))
            both.running.until(began.is_set)
            with both.aside():
                both.call("ping")
                both.call("ping")
        else:  # of one request nothing else can be left
            request = both.request(json.dumps(_call()).encode())
            both.running.beside(lambda: both._answer(request, True))

    assert len(had) == turns
