"""A process that is killed leaves a record of all that it had changed, and a chain that holds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcc_bridge.audit import reader

if sys.platform == "win32":
    pytest.skip("Windows has neither forks nor this signal", allow_module_level=True)

KILLS = 50
MAY_CHANGE = ("granted", "unasked")  # agreed to, or an edit that nobody has to be asked about


@pytest.mark.long
@pytest.mark.timeout(180)
def test_whatever_moment_it_is_killed_at_nothing_was_changed_without_its_grant(
    tmp_path: Path,
) -> None:
    """At 50 random moments."""
    chance, changes, unfinished = random.Random(4), 0, 0
    with subprocess.Popen(
        [sys.executable, "-m", "tests.audit.dying"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as nursery:
        for number in range(KILLS):
            (folder := tmp_path / str(number)).mkdir()
            _kill(nursery, folder, chance.randrange(1_500, 60_000))

            changed = (folder / "scene").read_text().splitlines()
            (record,) = map(reader.read, reader.logs(folder / "audit"))
            granted = [line.fields["call"] for line in record.lines() if line.event in MAY_CHANGE]
            assert record.trouble is None or record.trouble.torn
            assert set(changed) <= set(granted)
            changes += len(changed)
            unfinished += reader.recover(folder / "audit")
            assert reader.read(record.file).ending == "recovered"
            assert reader.read(record.file).trouble is None
        assert nursery.stdin is not None
        nursery.stdin.close()
    print(f"{changes} changes, {unfinished} calls without an end")
    assert changes > 2 * KILLS
    assert unfinished > KILLS // 10


def _kill(nursery: subprocess.Popen[str], folder: Path, size: int) -> None:
    """Kill a process once its record has grown to a size, or soon after."""
    assert nursery.stdin is not None
    assert nursery.stdout is not None
    print(folder, file=nursery.stdin, flush=True)
    pid, end = int(nursery.stdout.readline()), time.monotonic() + 30
    while _size(folder) < size:
        assert time.monotonic() < end, "the process did not edit"
    os.kill(pid, signal.SIGKILL)
    assert nursery.stdout.readline() == "gone\n"


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("audit/*.jsonl"))
