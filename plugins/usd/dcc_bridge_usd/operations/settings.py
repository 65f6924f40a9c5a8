"""Settings of a scene as a whole: frames, units, the camera that is rendered. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pxr import Gf, Sdf, Usd, UsdGeom, UsdRender

from ..coercion import coerce, plain
from ..prims import require
from ..views import unloaded_in
from . import layers

_UNITS: Final = {"mm": 0.001, "cm": 0.01, "in": 0.0254, "ft": 0.3048, "m": 1.0, "km": 1000.0}
"""The length of each unit in metres."""


def settings(stage: Usd.Stage) -> dict[str, tuple[Any, str]]:
    """Return the settings by their names, each with its type."""
    render = _render(stage)
    camera = None
    size = None
    if render:
        size = plain(render.GetResolutionAttr().Get())
        cameras = render.GetCameraRel().GetTargets()
        if cameras:
            camera = str(cameras[0])
    default = stage.GetDefaultPrim()
    default_path = str(default.GetPath()) if default else None
    return {
        "frame": (stage.GetStartTimeCode(), "double"),
        "start": (stage.GetStartTimeCode(), "double"),
        "end": (stage.GetEndTimeCode(), "double"),
        "fps": (stage.GetFramesPerSecond(), "double"),
        "camera": (camera, "Camera"),
        "size": (size, "int2"),
        "units": (_units(stage), "length"),
        "up": (str(UsdGeom.GetStageUpAxis(stage)), "Y or Z"),
        "default_prim": (default_path, "prim"),
        "sublayers": (layers.sublayers(stage), "asset[]"),
        "edit_target": (layers.target(stage), "layer"),
        "muted_layers": (layers.muted(stage), "layer[]"),
        "unloaded": (unloaded_in(stage.GetLoadRules()), "prim[]"),
    }


def _units(stage: Usd.Stage) -> str:
    """Return the name of a scene's unit, or its length in metres."""
    metres = UsdGeom.GetStageMetersPerUnit(stage)
    for name, size in _UNITS.items():
        if abs(size - metres) < 1e-9:
            return name
    return f"{metres:g} m"


def change(stage: Usd.Stage, name: str, value: Any) -> None:
    """Change a setting.

    Camera and size are edited where the person edits, all others in the root layer, or, except the
    sublayers, in the session layer if the person edits that: USD reads them in no other layer.

    Args:
        stage: The scene.
        name: The name of the setting.
        value: Its new value.

    Raises:
        ValueError: The value does not fit; the message says what fits.
    """
    if name in _SETTERS_ANYWHERE:
        _SETTERS_ANYWHERE[name](stage, value)
        return
    target = stage.GetEditTarget()
    if target.GetLayer() not in (stage.GetRootLayer(), stage.GetSessionLayer()):
        target = Usd.EditTarget(stage.GetRootLayer())
    with Usd.EditContext(stage, target):
        _SETTERS[name](stage, value)


def _set_start(stage: Usd.Stage, value: Any) -> None:
    stage.SetStartTimeCode(_number(value))


def _set_end(stage: Usd.Stage, value: Any) -> None:
    stage.SetEndTimeCode(_number(value))


def _set_fps(stage: Usd.Stage, value: Any) -> None:
    number = _number(value)
    if not number > 0:
        raise ValueError("fps is a number above 0.")
    if stage.GetTimeCodesPerSecond() == stage.GetFramesPerSecond():
        stage.SetTimeCodesPerSecond(number)
    stage.SetFramesPerSecond(number)


def _set_units(stage: Usd.Stage, value: Any) -> None:
    size = _UNITS.get(value) if isinstance(value, str) else _number(value)
    if not size or size <= 0:
        raise ValueError(f"units are metres, above 0, or one of {', '.join(_UNITS)}.")
    UsdGeom.SetStageMetersPerUnit(stage, size)


def _set_up(stage: Usd.Stage, value: Any) -> None:
    if value not in ("Y", "Z"):
        raise ValueError(f"up is 'Y' or 'Z', not {value!r}.")
    UsdGeom.SetStageUpAxis(stage, value)


def _set_default(stage: Usd.Stage, value: Any) -> None:
    stage.SetDefaultPrim(require(stage, str(value)))


_SETTERS: Final[dict[str, Callable[[Usd.Stage, Any], None]]] = {
    "start": _set_start,
    "end": _set_end,
    "fps": _set_fps,
    "units": _set_units,
    "up": _set_up,
    "default_prim": _set_default,
}


def _number(value: Any) -> float:
    return float(coerce(Sdf.ValueTypeNames.Double, value))


def _render(stage: Usd.Stage) -> UsdRender.Settings:
    """Return the render settings of a scene, or the first below /Render; invalid if none."""
    render = UsdRender.Settings.GetStageRenderSettings(stage)
    if render:
        return render
    top = stage.GetPrimAtPath("/Render")
    if top:
        for prim in top.GetChildren():
            if prim.GetTypeName() == "RenderSettings":
                return UsdRender.Settings(prim)
    return UsdRender.Settings(Usd.Prim())


def _render_or_new(stage: Usd.Stage) -> UsdRender.Settings:
    return _render(stage) or UsdRender.Settings.Define(stage, "/Render/Settings")


def _set_camera(stage: Usd.Stage, value: Any) -> None:
    camera = require(stage, str(value))
    if not UsdGeom.Camera(camera):
        raise ValueError(f"{value} is a {camera.GetTypeName()}, not a Camera.")
    _render_or_new(stage).CreateCameraRel().SetTargets([value])


def _set_size(stage: Usd.Stage, value: Any) -> None:
    size = coerce(Sdf.ValueTypeNames.Int2, value)
    if min(size) < 1:
        raise ValueError("size is [width, height] in pixels, 1 at least.")
    _render_or_new(stage).CreateResolutionAttr().Set(Gf.Vec2i(*size))


_SETTERS_ANYWHERE: Final[dict[str, Callable[[Usd.Stage, Any], None]]] = {
    "camera": _set_camera,
    "size": _set_size,
    "sublayers": layers.set_sublayers,
}
"""The setters of settings that are no metadata of the stage."""
