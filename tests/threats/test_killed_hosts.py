"""A host that is killed, or that quits, in the middle of whatever it does (row 23)."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcc_bridge.server import discovery
from tests.threats.raw import Raw, heard, request

if sys.platform == "win32":
    pytest.skip("signals as POSIX has them", allow_module_level=True)

POINTS = 25
BATCH = 5
LIMIT = 2.0


class Host:
    """A host in a process of its own, and a client that calls it."""

    def __init__(self, runtime: Path) -> None:
        self._runtime = runtime
        command = [sys.executable, "-m", "tests.threats.hosted", str(runtime)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def go(self, number: int, at: float) -> tuple[float, list[str]]:
        """End it some time after a call; gives how long the client waited, and what is left."""
        assert self._process.stdout is not None
        port, token = self._process.stdout.readline().split()
        raw = Raw(int(port), token)
        headers, body = request("tools/call", {"name": "work", "arguments": {}}, "work")
        with raw.open() as sock:
            sock.sendall(raw.head(len(body), {**headers, "Connection": "close"}) + body)
            time.sleep(at)  # a part of the call passes: that is what is tried
            self._process.send_signal(number)
            began = time.monotonic()
            heard(sock)
            waited = time.monotonic() - began
        self._process.communicate(timeout=20)
        return waited, self._left(raw.port)

    def _left(self, port: int) -> list[str]:
        """Name what it left behind: its port, itself in the list of hosts, files."""
        left = [f"listed: {instance.url}" for instance in discovery.running(self._runtime)]
        left += [path.name for path in self._runtime.iterdir() if path.name != "audit"]
        with socket.socket() as sock:
            answers = sock.connect_ex(("127.0.0.1", port)) == 0
        return [*left, f"port {port}"] if answers else left


@pytest.mark.long
@pytest.mark.timeout(200)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_host_that_goes_leaves_nobody_waiting_and_nothing_behind(
    number: signal.Signals, tmp_path: Path
) -> None:
    """At twenty-five points, from before the call is read until it has asked for a while."""
    waits: list[float] = []
    left: dict[int, list[str]] = {}
    for first in range(0, POINTS, BATCH):
        hosts = {point: Host(tmp_path / str(point)) for point in range(first, first + BATCH)}
        for point, host in hosts.items():
            waited, left[point] = host.go(number, point * 0.008)
            waits.append(waited)

    print(f"{number.name}: the longest wait of {len(waits)} clients was {max(waits):.2f} s")
    assert {point: names for point, names in left.items() if names} == {}
    assert max(waits) < LIMIT
