"""The state that Blender's undo does not restore, and that a revert restores itself. Main thread.

Undo leaves the cursor, handlers and preferences as they are. It restores the selection, the active
object and the frame, but as they were at the newest entry, and not as the step began.
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
    """The state beside the undo stack, as a step began."""

    def __init__(self) -> None:
        """Note the state as it is now."""
        self._scenes = [_state_of(scene) for scene in bpy.data.scenes]
        layer: Any = bpy.context.view_layer
        active = layer.objects.active
        self._selected = {item_of(obj) for obj in layer.objects.selected}
        self._active = ""
        if active:
            self._active = item_of(active)
        self._handlers = [(handlers, list(handlers)) for handlers in _handlers()]
        self._drivers = _driver_names()
        self._values = values_beside_undo()

    def put_back(self) -> list[str]:
        """Restore the state, and return the names of the values that stay changed.

        Values of `values_beside_undo`, such as preferences, are compared and not restored.
        """
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
        selected = {item_of(obj) for obj in layer.objects.selected}
        for item in selected ^ self._selected:
            obj: Any = find(item)
            if obj is not None:  # the revert names an item that did not come back
                obj.select_set(item in self._selected)
        active = None
        if self._active:
            active = find(self._active)
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
    """Return the names that drivers may use; none in bpy 4.5 as a module.

    The module 4.5.15 hangs as it quits if these names were read.
    """
    if not bpy.app.binary_path and bpy.app.version < (5,):
        return {}
    return dict(bpy.app.driver_namespace)


def _handlers() -> list[list[Any]]:
    """Return Blender's lists of handlers."""
    members = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
    return [handlers for handlers in members if isinstance(handlers, list)]
