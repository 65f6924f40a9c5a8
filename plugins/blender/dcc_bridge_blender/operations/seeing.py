"""The operations of `look`: who is drawn, from where, and at which frame. Main thread."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import bpy
from mathutils import Vector

from dcc_bridge.spi import SCENE, Drawing, Frames, Marking, Shot, Value, triple

from ..loop import views
from ..objects import item_of
from . import pictures
from .files import _Files
from .items import require


class _Seeing(_Files, Drawing, Frames, Marking):
    """The operations of `look`."""

    @contextmanager
    def at_frame(self, frame: float) -> Iterator[None]:
        """Read from a copy of the scene at a frame in the block.

        The person's own scene would lose changes without a key at another frame.
        """
        with self.host.unnoticed(), pictures.copied_scene() as ours:
            pictures.go_to(ours, frame)
            self._layer_at_frame = pictures.layer_of(ours)
            try:
                yield
            finally:
                self._layer_at_frame = None

    def value(self, item: str, prop: str) -> Value:
        """Return a property's value; a marker may change the scene's camera at another frame."""
        if self._layer_at_frame is None or (item, prop) != (SCENE, "camera"):
            return super().value(item, prop)
        camera = self._layer_at_frame.id_data.camera
        if camera is None:
            return Value(None)
        return Value(item_of(camera))

    def is_shown(self, item: str) -> bool:
        """Return whether an object is drawn: in the 3D view, or where there is none, in a render.

        Other data counts as drawn.
        """
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
        """Return what the person sees in the first 3D view."""
        view = next(views(), None)
        if view is None:
            raise LookupError(
                "There is no window whose view could be seen: give a camera or a side."
            )
        space: Any = view[0]
        region = space.region_3d
        if region.view_perspective == "CAMERA" and space.camera is not None:
            return self._through(space.camera)
        matrix = region.view_matrix.inverted()
        height = 2 / region.window_matrix[1][1]
        angle = 0.0  # of an orthographic view
        if region.view_perspective != "ORTHO":
            angle = math.degrees(2 * math.atan(height / 2))
        eye = triple(matrix.translation)
        up = triple(matrix.col[1].xyz)
        return Shot(eye, triple(region.view_location), up, angle, height)

    def _through(self, camera: Any) -> Shot:
        """Return what a camera sees."""
        lens = camera.evaluated_get(self._depsgraph()).data
        matrix = self.world(camera)
        corners = lens.view_frame(scene=bpy.context.scene)
        height = corners[0].y - corners[1].y
        distance = -corners[0].z
        angle = 0.0  # of an orthographic lens
        if lens.type != "ORTHO":
            angle = math.degrees(2 * math.atan2(height / 2, distance))
        rotation = matrix.to_3x3().normalized()
        target = matrix.translation + rotation @ Vector((0, 0, -10.0))
        up = triple(rotation @ Vector((0, 1, 0)))
        return Shot(triple(matrix.translation), triple(target), up, angle, height, item_of(camera))

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        """Draw shots on one sheet, from scenes of our own that are removed again.

        Returns:
            The sheet as a JPEG file.
        """
        with self.host.unnoticed():
            drawn = [pictures.draw_shot(shot, width, height, shading) for shot in shots]
            return pictures.jpeg(pictures.sheet(drawn))

    def draw_marked(
        self, shot: Shot, width: int, height: int, marks: Sequence[tuple[int, int, int, int]]
    ) -> bytes:
        """Draw a shot in the 3D view, with a rectangle around each mark; return it as a PNG.

        Raises:
            ValueError: There is no 3D view. A render takes too long for somebody who waits.
        """
        if next(views(), None) is None:
            raise ValueError("There is no 3D view in which a picture could be drawn.")
        with self.host.unnoticed():
            drawn = pictures.draw_shot(shot, width, height, "solid", extras=True)
            pictures.mark(drawn, marks)
            return pictures.png(drawn)
