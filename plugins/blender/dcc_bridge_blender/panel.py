"""The sidebar of the 3D view: what agents wait for and what they did, with a button for each.

Main thread.

Blender reads the annotations of these classes, so they must not be put off.
"""

from typing import Any

import bpy

from dcc_bridge.elicitation.text import safe_line

from . import preferences
from .corner import Corner

shown: Corner | None = None
"""What is said now; None while nothing runs or Qt says it."""


class DCC_BRIDGE_OT_act(bpy.types.Operator):
    """Does what a button says."""

    bl_idname = "dcc_bridge.act"
    bl_label = "Act"
    bl_description = "Do what this button says"
    bl_options = {"INTERNAL"}  # noqa: RUF012 - Blender's own shape

    note: bpy.props.IntProperty()  # type: ignore[valid-type]  # how Blender declares properties
    act: bpy.props.IntProperty()  # type: ignore[valid-type]  # how Blender declares properties

    def execute(self, context: bpy.types.Context) -> Any:
        """Act."""
        if shown is not None:
            shown.act(self.note, self.act)
        return {"FINISHED"}


class DCC_BRIDGE_PT_agents(bpy.types.Panel):
    """The panel."""

    bl_label = "Agents"
    bl_category = "Agents"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"

    def draw(self, context: bpy.types.Context) -> None:
        """Draw what is said."""
        layout: Any = self.layout
        column = layout.column()
        notes = shown.notes if shown is not None else []
        if not notes:
            column.label(text="No agent waits for you." if shown else preferences.state)
        for at, note in enumerate(notes):
            box = column.box()
            box.label(text=safe_line(note.text), translate=False)
            row = box.row()
            for number, (caption, _) in enumerate(note.acts):
                button = row.operator("dcc_bridge.act", text=caption)
                button.note, button.act = at, number


_CLASSES = (DCC_BRIDGE_OT_act, DCC_BRIDGE_PT_agents)


def register() -> None:
    """Show it."""
    for each in _CLASSES:
        bpy.utils.register_class(each)


def unregister() -> None:
    """Take it away."""
    for each in reversed(_CLASSES):
        bpy.utils.unregister_class(each)
