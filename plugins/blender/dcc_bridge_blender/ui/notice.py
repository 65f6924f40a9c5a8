"""The notice that a question waits, in Blender's top bar, and the key that leads into it.

A popup of Blender takes every key from where the person types, and gives none back. So no question
opens by itself: a red button in the top bar says that a question waits. The question opens once the
person presses that button, F8, or the button in the sidebar. Main thread.
"""

from __future__ import annotations

from typing import Any, Final

import bpy

from dcc_bridge.spi.drawing import safe_line

from .surface import Surface

KEY: Final = "F8"
_MAX_CHARACTERS: Final = 48  # of a question in the top bar

_surface: Surface | None = None  # what draws the questions; None while no bridge runs
_seen = ""  # the question that the top bar showed when it was drawn last
_keys: list[tuple[bpy.types.KeyMap, bpy.types.KeyMapItem]] = []


class DCC_BRIDGE_OT_go(bpy.types.Operator):
    """Goes to the question that waits."""

    bl_idname = "dcc_bridge.go"
    bl_label = "Go to an agent's question"
    bl_description = "Open the agent's question"  # Blender puts a full stop after it
    bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Return whether a question waits; without one the key does what it does in Blender."""
        return _surface is not None and bool(_surface.asked())

    def execute(self, context: bpy.types.Context) -> Any:
        """Open the question."""
        if _surface is not None:
            _surface.enter()
        return {"FINISHED"}


def watch(surface: Surface | None) -> None:
    """Show the questions of a surface from now on; with None, show no question."""
    global _surface
    _surface = surface
    turn()


def turn() -> None:
    """Draw the top bar again where it shows another question. The timer calls this."""
    if _asked() != _seen:
        _redraw()


def _asked() -> str:
    if _surface is None:
        return ""
    return _surface.asked()


def _draw(menus: Any, context: bpy.types.Context) -> None:
    global _seen
    _seen = _asked()
    if not _seen:
        return
    layout: Any = menus.layout
    row = layout.row()
    row.alert = True
    text = f"A question for you ({KEY}): {safe_line(_seen, _MAX_CHARACTERS)}"
    row.operator("dcc_bridge.go", text=text, icon="QUESTION", translate=False)


def _redraw() -> None:
    """Have all of each window drawn again: nothing in Python reaches the top bar alone."""
    manager = bpy.context.window_manager
    if manager is None:
        return
    for window in manager.windows:
        workspace: Any = window.workspace
        workspace.use_filter_by_owner = workspace.use_filter_by_owner


def register() -> None:
    """Show the notice, and take the key; in background there is no person."""
    if bpy.app.background:
        return
    bpy.utils.register_class(DCC_BRIDGE_OT_go)
    menus: Any = bpy.types.TOPBAR_MT_editor_menus
    menus.append(_draw)
    manager: Any = bpy.context.window_manager
    keys = manager.keyconfigs.addon.keymaps.new(name="Window", space_type="EMPTY")
    _keys.append((keys, keys.keymap_items.new("dcc_bridge.go", KEY, "PRESS")))


def unregister() -> None:
    """Remove the notice and the key."""
    if bpy.app.background:
        return
    while _keys:
        keys, item = _keys.pop()
        keys.keymap_items.remove(item)
    menus: Any = bpy.types.TOPBAR_MT_editor_menus
    menus.remove(_draw)
    bpy.utils.unregister_class(DCC_BRIDGE_OT_go)
