"""Calls that use Blender's types and properties, for the cards of `find_api`. Main thread."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final, NamedTuple

import bpy

from dcc_bridge.spi import SCENE, other_value

from ..part_items import kind_named
from .making import DATA, MESHES, OTHER, TREES, modifier_types, node_types

_MATERIAL: Final = {"type": "MATERIAL", "name": "Paint"}
_IN_MATERIAL: Final = "material:Paint"
_MESH: Final = {"type": "CUBE", "name": "Box"}
_PLACES: Final = {"low": [-1, -1, 0], "high": [1, 1, 1]}
# What `create` makes for a part, by the kind of the part.
_PARTS: Final[dict[str, Callable[[str], list[Mapping[str, Any]]]]] = {
    "modifier": lambda kind: [_MESH, {"type": kind, "under": "Box"}],
    "constraint": lambda kind: [_MESH, {"type": kind, "under": "Box"}],
    "bone": lambda kind: [
        {"type": "ARMATURE", "name": "Rig"},
        {"type": kind, "name": "Arm", "under": "Rig", "values": {"tail": [0, 0, 2]}},
    ],
    "vertex_group": lambda kind: [
        _MESH,
        {
            "type": kind,
            "name": "Top",
            "under": "Box",
            "values": {"weights": {**_PLACES, "weight": 0.5}},
        },
    ],
    "shape_key": lambda kind: [
        _MESH,
        {
            "type": kind,
            "name": "Tall",
            "under": "Box",
            "values": {"points": {**_PLACES, "move": [0, 0, 1]}, "value": 1.0},
        },
    ],
    "slot": lambda kind: [
        {"type": "ACTION", "name": "Walk"},
        {"type": kind, "under": "action:Walk"},
    ],
    "input": lambda kind: _in_group(kind),
    "output": lambda kind: _in_group(kind),
    "view_layer": lambda kind: [{"type": kind, "name": "Front"}],
    "spline": lambda kind: [
        {"type": "CURVE", "name": "Path"},
        {"type": kind, "under": "Path", "values": {"points": [[0, 0, 0], [1, 0, 0], [2, 1, 0]]}},
    ],
}
_TREES: Final = {
    "GeometryNode": "GeometryNodeTree",
    "FunctionNode": "GeometryNodeTree",
    "NodeGroup": "GeometryNodeTree",
    "CompositorNode": "CompositorNodeTree",
}
_GROUPS: Final = {
    "GeometryNodeTree": "Scatter",
    "ShaderNodeTree": "Paint",
    "CompositorNodeTree": "Grade",
}
# The types of data, each with what is created to have it.
_HOLDERS: Final = {
    "Object": ("item", ""),
    "Camera": ("CAMERA", "data."),
    "Light": ("POINT_LIGHT", "data."),
    "PointLight": ("POINT_LIGHT", "data."),
    "SunLight": ("SUN_LIGHT", "data."),
    "SpotLight": ("SPOT_LIGHT", "data."),
    "AreaLight": ("AREA_LIGHT", "data."),
    "Curve": ("CURVE", "data."),
    "TextCurve": ("TEXT_OBJECT", "data."),
    "Material": ("MATERIAL", ""),
    "World": ("WORLD", ""),
}
# The types of lights, which have different properties: an example creates its own light.
_LIGHTS: Final = {"POINT_LIGHT", "SUN_LIGHT", "SPOT_LIGHT", "AREA_LIGHT"}
_TYPES: Final = {"TEXT_OBJECT": "FONT"}  # what some that are created are called then
# Types that need another object than a mesh, the tree of a scene, or another node group.
_NO_EXAMPLE: Final = re.compile(
    "^(GREASE_PENCIL|GP|LINEART|VOLUME|MESH_TO_VOLUME|TEXTURE)_|_CURVE_MODIFIER$|Cryptomatte|RLayers|Slots$"
    "|CompositorNodeGamma|ApplySimulatedData"  # that 5.2 lists, and does not have
)
_MAX_ELEMENTS: Final = 4  # of a default
_MAX_DEPTH: Final = 2  # pointers from a scene to what it has
_SHADER: Final = "ShaderNode"
_NAME: Final = "find_api"  # of what is made to check examples, and removed
_MADE_ALONG: Final = ("fonts", "particles")  # lists to which a text and a modifier add their own
_NO_CHOICE: Final = ""
_QUOTED: Final = re.compile("'([^']*)'")
_DATA_LISTS: Final = {"MATERIAL": "materials", "WORLD": "worlds"}
_PLAIN: Final = {"BOOLEAN", "INT", "FLOAT", "ENUM", "STRING"}


def create(kind: str) -> str:
    """Return an example that creates a type; "" where it needs what no call makes."""
    if kind in MESHES or kind in DATA or kind in OTHER:
        return _create({"type": kind})
    if _NO_EXAMPLE.search(kind):
        return ""
    if kind in TREES:
        return _create({"type": kind})
    part = kind_named(kind)
    if part is not None:
        return _create(*_PARTS[part[0]](kind))
    if kind.startswith(_SHADER):
        return _create(_MATERIAL, {"type": kind, "under": _IN_MATERIAL})
    for start, tree in _TREES.items():
        if kind.startswith(start):
            group = {"type": tree, "name": _GROUPS[tree]}
            return _create(group, {"type": kind, "under": f"nodetree:{_GROUPS[tree]}"})
    return ""


def _in_group(kind: str) -> list[Mapping[str, Any]]:
    """Return a node group that takes a type of socket, and the socket."""
    tree = "ShaderNodeTree" if kind.startswith("SHADER_") else "GeometryNodeTree"
    name = _GROUPS[tree]
    return [{"type": tree, "name": name}, {"type": kind, "under": f"nodetree:{name}"}]


class Owner(NamedTuple):
    """How properties of a type are set in an example.

    Attributes:
        before: What comes before the name of the property.
        things: What `create` makes, of which the last has the property; none for the scene.
    """

    before: str
    things: Sequence[Mapping[str, str]] = ()


def owners() -> dict[str, Owner]:
    """Return how the properties of types are set, by the type's name."""
    found = {name: Owner(before, [{"type": kind}]) for name, (kind, before) in _HOLDERS.items()}
    for name, (_, before) in scene_types().items():
        if _in_scene(before) is not None:
            found[name] = Owner(before)
    modifiers = {kind.replace("_", "").lower(): kind for kind in modifier_types()}
    nodes = node_types()
    for name in dir(bpy.types):
        modifier = modifiers.get(name.lower(), "")
        if modifier and not _NO_EXAMPLE.search(modifier):
            found[name] = Owner("", [_MESH, {"type": modifier, "under": _MESH["name"]}])
        elif name.startswith(_SHADER) and name in nodes:
            found[name] = Owner("", [_MATERIAL, {"type": name, "under": _IN_MATERIAL}])
    return found


def scene_types() -> dict[str, tuple[Any, str]]:
    """Return what a scene has, by the type's name: the type, and the path that leads to it."""
    scene: Any = bpy.types.Scene.bl_rna
    found: dict[str, tuple[Any, str]] = {"Scene": (scene, "")}
    for _ in range(_MAX_DEPTH):
        for rna, path in list(found.values()):
            for prop in rna.properties:
                if prop.type != "POINTER" or prop.identifier == "rna_type":
                    continue
                kind = prop.fixed_type
                if not _is_data(kind):
                    found.setdefault(kind.identifier, (kind, f"{path}{prop.identifier}."))
    return found


def _in_scene(path: str) -> Any:
    """Return what a path leads to in this scene; None where that is nothing."""
    thing: Any = bpy.context.scene
    for name in path.rstrip(".").split("."):
        if name:
            thing = getattr(thing, name, None)
    return thing


def _is_data(rna: Any) -> bool:
    """Return whether a type is data that a scene only refers to."""
    while rna.base:
        rna = rna.base
    return bool(rna.identifier == "ID")


def settings(rna: Any, owner: Owner) -> dict[str, str]:
    """Return examples that set the properties of a type to other values, by the property's name.

    Each is checked on a thing of that type: made beside the file and removed, or the scene's own,
    which stays as it is.
    """
    found = {}
    with _instance(owner) as thing:
        for prop in rna.properties:
            example = _setting(prop, owner, thing)
            if example:
                found[prop.identifier] = example
    return found


def _setting(prop: Any, owner: Owner, thing: Any) -> str:
    """Return an example that sets a property; "" where no value is at hand that is taken."""
    if not _is_settable(prop, thing):
        return ""
    choices: list[str] = []
    if prop.type == "ENUM":
        choices = _taken(prop, thing)
        if not _is_created(owner) and choices != _listed(prop):
            return ""  # what the scene has may take others, or other ones later
    value = _other(prop, _default(prop), choices)
    if value is None:
        return ""
    path = f"{owner.before}{prop.identifier}"
    if not owner.things:
        return _set(SCENE, path, value)
    *before, last = owner.things
    if _is_created(owner):
        return _create(*before, {**last, "values": {path: value}})
    return _set(f"<{_TYPES.get(last['type'], last['type'])}>", path, value)


def _is_created(owner: Owner) -> bool:
    """Return whether an example creates the thing that it sets, and takes none of the scene's."""
    return len(owner.things) > 1 or any(thing["type"] in _LIGHTS for thing in owner.things)


def _listed(prop: Any) -> list[str]:
    """Return the choices of an enumeration that its definition lists."""
    return [choice.identifier for choice in prop.enum_items_static]


def _is_settable(prop: Any, thing: Any) -> bool:
    """Return whether a thing has a property that can be set as the thing is now."""
    name = prop.identifier
    return name in thing.bl_rna.properties and not thing.is_property_readonly(name)


def _taken(prop: Any, thing: Any) -> list[str]:
    """Return the choices that an enumeration has in a thing as it is now.

    Blender lists them as it refuses a text that is none of them, which changes nothing.
    """
    try:
        setattr(thing, prop.identifier, _NO_CHOICE)
    except TypeError as error:
        return _QUOTED.findall(str(error).rpartition(" not found in ")[2])
    return []


@contextmanager
def _instance(owner: Owner) -> Iterator[Any]:
    """Yield what has the properties of an owner, and remove all that was made for it."""
    if not owner.things:
        yield _in_scene(owner.before)
        return
    before = {name: set(getattr(bpy.data, name)) for name in _MADE_ALONG}
    with ExitStack() as made:
        made.callback(_remove_others, before)
        yield _made(owner.things[-1]["type"], made)


def _remove_others(before: Mapping[str, set[Any]]) -> None:
    """Remove the data-blocks of some lists that were not there before."""
    for name, blocks in before.items():
        bpy.data.batch_remove(set(getattr(bpy.data, name)) - blocks)


def _made(kind: str, made: ExitStack) -> Any:
    """Make a thing of a type in no scene; a stack removes it."""
    if kind.startswith(_SHADER):
        tree: Any = bpy.data.node_groups.new(_NAME, "ShaderNodeTree")
        made.callback(bpy.data.node_groups.remove, tree)
        return tree.nodes.new(kind)
    if kind in modifier_types():
        mesh = bpy.data.meshes.new(_NAME)
        made.callback(bpy.data.meshes.remove, mesh)
        thing: Any = bpy.data.objects.new(_NAME, mesh)
        made.callback(bpy.data.objects.remove, thing)
        return thing.modifiers.new(_NAME, kind.removesuffix("_MODIFIER"))
    if kind in _DATA_LISTS:
        blocks: Any = getattr(bpy.data, _DATA_LISTS[kind])
        block = blocks.new(_NAME)
        made.callback(blocks.remove, block)
        return block
    if kind in DATA:
        data: Any = DATA[kind](_NAME)
        made.callback(bpy.data.batch_remove, {data})
        return data
    thing = bpy.data.objects.new(_NAME, None)
    made.callback(bpy.data.objects.remove, thing)
    return thing


def _set(item: str, prop: str, value: Any) -> str:
    return f"set_values {json.dumps({'items': [item], 'values': {prop: value}})}"


def _other(prop: Any, default: Any, choices: Sequence[str]) -> Any:
    """Return a value of a property that differs from its default; None where none is sure to fit.

    Args:
        prop: The property.
        default: Its default; None if it has none.
        choices: The choices of an enumeration, of which it takes each.
    """
    value = other_value(default, choices)
    if prop.type not in ("INT", "FLOAT") or value is None:
        return value
    for number in value if prop.is_array else [value]:
        if not prop.hard_min <= number <= prop.hard_max:
            return None
    return value


def _default(prop: Any) -> Any:
    """Return the default of a property, as `set_values` takes it; None where there is none."""
    if prop.type not in _PLAIN or prop.is_readonly:
        return None
    match prop.type:
        case "ENUM":
            return _default_choice(prop)
        case "STRING":
            return prop.default or None
        case "BOOLEAN" | "INT" | "FLOAT" if prop.is_array:
            values = list(prop.default_array)
            return values if 0 < len(values) <= _MAX_ELEMENTS else None
        case "INT" | "FLOAT" if not prop.hard_min <= prop.default <= prop.hard_max:
            return None
    if prop.unit == "ROTATION":
        return round(math.degrees(prop.default), 4)
    return prop.default


def _default_choice(prop: Any) -> str | None:
    names = _listed(prop)
    if prop.is_enum_flag or len(names) < 2:
        return None  # those that are told at run time may lack the default
    return prop.default if prop.default in names else None


def _create(*things: Any) -> str:
    return f"create {json.dumps({'things': things})}"
