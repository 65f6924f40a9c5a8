"""The eight tasks in Blender and FreeCAD, over HTTP by a real client."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest

from tests.hosts import bpy_module, freecad
from tests.hosts.application import ROOT, Application, started
from tests.verbs import tasks
from tests.verbs.tasks import Agent, Count, Network, Words

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]
START = ROOT / "tests" / "hosts" / "bpy_start.py"
CORNERS = ["0 0 0", "1 0 0", "1.5 0 0.8", "0.5 0 1.5", "-0.5 0 0.8"]


def obj(folder: Path, *faces: str) -> Path:
    """Write a file in metres, with a face of five corners and a texture that is not there."""
    (folder / "there.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "lid.mtl").write_text("newmtl Wood\nKd 1 1 1\nmap_Kd gone.png\n")
    points = [f"v {corner}" for corner in CORNERS]
    file = folder / "lid.obj"
    faces = faces or ("f 1 2 3 4 5",)
    file.write_text("\n".join(["mtllib lid.mtl", "o Lid", *points, "usemtl Wood", *faces, ""]))
    return file


def mend_image(items: Sequence[str], folder: Path) -> tasks.Things:
    """Put an image in the place of the missing one."""
    value = str(folder / "there.png")
    change = {"item": "image:gone.png", "prop": "filepath", "value": value}
    cut = {"type": "TRIANGULATE_MODIFIER", "under": items[0]}
    return [
        {"do": "set_values", "with": {"changes": [change]}},
        {"do": "create", "with": {"things": [cut]}},
    ]


BLENDER = Words(
    host="Blender",
    box="CUBE",
    group="EMPTY",
    lamp="SPOT_LIGHT",
    power="data.energy",
    numbers=("EMPTY", ("empty_display_size", "pass_index"), 2),
    bad=("empty_display_size", "wide"),
    turn="rotation_euler",
    scaled=({"type": "CUBE", "name": "Plank"}, {"type": "CUBE", "name": "Post"}),
    network=Network(
        [
            {"type": "MATERIAL", "name": "Wood"},
            {"type": "ShaderNodeTexNoise", "name": "Grain", "under": "material:Wood"},
            {"type": "ShaderNodeBump", "name": "Bump", "under": "material:Wood"},
        ],
        [
            {
                "from": "$n1",
                "out": "Color",
                "to": "material:Wood/Principled BSDF",
                "in": "Base Color",
            },
            {"from": "$n1", "out": "Color", "to": "$n2", "in": "Height"},
        ],
        ("Base Colour", "Base Color"),
    ),
    foreign=obj,
    factor=0.01,
    fits=0.02,
    suffix=".blend",
    rules=("missing_files", "ngons"),
    fails=("missing_files", "ngons"),
    mends=mend_image,
)

FREECAD = Words(
    host="FreeCAD",
    box="Part::Box",
    group="App::Part",
    lamp="Part::Cone",
    axis=(0.0, 0.0, 1.0),
    numbers=("Part::Box", ("Length", "Width"), 2.5),
    bad=("Length", "tall"),
    turn="",
    scaled=(),
    network=Network(
        [
            {"type": "Part::Box", "name": "Board"},
            {"type": "Part::Cylinder", "name": "Hole"},
            {"type": "Part::Cut", "name": "Cut"},
        ],
        [
            {"from": "$n0", "out": "Shape", "to": "$n2", "in": "Base"},
            {"from": "$n1", "out": "Shape", "to": "$n2", "in": "Tool"},
            {"from": "$n0", "out": "Height", "to": "$n1", "in": "Height"},
        ],
        ("Cutter", "Tool"),
    ),
    foreign=lambda folder: obj(folder, "f 1 2 3", "f 1 3 4", "f 1 4 5"),  # it reads no others
    factor=1000.0,
    fits=2000.0,
    suffix=".stl",
    rules=("missing_files",),
    draws=False,  # without its window
    missing={
        "unapplied scale": "a Placement in FreeCAD has no scale",
        "turntable": "FreeCAD has no keys, and draws only in its window",
    },
)


def blender(version: str, folder: Path) -> AbstractContextManager[Application]:
    """Start Blender as the module ``bpy``."""
    python = bpy_module.python(version)
    if python is None:
        pytest.skip(f"Python {bpy_module.VERSIONS[version]} is not installed")
    return started([python, START], folder, DCC_BRIDGE_SKILLS=str(tasks.SKILLS))


def freecad_console(folder: Path) -> AbstractContextManager[Application]:
    """Start freecadcmd."""
    if freecad.CONSOLE is None:
        pytest.skip("FreeCAD is not installed")
    script = freecad.script("from tests.hosts.freecad_start import run; run()", folder)
    return started([freecad.CONSOLE, script], folder, DCC_BRIDGE_SKILLS=str(tasks.SKILLS))


Start = Callable[[Path], AbstractContextManager[Application]]
HOSTS: dict[str, tuple[Words, Start]] = {
    **{f"bpy {it}": (BLENDER, partial(blender, it)) for it in bpy_module.VERSIONS},
    "FreeCAD": (FREECAD, freecad_console),
}


@pytest.fixture(scope="module", params=HOSTS)
def host(request: pytest.FixtureRequest) -> Iterator[tuple[Words, Start, dict[str, Count]]]:
    """Give a host's words, its start, and what its tasks took so far."""
    taken: dict[str, Count] = {}
    yield *HOSTS[request.param], taken
    if taken:
        print(f"\n{request.param}\n{tasks.table(taken)}", file=sys.stderr)


@pytest.mark.parametrize("name", tasks.TASKS)
def test_a_task_is_done_and_undone_in_few_calls(
    name: str, host: tuple[Words, Start, dict[str, Count]], tmp_path: Path
) -> None:
    """Each is checked on the scene, is one undo step, and leaves nothing once that is undone."""
    words, start, taken = host
    if name in words.missing:
        pytest.skip(words.missing[name])
    agent = Agent(words, tmp_path)
    home = tmp_path / "home"
    home.mkdir()

    with start(home) as running:

        async def work() -> None:
            async with running.client(asked=agent.asked) as client:
                agent.client = client
                await tasks.TASKS[name](agent)

        running.run(work)
        running.order("close")
        assert running.end() == 0, running.output

    taken[name] = agent.count
    assert agent.count.calls <= 6
