"""Whatever an undecorated body does, nothing goes that a person did not agree to.

The person answers a list of what really goes; see `undecorated_oracle` for what has to hold.
``UNDECORATED`` says how many bodies the long run has in our own host; each application has a
twentieth of them.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.blender import bpy_module
from tests.freecad import launch
from tests.hosts.undecorated_oracle import CHECKS, Judge, found_without
from tests.hosts.undecorated_usd import UsdField

BODIES: Final = int(os.environ.get("UNDECORATED", "10000"))
PARTS: Final = 10
FIRST: Final = 1_000  # the seed with which the long run begins
WHEEL: Final = "4.5.15"
_IN_BLENDER: Final = Path(__file__).parents[1] / "blender" / "undecorated.py"


def long_run(part: int, count: int = -(-BODIES // 20), parts: int = PARTS // 2) -> range:
    """Return the seeds of a part of the long run, which has that many in all."""
    return range(FIRST + count * part // parts, FIRST + count * (part + 1) // parts)


def bodies(seeds: range, limit: int = 0) -> Any:
    """Return bodies that are run after each other; those with a limit in the long run alone."""
    marks = (pytest.mark.long, pytest.mark.timeout(limit)) if limit else ()
    return pytest.param(seeds, marks=marks, id=f"{seeds.start}-{len(seeds)}")


@pytest.mark.parametrize(
    "seeds",
    [
        *(bodies(range(20 * part, 20 * part + 20)) for part in range(2)),
        *(bodies(long_run(part, BODIES, PARTS), 1200) for part in range(PARTS)),
    ],
)
def test_whatever_an_undecorated_body_does_nothing_goes_unasked(
    seeds: range, tmp_path: Path
) -> None:
    judge = Judge(UsdField, tmp_path)

    for seed in seeds:
        assert not judge.find(seed)

    assert judge.counts.asked
    assert {"done", "failed"} <= {*judge.counts.statuses}


@pytest.mark.parametrize("check", CHECKS)
def test_without_a_check_of_the_loop_something_is_found(check: str, tmp_path: Path) -> None:
    assert found_without(check, UsdField, tmp_path)


# ---- real applications, each with an interpreter of its own


def in_blender(version: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run bodies inside of a Blender; those of `bpy_module`."""
    python: list[str | Path]
    if version == bpy_module.IN_BACKGROUND:
        if bpy_module.PROGRAM is None:
            pytest.skip("Blender is not installed")
        python = [bpy_module.PROGRAM, "-b", "--factory-startup", "--python-exit-code", "1"]
        command = [*python, "--python", _IN_BLENDER, "--", folder, *words]
        found = [it for it in sys.path if it.endswith("site-packages")]
    else:
        python = [bpy_module.installed(version)]
        command = [*python, "-m", "tests.blender.undecorated", folder, *words]
        found = []
    paths = os.pathsep.join([*bpy_module.PATHS, *found])
    return subprocess.run(
        command,
        env={**bpy_module.environment(), "BLENDER_PATH": paths},
        cwd=bpy_module.ROOT,
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )


def in_freecad(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run bodies inside of FreeCAD, without its window."""
    if launch.CONSOLE is None:
        pytest.skip("FreeCAD is not installed")
    (folder / "scenes").mkdir()
    given = str(folder / "scenes"), *words
    return launch.in_console(f"from tests.freecad.undecorated import run; run(*{given})", folder)


BLENDERS: Final = (bpy_module.IN_BACKGROUND, WHEEL)


@pytest.mark.real
@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", BLENDERS)
def test_without_a_check_of_the_loop_something_is_found_in_blender(
    version: str, tmp_path: Path
) -> None:
    done = in_blender(version, tmp_path)

    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.real
@pytest.mark.timeout(240)
def test_without_a_check_of_the_loop_something_is_found_in_freecad(tmp_path: Path) -> None:
    done = in_freecad(tmp_path)

    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.real
@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("part", range(PARTS // 2))
@pytest.mark.parametrize("version", BLENDERS)
def test_hundreds_of_undecorated_bodies_in_blender(version: str, part: int, tmp_path: Path) -> None:
    """Where Blender itself crashes at an undo, that body is passed over; there may be few."""
    seeds = long_run(part)
    seed, crashed = seeds.start, list[int]()

    while seed < seeds.stop:
        done = in_blender(version, tmp_path, str(seed), str(seeds.stop - seed))
        seed = int((tmp_path / "seed").read_text()) + 1
        crashed += [seed - 1] if done.returncode == -signal.SIGSEGV else []
        assert done.returncode in (0, -signal.SIGSEGV), done.stderr[-4000:]

    assert len(crashed) <= len(seeds) // 50 + 1, crashed


@pytest.mark.real
@pytest.mark.long
@pytest.mark.timeout(240)
@pytest.mark.parametrize("part", range(PARTS // 2))
def test_hundreds_of_undecorated_bodies_in_freecad(part: int, tmp_path: Path) -> None:
    seeds = long_run(part)

    done = in_freecad(tmp_path, str(seeds.start), str(len(seeds)))

    assert done.returncode == 0, done.stderr[-4000:]
