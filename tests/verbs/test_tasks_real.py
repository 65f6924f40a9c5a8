"""The eight tasks in Blender and FreeCAD, over HTTP by a real client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.hosts import blender_window as blender_34
from tests.hosts import bpy_module, freecad
from tests.hosts.application import ROOT, Application, started
from tests.hosts.screen import Screen, missing, screen
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
    saves_as="tour.blend",
)

_UNSCALED = {"unapplied scale": "a Placement in FreeCAD has no scale"}
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
        **_UNSCALED,
        "turntable": "FreeCAD has no keys, and draws only in its window",
    },
)


def blender(version: str, folder: Path) -> AbstractContextManager[Application]:
    """Start Blender as the module ``bpy``."""
    python = bpy_module.python(version)
    if python is None:
        pytest.skip(f"Python {bpy_module.VERSIONS[version]} is not installed")
    return started([python, START], folder, **tasks.SETTINGS)


def freecad_console(folder: Path) -> AbstractContextManager[Application]:
    """Start freecadcmd."""
    if freecad.CONSOLE is None:
        pytest.skip("FreeCAD is not installed")
    script = freecad.script("from tests.hosts.freecad_start import run; run()", folder)
    return started([freecad.CONSOLE, script], folder, **tasks.SETTINGS)


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
    tasks.tell(request.param, taken)


@pytest.mark.parametrize("name", [*tasks.TASKS, *tasks.MORE])
def test_a_task_is_done_and_undone_in_few_calls(
    name: str, host: tuple[Words, Start, dict[str, Count]], tmp_path: Path
) -> None:
    """Each is checked on the scene, is one undo step, and leaves nothing once that is undone."""
    words, start, counts = host
    if name in words.missing:
        pytest.skip(words.missing[name])
    agent = Agent(words, tmp_path)
    home = tmp_path / "home"
    home.mkdir()

    with start(home) as running:

        async def work() -> None:
            async with running.client(asked=agent.asked) as client:
                agent.client = client
                await tasks.do(agent, name, counts)

        running.run(work, limit=280)
        running.order("close")
        assert running.end() == 0, running.output


SEEN: dict[str, Any] = {"DCC_BRIDGE_HOST_DIALOGS": "0", **tasks.SETTINGS}


def blender_window(shown: Screen, folder: Path) -> AbstractContextManager[Application]:
    """Start Blender 3.4 in a window; what it asks, the client answers."""
    if blender_34.PROGRAM is None:
        pytest.skip("Blender is not installed")
    return blender_34.blender(folder, shown, qt=False, **SEEN)


@contextmanager
def freecad_window(shown: Screen, folder: Path) -> Iterator[Application]:
    """Start FreeCAD in a window, with a document; what it asks, the client answers."""
    if freecad.PROGRAM is None:
        pytest.skip("FreeCAD is not installed")
    freecad.settle(folder)
    ours = {"DISPLAY": shown.display, "LIBGL_ALWAYS_SOFTWARE": "1", "QT_QPA_PLATFORM": "xcb"}
    ours |= {"QTWEBENGINE_DISABLE_SANDBOX": "1", **SEEN}
    with started([freecad.PROGRAM], folder, **ours) as application:
        assert application.instance
        application.order("new")
        application.obeyed()
        yield application


WINDOWS: dict[str, tuple[Words, Callable[..., AbstractContextManager[Application]]]] = {
    "Blender 3.4": (BLENDER, blender_window),
    "FreeCAD": (replace(FREECAD, draws=True, missing=_UNSCALED), freecad_window),
}


@pytest.mark.skipif(bool(missing()), reason=f"not installed: {missing()}")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("host", WINDOWS)
def test_in_a_window_all_tasks_and_every_verb_are_done_in_one_session(
    host: str, tmp_path: Path
) -> None:
    words, start = WINDOWS[host]
    first = ["turntable", "unapplied scale"]  # they look at the whole scene
    names = [it for it in dict.fromkeys([*first, *tasks.TASKS]) if it not in words.missing]
    (home := tmp_path / "home").mkdir()

    with screen(*blender_34.SIZE) as shown, start(shown, home) as application:
        tasks.in_turn(application, words, tmp_path, [*names, *tasks.QUICK])
        application.order("close")
        assert application.end() == 0, application.output
