"""The eight tasks in our own application, over HTTP by a real client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pxr import Usd, UsdGeom

from dcc_bridge.hosts.standalone import UsdSession, install
from tests.hosts.application import ROOT
from tests.live import Live, live
from tests.tiers import sampled
from tests.verbs import tasks
from tests.verbs.tasks import Agent, Count, Network, Words

SKILLS = [ROOT / "plugins" / "standalone" / "skills", tasks.SKILLS]
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


def foreign(folder: Path) -> Path:
    """Write a file in centimetres, with a face of five corners and a texture that is not there."""
    (folder / "there.png").touch()
    file = folder / "crate.usda"
    file.write_text(FOREIGN)
    return file


def mends(items: Sequence[str], folder: Path) -> tasks.Things:
    """Put a texture in the place of the missing one, and cut the face into three."""
    texture, lid = f"{items[0]}/Crate/Wood/Texture", f"{items[0]}/Crate/Lid"
    changes = [
        {"item": texture, "prop": "inputs:file", "value": "./there.png"},
        {"item": lid, "prop": "faceVertexCounts", "value": [3, 3, 3]},
        {"item": lid, "prop": "faceVertexIndices", "value": [0, 1, 2, 0, 2, 3, 0, 3, 4]},
    ]
    return [{"do": "set_values", "with": {"changes": changes}}]


def mesh(name: str) -> dict[str, object]:
    """Give a mesh to create."""
    counts = {"faceVertexCounts": [4] * 6, "faceVertexIndices": SIDES}
    return {"type": "Mesh", "name": name, "values": {"points": CUBE, **counts}}


STANDALONE = Words(
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
    foreign=foreign,
    crown="Cube",
    factor=0.01,
    fits=2.0,
    suffix=".usda",
    rules=("missing_files", "absolute_paths", "ngons"),
    fails=("missing_files", "ngons"),
    mends=mends,
)


@pytest.fixture
def bridge(tmp_path: Path) -> Iterator[Live]:
    """Give an application with an empty scene, in metres, that has a file."""
    stage = Usd.Stage.CreateNew(str(tmp_path / "scene.usda"))
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    stage.Save()
    session = UsdSession(tmp_path / "scene.usda")
    uninstall = install(session)
    with live(tmp_path / "runtime", host=session, skills=SKILLS, dialogs_per_minute=99) as running:
        yield running
    uninstall()


@pytest.mark.parametrize(
    "name", sampled(["renames", "values", *tasks.QUICK], [*tasks.TASKS, *tasks.MORE])
)
def test_a_task_is_done_and_undone_in_few_calls(
    name: str, bridge: Live, tmp_path: Path, counts: dict[str, Count]
) -> None:
    """Each is checked on the scene, is one undo step, and leaves nothing once that is undone."""
    agent = Agent(STANDALONE, tmp_path)

    async def work() -> None:
        async with bridge.client(asked=agent.asked) as client:
            agent.client = client
            await tasks.do(agent, name, counts)

    bridge.run(work, limit=200)
