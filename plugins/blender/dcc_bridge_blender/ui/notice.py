"""The notice that a question waits, in Blender's top bar, and the key that leads into it.

What pops up in Blender takes every key from where the person types, and gives none back. So no
question opens by itself: a red button in the top bar says that one waits, and it opens once the
person presses that, F8, or the button in the sidebar. Main thread.
"""

from __future__ import annotations

from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import safe_line

from .surface import Surface

KEY: Final = "F8"
_MOST: Final = 48  # characters of a question in the top bar

_surface: Surface | None = None  # who draws the questions; None while nothing runs
_seen = ""  # the question that the top bar told of when it was drawn last
_keys: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


class DCC_BRIDGE_OT_go(bpy.types.Operator):
    """Goes to the question that waits."""

    bl_idname = "dcc_bridge.go"
    bl_label = "Go to an agent's question"
    bl_description = "Open the agent's question"  # Blender puts a full stop after it
    bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Tell whether there is one: without one the key does what it does in Blender."""
        return _surface is not None and bool(_surface.asked())

    def execute(self, context: bpy.types.Context) -> Any:
        """Open it."""
        if _surface is not None:
            _surface.enter()
        return {"FINISHED"}


def watch(surface: Surface | None) -> None:
    """Tell of the questions of a surface from now on, or of none."""
    global _surface
    _surface = surface
    turn()


def turn() -> None:
    """Draw the top bar where it tells of another question. Called from the timer."""
    if _asked() != _seen:
        _redraw()


def _asked() -> str:
    return _surface.asked() if _surface is not None else ""


def _draw(menus: Any, context: bpy.types.Context) -> None:
    global _seen
    _seen = _asked()
    if not _seen:
        return
    layout: Any = menus.layout
    row = layout.row()
    row.alert = True
    text = f"A question for you ({KEY}): {safe_line(_seen, _MOST)}"
    row.operator("dcc_bridge.go", text=text, icon="QUESTION", translate=False)


def _redraw() -> None:
    """Have all of each window drawn: nothing in Python reaches the top bar alone."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        workspace: Any = window.workspace
        workspace.use_filter_by_owner = workspace.use_filter_by_owner


def register() -> None:
    """Show it, and take the key; in background nobody sits there."""
    if bpy.app.background:
        return
    bpy.utils.register_class(DCC_BRIDGE_OT_go)
    menus: Any = bpy.types.TOPBAR_MT_editor_menus
    menus.append(_draw)
    manager: Any = bpy.context.window_manager
    keys = manager.keyconfigs.addon.keymaps.new(name="Window", space_type="EMPTY")
    _keys.append((keys, keys.keymap_items.new("dcc_bridge.go", KEY, "PRESS")))


def unregister() -> None:
    """Take it away."""
    if bpy.app.background:
        return
    while _keys:
        keys, item = _keys.pop()
        keys.keymap_items.remove(item)
    menus: Any = bpy.types.TOPBAR_MT_editor_menus
    menus.remove(_draw)
    bpy.utils.unregister_class(DCC_BRIDGE_OT_go)
