"""What the commands say of a host that does not become ready for agents."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from dcc_bridge.bridge import Bridge
from dcc_bridge.cli import exits, hosts
from dcc_bridge.cli.exits import UNREACHABLE
from dcc_bridge.config import Settings
from dcc_bridge.headless import Pump
from dcc_bridge.server import discovery
from dcc_bridge.server.discovery import Instance, Registration
from tests.cli.commands import run
from tests.live import live
from tests.stand_ins import FakeHost

WHY, MEND = "The bridge did not start: no _ssl.", "Quit Maya, and start it again."
FAILED = Instance(
    "http://127.0.0.1:9/mcp", "Maya", "2026", "shot.ma", state="failed", why=WHY, mend=MEND
)


@contextmanager
def listed(instance: Instance, runtime: Path) -> Iterator[None]:
    registration = Registration(instance, runtime)
    try:
        yield
    finally:
        registration.withdraw()


@pytest.mark.parametrize("hangs", [False, True])
def test_every_command_says_why_and_none_waits(hangs: bool, tmp_path: Path) -> None:
    """One that hangs has said nothing itself: it used to be "starting" for ever."""
    instance = FAILED
    said = WHY
    mend = MEND
    if hangs:
        minute_ago = time.time() - 60
        instance = replace(FAILED, state="starting", started=minute_ago, why="", mend="")
        said = "Maya has been starting for "
        mend = "Close its open dialogs"

    with listed(instance, tmp_path):
        rows = run(tmp_path, "list")
        facts = json.loads(run(tmp_path, "list", "--json").out)
        called = run(tmp_path, "call", "list_items")
        tools = run(tmp_path, "tools")
        doctor = run(tmp_path, "doctor")
        named = run(tmp_path, "doctor", instance.id)

    assert rows.out.splitlines()[1].split()[4] == "failed"
    assert f"{instance.id}: {said}" in rows.out
    assert facts[0]["state"] == "failed"
    assert facts[0]["why"].startswith(said)
    assert (called.code, called.out) == (UNREACHABLE, "")
    assert called.err.startswith(f"dcc-bridge: {said}")
    assert mend in called.err
    assert (tools.code, tools.err) == (UNREACHABLE, called.err)
    for done in (doctor, named):
        assert done.code == exits.FAILED
        assert done.out.count(said) == 1
        assert f"To fix it: {mend}" in done.out
        assert "Nothing to fix" not in done.out


def test_the_doctor_says_so_of_one_host_beside_another_that_is_well(tmp_path: Path) -> None:
    with live(tmp_path) as running, listed(FAILED, tmp_path):
        done = running.beside(lambda: run(tmp_path, "doctor"))

    assert done.code == exits.FAILED
    assert f"WRONG  {FAILED.id}: {WHY}\n       To fix it: {MEND}" in done.out


def test_a_host_that_did_not_start_is_not_called_in_place_of_one_that_is_well(
    tmp_path: Path,
) -> None:
    with live(tmp_path) as running, listed(FAILED, tmp_path):
        done = running.beside(lambda: run(tmp_path, "call", "recent_calls"))

    assert (done.code, done.err) == (0, "")


def test_a_call_waits_for_a_host_that_is_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with live(tmp_path) as running:
        ready = running.bridge.instance
        looks = iter([[replace(ready, state="starting")]] * 3)
        monkeypatch.setattr(discovery, "running", lambda _: next(looks, [ready]))
        monkeypatch.setattr(hosts, "_POLL_INTERVAL_S", 0.0)

        done = running.beside(lambda: run(tmp_path, "call", "recent_calls"))

    assert (done.code, done.err) == (0, "")
    assert list(looks) == []


def test_a_call_gives_up_where_the_host_ends_while_it_is_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_a_minute = time.time() + 60  # so that it is not overdue, however slow the command is
    looks = iter([[replace(FAILED, state="starting", started=in_a_minute)]])
    monkeypatch.setattr(discovery, "running", lambda _: next(looks, []))
    monkeypatch.setattr(hosts, "_POLL_INTERVAL_S", 0.0)

    done = run(tmp_path, "call", "recent_calls")

    assert done.code == UNREACHABLE
    assert done.err.startswith("dcc-bridge: Maya ended while it was starting. ")


def test_the_doctor_says_which_files_a_host_runs_that_its_plug_in_did_not_bring(
    tmp_path: Path,
) -> None:
    """Those of a virtual environment, say: the plug-in's own anyio is not the one that runs."""
    pump, settings = Pump(), Settings(runtime=tmp_path)
    (tmp_path / "vendor" / "anyio").mkdir(parents=True)
    bridge = Bridge(FakeHost(), pump.main, settings=settings, vendor=tmp_path / "vendor")
    pump.run(bridge.start().done)
    with ThreadPoolExecutor(1) as apart:
        doctor = apart.submit(run, tmp_path, "doctor", "--no-question")
        doctor.add_done_callback(lambda _: pump.wake(0))
        pump.run(doctor.done)
    bridge.stop()

    done = doctor.result()
    assert done.code == exits.FAILED
    assert "runs files that its plug-in did not bring: anyio from " in done.out
    assert "To fix it: Remove them from the path of the application's Python" in done.out
