"""What each host calls things, and how it is started for an agent over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import pytest
from pxr import Usd, UsdGeom

from dcc_bridge_usd import install
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations as usd_operations
from tests.blender import bpy_module
from tests.hosts import freecad
from tests.hosts.application import ROOT, Application, started
from tests.hosts.fakes.houdini import Houdini
from tests.hosts.fakes.maya import Maya
from tests.hosts.fakes.maya.shots import furnish
from tests.live import Live, live
from tests.verbs import tasks
from tests.verbs.steps import step
from tests.verbs.tasks import Network, Words

START: Final = ROOT / "tests" / "blender" / "bpy_start.py"
CORNERS: Final[list[list[float]]] = [
    [0, 0, 0],
    [1, 0, 0],
    [1.5, 0, 0.8],
    [0.5, 0, 1.5],
    [-0.5, 0, 0.8],
]


def leaf(host: str) -> dict[str, Any]:
    """Return the skills and operations with which a bridge serves a host; tests call the skills."""
    operations = import_module(f"dcc_bridge_{host}.operations").operations
    return {"skills": [tasks.SKILLS], "operations": operations}


# ---- our own application

CUBE = [[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]
SIDES = [0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3]
FOREIGN = """#usda 1.0
(
    defaultPrim = "Crate"
    metersPerUnit = 0.01
    upAxis = "Y"
)
def Xform "Crate"
{
    def Mesh "Lid"
    {
        point3f[] points = [(0, 0, 0), (100, 0, 0), (150, 0, 80), (50, 0, 150), (-50, 0, 80)]
        int[] faceVertexCounts = [5]
        int[] faceVertexIndices = [0, 1, 2, 3, 4]
        float3[] extent = [(-50, 0, 0), (150, 0, 150)]
    }
    def Material "Wood"
    {
        def Shader "Texture"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./gone.png@
        }
    }
}
"""


def usd_file(folder: Path) -> Path:
    """Write a file in centimetres, with a face of five corners and a texture that is not there."""
    (folder / "there.png").touch()
    file = folder / "crate.usda"
    file.write_text(FOREIGN)
    return file


def mend_usd(items: Sequence[str], folder: Path) -> tasks.Things:
    """Put a texture in the place of the missing one, and cut the face into three."""
    texture = f"{items[0]}/Crate/Wood/Texture"
    lid = f"{items[0]}/Crate/Lid"
    changes = [
        {"item": texture, "prop": "inputs:file", "value": "./there.png"},
        {"item": lid, "prop": "faceVertexCounts", "value": [3, 3, 3]},
        {"item": lid, "prop": "faceVertexIndices", "value": [0, 1, 2, 0, 2, 3, 0, 3, 4]},
    ]
    return [step("set_values", changes=changes)]


def mesh(name: str) -> dict[str, object]:
    """Give a mesh to create."""
    counts = {"faceVertexCounts": [4] * 6, "faceVertexIndices": SIDES}
    return {"type": "Mesh", "name": name, "values": {"points": CUBE, **counts}}


USD = Words(
    host="USD",
    box="Cube",
    group="Xform",
    lamp="SphereLight",
    power="inputs:intensity",
    numbers=("Cylinder", ("height", "radius"), 0.25),
    bad=("height", "tall"),
    turn="xformOp:rotateXYZ",
    scaled=(mesh("Plank"), mesh("Post")),
    network=Network(
        [
            {"type": "Material", "name": "Wood"},
            {"type": "UsdPreviewSurface", "name": "Surface", "under": "/World/Wood"},
            {"type": "UsdUVTexture", "name": "Texture", "under": "/World/Wood"},
        ],
        [
            {"from": "$n1", "out": "surface", "to": "$n0", "in": "surface"},
            {"from": "$n2", "out": "rgb", "to": "$n1", "in": "diffuseColor"},
        ],
        ("baseColor", "diffuseColor"),
    ),
    foreign=usd_file,
    crown="Cube",
    factor=0.01,
    fits=2.0,
    suffix=".usda",
    rules=("missing_files", "absolute_paths", "ngons"),
    fails=("missing_files", "ngons"),
    mends=mend_usd,
)


@contextmanager
def usd(folder: Path) -> Iterator[Live]:
    """Serve an empty scene, in metres, that has a file."""
    stage = Usd.Stage.CreateNew(str(folder / "scene.usda"))
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    stage.Save()
    session = UsdSession(folder / "scene.usda")
    uninstall = install(session)
    with live(
        folder / "runtime",
        host=session,
        operations=usd_operations,
        skills=[tasks.SKILLS],
        dialogs_per_minute=99,
    ) as running:
        yield running
    uninstall()


def _live(folder: Path, host: Any, name: str) -> AbstractContextManager[Live]:
    return live(folder / "runtime", host=host, **leaf(name), dialogs_per_minute=99)


# ---- the stand-ins


def maya_file(folder: Path) -> Path:
    """Write a file in metres, with a face of five corners and a texture that is not there."""
    (folder / "there.png").touch()
    faces = {"points": CORNERS, "faces": [[0, 1, 2, 3, 4]]}
    (folder / "lid.obj").write_text(json.dumps([{"name": "lid", "texture": "gone.png", **faces}]))
    return folder / "lid.obj"


def mend_maya(items: Sequence[str], folder: Path) -> tasks.Things:
    """Put a texture in the place of the missing one."""
    texture = str(folder / "there.png")
    change = {"item": "file1", "prop": "fileTextureName", "value": texture}
    return [step("set_values", changes=[change])]


MAYA = Words(
    host="Maya",
    box="polyCube",
    group="transform",
    lamp="areaLight",
    power="intensity",
    numbers=("camera", ("focalLength", "centerOfInterest"), 25.0),
    bad=("focalLength", "wide"),
    turn="rotate",
    scaled=({"type": "polyCube", "name": "Plank"}, {"type": "polyCube", "name": "Post"}),
    network=Network(
        [
            {"type": "standardSurface", "name": "Wood"},
            {"type": "file", "name": "Grain"},
            {"type": "bump2d", "name": "Bump"},
        ],
        [
            {"from": "$n1", "out": "outColor", "to": "$n0", "in": "baseColor"},
            {"from": "$n1", "out": "outAlpha", "to": "$n2", "in": "bumpValue"},
            {"from": "$n2", "out": "outNormal", "to": "$n0", "in": "normalCamera"},
        ],
        ("baseColour", "baseColor"),
    ),
    foreign=maya_file,
    factor=100.0,
    fits=200.0,
    suffix=".ma",
    rules=("missing_files", "ngons"),
    fails=("missing_files", "ngons"),
    stays=("ngons",),  # no verb cuts faces here
    saves_as="tour.ma",
    mends=mend_maya,
)


@contextmanager
def maya(folder: Path) -> Iterator[Live]:
    """Serve the stand-in of Maya."""
    with pytest.MonkeyPatch.context() as patch:
        furnish(Maya(patch))
        host = import_module("dcc_bridge_maya.host").MayaHost()
        with _live(folder, host, "maya") as running:
            yield running


def houdini_file(folder: Path) -> Path:
    """Write a file in metres; what names it, names it by its whole path."""
    (folder / "lid.obj").write_text("[[0, 0, 0], [2, 1, 1]]")
    return folder / "lid.obj"


def mend_houdini(items: Sequence[str], folder: Path) -> tasks.Things:
    """Name the file from the scene's folder."""
    changes = [{"item": f"{items[0]}/file1", "prop": "file", "value": "$HIP/lid.obj"}]
    return [step("set_values", changes=changes)]


HOUDINI = Words(
    host="Houdini",
    box="box",
    group="null",
    lamp="hlight",
    numbers=("cam", ("focal", "near"), 25.0),
    bad=("focal", "wide"),
    turn="r",
    scaled=({"type": "box", "name": "Plank"}, {"type": "box", "name": "Post"}),
    network=Network(
        [
            {"type": "geo", "name": "Board"},
            {"type": "box", "name": "Plank", "under": "$n0"},
            {"type": "merge", "name": "All", "under": "$n0"},
        ],
        [{"from": "$n1", "out": "output1", "to": "$n2", "in": "input2"}],
        ("second", "input2"),
    ),
    foreign=houdini_file,
    factor=100.0,
    fits=200.0,
    suffix=".obj",
    rules=("missing_files", "absolute_paths"),
    fails=("absolute_paths",),
    mends=mend_houdini,
)


@contextmanager
def houdini(folder: Path) -> Iterator[Live]:
    """Serve the stand-in of Houdini, with a scene that has a file."""
    with pytest.MonkeyPatch.context() as patch:
        scene = Houdini(patch).scene
        patch.setattr("hou.ui.postEventCallback", lambda run: run())  # its loop does not turn
        scene.path, scene.is_new = (folder / "shot.hip").as_posix(), False
        host = import_module("dcc_bridge_houdini.host").HoudiniHost()
        with _live(folder, host, "houdini") as running:
            yield running


# ---- Blender and FreeCAD


def obj(folder: Path, *faces: str) -> Path:
    """Write a file in metres, with a face of five corners and a texture that is not there."""
    (folder / "there.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "lid.mtl").write_text("newmtl Wood\nKd 1 1 1\nmap_Kd gone.png\n")
    points = ["v {} {} {}".format(*corner) for corner in CORNERS]
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
        step("set_values", changes=[change]),
        step("create", things=[cut]),
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

UNSCALED = {"unapplied scale": "a Placement in FreeCAD has no scale"}
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
    missing={**UNSCALED, "turntable": "FreeCAD has no keys, and draws only in its window"},
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
    script = freecad.script("from tests.freecad.start import run; run()", folder)
    return started([freecad.CONSOLE, script], folder, **tasks.SETTINGS)


@contextmanager
def ending(
    start: Callable[[Path], AbstractContextManager[Application]], folder: Path
) -> Iterator[Application]:
    """Start an application with a home of its own, and have it end well."""
    (home := folder / "home").mkdir()
    with start(home) as running:
        yield running
        running.order("close")
        assert running.end() == 0, running.output


Start = Callable[[Path], AbstractContextManager[Live | Application]]
STAND_INS: Final[dict[str, tuple[Words, Start]]] = {
    "USD": (USD, usd), "Maya": (MAYA, maya), "Houdini": (HOUDINI, houdini)
}  # fmt: skip
APPLICATIONS: Final[dict[str, tuple[Words, Start]]] = {
    **{f"bpy {it}": (BLENDER, partial(ending, partial(blender, it))) for it in bpy_module.VERSIONS},
    "FreeCAD": (FREECAD, partial(ending, freecad_console)),
}
