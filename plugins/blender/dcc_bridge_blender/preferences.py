"""The add-on's preferences: whose dialogs, and where agents reach it. Main thread."""

from typing import Any, Literal

import bpy

from .ui.drawing import columns_of, say

state = "Not started."  # how it goes, for the person

_DIALOGS = (
    ("qt", "Qt, if installed", "Qt's dialogs, if PySide6 is installed in Blender's Python"),
    ("blender", "Blender's own", "Dialogs that Blender draws"),
)


class DCC_BRIDGE_preferences(bpy.types.AddonPreferences):
    """What can be chosen."""

    bl_idname = __package__

    dialogs: bpy.props.EnumProperty(  # type: ignore[valid-type]  # how Blender declares properties
        name="Dialogs", items=_DIALOGS, description="Takes effect when Blender is restarted"
    )

    def draw(self, context: bpy.types.Context) -> None:
        """Draw it."""
        layout: Any = self.layout
        say(layout, state, columns_of(context, 260))
        layout.prop(self, "dialogs")


def dialogs() -> Literal["qt", "blender"]:
    """Give whose dialogs were chosen."""
    preferences = bpy.context.preferences
    addon: Any = preferences.addons.get(__package__) if preferences else None
    chosen = addon.preferences.dialogs if addon and addon.preferences else "qt"
    return "blender" if chosen == "blender" else "qt"


def register() -> None:
    """Show it."""
    bpy.utils.register_class(DCC_BRIDGE_preferences)


def unregister() -> None:
    """Take it away."""
    bpy.utils.unregister_class(DCC_BRIDGE_preferences)
