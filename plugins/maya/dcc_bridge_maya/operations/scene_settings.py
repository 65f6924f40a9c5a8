"""The settings of a whole scene of Maya: frames, rate, units, camera, size. Main thread.

A trap in Maya's reference: `currentUnit` moves all keys unless a flag prevents it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from maya import cmds

from . import dg
from .dg import ask
from .plug_values import write

_FPS: Final = {
    "game": 15.0,
    "film": 24.0,
    "pal": 25.0,
    "ntsc": 30.0,
    "show": 48.0,
    "palf": 50.0,
    "ntscf": 60.0,
}
"""Maya's names of units of time, with their frames per second."""
_SETTINGS: Final = ("frame", "start", "end", "fps", "camera", "size", "units")
_RANGE_FLAGS: Final = {"start": "minTime", "end": "maxTime"}


def read_setting(prop: str) -> Any:
    """Return a setting of the scene; LookupError if there is no such setting."""
    if prop in _RANGE_FLAGS:
        return ask.playbackOptions(query=True, **{_RANGE_FLAGS[prop]: True})
    if prop == "frame":
        return ask.currentTime(query=True)
    if prop == "fps":
        unit = str(cmds.currentUnit(query=True, time=True))
        if unit in _FPS:
            return _FPS[unit]
        return float(unit.removesuffix("fps"))
    if prop == "camera":
        renderable = [path for path, is_on in _cameras() if is_on]
        return renderable[0] if renderable else None
    if prop == "size":
        return [ask.getAttr(f"defaultResolution.{way}") for way in ("width", "height")]
    if prop == "units":
        return cmds.currentUnit(query=True, linear=True)
    raise LookupError(f"The scene has no {prop!r}; it has {', '.join(_SETTINGS)}.")


def write_setting(prop: str, value: Any) -> None:
    """Write a setting of the scene; LookupError if there is no such setting."""
    read_setting(prop)  # raises LookupError
    writers: dict[str, Callable[[Any], object]] = {
        "frame": _write_frame,
        "start": _write_start,
        "end": _write_end,
        "fps": _write_fps,
        "units": _write_units,
        "size": _write_size,
        "camera": _write_camera,
    }
    writers[prop](value)


def _write_frame(frame: float) -> None:
    ask.currentTime(float(frame))


def _write_start(frame: float) -> None:
    _write_range(frame, max(frame, read_setting("end")))


def _write_end(frame: float) -> None:
    _write_range(min(frame, read_setting("start")), frame)


def _write_range(start: float, end: float) -> None:
    """Set the range of the time slider, and extend the animation's range to contain it."""
    first = ask.playbackOptions(query=True, animationStartTime=True)
    last = ask.playbackOptions(query=True, animationEndTime=True)
    cmds.playbackOptions(
        minTime=float(start),
        maxTime=float(end),
        animationStartTime=min(first, start),
        animationEndTime=max(last, end),
    )


def _write_fps(rate: float) -> None:
    names = {number: name for name, number in _FPS.items()}
    # Without the flag Maya moves every key, to keep its time in seconds.
    cmds.currentUnit(time=names.get(rate, f"{rate:g}fps"), updateAnimation=False)


def _write_units(unit: object) -> None:
    cmds.currentUnit(linear=str(unit))


def _write_size(size: Sequence[int]) -> None:
    width, height = size
    # With the old ratio, pictures would be distorted.
    ratio = width / height * ask.getAttr("defaultResolution.pixelAspect")
    write("defaultResolution.width", width)
    write("defaultResolution.height", height)
    write("defaultResolution.deviceAspectRatio", ratio)


def _write_camera(item: str) -> None:
    """Render only through one camera."""
    cameras = dict(_cameras())
    camera = dg.node(item)
    if camera not in cameras:
        raise ValueError(f"{camera} is no camera.")
    for path, is_on in cameras.items():
        if is_on != (path == camera):
            write(dg.plug(path, "renderable"), path == camera)


def _cameras() -> list[tuple[str, bool]]:
    """Return the cameras' transforms, and whether Maya renders through each."""
    cameras = []
    for shape in ask.ls(cameras=True, long=True) or []:
        transform = shape.rpartition("|")[0]
        is_renderable = bool(ask.getAttr(f"{shape}.renderable"))
        cameras.append((transform, is_renderable))
    return cameras
