"""What `look` draws: the 3D view in a window, and without one a short render. Main thread."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import bpy
from mathutils import Matrix, Vector

from dcc_bridge.spi import SCENE, Drawing, Frames, Shot, Value, add, frame_of, triple

from ..loop import views
from ..objects import item_of, tree_of
from .building import use_nodes
from .files import _Files
from .items import require, scene
from .properties import plain
from .values import all_curves

_SAMPLES: Final = 4
_QUALITY: Final = 80
_SHADING: Final = {"solid": "SOLID", "wire": "WIREFRAME", "material": "MATERIAL"}
_CUSTOM: Final = re.compile(r'(.*)\["([^"]*)"\]')  # the path of a custom property
_OURS: Final = "dcc_bridge look"


class _Seeing(_Files, Drawing, Frames):
    """The operations of `look`."""

    @contextmanager
    def at_frame(self, frame: float) -> Iterator[None]:
        """Read from a copy of the scene at a frame: the person's own would lose unkeyed changes."""
        with self.host.unnoticed(), _copied() as ours:
            _go_to(ours, frame)
            self._layer_at_frame = _layer_of(ours)
            try:
                yield
            finally:
                self._layer_at_frame = None

    def value(self, item: str, prop: str) -> Value:
        """Read a property; the scene's camera at another frame may be another one, by a marker."""
        if self._layer_at_frame is None or (item, prop) != (SCENE, "camera"):
            return super().value(item, prop)
        camera = self._layer_at_frame.id_data.camera
        return Value(camera and item_of(camera))

    def is_shown(self, item: str) -> bool:
        """Return whether an object is drawn: in the 3D view, or where there is none in a render."""
        thing = require(item)
        if not isinstance(thing, bpy.types.Object):
            return True
        evaluated: Any = thing.evaluated_get(self._depsgraph())
        if next(views(), None) is None:
            return not evaluated.hide_render
        layer = self._layer_at_frame or bpy.context.view_layer
        return not evaluated.hide_viewport and thing.visible_get(view_layer=layer)

    def viewpoint(self, view: str) -> Shot:
        if view == "person":
            return self._persons()
        thing = require(view)
        if not isinstance(thing, bpy.types.Object) or thing.type != "CAMERA":
            raise LookupError(f"{view} is no camera.")
        return self._through(thing)

    def _persons(self) -> Shot:
        if (view := next(views(), None)) is None:  # the first 3D view is the person's
            raise LookupError(
                "There is no window whose view could be seen: give a camera or a side."
            )
        space: Any = view[0]
        seen = space.region_3d
        if seen.view_perspective == "CAMERA" and space.camera is not None:
            return self._through(space.camera)
        matrix = seen.view_matrix.inverted()
        tall = 2 / seen.window_matrix[1][1]
        angle = 0.0 if seen.view_perspective == "ORTHO" else math.degrees(2 * math.atan(tall / 2))
        eye, up = triple(matrix.translation), triple(matrix.col[1].xyz)
        return Shot(eye, triple(seen.view_location), up, angle, tall)

    def _through(self, camera: Any) -> Shot:
        lens = camera.evaluated_get(self._depsgraph()).data
        matrix = self.world(camera)
        corners = lens.view_frame(scene=bpy.context.scene)
        tall, far = corners[0].y - corners[1].y, -corners[0].z
        is_flat = lens.type == "ORTHO"
        turn = matrix.to_3x3().normalized()
        target = matrix.translation + turn @ Vector((0, 0, -10.0))
        angle = 0.0 if is_flat else math.degrees(2 * math.atan2(tall / 2, far))
        up = triple(turn @ Vector((0, 1, 0)))
        return Shot(triple(matrix.translation), triple(target), up, angle, tall, item_of(camera))

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        with self.host.unnoticed():  # from a scene of our own that is gone afterwards
            return _jpeg(_sheet([_drawn(shot, width, height, shading) for shot in shots]))


def _sheet(pictures: list[Any]) -> Any:
    import numpy as np  # which Debian's Blender lacks in a virtual environment

    if len(pictures) == 1:
        return pictures[0]
    if len(pictures) % 2:
        pictures.append(np.ones_like(pictures[0]))
    rows = [np.concatenate(pictures[at : at + 2], 1) for at in range(0, len(pictures), 2)]
    return np.concatenate(rows[::-1], 0)  # Blender's first row is the lowest


def _drawn(shot: Shot, width: int, height: int, shading: str) -> Any:
    """Give the pixels of one picture, the lowest row first."""
    with _scene_for(shading) as ours:
        data = bpy.data.cameras.new(_OURS)
        ours.camera = camera = bpy.data.objects.new(_OURS, data)
        try:
            ours.collection.objects.link(camera)
            _aim(camera, shot)
            ours.timeline_markers.clear()  # which may have another camera at a frame
            _go_to(ours, _frame_now() if shot.frame is None else shot.frame)
            if (view := next(views(), None)) is None:
                return _rendered(ours, width, height)
            return _viewed(view, ours, camera, width, height, shading)
        finally:
            bpy.data.objects.remove(camera)
            bpy.data.cameras.remove(data)


@contextmanager
def _copied() -> Iterator[Any]:
    """Have a scene that shows what the person's does, with a frame of its own."""
    ours = scene().copy()
    try:
        yield ours
    finally:
        bpy.data.scenes.remove(ours)


def _layer_of(ours: Any) -> Any:
    """Return the layer of a copied scene that is the person's."""
    persons: Any = bpy.context.view_layer
    return ours.view_layers[persons.name]


def _frame_now() -> float:
    return float(scene().frame_current + scene().frame_subframe)


def _go_to(ours: Any, frame: float) -> None:
    """Evaluate a scene at a frame; ValueError for one that Blender does not have."""
    limits = ours.bl_rna.properties["frame_current"]
    if not limits.hard_min <= frame <= limits.hard_max:
        raise ValueError(f"Blender has frames {limits.hard_min} to {limits.hard_max}.")
    whole = math.floor(frame)
    ours.frame_set(whole, subframe=frame - whole)


@contextmanager
def _scene_for(shading: str) -> Iterator[Any]:
    """Have a scene that shows what the person's does; neutral light for a plain look."""
    person = scene()
    world = None
    try:
        with _copied() as ours:
            lights = any(it.type == "LIGHT" and not it.hide_render for it in person.objects)
            if shading != "material" or not (lights or _glows(person.world)):
                world = ours.world = _plain_world()
            yield ours
    finally:
        if world is not None:
            bpy.data.worlds.remove(world)
        if bpy.app.version < (4, 0):
            _count_users()


def _count_users() -> None:
    """Have Blender count the users of all data anew, which it does as it links from a file.

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
    linked = [it for it in wanted.texts if it is not None]
    bpy.data.batch_remove([*linked, *(set(libraries) - before)])


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
        with _values_kept():
            bpy.ops.render.render(animation=True, scene=ours.name)
        return _pixels(str(next(Path(folder).iterdir())))


@contextmanager
def _values_kept() -> Iterator[None]:
    """Put back what was changed without a key: a render evaluates all keys in place."""
    before = []
    for data in list(bpy.data.user_map()):
        for owner in (data, tree_of(data)):
            for path in {curve.data_path for curve in all_curves(owner)}:
                with suppress(ValueError):  # a curve may lead to what is gone
                    before.append((owner, path, plain(owner.path_resolve(path))))
    try:
        yield
    finally:
        for owner, path, value in before:
            if plain(owner.path_resolve(path)) != value:
                _put(owner, path, value)


def _put(owner: Any, path: str, value: Any) -> None:
    """Write what a path below a data-block leads to, a custom property too."""
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
    import numpy as np  # which Debian's Blender lacks in a virtual environment

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
    import numpy as np  # which Debian's Blender lacks in a virtual environment

    space, region = seen
    layer = _layer_of(ours)
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
    import numpy as np  # which Debian's Blender lacks in a virtual environment

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
