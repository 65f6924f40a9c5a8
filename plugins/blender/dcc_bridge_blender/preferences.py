"""The add-on's preferences: whose dialogs are drawn; and the state of the bridge. Main thread."""

from typing import Any, Literal

import bpy

from .ui.drawing import columns_of, say

state = "Not started."  # whether the bridge runs, or why not, for the person
_MARGIN = 260  # pixels at the sides of a text in the preferences

_DIALOGS = (
    ("qt", "Qt, if installed", "Qt's dialogs, if PySide6 is installed in Blender's Python"),
    ("blender", "Blender's own", "Dialogs that Blender draws"),
)


class DCC_BRIDGE_preferences(bpy.types.AddonPreferences):
    """The preferences of the add-on."""

    bl_idname = __package__

    dialogs: bpy.props.EnumProperty(  # type: ignore[valid-type]  # how Blender declares properties
        name="Dialogs", items=_DIALOGS, description="Takes effect when Blender is restarted"
    )

    def draw(self, context: bpy.types.Context) -> None:
        """Draw the state of the bridge, and the choice of dialogs."""
        layout: Any = self.layout
        say(layout, state, columns_of(context, _MARGIN))
        layout.prop(self, "dialogs")


def dialogs() -> Literal["qt", "blender"]:
    """Return whose dialogs the person has chosen."""
    preferences = bpy.context.preferences
    addon: Any = preferences.addons.get(__package__) if preferences else None
    if not addon or not addon.preferences:
        return "qt"
    if addon.preferences.dialogs == "blender":
        return "blender"
    return "qt"


def register() -> None:
    """Show the preferences."""
    bpy.utils.register_class(DCC_BRIDGE_preferences)


def unregister() -> None:
    """Remove the preferences."""
    bpy.utils.unregister_class(DCC_BRIDGE_preferences)
