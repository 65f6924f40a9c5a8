"""A timer is the way to Blender's main thread: nothing wakes it from another one.

It looks every 50 ms whether there is work, and every 5 ms for two seconds after there was. It stays
when another file is loaded. In background no timer fires: there `dcc_bridge.headless.Pump` is the
loop. A timer that is registered at the end hangs the exit of 4.5, so `close` has to be called.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Final, Literal

import bpy

from dcc_bridge.main_thread import MainThread

log = logging.getLogger(__name__)

IDLE: Final = 0.05
BUSY: Final = 0.005
BUSY_FOR: Final = 2.0
_MODE: Final = "OBJECT"
_JOBS: Final[tuple[Literal["RENDER", "OBJECT_BAKE"], ...]] = ("RENDER", "OBJECT_BAKE")


class BlenderLoop:
    """Blender's event loop, as `MainThread` uses it. Made on the main thread.

    Attributes:
        main: The two lanes to the main thread.
        turn: Called whenever the timer fires: somebody else's event loop.
        ticks: How often the timer fired.
    """

    def __init__(self) -> None:
        """Begin to look for work."""
        self.turn: Callable[[], None] = lambda: None
        self._woken = False
        self._due: float | None = None
        self._worked = time.monotonic()
        self.ticks = 0
        self.main = MainThread(self.wake, blocked=is_blocked)
        bpy.app.timers.register(self._tick, persistent=True)

    def wake(self, delay: float) -> None:
        """Have the lanes drained after that many seconds. With 0 from any thread."""
        if delay:
            self._due = time.monotonic() + delay
        else:
            self._woken = True

    def close(self) -> None:
        """Look no more; after ``main.close()``. Harmless the second time."""
        if bpy.app.timers.is_registered(self._tick):
            bpy.app.timers.unregister(self._tick)

    def _tick(self) -> float:
        self.ticks += 1
        now = time.monotonic()
        try:
            if self._is_due(now):
                self._woken, self._due = False, None
                self._worked = now
                self.main.drain()
            self.turn()
        except Exception:  # one that leaves a timer ends the timer, and the bridge with it
            log.exception("a turn of the bridge failed")
        return BUSY if now - self._worked < BUSY_FOR else IDLE

    def _is_due(self, now: float) -> bool:
        return self._woken or (self._due is not None and now >= self._due)


def is_blocked() -> bool:
    """Tell whether Blender is in the middle of something that an edit would break. Main thread."""
    # A render reads the scene on another thread. An operator that follows the mouse keeps pointers
    # into it; Blender lists those since 4.2. An add-on's own may run for ever and do no harm.
    return any(bpy.app.is_job_running(job) for job in _JOBS) or any(map(_is_blenders, _followers()))


def _followers() -> list[bpy.types.Operator]:
    windows = bpy.context.window_manager
    shown = [] if windows is None else list(windows.windows)
    return [operator for window in shown for operator in getattr(window, "modal_operators", ())]


def _is_blenders(operator: bpy.types.Operator) -> bool:
    return not hasattr(bpy.types, operator.bl_idname)  # those made in Python are there


def in_window() -> AbstractContextManager[None]:
    """Make a window the current one, and a 3D view in it where there is one.

    In background there is none, and operators that need none run all the same.
    """
    return next(views(), None) or next(_windows(), None) or nullcontext()


def views() -> Iterator[AbstractContextManager[None]]:
    """Give a context for each 3D view that can be seen."""
    for window in _shown():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                region = next(part for part in area.regions if part.type == "WINDOW")
                yield _override(window, area, region)


def redraw() -> None:
    """Have everything drawn again that tells of the scene."""
    for window in _shown():
        for area in window.screen.areas:
            area.tag_redraw()


@contextmanager
def view_kept(put_back: list[str], is_same_file: Callable[[], bool]) -> Iterator[None]:
    """Keep the scenes that are shown, the active object's mode, and that undo is on.

    Args:
        put_back: Gets the names of what was another one at the end.
        is_same_file: Whether no other one was opened in between.
    """
    scenes, mode, undo = _shown_scenes(), _mode(), editing().use_global_undo
    try:
        yield
    finally:
        if undo and not editing().use_global_undo:
            editing().use_global_undo = True
            put_back.append("that undo is on")
        if is_same_file():
            put_back += _show_scenes(scenes) + _back_to(mode)


def editing() -> Any:
    """Give what the person has set of editing: whether undo is on, too."""
    preferences: Any = bpy.context.preferences  # Blender has them always
    return preferences.edit


def _mode() -> tuple[str, str]:
    thing = bpy.context.view_layer.objects.active if bpy.context.view_layer else None
    return (thing.name, thing.mode) if thing else ("", _MODE)


def _back_to(mode: tuple[str, str]) -> list[str]:
    if _mode() == mode or _MODE == mode[1] == _mode()[1]:
        return []
    _set_mode(_MODE)
    if _mode()[0] == mode[0] and mode[1] != _MODE:
        _set_mode(mode[1])
    return ["the mode"]


def _set_mode(mode: Any) -> None:
    with in_window(), suppress(RuntimeError):  # an object that is hidden by now has no other
        bpy.ops.object.mode_set(mode=mode)


def _shown_scenes() -> list[tuple[str, str]]:
    windows: Any = bpy.context.window_manager
    return [(window.scene.name, window.view_layer.name) for window in windows.windows]


def _show_scenes(names: list[tuple[str, str]]) -> list[str]:
    windows: Any = bpy.context.window_manager
    changed = []
    for window, (scene, layer) in zip(windows.windows, names, strict=False):
        is_there = scene in bpy.data.scenes and layer in bpy.data.scenes[scene].view_layers
        if is_there and (window.scene.name, window.view_layer.name) != (scene, layer):
            window.scene = bpy.data.scenes[scene]
            window.view_layer = bpy.data.scenes[scene].view_layers[layer]
            changed.append("which scene is shown")
    return changed


def _windows() -> Iterator[AbstractContextManager[None]]:
    for window in _shown():
        yield _override(window, window.screen.areas[0])


def _shown() -> list[bpy.types.Window]:
    windows = bpy.context.window_manager
    return [] if bpy.app.background or windows is None else list(windows.windows)


@contextmanager
def _override(
    window: bpy.types.Window, area: bpy.types.Area, region: bpy.types.Region | None = None
) -> Iterator[None]:
    members: Any = {"window": window, "area": area} | ({"region": region} if region else {})
    with bpy.context.temp_override(**members):
        yield
