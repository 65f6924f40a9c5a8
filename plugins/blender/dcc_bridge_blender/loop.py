"""The timer by which Blender's main thread is reached, and its windows and views.

Nothing wakes Blender's main thread from another thread. The timer looks every 50 ms whether there
is work, and every 5 ms for two seconds after there was. In background no timer fires: there
`dcc_bridge.headless.Pump` is the loop. A timer that is still registered at the end hangs the exit
of 4.5, so the loop has to be closed.

Nothing in Python draws Blender's windows or reads its input either: only its own event loop does.
So a long job *rests* now and then: its stack is left for one turn of that loop, and the timer goes
back to it. To the bridge a job that rests is one that is running. Main thread.
"""

from __future__ import annotations

import gc
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import FrameType
from typing import Any, Final, Literal

import bpy
from mathutils import Vector

from dcc_bridge.spi.drawing import MainThread, unwatched

from .names import name_of, named

# A child of the bridge's logger, which keeps secrets out of the log. The name of the package would
# not do: in an extension it is another one.
log = logging.getLogger("dcc_bridge.blender")

IDLE_PERIOD_S: Final = 0.05  # seconds from one tick of the timer to the next
BUSY_PERIOD_S: Final = 0.005  # the same after there was work
BUSY_FOR_S: Final = 2.0  # for which it holds
REST_SHARE: Final = 0.04  # of a job's time that its rests take
MIN_WORK_S: Final = 0.1  # seconds from one rest of a job to the next, at least
MAX_WORK_S: Final = 3.0  # and at most, so that a click does not wait for longer
_DISTANCE: Final = 0.7  # of a view from what it shows, per unit of size and zoom
_DEFAULT_SIZE: Final = 2.0  # of what has no size
_MODE: Final = "OBJECT"
_MAX_PIXELS: Final = 300_000  # of an image whose pixels are compared
_LINKS: Final = ("POINTER", "COLLECTION")  # the types of properties that have no value
Quiet = Callable[[], AbstractContextManager[None]]
"""Returns a block whose changes are not noticed, as `BlenderHost.unnoticed` does."""
_JOBS: Final[tuple[Literal["RENDER", "OBJECT_BAKE"], ...]] = ("RENDER", "OBJECT_BAKE")


class Work:
    """The surface for the person while a job runs; this one shows nothing."""

    @property
    def is_aimed_at(self) -> bool:
        """Whether the person aims at a button that stops the job."""
        return False

    def announce(self) -> bool:
        """Show the job that may begin; return whether Blender should draw before it does."""
        return False

    def rest(self) -> None:
        """Serve the input that stops the job, while it rests."""

    def go_on(self) -> bool:
        """End a rest, and return whether the person has stopped the job in it."""
        return False

    def end(self) -> None:
        """Show no job any more."""


class BlenderLoop:
    """Blender's event loop, as `MainThread` uses it. Created on the main thread.

    Attributes:
        main: The two lanes to the main thread.
        turn: Called at each tick: another event loop, such as Qt's.
        work: Shows the job that runs, and stops it.
    """

    def __init__(self) -> None:
        """Start the timer."""
        self.turn: Callable[[], None] = lambda: None
        self.work = Work()
        self._is_woken = False
        self._worked_at = time.monotonic()
        self._due: float | None = None
        self._rest_at = 0.0  # no rest before that
        self._may_rest = True
        self._restless: object | None = None  # the job in which a rest failed
        self._place = (0, 0)  # the window and screen when the job got the stack
        self.main = MainThread(self.wake, blocked=is_blocked, repaint=self.rest)
        self._timer = self._tick  # the object by which Blender knows the timer
        bpy.app.timers.register(self._timer, persistent=True)

    def wake(self, delay: float) -> None:
        """Have the lanes drained after so many seconds. With 0 from any thread."""
        if delay:
            self._due = time.monotonic() + delay
        else:
            self._is_woken = True

    def rest(self, serves_stop: bool) -> bool:
        """Leave a job's stack for a turn of Blender's loop, if due and if nothing is half made.

        Args:
            serves_stop: Whether to serve the input that stops the job. Blender's loop takes all
                input that there is, so without that there is no rest.

        Returns:
            Whether the person stopped the job.
        """
        begin = time.monotonic()
        is_due = begin >= self._rest_at or self.work.is_aimed_at
        if not (serves_stop and is_due and self._may_rest):
            return False
        if self._restless is not None and self._restless is self.main.running:
            return False
        is_stopped = False
        if _is_whole_scene() and not _is_overridden(self._place):
            is_stopped = self._rest()
        end = time.monotonic()
        work = (end - begin) / REST_SHARE
        self._rest_at = end + min(MAX_WORK_S, max(MIN_WORK_S, work))
        return is_stopped

    def _rest(self) -> bool:
        """Leave a job's stack; the next tick goes back to it. It raises nothing."""
        try:
            self.work.rest()
        except Exception:  # the skill, which only told its progress, is not to blame
            log.exception("a job cannot rest, so the windows stay as they are until it ends")
            self._restless = self.main.running
            self.work.go_on()
            return False
        with unwatched():
            self.main.rest()
        is_stopped = self.work.go_on()
        return is_stopped or not self._may_rest

    def finish(self) -> None:
        """Stop a job that rests; no job rests any more."""
        self._may_rest = False
        if self.main.is_resting:
            self.main.go_on()
            self.main.drain()  # what had to wait for the job's end; no tick may come any more

    def close(self) -> None:
        """Stop the timer; after ``main.close()``. Harmless the second time."""
        if bpy.app.timers.is_registered(self._timer):
            bpy.app.timers.unregister(self._timer)

    def _tick(self) -> float:
        now = time.monotonic()
        try:
            self._serve(now)
            self.turn()
        except Exception:  # one that leaves a timer ends the timer, and the bridge with it
            log.exception("a turn of the bridge failed")
        if self.main.is_resting:
            return 0.0
        if now - self._worked_at < BUSY_FOR_S:
            return BUSY_PERIOD_S
        return IDLE_PERIOD_S

    def _serve(self, now: float) -> None:
        """Go on with a job that rests, or drain the lanes if that is due."""
        is_due = self._due is not None and now >= self._due
        self._place = _place()
        if self.main.is_resting:
            if _has_window():
                self.main.go_on()
        elif not (self._is_woken or is_due):
            return
        elif not self.main.waiting or not self.work.announce():
            self._is_woken = False
            self._due = None
            self.main.drain()
        if not self.main.is_resting and not self._is_woken:
            self.work.end()
        self._worked_at = now


def _has_window() -> bool:
    """Return whether the context has a window, unless there is none."""
    return bpy.context.window is not None or not _windows()


def _is_whole_scene() -> bool:
    """Return whether Blender may evaluate and draw the scene in the middle of a job.

    A mesh in the making would crash Blender, and so would a rest inside of an operator.
    """
    context = bpy.context
    if context.mode != _MODE or context.area is not None or context.region is not None:
        return False
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__") == "bpy.ops":
            return False
        frame = frame.f_back
    return all(map(_is_whole, bpy.data.meshes))


def _is_overridden(place: tuple[int, int]) -> bool:
    """Return whether a job overrides the context, which a rest would end.

    An operator after the rest would act on another object. An override that is made inside of
    others takes over their members, and the garbage collector tells them; in 3.4 it does not. So
    what operators act on is also compared with what the window shows.

    Args:
        place: The window and screen when the job got the stack, as `_place` returns them.
    """
    context: Any = bpy.context
    for members in gc.get_referents(context.temp_override()):
        if isinstance(members, dict) and members:
            return True
    shown = context.window
    if shown is not None:
        if _place() != place:
            return True
        if (context.scene, context.view_layer) != (shown.scene, shown.view_layer):
            return True
    objects = context.view_layer.objects
    if (context.active_object, context.object) != (objects.active, objects.active):
        return True
    selected = [thing for thing in objects.selected if thing.visible_get()]
    return set(context.selected_objects) != set(selected)


def _place() -> tuple[int, int]:
    """Return the pointers of the current window and screen; 0 for none."""
    context = bpy.context
    window = context.window
    screen = context.screen
    if window is None or screen is None:
        return 0, 0
    return window.as_pointer(), screen.as_pointer()


def _is_whole(mesh: bpy.types.Mesh) -> bool:
    """Return whether a mesh is not in the making: each face has corners, and they have edges."""
    faces = mesh.polygons
    if not faces:
        return not mesh.loops
    return faces[-1].loop_total > 0 and bool(mesh.edges)


def is_blocked() -> bool:
    """Return whether Blender is in the middle of something that an edit would break."""
    if not _has_window():
        return True  # a timer, or a job before this one, opened a file: a later turn has a window
    # A render reads the scene on another thread.
    if any(bpy.app.is_job_running(job) for job in _JOBS):
        return True
    # An operator that follows the mouse keeps pointers into the scene; operators are listed since
    # 4.2. An add-on's own operator, which is in `bpy.types`, may run for ever, and does not count.
    for window in _windows():
        for operator in getattr(window, "modal_operators", ()):
            if not hasattr(bpy.types, operator.bl_idname):
                return True
    return False


def in_window() -> AbstractContextManager[None]:
    """Make a window the current one in the block, for an operator; in background there is none.

    A skill has a current window, until it opens another file, and then nothing is overridden: up to
    5.0 Blender, with a Python before 3.12, reads the members of `temp_override` without the GIL,
    and may crash.
    """
    if bpy.context.window is not None:
        return nullcontext()
    windows = _windows()
    if not windows:
        return nullcontext()
    context: Any = bpy.context  # its stub does not say that `temp_override` is a context manager
    override: AbstractContextManager[None] = context.temp_override(window=windows[0])
    return override


def views() -> Iterator[tuple[bpy.types.SpaceView3D, bpy.types.Region]]:
    """Yield each 3D view that can be seen, with the region that it is drawn in."""
    for area in areas():
        if area.type == "VIEW_3D":
            space: Any = area.spaces.active
            yield space, next(region for region in area.regions if region.type == "WINDOW")


def show(view: Any, corners: Sequence[Vector]) -> None:
    """Have a 3D view show points, as Blender's operator does, which would need an override.

    Args:
        view: The region's `RegionView3D`.
        corners: The points, in the world.
    """
    axes = list(zip(*corners, strict=True))
    low = Vector([min(axis) for axis in axes])
    high = Vector([max(axis) for axis in axes])
    if view.view_perspective == "CAMERA":
        view.view_perspective = "PERSP"
        view.update()
    zoom = max(view.window_matrix[0][0], view.window_matrix[1][1])
    size = max((high - low)[:]) or _DEFAULT_SIZE
    distance = _DISTANCE * zoom * size
    if not view.is_perspective:
        distance *= view.view_distance
    view.view_location = (low + high) / 2
    view.view_distance = distance


def redraw() -> None:
    """Have all areas of all windows drawn again."""
    for area in areas():
        area.tag_redraw()


@contextmanager
def view_kept(put_back: list[str], is_same_file: Callable[[], bool]) -> Iterator[None]:
    """Restore, after the block, the scenes that are shown, the mode, and that undo is on.

    Args:
        put_back: Gets the names of what the block had changed.
        is_same_file: Returns whether no other file was opened in the block.
    """
    windows: Any = bpy.context.window_manager
    scenes = [_shown_in(window) for window in windows.windows]
    mode = _mode()
    has_undo = editing().use_global_undo
    try:
        yield
    finally:
        if has_undo and not editing().use_global_undo:
            editing().use_global_undo = True
            put_back.append("that undo is on")
        if is_same_file():
            put_back += _show_scenes(scenes)
            put_back += _restore_mode(mode)


def beside_undo(quiet: Quiet) -> Callable[[], str | None]:
    """Note what undo does not hold.

    Args:
        quiet: Returns a block whose changes are not noticed.

    Returns:
        A function that restores the frame of each scene, and returns what else differs, as the end
        of a sentence; None where nothing does.
    """
    frames = []
    for scene in bpy.data.scenes:
        frames.append((name_of(scene), scene.frame_current, scene.frame_subframe))
    before = values_beside_undo()

    def compare() -> str | None:
        with quiet():
            for name, frame, fraction in frames:
                scene = named(bpy.data.scenes, name)
                if scene and (scene.frame_current, scene.frame_subframe) != (frame, fraction):
                    scene.frame_set(frame, subframe=fraction)
        differing = []
        for name, value in values_beside_undo().items():
            if before.get(name, value) != value:
                differing.append(name)
        if not differing:
            return None
        return f", but not {' and '.join(differing)}"

    return compare


def values_beside_undo() -> dict[str, Any]:
    """Return the preferences and the pixels that were painted, by names that a person reads."""
    preferences: Any = bpy.context.preferences
    parts = (
        preferences.edit,
        preferences.view,
        preferences.system,
        preferences.inputs,
        preferences.filepaths,
    )
    values = []
    for part in parts:
        for prop in part.bl_rna.properties:
            if prop.type not in _LINKS:
                values.append(repr(getattr(part, prop.identifier)))
    found: dict[str, Any] = {"the preferences": values}
    for image in bpy.data.images:
        found[f"the pixels of {name_of(image)}"] = _painted(image)
    return found


def _painted(image: Any) -> int | bool:
    """Return a hash of the pixels that are in no file; of a large image whether there are any.

    Pixels that nobody painted are read from the file again anyway.
    """
    is_small = image.size[0] * image.size[1] <= _MAX_PIXELS
    if image.is_dirty and is_small:
        return hash(image.pixels[:])
    return bool(image.is_dirty)


def editing() -> Any:
    """Return the person's preferences of editing; whether undo is on is one of them."""
    preferences: Any = bpy.context.preferences  # Blender always has some
    return preferences.edit


def _mode() -> tuple[str, str]:
    """Return the name of the active object, or "", and its mode."""
    layer = bpy.context.view_layer
    thing = layer.objects.active if layer else None
    if thing is None:
        return "", _MODE
    return name_of(thing), thing.mode


def _restore_mode(before: tuple[str, str]) -> list[str]:
    """Restore the mode of the active object; returns the name of what was changed."""
    name, mode = before
    if _mode() == before or (mode == _MODE and _mode()[1] == _MODE):
        return []
    _set_mode(_MODE)
    if _mode()[0] == name and mode != _MODE:
        _set_mode(mode)
    return ["the mode"]


def _set_mode(mode: Any) -> None:
    with in_window(), suppress(RuntimeError):  # an object that is hidden by now has no other mode
        bpy.ops.object.mode_set(mode=mode)


def _show_scenes(names: list[tuple[str, str]]) -> list[str]:
    """Show scenes and view layers in the windows; returns a name for each that was changed."""
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


def areas() -> list[bpy.types.Area]:
    """Return the areas of all windows."""
    found: list[bpy.types.Area] = []
    for window in _windows():
        found += window.screen.areas
    return found


def _windows() -> list[bpy.types.Window]:
    """Return the windows; none in background."""
    manager = bpy.context.window_manager
    if bpy.app.background or manager is None:
        return []
    return list(manager.windows)
