"""Pictures by flipbooks of the person's scene view, which is then restored. Main thread."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import hou

from dcc_bridge.spi import Drawing, Frames, Shot, add, frame_of, triple

from .reading import find

_JPEG_QUALITY: Final = 80
_OFF: Final = (  # settings of a flipbook
    *("outputToMPlay", "leaveFrameAtEnd", "renderAllViewports", "cropOutMaskOverlay"),
    *("initializeSimulations", "useSheetSize", "useMotionBlur"),
)


class _Looks(Drawing, Frames):
    """The operations that look through cameras, in a Houdini with a window."""

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
        """Return the viewpoint of a camera, or of the person's own view.

        Args:
            view: The path of a camera, or "person".

        Raises:
            LookupError: There is no such camera.
            ValueError: No scene view shows objects.
        """
        lens = _lens_of_view() if view == "person" else _lens_of_camera(view)
        _, up, back, eye = (triple(row[:3]) for row in lens.matrix.asTupleOfTuples())
        angle = 0.0
        if not lens.ortho_width:
            angle = 2 * math.degrees(math.atan(lens.height / lens.width / lens.focal_ratio / 2))
        size = lens.ortho_width * lens.height / lens.width
        through = "" if view == "person" else view
        return Shot(eye, add(eye, back, -lens.distance), up, angle, size, through)

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        """Draw the scene from each shot, and return a JPEG of all pictures.

        Args:
            shots: The viewpoints.
            width: The width of each picture in pixels.
            height: The height of each picture in pixels.
            shading: "wire", or "solid" and "material", which are the same.

        Raises:
            ValueError: No scene view shows objects, or Houdini drew no picture.
        """
        viewer, viewport, world = _scene_view()
        with (
            tempfile.TemporaryDirectory(prefix="dcc_bridge-") as folder,
            _restored(viewport, shading),
        ):
            files = [Path(folder) / f"{number}.jpg" for number in range(len(shots))]
            for shot, file in zip(shots, files, strict=True):
                _aim(viewport, shot, world.inverted(), width / height)
                settings = viewer.flipbookSettings().stash()  # a copy, not those of the dialog
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

            return sheet(files, width, height, _JPEG_QUALITY)


class _Lens(NamedTuple):
    """The place and the lens of a camera or a view.

    Attributes:
        matrix: The transform from the camera to the world.
        distance: From the eye to its target.
        width: The width of the picture in pixels.
        height: The height of the picture in pixels.
        ortho_width: The width of the visible area without perspective; 0 with perspective.
        focal_ratio: The focal length, divided by the width of the film.
    """

    matrix: hou.Matrix4
    distance: float
    width: float
    height: float
    ortho_width: float
    focal_ratio: float


def _lens_of_view() -> _Lens:
    _, viewport, world = _scene_view()
    camera = viewport.defaultCamera()
    matrix = viewport.viewTransform()
    width, height = viewport.size()[2:]
    ortho_width = camera.orthoWidth() if camera.isOrthographic() else 0.0
    return _Lens(
        matrix=matrix * world,
        distance=math.dist(matrix.extractTranslates(), viewport.viewPivot()),
        width=width,
        height=height,
        ortho_width=ortho_width,
        focal_ratio=camera.focalLength() / camera.aperture(),
    )


def _lens_of_camera(item: str) -> _Lens:
    node = find(item)
    if not isinstance(node, hou.ObjNode) or node.parm("aperture") is None:
        raise LookupError(f"{item} is a {node.type().name()} and no camera.")
    parms: Any = node  # the stub has no type for the value of a parameter
    is_ortho = parms.evalParm("projection") in ("ortho", 1)
    ortho_width = parms.evalParm("orthowidth") if is_ortho else 0.0
    return _Lens(
        matrix=node.worldTransform(),
        distance=parms.evalParm("focus"),
        width=parms.evalParm("resx"),
        height=parms.evalParm("resy"),
        ortho_width=ortho_width,
        focal_ratio=parms.evalParm("focal") / parms.evalParm("aperture"),
    )


def _scene_view() -> tuple[hou.SceneViewer, hou.GeometryViewport, hou.Matrix4]:
    """Return a scene view of objects, its viewport, and the transform of its space to the world.

    A view inside of an object shows the object's own space.
    """
    for tab in hou.ui.paneTabs():
        if not isinstance(tab, hou.SceneViewer):
            continue
        network: Any = tab.pwd()
        kind = network.childTypeCategory().name()
        if kind == "Object":
            return tab, tab.curViewport(), hou.hmath.identityTransform()
        if kind == "Sop":
            while not isinstance(network, hou.ObjNode):
                network = network.parent()
            return tab, tab.curViewport(), network.worldTransform()
    raise ValueError("No scene view of this Houdini shows objects: ask the person to open one.")


@contextmanager
def _restored(viewport: hou.GeometryViewport, shading: str) -> Iterator[None]:
    """Shade a viewport for pictures during the block, and restore the person's settings."""
    camera = viewport.camera()
    view = viewport.defaultCamera().stash()
    kind = viewport.type()
    is_locked = viewport.isCameraLockedToView()
    frame = hou.frame()
    types = hou.displaySetType
    modes = hou.glShadingType
    mode = modes.Wire if shading == "wire" else modes.Smooth
    modes_before = []
    for set_type in (types.SceneObject, types.SelectedObject, types.DisplayModel):
        display_set = viewport.settings().displaySet(set_type)
        modes_before.append((display_set, display_set.shadedMode()))
    with hou.undos.disabler():
        viewport.lockCameraToView(False)  # else the camera of the view would move
        try:
            # A view can turn only in this type of viewport.
            viewport.changeType(hou.geometryViewportType.Perspective)
            for display_set, _ in modes_before:
                display_set.setShadedMode(mode)
            yield
        finally:
            for display_set, mode_before in modes_before:
                display_set.setShadedMode(mode_before)
            viewport.changeType(kind)
            viewport.setDefaultCamera(view)
            if camera is not None:
                viewport.setCamera(camera)
            viewport.lockCameraToView(is_locked)
            hou.setFrame(frame)


def _aim(viewport: hou.GeometryViewport, shot: Shot, inside: hou.Matrix4, aspect: float) -> None:
    """Turn a viewport to a shot's viewpoint.

    Args:
        viewport: The viewport to turn.
        shot: The viewpoint in the world.
        inside: The transform from the world to the space that the viewport shows.
        aspect: The width of the picture, divided by its height.

    Raises:
        ValueError: The viewport did not turn.
    """
    eye = triple(hou.Vector3(shot.eye) * inside)
    target = triple(hou.Vector3(shot.target) * inside)
    over = triple(hou.Vector3(add(shot.eye, shot.up)) * inside)
    right, up, ahead = frame_of(add(target, eye, -1.0), add(over, eye, -1.0))
    back = add((0.0, 0.0, 0.0), ahead, -1.0)
    far = math.dist(eye, target)
    camera = viewport.defaultCamera().stash()
    # From the world to the camera. The eye turns about the pivot, here about itself.
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
    rows = viewport.viewTransform().asTupleOfTuples()
    present = (*rows[2][:3], *rows[3][:3])  # its back axis and its eye
    if math.dist(present, (*back, *eye)) > max(far, 1.0) / 100:
        raise ValueError("Houdini's scene view did not turn to what was to be seen.")
