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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from dcc_batch import approval, bundle, engine, ledger, outcome, swap
from dcc_batch.files import digest_file
from dcc_batch.plan import Plan
from dcc_batch.swap import Places
from tests.batch.conftest import Show, digests, make_show, write_scene

if sys.platform == "win32":
    pytest.skip("Windows has neither these signals nor mounts", allow_module_level=True)

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("new_interpreter"),
]
OPENJD = Path(sys.executable).with_name("openjd")


def approved_show(
    tmp_path: Path, count: int, chunk: int, ways: dict[int, str] | None = None
) -> Show:
    """Plan and approve many scenes."""
    for number in range(count):
        folder = tmp_path / "show" / f"sq {number % 10}"
        write_scene(folder / f"shot_{number:05}.usda", way=(ways or {}).get(number, ""))
    show = make_show(tmp_path / "show", tmp_path / "plan", chunk)
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
        places = Places.of(show.plan, show.plan.scene(number), show.root)
        name = os.path.relpath(places.scene, show.root)
        text = places.scene.read_text()
        is_edited = "Camera" not in text and "ball" in text
        if places.work.exists():
            found.append(f"{name}: a copy is left")
        if entry is None or entry["state"] != "done":
            if is_edited or digest_file(places.scene) != before[name][0]:
                found.append(f"{name}: {entry}, and it is another one")
        elif not is_edited or digest_file(places.kept) != before[name][0]:
            found.append(f"{name}: done, and it or the original is not right")
        elif entry["sha256"] != digest_file(places.scene):
            found.append(f"{name}: the ledger has another digest")
    return found


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


def test_what_was_committed_has_no_original_beside_it(tmp_path: Path) -> None:
    show = approved_show(tmp_path, 3, 2)
    run(show.plan)

    totals = outcome.commit(show.plan, show.root)

    assert totals.states == {"committed": 3}
    assert list(show.root.rglob(".*")) == []


def test_scenes_that_end_their_host_stop_no_other(tmp_path: Path) -> None:
    show = approved_show(tmp_path, 40, 40, dict.fromkeys((4, 5, 30), "dies"))
    before = digests(show.root)

    totals = run(show.plan)

    assert totals.states == {"done": 37, "failed": 3}
    assert "The host ended 2 times" in next(iter(totals.reasons))
    assert wrong(show, before) == []


def test_a_run_pauses_where_too_many_scenes_fail_and_goes_on_when_told(tmp_path: Path) -> None:
    show = approved_show(tmp_path, 12, 4, dict.fromkeys((1, 5, 9), "idle"))
    spoiled = [show.root / it["path"] for it in show.plan.scenes()]
    folders = [path.with_name(f".{path.stem}.{show.plan.id}.work.usda") for path in spoiled[:6]]
    for folder in folders:  # where a copy should go there is something that cannot be deleted
        (folder / "inside").mkdir(parents=True)

    with pytest.raises(engine.Stopped, match=r"The run pauses: 2 of 12 scenes have failed"):
        run(show.plan, 1)
    states = outcome.totals(show.plan).states
    for folder in folders:
        shutil.rmtree(folder)
    again = run(show.plan).states

    assert states["failed"] == 2
    assert states["open"] == 10
    assert again == {"done": 9, "left": 3}


def processes(words: str) -> list[int]:
    """List our own processes whose command line has some words."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if words in line and f"DCC_BATCH_TEST={os.getpid()}".encode() in (
                folder / "environ"
            ).read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


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
            alive = processes("batch host") + processes("batch task")
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
        (120, 0.5),
        pytest.param(1_000, 30.0, marks=[hours, pytest.mark.timeout(3600)]),
        pytest.param(10_000, 30.0, marks=[hours, pytest.mark.timeout(14400)]),
    ],
)
def test_no_scene_is_lost_or_edited_twice_where_workers_are_killed(
    tmp_path: Path, count: int, every: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCC_BATCH_TEST", str(os.getpid()))
    show = approved_show(tmp_path, count, 20 if count < 1000 else 50)
    before = digests(show.root)
    kills: list[int] = []
    pauses, begin = 0, time.monotonic()

    with killing(show.plan, every, kills):
        while not outcome.totals(show.plan).is_over:
            try:
                run(show.plan)
            except engine.Stopped:
                pauses += 1
    seconds = time.monotonic() - begin
    print(f"\n{count} scenes, {len(kills)} kills, {seconds:.0f} s, {pauses} pauses",
          file=sys.stderr)  # fmt: skip

    assert outcome.totals(show.plan).states == {"done": count}
    assert set(edits(show.plan).values()) == {1}
    assert kills
    assert wrong(show, before) == []
    outcome.roll_back(show.plan, show.root)
    assert digests(show.root) == before


def test_a_run_that_itself_is_killed_leaves_no_host_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCC_BATCH_TEST", str(os.getpid()))
    show = approved_show(tmp_path, 60, 10)
    before = digests(show.root)
    command = [sys.executable, "-m", "dcc_bridge", "batch", "run", str(show.plan.folder)]
    with subprocess.Popen(command, start_new_session=True) as killed:
        _wait(lambda: outcome.totals(show.plan).states["done"] > 5)
        killed.kill()
    _wait(lambda: not processes("batch host"))

    totals = run(show.plan)

    assert totals.states == {"done": 60}
    assert set(edits(show.plan).values()) == {1}
    assert wrong(show, before) == []


def test_ctrl_c_ends_after_the_scene_of_now_and_a_second_run_goes_on(tmp_path: Path) -> None:
    show = approved_show(tmp_path, 60, 10)
    before = digests(show.root)
    command = [sys.executable, "-m", "dcc_bridge", "batch", "run", str(show.plan.folder)]
    with subprocess.Popen(command, start_new_session=True) as stopped:
        _wait(lambda: outcome.totals(show.plan).states["done"] > 5)
        stopped.send_signal(signal.SIGINT)
        code = stopped.wait(60)
    states = outcome.totals(show.plan).states

    assert code == 130
    assert states["editing"] == states["proved"] == states["failed"] == 0
    assert states["open"] > 0
    assert run(show.plan).states == {"done": 60}
    assert wrong(show, before) == []


def _wait(condition: Any, limit: float = 60.0) -> None:
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_an_exported_job_is_valid_and_runs_elsewhere(tmp_path: Path) -> None:
    show = approved_show(tmp_path, 5, 2)
    before = digests(show.root)
    bundle.export(show.plan, tmp_path / "job", sys.executable, [approval.public_key()])
    farm = tmp_path / "farm"
    shutil.copytree(tmp_path / "job", farm / "job")
    shutil.copytree(show.root, farm / "scenes")
    template = farm / "job" / "template.json"
    rules = farm / "rules.json"
    rule = {
        "source_path_format": "POSIX",
        "source_path": str(show.root),
        "destination_path": str(farm / "scenes"),
    }
    rules.write_text(json.dumps({"version": "pathmapping-1.0", "path_mapping_rules": [rule]}))
    parameters = json.loads((farm / "job" / "parameter_values.json").read_text())
    values = [f"{it['name']}={it['value']}" for it in parameters["parameterValues"] if it["value"]]
    words = [word for value in values for word in ("--job-param", value)]
    # the worker is another user's: its own key is not the one that counts
    env = {**os.environ, "XDG_STATE_HOME": str(farm / "state")}

    def openjd(*words: str | Path) -> str:
        done = subprocess.run(
            [str(OPENJD), *map(str, words)], env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout

    openjd("check", template)
    openjd("run", template, *words, "--path-mapping-rules", rules.as_uri())

    plan = Plan.read(farm / "job" / "plan")
    assert outcome.totals(plan).states == {"done": 5}
    moved = Show(farm / "scenes", plan)
    assert wrong(moved, before) == []
    assert digests(show.root) == before
    assert outcome.roll_back(plan, moved.root).states == {"rolled_back": 5}


def test_a_scene_is_never_half_where_the_disk_is_full(tmp_path: Path) -> None:
    """Have a file system that ends in the middle of each step, with a real one of 1 MB."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no file system can be mounted here")
    try:
        scene = write_scene(small / "shot.usda", cameras=2000)
        show = make_show(small, tmp_path / "plan")
        approval.approve(show.plan)
        before = digests(small)
        for room in (0, 30_000):
            fill = small / "full"
            free = shutil.disk_usage(small).free
            fill.write_bytes(b"0" * max(0, free - room))
            with suppress(engine.Stopped):
                run(show.plan, 1)
            entry = ledger.entries(show.plan, 0)[0]
            fill.unlink()
            assert entry["state"] == "failed"
            assert "No space left" in entry["why"] or "space" in entry["why"].lower()
            assert digest_file(scene) == before["shot.usda"][0]
            assert sorted(os.listdir(small)) == ["shot.usda"]
        assert run(show.plan).states == {"done": 1}
    finally:
        subprocess.run(["umount", str(small)], check=True)


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
    assert swap.Places.of(show.plan, show.plan.scene(0), show.root).kept.exists()
