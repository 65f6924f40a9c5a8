"""Tests here may be coroutines, and have a page for a secret."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from dcc_bridge.server import parked_calls
from tests.live import live
from tests.server.sending import Sent, Tracker
from tests.stand_ins import FakeHost, Person


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run them on the loop that the product has."""
    return "asyncio"


@pytest.fixture(autouse=True)
def _timely_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no client time out, however slow the machine is; a test of such clients sets less."""
    monkeypatch.setattr(parked_calls, "MIN_CLIENT_TIMEOUT_S", math.inf)


@pytest.fixture
def sent(tmp_path: Path) -> Iterator[Sent]:
    """Have a page for a secret open, to which the host sends."""
    tracker, host = Tracker(), Person()
    fake = FakeHost(has_ui=True)
    with live(tmp_path, tracker.sync(), host=fake, presenter=host) as running:
        yield Sent(running, tracker, host)
