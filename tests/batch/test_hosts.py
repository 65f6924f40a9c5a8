"""Plans and runs in real Blender and FreeCAD, and what a warm host saves."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from dcc_bridge_batch import approval, engine, outcome, planning, scenes
from dcc_bridge_batch.plan import Plan, Request
from tests.batch.conftest import PLUGIN, ROOT, digests, processes

pytestmark = [
    pytest.mark.real,
    pytest.mark.timeout(600),
    pytest.mark.usefixtures("new_interpreter"),
]

BLENDER = """
import bpy
for number in range({count}):
    bpy.ops.wm.read_homefile(use_empty=True)
    names = ["cam_0", "cam_1", "keep"]
    for name in names:
        made = bpy.data.objects.new(name, bpy.data.cameras.new(name))
        bpy.context.scene.collection.objects.link(made)
    bpy.ops.wm.save_as_mainfile(filepath="{folder}/{stem} %03d.blend" % number)
"""
FREECAD = """
import os
import FreeCAD
for number in range({count}):
    document = FreeCAD.newDocument("d%d" % number)
    for name in ("cam_0", "cam_1", "keep"):
        document.addObject("Part::Box", name)
    document.recompute()
    document.saveAs("{folder}/{stem} %03d.FCStd" % number)
os._exit(0)
"""
STEM = "shot é 雪 'x'"  # what an artist may call a file
HOSTS = {"blender": (["blender", "-b", "--python"], BLENDER), "freecad": (["freecadcmd"], FREECAD)}


def make_scenes(host: str, folder: Path, count: int) -> None:
    """Have a host write scenes, each with two objects to delete and one to keep."""
    command, script = HOSTS[host]
    file = folder / "make.py"
    show = folder / "show" / "sq ö"
    show.mkdir(parents=True)
    file.write_text(script.format(folder=show, stem=STEM, count=count), encoding="utf-8")
    subprocess.run([*command, str(file)], check=True, capture_output=True, timeout=300)


def planned(host: str, folder: Path, count: int, chunk: int) -> Plan:
    """Plan and approve a deletion in many scenes."""
    if shutil.which(HOSTS[host][0][0]) is None:
        pytest.skip(f"{host} is not installed")
    make_scenes(host, folder, count)
    request = Request(host, "delete", {"pattern": "cam_*"}, chunk=chunk)
    paths = scenes.find([str(folder / "show" / "*" / "*")], folder)
    plan = planning.make(request, paths, folder / "plan", 1)
    approval.approve(plan)
    return plan


@pytest.mark.parametrize("host", HOSTS)
def test_a_deletion_is_planned_run_and_rolled_back_in(host: str, tmp_path: Path) -> None:
    plan = planned(host, tmp_path, 4, 4)
    before = digests(tmp_path / "show")

    engine.Run(plan, 1).run()
    done = outcome.totals(plan)
    kinds = [it["question"]["items"] for it in plan.scenes()]
    outcome.roll_back(plan, plan.root)

    assert kinds == [["cam_0", "cam_1"]] * 4
    assert done.states == {"done": 4}
    assert digests(tmp_path / "show") == before


def test_a_plan_is_made_by_what_was_installed_into_blender_alone(tmp_path: Path) -> None:
    if shutil.which("blender") is None:
        pytest.skip("Blender is not installed")
    make_scenes("blender", tmp_path, 2)
    home = tmp_path / "home"
    (home / ".config").mkdir(parents=True)
    installed_in(home, "install", "blender")
    words = ["--host=blender", f"--scenes={tmp_path}/show/*/*.blend", f"--out={tmp_path}/plan"]

    plan = installed_in(home, "batch", "plan", *words, '--args={"pattern": "cam_*"}', "delete")

    made = Plan.read(Path(plan.strip()))
    assert [it["question"]["items"] for it in made.scenes()] == [["cam_0", "cam_1"]] * 2


def installed_in(home: Path, *words: str) -> str:
    """Run a command in a home of its own; give its result."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    done = subprocess.run(
        [sys.executable, "-m", "dcc_bridge", *words],
        env={**kept, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


SETTINGS = """
import sys
sys.path[:0] = {paths!r}
import FreeCAD
from dcc_bridge_batch import host_files
own = FreeCAD.ParamGet("User parameter:BaseApp/Preferences/Document")
if {value!r} is not None:
    own.SetBool("CreateBackupFiles", {value!r})
document = FreeCAD.newDocument()
document.saveAs({file!r})
FreeCAD.setActiveDocument(document.Name)
document.addObject("App::FeaturePython", "more")
host_files.CALLS["freecad"].save(None)
"""


@pytest.mark.parametrize(("value", "line"), [(None, ""), (True, 'Value="1"'), (False, 'Value="0"')])
def test_a_save_in_freecad_leaves_the_artists_own_setting(
    tmp_path: Path, value: bool | None, line: str
) -> None:
    if shutil.which("freecadcmd") is None:
        pytest.skip("freecad is not installed")
    packages = [it for it in sys.path if it.endswith("site-packages")]
    paths = [PLUGIN, str(ROOT), *packages]
    script, home = tmp_path / "save.py", tmp_path / "home"
    home.mkdir()
    file = str(tmp_path / "shot.FCStd")
    script.write_text(SETTINGS.format(paths=paths, file=file, value=value))

    subprocess.run(
        ["freecadcmd", str(script)],
        check=True,
        env={**os.environ, "FREECAD_USER_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )

    (profile,) = home.rglob("user.cfg")
    settings = [it for it in profile.read_text().splitlines() if "CreateBackupFiles" in it]
    assert [line in it for it in settings] == ([] if value is None else [True])
    assert list(tmp_path.glob("*.FCBak")) == []


class Memory:
    """Notes how many MB a host has in memory each time a scene of it has come to an end."""

    def __init__(self, words: str) -> None:
        self._words = words  # of its command line
        self.samples: list[float] = []

    def __call__(self, *_: object) -> None:
        for process in processes(self._words)[:1]:
            with suppress(OSError):  # it may end just now
                status = Path(f"/proc/{process}/status").read_text()
                kilobytes = status.partition("VmRSS:")[2].split()[0]
                self.samples.append(int(kilobytes) / 1024)

    def around(self, part: float) -> float:
        """Give the usual one around a part of the run, 0 to 1."""
        at = int(part * len(self.samples))
        return statistics.median(self.samples[max(0, at - 10) : at + 10])


hours = pytest.mark.skipif("BATCH_HOURS" not in os.environ, reason="an hour: BATCH_HOURS=1 runs it")


@pytest.mark.parametrize(
    ("count", "few"),
    [
        pytest.param(20, 2, marks=pytest.mark.long),
        pytest.param(200, 10, marks=[hours, pytest.mark.long, pytest.mark.timeout(7200)]),
    ],
)
def test_many_scenes_in_one_blender_cost_less_than_in_one_each_and_no_more_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, few: int
) -> None:
    monkeypatch.setenv("DCC_BATCH_TEST", str(os.getpid()))
    begin = time.monotonic()
    plan = planned("blender", tmp_path, count, min(count, 50))
    before, planning_took = digests(tmp_path / "show"), time.monotonic() - begin
    memory = Memory("blender -b")
    begin = time.monotonic()
    engine.Run(plan, 1, memory).run()
    warm = (time.monotonic() - begin) / count
    totals = outcome.totals(plan)
    outcome.roll_back(plan, plan.root)

    paths = scenes.find([str(tmp_path / "show" / "*" / "*")], tmp_path)[:few]
    request = Request("blender", "delete", {"pattern": "cam_*"}, chunk=1)
    cold_plan = planning.make(request, paths, tmp_path / "cold", 1)
    approval.approve(cold_plan)
    begin = time.monotonic()
    for number in range(few):  # each in a session of its own
        run = engine.Run(cold_plan, 1)
        run.only = [number]
        run.run()
    cold = (time.monotonic() - begin) / few
    cold_totals = outcome.totals(cold_plan)
    outcome.roll_back(cold_plan, cold_plan.root)
    figures = ", ".join(f"{memory.around(it):.0f}" for it in (0.05, 0.25, 0.5, 0.75, 0.95))
    print(f"\nblender: warm {warm:.2f} s a scene, cold {cold:.2f} s, {cold / warm:.1f} times; made "
          f"and planned in {planning_took:.0f} s; MB at 5, 25, 50, 75, 95 %: {figures}",
          file=sys.stderr)  # fmt: skip

    assert totals.states == {"done": count}
    assert cold_totals.states == {"done": few}
    assert digests(tmp_path / "show") == before
    assert cold > 3 * warm
    assert len(memory.samples) >= count
    assert memory.around(0.95) < 1.1 * memory.around(0.25)
