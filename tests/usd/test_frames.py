"""What `look` shows of a USD stage at several frames, and what its legend says of them."""

from __future__ import annotations

import colorsys
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from pxr import Gf, Usd, UsdGeom, UsdLux, UsdRender, UsdSkel

from dcc_bridge.skills.skill import describe
from dcc_bridge.verbs import seeing
from dcc_bridge.verbs.ports import Drawing
from dcc_bridge_usd.host import UsdSession
from dcc_bridge_usd.operations import operations
from tests.verbs import turntable
from tests.verbs.turntable import DISTANCE, FRAMES, HUES

CAMERA = "/World/Pivot/Camera"
CORNERS = [Gf.Vec3f(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]


def cube(stage: Usd.Stage, name: str, at: tuple[float, float, float]) -> UsdGeom.Cube:
    made = UsdGeom.Cube.Define(stage, f"/World/{name}")
    made.CreateSizeAttr(1.0)
    made.CreateExtentAttr([Gf.Vec3f(-0.5), Gf.Vec3f(0.5)])
    paint(made, name)
    made.AddTranslateOp().Set(Gf.Vec3d(*at))
    return made


def paint(thing: UsdGeom.Gprim, name: str) -> None:
    thing.CreateDisplayColorAttr([Gf.Vec3f(*colorsys.hsv_to_rgb(HUES[name] / 360, 1, 1))])


def mesh(stage: Usd.Stage, name: str) -> UsdGeom.Mesh:
    made = UsdGeom.Mesh.Define(stage, f"/World/Body/{name}")
    made.CreatePointsAttr(CORNERS)
    made.CreateFaceVertexCountsAttr([4])
    made.CreateFaceVertexIndicesAttr([0, 1, 3, 2])
    made.CreateExtentAttr([Gf.Vec3f(-0.5), Gf.Vec3f(0.5)])
    paint(made, name)
    return made


def make(file: Path) -> Path:
    """Write a camera under a keyed pivot, and things of which each is keyed in another way."""
    stage = Usd.Stage.CreateNew(str(file))
    UsdGeom.SetStageUpAxis(stage, "Y")
    UsdGeom.SetStageMetersPerUnit(stage, 1)
    stage.SetTimeCodesPerSecond(30)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    pivot = UsdGeom.Xform.Define(stage, "/World/Pivot").AddRotateYOp()
    for number, frame in enumerate(FRAMES):
        pivot.Set(90.0 * number, frame)
    camera = UsdGeom.Camera.Define(stage, CAMERA)
    camera.AddTranslateOp().Set(Gf.Vec3d(0, 0, DISTANCE))
    camera.CreateFocalLengthAttr(28.0)
    cube(stage, "Red", (1.5, 1.8, 0))
    blue = cube(stage, "Blue", (-1.5, 0, 0))
    blue.GetPrim().GetAttribute("xformOp:translate").Set(Gf.Vec3d(-1.5, 0, 0), 1)
    blue.GetPrim().GetAttribute("xformOp:translate").Set(Gf.Vec3d(-1.5, 0, -1.5), 61)
    yellow = cube(stage, "Yellow", (0, 3.6, 0)).GetVisibilityAttr()
    yellow.Set("inherited", 1)
    yellow.Set("invisible", 50)
    deform(stage)
    lamp = UsdLux.SphereLight.Define(stage, "/World/Lamp").AddTranslateOp()
    lamp.Set(Gf.Vec3d(0, 0, 0), 1)
    lamp.Set(Gf.Vec3d(4, 0, 0), 121)
    stage.GetRootLayer().Save()
    return file


def deform(stage: Usd.Stage) -> None:
    """Add a mesh whose points are keyed, under an old extent, and one that a skeleton moves."""
    UsdSkel.Root.Define(stage, "/World/Body")
    green = mesh(stage, "Green")
    green.AddTranslateOp().Set(Gf.Vec3d(0, -1.9, 1.5))
    points = green.GetPointsAttr()
    points.Set(CORNERS, 1)
    points.Set([corner + Gf.Vec3f(1.5, 0, 0) for corner in CORNERS[4:]] + CORNERS[:4], 61)
    skeleton = UsdSkel.Skeleton.Define(stage, "/World/Body/Skeleton")
    skeleton.CreateJointsAttr(["bone"])
    skeleton.CreateBindTransformsAttr([Gf.Matrix4d(1)])
    skeleton.CreateRestTransformsAttr([Gf.Matrix4d(1)])
    moves = UsdSkel.Animation.Define(stage, "/World/Body/Moves")
    moves.CreateJointsAttr(["bone"])
    moves.CreateRotationsAttr([Gf.Quatf(1)])
    moves.CreateScalesAttr([Gf.Vec3h(1)])
    moves.CreateTranslationsAttr().Set([Gf.Vec3f(0, -3.9, 0)], 1)
    moves.GetTranslationsAttr().Set([Gf.Vec3f(4, -3.9, 0)], 121)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(
        [moves.GetPath()]
    )
    skinned = UsdSkel.BindingAPI.Apply(mesh(stage, "Magenta").GetPrim())
    skinned.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    skinned.CreateJointIndicesPrimvar(False, 1).Set([0] * len(CORNERS))
    skinned.CreateJointWeightsPrimvar(False, 1).Set([1.0] * len(CORNERS))


@pytest.fixture
def session(tmp_path: Path) -> UsdSession:
    return UsdSession(make(tmp_path / "turn.usda"))


def look(session: UsdSession, **arguments: Any) -> tuple[str, bytes]:
    """Call the verb as the bridge does; gives the legend and the picture."""
    made = operations(session)
    assert isinstance(made, Drawing)
    verbs = {skill.name: skill for skill in map(describe, seeing.verbs(made))}
    legend, picture = verbs["look"].fn(**arguments)
    return legend, picture


@pytest.mark.core
def test_each_picture_and_its_legend_are_of_its_frame(session: UsdSession) -> None:
    """The camera's pivot, a thing, points, a skeleton and what is visible are keyed."""
    before = session.scene_digest()

    legend, data = look(session, view=CAMERA, frames=FRAMES, size=640)

    with Image.open(io.BytesIO(data)) as opened:
        picture = opened.convert("RGB")
    turntable.check(legend, lambda x, y: picture.getpixel((x, y)), *picture.size, least=0.75)
    assert "not shown by the scene: /World/Yellow" in legend
    assert session.scene_digest() == before
    assert session.undo_mark().label is None


def test_a_light_is_told_and_drawn_where_it_is_at_the_frame(session: UsdSession) -> None:
    legend, _ = look(
        session, view="front", items=["/World/Lamp", "/World/Red"], frames=[1, 61, 121]
    )

    lefts = [it["Lamp"][0] - it["Red"][0] for it in turntable.told(legend)]
    assert lefts[0] < lefts[1] < lefts[2]


def test_the_width_told_is_the_width_seen(session: UsdSession) -> None:
    """Whatever the camera's focus is: a thing as far away is as large as its share of the width."""
    legend, _ = look(session, view=CAMERA, items=["/World/Red"])

    ((wide, away),) = turntable.widths(legend)
    (places,) = turntable.told(legend)
    left, right, *_ = places["Red"]
    assert away == pytest.approx(DISTANCE, abs=0.1)
    assert wide * (right - left) / 100 == pytest.approx(1.0, abs=0.2)


def test_the_view_camera_is_the_one_that_the_scene_renders_through(session: UsdSession) -> None:
    with pytest.raises(LookupError, match="The scene has no camera of its own"):
        look(session, view="camera")

    with session.undo_step("Render"):
        render = UsdRender.Settings.Define(session.stage, "/Render/Settings")
        render.CreateCameraRel().SetTargets([CAMERA])
        render.CreateResolutionAttr(Gf.Vec2i(640, 480))

    legend = look(session, view="camera", frames=[31])[0].split("\n", 1)[1]
    assert legend == look(session, view=CAMERA, frames=[31])[0].split("\n", 1)[1]
    assert "frame 31" in legend


@pytest.mark.parametrize(("size", "wide"), [(None, 2.0), ((300, 300), 2.0), ((900, 300), 3.0)])
def test_a_picture_through_a_camera_shows_all_that_its_aperture_does(
    session: UsdSession, size: tuple[int, int] | None, wide: float
) -> None:
    """An aperture of 2 to 1, in a picture of its own form, or of the form that is rendered."""
    camera = UsdGeom.Camera(session.stage.GetPrimAtPath(CAMERA))
    with session.undo_step("Aperture"):
        camera.CreateHorizontalApertureAttr(36.0)
        camera.CreateVerticalApertureAttr(18.0)
        if size is not None:
            render = UsdRender.Settings.Define(session.stage, "/Render/Settings")
            render.CreateResolutionAttr(Gf.Vec2i(*size))

    legend, _ = look(session, view=CAMERA, items=["/World/Red"])

    ((width, away),) = turntable.widths(legend)
    assert width / away == pytest.approx(wide * 18.0 / 28.0, rel=0.01)
