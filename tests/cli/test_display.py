"""A window where there is a screen, and a reason where there seems to be one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dcc_bridge.cli import load
from dcc_bridge.cli.exits import REFUSED
from tests.cli.commands import run, serve

NO_SCREEN = ":4321"
STARTING = load("standalone/dcc_bridge_serve")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return monkeypatch


def test_no_screen_was_announced(bare: pytest.MonkeyPatch) -> None:
    assert STARTING.find_screen() == (False, "")


@pytest.mark.parametrize("platform", ["offscreen", "minimal", "offscreen:size=1x1"])
def test_a_platform_that_nobody_sees_is_no_screen(bare: pytest.MonkeyPatch, platform: str) -> None:
    bare.setenv("DISPLAY", ":0")
    bare.setenv("QT_QPA_PLATFORM", platform)

    assert STARTING.find_screen() == (False, "")


def test_a_screen_that_is_not_there_is_told_in_a_sentence(bare: pytest.MonkeyPatch) -> None:
    bare.setenv("DISPLAY", NO_SCREEN)

    is_there, why_not = STARTING.find_screen()

    assert not is_there
    assert why_not.endswith(f"could not connect to display {NO_SCREEN}")


def test_a_library_that_is_missing_is_named(bare: pytest.MonkeyPatch) -> None:
    lines = "Traceback (most recent call last):\nImportError: libEGL.so.1: cannot open\n"
    tried = subprocess.CompletedProcess([], 1, stdout="", stderr=lines)
    bare.setattr(subprocess, "run", lambda *_, **__: tried)
    bare.setenv("WAYLAND_DISPLAY", "wayland-0")

    assert STARTING.find_screen()[1].endswith("ImportError: libEGL.so.1: cannot open")


def test_a_screen_that_does_not_answer_is_none(bare: pytest.MonkeyPatch) -> None:
    def hang(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("python", 20)

    bare.setattr(subprocess, "run", hang)
    bare.setenv("DISPLAY", ":0")

    assert STARTING.find_screen() == (
        False,
        "The screen does not respond, so the host runs without a window.",
    )


def test_the_host_runs_without_a_window_then_and_says_so(tmp_path: Path) -> None:
    with serve(tmp_path, DISPLAY=NO_SCREEN) as host:
        assert "without a window" in host.ready
        done, _ = host.end()

    assert done.code == 0
    assert done.err.startswith("dcc-bridge: Qt cannot show a window here, so the host runs without")
    assert len(done.err.splitlines()) == 1


def test_headless_asks_for_no_screen(runtime: Path) -> None:
    done = run(runtime, "demo", "--headless", "--answer", "cancel", DISPLAY=NO_SCREEN)

    assert (done.code, done.err) == (REFUSED, "")
