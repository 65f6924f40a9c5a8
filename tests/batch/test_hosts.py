"""Plans and runs in real Blender and FreeCAD, and what a warm host saves."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcc_batch import approval, engine, outcome, planning, scenes
from dcc_batch.plan import Plan, Request
from tests.batch.conftest import PLUGIN, ROOT, digests

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
    bpy.ops.wm.save_as_mainfile(filepath="{folder}/shot %03d.blend" % number)
"""
FREECAD = """
import os
import FreeCAD
for number in range({count}):
    document = FreeCAD.newDocument("d%d" % number)
    for name in ("cam_0", "cam_1", "keep"):
        document.addObject("Part::Box", name)
    document.recompute()
    document.saveAs("{folder}/shot %03d.FCStd" % number)
os._exit(0)
"""
HOSTS = {
    "blender": (["blender", "-b", "--python"], BLENDER),
    "freecad": (["freecadcmd"], FREECAD),
}


def make_scenes(host: str, folder: Path, count: int) -> None:
    """Have a host write scenes, each with two objects to delete and one to keep."""
    command, script = HOSTS[host]
    file = folder / "make.py"
    file.write_text(script.format(folder=folder / "show", count=count))
    (folder / "show").mkdir()
    subprocess.run([*command, str(file)], check=True, capture_output=True, timeout=300)


def planned(host: str, folder: Path, count: int, chunk: int) -> Plan:
    """Plan and approve a deletion in many scenes."""
    if shutil.which(HOSTS[host][0][0]) is None:
        pytest.skip(f"{host} is not installed")
    make_scenes(host, folder, count)
    request = Request(host, "delete_objects", {"pattern": "cam_*"}, chunk=chunk)
    paths = scenes.find([str(folder / "show" / "*")], folder)
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


SETTINGS = """
import sys
sys.path[:0] = {paths!r}
import FreeCAD
from dcc_batch import host_files
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


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.skipif("BATCH_HOURS" not in os.environ, reason="an hour: BATCH_HOURS=1 runs it")
def test_what_two_hundred_scenes_cost_in_one_blender_and_in_one_each(tmp_path: Path) -> None:
    plan = planned("blender", tmp_path, 200, 50)
    begin = time.monotonic()
    engine.Run(plan, 1).run()
    warm = (time.monotonic() - begin) / 200
    outcome.roll_back(plan, plan.root)

    shutil.copytree(tmp_path / "show", tmp_path / "cold" / "show")
    request = Request("blender", "delete_objects", {"pattern": "cam_*"}, chunk=1)
    few = scenes.find([str(tmp_path / "cold" / "show" / "shot 00*")], tmp_path)
    cold_plan = planning.make(request, few, tmp_path / "cold" / "plan", 1)
    approval.approve(cold_plan)
    begin = time.monotonic()
    for number in range(len(few)):  # each in a session of its own
        run = engine.Run(cold_plan, 1)
        run.only = [number]
        run.run()
    cold = (time.monotonic() - begin) / len(few)
    print(f"\nblender: warm {warm:.2f} s a scene, cold {cold:.2f} s, {cold / warm:.1f} times",
          file=sys.stderr)  # fmt: skip

    assert outcome.totals(cold_plan).states == {"done": len(few)}
    assert cold > 3 * warm
