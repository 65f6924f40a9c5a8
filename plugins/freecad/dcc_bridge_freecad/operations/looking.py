"""Pictures of the 3D view, from anywhere, that leave it as the person has it. Main thread."""

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

_JPEG_QUALITY: Final = 85
_VECTORS: Final = ("position", "orientation")
_NUMBERS: Final = ("nearDistance", "farDistance", "focalDistance")
_WIRE: Final = 2  # the place of "Wireframe" among the ways to draw a shape


class _Looks(HostOperations):
    """The operations that look at the 3D view."""

    def is_shown(self, item: str) -> bool:
        """Return whether the 3D view shows an object."""
        return shown.is_shown(find(item))

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
        turn = FreeCAD.Rotation(*camera.orientation.getValue().getValue())
        ahead = turn.multVec(FreeCAD.Vector(0, 0, -1)) * camera.focalDistance.getValue()
        up = triple(turn.multVec(FreeCAD.Vector(0, 1, 0)))
        if _is_flat():
            return Shot(triple(eye), triple(eye + ahead), up, height=camera.height.getValue())
        angle = math.degrees(camera.heightAngle.getValue())
        return Shot(triple(eye), triple(eye + ahead), up, angle=angle)

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        """Draw the 3D view from each shot, and return a JPEG of all pictures.

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
            _wires(shading == "wire"),
        ):
            files = [str(Path(folder) / f"{number}.png") for number in range(len(shots))]
            for file, shot in zip(files, shots, strict=True):
                _aim(shot)
                view_3d().saveImage(file, width, height, "Current")
            return _sheet(files, width, height)


def is_seen() -> bool:
    """Return whether FreeCAD has a window that can be drawn."""
    if not FreeCAD.GuiUp:
        return False
    return os.environ.get("QT_QPA_PLATFORM") not in ("offscreen", "minimal")


def _is_flat() -> bool:
    return bool(view_3d().getCameraType() == "Orthographic")


def _size_of(camera: Any) -> Any:
    return camera.height if _is_flat() else camera.heightAngle


@contextmanager
def _restored_camera() -> Iterator[None]:
    """Put the person's camera back after the block, to the last digit."""
    kind = view_3d().getCameraType()
    camera = view_3d().getCameraNode()
    vectors = {name: getattr(camera, name).getValue().getValue() for name in _VECTORS}
    numbers = {name: getattr(camera, name).getValue() for name in _NUMBERS}
    size = _size_of(camera).getValue()
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
        _size_of(camera).setValue(size)


@contextmanager
def _wires(is_wanted: bool) -> Iterator[None]:
    """Draw shapes as wires in the block, without the properties that an undo step would record."""
    objects = document().Objects if is_wanted else ()
    shapes = [obj for obj in objects if obj.isDerivedFrom("Part::Feature")]
    switches = [obj.ViewObject.SwitchNode.whichChild for obj in shapes]
    before = [switch.getValue() for switch in switches]
    try:
        for switch in switches:
            if switch.getValue() >= 0:  # the shape is not hidden
                switch.setValue(_WIRE)
        yield
    finally:
        for switch, which in zip(switches, before, strict=True):
            switch.setValue(which)


def _aim(shot: Shot) -> None:
    """Put the camera at a shot's viewpoint, with clipping planes that cut nothing off."""
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
    size = math.radians(shot.angle) if shot.angle else shot.height
    _size_of(camera).setValue(size)
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


def _sheet(files: Sequence[str], width: int, height: int) -> bytes:
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
