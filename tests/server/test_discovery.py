"""A running host is found, and one that is gone is not, whatever ended it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dcc_bridge.server import discovery
from dcc_bridge.server.discovery import Instance, Registration
from tests.live import LIMIT, live
from tests.stand_ins import FakeHost

HOLDER = """
import sys, pathlib
from dcc_bridge.server.discovery import Instance, Registration
kept = Registration(Instance("http://127.0.0.1:1/mcp", "Maya", "2026", "shot.ma"),
                    pathlib.Path(sys.argv[1]))
{more}
print(kept.instance.id, flush=True)
sys.stdin.read()
"""


@contextmanager
def another_process(runtime: Path, more: str = "") -> Iterator[subprocess.Popen[str]]:
    """Let a process that is no host write itself down as one."""
    command = [sys.executable, "-c", HOLDER.replace("{more}", more), str(runtime)]
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

        end = time.monotonic() + LIMIT
        while discovery.running(tmp_path):
            assert time.monotonic() < end


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
