"""Pictures by flipbooks of the person's scene view, which is as before in the end. Main thread."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Final

import hou

from dcc_bridge.spi import Drawing, Frames, Shot, add, frame_of, triple

from .reading import find

_QUALITY: Final = 80
_CAMERA: Final = ("focus", "resx", "resy", "orthowidth", "projection", "focal", "aperture")
_OFF: Final = (
    *("outputToMPlay", "leaveFrameAtEnd", "renderAllViewports", "cropOutMaskOverlay"),
    *("initializeSimulations", "useSheetSize", "useMotionBlur"),
)


class _Looks(Drawing, Frames):
    """The operations of `look`; of a Houdini with a window only."""

    @contextmanager
    def at_frame(self, frame: float) -> Iterator[None]:
        """Go to a frame and back, as a flipbook does."""
        before = hou.frame()
        with hou.undos.disabler():
            hou.setFrame(frame)
            try:
                yield
            finally:
                hou.setFrame(before)

    def viewpoint(self, view: str) -> Shot:
        if view == "person":
            _, viewport, world = _scene_view()
            camera, matrix = viewport.defaultCamera(), viewport.viewTransform()
            far = math.dist(matrix.extractTranslates(), viewport.viewPivot())
            matrix, lens = matrix * world, camera.focalLength() / camera.aperture()
            flat = camera.orthoWidth() if camera.isOrthographic() else 0.0
            wide, high = viewport.size()[2:]
        else:
            node = find(view)
            if not isinstance(node, hou.ObjNode) or node.parm("aperture") is None:
                raise LookupError(f"{view} is a {node.type().name()} and no camera.")
            values: list[Any] = [node.evalParm(name) for name in _CAMERA]
            matrix, (far, wide, high, flat, kind, focal, aperture) = node.worldTransform(), values
            lens, flat = focal / aperture, flat if kind in ("ortho", 1) else 0.0
        _, up, back, eye = (triple(row[:3]) for row in matrix.asTupleOfTuples())
        angle = 0.0 if flat else 2 * math.degrees(math.atan(high / wide / lens / 2))
        size = flat * high / wide
        return Shot(eye, add(eye, back, -far), up, angle, size, view if view != "person" else "")

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        viewer, viewport, world = _scene_view()
        with tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder, _kept(viewport, shading):
            files = [Path(folder) / f"{number}.jpg" for number in range(len(shots))]
            for shot, file in zip(shots, files, strict=True):
                _aim(viewport, shot, world.inverted(), width / height)
                settings = viewer.flipbookSettings().stash()  # a copy: the dialog's stay
                frame = hou.frame() if shot.frame is None else shot.frame
                settings.frameRange((frame, frame))
                settings.useResolution(True)
                settings.resolution((width, height))
                settings.output(file.as_posix())
                for name in _OFF:
                    getattr(settings, name)(False)
                viewer.flipbook(viewport, settings)
                if not file.is_file():
                    raise ValueError("Houdini drew no picture of its scene view.")
            from dcc_bridge.spi.qt import sheet  # only Houdini's window has Qt

            return sheet(files, width, height, _QUALITY)


def _scene_view() -> tuple[hou.SceneViewer, hou.GeometryViewport, hou.Matrix4]:
    """Return a scene view of objects, and how what it shows lies in the world: in one, as that."""
    for tab in hou.ui.paneTabs():
        if isinstance(tab, hou.SceneViewer):
            network: Any = tab.pwd()
            kind = network.childTypeCategory().name()
            while kind == "Sop" and not isinstance(network, hou.ObjNode):
                network = network.parent()
            if kind in ("Object", "Sop"):
                flat = hou.hmath.identityTransform()
                return tab, tab.curViewport(), network.worldTransform() if kind == "Sop" else flat
    raise ValueError("No scene view of this Houdini shows objects: ask the person to open one.")


@contextmanager
def _kept(viewport: hou.GeometryViewport, shading: str) -> Iterator[None]:
    """Have a viewport for a while, and put back all that the person has set."""
    camera, view, kind = viewport.camera(), viewport.defaultCamera().stash(), viewport.type()
    is_locked, frame = viewport.isCameraLockedToView(), hou.frame()
    types, modes = hou.displaySetType, hou.glShadingType
    wanted = modes.Wire if shading == "wire" else modes.Smooth
    named = (types.SceneObject, types.SelectedObject, types.DisplayModel)
    sets = [viewport.settings().displaySet(it) for it in named]
    shown = [(it, it.shadedMode()) for it in sets]
    with hou.undos.disabler():
        viewport.lockCameraToView(False)  # else the camera that is looked through would move
        try:
            viewport.changeType(hou.geometryViewportType.Perspective)  # in others no view can turn
            for it, _ in shown:
                it.setShadedMode(wanted)
            yield
        finally:
            for it, mode in shown:
                it.setShadedMode(mode)
            viewport.changeType(kind)
            viewport.setDefaultCamera(view)
            if camera is not None:
                viewport.setCamera(camera)
            viewport.lockCameraToView(is_locked)
            hou.setFrame(frame)


def _aim(viewport: hou.GeometryViewport, shot: Shot, inside: hou.Matrix4, aspect: float) -> None:
    """Look as a shot does; ValueError if the viewport does not."""
    points = (shot.eye, shot.target, add(shot.eye, shot.up))
    eye, target, over = (triple(hou.Vector3(it) * inside) for it in points)
    right, up, ahead = frame_of(add(target, eye, -1.0), add(over, eye, -1.0))
    back, far = add((0.0, 0.0, 0.0), ahead, -1.0), math.dist(eye, target)
    camera = viewport.defaultCamera().stash()
    # From the world to the camera; the eye turns about the pivot, here about itself.
    camera.setRotation(hou.Matrix3([*chain(*zip(right, up, back, strict=True))]))
    camera.setPivot(eye)
    camera.setTranslation(eye)
    camera.setPerspective(bool(shot.angle))
    camera.setAspectRatio(aspect)
    camera.setClipPlanes((far / 1000, far * 1000))
    camera.setOrthoWidth(shot.height * aspect)
    if shot.angle:
        half = math.tan(math.radians(shot.angle) / 2) * aspect
        camera.setFocalLength(camera.aperture() / half / 2)
    viewport.setDefaultCamera(camera)
    seen = viewport.viewTransform().asTupleOfTuples()
    if math.dist((*seen[2][:3], *seen[3][:3]), (*back, *eye)) > max(far, 1.0) / 100:
        raise ValueError("Houdini's scene view did not turn to what was to be seen.")
