"""A bridge in whatever application this is imported into, without a window, until it is killed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dcc_bridge.bridge import Bridge
from dcc_bridge.config import Settings
from dcc_bridge.headless import Pump
from dcc_bridge.host import Host
from dcc_bridge.skills.skill import describe

_ANSWER_BYTES = 10_000_000  # a proxy must pass on what is larger than most answers


def serve(runtime: Path, host: Host, make: Callable[[Bridge], list[Callable[..., Any]]]) -> None:
    """Serve what is made of the bridge, and print the host's id once it takes requests."""
    pump = Pump()
    settings = Settings(runtime=runtime, audit=runtime / "audit", answer_bytes=_ANSWER_BYTES)
    bridge = Bridge(host, pump.main, settings=settings)
    for fn in make(bridge):
        bridge.registry.add(describe(fn))
    ready = bridge.start()
    ready.add_done_callback(lambda _: pump.wake(0.0))
    pump.run(ready.done)
    ready.result()
    print(f"serving {bridge.instance.id}", flush=True)
    pump.run(lambda: False)
