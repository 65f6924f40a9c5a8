"""A server that other computers could reach (row 31)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dcc_bridge.bridge import Bridge
from dcc_bridge.config import Settings
from dcc_bridge.errors import StartError
from dcc_bridge.headless import Pump
from dcc_bridge.server import discovery
from tests.stand_ins import FakeHost

OTHERS = ["0.0.0.0", "::", "::1", "127.0.0.2", "192.168.1.5", "localhost", "", "host.example"]


@pytest.mark.parametrize("bind", OTHERS)
def test_another_address_is_refused_and_the_sentence_names_ssh(bind: str, tmp_path: Path) -> None:
    settings = Settings(runtime=tmp_path, audit=tmp_path / "audit", bind=bind)

    with pytest.raises(StartError) as refused:
        Bridge(FakeHost(), Pump().main, settings=settings).start()

    assert str(refused.value).startswith(f"bind={bind!r} is refused")
    assert "ssh -L PORT:127.0.0.1:PORT THIS_COMPUTER" in str(refused.value)
    assert discovery.running(tmp_path) == []
