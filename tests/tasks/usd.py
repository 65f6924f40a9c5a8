"""The tasks in our USD application."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.tasks.agent import Agent
from tests.tasks.task import Task
from tests.verbs.steps import step

_TEXTURED: Final = """#usda 1.0
(
    defaultPrim = "Sign"
    metersPerUnit = 1
    upAxis = "Y"
)

def Xform "Sign"
{
    def Cube "Board"
    {
        rel material:binding = </Sign/Paint>
    }

    def Material "Paint"
    {
        token outputs:surface.connect = </Sign/Paint/Surface.outputs:surface>

        def Shader "Surface"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </Sign/Paint/Picture.outputs:rgb>
            token outputs:surface
        }

        def Shader "Picture"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = @./textures/old_sign.png@
            float3 outputs:rgb
        }
    }
}
"""
_HERO: Final = """#usda 1.0
(
    defaultPrim = "Hero"
    metersPerUnit = 1
    upAxis = "Y"
)

def Xform "Hero"
{
    def Sphere "Body"
    {
    }
}
"""


def _with_sign(folder: Path) -> None:
    (folder / "sign.usda").write_text(_TEXTURED)
    (folder / "textures").mkdir()
    (folder / "textures" / "new_sign.png").write_bytes(b"\x89PNG\r\n\x1a\n")


def _with_hero(folder: Path) -> None:
    (folder / "hero.usda").write_text(_HERO)
    (folder / "animation.usda").write_text("#usda 1.0\n")


# ---- a set is dressed


async def dress_a_set(agent: Agent) -> None:
    """Twelve copies of a crate stand in a ring, in one collection, with one material."""
    await agent.call("summary")
    await agent.batch(
        step(
            "create",
            things=[
                {"type": "Xform", "name": "Props"},
                {"type": "Cube", "name": "Crate", "under": "/World/Props", "at": [0, 1, 0]},
            ],
        ),
        step("assign_material", items=["/World/Props/Crate"], values={"base_color": [0.4, 0.2, 0]}),
        step(
            "duplicate",
            "copies",
            items=["/World/Props/Crate"],
            repeat={"count": 12, "radius": 8, "turn": True, "name": "Crate_##"},
        ),
        step("group", items=["/World/Props/Crate_*"], into="crates", kind="collection"),
        why="Dress the set with crates",
    )
    await agent.call("list_items", name="Crate*", fields=["at"])


async def _careless_dressing(agent: Agent) -> None:
    await agent.slip("delete", "/World/Props/Crate_02", items=["/World/Props/Crate_2"])
    await agent.slip("delete", "Delete 13 cubes?", pattern="Crate*")
    await agent.slip("group", "collection", items=["/World/Props"], into="x", kind="layer")


# ---- a texture is linked again


async def relink_a_texture(agent: Agent) -> None:
    """A file comes in whose texture has moved; the check names it, and it is found again."""
    told = await agent.call("import_file", path="sign.usda", how="copy")
    failed = (await agent.call("check", rules=["missing_files"]))["failed"]
    texture = next(iter(failed["missing_files"]["items"]))
    value = "./textures/new_sign.png"
    await agent.call(
        "set_values", changes=[{"item": texture, "prop": "inputs:file", "value": value}]
    )
    await agent.call("check", rules=["missing_files"], items=told["items"])


async def _careless_relinking(agent: Agent) -> None:
    picture = "/World/Sign/Paint/Picture"
    await agent.slip("import_file", "sign.usda", path="sing.usda")
    await agent.slip("set_values", "inputs:file", items=[picture], values={"file": "x.png"})
    await agent.slip("delete", "Delete the cube", pattern="Board*")


# ---- a camera moves


async def animate_a_camera(agent: Agent) -> None:
    """A camera moves past a subject in two seconds, and the shot renders through it."""
    await agent.batch(
        step(
            "create",
            "made",
            things=[
                {"type": "Sphere", "name": "Subject"},
                {"type": "Camera", "name": "Shot", "at": [-6, 1, 12]},
            ],
        ),
        step(
            "set_keys",
            item="/World/Shot",
            prop="xformOp:translate",
            keys=[[1, [-6, 1, 12]], [48, [6, 1, 12]]],
        ),
        step("set_keys", item="/World/Shot", prop="focalLength", keys=[[1, 35], [48, 50]]),
        step(
            "set_values",
            items=["@scene"],
            values={"start": 1, "end": 48, "camera": "/World/Shot", "size": [1920, 1080]},
        ),
        why="Animate the camera",
    )
    await agent.call("inspect", items=["/World/Shot"], parts=["keys"])


async def _careless_camera(agent: Agent) -> None:
    await agent.slip(
        "set_keys", "focalLength", item="/World/Shot", prop="focal_length", keys=[[1, 20]]
    )
    await agent.slip(
        "set_values", "replace", items=["/World/Shot"], values={"xformOp:translate": [0, 0, 0]}
    )
    await agent.slip("set_values", "Camera", items=["@scene"], values={"camera": "/World/Subject"})


# ---- a material is looked at


async def build_a_material(agent: Agent) -> None:
    """A material with a texture is built of nodes, and what it is on shows it."""
    paint = "/World/Paint"
    await agent.batch(
        step("create", things=[{"type": "Sphere", "name": "Ball"}]),
        step("create", things=[{"type": "Material", "name": "Paint"}]),
        step(
            "create",
            things=[
                {
                    "type": "UsdPreviewSurface",
                    "name": "Surface",
                    "under": paint,
                    "values": {"inputs:roughness": 0.3},
                },
                {"type": "UsdUVTexture", "name": "Picture", "under": paint},
                {"type": "UsdPrimvarReader_float2", "name": "Coordinates", "under": paint},
            ],
        ),
        step(
            "set_values",
            items=[f"{paint}/Picture"],
            values={"inputs:file": "./textures/new_sign.png"},
        ),
        step(
            "connect",
            links=[
                {"from": f"{paint}/Surface", "out": "surface", "to": paint, "in": "surface"},
                {
                    "from": f"{paint}/Picture",
                    "out": "rgb",
                    "to": f"{paint}/Surface",
                    "in": "diffuseColor",
                },
                {
                    "from": f"{paint}/Coordinates",
                    "out": "result",
                    "to": f"{paint}/Picture",
                    "in": "st",
                },
            ],
        ),
        step("assign_material", items=["/World/Ball"], material=paint),
        why="Build the paint",
        look={"items": ["/World/Ball"]},
    )


async def _careless_material(agent: Agent) -> None:
    link = {"from": "/World/Paint/Picture", "out": "rgb", "to": "/World/Paint/Surface"}
    await agent.slip("connect", "diffuseColor", links=[{**link, "in": "baseColor"}])
    await agent.slip("create", "UsdUVTexture", things=[{"type": "UVTexture", "name": "Grain"}])
    await agent.slip(
        "set_values", "0", items=["/World/Paint/Surface"], values={"inputs:roughness": "rough"}
    )


# ---- an asset is published


async def publish_an_asset(agent: Agent) -> None:
    """The names are tidied, the asset passes the checks, and is written to its file."""
    await agent.batch(
        step(
            "create",
            things=[
                {"type": "Xform", "name": "Robot"},
                {"type": "Cube", "name": "Cube1", "under": "/World/Robot", "at": [0, 1, 0]},
                {"type": "Sphere", "name": "Cube2", "under": "/World/Robot", "at": [0, 2.5, 0]},
            ],
        ),
        step(
            "assign_material", items=["/World/Robot/Cube*"], values={"base_color": [0.1, 0.3, 0.6]}
        ),
        why="Block out the robot",
    )
    names = {"/World/Robot/Cube1": "body_geo", "/World/Robot/Cube2": "head_geo"}
    await agent.call("rename", names=names, preview=True)
    await agent.call("rename", names=names)
    await agent.call("check", items=["/World/Robot"])
    await agent.call("export_file", path="robot.usda", items=["/World/Robot"])


async def _careless_publishing(agent: Agent) -> None:
    await agent.slip("export_file", "over the file that is there?", path="robot.usda")
    await agent.slip("export_file", ".usda", path="robot.fbx", items=["/World/Robot"])
    await agent.slip(
        "rename", "head_geo", names={"/World/Robot/body_geo": "head_geo"}, preview=False
    )


# ---- a shot has layers


async def build_a_shot_of_layers(agent: Agent) -> None:
    """A payload with two looks stands in a layer of layout, and moves in one of animation."""
    looks = []
    for look, radius, color in (("small", 0.5, [0, 0, 1]), ("large", 2.0, [1, 0, 0])):
        body = f"/World/Hero{{look={look}}}Body"
        values = {"radius": radius, "primvars:displayColor": [color]}
        looks.append(step("set_values", items=["/World/Hero"], values={"variant:look": look}))
        looks.append(step("set_values", items=[body], values=values))
    await agent.batch(
        step(
            "set_values",
            items=["@scene"],
            values={
                "sublayers": ["animation.usda", "layout.usda"],
                "edit_target": "layout.usda",
                "end": 24,
            },
        ),
        step("import_file", path="hero.usda", how="payload"),
        step(
            "create",
            things=[
                {
                    "type": "VariantSet",
                    "name": "look",
                    "under": "/World/Hero",
                    "values": {"variants": ["small", "large"]},
                },
                {"type": "Camera", "name": "Shot", "at": [2.5, 1, 22]},
            ],
        ),
        *looks,
        step("set_values", items=["@scene"], values={"camera": "/World/Shot"}),
        step("set_values", items=["@scene"], values={"edit_target": "animation.usda"}),
        step(
            "set_keys",
            item="/World/Hero",
            prop="xformOp:translate",
            keys=[[1, [0, 0, 0]], [24, [5, 0, 0]]],
            shape="linear",
        ),
        why="Build the shot of layers",
    )
    await agent.call("inspect", items=["/World/Hero", "@scene"])
    await agent.call("look", view="camera", frames=[1, 24])


async def _careless_layers(agent: Agent) -> None:
    await agent.slip("delete", "Delete the xform", items=["/World/Hero"])
    await agent.slip(
        "create", "belongs to a variant set", things=[{"type": "Variant", "name": "x"}]
    )
    await agent.slip("set_values", "radius", items=["/World/Hero/Body"], values={"radii": 3})


TASKS: Final = (
    Task("dress a set", "usd", dress_a_set, _careless_dressing),
    Task("relink a texture", "usd", relink_a_texture, _careless_relinking, files=_with_sign),
    Task("animate a camera", "usd", animate_a_camera, _careless_camera),
    Task("build a material", "usd", build_a_material, _careless_material, files=_with_sign),
    Task("publish an asset", "usd", publish_an_asset, _careless_publishing),
    Task(
        "build a shot of layers",
        "usd",
        build_a_shot_of_layers,
        _careless_layers,
        files=_with_hero,
    ),
)
