"""Pictures by the viewport's renderer, which the person does not see. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pxr import Gf, UsdGeom

from dcc_bridge.spi import Drawing, Marking, Shot

from .checking import _Checking
from .parts import _Parts
from .settings import settings
from .shading import _Shading
from .transforms import vector


class UsdOperations(_Parts, _Shading, _Checking, Drawing, Marking):
    """All operations on a USD stage."""

    instruction_folder = Path(__file__).parents[1] / "instructions"

    def viewpoint(self, view: str) -> Shot:
        """Return the window's view, or that of a camera.

        Args:
            view: "person" for the window, or the path of a camera.

        Raises:
            LookupError: There is no window, or no such camera.
        """
        if view == "person":
            window_view = _sheet().person(self.host)
            if window_view is None:
                raise LookupError("There is no window that a person looks into.")
            return Shot(
                window_view.eye,
                window_view.target,
                window_view.up,
                window_view.angle,
                window_view.height,
            )
        camera = UsdGeom.Camera(self.prim(view))
        if not camera:
            raise LookupError(f"{view} is a {self.kind(view)}, not a Camera.")
        lens = camera.GetCamera(self._time)
        aspect = self._fit(lens)
        place = lens.transform
        ahead = place.TransformDir(Gf.Vec3d(0, 0, -1)).GetNormalized()
        up = place.TransformDir(Gf.Vec3d(0, 1, 0)).GetNormalized()
        eye = place.ExtractTranslation()
        target = vector(eye + ahead * (lens.focusDistance or 1.0))
        if lens.projection == Gf.Camera.Orthographic:
            height = lens.verticalAperture * Gf.Camera.APERTURE_UNIT
            return Shot(vector(eye), target, vector(up), 0.0, height, view, aspect=aspect)
        angle = lens.GetFieldOfView(Gf.Camera.FOVVertical)
        return Shot(vector(eye), target, vector(up), angle, camera=view, aspect=aspect)

    def _fit(self, lens: Gf.Camera) -> float:
        """Fit the aperture of a lens to the rendered size, where needed by a larger aperture.

        Returns:
            The ratio of width to height.
        """
        size = settings(self.stage)["size"][0]
        if not size:
            return float(lens.aspectRatio)
        aspect = size[0] / size[1]
        lens.verticalAperture = max(lens.verticalAperture, lens.horizontalAperture / aspect)
        return float(aspect)

    def draw(self, shots: Sequence[Shot], width: int, height: int, shading: str) -> bytes:
        """Draw shots into one image, with boxes as in the window; return it as a JPEG."""
        sheet = _sheet()
        views = [_view(sheet, shot) for shot in shots]
        picture: bytes = sheet.draw(self.host, views, width, height, wire=shading == "wire")
        return picture

    def draw_marked(
        self, shot: Shot, width: int, height: int, marks: Sequence[tuple[int, int, int, int]]
    ) -> bytes:
        """Draw a shot as in the window, with a rectangle around each mark; return it as a PNG."""
        sheet = _sheet()
        picture: bytes = sheet.draw_marked(self.host, _view(sheet, shot), width, height, marks)
        return picture


def _view(sheet: Any, shot: Shot) -> Any:
    """Return the view of a shot, as the module that draws has it."""
    has_no_signs = bool(shot.camera) or shot.is_render
    return sheet.View(
        shot.eye, shot.target, shot.up, shot.angle, shot.height, shot.frame, has_no_signs
    )


def _sheet() -> Any:
    """Return the module that draws, which needs Qt."""
    try:
        return import_module("..window.sheet", __package__)
    except ImportError as error:
        raise ValueError(
            f"There can be no pictures here: Qt is not installed ({error})."
        ) from error
