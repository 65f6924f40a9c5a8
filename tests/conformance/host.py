"""A headless bridge with the fixture, behind the forwarder: ``python -m tests.conformance.host``.

It prints the address for the suite in one line, and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from dcc_bridge.bridge import Bridge
from dcc_bridge.config import Settings
from dcc_bridge.testing import FakeHost
from dcc_bridge.threads import Pump
from tests.conformance.forwarder import Forwarder
from tests.conformance.plugin import extend

_SKILLS: Final = Path(__file__).with_name("skills")
_DEADLINE: Final = 20.0
"""Seconds after which a question that the suite left open is given up."""


def main() -> None:
    """Serve until standard input ends."""
    with TemporaryDirectory() as runtime:
        serve(Settings(runtime=Path(runtime), client_deadline=_DEADLINE))


def serve(settings: Settings) -> None:
    """Run a host's main loop on the calling thread, and a bridge in it."""
    pump = Pump()
    bridge = Bridge(FakeHost(), pump.main, settings=settings, skills=[_SKILLS], extend=extend)
    started = bridge.start()
    with ThreadPoolExecutor(max_workers=1) as pool:
        suite = pool.submit(lambda: asyncio.run(_forward(bridge, started)))
        pump.spin(suite)
    bridge.stop()
    suite.result()


async def _forward(bridge: Bridge, started: Future[None]) -> None:
    """Say where the bridge is once it is there with all its skills, and wait for the end."""
    await asyncio.wrap_future(started)
    await asyncio.wrap_future(bridge.main.submit(lambda: None))
    forwarder = Forwarder(bridge.url, bridge.instance.token("conformance"))
    print(await forwarder.start(), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    forwarder.close()


if __name__ == "__main__":
    main()
