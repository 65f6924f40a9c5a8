"""Make shot_010_layout.usda: a street at dusk, four characters, lights and 127 shot cameras.

A delivery on the pavement has the faults that other people's things have; see `delivery`.

Run by hand, `python resources/scenes/make_shot.py`; the same scene comes out each time. Everything
in it is made here. Centimetres, Y up, frames 1001 to 1120 at 24 frames a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import atan2, cos, degrees, hypot, pi, sin
from pathlib import Path
from random import Random

from pxr import Gf, Kind, Sdf, Usd, UsdGeom, UsdLux, UsdRender, UsdShade, Vt

FILE = Path(__file__).with_name("shot_010_layout.usda")
FIRST, LAST = 1001, 1120
SEQUENCES = {"sq010": 24, "sq020": 31, "sq030": 22, "sq040": 28, "sq050": 22}  # 127 cameras
LENSES = (18, 21, 25, 32, 40, 50, 65, 75, 100)
LOOKS = {
    "Asphalt": (0.06, 0.06, 0.07),
    "Stone": (0.36, 0.34, 0.31),
    "Brick": (0.42, 0.17, 0.12),
    "Plaster": (0.71, 0.66, 0.55),
    "Metal": (0.24, 0.25, 0.27),
    "Wood": (0.31, 0.2, 0.11),
    "Leaves": (0.13, 0.28, 0.09),
    "Glass": (0.55, 0.66, 0.72),
    "Clay": (0.5, 0.5, 0.5),
}
CHARACTERS = {"Ines": (-180, 120), "Tomas": (-60, 150), "Old_Man": (420, -260), "Girl": (140, 480)}
random = Random(10)


class Shot:
    """The stage with the few words that the set is described in."""

    def __init__(self) -> None:
        self.stage = Usd.Stage.CreateInMemory()

    def group(
        self, path: str, kind: str = Kind.Tokens.group, at: tuple = (0, 0, 0), turn: float = 0
    ) -> str:
        """Make an Xform, placed if it is not at the origin."""
        xform = UsdGeom.Xform.Define(self.stage, path)
        Usd.ModelAPI(xform).SetKind(kind)
        if at != (0, 0, 0) or turn:
            UsdGeom.XformCommonAPI(xform).SetTranslate(at)
            UsdGeom.XformCommonAPI(xform).SetRotate((0, turn, 0))
        return path

    def solid(self, kind: type, path: str, look: str, at: tuple, size: tuple) -> Usd.Prim:
        """Make a cube, sphere, cylinder, cone or capsule of one unit's size, scaled and placed."""
        solid = kind.Define(self.stage, path)
        # A capsule's caps come on top of its height.
        round_end = kind is UsdGeom.Capsule
        attributes = {
            "size": 1.0,
            "radius": 0.25 if round_end else 0.5,
            "height": 0.5 if round_end else 1.0,
        }
        for name, value in attributes.items():
            if attribute := solid.GetPrim().GetAttribute(name):
                attribute.Set(value)
        if axis := solid.GetPrim().GetAttribute("axis"):
            axis.Set(UsdGeom.Tokens.y)
        UsdGeom.XformCommonAPI(solid).SetTranslate(at)
        UsdGeom.XformCommonAPI(solid).SetScale(size)
        return self.bind(solid.GetPrim(), look)

    def bind(self, prim: Usd.Prim, look: str) -> Usd.Prim:
        """Give a prim its material."""
        material = UsdShade.Material.Get(self.stage, f"/World/Looks/{look}")
        UsdShade.MaterialBindingAPI.Apply(prim).Bind(material)
        return prim


def main() -> None:
    """Make the scene and write it."""
    shot = Shot()
    settings(shot.stage)
    shot.group("/World", Kind.Tokens.assembly)
    shot.stage.SetDefaultPrim(shot.stage.GetPrimAtPath("/World"))
    parts = looks, street, buildings, props, cars, characters, lights, cameras, delivery, render
    for part in parts:
        part(shot)
    shot.stage.GetRootLayer().Export(str(FILE))


def settings(stage: Usd.Stage) -> None:
    """Say how long the shot is, and in what units."""
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, UsdGeom.LinearUnits.centimeters)
    stage.SetStartTimeCode(FIRST)
    stage.SetEndTimeCode(LAST)
    stage.SetFramesPerSecond(24)
    stage.SetTimeCodesPerSecond(24)
    layer = stage.GetRootLayer()
    layer.documentation = "Layout of shot 010, Lantern Street. Made by make_shot.py."
    layer.customLayerData = {"show": "lantern_street", "shot": "shot_010", "department": "layout"}


def looks(shot: Shot) -> None:
    """Make a plain material for each kind of surface."""
    shot.stage.DefinePrim("/World/Looks", "Scope")
    for name, colour in LOOKS.items():
        material = UsdShade.Material.Define(shot.stage, f"/World/Looks/{name}")
        shader = UsdShade.Shader.Define(shot.stage, f"/World/Looks/{name}/Surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*colour))
        shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(
            0.1 if name == "Glass" else 0.7
        )
        output = shader.CreateOutput("surface", Sdf.ValueTypeNames.Token)
        material.CreateSurfaceOutput().ConnectToSource(output)


def street(shot: Shot) -> None:
    """Lay the ground, the road and its pavements."""
    shot.group("/World/Set")
    here = shot.group("/World/Set/Street")
    ground = UsdGeom.Mesh.Define(shot.stage, f"{here}/Ground")
    corners = [(-6000, 0, -6000), (6000, 0, -6000), (6000, 0, 6000), (-6000, 0, 6000)]
    ground.CreatePointsAttr([Gf.Vec3f(*corner) for corner in corners])
    ground.CreateFaceVertexCountsAttr(Vt.IntArray([4]))
    ground.CreateFaceVertexIndicesAttr(Vt.IntArray([3, 2, 1, 0]))
    ground.CreateExtentAttr([Gf.Vec3f(-6000, 0, -6000), Gf.Vec3f(6000, 0, 6000)])
    shot.bind(ground.GetPrim(), "Asphalt")
    for side, z in (("North", -700), ("South", 700)):
        shot.solid(UsdGeom.Cube, f"{here}/Pavement_{side}", "Stone", (0, 7, z), (9000, 14, 420))
    shot.group(f"{here}/Crossing")
    for number in range(1, 7):
        at = (-90 + number * 60, 1, 0)
        shot.solid(UsdGeom.Cube, f"{here}/Crossing/Stripe_{number:02}", "Plaster", at, (32, 1, 900))


def buildings(shot: Shot) -> None:
    """Put up four houses on either side of the street."""
    shot.group("/World/Set/Buildings")
    for number in range(8):
        z, turn = (-1500, 0) if number < 4 else (1500, 180)
        height, width = random.randrange(900, 2200, 50), random.randrange(1300, 1700, 50)
        at = (-2700 + number % 4 * 1800, 0, z)
        name = f"/World/Set/Buildings/House_{number + 1:02}"
        here = shot.group(name, Kind.Tokens.component, at, turn)
        wall = random.choice(("Brick", "Plaster", "Stone"))
        shot.solid(UsdGeom.Cube, f"{here}/Walls", wall, (0, height / 2, 0), (width, height, 1100))
        shot.solid(
            UsdGeom.Cube, f"{here}/Roof", "Wood", (0, height + 30, 0), (width + 80, 60, 1180)
        )
        shot.solid(UsdGeom.Cube, f"{here}/Door", "Wood", (-width / 4, 115, 552), (110, 230, 8))
        shot.solid(
            UsdGeom.Cube, f"{here}/Shop_Window", "Glass", (width / 5, 150, 552), (420, 220, 6)
        )


def props(shot: Shot) -> None:
    """Dress the pavements: lamps, trees, benches, a café's tables."""
    shot.group("/World/Props")
    for number in range(8):
        at = (-2450 + number % 4 * 1650, 14, -560 if number < 4 else 560)
        here = shot.group(f"/World/Props/Lamp_{number + 1:02}", Kind.Tokens.component, at)
        shot.solid(UsdGeom.Cylinder, f"{here}/Pole", "Metal", (0, 210, 0), (12, 420, 12))
        shot.solid(UsdGeom.Sphere, f"{here}/Lantern", "Glass", (0, 440, 0), (46, 46, 46))
    for number in range(6):
        at = (-2100 + number % 3 * 1900, 14, -800 if number < 3 else 800)
        here = shot.group(f"/World/Props/Tree_{number + 1:02}", Kind.Tokens.component, at)
        shot.solid(UsdGeom.Cylinder, f"{here}/Trunk", "Wood", (0, 150, 0), (34, 300, 34))
        shot.solid(UsdGeom.Sphere, f"{here}/Crown", "Leaves", (0, 420, 0), (330, 360, 330))
    for number in range(3):
        here = shot.group(
            f"/World/Props/Bench_{number + 1:02}",
            Kind.Tokens.component,
            (number * 700 - 600, 14, 830),
        )
        shot.solid(UsdGeom.Cube, f"{here}/Seat", "Wood", (0, 45, 0), (180, 8, 45))
        shot.solid(UsdGeom.Cube, f"{here}/Back", "Wood", (0, 75, 20), (180, 45, 6))
    for number in range(4):
        at = (500 + number % 2 * 190, 14, -820 - number // 2 * 170)
        here = shot.group(f"/World/Props/Cafe_Table_{number + 1:02}", Kind.Tokens.component, at)
        shot.solid(UsdGeom.Cylinder, f"{here}/Top", "Stone", (0, 74, 0), (80, 4, 80))
        shot.solid(UsdGeom.Cylinder, f"{here}/Leg", "Metal", (0, 36, 0), (9, 72, 9))
        shot.solid(UsdGeom.Cone, f"{here}/Parasol", "Plaster", (0, 240, 0), (210, 60, 210))


def cars(shot: Shot) -> None:
    """Park three cars, and let a fourth drive through."""
    shot.group("/World/Props/Cars")
    for number in range(4):
        at = (-1900 + number * 1050, 0, 330 if number % 2 else -330)
        here = shot.group(f"/World/Props/Cars/Car_{number + 1:02}", Kind.Tokens.component, at)
        shot.solid(UsdGeom.Cube, f"{here}/Body", "Metal", (0, 62, 0), (430, 70, 175))
        shot.solid(UsdGeom.Cube, f"{here}/Cabin", "Glass", (-20, 122, 0), (220, 55, 155))
        for wheel in range(4):
            place = (-140 + wheel % 2 * 280, 32, -78 + wheel // 2 * 156)
            shot.solid(UsdGeom.Sphere, f"{here}/Wheel_{wheel + 1}", "Asphalt", place, (64, 64, 24))
    driving = UsdGeom.XformCommonAPI(shot.stage.GetPrimAtPath("/World/Props/Cars/Car_04"))
    for frame in range(FIRST, LAST + 1, 7):
        driving.SetTranslate((1250 - (frame - FIRST) * 22, 0, 330), frame)


def characters(shot: Shot) -> None:
    """Stand the characters in, as clay figures; two of them walk."""
    shot.group("/World/Characters")
    for name, (x, z) in CHARACTERS.items():
        tall = 0.72 if name == "Girl" else 1.0
        here = shot.group(
            f"/World/Characters/{name}",
            Kind.Tokens.component,
            (x, 0, z),
            random.randrange(0, 360, 15),
        )
        shot.solid(
            UsdGeom.Capsule, f"{here}/Body", "Clay", (0, 75 * tall, 0), (104, 150 * tall, 68)
        )
        shot.solid(UsdGeom.Sphere, f"{here}/Head", "Clay", (0, 164 * tall, 0), (24, 28, 26))
        shot.solid(UsdGeom.Cone, f"{here}/Nose", "Clay", (0, 162 * tall, 15), (5, 5, 9))
        shot.solid(UsdGeom.Cube, f"{here}/Feet", "Clay", (0, 4, 6), (34, 8, 28))
        if name in ("Ines", "Tomas"):
            walk = UsdGeom.XformCommonAPI(shot.stage.GetPrimAtPath(here))
            for frame in range(FIRST, LAST + 1, 7):
                walk.SetTranslate((x + (frame - FIRST) * 3.5, 0, z), frame)


def lights(shot: Shot) -> None:
    """Light it: sky, a low sun, the lamps, a window, and a rim for the characters only."""
    shot.group("/World/Lights")
    UsdLux.DomeLight.Define(shot.stage, "/World/Lights/Sky").CreateIntensityAttr(0.3)
    sun = UsdLux.DistantLight.Define(shot.stage, "/World/Lights/Sun")
    sun.CreateIntensityAttr(2.5)
    sun.CreateColorAttr(Gf.Vec3f(1, 0.72, 0.48))
    UsdGeom.XformCommonAPI(sun).SetRotate((-12, 64, 0))
    for number in range(1, 9):
        lamp = UsdLux.SphereLight.Define(shot.stage, f"/World/Lights/Lamp_{number:02}_Glow")
        lamp.CreateRadiusAttr(20)
        lamp.CreateIntensityAttr(40)
        lamp.CreateColorAttr(Gf.Vec3f(1, 0.83, 0.58))
        lamp.GetPrim().CreateRelationship("follows").AddTarget(
            f"/World/Props/Lamp_{number:02}/Lantern"
        )
        lantern = UsdGeom.Xformable(
            shot.stage.GetPrimAtPath(f"/World/Props/Lamp_{number:02}/Lantern")
        )
        place = lantern.ComputeLocalToWorldTransform(FIRST).ExtractTranslation()
        UsdGeom.XformCommonAPI(lamp).SetTranslate(place)
    window = UsdLux.RectLight.Define(shot.stage, "/World/Lights/Cafe_Window")
    window.CreateWidthAttr(420)
    window.CreateHeightAttr(220)
    window.CreateIntensityAttr(12)
    UsdGeom.XformCommonAPI(window).SetTranslate((900, 150, -940))
    rim = UsdLux.RectLight.Define(shot.stage, "/World/Lights/Character_Rim")
    rim.CreateIntensityAttr(6)
    UsdGeom.XformCommonAPI(rim).SetTranslate((-900, 420, -300))
    linked = UsdLux.LightAPI(rim).GetLightLinkCollectionAPI()
    linked.CreateIncludeRootAttr(False)
    linked.CreateIncludesRel().AddTarget("/World/Characters")


def cameras(shot: Shot) -> None:
    """Set up the cameras of the film's five sequences, each on one of the characters."""
    shot.group("/World/Cameras")
    names = list(CHARACTERS)
    for path, number in camera_paths(shot):
        who = names[number % len(names)]
        camera = UsdGeom.Camera.Define(shot.stage, path)
        lens = random.choice(LENSES)
        camera.CreateFocalLengthAttr(lens)
        camera.CreateHorizontalApertureAttr(24.892)
        camera.CreateVerticalApertureAttr(18.669)
        camera.CreateClippingRangeAttr(Gf.Vec2f(1, 20000))
        camera.CreateFStopAttr(random.choice((2.0, 2.8, 4.0, 5.6)))
        camera.GetPrim().CreateRelationship("lookAt").AddTarget(f"/World/Characters/{who}/Head")
        aim(camera, CHARACTERS[who], lens, number)


def camera_paths(shot: Shot) -> Iterator[tuple[str, int]]:
    """Name the cameras: sequences, and shots in tens."""
    number = 0
    for sequence, count in SEQUENCES.items():
        group = shot.group(f"/World/Cameras/{sequence}")
        for one in range(1, count + 1):
            yield f"{group}/sh{one * 10:04}_cam", number
            number += 1


def aim(camera: UsdGeom.Camera, target: tuple[int, int], lens: int, number: int) -> None:
    """Frame a character from the street; every fourth camera dollies in, every ninth zooms."""
    distance, angle = 90 + lens * 7, random.uniform(0, 2 * pi)
    height = random.choice((95, 140, 160, 210))
    frames = range(FIRST, LAST + 1, 17) if number % 4 == 0 else (None,)
    for frame in frames:
        time = Usd.TimeCode.Default() if frame is None else Usd.TimeCode(frame)
        away = distance - (0 if frame is None else (frame - FIRST) * 0.6)
        place(camera, target, (away * sin(angle), away * cos(angle)), height, time)
    camera.CreateFocusDistanceAttr(round(hypot(distance, 155 - height), 2))
    if number % 9 == 0:
        for frame in (FIRST, (FIRST + LAST) // 2, LAST):
            camera.GetFocalLengthAttr().Set(lens + (frame - FIRST) / 10, frame)


def place(
    camera: UsdGeom.Camera,
    target: tuple[int, int],
    away: tuple[float, float],
    height: int,
    time: Usd.TimeCode,
) -> None:
    """Put a camera beside its target, between the houses, and turn it to the face."""
    x, z = target[0] + away[0], min(900, max(-900, target[1] + away[1]))
    back = Gf.Vec2d(x - target[0], z - target[1])
    op = UsdGeom.XformCommonAPI(camera)
    op.SetTranslate(Gf.Vec3d(round(x, 2), height, round(z, 2)), time)
    tilt, pan = degrees(atan2(155 - height, back.GetLength())), degrees(atan2(back[0], back[1]))
    order = UsdGeom.XformCommonAPI.RotationOrderXYZ
    op.SetRotate(Gf.Vec3f(round(tilt, 3), round(pan, 3), 0), order, time)


def delivery(shot: Shot) -> None:
    """Set down what a supplier sent for the café, with a fault each for `check` to find.

    A crate whose scale is not applied, a lid that is one face of eight corners, a texture that is
    not there, one by an absolute path, and a bench of a name that is taken.
    """
    here = shot.group("/World/Props/Delivery", at=(650, 14, -560))
    textured(shot, "Crate_Wood", "./textures/crate_wood.png")
    textured(shot, "Label", "/mnt/supplier/fruit/label.png")
    corners = [(x, y, z) for x in (-30, 30) for y in (0, 40) for z in (-20, 20)]
    sides = [0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3]
    crate = mesh(shot, f"{here}/Crate", corners, [4] * 6, sides, "Crate_Wood")
    UsdGeom.XformCommonAPI(crate).SetScale((1.5, 1, 1.2))
    rim = [(round(28 * sin(it * pi / 4), 2), 0, round(28 * cos(it * pi / 4), 2)) for it in range(8)]
    lid = mesh(shot, f"{here}/Lid", rim, [8], range(8), "Label")
    UsdGeom.XformCommonAPI(lid).SetTranslate((0, 41, 0))
    bench = shot.group(f"{here}/Bench_01", Kind.Tokens.component, (120, 0, 0))
    shot.solid(UsdGeom.Cube, f"{bench}/Seat", "Wood", (0, 45, 0), (140, 8, 40))


def textured(shot: Shot, name: str, file: str) -> None:
    """Make a material that reads its colour from a file."""
    material = UsdShade.Material.Define(shot.stage, f"/World/Looks/{name}")
    surface = UsdShade.Shader.Define(shot.stage, f"/World/Looks/{name}/Surface")
    surface.CreateIdAttr("UsdPreviewSurface")
    texture = UsdShade.Shader.Define(shot.stage, f"/World/Looks/{name}/Texture")
    texture.CreateIdAttr("UsdUVTexture")
    texture.CreateInput("file", Sdf.ValueTypeNames.Asset).Set(file)
    colour = texture.CreateOutput("rgb", Sdf.ValueTypeNames.Float3)
    surface.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).ConnectToSource(colour)
    output = surface.CreateOutput("surface", Sdf.ValueTypeNames.Token)
    material.CreateSurfaceOutput().ConnectToSource(output)


def mesh(
    shot: Shot, path: str, points: list[tuple], counts: list[int], corners: Iterable[int], look: str
) -> UsdGeom.Mesh:
    """Make a mesh of flat faces."""
    made = UsdGeom.Mesh.Define(shot.stage, path)
    made.CreatePointsAttr([Gf.Vec3f(*point) for point in points])
    made.CreateFaceVertexCountsAttr(Vt.IntArray(counts))
    made.CreateFaceVertexIndicesAttr(Vt.IntArray(list(corners)))
    made.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    made.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(made.GetPointsAttr().Get()))
    shot.bind(made.GetPrim(), look)
    return made


def render(shot: Shot) -> None:
    """Say what is rendered by default: the first shot's camera."""
    shot.stage.DefinePrim("/Render", "Scope")
    still = UsdRender.Settings.Define(shot.stage, "/Render/Layout")
    still.CreateCameraRel().SetTargets([Sdf.Path("/World/Cameras/sq010/sh0010_cam")])
    still.CreateResolutionAttr(Gf.Vec2i(1998, 1080))


if __name__ == "__main__":
    main()
