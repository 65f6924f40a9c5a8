"""What holds for a scene as a whole: frames, units, the camera that is rendered. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pxr import Gf, Sdf, Usd, UsdGeom, UsdRender

from ..coercion import coerce, plain
from ..prims import require

_UNITS: Final = {"mm": 0.001, "cm": 0.01, "in": 0.0254, "ft": 0.3048, "m": 1.0, "km": 1000.0}


def settings(stage: Usd.Stage) -> dict[str, tuple[Any, str]]:
    """Give the values by their names, with their types."""
    render = _render(stage)
    cameras = render.GetCameraRel().GetTargets() if render else []
    default = stage.GetDefaultPrim()
    metres = UsdGeom.GetStageMetersPerUnit(stage)
    units = (name for name, size in _UNITS.items() if abs(size - metres) < 1e-9)
    return {
        "frame": (stage.GetStartTimeCode(), "double"),
        "start": (stage.GetStartTimeCode(), "double"),
        "end": (stage.GetEndTimeCode(), "double"),
        "fps": (stage.GetFramesPerSecond(), "double"),
        "camera": (str(cameras[0]) if cameras else None, "Camera"),
        "size": (plain(render.GetResolutionAttr().Get()) if render else None, "int2"),
        "units": (next(units, f"{metres:g} m"), "length"),
        "up": (str(UsdGeom.GetStageUpAxis(stage)), "Y or Z"),
        "default_prim": (str(default.GetPath()) if default else None, "prim"),
    }


def change(stage: Usd.Stage, name: str, value: Any) -> None:
    """Change one of them; ValueError says what it takes. What is of the stage goes to its root."""
    own, target = (stage.GetRootLayer(), stage.GetSessionLayer()), stage.GetEditTarget()
    if name in ("camera", "size"):
        _set_render(stage, name, value)
        return
    with Usd.EditContext(stage, target if target.GetLayer() in own else own[0]):
        _SETTERS[name](stage, value)


def _set_start(stage: Usd.Stage, value: Any) -> None:
    stage.SetStartTimeCode(_number(value))


def _set_end(stage: Usd.Stage, value: Any) -> None:
    stage.SetEndTimeCode(_number(value))


def _set_fps(stage: Usd.Stage, value: Any) -> None:
    if not (number := _number(value)) > 0:
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
    found = UsdRender.Settings.GetStageRenderSettings(stage)
    top = stage.GetPrimAtPath("/Render")
    below = [it for it in top.GetChildren() if it.GetTypeName() == "RenderSettings"] if top else []
    return found or UsdRender.Settings(below[0] if below else Usd.Prim())


def _set_render(stage: Usd.Stage, name: str, value: Any) -> None:
    if name == "camera":
        camera = require(stage, str(value))
        if not UsdGeom.Camera(camera):
            raise ValueError(f"{value} is a {camera.GetTypeName()}, not a Camera.")
    elif min(value := coerce(Sdf.ValueTypeNames.Int2, value)) < 1:
        raise ValueError("size is [width, height] in pixels, 1 at least.")
    render = _render(stage) or UsdRender.Settings.Define(stage, "/Render/Settings")
    if name == "camera":
        render.CreateCameraRel().SetTargets([value])
    else:
        render.CreateResolutionAttr().Set(Gf.Vec2i(*value))
