"""Whole runs by Open Job Description: their ends, their crashes, and the farm's own way."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from dcc_bridge_batch import approval, engine, ledger, outcome
from dcc_bridge_batch.files import digest_file
from dcc_bridge_batch.host_job import MODULE
from dcc_bridge_batch.plan import HostFacts, Plan, Request
from dcc_bridge_batch.plan import write as write_plan
from tests.batch.conftest import Show, bare, digests, make_show, places_of, processes, write_scene
from tests.live import until

if sys.platform == "win32":
    pytest.skip("Windows has neither these signals nor mounts", allow_module_level=True)

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("new_interpreter"),
]
FACTS = HostFacts("host 1", "0.1.0", "0" * 64, None)


def approved_show(
    tmp_path: Path, count: int, chunk: int, ways: dict[int, str] | None = None
) -> Show:
    """Plan and approve many scenes."""
    for number in range(count):
        folder = tmp_path / "show" / f"sq {number % 10}"
        write_scene(folder / f"shot_{number:05}.usda", way=(ways or {}).get(number, ""))
    show = make_show(tmp_path / "show", tmp_path / "plan", chunk, jobs=2)
    approval.approve(show.plan)
    return show


def run(plan: Plan, jobs: int = 2) -> outcome.Totals:
    """Run a plan as far as it goes."""
    engine.Run(plan, jobs).run()
    return outcome.totals(plan)


def wrong(show: Show, before: dict[str, tuple[str, int]]) -> list[str]:
    """List what is not as the ledger says: the scene, the kept original, a copy that is left."""
    found = []
    for number, entry in ledger.all_entries(show.plan):
        places = places_of(show.plan, number, show.root)
        name = os.path.relpath(places.scene, show.root)
        text = places.scene.read_text()
        is_edited = "Camera" not in text and "ball" in text
        if list(places.scene.parent.glob(f".{places.scene.stem}.*.work.*")):
            found.append(f"{name}: a copy is left")
        if entry is None or entry["state"] != "done":
            if is_edited or digest_file(places.scene) != before[name][0]:
                found.append(f"{name}: {entry}, and it is another one")
        elif not is_edited or digest_file(places.original) != before[name][0]:
            found.append(f"{name}: done, and it or the original is not right")
        elif entry["sha256"] != digest_file(places.scene):
            found.append(f"{name}: the ledger has another digest")
    return found


def go_on(show: Show) -> None:
    """Let the scenes that hold go on."""
    show.root.with_name("ready").touch()


def edits(plan: Plan) -> Counter[int]:
    """Count how often each scene was said to be done."""
    lines: Counter[int] = Counter()
    for file in ledger.folder(plan).glob("*.jsonl"):
        for line in file.read_text().splitlines():
            entry = json.loads(line)
            lines[entry["n"]] += entry["state"] == "done"
    return lines


def test_a_run_changes_what_was_agreed_to_and_a_second_one_finds_nothing(tmp_path: Path) -> None:
    show = approved_show(tmp_path, 7, 2)
    before = digests(show.root)

    totals = run(show.plan)
    after = digests(show.root)
    again = run(show.plan)

    assert totals.states == {"done": 7}
    assert wrong(show, before) == []
    assert again.states == totals.states
    assert digests(show.root) == after
    rolled = outcome.roll_back(show.plan, show.root)
    assert rolled.states == {"rolled_back": 7}
    assert digests(show.root) == before


def test_scenes_that_end_their_host_stop_no_other(tmp_path: Path) -> None:
    show = approved_show(tmp_path, 40, 40, dict.fromkeys((4, 5, 30), "dies"))
    before = digests(show.root)

    totals = run(show.plan)

    assert totals.states == {"done": 37, "failed": 3}
    assert "The host ended 2 times" in next(iter(totals.reasons))
    assert wrong(show, before) == []


def test_a_run_pauses_where_too_many_scenes_fail_and_goes_on_when_told(tmp_path: Path) -> None:
    ways = {**dict.fromkeys((1, 5, 9), "idle"), **dict.fromkeys((0, 10, 2, 3), "waits")}
    show = approved_show(tmp_path, 12, 4, ways)

    with pytest.raises(engine.RunStopped, match=r"The run pauses: 2 of 12 scenes have failed"):
        run(show.plan, 1)
    states = outcome.totals(show.plan).states
    for folder in show.root.iterdir():
        (folder / "ready").touch()
    again = run(show.plan).states

    assert states["failed"] == 2
    assert states["open"] == 10
    assert again == {"done": 9, "unchanged": 3}


@contextmanager
def killing(plan: Plan, every: float, kills: list[int]) -> Iterator[None]:
    """Kill a host or a task with -9 now and then, while in the ``with``.

    The next one is killed only after some scenes more are done: on a busy machine a host may take
    longer to start than the pause between two kills.
    """
    ended, chance = threading.Event(), random.Random(18)

    def kill() -> None:
        done = 0
        while not ended.wait(every):
            alive = processes(MODULE) + processes("batch task")
            now = outcome.totals(plan).states["done"]
            if alive and now >= done + 5:
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(alive), signal.SIGKILL)
                    kills.append(1)
                done = now

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


hours = pytest.mark.skipif("BATCH_HOURS" not in os.environ, reason="hours: BATCH_HOURS=1 runs it")


@pytest.mark.parametrize(
    ("count", "every"),
    [
        (60, 0.5),
        (400, 3.0),
        pytest.param(1_000, 30.0, marks=[hours, pytest.mark.timeout(3600)]),
        pytest.param(10_000, 30.0, marks=[hours, pytest.mark.timeout(14400)]),
    ],
)
def test_no_scene_is_lost_or_edited_twice_where_workers_and_the_run_are_killed(
    tmp_path: Path, count: int, every: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCC_BATCH_TEST", str(os.getpid()))
    clock = Clock()
    show = approved_show(tmp_path, count, 20 if count < 1000 else 50, {count - 1: "holds"})
    clock.lap("to plan")
    before = digests(show.root)
    shutil.copytree(show.root, tmp_path / "bare")
    loop = bare(sorted((tmp_path / "bare").rglob("*.usda")))
    kills: list[int] = []
    codes = []

    clock.lap("")
    with killing(show.plan, every, kills):
        codes.append(killed_run(show.plan, at=count // 2))
        go_on(show)
        while not outcome.totals(show.plan).is_over:
            codes.append(run_by_command(show.plan).wait())
    clock.lap("to run")
    entries = edits(show.plan)
    found = wrong(show, before)
    clock.lap("to look at all")
    totals = outcome.totals(show.plan)
    clock.lap("to read the ledger")
    outcome.roll_back(show.plan, show.root)
    clock.lap("to roll back")
    ratio = clock.laps["to run"] / count / loop
    facts = f"{count} scenes, {len(kills)} workers killed, runs ended with {codes}; {clock}"
    print(f"\n{facts}; bare loop {1000 * loop:.1f} ms a scene: {ratio:.0f} times", file=sys.stderr)

    assert codes[0] == -signal.SIGKILL
    assert totals.states == {"done": count}
    assert set(entries.values()) == {1}
    assert len(entries) == count
    assert kills
    assert found == []
    assert digests(show.root) == before


class Clock:
    """Seconds of what is done one after the other."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._begin = time.monotonic()

    def lap(self, name: str) -> None:
        now = time.monotonic()
        self.laps[name], self._begin = now - self._begin, now

    def __str__(self) -> str:
        return ", ".join(f"{seconds:.1f} s {name}" for name, seconds in self.laps.items() if name)


def run_by_command(plan: Plan) -> subprocess.Popen[bytes]:
    """Start a run as a person does."""
    command = [sys.executable, "-m", "dcc_bridge", "batch", "run", str(plan.folder), "--jobs", "2"]
    return subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)


def killed_run(plan: Plan, at: int) -> int:
    """Start runs until so many scenes are done, and kill the last one; give its exit code."""
    with ExitStack() as stack:
        running = stack.enter_context(run_by_command(plan))
        while outcome.totals(plan).states["done"] < at:
            if running.poll() is not None:  # it paused, as too many of its workers were killed
                running = stack.enter_context(run_by_command(plan))
            time.sleep(0.1 + plan.count / 5000)
        running.kill()
        return running.wait()


def test_a_run_that_itself_is_killed_leaves_no_host_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCC_BATCH_TEST", str(os.getpid()))
    show = approved_show(tmp_path, 60, 10, {59: "holds"})
    before = digests(show.root)
    assert killed_run(show.plan, at=6) == -signal.SIGKILL
    go_on(show)
    until(lambda: not processes(MODULE))

    totals = run(show.plan)

    assert totals.states == {"done": 60}
    assert set(edits(show.plan).values()) == {1}
    assert wrong(show, before) == []


def test_ctrl_c_ends_after_the_scene_of_now_and_a_second_run_goes_on(tmp_path: Path) -> None:
    """Twelve scenes go by themselves, and the next ones hold until it was pressed."""
    ways = {number: "holds" for number in range(60) if number % 10 > 1}
    show = approved_show(tmp_path, 60, 10, ways)
    before = digests(show.root)
    with run_by_command(show.plan) as stopped:
        until(lambda: outcome.totals(show.plan).states["done"] > 5)
        stopped.send_signal(signal.SIGINT)
        go_on(show)
        code = stopped.wait(60)
    states = outcome.totals(show.plan).states

    assert code == 130
    assert states["editing"] == states["proved"] == states["failed"] == 0
    assert states["open"] > 0
    assert run(show.plan).states == {"done": 60}
    assert wrong(show, before) == []


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """Have a file system of 1 MB, while in the ``with``."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path, room: int) -> Path:
    """Fill a disk but for some bytes; give the file that does it."""
    file = folder / "full"
    file.write_bytes(b"0" * max(0, shutil.disk_usage(folder).free - room))
    return file


def test_a_scene_is_never_half_where_the_disk_is_full(tmp_path: Path) -> None:
    """Have a file system that ends in the middle of each step, with a real one of 1 MB."""
    with small_disk(tmp_path / "small") as small:
        scene = write_scene(small / "shot.usda", cameras=2000)
        show = make_show(small, tmp_path / "plan")
        approval.approve(show.plan)
        before = digests(small)
        for room in (0, 30_000):
            full = fill(small, room)
            with suppress(engine.RunStopped):
                run(show.plan, 1)
            entry = ledger.entries(show.plan, 0)[0]
            full.unlink()
            assert entry["state"] == "failed"
            assert "No space left" in entry["why"] or "space" in entry["why"].lower()
            assert digest_file(scene) == before["shot.usda"][0]
            assert sorted(os.listdir(small)) == ["shot.usda"]
        assert run(show.plan).states == {"done": 1}


def test_no_scene_is_lost_where_the_ledgers_disk_is_full(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for number in range(20):
        write_scene(tmp_path / "show" / f"shot_{number:02}.usda")
    before = digests(tmp_path / "show")
    with small_disk(tmp_path / "small") as small:
        show = make_show(tmp_path / "show", small / "plan", 10)
        approval.approve(show.plan)
        full = fill(small, 4096)  # room for the entries of some scenes
        with pytest.raises(engine.RunStopped, match=r"^The ledger .* No space left on device\.$"):
            run(show.plan, 1)
        stopped = outcome.totals(show.plan).states
        after_stop = wrong(show, before)
        full.unlink()

        assert after_stop == []
        assert stopped["done"] < 20
        assert "Traceback" not in capfd.readouterr().err
        assert run(show.plan).states == {"done": 20}
        assert wrong(show, before) == []
        assert set(edits(show.plan).values()) == {1}
        outcome.roll_back(show.plan, show.root)
    assert digests(show.root) == before


def test_a_run_whose_hosts_do_not_start_says_why(tmp_path: Path) -> None:
    show = approved_show(tmp_path, 2, 1)
    lines = list(show.plan.scenes())
    program = tmp_path / "freecadcmd"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    request = Request("freecad", "tidy", {}, interpreter=str(program))
    other = write_plan(tmp_path / "other", request, FACTS, show.root, lines)
    approval.approve(other)

    with pytest.raises(engine.RunStopped, match="does not say which FreeCAD"):
        run(other, 1)

    assert outcome.totals(other).states == {"open": 2}


def test_a_folder_that_may_not_be_written_fails_its_scenes_alone(tmp_path: Path) -> None:
    """Have a folder that nobody may write to: the user is root, whom a mode does not stop."""
    show = approved_show(tmp_path, 20, 5)
    folder = show.root / "sq 3"
    locked = subprocess.run(["chattr", "+i", str(folder)], check=False, capture_output=True)
    if locked.returncode != 0:
        locked = subprocess.run(["mount", "--bind", "-o", "ro", folder, folder], check=False)
        if locked.returncode != 0:
            pytest.skip("no folder can be made read-only for this user")
        undo = ["umount", str(folder)]
    else:
        undo = ["chattr", "-i", str(folder)]
    try:
        totals = run(show.plan)
    finally:
        subprocess.run(undo, check=True)

    assert totals.states == {"done": 18, "failed": 2}
    assert places_of(show.plan, 0, show.root).original.exists()
