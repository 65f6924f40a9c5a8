"""The scene view of the stand-in: its viewport, its camera, and flipbooks of boxes."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from PIL import Image, ImageDraw
from pxr import Gf

from tests.hosts.fakes.houdini.geometry import Matrix4
from tests.hosts.fakes.houdini.nodes import ObjNode, OperationFailed

if TYPE_CHECKING:
    from tests.hosts.fakes.houdini.application import Houdini

SETS = ("SceneObject", "SelectedObject", "DisplayModel")


class Vector3:
    """`hou.Vector3`: a row, which a matrix moves."""

    def __init__(self, numbers: Iterable[float]) -> None:
        self.numbers = tuple(numbers)

    def __iter__(self) -> Iterator[float]:
        return iter(self.numbers)

    def __mul__(self, by: Matrix4) -> Vector3:
        return Vector3(by.matrix.Transform(Gf.Vec3d(*self.numbers)))


class ViewportCamera:
    """`hou.GeometryViewportCamera`: live, or a copy; from the world to the camera it rotates."""

    def __init__(self, viewport: Viewport | None) -> None:
        self._viewport = viewport
        self.values: dict[str, Any] = {
            "Rotation": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            "Translation": (0.0, 0.0, 10.0),
            "Pivot": (0.0, 0.0, 0.0),
            "Perspective": True,
            "OrthoWidth": 4.0,
            "FocalLength": 50.0,
            "Aperture": 41.4214,
            "AspectRatio": 1.5,
            "ClipPlanes": (0.01, 1000.0),
        }

    def stash(self) -> ViewportCamera:
        copied = ViewportCamera(None)
        copied.values = copy.deepcopy(self.values)
        return copied

    def isOrthographic(self) -> bool:
        return not self.values["Perspective"]

    def aperture(self) -> float:
        return float(self.values["Aperture"])

    def focalLength(self) -> float:
        return float(self.values["FocalLength"])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("set") and name[3:] in self.values:
            return lambda value: self._set(name[3:], value)
        raise AttributeError(name)

    def _set(self, name: str, value: Any) -> None:
        """It throws where a camera is looked through to which the view is not locked."""
        if self._viewport is not None and self._viewport.camera() and not self._viewport.is_locked:
            raise OperationFailed("The view is not locked to its camera.")
        assert len(value) == 9 if name == "Rotation" else True
        self.values[name] = value


class Viewport:
    """`hou.GeometryViewport`."""

    def __init__(self, houdini: Houdini) -> None:
        self._houdini = houdini
        self._camera: str | None = None
        self._kind = "Perspective"
        self._kept: dict[str, ViewportCamera] = {}
        self._own = ViewportCamera(self)
        self.is_locked = False
        self.shades = dict.fromkeys(SETS, "SmoothWire")

    def state(self) -> Any:
        return self._camera, self._kind, self._own.values, self.is_locked, dict(self.shades)

    def camera(self) -> Any:
        return self._houdini.node(self._camera) if self._camera else None

    def setCamera(self, node: ObjNode) -> None:
        self.look_through(node.path())

    def look_through(self, path: str) -> None:
        """Look through a camera, as the person chooses one."""
        self._camera = path

    def defaultCamera(self) -> ViewportCamera:
        return self._own

    def setDefaultCamera(self, camera: ViewportCamera) -> None:
        """Look so, through no camera any more; what looks along an axis keeps its direction."""
        self._camera = None
        values = copy.deepcopy(camera.values)
        if self._kind != "Perspective":
            values |= {name: self._own.values[name] for name in ("Rotation", "Perspective")}
        self._own.values = values

    def lockCameraToView(self, on: bool) -> None:
        self.is_locked = on

    def isCameraLockedToView(self) -> bool:
        return self.is_locked

    def type(self) -> str:
        return self._kind

    def changeType(self, kind: str) -> None:
        """The view of that type that was stashed, or its home."""
        if kind != self._kind:
            self._kept[self._kind] = self._own
            self._own = self._kept.get(kind, ViewportCamera(self))
            self._own.values["Perspective"] = kind == "Perspective"
            self._kind = kind

    def viewTransform(self) -> Matrix4:
        """From the camera: the eye turns about the pivot."""
        turned, values = self._own.values["Rotation"], self._own.values
        rows = [[turned[3 * j + i] for j in range(3)] for i in range(3)]
        way = [a - b for a, b in zip(values["Translation"], values["Pivot"], strict=True)]
        eye = [
            p + sum(way[k] * rows[k][i] for k in range(3)) for i, p in enumerate(values["Pivot"])
        ]
        return Matrix4([*([*row, 0.0] for row in rows), [*eye, 1.0]])

    def viewPivot(self) -> Vector3:
        return Vector3(self._own.values["Pivot"])

    def size(self) -> tuple[float, ...]:
        return 0.0, 0.0, 600.0, 400.0

    def settings(self) -> Any:
        return SimpleNamespace(displaySet=lambda which: self._display_set(which))

    def _display_set(self, which: str) -> Any:
        return SimpleNamespace(
            shadedMode=lambda: self.shades[which],
            setShadedMode=lambda mode: self.shades.update({which: mode}),
        )

    def drawn(self, size: tuple[int, int]) -> Image.Image:
        """Draw the boxes of objects, in wires or filled."""
        picture = Image.new("RGB", size, (40, 40, 40))
        draw, inside = ImageDraw.Draw(picture), self.viewTransform().inverted()
        is_wire = self.shades["SceneObject"] == "Wire"
        objects = [it for it in self._houdini.objects() if isinstance(it, ObjNode)]
        for number, node in enumerate(objects):
            shown: Any = node.displayNode()
            shape = shown.geometry() if shown is not None else None
            if shape is None or not shape.points:
                continue
            world = node.worldTransform() * inside
            corners = product(*zip(*shape.points, strict=True))
            spots = [self._spot(Vector3(it) * world, size) for it in corners]
            xs, ys = zip(*spots, strict=True)
            tone = (120 + 60 * (number % 3), 200, 90)
            draw.rectangle((min(xs), min(ys), max(xs), max(ys)), None if is_wire else tone, tone)
        return picture

    def _spot(self, point: Iterable[float], size: tuple[int, int]) -> tuple[float, float]:
        x, y, z = point
        values = self._own.values
        wide = values["OrthoWidth"]
        if values["Perspective"]:
            wide = max(-z, 1e-6) * values["Aperture"] / values["FocalLength"]
        return (0.5 + x / wide) * size[0], size[1] / 2 - y / wide * size[0]


class _Settings:
    """Flipbook settings; the person's own unless they were stashed."""

    def __init__(self, *, own: bool = True) -> None:
        self._is_own = own
        self.values: dict[str, Any] = {"outputToMPlay": True, "initializeSimulations": True}

    def stash(self) -> _Settings:
        return _Settings(own=False)

    def __getattr__(self, name: str) -> Any:
        def change(value: Any) -> None:
            assert not self._is_own, "the settings of the person's own flipbooks would change"
            self.values[name] = value

        return change


class SceneViewer:
    """A scene view."""

    def __init__(self, houdini: Houdini) -> None:
        self._houdini = houdini
        self.network = "/obj"
        self.viewport = Viewport(houdini)
        self.drawn: list[Any] = []

    def pwd(self) -> Any:
        return self._houdini.node(self.network)

    def curViewport(self) -> Viewport:
        return self.viewport

    def flipbook(self, viewport: Viewport, settings: _Settings) -> None:
        """It goes to the frame; whether it puts it back is one of its settings."""
        values, scene = settings.values, self._houdini.scene
        assert not values["outputToMPlay"], "a window of its own would open on the artist's screen"
        first, last = values["frameRange"]
        assert first == last
        before, scene.frame = scene.frame, first
        size = values["resolution"] if values.get("useResolution") else (600, 400)
        picture = viewport.drawn(size)
        self.drawn.append(
            (first, viewport.shades["SceneObject"], viewport.viewTransform().asTupleOfTuples())
        )
        scene.frame = first if values.get("leaveFrameAtEnd", True) else before
        picture.save(Path(values["output"]))

    def flipbookSettings(self) -> _Settings:
        return _Settings()
