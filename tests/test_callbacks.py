"""Observers are called in order, whatever one of them does."""

from __future__ import annotations

import pytest

from dcc_bridge.callbacks import Callbacks


def test_callbacks_are_called_in_the_order_in_which_they_came() -> None:
    calls: list[str] = []
    callbacks = Callbacks()
    callbacks.add(lambda name: calls.append(f"first {name}"))
    callbacks.add(lambda name: calls.append(f"second {name}"))

    callbacks.call("cam1")

    assert calls == ["first cam1", "second cam1"]


def test_one_that_fails_keeps_no_other_from_being_called(caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []
    callbacks = Callbacks()
    callbacks.add(lambda: [].pop())
    callbacks.add(lambda: calls.append(1))

    callbacks.call()

    assert calls == [1]
    assert "a callback failed" in caplog.text


def test_one_that_is_removed_meanwhile_is_not_called_any_more() -> None:
    calls: list[int] = []
    callbacks = Callbacks()
    callbacks.add(lambda: remove())
    remove = callbacks.add(lambda: calls.append(1))

    callbacks.call()
    remove()

    assert calls == []
