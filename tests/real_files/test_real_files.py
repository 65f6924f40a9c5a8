"""A choice of real files, played in about two minutes; ``python -m tests.real_files`` plays all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real_files import places
from tests.real_files.play import play_copy, play_imports

pytestmark = [pytest.mark.real, pytest.mark.timeout(600)]
COLLECTIONS = {collection.name: collection for collection in places.COLLECTIONS}
OPENED = (
    ("blender's own", "2D_Animation/startup.blend"),
    ("blender's own", "Sculpting/startup.blend"),
    ("assimp", "BlenderDefault_248.blend"),
    ("assimp", "TorusLightsCams_250_compressed.blend"),
    ("assimp", "test_279.blend"),
    ("freecad's own", "calculix/box_static.FCStd"),
    ("freecad's own", "calculix/thermomech_flow1D.FCStd"),
    ("freecad's own", "PathTests/test_geomop.fcstd"),
    ("wheels", "newton/examples/assets/ant.usda"),
    ("wheels", "newton/examples/assets/crazyflie.usd"),
    ("wheels", "warp/examples/assets/square_cloth.usd"),
)
IMPORTED = {
    "assimp into blender": (
        *("Collada/duck.dae", "FBX/spider.fbx", "FBX/box.fbx", "OBJ/box.obj", "PLY/cube.ply"),
        *("STL/Spider_binary.stl", "glTF2/BoxTextured-glTF-Binary/BoxTextured.glb"),
    ),
    "assimp into freecad": (
        "DXF/wuson.dxf",
        "Collada/cameras.dae",
        "OBJ/box.obj",
        "PLY/points.ply",
    ),
    "freecad's drawings": ("OpenSCADTest/data/Square.dxf",),
}


def found(collection: str, end: str) -> Path:
    """Return the file of a collection; the test is skipped by name where it is not here."""
    for file in COLLECTIONS[collection].files():
        if file.as_posix().endswith(f"/{end}"):
            return file
    pytest.skip(f"{end} of {collection} is not here")


@pytest.mark.parametrize(("collection", "end"), OPENED)
def test_a_file_that_is_opened_and_edited_is_the_same_after_undo(collection: str, end: str) -> None:
    """It is read, drawn, exported, and its items deleted, renamed, moved and copied."""
    outcome = play_copy(COLLECTIONS[collection].host, found(collection, end))

    assert outcome.wrong == []
    assert outcome.calls > 20


@pytest.mark.parametrize("collection", IMPORTED)
def test_a_file_that_is_imported_is_gone_after_undo(collection: str) -> None:
    """One that cannot be read is told in a sentence, and leaves the scene as it was."""
    files = [found(collection, end) for end in IMPORTED[collection]]

    outcomes = play_imports(COLLECTIONS[collection].host, files)

    assert {outcome.file.name: outcome.wrong for outcome in outcomes if outcome.wrong} == {}
    assert all(outcome.calls > 1 for outcome in outcomes)
