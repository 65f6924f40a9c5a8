"""The turntable of `turntable` in Blender, 3.4 to 5.x: what moves there is keyed. Main thread."""

from __future__ import annotations

import colorsys
import math
from typing import Any

import bpy

from tests.verbs.turntable import DISTANCE, FRAMES, HUES

PLACES = {"Red": (1.5, 0, 1.8), "Blue": (-1.5, 0, 0), "Green": (0, -1.5, -1.9),
          "Yellow": (0, 0, 3.6), "Magenta": (0, 1.5, -3.9)}  # fmt: skip
"""One above the other, so that none hides another one."""


def make() -> None:
    """Empty the scene, and build it."""
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    things = {name: _cube(name, place) for name, place in PLACES.items()}
    _key_shape(things["Green"])
    _key_modifier(things["Magenta"])
    _key(things["Yellow"], "hide_viewport", {1: False, 50: True})
    _key(things["Yellow"], "hide_render", {1: False, 50: True})
    _key(things["Blue"], "location", {1: (-1.5, 0, 0), 61: (-1.5, 1.5, 0)})
    lamp = _linked("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    _key(lamp, "location", {1: (0, 0, 0), 121: (4, 0, 0)})
    _cameras()


def _linked(name: str, data: Any) -> Any:
    scene: Any = bpy.context.scene
    thing = bpy.data.objects.new(name, data)
    scene.collection.objects.link(thing)
    return thing


def _cube(name: str, place: Any) -> Any:
    mesh = bpy.data.meshes.new(name)
    corners = [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(corners, [], sides)
    colour = (*colorsys.hsv_to_rgb(HUES[name] / 360, 1, 1), 1)
    material: Any = bpy.data.materials.new(name)
    material.diffuse_color = colour
    material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    glow = tree.nodes.new("ShaderNodeEmission")
    glow.inputs["Color"].default_value = colour
    out = tree.nodes.new("ShaderNodeOutputMaterial")
    tree.links.new(glow.outputs[0], out.inputs["Surface"])
    mesh.materials.append(material)
    thing = _linked(name, mesh)
    thing.location = place
    return thing


def _key(owner: Any, prop: str, keys: dict[int, Any]) -> None:
    """Key a property."""
    for frame, value in keys.items():
        setattr(owner, prop, value)
        owner.keyframe_insert(prop, frame=frame)


def _key_shape(thing: Any) -> None:
    """Have one side of a thing reach out at frame 61, by a shape key."""
    thing.shape_key_add(name="Basis")
    key = thing.shape_key_add(name="Long")
    for at in range(4, 8):
        key.data[at].co.x += 1.5
    key.slider_max = 1.0
    _key(key, "value", {1: 0.0, 61: 1.0})


def _key_modifier(thing: Any) -> None:
    """Have a second copy of a thing move away from it, by an array."""
    array = thing.modifiers.new("Array", "ARRAY")
    array.use_relative_offset = False
    array.use_constant_offset = True
    _key(array, "constant_offset_displace", {1: (0, 0, 0), 121: (3, 0, 0)})


def _cameras() -> None:
    """A camera that turns, and another one that a marker has the scene look through later."""
    scene: Any = bpy.context.scene
    pivot = _linked("Pivot", None)
    quarters = {frame: (0, 0, at * math.tau / 4) for at, frame in enumerate(FRAMES)}
    _key(pivot, "rotation_euler", quarters)
    turning = _linked("Turning", bpy.data.cameras.new("Turning"))
    turning.parent = pivot
    turning.location = (0, -DISTANCE, 0)
    turning.rotation_euler = (math.radians(90), 0, 0)
    above = _linked("Above", bpy.data.cameras.new("Above"))
    above.location = (0, 0, DISTANCE)
    for frame, camera in ((1, turning), (200, above)):
        marker = scene.timeline_markers.new(camera.name, frame=frame)
        marker.camera = camera
    scene.camera = turning
    scene.view_settings.view_transform = "Standard"  # others change the colours
    scene.render.resolution_x = 800
    scene.render.resolution_y = 600
    scene.frame_end = 250
    scene.frame_set(1)
