"""Calls that use Blender's types and properties, for the cards of `find_api`. Main thread."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import bpy

from dcc_bridge.spi import SCENE, other_value

from .making import DATA, MESHES, OTHER, modifier_types

_MATERIAL: Final = {"type": "MATERIAL", "name": "Paint"}
_IN_MATERIAL: Final = "material:Paint"
_MESH: Final = {"type": "CUBE", "name": "Box"}
_TREES: Final = {
    "GeometryNode": "GeometryNodeTree",
    "FunctionNode": "GeometryNodeTree",
    "CompositorNode": "CompositorNodeTree",
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
# What some that are created are called then.
_TYPES: Final = {
    "AREA_LIGHT": "LIGHT",
    "POINT_LIGHT": "LIGHT",
    "SPOT_LIGHT": "LIGHT",
    "SUN_LIGHT": "LIGHT",
    "TEXT_OBJECT": "FONT",
}
# Types that need another object than a mesh, or the tree of a scene.
_NO_EXAMPLE: Final = re.compile(
    "^(GREASE_PENCIL|GP|LINEART|VOLUME|MESH_TO_VOLUME)_|Cryptomatte|RLayers|Slots$"
    "|CompositorNodeGamma|ApplySimulatedData"  # that 5.2 lists, and does not have
)
# Properties that depend on others.
_CONDITIONAL: Final = {
    *("texspace_location", "texspace_size", "fill_mode"),
    *("layers_uv_select_dst", "layers_uv_select_src"),
    *("layers_vcol_loop_select_dst", "layers_vcol_loop_select_src"),
    *("layers_vcol_vert_select_dst", "layers_vcol_vert_select_src"),
    *("layers_vgroup_select_dst", "layers_vgroup_select_src"),
}
_MAX_ELEMENTS: Final = 4  # of a default
_MAX_DEPTH: Final = 2  # pointers from a scene to what it has
_SHADER: Final = "ShaderNode"
_PLAIN: Final = {"BOOLEAN", "INT", "FLOAT", "ENUM", "STRING"}


def create(kind: str) -> str:
    """Return an example that creates a type; "" where it needs what no call makes."""
    if kind in MESHES or kind in DATA or kind in OTHER:
        return _create({"type": kind})
    if _NO_EXAMPLE.search(kind):
        return ""
    if kind in modifier_types():
        return _create(_MESH, {"type": kind, "under": _MESH["name"]})
    if kind.startswith(_SHADER):
        return _create(_MATERIAL, {"type": kind, "under": _IN_MATERIAL})
    for start, tree in _TREES.items():
        if kind.startswith(start):
            made = f'tree = bpy.data.node_groups.new("Nodes", "{tree}")'
            return f'{made}\nnode = tree.nodes.new("{kind}")'
    return ""


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
        if _is_in_scene(before):
            found[name] = Owner(before)
    modifiers = {kind.replace("_", "").lower(): kind for kind in modifier_types()}
    for name in dir(bpy.types):
        modifier = modifiers.get(name.lower(), "")
        if modifier and not _NO_EXAMPLE.search(modifier):
            found[name] = Owner("", [_MESH, {"type": modifier, "under": _MESH["name"]}])
        elif name.startswith(_SHADER):
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


def _is_in_scene(path: str) -> bool:
    """Return whether a path leads to something in this scene."""
    thing: Any = bpy.context.scene
    for name in path.rstrip(".").split("."):
        if name:
            thing = getattr(thing, name, None)
    return thing is not None


def _is_data(rna: Any) -> bool:
    """Return whether a type is data that a scene only refers to."""
    while rna.base:
        rna = rna.base
    return bool(rna.identifier == "ID")


def setting(prop: Any, owner: Owner) -> str:
    """Return an example that sets a property to another value; "" where none is at hand."""
    value = _other(prop, _default(prop))
    if value is None:
        return ""
    path = f"{owner.before}{prop.identifier}"
    if not owner.things:
        return _set(SCENE, path, value)
    *before, last = owner.things
    if not before:
        return _set(f"<{_TYPES.get(last['type'], last['type'])}>", path, value)
    return _create(*before, {**last, "values": {path: value}})


def _set(item: str, prop: str, value: Any) -> str:
    return f"set_values {json.dumps({'items': [item], 'values': {prop: value}})}"


def _other(prop: Any, default: Any) -> Any:
    """Return a value of a property that differs from its default; None where none is sure to fit.

    Args:
        prop: The property.
        default: Its default; None if it has none.
    """
    choices = []
    if prop.type == "ENUM":
        choices = [choice.identifier for choice in prop.enum_items_static]
    value = other_value(default, choices)
    if prop.type not in ("INT", "FLOAT") or value is None:
        return value
    for number in value if prop.is_array else [value]:
        if not prop.hard_min <= number <= prop.hard_max:
            return None
    return value


def _default(prop: Any) -> Any:
    """Return the default of a property, as `set_values` takes it; None where there is none."""
    if prop.type not in _PLAIN or prop.is_readonly or prop.identifier in _CONDITIONAL:
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
    names = [choice.identifier for choice in prop.enum_items_static]
    if prop.is_enum_flag or len(names) < 2:
        return None  # those that are told at run time may lack the default
    return prop.default if prop.default in names else None


def _create(*things: Any) -> str:
    return f"create {json.dumps({'things': things})}"
