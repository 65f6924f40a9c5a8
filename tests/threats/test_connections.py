"""Connections that dawdle or come in floods, and bodies that are too much (rows 8 and 9)."""

from __future__ import annotations

import json
import logging
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from dcc_bridge import skill
from dcc_bridge.server import connections
from dcc_bridge.server.connections import KEEP_ALIVE_S, REQUEST_DEADLINE_S, LimitedConnection
from tests.bench.figures import memory, percentile
from tests.live import LIMIT, Live, live, text
from tests.threats.raw import Headers, Line, Raw, request
from tests.tiers import repeated, sampled

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
HALF = 300
FUZZED = repeated(250, 10_000)


@pytest.fixture(params=connections.PARSERS, ids=lambda parser: parser.__name__, autouse=True)
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold each limit with either parser: where one has no wheel, the other one reads."""
    monkeypatch.setattr(connections, "PARSERS", [request.param])


LISTED, LIST = request("tools/list")  # its headers and its body
CHUNKED: Headers = {"Content-Length": None, "Transfer-Encoding": "chunked"}


@contextmanager
def reached(folder: Path, *fns: Callable[..., Any], **limits: Any) -> Iterator[tuple[Live, Raw]]:
    """Run a bridge with these limits, and give the way to it."""
    with live(folder, *fns, **limits) as running:
        yield running, Raw.to(running)


def lasts(sock: socket.socket, limit: float) -> bool:
    """Whether a connection is still open when the limit has passed."""
    sock.settimeout(max(0.01, limit))
    try:
        while sock.recv(4096):
            pass
    except TimeoutError:
        return True
    except ConnectionError:
        pass
    return False


@pytest.mark.long
@pytest.mark.timeout(120)
@pytest.mark.parametrize("seconds", sampled([1.0], [1.0, REQUEST_DEADLINE_S]))
def test_three_hundred_half_open_connections_are_closed(seconds: float, tmp_path: Path) -> None:
    """All are gone a second after their time, and another client's call is served meanwhile."""
    with live(tmp_path, request_deadline=seconds) as running, ExitStack() as opened:
        raw, slow = Raw.to(running), Raw.to(running, "slow")

        def attack() -> tuple[int, list[float], float]:
            begin, socks = time.monotonic(), list[socket.socket]()
            for number in range(HALF):
                socks.append(opened.enter_context(slow.open()))
                part = slow.head(100)
                socks[-1].sendall(part[: (0, 20, len(part))[number % 3]])  # nothing, half, no body
            times: list[float] = []
            while not times or time.monotonic() < begin + 0.9 * seconds:
                called = time.monotonic()
                assert raw.say("tools/list", {}).status == 200
                times.append(time.monotonic() - called)
            end = begin + seconds + 1.0 + 10.0  # the machine may be busy
            alive = sum(lasts(sock, end - time.monotonic()) for sock in socks)
            return alive, times, time.monotonic() - begin

        alive, times, took = running.beside(attack, limit=60)

    print(f"{HALF} half-open closed after {took:.1f} s; p99 of a call meanwhile", end=" ")
    print(f"{percentile(times, 99) * 1000:.0f} ms over {len(times)} calls")
    assert alive == 0


@pytest.mark.parametrize(("sent", "part"), [(40, "head"), (None, "body"), (0, "")])
def test_a_part_that_does_not_come(sent: int | None, part: str, tmp_path: Path) -> None:
    """Who is too slow is told which part was missing; who sent nothing hears nothing."""
    with reached(tmp_path, request_deadline=0.3) as (_, raw):
        response = raw.write(raw.head(100)[:sent])

    assert response.status == (408 if part else 0)
    if part:
        why = f"The {part} of the request did not come within 0.3 s."
        assert why in response.body.decode()


def test_a_byte_now_and_then_does_not_lengthen_the_time(tmp_path: Path) -> None:
    with reached(tmp_path, request_deadline=0.5) as (_, raw), raw.open() as sock:
        sent = 0
        head = raw.head(100)
        sock.settimeout(0.1)
        for byte in head:
            try:
                sock.send(bytes([byte]))
                sent += 1
                if sock.recv(100):
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break

    assert sent < len(head)


def test_a_second_request_on_a_connection_has_its_time_again(tmp_path: Path) -> None:
    with reached(tmp_path, request_deadline=1.0) as (_, raw), raw.open() as sock:
        line = Line(raw, sock)
        assert line.send(PING, {"Authorization": None}).status == 401
        for _ in range(3):
            assert lasts(sock, 0.6)  # shorter than the deadline, and all together longer
            sock.settimeout(10)
            assert line.send(PING, {"Authorization": None}).status == 401
            assert line.is_open


def test_a_stream_that_lasts_longer_than_a_request_may_take_is_not_cut(tmp_path: Path) -> None:
    @skill(risk="read", thread="any")
    def slow() -> str:
        """Take a while."""
        time.sleep(1.0)
        return "done"

    with live(tmp_path, slow, request_deadline=0.3) as running:
        assert text(running.call("slow")) == "done"


@pytest.mark.parametrize("modern", [True, False])
def test_a_client_that_is_killed_in_mid_request_writes_nothing_into_the_hosts_terminal(
    modern: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    head = LISTED if modern else {}
    with reached(tmp_path) as (running, raw):

        def leave() -> int:
            with raw.open() as sock:
                sock.sendall(raw.head(1000, head) + b'{"jsonrpc"')
            return raw.say("tools/list", {}).status

        assert running.beside(leave) == 200

    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_connection_may_rest_for_longer_than_a_client_keeps_it(tmp_path: Path) -> None:
    """Were it given up after the same seconds at both ends, a request would be lost on the way."""

    @skill(risk="read")
    def look() -> str:
        """Look."""
        return "seen"

    def talk() -> list[str]:
        with Raw.to(running).line() as line:
            before = line.call("look")["result"]["content"][0]["text"]
            time.sleep(0.5)  # more than a head may take
            return [before, line.call("look")["result"]["content"][0]["text"]]

    with live(tmp_path, look, request_deadline=0.2) as running:
        assert running.beside(talk) == ["seen", "seen"]

    assert KEEP_ALIVE_S > 5.0  # what httpx, for one, keeps


@pytest.mark.parametrize("part", ["head", "trailers"])
def test_a_head_or_trailers_without_an_end_are_refused_before_their_time_is_over(
    part: str, tmp_path: Path
) -> None:
    """Nothing else would keep a sender from filling the memory in those seconds."""
    with reached(tmp_path, request_deadline=60.0) as (running, raw):
        whole = raw.head(0, CHUNKED) + b"1\r\n{\r\n0\r\n"
        endless = (whole if part == "trailers" else raw.head(0)[:-2]) + b"X-Long: " + b"a" * 300_000

        assert running.beside(lambda: raw.write(endless)).status in (400, 0)


def test_what_comes_behind_a_body_is_no_header(tmp_path: Path) -> None:
    with reached(tmp_path) as (running, raw):
        other = {**CHUNKED, "Connection": "close", "Authorization": None}
        token = f"Authorization: {raw.own['Authorization']}".encode()
        head = raw.head(0, {**LISTED, **other})
        chunks = b"%x\r\n%b\r\n0\r\n%b\r\n\r\n" % (len(LIST), LIST, token)

        assert running.beside(lambda: raw.write(head + chunks)).status == 401


def test_requests_that_are_sent_ahead_are_answered_in_turn(tmp_path: Path) -> None:
    with reached(tmp_path) as (running, raw):
        first = raw.head(0, {"Authorization": None})
        last = raw.head(len(LIST), {**LISTED, "Connection": "close"}) + LIST

        with raw.open() as sock:
            sock.sendall(first + first + last)
            answered = running.beside(lambda: b"".join(iter(lambda: sock.recv(65536), b"")))

    assert [part[:3] for part in answered.split(b"HTTP/1.1 ")[1:]] == [b"401", b"401", b"200"]


def ahead(raw: Raw, *tools: str) -> bytes:
    """Write calls one behind the other, the last one with a head that ends the connection."""
    sent = b""
    for number, tool in enumerate(tools, 1):
        headers, body = request("tools/call", {"name": tool, "arguments": {}}, tool)
        ends = {"Connection": "close"} if number == len(tools) else {}
        sent += raw.head(len(body), {**headers, **ends}) + body
    return sent


def test_the_result_of_each_call_that_is_sent_ahead_counts_as_fetched(tmp_path: Path) -> None:
    def edit(name: str) -> Callable[[], str]:
        def returns() -> str:
            """Edit."""
            return name

        return skill(risk="edit", name=name)(returns)

    with reached(tmp_path, edit("1"), edit("2")) as (running, raw):
        sent = running.beside(lambda: raw.write(ahead(raw, "1", "2")))
        again = [text(running.call(tool)) for tool in "12"]

    assert sent.body.count(b"HTTP/1.1 200") == 1  # behind the first response
    assert again == ["1", "2"]


def test_a_client_that_leaves_ends_its_call_also_where_more_was_sent_ahead(tmp_path: Path) -> None:
    began, ended = threading.Event(), threading.Event()

    @skill(risk="edit")
    async def wait() -> None:
        """Wait until it is ended."""
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    with reached(tmp_path, wait) as (running, raw):
        with raw.open() as sock:
            sock.sendall(ahead(raw, "wait", "wait", "wait"))
            running.until(began.is_set)
        running.until(ended.is_set)
        running.until(lambda: running.bridge.recent.records()[0].ended is not None)

        assert len(running.bridge.recent.records()) == 1


def test_a_flood_of_requests_on_one_connection_does_not_pile_up(tmp_path: Path) -> None:
    with reached(tmp_path) as (running, raw):

        def attack() -> int:
            with raw.open() as sock:
                sock.sendall(raw.head(0, {"Authorization": None}) * 1000)
                return raw.say("tools/list", {}).status

        assert running.beside(attack) == 200


@pytest.mark.parametrize("protocol", ["h2c", "websocket"])
def test_who_offers_another_protocol_is_answered_in_this_one(protocol: str, tmp_path: Path) -> None:
    """As Java's client does in each first request."""
    offer = {"Connection": "Upgrade", "Upgrade": protocol}
    with live(tmp_path) as running, Raw.to(running).line() as line:
        statuses = running.beside(
            lambda: [line.send(LIST, {**LISTED, **more}).status for more in (offer, {}, offer)]
        )

    assert statuses == [200, 200, 200]


def test_a_flood_of_connections_leaves_room(tmp_path: Path) -> None:
    """The idle ones make room, the oldest first; nobody who asks is turned away."""
    with reached(tmp_path, connections=20) as (_, raw), ExitStack() as opened:
        socks = [opened.enter_context(raw.open()) for _ in range(100)]

        assert raw.say("tools/list", {}).status == 200
        assert sum(lasts(sock, LIMIT) for sock in socks[:70]) == 0


def test_a_flood_of_one_clients_connections_costs_no_other_its_own(tmp_path: Path) -> None:
    """The other's connection is older, and rests."""
    with live(tmp_path, connections=20) as running, ExitStack() as opened:
        greedy = Raw.to(running, "greedy")
        with Raw.to(running).line() as line:
            assert line.send(LIST, LISTED).status == 200
            for _ in range(60):
                assert opened.enter_context(greedy.line()).send(LIST, LISTED).status == 200

            assert line.send(LIST, LISTED).status == 200


def test_connections_that_pile_up_all_find_room_and_are_taken_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a flood of them delays nobody who is connected by more than a few."""
    busy, over = threading.Event(), threading.Event()
    made, take = Counter[int](), LimitedConnection.connection_made
    turn = 0

    def count(self: LimitedConnection, transport: Any) -> None:
        made[turn] += 1
        take(self, transport)

    @skill(risk="read")
    async def watch() -> None:
        """Hold the event loop, and count its turns after that."""
        nonlocal turn
        made.clear()
        busy.set()
        over.wait(20)
        while made.total() < 100:
            turn += 1
            await anyio.sleep(0)

    def attack(running: Live) -> None:
        raw = Raw.to(running)
        with ThreadPoolExecutor() as pool, ExitStack() as opened:
            watched = pool.submit(raw.call, "watch")
            assert busy.wait(20)
            for _ in range(100):
                opened.enter_context(raw.open())
            over.set()
            watched.result(20)

    monkeypatch.setattr(LimitedConnection, "connection_made", count)
    with live(tmp_path, watch) as running:
        running.beside(lambda: attack(running))

    assert max(made.values()) <= 5


def test_where_all_are_served_the_next_one_is_told_so(tmp_path: Path) -> None:
    with live(tmp_path, connections=5) as running, ExitStack() as opened:
        for number in range(5):
            assert Raw.to(running, f"client-{number}").listen(opened) == ""

        response = Raw.to(running).say("tools/list", {})

    assert response.status == 503
    assert "Too many connections are open" in response.body.decode()


def test_a_client_keeps_its_only_connection_where_all_others_are_served(tmp_path: Path) -> None:
    with live(tmp_path, connections=5) as running, Raw.to(running).line() as line:
        assert line.send(LIST, LISTED).status == 200
        with ExitStack() as opened:
            greedy = Raw.to(running, "greedy")
            assert [greedy.listen(opened) for _ in range(4)] == [""] * 4

            assert greedy.send(LIST, LISTED).status == 503
            assert line.send(LIST, LISTED).status == 200


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_over_the_limit_is_413(is_chunked: bool, tmp_path: Path) -> None:
    body = b" " * (2**20 + 1)
    with reached(tmp_path) as (running, raw), Raw.to(running).open() as sock:
        if is_chunked:
            sock.sendall(raw.head(0, CHUNKED) + b"100001\r\n" + body + b"\r\n0\r\n\r\n")
        else:
            sock.sendall(raw.head(len(body)) + body[:10])
        assert sock.recv(4096).startswith(b"HTTP/1.1 413")


@pytest.mark.timeout(180)
@pytest.mark.parametrize("fuzzed", FUZZED)
def test_broken_bodies(fuzzed: int, tmp_path: Path) -> None:
    """None is a fault of the server's own, and none of them stays in its memory."""
    chance = random.Random(8)
    shapes = [_flipped, _cut, _noise, _deep, _strange]

    with reached(tmp_path) as (running, raw):

        def attack() -> tuple[Counter[int], int]:
            seen, before = Counter[int](), 0
            with ExitStack() as opened:
                line = opened.enter_context(raw.line())
                for number in range(fuzzed):
                    if number == fuzzed // 10:
                        before = memory()
                    body = shapes[number % len(shapes)](LIST, chance)
                    seen[line.send(body, LISTED if number % 2 else {}).status] += 1
                    if not line.is_open:
                        line = opened.enter_context(raw.line())
            return seen, memory() - before

        seen, grown = running.beside(attack, limit=150)

    print(f"{fuzzed} broken bodies: {dict(seen)}, memory {grown / 1e6:+.1f} MB")
    assert [status for status in seen if not 200 <= status < 500] == []
    assert grown < 20e6


def _flipped(good: bytes, chance: random.Random) -> bytes:
    body = bytearray(good)
    for _ in range(chance.randint(1, 4)):
        body[chance.randrange(len(body))] = chance.randrange(256)
    return bytes(body)


def _cut(good: bytes, chance: random.Random) -> bytes:
    return good[: chance.randrange(len(good))]


def _noise(good: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(chance.randint(0, 200))


def _deep(good: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.9:
        return chance.choice([b"[", b'{"a":']) * chance.randint(1, 300)
    return b"[" * 100_000 + b"]" * 100_000


def _strange(good: bytes, chance: random.Random) -> bytes:
    values: list[object] = [None, True, -1, 1e308, 2**70, "", "\0\ud800", [], {}, [[]], "x" * 5000]
    keys = ["jsonrpc", "id", "method", "params", "result", "error", "", "_meta"]
    picked = {key: chance.choice(values) for key in chance.sample(keys, chance.randint(0, 6))}
    return json.dumps({**json.loads(good), **picked}).encode()
