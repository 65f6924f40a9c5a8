"""A scene with what artists leave behind: unapplied scale, lost files, twins, odd transforms."""

from __future__ import annotations

from pathlib import Path

from pxr import Gf, Sdf, Usd, UsdGeom, UsdLux, UsdShade, Vt

TYPES = Sdf.ValueTypeNames


def make(file: Path) -> Path:
    """Write it; centimetres, Y up, frames 1 to 48."""
    stage = Usd.Stage.CreateInMemory()
    UsdGeom.SetStageUpAxis(stage, "Y")
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.SetStartTimeCode(1)
    stage.SetEndTimeCode(48)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    _looks(stage)
    _props(stage)
    _odd(stage)
    _rig(stage)
    stage.GetRootLayer().Export(str(file))
    return file


def _looks(stage: Usd.Stage) -> None:
    stage.DefinePrim("/World/Looks", "Scope")
    for name, red in (("Red", 1.0), ("Red_twin", 1.0), ("Unused", 0.3), ("Wood", 0.5)):
        material = UsdShade.Material.Define(stage, f"/World/Looks/{name}")
        shader = UsdShade.Shader.Define(stage, f"/World/Looks/{name}/Surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("diffuseColor", TYPES.Color3f).Set(Gf.Vec3f(red, 0, 0))
        output = shader.CreateOutput("surface", TYPES.Token)
        material.CreateSurfaceOutput().ConnectToSource(output)
    for name, path in (("Lost", "./textures/lost.png"), ("Absolute", "/studio/wood.png")):
        reader = UsdShade.Shader.Define(stage, f"/World/Looks/Wood/{name}")
        reader.CreateIdAttr("UsdUVTexture")
        reader.CreateInput("file", TYPES.Asset).Set(path)


def bind(prim: Usd.Prim, look: str) -> None:
    material = UsdShade.Material.Get(prim.GetStage(), f"/World/Looks/{look}")
    UsdShade.MaterialBindingAPI.Apply(prim).Bind(material)


def mesh(stage: Usd.Stage, path: str) -> UsdGeom.Mesh:
    """Make a box of eight points, 2 wide, of which a corner is off."""
    box = UsdGeom.Mesh.Define(stage, path)
    points = [Gf.Vec3f(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    points[0] = Gf.Vec3f(-1.5, -1, -1)
    faces = [0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3]
    box.CreatePointsAttr(Vt.Vec3fArray(points))
    box.CreateFaceVertexCountsAttr([4] * 6)
    box.CreateFaceVertexIndicesAttr(faces)
    box.CreateNormalsAttr([Gf.Vec3f(0, 0.6, 0.8)] * 8)
    box.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(box.GetPointsAttr().Get()))
    return box


def _props(stage: Usd.Stage) -> None:
    UsdGeom.Xform.Define(stage, "/World/Props")
    crate = mesh(stage, "/World/Props/Crate")
    common = UsdGeom.XformCommonAPI(crate)
    common.SetTranslate((10, 20, 30))
    common.SetRotate((20, 30, 40))
    common.SetScale((2, 3, 4))
    lid = mesh(stage, "/World/Props/Crate/Lid")
    UsdGeom.XformCommonAPI(lid).SetTranslate((0, 2, 0))
    bind(crate.GetPrim(), "Red")
    UsdGeom.Xform.Define(stage, "/World/Props/Tree")
    UsdGeom.XformCommonAPI(stage.GetPrimAtPath("/World/Props/Tree")).SetTranslate((-50, 0, 0))
    for part, look in (("Trunk", "Wood"), ("Crown", "Red_twin")):
        bind(UsdGeom.Cube.Define(stage, f"/World/Props/Tree/{part}").GetPrim(), look)
    stage.GetPrimAtPath("/World/Props/Tree").CreateRelationship("guide").SetTargets(
        ["/World/Props/Tree/Crown", "/World/Nothing"]
    )
    UsdGeom.Xform.Define(stage, "/World/Props/Empty/Below")
    lost = stage.DefinePrim("/World/Props/Lost", "Xform")
    lost.GetReferences().AddReference("./assets/lost.usda")
    for number in range(1, 41):
        cube = UsdGeom.Cube.Define(stage, f"/World/Props/Placeholder_{number:02}")
        UsdGeom.XformCommonAPI(cube).SetTranslate((number * 5, 0, 0))


def _odd(stage: Usd.Stage) -> None:
    UsdGeom.Xform.Define(stage, "/World/Odd")
    matrix = UsdGeom.Cube.Define(stage, "/World/Odd/Matrix")
    matrix.AddTransformOp().Set(Gf.Matrix4d().SetTranslate(Gf.Vec3d(1, 2, 3)))
    pivot = UsdGeom.Cube.Define(stage, "/World/Odd/Pivot")
    UsdGeom.XformCommonAPI(pivot).SetXformVectors(
        (1, 2, 3), (0, 45, 0), (1, 1, 1), (5, 0, 0), UsdGeom.XformCommonAPI.RotationOrderXYZ, 0
    )
    for name in ("translate", "translate:pivot", "rotateXYZ", "scale"):
        attribute = pivot.GetPrim().GetAttribute(f"xformOp:{name}")
        value = attribute.Get(0)
        attribute.Clear()
        attribute.Set(value)
    zyx = UsdGeom.Cube.Define(stage, "/World/Odd/Order")
    zyx.AddTranslateOp().Set(Gf.Vec3d(1, 2, 3))
    zyx.AddRotateZYXOp().Set(Gf.Vec3f(10, 20, 30))
    spun = UsdGeom.Cube.Define(stage, "/World/Odd/Spun")
    spun.AddTranslateOp().Set(Gf.Vec3d(1, 2, 3))
    spun.AddRotateYOp().Set(45)
    spun.AddTranslateOp(opSuffix="arm").Set(Gf.Vec3d(4, 0, 0))
    keyed = UsdGeom.Cube.Define(stage, "/World/Odd/Keyed")
    move = keyed.AddTranslateOp()
    move.Set(Gf.Vec3d(0, 0, 0), 1)
    move.Set(Gf.Vec3d(0, 0, 24), 25)
    stretched = UsdGeom.Xform.Define(stage, "/World/Odd/Stretched")
    UsdGeom.XformCommonAPI(stretched).SetScale((3, 1, 1))
    UsdGeom.XformCommonAPI(stretched).SetRotate((0, 0, 30))
    inner = UsdGeom.Cube.Define(stage, "/World/Odd/Stretched/Inner")
    UsdGeom.XformCommonAPI(inner).SetRotate((0, 0, 15))


def _rig(stage: Usd.Stage) -> None:
    UsdGeom.Xform.Define(stage, "/World/Rig")
    for name in ("Key", "Fill"):
        UsdLux.RectLight.Define(stage, f"/World/Rig/{name}").CreateIntensityAttr(5)
    camera = UsdGeom.Camera.Define(stage, "/World/Rig/Camera")
    UsdGeom.XformCommonAPI(camera).SetTranslate((0, 10, 100))
    camera.CreateFocalLengthAttr(50)
    camera.GetPrim().CreateRelationship("lookAt").AddTarget("/World/Props/Tree")
