"""What `look` draws: the 3D view in a window, and without one a short render. Main thread."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import bpy
import numpy as np
from mathutils import Matrix, Vector

from dcc_bridge.geometry import add, frame_of
from dcc_bridge.hosts.blender.blender_loop import views
from dcc_bridge.hosts.blender.objects import item_of
from dcc_bridge.verbs.acts import Shot, triple

from .building import use_nodes
from .files import _Files
from .items import require, scene

_SAMPLES: Final = 4
_QUALITY: Final = 80
_SHADING: Final = {"solid": "SOLID", "wire": "WIREFRAME", "material": "MATERIAL"}
_OURS: Final = "dcc_bridge look"


class _Seeing(_Files):
    """The acts of `look`."""

    def viewpoint(self, view: str) -> Shot:
        if view == "person":
            return _persons()
        thing = require(view)
        if not isinstance(thing, bpy.types.Object) or thing.type != "CAMERA":
            raise LookupError(f"{view} is no camera.")
        return _through(thing, self.world(thing))

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        with self.host.unnoticed():  # from a scene of our own that is gone afterwards
            return _jpeg(_sheet([_drawn(shot, width, height, shading) for shot in shots]))


def _sheet(pictures: list[Any]) -> Any:
    if len(pictures) == 1:
        return pictures[0]
    if len(pictures) % 2:
        pictures.append(np.ones_like(pictures[0]))
    rows = [np.concatenate(pictures[at : at + 2], 1) for at in range(0, len(pictures), 2)]
    return np.concatenate(rows[::-1], 0)  # Blender's first row is the lowest


def _persons() -> Shot:
    if (view := next(views(), None)) is None:  # the first 3D view is the person's
        raise LookupError("There is no window whose view could be seen: give a camera or a side.")
    space: Any = view[0]
    seen = space.region_3d
    if seen.view_perspective == "CAMERA" and space.camera is not None:
        return _through(space.camera, space.camera.matrix_world)
    matrix = seen.view_matrix.inverted()
    tall = 2 / seen.window_matrix[1][1]
    angle = 0.0 if seen.view_perspective == "ORTHO" else math.degrees(2 * math.atan(tall / 2))
    eye, up = triple(matrix.translation), triple(matrix.col[1].xyz)
    return Shot(eye, triple(seen.view_location), up, angle, tall)


def _through(camera: Any, matrix: Matrix) -> Shot:
    corners = camera.data.view_frame(scene=bpy.context.scene)
    tall, far = corners[0].y - corners[1].y, -corners[0].z
    is_flat = camera.data.type == "ORTHO"
    turn = matrix.to_3x3().normalized()
    target = matrix.translation + turn @ Vector((0, 0, -10.0))
    angle = 0.0 if is_flat else math.degrees(2 * math.atan2(tall / 2, far))
    up = triple(turn @ Vector((0, 1, 0)))
    return Shot(triple(matrix.translation), triple(target), up, angle, tall, item_of(camera))


def _drawn(shot: Shot, width: int, height: int, shading: str) -> Any:
    """Give the pixels of one picture, the lowest row first."""
    with _scene_for(shading) as ours:
        data = bpy.data.cameras.new(_OURS)
        ours.camera = camera = bpy.data.objects.new(_OURS, data)
        try:
            ours.collection.objects.link(camera)
            _aim(camera, shot)
            ours.frame_set(scene().frame_current if shot.frame is None else round(shot.frame))
            if (view := next(views(), None)) is None:
                return _rendered(ours, width, height)
            return _viewed(view, ours, camera, width, height, shading)
        finally:
            bpy.data.objects.remove(camera)
            bpy.data.cameras.remove(data)


@contextmanager
def _scene_for(shading: str) -> Iterator[Any]:
    """Have a scene that shows what the person's does; neutral light for a plain look."""
    person, world = scene(), None
    ours = person.copy()
    try:
        lights = any(it.type == "LIGHT" and not it.hide_render for it in person.objects)
        if shading != "material" or not (lights or _glows(person.world)):
            world = ours.world = _plain_world()
        yield ours
    finally:
        bpy.data.scenes.remove(ours)
        if world is not None:
            bpy.data.worlds.remove(world)


def _plain_world() -> Any:
    world: Any = bpy.data.worlds.new(_OURS)
    use_nodes(world)
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.6, 0.6, 0.6, 1)
    return world


def _glows(world: Any) -> bool:
    """Whether things are seen by a world's own light."""
    tree: Any = world.node_tree if world is not None else None
    lit = [it.inputs["Color"] for it in (tree.nodes if tree else ()) if it.type == "BACKGROUND"]
    return any(it.is_linked or max(it.default_value[:3]) > 0.2 for it in lit)


def _aim(camera: Any, shot: Shot) -> None:
    if shot.camera:
        camera.data = require(shot.camera).data
    right, over, ahead = frame_of(add(shot.target, shot.eye, -1.0), shot.up)
    turn = Matrix((right, over, add((0.0, 0.0, 0.0), ahead, -1.0))).transposed()
    camera.matrix_world = Matrix.Translation(shot.eye) @ turn.to_4x4()
    if shot.camera:
        return
    lens = camera.data
    lens.clip_start, lens.clip_end = 0.01, 1e5
    lens.sensor_fit = "VERTICAL"
    if shot.angle:
        lens.angle_y = math.radians(shot.angle)
    else:
        lens.type, lens.ortho_scale = "ORTHO", shot.height


def _rendered(ours: Any, width: int, height: int) -> Any:
    """Render with Cycles: without a window nothing else is sure to have a GPU."""
    render = ours.render
    has_cycles = hasattr(ours, "cycles")
    render.engine = "CYCLES" if has_cycles else "BLENDER_WORKBENCH"
    if has_cycles:
        ours.cycles.device, ours.cycles.samples = "CPU", _SAMPLES
        ours.cycles.use_denoising, ours.cycles.max_bounces = False, 4
    render.resolution_x, render.resolution_y, render.resolution_percentage = width, height, 100
    render.use_compositing = render.use_sequencer = render.use_border = False
    render.film_transparent = False
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        render.filepath, render.use_file_extension = str(Path(folder) / "shot"), True
        if hasattr(render.image_settings, "media_type"):  # since 5.0
            render.image_settings.media_type = "IMAGE"
        render.image_settings.file_format = "PNG"
        # A single picture is one of the frame that the person's scene shows, whatever ours does.
        ours.frame_start = ours.frame_end = ours.frame_current
        bpy.ops.render.render(animation=True, scene=ours.name)
        return _pixels(str(next(Path(folder).iterdir())))


def _pixels(path: str) -> Any:
    image: Any = bpy.data.images.load(path)
    try:
        width, height = image.size
        pixels = np.empty(width * height * 4, np.float32)
        image.pixels.foreach_get(pixels)
    finally:
        bpy.data.images.remove(image)
    return pixels.reshape(height, width, 4)


def _viewed(seen: Any, ours: Any, camera: Any, width: int, height: int, shading: str) -> Any:
    """Draw the 3D view beside the window."""
    import gpu  # there is none without a window

    space, region = seen
    layer = ours.view_layers[0]
    layer.update()
    graph = layer.depsgraph
    offscreen = gpu.types.GPUOffScreen(width, height)
    lit = shading == "material" and any(it.type == "LIGHT" for it in ours.objects)
    wanted = {"type": _SHADING[shading], "use_scene_lights": lit, "use_scene_world": lit}
    owners = dict.fromkeys(wanted, space.shading) | {"show_overlays": space.overlay}
    before = {name: getattr(owner, name) for name, owner in owners.items()}
    try:
        for name, value in {**wanted, "show_overlays": False}.items():
            setattr(owners[name], name, value)
        view = camera.matrix_world.inverted()
        window = camera.calc_matrix_camera(graph, x=width, y=height)
        offscreen.draw_view3d(ours, layer, space, region, view, window, do_color_management=True)
        buffer: Any = offscreen.texture_color.read()
        buffer.dimensions = width * height * 4
        pixels = np.array(buffer, np.float32) / 255
    finally:
        for name, value in before.items():
            setattr(owners[name], name, value)
        offscreen.free()
    return pixels.reshape(height, width, 4)


def _jpeg(pixels: Any) -> bytes:
    height, width, _ = pixels.shape
    image: Any = bpy.data.images.new(_OURS, width, height)
    try:
        image.pixels.foreach_set(np.ascontiguousarray(pixels, np.float32).ravel())
        with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
            file = Path(folder) / "look.jpg"
            image.filepath_raw, image.file_format = str(file), "JPEG"
            image.save(quality=_QUALITY) if bpy.app.version >= (3, 4) else image.save()
            return file.read_bytes()
    finally:
        bpy.data.images.remove(image)
