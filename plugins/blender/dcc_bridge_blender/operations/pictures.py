"""The pictures of `look`: of the 3D view in a window, else a short render. Main thread."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import bpy
from mathutils import Matrix

from dcc_bridge.spi import Shot, add, frame_of

from ..action_curves import all_curves
from ..loop import views
from ..objects import tree_of
from .items import require, scene
from .making import use_nodes
from .slot import plain

_SAMPLES: Final = 4  # of a render
_MAX_BOUNCES: Final = 4  # of a render
_JPEG_QUALITY: Final = 80
# Red is seen on any ground with white around it: colours, and pixels to each side of an edge.
_MARK_COLOURS: Final = (((1.0, 1.0, 1.0, 1.0), 2), ((0.85, 0.1, 0.1, 1.0), 1))
_SHADING: Final = {"solid": "SOLID", "wire": "WIREFRAME", "material": "MATERIAL"}
_OTHER_OVERLAYS: Final = (
    "show_floor",
    "show_axis_x",
    "show_axis_y",
    "show_axis_z",
    "show_ortho_grid",
    "show_text",
    "show_stats",
    "show_cursor",
    "show_outline_selected",
    "show_object_origins",
    "show_relationship_lines",
    "show_bones",
    "show_motion_paths",
    "show_annotation",
)
_CUSTOM: Final = re.compile(r'(.*)\["([^"]*)"\]')  # the path of a custom property
_OURS: Final = "dcc_bridge look"  # the name of data that is there for a picture only


def sheet(pictures: list[Any]) -> Any:
    """Return one picture with all pictures, two in a row."""
    import numpy as np  # which Debian's Blender lacks in a virtual environment

    if len(pictures) == 1:
        return pictures[0]
    if len(pictures) % 2:
        pictures.append(np.ones_like(pictures[0]))
    rows = [np.concatenate(pictures[at : at + 2], axis=1) for at in range(0, len(pictures), 2)]
    return np.concatenate(rows[::-1], axis=0)  # Blender's first row is the lowest


def draw_shot(shot: Shot, width: int, height: int, shading: str, *, extras: bool = False) -> Any:
    """Return the pixels of one picture, the lowest row first.

    Args:
        shot: The viewpoint.
        width: In pixels.
        height: In pixels.
        shading: As `look` takes it.
        extras: Whether cameras, lights and empties are drawn too, where there is a 3D view.
    """
    with _scene_for(shading) as ours:
        data = bpy.data.cameras.new(_OURS)
        camera: Any = bpy.data.objects.new(_OURS, data)
        ours.camera = camera
        try:
            ours.collection.objects.link(camera)
            _aim(camera, shot)
            ours.timeline_markers.clear()  # a marker may change the camera at a frame
            frame = _frame_now() if shot.frame is None else shot.frame
            go_to(ours, frame)
            view = next(views(), None)
            if view is None:
                return _rendered(ours, width, height)
            return _viewed(view, ours, camera, (width, height), shading, extras=extras)
        finally:
            bpy.data.objects.remove(camera)
            bpy.data.cameras.remove(data)


@contextmanager
def copied_scene() -> Iterator[Any]:
    """Yield a copy of the person's scene, with a frame of its own; it is removed afterwards."""
    ours = scene().copy()
    try:
        yield ours
    finally:
        bpy.data.scenes.remove(ours)


def layer_of(ours: Any) -> Any:
    """Return the view layer of a copied scene that is the copy of the person's."""
    persons: Any = bpy.context.view_layer
    return ours.view_layers[persons.name]


def _frame_now() -> float:
    return float(scene().frame_current + scene().frame_subframe)


def check_frame(ours: Any, frame: float) -> None:
    """Raise ValueError for a frame that Blender does not have."""
    limits = ours.bl_rna.properties["frame_current"]
    if not limits.hard_min <= frame <= limits.hard_max:
        raise ValueError(f"Blender has frames {limits.hard_min} to {limits.hard_max}.")


def go_to(ours: Any, frame: float) -> None:
    """Evaluate a scene at a frame; ValueError for one that Blender does not have."""
    check_frame(ours, frame)
    whole = math.floor(frame)
    ours.frame_set(whole, subframe=frame - whole)


@contextmanager
def _scene_for(shading: str) -> Iterator[Any]:
    """Yield a copy of the person's scene, with neutral light unless the scene has its own."""
    person = scene()
    world = None
    try:
        with copied_scene() as ours:
            if shading != "material" or not _is_lit(person):
                world = _plain_world()
                ours.world = world
            yield ours
    finally:
        if world is not None:
            bpy.data.worlds.remove(world)
        if bpy.app.version < (4, 0):
            _count_users()


def _count_users() -> None:
    """Have Blender count the users of all data anew, as it does when it links from a file.

    `Scene.copy` of 3.4 counts two users for each object and collection in the scene's own
    collection, and takes one of them away as the copy is removed. A scene that is built instead
    of copied has no settings of the brushes, and crashes Blender with an object in Sculpt Mode.
    """
    text = bpy.data.texts.new(_OURS)
    name = text.name
    libraries: Any = bpy.data.libraries  # its stub gives nothing to enter
    before = set(libraries)
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        file = str(Path(folder) / "text.blend")
        try:
            libraries.write(file, {text})
        finally:
            bpy.data.texts.remove(text)
        with libraries.load(file, link=True) as (_, wanted):
            wanted.texts = [name]
    linked = [text for text in wanted.texts if text is not None]
    added = set(libraries) - before
    bpy.data.batch_remove([*linked, *added])


def _plain_world() -> Any:
    world: Any = bpy.data.worlds.new(_OURS)
    use_nodes(world)
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.6, 0.6, 0.6, 1)
    return world


def _is_lit(person: Any) -> bool:
    """Return whether a scene has lights, or a world that gives light."""
    for thing in person.objects:
        if thing.type == "LIGHT" and not thing.hide_render:
            return True
    return _glows(person.world)


def _glows(world: Any) -> bool:
    """Return whether things can be seen by a world's own light."""
    if world is None or not world.node_tree:
        return False
    for node in world.node_tree.nodes:
        if node.type == "BACKGROUND":
            color = node.inputs["Color"]
            if color.is_linked or max(color.default_value[:3]) > 0.2:
                return True
    return False


def facing(shot: Shot) -> Matrix:
    """Return the matrix of a camera that is where a shot is taken from, and faces its target."""
    right, over, ahead = frame_of(add(shot.target, shot.eye, -1.0), shot.up)
    back = add((0.0, 0.0, 0.0), ahead, -1.0)
    rotation = Matrix((right, over, back)).transposed()
    return Matrix.Translation(shot.eye) @ rotation.to_4x4()


def _aim(camera: Any, shot: Shot) -> None:
    """Place a camera for a shot, with the lens of the shot's camera or one of its own."""
    if shot.camera:
        camera.data = require(shot.camera).data
    camera.matrix_world = facing(shot)
    if shot.camera:
        return
    lens = camera.data
    lens.clip_start = 0.01
    lens.clip_end = 1e5
    lens.sensor_fit = "VERTICAL"
    if shot.angle:
        lens.angle_y = math.radians(shot.angle)
    else:
        lens.type = "ORTHO"
        lens.ortho_scale = shot.height


def _rendered(ours: Any, width: int, height: int) -> Any:
    """Render the current frame; returns the pixels."""
    _set_engine(ours)
    render = ours.render
    render.resolution_x = width
    render.resolution_y = height
    render.resolution_percentage = 100
    render.use_compositing = False
    render.use_sequencer = False
    render.use_border = False
    render.film_transparent = False
    with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
        render.filepath = str(Path(folder) / "shot")
        render.use_file_extension = True
        if hasattr(render.image_settings, "media_type"):  # since 5.0
            render.image_settings.media_type = "IMAGE"
        render.image_settings.file_format = "PNG"
        # As an animation of one frame: a single picture would be of the frame that the person's
        # scene shows, whatever the frame of ours.
        ours.frame_start = ours.frame_current
        ours.frame_end = ours.frame_current
        with _values_kept():
            bpy.ops.render.render(animation=True, scene=ours.name)
        return _pixels(str(next(Path(folder).iterdir())))


def _set_engine(ours: Any) -> None:
    """Have a scene rendered by Cycles: without a window nothing else is sure to have a GPU."""
    if not hasattr(ours, "cycles"):
        ours.render.engine = "BLENDER_WORKBENCH"
        return
    ours.render.engine = "CYCLES"
    ours.cycles.device = "CPU"
    ours.cycles.samples = _SAMPLES
    ours.cycles.use_denoising = False
    ours.cycles.max_bounces = _MAX_BOUNCES


@contextmanager
def _values_kept() -> Iterator[None]:
    """Restore values that were changed without a key: a render evaluates all keys in place."""
    before = []
    for data in list(bpy.data.user_map()):
        for owner in (data, tree_of(data)):
            for path in {curve.data_path for curve in all_curves(owner)}:
                with suppress(ValueError):  # the property of a curve may not exist any more
                    before.append((owner, path, plain(owner.path_resolve(path))))
    try:
        yield
    finally:
        for owner, path, value in before:
            if plain(owner.path_resolve(path)) != value:
                _put(owner, path, value)


def _put(owner: Any, path: str, value: Any) -> None:
    """Set the property, also a custom one, that a path below a data-block leads to."""
    custom = _CUSTOM.fullmatch(path)
    if custom is not None:
        above, name = custom.groups()
        target = owner.path_resolve(above) if above else owner
        target[name] = value
        return
    above, _, name = path.rpartition(".")
    target = owner.path_resolve(above) if above else owner
    setattr(target, name, value)


def _pixels(path: str) -> Any:
    """Return the pixels of an image file, the lowest row first."""
    import numpy as np  # which Debian's Blender lacks in a virtual environment

    image: Any = bpy.data.images.load(path)
    try:
        width, height = image.size
        pixels = np.empty(width * height * 4, np.float32)
        image.pixels.foreach_get(pixels)
    finally:
        bpy.data.images.remove(image)
    return pixels.reshape(height, width, 4)


def _viewed(
    seen: Any, ours: Any, camera: Any, size: tuple[int, int], shading: str, *, extras: bool
) -> Any:
    """Draw a 3D view with a camera, outside of the window; returns the pixels."""
    import gpu  # there is none without a window
    import numpy as np  # which Debian's Blender lacks in a virtual environment

    space, region = seen
    width, height = size
    layer = layer_of(ours)
    layer.update()
    if extras:
        camera.hide_set(True, view_layer=layer)
    graph = layer.depsgraph
    offscreen = gpu.types.GPUOffScreen(width, height)
    is_lit = shading == "material" and any(thing.type == "LIGHT" for thing in ours.objects)
    settings = [
        (space.shading, "type", _SHADING[shading]),
        (space.shading, "use_scene_lights", is_lit),
        (space.shading, "use_scene_world", is_lit),
        (space.overlay, "show_overlays", extras),
    ]
    if extras:
        # Cameras, lights and empties are drawn, and nothing else that is no part of the scene.
        settings.append((space.overlay, "show_extras", True))
        there = [name for name in _OTHER_OVERLAYS if hasattr(space.overlay, name)]
        settings += [(space.overlay, name, False) for name in there]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in settings]
    try:
        for owner, name, value in settings:
            setattr(owner, name, value)
        view = camera.matrix_world.inverted()
        window = camera.calc_matrix_camera(graph, x=width, y=height)
        offscreen.draw_view3d(ours, layer, space, region, view, window, do_color_management=True)
        buffer: Any = offscreen.texture_color.read()
        buffer.dimensions = width * height * 4
        pixels = np.array(buffer, np.float32) / 255
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)
        offscreen.free()
    return pixels.reshape(height, width, 4)


def jpeg(pixels: Any) -> bytes:
    """Return a picture as a JPEG file."""
    return _encoded(pixels, "JPEG", quality=_JPEG_QUALITY)


def png(pixels: Any) -> bytes:
    """Return a picture as a PNG file."""
    return _encoded(pixels, "PNG")


def mark(pixels: Any, marks: Sequence[tuple[int, int, int, int]]) -> None:
    """Draw a rectangle around each mark into a picture, whose lowest row is the first."""
    height = len(pixels)
    for colour, reach in _MARK_COLOURS:
        for left, top, right, bottom in marks:
            across = slice(max(left - reach, 0), right + reach + 1)
            down = slice(max(height - 1 - bottom - reach, 0), height - top + reach)
            for edge in (top, bottom):
                row = height - 1 - edge
                pixels[max(row - reach, 0) : row + reach + 1, across] = colour
            for edge in (left, right):
                pixels[down, max(edge - reach, 0) : edge + reach + 1] = colour


def _encoded(pixels: Any, kind: str, **options: int) -> bytes:
    """Return a picture as a file of a kind: "JPEG" or "PNG"."""
    import numpy as np  # which Debian's Blender lacks in a virtual environment

    height, width, _ = pixels.shape
    image: Any = bpy.data.images.new(_OURS, width, height)
    try:
        image.pixels.foreach_set(np.ascontiguousarray(pixels, np.float32).ravel())
        with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
            file = Path(folder) / "look"
            image.filepath_raw = str(file)
            image.file_format = kind
            image.save(**options)
            return file.read_bytes()
    finally:
        bpy.data.images.remove(image)
