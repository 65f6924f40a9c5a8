"""Pictures of a scene in Maya, through a camera and a panel of our own. Main thread.

Of the reference: `playblast` draws from the panel that it is given, off the screen; a camera is
made and deleted where nothing is recorded, so that no undo step names it.
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

_BARE: Final = dict.fromkeys(
    ("grid", "headsUpDisplay", "manipulators", "selectionHiliteDisplay"), False
)
_QUALITY: Final = 80
_FILM: Final = 1.0  # inches from top to bottom: any will do, as the lens makes the angle
_INCH: Final = 25.4


class _Looking(_Losing, Drawing, Frames):
    @contextmanager
    def at_frame(self, frame: float) -> Iterator[None]:
        """Go to a frame and back, as a playblast does: a pose that is not keyed is lost."""
        with _unseen():
            ask.currentTime(frame)
            yield

    def viewpoint(self, view: str) -> Shot:
        camera = dg.node(_persons_camera() if view == "person" else view)
        shape = next((one for one in dg.shapes(camera) if dg.is_of(one, "camera")), None)
        if shape is None:
            raise LookupError(f"{camera} is a {dg.type_of(camera)} and no camera.")
        x, y, z = ask.xform(dg.above(shape), query=True, translation=True, worldSpace=True)
        matrix = ask.xform(dg.above(shape), query=True, matrix=True, worldSpace=True)
        far = ask.getAttr(f"{shape}.centerOfInterest")
        target = (x - matrix[8] * far, y - matrix[9] * far, z - matrix[10] * far)
        angle = ask.camera(shape, query=True, verticalFieldOfView=True) * dg.degrees()
        ways = (f"{shape}.orthographicWidth", f"{shape}.cameraAperture")
        height = 1.0
        if ask.getAttr(f"{shape}.orthographic"):
            wide, high = ask.getAttr(ways[1])[0]
            angle, height = 0.0, ask.getAttr(ways[0]) * high / wide
        through = "" if view == "person" else camera
        return Shot((x, y, z), target, (matrix[4], matrix[5], matrix[6]), angle, height, through)

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        if not self.host.has_ui:
            raise ValueError("This Maya has no viewport: it runs in batch.")
        with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder:
            files = [Path(folder) / f"{number}.jpg" for number in range(len(shots))]
            with _unseen(), _panel(shading) as panel:
                for shot, file in zip(shots, files, strict=True):
                    _draw(panel, shot, file, width, height)
            from dcc_bridge.spi.qt import sheet  # where there is no window there may be no Qt

            return (
                files[0].read_bytes() if len(files) == 1 else sheet(files, width, height, _QUALITY)
            )


def _persons_camera() -> str:
    """Name the camera of the view that has the focus, or of the first that is seen."""
    for panel in [ask.getPanel(withFocus=True), *(ask.getPanel(visiblePanels=True) or [])]:
        if panel and ask.getPanel(typeOf=panel) == "modelPanel":
            return str(ask.modelPanel(panel, query=True, camera=True))
    raise LookupError("There is no view open in this Maya.")


@contextmanager
def _unseen() -> Iterator[None]:
    """Keep the selection, frame and focus, and whether the scene is modified; record nothing."""
    frame, is_modified = ask.currentTime(query=True), cmds.file(query=True, modified=True)
    focus = ask.getPanel(withFocus=True)
    with dg.kept(), unrecorded(), ExitStack() as stack:
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
        look = "wireframe" if shading == "wire" else "smoothShaded"
        textures = {"displayAppearance": look, "displayTextures": shading == "material"}
        ask.modelEditor(panel, edit=True, **_BARE, **textures)
        yield panel


def _draw(panel: str, shot: Shot, file: Path, width: int, height: int) -> None:
    camera = dg.node(shot.camera) if shot.camera else _own_camera(shot, width / height)
    try:
        ask.modelEditor(panel, edit=True, camera=camera)
        ask.playblast(
            frame=[ask.currentTime(query=True) if shot.frame is None else shot.frame],
            format="image",
            compression="jpg",
            quality=_QUALITY,
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
    camera = cmds.createNode("transform", name="dccBridgeLook", skipSelect=True)
    shape = cmds.createNode("camera", parent=camera, skipSelect=True)
    vector: Any = OpenMaya.MVector  # its stub has no way to go through one
    eye, target, up = (vector(point) for point in (shot.eye, shot.target, shot.up))
    back = (eye - target).normal()
    side = (up ^ back).normal()
    rows = [*side, 0, *(back ^ side), 0, *back, 0, 0, 0, 0, 1]
    turn = [angle / dg.degrees() for angle in dg.rotation(rows)]
    ask.xform(camera, translation=shot.eye, rotation=turn, worldSpace=True)
    far = (eye - target).length()
    values = {
        "nearClipPlane": far / 1_000,
        "farClipPlane": far * 1_000,
        "horizontalFilmAperture": _FILM * aspect,
        "verticalFilmAperture": _FILM,
        "orthographic": not shot.angle,
        "orthographicWidth": shot.height * aspect,
    }
    if shot.angle:
        values["focalLength"] = _FILM * _INCH / (2 * math.tan(math.radians(shot.angle) / 2))
    for name, value in values.items():
        cmds.setAttr(f"{shape}.{name}", value)
    return camera
