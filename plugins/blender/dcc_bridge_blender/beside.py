"""What a revert has to put back beside the scene, or cannot. Main thread.

Undo keeps the cursor, handlers and preferences as they are. It holds the selection, the active
object and the frame, but as the newest entry had them.
"""

from __future__ import annotations

from typing import Any, Final

import bpy

from .loop import values_beside_undo
from .names import name_of, named
from .objects import find, item_of

_PLACES: Final = ("location", "rotation_euler")


class Beside:
    """What was there as a step began."""

    def __init__(self) -> None:
        """Note it."""
        self._scenes = [
            (name_of(it), it.frame_current, it.frame_subframe, _cursor_of(it))
            for it in bpy.data.scenes
        ]
        layer: Any = bpy.context.view_layer
        self._selected = {item_of(it) for it in layer.objects.selected}
        self._active = item_of(layer.objects.active) if layer.objects.active else ""
        self._handlers = [(each, list(each)) for each in _handlers()]
        self._drivers = _driver_names()
        self._values = values_beside_undo()

    def put_back(self) -> list[str]:
        """Put back what can be, and name what stays another one."""
        for handlers, before in self._handlers:
            if len(handlers) != len(before) or any(
                new is not old for new, old in zip(handlers, before, strict=True)
            ):
                handlers[:] = before
        if _driver_names() != self._drivers:
            names = bpy.app.driver_namespace
            names.clear()
            names.update(self._drivers)
        for name, frame, part, cursor in self._scenes:
            scene: Any = named(bpy.data.scenes, name)
            if (scene.frame_current, scene.frame_subframe) != (frame, part):
                scene.frame_set(frame, subframe=part)
            if _cursor_of(scene) != cursor:
                for prop, value in zip(_PLACES, cursor, strict=True):
                    setattr(scene.cursor, prop, value)
        self._select()
        now = values_beside_undo()
        return [what for what, value in now.items() if self._values.get(what, value) != value]

    def _select(self) -> None:
        layer: Any = bpy.context.view_layer
        selected = {item_of(it) for it in layer.objects.selected}
        for item in selected ^ self._selected:
            thing: Any = find(item)
            if thing is not None:  # else the revert says that it did not come back
                thing.select_set(item in self._selected)
        active = find(self._active) if self._active else None
        if layer.objects.active != active:
            layer.objects.active = active


def _cursor_of(scene: Any) -> list[tuple[float, ...]]:
    return [tuple(getattr(scene.cursor, prop)) for prop in _PLACES]


def _driver_names() -> dict[str, Any]:
    """Return what drivers may call; as a module, 4.5.15 hangs as it quits once it was looked at."""
    if not bpy.app.binary_path and bpy.app.version < (5,):
        return {}
    return dict(bpy.app.driver_namespace)


def _handlers() -> list[list[Any]]:
    every = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
    return [each for each in every if isinstance(each, list)]
