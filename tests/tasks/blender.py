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
    """A body hangs on three bones by its weights, and one of them is keyed."""
    bones = [
        _bone("root", "Rig", 0),
        _bone("spine", "Rig/bone:root", 1),
        _bone("head", "Rig/bone:spine", 2),
    ]
    groups = [_weighted(name, number - 1.5) for number, name in enumerate(_BONES)]
    skin = {
        "type": "ARMATURE_MODIFIER",
        "name": "Skin",
        "under": "Body",
        "values": {"object": "Rig"},
    }
    await agent.batch(
        step("create", things=[{"type": "SPHERE", "name": "Body", "at": [0, 0, 1.5]}]),
        step("transform", items=["Body"], scale=[0.5, 0.5, 1.5], apply=["scale"]),
        step("create", things=[{"type": "ARMATURE", "name": "Rig"}, *bones]),
        step("create", things=[*groups, skin]),
        step("group", items=["Body"], under="Rig"),
        step("set_values", items=["Rig/bone:spine"], values={"rotation_mode": "XYZ"}),
        step(
            "set_keys",
            item="Rig/bone:spine",
            prop="rotation_euler",
            keys=[[1, [0, 0, 0]], [20, [40, 0, 0]]],
        ),
        why="Rig the body",
    )
    await agent.call("inspect", items=["Rig", "Rig/bone:spine", "Body/vertex_group:head"])


_BONES: Final = ("root", "spine", "head")


def _bone(name: str, under: str, height: float) -> dict[str, Any]:
    values = {"head": [0, 0, height], "tail": [0, 0, height + 1]}
    return {"type": "BONE", "name": name, "under": under, "values": values}


def _weighted(name: str, low: float) -> dict[str, Any]:
    """Return the vertex group of a bone, with all vertices between two heights."""
    box = {"low": [-1, -1, low], "high": [1, 1, low + 1], "weight": 1.0}
    return {
        "type": "VERTEX_GROUP",
        "name": name,
        "under": "Body",
        "values": {"weights": [box]},
    }


async def _careless_rigging(agent: Agent) -> None:
    await agent.slip("delete", "Rig", items=["Rig"])
    await agent.slip("rename", "Rig", names={"Body": "Rig"})
    await agent.slip("set_values", "Rig", items=["Body"], values={'modifiers["Skin"].object': "Ri"})


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
