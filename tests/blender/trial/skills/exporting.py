"""A skill without a decorator, of which nobody knows what it does."""

import bpy


def export_without_a_word(path: str) -> None:
    """Add an object, and export the scene."""
    made = bpy.data.objects.new("Exported", None)
    bpy.data.scenes[0].collection.objects.link(made)
    bpy.ops.wm.obj_export(filepath=path)
