"""A running host is found, and one that is gone is not, whatever ended it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from dcc_bridge.server import discovery
from dcc_bridge.server.discovery import Instance, Registration
from tests.live import LIMIT, live, until
from tests.stand_ins import FakeHost

HOLDER = """
import sys, pathlib
from dcc_bridge.server.discovery import Instance, Registration
kept = Registration(Instance("http://127.0.0.1:1/mcp", "Maya", "2026", "shot.ma"),
                    pathlib.Path(sys.argv[1]))
{more}
print(kept.instance.id, flush=True)
"""


# Renews its record often, and says how often that failed.
WRITER = """
sys.stdin.readline()
failed = 0
for number in range(300):
    try:
        kept.update(scene=f"shot_{number}.ma")
    except OSError:
        failed += 1
print(failed, flush=True)
sys.stdin.read()
kept.withdraw()
"""
# Looks whether a lock has a holder, and takes its time before it closes the file.
LOOKER = """
import os, pathlib, sys
from dcc_bridge.server import discovery
close = os.close
def close_later(descriptor):
    print("looks", flush=True)
    sys.stdin.readline()
    close(descriptor)
os.close = close_later
print(discovery.is_locked(pathlib.Path(sys.argv[1])), flush=True)
"""


@contextmanager
def another_process(
    runtime: Path, more: str = "", then: str = "sys.stdin.read()"
) -> Iterator[subprocess.Popen[str]]:
    """Let a process that is no host write itself down as one."""
    code = HOLDER.replace("{more}", more)
    command = [sys.executable, "-c", code + then, str(runtime)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("maya-")
        try:
            yield process
        finally:
            process.kill()


def test_a_host_of_another_process_is_found_and_vanishes_when_it_is_killed(tmp_path: Path) -> None:
    with another_process(tmp_path) as process:
        (found,) = discovery.running(tmp_path)

    assert (found.pid, found.host, found.state) == (process.pid, "Maya", "starting")
    assert discovery.running(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_record_whose_number_belongs_to_another_process_now_is_stale(tmp_path: Path) -> None:
    """The number is that of a process that lives: ours."""
    with another_process(tmp_path):
        (file,) = tmp_path.glob("*.json")
        text = file.read_text()
        (found,) = discovery.running(tmp_path)

    file.write_text(text.replace(str(found.pid), str(os.getpid())))

    assert discovery.running(tmp_path) == []
    assert not file.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_that_outlives_its_host_does_not_keep_it_listed(tmp_path: Path) -> None:
    """The child has what was open in its parent, the lock as well, and soon lets go of it."""
    fork = "import os; child = os.fork()\nif not child: os.close(1); sys.stdin.read(); os._exit(0)"
    with another_process(tmp_path, fork) as process:
        assert len(discovery.running(tmp_path)) == 1
        process.kill()
        process.wait()

        until(lambda: not discovery.running(tmp_path))


def test_a_record_is_read_whole_while_its_host_renews_it(tmp_path: Path) -> None:
    scenes = set()
    with another_process(tmp_path, then=WRITER) as process, ThreadPoolExecutor(1) as pool:
        assert process.stdin is not None
        assert process.stdout is not None
        failed = pool.submit(process.stdout.readline)
        process.stdin.write("\n")
        process.stdin.flush()
        while not failed.done():
            (found,) = discovery.running(tmp_path)
            scenes.add(found.scene)
        (last,) = discovery.running(tmp_path)
        names = {file.name for file in tmp_path.iterdir()}
        process.stdin.close()
        process.wait(LIMIT)

    assert failed.result() == "0\n"
    assert last.scene == "shot_299.ma"
    assert names == {f"{last.id}.json", f"{last.id}.lock"}
    assert len(scenes) > 1
    assert list(tmp_path.iterdir()) == []


def test_two_that_look_at_the_lock_of_a_dead_host_do_not_take_each_other_for_it(
    tmp_path: Path,
) -> None:
    with another_process(tmp_path):
        (lock,) = tmp_path.glob("*.lock")
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", LOOKER, str(lock)]

    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as looker:
        assert looker.stdout is not None
        assert looker.stdout.readline() == "looks\n"
        found = discovery.running(tmp_path)
        said, _ = looker.communicate("\n", LIMIT)

    assert (found, said) == ([], "False\n")
    assert list(tmp_path.glob("*.json")) == []


def test_looking_does_not_make_a_host_forget_itself(tmp_path: Path) -> None:
    registration = Registration(Instance("u", "h", "v", "s"), tmp_path)

    seen = [discovery.running(tmp_path) for _ in range(3)]

    registration.withdraw()
    assert seen == [[registration.instance]] * 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("state", "age", "said"),
    [
        ("starting", 5.0, None),
        ("starting", 60.0, "Maya has been starting for 60 s: it does not respond."),
        ("failed", 5.0, "The port is taken."),
        ("ready", 60.0, None),
    ],
)
def test_no_host_is_starting_for_ever(
    state: discovery.State, age: float, said: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that hangs with Python's lock cannot say so itself."""
    monkeypatch.setattr("time.time", lambda: 1000.0)
    why = "The port is taken." if state == "failed" else ""

    host = Instance("u", "Maya", "2026", "s", state=state, started=1000.0 - age, why=why)

    problem = host.start_problem()
    assert (problem.what if problem is not None else None) == said


class SharingViolation(PermissionError):
    """What Windows says of a file that another program has open."""

    winerror = 32


class Held:
    """Files that another program has open, and a clock of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        """Have the function of `os` with that name fail as often as `refusals` says."""
        self.refusals = 0.0
        self.now = 0.0
        fn = getattr(os, name)

        def refuse(*args: Any, **more: Any) -> Any:
            if self.refusals > 0:
                self.refusals -= 1
                raise SharingViolation(13, "The process cannot access the file")
            return fn(*args, **more)

        monkeypatch.setattr(os, name, refuse)
        monkeypatch.setattr("time.sleep", self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_record_that_somebody_reads_is_renewed_in_a_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows replaces no file that is open."""
    held = Held(monkeypatch, "replace")
    registration = Registration(Instance("u", "h", "v", "s"), tmp_path)
    held.refusals = 20

    registration.update(state="ready")

    (found,) = discovery.running(tmp_path)
    assert found.state == "ready"
    assert 0 < held.now <= 0.5
    registration.withdraw()
    assert list(tmp_path.iterdir()) == []


def test_a_record_that_cannot_be_renewed_stays_whole_and_the_next_update_renews_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing with the secret is left behind, and a lost "ready" is not lost for ever."""
    held = Held(monkeypatch, "replace")
    registration = Registration(Instance("u", "h", "v", "s"), tmp_path)
    files = sorted(tmp_path.iterdir())
    held.refusals = math.inf

    with pytest.raises(PermissionError):
        registration.update(state="ready")

    (found,) = discovery.running(tmp_path)
    left = sorted(tmp_path.iterdir())
    held.refusals = 0
    registration.update(state="ready")
    (later,) = discovery.running(tmp_path)
    registration.withdraw()
    assert (found.state, left) == ("starting", files)
    assert later.state == "ready"


def test_a_host_that_stops_while_somebody_reads_its_record_is_not_listed_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks next deletes what is left."""
    held = Held(monkeypatch, "unlink")
    registration = Registration(Instance("u", "h", "v", "s"), tmp_path)
    held.refusals = math.inf

    registration.withdraw()

    held.refusals = 0
    assert discovery.running(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_what_a_host_that_was_killed_had_half_written_is_deleted(tmp_path: Path) -> None:
    """The secret is in it; one that still writes keeps its own."""
    registration = Registration(Instance("u", "h", "v", "s"), tmp_path)
    mine = tmp_path / f"{registration.instance.id}.ab.new"
    for half in (mine, tmp_path / "maya-1234.cd.new"):
        half.write_text("{")

    discovery.running(tmp_path)

    assert list(tmp_path.glob("*.new")) == [mine]
    mine.unlink()
    registration.withdraw()


def test_what_is_told_of_a_host_has_no_secret() -> None:
    instance = Instance("u", "h", "v", "s")

    assert instance.secret not in str(instance.told()) + repr(instance)


def test_the_scene_of_its_record_is_the_one_that_is_open_now(tmp_path: Path) -> None:
    with live(tmp_path, host=(host := FakeHost(["cam1"]))) as running:
        before = discovery.running(tmp_path)[0]
        host._file = Path("scenes", "shot_020.ma")
        host.select([])  # it tells as of any change
        running.until(lambda: discovery.running(tmp_path)[0].scene != before.scene)
        (after,) = discovery.running(tmp_path)

    assert (before.scene, before.state) == ("fake.scene", "ready")
    assert (after.scene, after.id, after.secret) == ("shot_020.ma", before.id, before.secret)
    assert after.file == str(Path.cwd() / "scenes" / "shot_020.ma")


@pytest.mark.parametrize(
    ("host", "kind"), [("Maya", "maya"), ("3ds Max!", "3ds-max"), ("火", "host")]
)
def test_an_id_begins_with_the_name_of_its_host(host: str, kind: str) -> None:
    name, _, number = Instance("u", host, "v", "s").id.rpartition("-")

    assert (name, len(number)) == (kind, 4)
