"""Pictures of the 3D view from any viewpoint, for the verb look. Main thread.

To draw, FreeCAD's own camera is moved to each viewpoint, and then back to the person's view. Shapes
are shown as wires by their scene graph, since an undo step would record a change of properties.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import FreeCAD

from dcc_bridge.spi import HostOperations, Shot, triple

from ..document import document, find, view_3d
from . import shown
from .edge_items import edge_item

_JPEG_QUALITY: Final = 85
# Red is seen on any ground with white around it: colours and widths in pixels.
_MARK_PENS: Final = (("#ffffff", 5), ("#d81b1b", 3))
_VECTOR_FIELDS: Final = ("position", "orientation")  # of the camera
_NUMBER_FIELDS: Final = ("nearDistance", "farDistance", "focalDistance")
_WIREFRAME: Final = 2  # the index of "Wireframe" among the display modes of a shape


class _ViewOperations(HostOperations):
    """The operations that look at the 3D view."""

    def is_shown(self, item: str) -> bool:
        """Return whether the 3D view shows an object, or the one whose edge an item is."""
        edge = edge_item(item)
        obj = find(item) if edge is None else edge.obj
        return shown.is_shown(obj)

    def viewpoint(self, view: str) -> Shot:
        """Return the person's own view.

        Raises:
            LookupError: The view is a camera's, of which FreeCAD has none.
            ValueError: No 3D view is open.
        """
        if view != "person":
            raise LookupError(f"FreeCAD has no camera {view!r}: look from a side, or as person.")
        camera = view_3d().getCameraNode()
        eye = FreeCAD.Vector(*camera.position.getValue().getValue())
        rotation = FreeCAD.Rotation(*camera.orientation.getValue().getValue())
        to_target = rotation.multVec(FreeCAD.Vector(0, 0, -1)) * camera.focalDistance.getValue()
        up = triple(rotation.multVec(FreeCAD.Vector(0, 1, 0)))
        target = triple(eye + to_target)
        if _is_orthographic():
            return Shot(triple(eye), target, up, height=camera.height.getValue())
        angle = math.degrees(camera.heightAngle.getValue())
        return Shot(triple(eye), target, up, angle=angle)

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        """Draw the 3D view from each shot, and return one JPEG of all pictures, two in a row.

        Args:
            shots: The viewpoints.
            width: The width of each picture in pixels.
            height: The height of each picture in pixels.
            shading: "wire", or "solid" and "material", which are the same.

        Raises:
            ValueError: No 3D view is open, or this FreeCAD cannot draw.
        """
        with (
            tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder,
            _restored_camera(),
            _wireframe(shading == "wire"),
        ):
            files = []
            for number, shot in enumerate(shots):
                file = str(Path(folder) / f"{number}.png")
                _save_picture(file, shot, width, height)
                files.append(file)
            return _one_jpeg(files, width, height)

    def draw_marked(
        self, shot: Shot, width: int, height: int, marks: Sequence[tuple[int, int, int, int]]
    ) -> bytes:
        """Draw the 3D view from a shot, and return it as a PNG with a rectangle around each mark.

        Raises:
            ValueError: No 3D view is open, or this FreeCAD cannot draw.
        """
        with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder, _restored_camera():
            file = Path(folder) / "picture.png"
            _save_picture(str(file), shot, width, height)
            if marks:
                _mark(str(file), marks)
            return file.read_bytes()


def has_drawable_window() -> bool:
    """Return whether FreeCAD has a window whose 3D view can be drawn."""
    if not FreeCAD.GuiUp:
        return False
    return os.environ.get("QT_QPA_PLATFORM") not in ("offscreen", "minimal")


def _is_orthographic() -> bool:
    return bool(view_3d().getCameraType() == "Orthographic")


def _height_field(camera: Any) -> Any:
    """Return the camera's field for the height of the picture: in mm, or in radians."""
    if _is_orthographic():
        return camera.height
    return camera.heightAngle


@contextmanager
def _restored_camera() -> Iterator[None]:
    """Put the person's camera back exactly after the block."""
    kind = view_3d().getCameraType()
    camera = view_3d().getCameraNode()
    vectors = {name: getattr(camera, name).getValue().getValue() for name in _VECTOR_FIELDS}
    numbers = {name: getattr(camera, name).getValue() for name in _NUMBER_FIELDS}
    height = _height_field(camera).getValue()
    try:
        yield
    finally:
        if view_3d().getCameraType() != kind:
            view_3d().setCameraType(kind)
        camera = view_3d().getCameraNode()
        for name, vector in vectors.items():
            getattr(camera, name).setValue(*vector)
        for name, number in numbers.items():
            getattr(camera, name).setValue(number)
        _height_field(camera).setValue(height)


@contextmanager
def _wireframe(is_wanted: bool) -> Iterator[None]:
    """Show all shapes as wires in the block, if wanted."""
    if not is_wanted:
        yield
        return
    shapes = [obj for obj in document().Objects if obj.isDerivedFrom("Part::Feature")]
    switches = [obj.ViewObject.SwitchNode.whichChild for obj in shapes]
    before = [switch.getValue() for switch in switches]
    try:
        for switch in switches:
            if switch.getValue() >= 0:  # the shape is not hidden
                switch.setValue(_WIREFRAME)
        yield
    finally:
        for switch, which in zip(switches, before, strict=True):
            switch.setValue(which)


def _aim_camera(shot: Shot) -> None:
    """Put the camera at a shot's viewpoint, with clipping planes that cut off nothing."""
    from pivy import coin

    kind = "Perspective" if shot.angle else "Orthographic"
    if view_3d().getCameraType() != kind:
        view_3d().setCameraType(kind)
    camera = view_3d().getCameraNode()
    eye = FreeCAD.Vector(*shot.eye)
    target = FreeCAD.Vector(*shot.target)
    camera.position.setValue(*shot.eye)
    camera.pointAt(coin.SbVec3f(*shot.target), coin.SbVec3f(*shot.up))
    camera.focalDistance.setValue(eye.distanceToPoint(target))
    height = shot.height
    if shot.angle:
        height = math.radians(shot.angle)
    _height_field(camera).setValue(height)
    search = coin.SoGetBoundingBoxAction(coin.SbViewportRegion())
    search.apply(view_3d().getSceneGraph())
    box = search.getBoundingBox()
    middle = FreeCAD.Vector(*box.getCenter().getValue())
    low = FreeCAD.Vector(*box.getMin().getValue())
    high = FreeCAD.Vector(*box.getMax().getValue())
    radius = low.distanceToPoint(high) / 2 + 1.0
    distance = eye.distanceToPoint(middle)
    camera.farDistance.setValue(distance + radius)
    camera.nearDistance.setValue(max(distance - radius, (distance + radius) / 1000))


def _save_picture(file: str, shot: Shot, width: int, height: int) -> None:
    """Write the 3D view from a shot to a file."""
    _aim_camera(shot)
    view_3d().saveImage(file, width, height, "Current")


def _mark(file: str, marks: Sequence[tuple[int, int, int, int]]) -> None:
    """Draw a rectangle around each mark into a picture."""
    from dcc_bridge.spi.qt import QColor, QImage, QPainter, QPen

    picture = QImage(file).convertToFormat(QImage.Format.Format_RGB32)
    painter = QPainter(picture)
    for colour, width in _MARK_PENS:
        painter.setPen(QPen(QColor(colour), width))
        for left, top, right, bottom in marks:
            painter.drawRect(left, top, right - left, bottom - top)
    painter.end()
    picture.save(file)


def _one_jpeg(files: Sequence[str], width: int, height: int) -> bytes:
    """Return pictures side by side, two in a row, as one JPEG."""
    from dcc_bridge.spi.qt import QImage, QPainter

    columns = min(len(files), 2)
    rows = math.ceil(len(files) / 2)
    sheet = QImage(width * columns, height * rows, QImage.Format.Format_RGB32)
    sheet.fill(0)
    painter = QPainter(sheet)
    for number, file in enumerate(files):
        painter.drawImage(width * (number % 2), height * (number // 2), QImage(file))
    painter.end()
    target = Path(files[0]).with_name("sheet.jpg")
    sheet.save(str(target), None, _JPEG_QUALITY)
    return target.read_bytes()
