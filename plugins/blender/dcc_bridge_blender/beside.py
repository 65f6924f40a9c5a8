"""The state that undo does not hold, and a revert puts back where it can. Main thread.

Undo keeps the cursor, handlers and preferences as they are. It does hold the selection, the active
object and the frame, but as the newest entry had them.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import bpy

from .loop import values_beside_undo
from .names import name_of, named
from .objects import find, item_of

_CURSOR: Final = ("location", "rotation_euler")  # the properties of the 3D cursor


class _SceneState(NamedTuple):
    """The frame and the 3D cursor of a scene.

    Attributes:
        name: The name of the scene.
        frame: The frame, and its fraction.
        cursor: The values of the cursor's properties.
    """

    name: str
    frame: tuple[int, float]
    cursor: list[tuple[float, ...]]


class Beside:
    """The state that undo does not hold, as a step began."""

    def __init__(self) -> None:
        """Note the state as it is now."""
        self._scenes = [_state_of(scene) for scene in bpy.data.scenes]
        layer: Any = bpy.context.view_layer
        active = layer.objects.active
        self._selected = {item_of(thing) for thing in layer.objects.selected}
        self._active = item_of(active) if active else ""
        self._handlers = [(handlers, list(handlers)) for handlers in _handlers()]
        self._drivers = _driver_names()
        self._values = values_beside_undo()

    def put_back(self) -> list[str]:
        """Put back what can be, and return the names of what has other values than before."""
        for handlers, before in self._handlers:
            if list(map(id, handlers)) != list(map(id, before)):
                handlers[:] = before
        if _driver_names() != self._drivers:
            names = bpy.app.driver_namespace
            names.clear()
            names.update(self._drivers)
        for state in self._scenes:
            _restore(state)
        self._select()
        differing = []
        for name, value in values_beside_undo().items():
            if self._values.get(name, value) != value:
                differing.append(name)
        return differing

    def _select(self) -> None:
        layer: Any = bpy.context.view_layer
        selected = {item_of(thing) for thing in layer.objects.selected}
        for item in selected ^ self._selected:
            thing: Any = find(item)
            if thing is not None:  # the revert names an item that did not come back
                thing.select_set(item in self._selected)
        active = find(self._active) if self._active else None
        if layer.objects.active != active:
            layer.objects.active = active


def _state_of(scene: Any) -> _SceneState:
    frame = (scene.frame_current, scene.frame_subframe)
    cursor = [tuple(getattr(scene.cursor, prop)) for prop in _CURSOR]
    return _SceneState(name_of(scene), frame, cursor)


def _restore(state: _SceneState) -> None:
    scene: Any = named(bpy.data.scenes, state.name)
    now = _state_of(scene)
    if now.frame != state.frame:
        frame, fraction = state.frame
        scene.frame_set(frame, subframe=fraction)
    if now.cursor != state.cursor:
        for prop, value in zip(_CURSOR, state.cursor, strict=True):
            setattr(scene.cursor, prop, value)


def _driver_names() -> dict[str, Any]:
    """Return the names that drivers may use, but for 4.5 as a module.

    There 4.5.15 hangs as it quits, once these names were read.
    """
    if not bpy.app.binary_path and bpy.app.version < (5,):
        return {}
    return dict(bpy.app.driver_namespace)


def _handlers() -> list[list[Any]]:
    """Return Blender's lists of handlers."""
    every = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
    return [handlers for handlers in every if isinstance(handlers, list)]
