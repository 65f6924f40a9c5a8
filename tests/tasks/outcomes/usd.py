"""Reads the outcomes with pxr: ``python usd.py TASK FILE``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pxr import Sdf, Usd, UsdGeom, UsdRender, UsdShade


def dress_a_set(stage: Any) -> None:
    """Twelve crates stand in a ring, of one material."""
    crates = [stage.GetPrimAtPath(f"/World/Props/Crate_{number:02}") for number in range(1, 13)]
    cache: Any = UsdGeom.XformCache()
    for crate in crates:
        x, y, z = cache.GetLocalToWorldTransform(crate).ExtractTranslation()
        assert abs((x * x + z * z) ** 0.5 - 8) < 1e-3
        assert abs(y - 1) < 1e-6
    collection = Usd.CollectionAPI.Get(stage.GetDefaultPrim(), "crates")
    query = collection.ComputeMembershipQuery()
    assert all(query.IsPathIncluded(crate.GetPath()) for crate in crates)
    material, _ = UsdShade.MaterialBindingAPI(crates[0]).ComputeBoundMaterial()
    assert material


def relink_a_texture(stage: Any) -> None:
    """The texture is the new one, and it is there."""
    prims = [prim for prim in stage.Traverse() if prim.GetName() == "Picture"]
    value = prims[0].GetAttribute("inputs:file").Get()
    assert Path(value.resolvedPath).name == "new_sign.png"


def animate_a_camera(stage: Any) -> None:
    """The camera moves from frame 1 to 48, and is the one that renders."""
    camera: Any = UsdGeom.Camera(stage.GetPrimAtPath("/World/Shot"))
    first = camera.ComputeLocalToWorldTransform(1).ExtractTranslation()
    last = camera.ComputeLocalToWorldTransform(48).ExtractTranslation()
    assert (first[0], last[0]) == (-6, 6)
    assert camera.GetFocalLengthAttr().Get(48) == 50
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (1, 48)
    settings = UsdRender.Settings.GetStageRenderSettings(stage) or UsdRender.Settings(
        stage.GetPrimAtPath("/Render/Settings")
    )
    assert settings.GetCameraRel().GetTargets() == [Sdf.Path("/World/Shot")]


def build_a_material(stage: Any) -> None:
    """The ball has a surface whose colour comes from the picture."""
    ball = stage.GetPrimAtPath("/World/Ball")
    material, _ = UsdShade.MaterialBindingAPI(ball).ComputeBoundMaterial()
    surface, *_ = material.ComputeSurfaceSource()
    assert surface.GetIdAttr().Get() == "UsdPreviewSurface"
    source, name, _ = surface.GetInput("diffuseColor").GetConnectedSource()
    assert (source.GetPrim().GetName(), name) == ("Picture", "rgb")
    assert abs(surface.GetInput("roughness").Get() - 0.3) < 1e-6


def publish_an_asset(stage: Any) -> None:
    """The file of the asset has its two parts by their new names, with a material."""
    folder = Path(stage.GetRootLayer().realPath).parent
    asset: Any = Usd.Stage.Open(str(folder / "robot.usda"))
    names = {prim.GetName() for prim in asset.Traverse()}
    assert {"body_geo", "head_geo"} <= names
    body = next(prim for prim in asset.Traverse() if prim.GetName() == "body_geo")
    material, _ = UsdShade.MaterialBindingAPI(body).ComputeBoundMaterial()
    assert material


def build_a_shot_of_layers(stage: Any) -> None:
    """The hero is a payload with two looks in one layer, and moves in another one."""
    hero = stage.GetPrimAtPath("/World/Hero")
    assert hero.HasPayload()
    looks = hero.GetVariantSet("look")
    body = stage.GetPrimAtPath("/World/Hero/Body")
    assert looks.GetVariantNames() == ["large", "small"]
    assert body.GetAttribute("radius").Get() == 2.0
    looks.SetVariantSelection("small")
    assert body.GetAttribute("radius").Get() == 0.5
    root = stage.GetRootLayer()
    animation, layout = (Sdf.Layer.FindRelativeToLayer(root, path) for path in root.subLayerPaths)
    moved = animation.GetPrimAtPath(hero.GetPath())
    assert [*moved.attributes.keys()] == ["xformOp:translate", "xformOpOrder"]
    assert not layout.ListTimeSamplesForPath(f"{hero.GetPath()}.xformOp:translate")
    assert layout.GetPrimAtPath(hero.GetPath()).payloadList.GetAddedOrExplicitItems()
    assert layout.GetPrimAtPath("/World/Hero{look=small}Body")
    assert layout.GetPrimAtPath("/World/Shot").typeName == "Camera"


def main(task: str, file: str) -> None:
    """Read the outcome of a task."""
    globals()[task](Usd.Stage.Open(file))


if __name__ == "__main__":
    main(*sys.argv[1:])
