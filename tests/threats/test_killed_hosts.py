"""A host that is killed, or that quits, in the middle of whatever it does (row 23).

23  `test_a_host_that_goes_leaves_nobody_waiting_and_nothing_behind`
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcc_bridge.server import discovery
from tests.threats.raw import META, MODERN, Raw, heard

if sys.platform == "win32":
    pytest.skip("signals as POSIX has them", allow_module_level=True)

POINTS = 25
BATCH = 5
LIMIT = 2.0


class Host:
    """A host in a process of its own, and a client that has called it."""

    def __init__(self, runtime: Path) -> None:
        """Start it; `ready` waits for it."""
        self.runtime = runtime
        command = [sys.executable, "-m", "tests.threats.hosted", str(runtime)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def ready(self) -> Raw:
        assert self.process.stdout is not None
        url, token = self.process.stdout.readline().split()
        return Raw(int(url.split(":")[2].split("/")[0]), token)

    def go(self, number: int, at: float) -> tuple[float, list[str]]:
        """End it some time after a call; gives how long the client waited, and what is left."""
        raw = self.ready()
        params = {"name": "work", "arguments": {}, "_meta": META}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        body = json.dumps(message).encode()
        told = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "work"}
        with raw.open() as sock:
            sock.sendall(raw.head(len(body), {**told, "Connection": "close"}) + body)
            wait_until(time.monotonic() + at)
            self.process.send_signal(number)
            began = time.monotonic()
            heard(sock)
            waited = time.monotonic() - began
        self.process.communicate(timeout=20)
        return waited, self.left(raw.port)

    def left(self, port: int) -> list[str]:
        """Name what it left behind: its port, itself in the list of hosts, files."""
        listed = [f"listed: {one.url}" for one in discovery.running(self.runtime)]
        files = [one.name for one in self.runtime.iterdir() if one.name != "audit"]
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return [*listed, *files]
        return [*listed, *files, f"port {port}"]


def wait_until(moment: float) -> None:
    """Let a part of a call pass; that is what is tried here."""
    while (left := moment - time.monotonic()) > 0:
        time.sleep(left)


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
        batch = range(first, first + BATCH)
        hosts = [Host(tmp_path / str(point)) for point in batch]
        for point, host in zip(batch, hosts, strict=True):
            waited, left[point] = host.go(number, point * 0.008)
            waits.append(waited)

    print(f"{number.name}: the longest wait of {len(waits)} clients was {max(waits):.2f} s")
    assert {point: found for point, found in left.items() if found} == {}
    assert max(waits) < LIMIT
