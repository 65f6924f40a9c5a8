"""Thousands of edits at random in each host that has a trial, each reverted without a trace.

They run where the host's table of losses does: inside of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

from tests.blender import bpy_module
from tests.freecad import launch
from tests.hosts.digests import scene_digest
from tests.hosts.losses_contract import Kind, Losing
from tests.hosts.random_trials import RandomTrials, seed
from tests.stand_ins import FakeHost, FakeTrial

EDITS: Final = 2_000
PARTS: Final = 5  # runs of a host, which are ended after some minutes
_CHOSEN: Final = "-k at_random"
_TABLES: Final = {
    "usd": "tests.usd.test_losses",
    "blender": "tests.blender.bpy_losses",
    "freecad": "tests.freecad.losses",
    "fake": "tests.hosts.test_contract",
}


def _here(folder: Path, file: Path) -> None:
    options = ["-q", "-c", os.devnull, "--rootdir", str(bpy_module.ROOT), "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, str(file)]
    done = subprocess.run(command, cwd=bpy_module.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout, done.stdout


def _in_blender(folder: Path, file: Path) -> None:
    bpy_module.run_tests(bpy_module.IN_BACKGROUND, file, folder)


def _in_freecad(folder: Path, file: Path) -> None:
    if launch.CONSOLE is None:
        pytest.skip("FreeCAD is not installed")
    losses = "from tests.freecad.losses import run; assert run() == 0"
    done = launch.in_console(losses, folder)
    assert (done.returncode, " passed" in done.stdout) == (0, True), done.stdout + done.stderr


_STARTS: Final[dict[str, Callable[[Path, Path], None]]] = {
    "blender": _in_blender,
    "freecad": _in_freecad,
}


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("host", _TABLES)
def test_thousands_of_edits_are_reverted_without_a_trace(
    host: str, part: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = _TABLES[host]
    if find_spec(table) is None:
        pytest.skip(f"{host} has no table of losses")
    drawn_with = f"{seed()}-{part}"
    print(f"TRIALS_SEED={drawn_with}")
    monkeypatch.setenv("TRIALS_SEED", drawn_with)
    monkeypatch.setenv("TRIALS", str(EDITS // PARTS))
    monkeypatch.setenv("PYTEST_ADDOPTS", _CHOSEN)
    file = bpy_module.ROOT.joinpath(*table.split(".")).with_suffix(".py")

    _STARTS.get(host, _here)(tmp_path, file)


def _without_selection(trial: FakeTrial) -> list[str]:
    return ["the selection"]


def _without_an_item(trial: FakeTrial) -> list[str]:
    host: Any = trial._host
    host.items = trial.before[:-1]
    return []


def _without_order(trial: FakeTrial) -> list[str]:
    host: Any = trial._host
    host.items = sorted(trial.before, reverse=True)
    return []


def _without_redo(trial: FakeTrial) -> list[str]:
    host: Any = trial._host
    host.items = list(trial.before)
    host._redo.clear()
    return []


@pytest.mark.parametrize(
    "revert", [_without_selection, _without_an_item, _without_order, _without_redo]
)
def test_a_host_that_does_not_revert_all_is_found_out(
    revert: Callable[[FakeTrial], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within some edits, and its seed is named."""
    host = FakeHost(["cam1", "light1"])
    before = scene_digest(host)
    kinds = {"deleted": Kind(lambda: host.items.remove("cam1"), "cam1")}
    losing = Losing(host, lambda: host.items.append(f"cam{len(host.items) + 10}"))
    RandomTrials(losing, kinds, "7").run(100)
    while host.labels:
        host.undo()
    assert scene_digest(host) == before

    monkeypatch.setattr(FakeTrial, "revert", revert)

    with pytest.raises((AssertionError, IndexError)):
        RandomTrials(losing, kinds, "7").run(100)
