"""A bridge in a process without a window."""

from __future__ import annotations

import pytest

from dcc_bridge import headless
from dcc_bridge.headless import Pump


def test_whether_to_end_is_looked_at_although_nobody_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headless, "POLL_INTERVAL_S", 0.01)
    looks = iter((False, False, True))

    Pump().run(lambda: next(looks))

    assert next(looks, None) is None
