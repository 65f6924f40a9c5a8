"""A timer is the way to Blender's main thread: nothing wakes it from another one.

It looks every 50 ms whether there is work, and every 5 ms for two seconds after there was. In
background none fires: there `dcc_bridge.headless.Pump` is the loop. `close`: one that is registered
at the end hangs the exit of 4.5.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any, Final, Literal, cast

import bpy
from mathutils import Vector

from dcc_bridge.spi.drawing import MainThread

from .names import name_of, named

# Below the bridge's, which keep secrets out of the log: the package's own name may be another one.
log = logging.getLogger("dcc_bridge.blender")

IDLE, BUSY, BUSY_FOR = 0.05, 0.005, 2.0  # seconds
_MARGIN, _SIZE = 0.7, 2.0  # around what a view shows, and of what has no size
_MODE: Final = "OBJECT"
_MOST_PIXELS, _LINKS = 300_000, ("POINTER", "COLLECTION")
Quiet = Callable[[], AbstractContextManager[None]]
_JOBS: Final[tuple[Literal["RENDER", "OBJECT_BAKE"], ...]] = ("RENDER", "OBJECT_BAKE")


class BlenderLoop:
    """Blender's event loop, as `MainThread` uses it. Made on the main thread."""

    def __init__(self) -> None:
        self.turn: Callable[[], None] = lambda: None  # somebody else's event loop, at each tick
        self._woken, self._worked = False, time.monotonic()
        self._due: float | None = None
        self.main = MainThread(self.wake, blocked=is_blocked)  # the two lanes to the main thread
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
        now = time.monotonic()
        try:
            if self._woken or (self._due is not None and now >= self._due):
                self._woken, self._due = False, None
                self._worked = now
                self.main.drain()
            self.turn()
        except Exception:  # one that leaves a timer ends the timer, and the bridge with it
            log.exception("a turn of the bridge failed")
        return BUSY if now - self._worked < BUSY_FOR else IDLE


def is_blocked() -> bool:
    """Tell whether Blender is in the middle of something that an edit would break. Main thread."""
    if (windows := _shown()) and bpy.context.window is None:
        return True  # a timer, or a job before this one, opened a file: a later turn has one again
    # A render reads the scene on another thread; an operator that follows the mouse keeps pointers
    # into it, and is listed since 4.2. An add-on's own, in `bpy.types`, may run for ever.
    following = (it for window in windows for it in getattr(window, "modal_operators", ()))
    is_busy = any(bpy.app.is_job_running(job) for job in _JOBS)
    return is_busy or not all(hasattr(bpy.types, it.bl_idname) for it in following)


def in_window() -> AbstractContextManager[None]:
    """Make a window the current one for an operator; in background there is none.

    A skill has one, until it opens another file, and nothing is overridden then: up to 5.0 Blender,
    with a Python before 3.12, reads the members of `temp_override` without the GIL, and may crash.
    """
    windows = _shown() if bpy.context.window is None else []
    context: Any = bpy.context  # its stub does not say that it is left as others are
    return context.temp_override(window=windows[0]) if windows else nullcontext()


def views() -> Iterator[tuple[bpy.types.SpaceView3D, bpy.types.Region]]:
    """Give each 3D view that can be seen, with the region that it is drawn in."""
    for area in _areas():
        if area.type == "VIEW_3D":
            space: Any = area.spaces.active
            yield space, next(part for part in area.regions if part.type == "WINDOW")


def show(view: Any, corners: Sequence[Vector]) -> None:
    """Have a 3D view show points, as Blender's operator does, which would need an override."""
    low, high = (Vector([end(it) for it in zip(*corners, strict=True)]) for end in (min, max))
    if view.view_perspective == "CAMERA":
        view.view_perspective = "PERSP"
        view.update()
    zoom = max(view.window_matrix[at][at] for at in (0, 1))
    distance = _MARGIN * zoom * (max((high - low)[:]) or _SIZE)
    view.view_location = (low + high) / 2
    view.view_distance = distance * (1 if view.is_perspective else view.view_distance)


def redraw() -> None:
    """Have everything drawn again that tells of the scene."""
    for area in _areas():
        area.tag_redraw()


@contextmanager
def view_kept(put_back: list[str], is_same_file: Callable[[], bool]) -> Iterator[None]:
    """Keep the scenes that are shown, the active object's mode, and that undo is on.

    `put_back` gets the names of what was another one at the end; `is_same_file` tells whether no
    other one was opened in between.
    """
    windows: Any = bpy.context.window_manager
    scenes = [_shown_in(window) for window in windows.windows]
    mode, undo = _mode(), editing().use_global_undo
    try:
        yield
    finally:
        if undo and not editing().use_global_undo:
            editing().use_global_undo = True
            put_back.append("that undo is on")
        if is_same_file():
            put_back += _show_scenes(scenes) + _back_to(mode)


def beside_undo(quiet: Quiet) -> Callable[[], str | None]:
    """Note what undo does not hold; gives what puts the frame back and names what else differs."""
    frames = [(name_of(it), it.frame_current, it.frame_subframe) for it in bpy.data.scenes]
    before = values_beside_undo()

    def compare() -> str | None:
        with quiet():
            for name, frame, part in frames:
                scene = named(bpy.data.scenes, name)
                if scene and (scene.frame_current, scene.frame_subframe) != (frame, part):
                    scene.frame_set(frame, subframe=part)
        differ = [
            what for what, value in values_beside_undo().items() if before.get(what, value) != value
        ]
        return f", but not {' and '.join(differ)}" if differ else None

    return compare


def values_beside_undo() -> dict[str, Any]:
    """Return the preferences, and the pixels that were painted; of a large image whether it was."""
    told, images = cast("Any", (bpy.context.preferences, bpy.data.images))
    parts = (told.edit, told.view, told.system, told.inputs, told.filepaths)
    plain = ((part, it) for part in parts for it in part.bl_rna.properties if it.type not in _LINKS)
    values = [repr(getattr(part, it.identifier)) for part, it in plain]
    painted = {f"the pixels of {name_of(it)}": _painted(it) for it in images}
    return {"the preferences": values, **painted}


def _painted(image: Any) -> int | bool:
    """Return what is in an image that is in no file: what nobody painted is read again anyway."""
    is_small = image.size[0] * image.size[1] <= _MOST_PIXELS
    return hash(image.pixels[:]) if image.is_dirty and is_small else bool(image.is_dirty)


def editing() -> Any:
    """Give what the person has set of editing: whether undo is on, too."""
    preferences: Any = bpy.context.preferences  # Blender has them always
    return preferences.edit


def _mode() -> tuple[str, str]:
    thing = bpy.context.view_layer.objects.active if bpy.context.view_layer else None
    return (name_of(thing), thing.mode) if thing else ("", _MODE)


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


def _show_scenes(names: list[tuple[str, str]]) -> list[str]:
    windows: Any = bpy.context.window_manager
    changed = []
    for window, (scene, layer) in zip(windows.windows, names, strict=False):
        wanted = named(bpy.data.scenes, scene)
        wanted_layer = named(wanted.view_layers, layer) if wanted else None
        if wanted_layer is not None and _shown_in(window) != (scene, layer):
            window.scene = wanted
            window.view_layer = wanted_layer
            changed.append("which scene is shown")
    return changed


def _shown_in(window: Any) -> tuple[str, str]:
    """Return the names of the scene and of the view layer that a window shows."""
    return name_of(window.scene), name_of(window.view_layer)


def _areas() -> list[bpy.types.Area]:
    return [area for window in _shown() for area in window.screen.areas]


def _shown() -> list[bpy.types.Window]:
    windows = bpy.context.window_manager
    return [] if bpy.app.background or windows is None else list(windows.windows)
