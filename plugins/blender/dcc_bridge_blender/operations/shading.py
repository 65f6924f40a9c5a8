"""The operations on values, keys, nodes and materials. Main thread."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import bpy

from dcc_bridge.spi import (
    SCENE,
    SCENE_PROPS,
    Connections,
    Keyframes,
    Keys,
    Materials,
    Shape,
    SocketLink,
    Value,
)

from ..objects import block, item_of
from . import properties, values
from .building import _Building
from .items import require, require_object, require_own, require_tree, scene, sockets_of
from .making import use_nodes
from .slot import Slot

_SOCKETS: Final = {
    "base_color": ("Base Color",),
    "metallic": ("Metallic",),
    "roughness": ("Roughness",),
    "emission": ("Emission Color", "Emission"),  # "Emission" until 3.6
    "opacity": ("Alpha",),
    "normal": ("Normal",),
    "texture": ("Base Color",),
}
"""The input of a Principled BSDF for each value of a material."""
_SCENE: Final = {
    "frame": "frame_current",
    "start": "frame_start",
    "end": "frame_end",
    "engine": "render.engine",
}
"""The paths of the properties of the scene that agents call by another name."""
_SCENE_PATHS: Final = (
    "render.resolution_percentage",
    "render.film_transparent",
    "render.filepath",
    "view_settings.view_transform",
    "view_settings.exposure",
)
"""Further properties of the scene that are listed; all of `render` and so on can be set."""
_METERS: Final = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "in": 0.0254, "ft": 0.3048}


class _Shading(_Building, Connections, Keyframes, Materials):
    """The operations on values, keys, nodes and materials."""

    def scene_props(self) -> list[str]:
        """Return the properties of the scene by the words of all hosts, then by Blender's."""
        known = {*SCENE_PROPS, *_SCENE.values(), "name", "use_fake_user"}
        # What an add-on adds to scenes is among the custom properties until 4.5, as '["cycles"]'.
        known |= {f'["{name}"]' for name in scene().bl_rna.properties.keys()}  # noqa: SIM118
        paths = properties.slots(SCENE, scene())
        own = [path for path in paths if "." not in path and path not in known]
        return [*SCENE_PROPS, "engine", *_SCENE_PATHS, *own]

    def value(self, item: str, prop: str) -> Value:
        """Return a property's value; angles in degrees."""
        if item == SCENE and prop in ("fps", "size", "units"):
            return Value(_scene_value(prop))
        return values.read(_slot(item, prop))

    def set_value(self, item: str, prop: str, value: Any, *, replace: bool = False) -> None:
        if item == SCENE and prop in ("frame", "fps", "size", "units"):
            _set_scene(prop, value)
            return
        slot = _slot(item, prop)
        values.write(slot, value, replace=replace)
        self._is_moved = True
        if not isinstance(slot.owner, bpy.types.Object) or prop == "parent":
            self.touch()

    def keys(self, item: str, prop: str) -> list[tuple[float, Any]]:
        """Return the keys of a property, of all elements together."""
        return values.read_keys(properties.slot(item, prop))

    def set_keys(self, item: str, prop: str, keys: Keys, shape: Shape, *, clear: bool) -> None:
        """Set the keys of a property, and show the value that they have at the current frame."""
        values.write_keys(properties.slot(item, prop), keys, shape, clear=clear)
        self.touch()

    # ---- nodes

    def sockets(self, item: str) -> tuple[list[str], list[str]]:
        """Return inputs and outputs; sockets with the same name, by their identifiers."""
        node = require(item)
        if not isinstance(node, bpy.types.Node):
            raise ValueError(f"{item} has no sockets: a node has, such as {item}/Principled BSDF.")
        return list(sockets_of(node.inputs)), list(sockets_of(node.outputs))

    def connect(self, link: SocketLink) -> None:
        source = require(link.source)
        target = require(link.target)
        tree = require_tree(link.target)
        require_own(link.target, tree)
        if source.id_data != tree:
            raise ValueError(f"{link.source} and {link.target} are not in one node tree.")
        output = sockets_of(source.outputs)[link.out]
        into = sockets_of(target.inputs)[link.into]
        created = tree.links.new(output, into)
        if created is None or not created.is_valid:
            raise ValueError(f"{link.source}, {link.out} does not go into {link.into}: a loop.")

    def cut(self, link: SocketLink) -> None:
        target = require(link.target)
        tree = require_tree(link.target)
        require_own(link.target, tree)
        for existing in list(sockets_of(target.inputs)[link.into].links):
            if not link.source or existing.from_node == require(link.source):
                tree.links.remove(existing)

    # ---- materials

    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        """Create or change a material, whose surface is a Principled BSDF, found by its type."""
        wrong = sorted(set(values) - set(_SOCKETS))
        if wrong:
            raise ValueError(f"No {', '.join(wrong)}; a material has {', '.join(_SOCKETS)}.")
        material: Any = _material(name) if name else None
        if material is None:
            material = bpy.data.materials.new(_plain(name or "Material"))
        require_own(item_of(material), material)
        use_nodes(material)
        surface = _surface(material.node_tree)
        for key, value in values.items():
            _set_surface(material, surface, key, value)
        return item_of(material)

    def assign(self, item: str, material: str) -> None:
        """Assign a material to an object, and to no other object that shares its data."""
        thing: Any = require_object(item, "given a material")
        found = _material(material)
        if found is None:
            require(f"material:{_plain(material)}")
        require_own(item, thing)
        if not hasattr(thing.data, "materials"):
            raise ValueError(f"{item} is a {thing.type}, which has no material.")
        if thing.mode == "EDIT":
            raise ValueError(f"{item} is in edit mode: leave it first.")
        link = "OBJECT"
        in_data = None
        is_shared = thing.data.users > 1 or thing.data.library is not None
        if not is_shared:
            link = "DATA"
            in_data = found
            thing.data.materials.clear()
        if not thing.material_slots:
            thing.data.materials.append(in_data)
        for slot in thing.material_slots:
            slot.link = link
            slot.material = found


def _slot(item: str, prop: str) -> Slot:
    if item == SCENE:
        prop = _SCENE.get(prop, prop)
    return properties.slot(item, prop)


def _scene_value(prop: str) -> Any:
    render = scene().render
    if prop == "size":
        return [render.resolution_x, render.resolution_y]
    if prop == "fps":
        return round(render.fps / render.fps_base, 3)
    scale = float(f"{scene().unit_settings.scale_length:.6g}")
    for name, meters in _METERS.items():
        if meters == scale:
            return name
    return f"{scale:g} m"


def _set_scene(prop: str, value: Any) -> None:
    """Set a value of the scene that has no property of its own, or needs more than that."""
    render = scene().render
    if prop == "frame":
        scene().frame_set(int(value))
    elif prop == "size":
        if not isinstance(value, list | tuple) or len(value) != 2:
            raise ValueError(f"size takes [width, height], and not {value!r}.")
        for name, pixels in zip(("resolution_x", "resolution_y"), value, strict=True):
            Slot(SCENE, render, name).write(pixels)
    elif prop == "fps":
        if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 1000:
            raise ValueError(f"fps takes 1 to 1000, and not {value!r}.")
        render.fps = max(1, round(value))
        render.fps_base = render.fps / value
    elif value not in _METERS:
        raise ValueError(f"units is one of {', '.join(_METERS)}, and not {value!r}.")
    else:
        scene().unit_settings.scale_length = _METERS[value]


def _plain(name: str) -> str:
    return name.removeprefix("material:")


def _material(name: str) -> Any:
    return block(f"material:{_plain(name)}")


def _surface(tree: Any) -> Any:
    """Return the Principled BSDF of a material: a connected one first, else a new one."""
    surfaces = [node for node in tree.nodes if node.type == "BSDF_PRINCIPLED"]
    for surface in surfaces:
        if surface.outputs[0].is_linked:
            return surface
    if surfaces:
        return surfaces[0]
    surface = tree.nodes.new("ShaderNodeBsdfPrincipled")
    outputs = [node for node in tree.nodes if node.type == "OUTPUT_MATERIAL"]
    output = outputs[0] if outputs else tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(surface.outputs[0], output.inputs["Surface"])
    return surface


def _set_surface(material: Any, surface: Any, key: str, value: Any) -> None:
    """Set a value of a material, as a number, color or texture of its surface."""
    tree = material.node_tree
    names = [name for name in _SOCKETS[key] if name in surface.inputs]
    socket = surface.inputs[names[0]]
    for link in list(socket.links):
        tree.links.remove(link)
    if key in ("texture", "normal"):
        _texture(tree, socket, str(value), is_normal=key == "normal")
        return
    Slot(f"{item_of(material)}/{surface.name}", socket, "default_value").write(value)
    if key == "emission":
        strength = surface.inputs["Emission Strength"]
        strength.default_value = strength.default_value or 1.0
    elif key == "base_color":  # the solid view shows the color of the material itself
        material.diffuse_color = socket.default_value
    elif key in ("metallic", "roughness"):
        setattr(material, key, value)
    elif key == "opacity" and value < 1 and bpy.app.version < (4, 2):
        material.blend_method = "BLEND"


def _texture(tree: Any, socket: Any, path: str, *, is_normal: bool) -> None:
    """Connect an image to a socket; a normal map through a node that reads its colors."""
    file = Path(bpy.path.abspath(path))
    if not file.is_file():
        raise ValueError(f"There is no file {file} for a texture.")
    node = tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.load(str(file), check_existing=True)
    if not is_normal:
        tree.links.new(node.outputs["Color"], socket)
        return
    node.image.colorspace_settings.name = "Non-Color"
    normal_map = tree.nodes.new("ShaderNodeNormalMap")
    tree.links.new(node.outputs["Color"], normal_map.inputs["Color"])
    tree.links.new(normal_map.outputs["Normal"], socket)
