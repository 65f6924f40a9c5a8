"""The tasks in Blender."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tests.tasks.agent import Agent
from tests.tasks.task import Task
from tests.verbs.steps import step

_LID: Final = """mtllib lid.mtl
o Lid
v 0 0 0
v 100 0 0
v 100 0 80
v 0 0 80
vt 0 0
vt 1 0
vt 1 1
vt 0 1
usemtl Wood
f 1/1 2/2 3/3 4/4
"""


def _with_model(folder: Path) -> None:
    (folder / "lid.obj").write_text(_LID)
    (folder / "lid.mtl").write_text("newmtl Wood\nKd 1 1 1\nmap_Kd gone.png\n")
    (folder / "wood.png").write_bytes(b"\x89PNG\r\n\x1a\n")


# ---- a model is lit


async def light_a_model(agent: Agent) -> None:
    """Three lights and a camera look at a model; the old light is gone."""
    await agent.call("summary")
    await agent.batch(
        step("delete", items=["Light"]),
        step("create", "model", things=[{"type": "MONKEY", "name": "Model", "at": [0, 0, 1]}]),
        step("delete", items=["Cube"]),
        step(
            "create",
            "lights",
            things=[
                _light("Key", [4, -4, 5], 800),
                _light("Fill", [-5, -3, 3], 250),
                _light("Rim", [-2, 5, 4], 500),
            ],
        ),
        step("transform", items=["$lights"], look_at="$model"),
        step("transform", items=["Camera"], at=[0, -7, 2], look_at="$model"),
        step("set_values", items=["Camera"], values={"data.lens": 65}),
        why="Light the model",
        look={"items": ["Model"], "view": "camera"},
    )


def _light(name: str, at: list[float], energy: float) -> dict[str, Any]:
    return {"type": "AREA_LIGHT", "name": name, "at": at, "values": {"data.energy": energy}}


async def _careless_lighting(agent: Agent) -> None:
    await agent.slip("set_values", "data.energy", items=["Key"], values={"energy": 900})
    await agent.slip("set_values", "AREA", items=["Key"], values={"data.type": "SOFTBOX"})
    await agent.slip("delete", "5 ", pattern="*")


# ---- a prop is modelled


async def model_a_prop(agent: Agent) -> None:
    """A box is bevelled and subdivided, and has a material of nodes."""
    wood = "material:Wood"
    await agent.batch(
        step("create", things=[{"type": "CUBE", "name": "Crate", "at": [4, 0, 1]}]),
        step(
            "create",
            things=[
                {
                    "type": "BEVEL_MODIFIER",
                    "name": "Bevel",
                    "under": "Crate",
                    "values": {"width": 0.08, "segments": 3},
                },
                {
                    "type": "SUBSURF_MODIFIER",
                    "name": "Subdivision",
                    "under": "Crate",
                    "values": {"levels": 2, "render_levels": 3},
                },
            ],
        ),
        step("create", things=[{"type": "MATERIAL", "name": "Wood"}]),
        step(
            "create",
            things=[
                {"type": "ShaderNodeTexNoise", "name": "Grain", "under": wood},
                {"type": "ShaderNodeBump", "name": "Bump", "under": wood},
            ],
        ),
        step(
            "connect",
            links=[
                _link("Grain", "Color", "Principled BSDF", "Base Color"),
                _link("Grain", "Fac", "Bump", "Height"),
                _link("Bump", "Normal", "Principled BSDF", "Normal"),
            ],
        ),
        step("set_values", items=[f"{wood}/Principled BSDF"], values={"Roughness": 0.4}),
        step("assign_material", items=["Crate"], material=wood),
        why="Model the crate",
    )
    await agent.call("inspect", items=["Crate"], parts=["values", "counts"])


def _link(start: str, out: str, end: str, into: str) -> dict[str, str]:
    wood = "material:Wood/"
    return {"from": wood + start, "out": out, "to": wood + end, "in": into}


async def _careless_modelling(agent: Agent) -> None:
    await agent.slip(
        "set_values", "segments", items=["Crate"], values={'modifiers["Bevel"].seg': 2}
    )
    await agent.slip(
        "connect", "Base Color", links=[_link("Grain", "Color", "Principled BSDF", "Colour")]
    )
    await agent.slip("assign_material", "Crate", items=["Crates"], material="material:Wood")
    await agent.slip("set_values", "80", items=["Crate"], values={'modifiers["Bevel"].width': 80})


# ---- a character is rigged


async def rig_a_character(agent: Agent) -> None:
    """A figure of spheres is built, hung on 15 bones by its weights, keyed, lit and rendered."""
    await agent.batch(
        step("delete", items=["Cube", "Light"]),
        step("create", things=[_ball(*ball) for ball in _BALLS]),
        step("transform", items=list(_BODY), apply=["at", "rotation", "scale"]),
        step("create", things=[_mirror(name) for name in _PAIRS]),
        *(_coloured(name, color, parts) for name, color, parts in _COLORS),
        why="Build the figure",
    )
    await agent.batch(
        step("create", things=[{"type": "ARMATURE", "name": "Rig"}]),
        step("create", "bones", things=_skeleton()),
        step("create", things=[_group(*group) for group in _weights()]),
        step("create", things=[_skin(name) for name in _BODY]),
        step("create", things=[_smooth(name) for name in _BODY]),
        step("group", items=list(_BODY), under="Rig"),
        step("set_values", items=["$bones"], values={"rotation_mode": "XYZ"}),
        *(_posed(bone, rests, waves) for bone, rests, waves in _POSES),
        why="Rig the figure, and have it wave",
    )
    await agent.batch(
        step("create", things=[{"type": "PLANE", "name": "Floor", "values": {"scale": [9, 9, 1]}}]),
        _coloured("Paper", _SKY, ["Floor"]),
        step(
            "create",
            "lights",
            things=[
                _light("Key", [2.5, -3.5, 4], 170),
                _light("Fill", [-3.5, -3, 2], 45),
                _light("Rim", [-1.5, 3, 3.5], 140),
            ],
        ),
        step("set_values", items=["$lights"], values={"data.size": 2.5}),
        step("transform", items=["$lights"], look_at=[0, 0, 1]),
        step("transform", items=["Camera"], at=[0.6, -4.6, 1.3], look_at=[-0.06, 0, 0.95]),
        step("set_values", items=["Camera"], values={"data.lens": 62}),
        step("set_values", items=["world:World/Background"], values={"Color": _SKY, "Strength": 1}),
        step("set_values", items=["@scene"], values=_RENDERED),
        why="Light the figure",
        look={"items": ["Torso"], "view": "camera"},
    )
    await agent.call("render", path=str(agent.folder / "pose_##.png"), frames=[1, 20, 19])
    await agent.call("inspect", items=["Rig", "Rig/bone:hand.R", "Legs/vertex_group:shin.L"])


# Each sphere with its place, and half of its size. One of a pair is that on the left.
_BALLS: Final[tuple[tuple[str, list[float], list[float]], ...]] = (
    ("Torso", [0, 0, 1.0], [0.25, 0.19, 0.36]),
    ("Hips", [0, 0, 0.74], [0.225, 0.18, 0.17]),
    ("Head", [0, 0, 1.6], [0.29, 0.27, 0.29]),
    ("Hair", [0, 0.045, 1.68], [0.3, 0.27, 0.25]),
    ("Nose", [0, -0.28, 1.56], [0.035, 0.04, 0.035]),
    ("Mouth", [0, -0.232, 1.475], [0.1, 0.035, 0.055]),
    ("Lip", [0, -0.235, 1.503], [0.115, 0.04, 0.055]),
    ("Arms", [0.46, 0, 1.14], [0.38, 0.09, 0.09]),
    ("Hands", [0.83, 0, 1.14], [0.12, 0.06, 0.09]),
    ("Thumbs", [0.8, -0.07, 1.18], [0.045, 0.04, 0.06]),
    ("Legs", [0.13, 0, 0.4], [0.11, 0.115, 0.42]),
    ("Shoes", [0.14, -0.06, 0.075], [0.1, 0.18, 0.085]),
    ("Eyes", [0.1, -0.25, 1.62], [0.035, 0.025, 0.05]),
    ("Glints", [0.09, -0.273, 1.642], [0.011, 0.006, 0.014]),
)
_BODY: Final = tuple(name for name, _, _ in _BALLS)
_PAIRS: Final = ("Arms", "Hands", "Thumbs", "Legs", "Shoes", "Eyes", "Glints")
_COLORS: Final[tuple[tuple[str, list[float], list[str]], ...]] = (
    ("Skin", [0.9, 0.42, 0.24], ["Head", "Nose", "Lip", "Hands", "Thumbs"]),
    ("Shirt", [0.75, 0.06, 0.04], ["Torso", "Arms"]),
    ("Trousers", [0.06, 0.12, 0.35], ["Hips", "Legs"]),
    ("Leather", [0.16, 0.07, 0.03], ["Shoes", "Hair"]),
    ("Ink", [0.02, 0.01, 0.01], ["Eyes", "Mouth"]),
    ("Chalk", [0.9, 0.9, 0.9], ["Glints"]),
)
_RENDERED: Final = {
    "render.engine": "CYCLES",
    "cycles.samples": 40,
    "size": [360, 480],
    "start": 1,
    "end": 20,
}
_SKY: Final = [0.28, 0.5, 0.62]  # the color of the floor and of what is around it
_ELBOW: Final = 0.46  # from the middle of the figure
_KNEE: Final = 0.4  # above the floor
# Each bone of the middle: what it is made under, its head and its tail.
_MIDDLE: Final[tuple[tuple[str, str, list[float], list[float]], ...]] = (
    ("hips", "Rig", [0, 0, 0.7], [0, 0, 0.86]),
    ("spine", "Rig/bone:hips", [0, 0, 0.86], [0, 0, 1.3]),
    ("head", "Rig/bone:spine", [0, 0, 1.32], [0, 0, 1.9]),
)
# Each bone on the left.
_LEFT: Final[tuple[tuple[str, str, list[float], list[float]], ...]] = (
    ("upper_arm.L", "Rig/bone:spine", [0.2, 0, 1.14], [_ELBOW, 0, 1.14]),
    ("forearm.L", "Rig/bone:upper_arm.L", [_ELBOW, 0, 1.14], [0.74, 0, 1.14]),
    ("hand.L", "Rig/bone:forearm.L", [0.74, 0, 1.14], [0.94, 0, 1.14]),
    ("thigh.L", "Rig/bone:hips", [0.13, 0, 0.72], [0.13, 0, _KNEE]),
    ("shin.L", "Rig/bone:thigh.L", [0.13, 0, _KNEE], [0.13, 0, 0.1]),
    ("foot.L", "Rig/bone:shin.L", [0.13, 0, 0.1], [0.14, -0.2, 0.05]),
)
# Each bone that is keyed: how it is turned as the figure rests, and as it waves.
_POSES: Final[tuple[tuple[str, list[float], list[float]], ...]] = (
    ("spine", [0, 0, 0], [0, 0, -6]),
    ("head", [0, 0, 0], [0, 0, 12]),
    ("upper_arm.L", [-68, 0, 0], [-48, 0, 0]),
    ("forearm.L", [-8, 0, 0], [-25, 0, 0]),
    ("upper_arm.R", [-68, 0, 0], [14, 0, 0]),
    ("forearm.R", [-8, 0, 0], [52, 0, 0]),
    ("hand.R", [0, 0, 0], [12, 0, 0]),
    ("thigh.L", [0, 0, 0], [-12, 0, 0]),
    ("shin.L", [0, 0, 0], [55, 0, 0]),
)


def _ball(name: str, at: list[float], size: list[float]) -> dict[str, Any]:
    return {"type": "SPHERE", "name": name, "at": at, "values": {"scale": size}}


def _mirror(name: str) -> dict[str, Any]:
    """Return the modifier that makes the one on the right, and swaps .L and .R of its groups."""
    return {"type": "MIRROR_MODIFIER", "name": "Pair", "under": name}


def _smooth(name: str) -> dict[str, Any]:
    values = {"levels": 1, "render_levels": 2}
    return {"type": "SUBSURF_MODIFIER", "name": "Smooth", "under": name, "values": values}


def _skin(name: str) -> dict[str, Any]:
    values = {"object": "Rig"}
    return {"type": "ARMATURE_MODIFIER", "name": "Skin", "under": name, "values": values}


def _coloured(name: str, color: list[float], parts: list[str]) -> dict[str, Any]:
    values = {"base_color": color, "roughness": 0.55}
    return step("assign_material", items=parts, material=name, values=values)


def _skeleton() -> list[dict[str, Any]]:
    """Return the 15 bones; those on the right are those on the left, on the other side."""
    bones = [*_MIDDLE, *_LEFT]
    for name, under, head, tail in _LEFT:
        right_head = [-head[0], *head[1:]]
        right_tail = [-tail[0], *tail[1:]]
        bones.append((name[:-1] + "R", under.replace(".L", ".R"), right_head, right_tail))
    return [_bone(*bone) for bone in bones]


def _bone(name: str, under: str, head: list[float], tail: list[float]) -> dict[str, Any]:
    values = {"head": head, "tail": tail}
    return {"type": "BONE", "name": name, "under": under, "values": values}


def _posed(bone: str, rests: list[float], waves: list[float]) -> dict[str, Any]:
    keys = [[1, rests], [20, waves]]
    return step("set_keys", item=f"Rig/bone:{bone}", prop="rotation_euler", keys=keys)


def _weights() -> list[tuple[str, str, Any]]:
    """Return each vertex group: of which part, its name, and its weights."""
    groups: list[tuple[str, str, Any]] = [
        ("Torso", "spine", [_box(2, 0.95, 2, 1), _box(2, 0.8, 0.95, 0.5)]),
        ("Torso", "hips", [_box(2, 0, 0.8, 1), _box(2, 0.8, 0.95, 0.5)]),
        ("Hips", "hips", 1),
    ]
    groups += [(name, "head", 1) for name in ("Head", "Hair", "Nose", "Mouth", "Lip")]
    groups += [(name, "head", 1) for name in ("Eyes", "Glints")]
    for part, inner, outer, axis, joint in (
        ("Arms", "upper_arm", "forearm", 0, _ELBOW),
        ("Legs", "shin", "thigh", 2, _KNEE),
    ):
        groups.append((part, f"{inner}.L", [_box(axis, -1, joint, 1), *_bend(axis, joint, 1)]))
        groups.append((part, f"{outer}.L", [_box(axis, joint, 2, 1), *_bend(axis, joint, -1)]))
        groups += [(part, f"{bone}.R", None) for bone in (inner, outer)]
    for part, bone in (("Hands", "hand"), ("Thumbs", "hand"), ("Shoes", "foot")):
        groups += [(part, f"{bone}.L", 1), (part, f"{bone}.R", None)]
    return groups


def _bend(axis: int, joint: float, way: int) -> list[dict[str, Any]]:
    """Return the weights about a joint, which fade along an axis, or against it."""
    bands = ((-0.15, -0.05, 0.5 + 0.3 * way), (-0.05, 0.05, 0.5), (0.05, 0.15, 0.5 - 0.3 * way))
    return [_box(axis, joint + low, joint + high, weight) for low, high, weight in bands]


def _box(axis: int, low: float, high: float, weight: float) -> dict[str, Any]:
    """Return the weight of all vertices between two places along an axis."""
    lows = [-2.0, -2.0, -2.0]
    highs = [2.0, 2.0, 2.0]
    lows[axis] = low
    highs[axis] = high
    return {"low": lows, "high": highs, "weight": weight}


def _group(part: str, name: str, weights: Any) -> dict[str, Any]:
    """Return a vertex group; one without weights is for the other of a pair."""
    made: dict[str, Any] = {"type": "VERTEX_GROUP", "name": name, "under": part}
    if weights is not None:
        made["values"] = {"weights": weights}
    return made


async def _careless_rigging(agent: Agent) -> None:
    await agent.slip("delete", "Rig", items=["Rig"])
    await agent.slip("rename", "Rig", names={"Torso": "Rig"})
    await agent.slip("set_values", "Rig", items=["Torso/modifier:Skin"], values={"object": "Ri"})


# ---- a face smiles


async def shape_a_face(agent: Agent) -> None:
    """A head has a shape key, which is keyed."""
    box = {"low": [0.1, -1, -1], "high": [1, 1, -0.01], "move": [0.3, 0, 0]}
    await agent.batch(
        step("create", things=[{"type": "SPHERE", "name": "Head", "at": [3, 0, 1]}]),
        step(
            "create",
            things=[
                {
                    "type": "SHAPE_KEY",
                    "name": "Smile",
                    "under": "Head",
                    "values": {"points": [box]},
                }
            ],
        ),
        step("set_keys", item="Head/shape_key:Smile", prop="value", keys=[[1, 0], [12, 1]]),
        why="Give the head a smile",
    )
    await agent.call("inspect", items=["Head", "Head/shape_key:Smile"])


async def _careless_shaping(agent: Agent) -> None:
    await agent.slip("delete", 'Delete the mesh "Head"?', items=["Head"])
    await agent.slip("rename", "is taken", names={"Head": "Cube"})


# ---- a field is scattered


async def scatter_in_a_grid(agent: Agent) -> None:
    """A hundred trees stand in a grid, share their mesh, and are in one collection."""
    await agent.batch(
        step("create", things=[{"type": "CONE", "name": "Tree", "at": [-18, -18, 1]}]),
        step("assign_material", items=["Tree"], values={"base_color": [0.05, 0.3, 0.1]}),
        step(
            "duplicate",
            items=["Tree"],
            linked=True,
            repeat={"count": [10, 10, 1], "step": [4, 4, 0], "name": "Tree_###"},
        ),
        step("group", items=["Tree*"], into="Forest", kind="collection"),
        why="Plant a forest",
    )
    await agent.call("list_items", name="Tree*", limit=5, fields=["at"])


async def _careless_scattering(agent: Agent) -> None:
    await agent.slip("delete", "Delete 100", pattern="Tree*")
    await agent.slip("transform", "Tree_", items=["Tree_1"], move=[1, 0, 0])
    await agent.slip(
        "duplicate", "10", items=["Tree*"], repeat={"count": [40, 40, 1], "step": [4, 4, 0]}
    )


# ---- a frame is rendered


async def render_a_frame(agent: Agent) -> None:
    """The scene is rendered to a file, in a size of its own."""
    await agent.call(
        "set_values",
        items=["@scene"],
        values={
            "render.engine": "CYCLES",
            "cycles.samples": 1,
            "cycles.use_denoising": False,
            "size": [64, 48],
        },
    )
    await agent.call("render", path=str(agent.folder / "frame.png"))


async def _careless_rendering(agent: Agent) -> None:
    await agent.slip("set_values", "CYCLES", items=["@scene"], values={"render.engine": "ARNOLD"})
    await agent.slip("set_values", "camera", items=["@scene"], values={"camera": "Cube"})
    await agent.slip("render", ".png", path=str(agent.folder / "frame.gif"))


# ---- a product turns


async def turn_a_product(agent: Agent) -> None:
    """A camera circles a product once in 48 frames, linearly."""
    await agent.batch(
        step("create", things=[{"type": "EMPTY", "name": "Pivot"}]),
        step("transform", items=["Camera"], at=[0, -8, 2], look_at="Cube"),
        step("group", items=["Camera"], under="Pivot"),
        step(
            "set_keys",
            item="Pivot",
            prop="rotation_euler",
            keys=[[1, [0, 0, 0]], [49, [0, 0, 360]]],
            shape="linear",
        ),
        step("set_values", items=["@scene"], values={"start": 1, "end": 48}),
        why="Turn about the product",
        look={"items": ["Cube"], "view": "camera"},
    )


async def _careless_turning(agent: Agent) -> None:
    await agent.slip(
        "set_keys", "rotation_euler", item="Pivot", prop="rotation", keys=[[1, [0, 0, 0]]]
    )
    await agent.slip(
        "set_values", "replace", items=["Pivot"], values={"rotation_euler": [0, 0, 90]}
    )
    await agent.slip("transform", "key", items=["Pivot"], rotate=[0, 0, 90])


# ---- a model comes in


async def mend_an_import(agent: Agent) -> None:
    """A model in centimetres comes in at its size, with its texture found again, and goes on."""
    told = await agent.call("import_file", path=str(agent.folder / "lid.obj"), scale=0.01)
    failed = (await agent.call("check", rules=["missing_files"]))["failed"]
    image = next(iter(failed["missing_files"]["items"]))
    await agent.batch(
        step("set_values", items=[image], values={"filepath": str(agent.folder / "wood.png")}),
        step("transform", items=told["items"], apply=["rotation", "scale"]),
        why="Mend the import",
    )
    await agent.call("export_file", path=str(agent.folder / "lid.glb"), items=told["items"])


async def _careless_import(agent: Agent) -> None:
    await agent.slip("import_file", "lid.obj", path=str(agent.folder / "lib.obj"))
    await agent.slip("export_file", "over the file", path=str(agent.folder / "lid.glb"))
    await agent.slip("set_values", "filepath", items=["image:gone.png"], values={"path": "a.png"})


TASKS: Final = (
    Task("light a model", "blender", light_a_model, _careless_lighting),
    Task("model a prop", "blender", model_a_prop, _careless_modelling),
    Task("rig a character", "blender", rig_a_character, _careless_rigging),
    Task("shape a face", "blender", shape_a_face, _careless_shaping),
    Task("scatter in a grid", "blender", scatter_in_a_grid, _careless_scattering),
    Task("render a frame", "blender", render_a_frame, _careless_rendering),
    Task("turn a product", "blender", turn_a_product, _careless_turning),
    Task("mend an import", "blender", mend_an_import, _careless_import, files=_with_model),
)
