"""Pictures: the viewport's own renderer, of which the person sees nothing."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from pxr import Gf, UsdGeom

from dcc_bridge.spi import Drawing, Shot

from .checking import _Checking
from .losing import _Losing
from .settings import settings
from .shading import _Shading
from .transforms import vector


class UsdOperations(_Shading, _Losing, _Checking, Drawing):
    """All operations, and those that draw."""

    def viewpoint(self, view: str) -> Shot:
        """Give the window's view, or a camera's."""
        if view == "person":
            seen = _sheet().person(self.host)
            if seen is None:
                raise LookupError("There is no window that a person looks into.")
            return Shot(seen.eye, seen.target, seen.up, seen.angle, seen.height)
        camera = UsdGeom.Camera(self.prim(view))
        if not camera:
            raise LookupError(f"{view} is a {self.kind(view)}, not a Camera.")
        lens = camera.GetCamera(self._time)
        aspect = self._fit(lens)
        place = lens.transform
        ahead = place.TransformDir(Gf.Vec3d(0, 0, -1)).GetNormalized()
        eye, up = place.ExtractTranslation(), place.TransformDir(Gf.Vec3d(0, 1, 0)).GetNormalized()
        target = vector(eye + ahead * (lens.focusDistance or 1.0))
        if lens.projection == Gf.Camera.Orthographic:
            height = lens.verticalAperture * Gf.Camera.APERTURE_UNIT
            return Shot(vector(eye), target, vector(up), 0.0, height, view, aspect=aspect)
        angle = lens.GetFieldOfView(Gf.Camera.FOVVertical)
        return Shot(vector(eye), target, vector(up), angle, camera=view, aspect=aspect)

    def _fit(self, lens: Gf.Camera) -> float:
        """Give a lens an aperture of the form that is rendered, larger if need be; return that."""
        size = settings(self.stage)["size"][0]
        if not size:
            return float(lens.aspectRatio)
        aspect = size[0] / size[1]
        lens.verticalAperture = max(lens.verticalAperture, lens.horizontalAperture / aspect)
        return float(aspect)

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        """Draw into an image of our own; boxes, as in the window."""
        sheet = _sheet()
        views = [
            sheet.View(it.eye, it.target, it.up, it.angle, it.height, it.frame, bool(it.camera))
            for it in shots
        ]
        drawn: bytes = sheet.draw(self.host, views, width, height, wire=shading == "wire")
        return drawn


def _sheet() -> Any:
    try:
        return import_module("..window.sheet", __package__)
    except ImportError as error:
        raise ValueError(
            f"There can be no pictures here: Qt is not installed ({error})."
        ) from error
