"""Pictures of a scene in Maya, through a camera and a panel of our own. Main thread.

By Maya's reference `playblast` draws from a given panel, off the screen. The camera is made and
deleted without undo recording, so that no undo step contains it.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from maya import cmds
from maya.api import OpenMaya

from dcc_bridge.spi import Drawing, Frames, Shot

from ..scene import unrecorded
from . import dg
from .dg import ask
from .losing import _Losing

_HIDDEN: Final = dict.fromkeys(
    ("grid", "headsUpDisplay", "manipulators", "selectionHiliteDisplay"), False
)
_JPEG_QUALITY: Final = 80
_FILM_HEIGHT_IN: Final = 1.0  # in inches; any height, because the focal length sets the angle
_MM_PER_INCH: Final = 25.4


class _Looking(_Losing, Drawing, Frames):
    """The operations that look through cameras."""

    @contextmanager
    def at_frame(self, frame: float) -> Iterator[None]:
        """Go to a frame for the block, and back; this loses a pose without keys."""
        with _unseen():
            ask.currentTime(frame)
            yield

    def viewpoint(self, view: str) -> Shot:
        """Return the viewpoint of a camera, or of the person's own view.

        Args:
            view: A camera, or "person".

        Raises:
            LookupError: There is no such camera, or no view is open.
        """
        item = _persons_camera() if view == "person" else view
        camera = dg.node(item)
        shapes = [shape for shape in dg.shapes(camera) if dg.is_of(shape, "camera")]
        if not shapes:
            raise LookupError(f"{camera} is a {dg.type_of(camera)} and no camera.")
        shape = shapes[0]
        transform = dg.parent_of(shape)
        x, y, z = ask.xform(transform, query=True, translation=True, worldSpace=True)
        matrix = ask.xform(transform, query=True, matrix=True, worldSpace=True)
        distance = ask.getAttr(f"{shape}.centerOfInterest")
        target = (x - matrix[8] * distance, y - matrix[9] * distance, z - matrix[10] * distance)
        up = (matrix[4], matrix[5], matrix[6])
        angle = ask.camera(shape, query=True, verticalFieldOfView=True) * dg.degrees()
        height = 1.0
        if ask.getAttr(f"{shape}.orthographic"):
            film_width, film_height = ask.getAttr(f"{shape}.cameraAperture")[0]
            angle = 0.0
            height = ask.getAttr(f"{shape}.orthographicWidth") * film_height / film_width
        through = "" if view == "person" else camera
        return Shot((x, y, z), target, up, angle, height, through)

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        """Draw the scene from each shot, and return a JPEG of all pictures.

        Args:
            shots: The viewpoints.
            width: The width of each picture in pixels.
            height: The height of each picture in pixels.
            shading: "wire", "solid" or "material".

        Raises:
            ValueError: Maya runs in batch.
        """
        if not self.host.has_ui:
            raise ValueError("This Maya has no viewport: it runs in batch.")
        with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
            files = [Path(folder) / f"{number}.jpg" for number in range(len(shots))]
            with _unseen(), _panel(shading) as panel:
                for shot, file in zip(shots, files, strict=True):
                    _draw(panel, shot, file, width, height)
            from dcc_bridge.spi.qt import sheet  # a Maya without a window may have no Qt

            if len(files) == 1:
                return files[0].read_bytes()
            return sheet(files, width, height, _JPEG_QUALITY)


def _persons_camera() -> str:
    """Return the camera of the view with the focus, or else of the first visible view."""
    for panel in [ask.getPanel(withFocus=True), *(ask.getPanel(visiblePanels=True) or [])]:
        if panel and ask.getPanel(typeOf=panel) == "modelPanel":
            return str(ask.modelPanel(panel, query=True, camera=True))
    raise LookupError("There is no view open in this Maya.")


@contextmanager
def _unseen() -> Iterator[None]:
    """Record no undo, and restore the selection, the frame, the focus and the modified flag."""
    frame = ask.currentTime(query=True)
    is_modified = cmds.file(query=True, modified=True)
    focus = ask.getPanel(withFocus=True)
    with dg.restored_selection(), unrecorded(), ExitStack() as stack:
        stack.callback(ask.file, modified=is_modified)
        if focus:
            stack.callback(cmds.setFocus, focus)
        stack.callback(ask.currentTime, frame)
        yield


@contextmanager
def _panel(shading: str) -> Iterator[str]:
    """Open a panel in a window that is not shown."""
    window = ask.window(visible=False, retain=False)
    with ExitStack() as stack:
        stack.callback(cmds.deleteUI, window)
        ask.paneLayout(parent=window)
        panel = str(cmds.modelPanel(menuBarVisible=False))
        stack.callback(cmds.deleteUI, panel, panel=True)
        appearance = "wireframe" if shading == "wire" else "smoothShaded"
        ask.modelEditor(
            panel,
            edit=True,
            **_HIDDEN,
            displayAppearance=appearance,
            displayTextures=shading == "material",
        )
        yield panel


def _draw(panel: str, shot: Shot, file: Path, width: int, height: int) -> None:
    """Draw one shot into a file, through its camera or a temporary camera."""
    camera = dg.node(shot.camera) if shot.camera else _own_camera(shot, width / height)
    try:
        frame = ask.currentTime(query=True) if shot.frame is None else shot.frame
        ask.modelEditor(panel, edit=True, camera=camera)
        ask.playblast(
            frame=[frame],
            format="image",
            compression="jpg",
            quality=_JPEG_QUALITY,
            completeFilename=file.as_posix(),
            widthHeight=(width, height),
            percent=100,
            viewer=False,
            showOrnaments=False,
            offScreen=True,
            editorPanelName=panel,
            throwOnError=True,
        )
    finally:
        if not shot.camera:
            cmds.delete(camera)


def _own_camera(shot: Shot, aspect: float) -> str:
    """Make a camera at a shot's viewpoint, for pictures of an aspect, and return its transform."""
    camera = cmds.createNode("transform", name="dccBridgeLook", skipSelect=True)
    shape = cmds.createNode("camera", parent=camera, skipSelect=True)
    vector: Any = OpenMaya.MVector  # its stub is not iterable
    eye, target, up = (vector(point) for point in (shot.eye, shot.target, shot.up))
    back = (eye - target).normal()
    side = (up ^ back).normal()
    rows = [*side, 0, *(back ^ side), 0, *back, 0, 0, 0, 0, 1]
    turn = [angle / dg.degrees() for angle in dg.rotation(rows)]
    ask.xform(camera, translation=shot.eye, rotation=turn, worldSpace=True)
    distance = (eye - target).length()
    values = {
        "nearClipPlane": distance / 1_000,
        "farClipPlane": distance * 1_000,
        "horizontalFilmAperture": _FILM_HEIGHT_IN * aspect,
        "verticalFilmAperture": _FILM_HEIGHT_IN,
        "orthographic": not shot.angle,
        "orthographicWidth": shot.height * aspect,
    }
    if shot.angle:
        half_angle = math.radians(shot.angle) / 2
        values["focalLength"] = _FILM_HEIGHT_IN * _MM_PER_INCH / (2 * math.tan(half_angle))
    for name, value in values.items():
        cmds.setAttr(f"{shape}.{name}", value)
    return camera
