"""Blender as the module ``bpy``, in each of its versions that are tried."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult
from PIL import Image

from tests.blender import bpy_module, window
from tests.hosts.application import Application, started
from tests.hosts.application_contract import ConsoleContract
from tests.live import ERAS, accept, status, text
from tests.verbs.steps import step

START = Path(__file__).parent / "bpy_start.py"
TRIALS = Path(__file__).parent / "trial" / "skills"

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]

OPENED_AGAIN = """
import sys
sys.path[:0] = {paths!r}
import bpy
from dcc_bridge_blender.host import BlenderHost

host, looks = BlenderHost(), []
bpy.ops.wm.save_as_mainfile(filepath={file!r})
for _ in range(3):
    before = host.undo_mark()
    with host.undo_step("Look"):
        pass
    looks.append(host.undo_mark() == before)
    with host.undo_step("Move"):
        bpy.data.objects["Cube"].location.x += 1
    host.undo()
    looks += [host.undo_mark() == before, bpy.data.objects["Cube"].location.x == 0]
    bpy.ops.wm.open_mainfile(filepath={file!r}, load_ui=False)
host.close()
print("LOOKS", looks)
"""


@pytest.fixture(params=bpy_module.VERSIONS)
def python(request: pytest.FixtureRequest) -> Path:
    return bpy_module.installed(request.param)


@pytest.fixture
def blender(python: Path, tmp_path: Path) -> Iterator[Application]:
    """Blender without a window, with the plug-in's server; it has to end well."""
    with serving([python, START], tmp_path) as running:
        yield running


@contextmanager
def serving(
    command: Sequence[str | Path], folder: Path, **environment: str
) -> Iterator[Application]:
    """Run Blender without a window as long as the block lasts; it has to end well."""
    temporary = folder / "temporary"  # a body may write files of its own there
    temporary.mkdir()
    ours = {"DCC_BRIDGE_SKILLS": str(TRIALS), "TMPDIR": str(temporary)}
    with started(command, folder, **ours, **environment) as running:
        yield running
        running.order("close")
        assert running.end() == 0, running.output


class TestConsole(ConsoleContract):
    """What every interpreter with the bridge in it promises, where nobody sits."""

    DELETE = ("delete", {"pattern": "C*"})
    DELETED = frozenset({"Cube", "Camera"})
    ASKED = "Delete 2 objects?"
    FAILS = ("break_off", {"name": "half"})
    WHY = "halfway"

    @pytest.fixture
    def console(self, blender: Application) -> Application:
        return blender

    def state(self, application: Application) -> dict[str, object]:
        rows = json.loads(names(application))["rows"]
        every = [row["item"] for row in rows]
        return {it: text(application.call("inspect", {"items": [it]})) for it in every}


def names(blender: Application) -> str:
    return text(blender.call("list_items", {}))


@pytest.mark.parametrize("file", ["bpy_contract.py", "bpy_losses.py"])
@pytest.mark.parametrize("version", [*bpy_module.VERSIONS, bpy_module.IN_BACKGROUND])
def test_blender_keeps_the_promises_of_every_host(version: str, file: str, tmp_path: Path) -> None:
    """They run inside of it, and it ends well."""
    contract = bpy_module.ROOT / "tests" / "blender" / file
    bpy_module.run_tests(version, contract, tmp_path)


@pytest.mark.parametrize("version", [*bpy_module.VERSIONS, bpy_module.IN_BACKGROUND])
def test_a_job_rests_only_where_its_operators_act_on_the_same_afterwards(
    version: str, tmp_path: Path
) -> None:
    rests = bpy_module.ROOT / "tests" / "blender" / "bpy_rests.py"
    bpy_module.run_tests(version, rests, tmp_path)


def exports_once_it_is_agreed_to(blender: Application, folder: Path) -> None:
    """See that a skill is stopped before it has written, and a person is asked about the file."""
    file = folder / "out.obj"
    export = "export_without_a_word", {"path": str(file)}
    asked: list[str] = []

    def no(params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="decline")

    refused = blender.call(*export, asked=no)
    after_no = file.exists(), "Exported" in names(blender)
    done = blender.call(*export, asked=accept(confirm=True))

    assert (status(refused), *after_no) == ("refused", False, False), text(refused)
    assert [str(file) in message for message in asked] == [True], asked
    assert (status(done), file.exists()) == ("done", True), text(done)
    assert "Exported" in names(blender)


def test_an_operator_that_exports_in_c_is_asked_about_before_there_is_a_file(
    blender: Application, tmp_path: Path
) -> None:
    exports_once_it_is_agreed_to(blender, tmp_path)


@pytest.mark.skipif(window.PROGRAM is None, reason="Blender is not installed")
def test_so_it_is_in_the_installed_blender(tmp_path: Path) -> None:
    packages = [it for it in sys.path if it.endswith("site-packages")]
    command = [str(window.PROGRAM), "-b", "--factory-startup", "--python", str(START)]
    with serving(command, tmp_path, BLENDER_PATH=os.pathsep.join(packages)) as running:
        exports_once_it_is_agreed_to(running, tmp_path)


@pytest.mark.parametrize("era", ERAS)
def test_a_skill_waits_while_another_one_reads(blender: Application, era: str) -> None:
    """It is suspended in mid-body, on the only thread that Blender has."""
    meanwhile: list[str] = []

    async def asked(params: ElicitRequestParams) -> ElicitResult:
        async with blender.client() as other:
            meanwhile.append(text(await other.call_tool("list_items", {})))
        return ElicitResult(action="accept", content={"name": "Crane"})

    result = blender.call("name_object", {}, era=era, asked=asked)

    assert "Cube" in meanwhile[0]
    assert text(result).startswith("Crane Now: created: Crane.")
    assert "Crane" in names(blender)


def test_code_that_uses_a_name_which_went_away_is_told_the_new_one(
    python: Path, tmp_path: Path
) -> None:
    """And not the names of other types that are like it."""
    code = 'bpy.data.objects["Cube"].data.use_auto_smooth = True'
    sent = {"code": code, "why": "The edges look flat."}

    with serving([python, START], tmp_path) as blender:
        failed = text(blender.call("run_python", sent, asked=accept(confirm=True)))

    assert "Mesh.use_auto_smooth is gone since Blender 4; use Mesh.set_sharp_from_angle" in failed
    assert "mesh.set_sharp_from_angle(angle=0.5236)" in failed
    assert "find_api knows" not in failed


@pytest.mark.parametrize("code", ["print(m.widht)", "m.widht = 0.1"])
def test_a_slip_in_a_name_of_an_object_meets_the_names_of_that_object_alone(
    code: str, python: Path, tmp_path: Path
) -> None:
    adds = 'm = bpy.data.objects["Cube"].modifiers.new("Bevel", "BEVEL")'
    sent = {"code": f"{adds}\n{code}", "why": "The edges look sharp."}

    with serving([python, START], tmp_path) as blender:
        failed = text(blender.call("run_python", sent, asked=accept(confirm=True)))

    assert "It has: width" in failed
    assert "find_api knows: BevelModifier.width float" in failed
    assert "Theme" not in failed


def test_another_file_may_be_opened_in_between(blender: Application) -> None:
    """Its scene is served then, with an undo stack of its own; so is a new one."""
    blender.call("add_object", {"name": "First"})
    blender.order("load")
    blender.obeyed()

    loaded = names(blender)
    failed = blender.call("break_off", {"name": "half"})
    added = blender.call("add_object", {"name": "Second"})
    there = names(blender)
    blender.order("undo", "new")
    blender.obeyed()

    assert "First" in loaded
    assert "Light" not in loaded
    assert status(failed) == "failed"
    assert status(added) == "done"
    assert "half" not in there
    assert "Second" in there
    assert "Light" in names(blender)


@pytest.mark.skipif(window.PROGRAM is None, reason="Blender is not installed")
def test_in_a_second_file_a_step_without_an_edit_is_no_change_and_an_edit_is_undone(
    tmp_path: Path,
) -> None:
    """Without a window and its layout, Blender 3.4 keeps the undo entries of the file before."""
    packages = [it for it in sys.path if it.endswith("site-packages")]
    paths = [*bpy_module.PATHS, *packages]
    script = tmp_path / "again.py"
    script.write_text(OPENED_AGAIN.format(paths=paths, file=str(tmp_path / "shot.blend")))

    done = subprocess.run(
        [str(window.PROGRAM), "-b", "--factory-startup", "--python", script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert str([True] * 9) in done.stdout, done.stdout + done.stderr


def test_a_file_that_is_opened_while_a_skill_waits_ends_well(blender: Application) -> None:
    """What it agreed to is another scene's, so it is asked again; nothing that is gone is used."""

    async def agent() -> CallToolResult:
        times: list[str] = []

        async def asked(params: ElicitRequestParams) -> ElicitResult:
            times.append(params.message)
            if len(times) == 1:
                blender.order("load")
                await anyio.to_thread.run_sync(blender.obeyed)
                return ElicitResult(action="accept", content={"confirm": True})
            return ElicitResult(action="decline")

        async with blender.client(asked=asked) as client:
            return await client.call_tool("delete", {"pattern": "Cube"})

    result = blender.run(agent)

    assert status(result) == "refused"
    assert "Cube" in names(blender)


def test_a_skill_that_loses_what_nobody_agreed_to_is_found_out(
    blender: Application, tmp_path: Path
) -> None:
    """It deletes more, and opens another file, of which it says where a copy is.

    To save is no loss that anybody had to find out: nobody can be asked, so nothing is written.
    """
    more = blender.call("delete_more", {}, asked=accept(confirm=True))
    left = names(blender)
    blender.order("save")
    blender.obeyed()
    file = tmp_path / "mine.blend"
    old = file.read_bytes()
    saved = blender.call("save_anyway", {"name": "Extra"})
    kept = file.read_bytes()
    opened = blender.call("open_anyway", {"path": str(file)})

    assert status(more) == "no_consent"
    assert "Cube" in left
    assert "Light" in left
    assert (status(saved), kept == old) == ("refused", True), text(saved)
    assert status(opened) == "partly_applied"
    assert "mine.blend.checkpoints" in text(opened)


def test_a_batch_that_deletes_may_replace_what_leads_into_a_material(
    blender: Application, tmp_path: Path
) -> None:
    """The material is named in the step; the image that it had is a part of it."""
    image = tmp_path / "wood.png"
    Image.new("RGB", (4, 4)).save(image)
    given = {"items": ["Cube"], "material": "Material"}
    first = blender.call("assign_material", {**given, "values": {"texture": str(image)}})

    both = blender.call(
        "batch",
        {
            "steps": [
                step("delete", items=["Light"]),
                step("assign_material", **given, values={"base_color": [1, 0, 0]}),
            ]
        },
        asked=accept(confirm=True),
    )

    assert status(first) == "done", text(first)
    assert status(both) == "done", text(both)
    assert "Light" not in names(blender)


RIG = [
    {"type": "ARMATURE", "name": "Rig"},
    {"type": "BONE", "name": "Arm", "under": "Rig", "values": {"tail": [0, 0, 1]}},
    {"type": "BONE", "name": "Hand", "under": "Rig/bone:Arm"},
    {"type": "IK_CONSTRAINT", "name": "Reach", "under": "Rig/bone:Hand"},
    {
        "type": "VERTEX_GROUP",
        "name": "Hand",
        "under": "Cube",
        "values": {"weights": {"low": [-1, -1, 0], "high": [1, 1, 1], "weight": 1}},
    },
    {"type": "ARMATURE_MODIFIER", "under": "Cube", "values": {"object": "Rig"}},
]


def test_an_agent_rigs_a_mesh_and_a_person_is_asked_before_a_bone_goes(
    blender: Application,
) -> None:
    """One undo brings back the bone with its constraint."""
    asked: list[str] = []

    def agree(params: ElicitRequestParams) -> ElicitResult:
        asked.append(params.message)
        return ElicitResult(action="accept", content={"confirm": True})

    rigged = blender.call("batch", {"steps": [step("create", things=RIG)]})
    posed = blender.call(
        "set_values", {"items": ["Rig/bone:Hand"], "values": {"location": [0, 2, 0]}}
    )
    moved = json.loads(text(blender.call("inspect", {"items": ["Cube"], "parts": ["bounds"]})))
    deleted = blender.call("delete", {"items": ["Rig/bone:Hand"]}, asked=agree)
    without = text(blender.call("list_items", {"under": "Rig/bone:"}))
    undone = blender.call("undo_last", {})
    again = text(blender.call("list_items", {"under": "Rig/bone:Hand/"}))

    answers = [status(each) for each in (rigged, posed, deleted, undone)]
    assert answers == ["done"] * 4, [text(each) for each in (rigged, posed, deleted, undone)]
    assert moved["items"][0]["bounds"][1][2] == pytest.approx(3, abs=1e-4)
    assert len(asked) == 1
    assert 'Delete the bone "Rig/bone:Hand"?' in asked[0]
    assert "1 thing will break: Cube/vertex_group:Hand" in asked[0]
    assert "Rig/bone:Hand" not in without
    assert "Rig/bone:Hand/constraint:Reach" in again


def test_a_batch_asks_once_for_the_parts_that_it_deletes(blender: Application) -> None:
    blender.call("batch", {"steps": [step("create", things=RIG)]})
    steps = [
        step("delete", items=["Rig/bone:Hand/constraint:Reach", "Cube/vertex_group:Hand"]),
        step("delete", items=["Cube/modifier:Armature"]),
    ]

    both = blender.call("batch", {"steps": steps}, asked=accept(confirm=True))

    assert status(both) == "done", text(both)
    assert "vertex_group" not in text(blender.call("list_items", {"under": "Cube/"}))
