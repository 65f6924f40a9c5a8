"""Signals that end a command: the first one in order, a further Ctrl+C at once."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from dcc_bridge.cli import exits

pytestmark = pytest.mark.core


def test_a_second_sigterm_leaves_the_orderly_end_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    stopped = threading.Event()

    with exits.on_signal(stopped.set):
        signal.raise_signal(signal.SIGTERM)
        assert stopped.wait(10)
        signal.raise_signal(signal.SIGTERM)

    assert codes == []


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_a_further_ctrl_c_ends_the_process_at_once(
    first: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[int] = []
    monkeypatch.setattr(os, "_exit", codes.append)
    stopped = threading.Event()

    def send_both() -> None:
        with exits.on_signal(stopped.set):
            signal.raise_signal(first)
            assert stopped.wait(10)
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        send_both()

    assert codes == [128 + signal.SIGINT]
