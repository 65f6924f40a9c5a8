"""Skills that no person would want: they fail, wait and look, for tests."""

import bpy

from dcc_bridge import elicit_form_sync, skill

_NAME = {
    "type": "object",
    "properties": {"name": {"type": "string", "title": "Name"}},
    "required": ["name"],
}


@skill(risk="edit")
def add_object(name: str) -> str:
    """Add an empty."""
    made = bpy.data.objects.new(name, None)
    bpy.data.scenes[0].collection.objects.link(made)
    return made.name


@skill(risk="edit")
def break_off(name: str) -> None:
    """Add an object, and fail."""
    add_object(name)
    raise ValueError("halfway")


@skill(risk="edit")
def name_object(seconds: float | None = None) -> str:
    """Ask for a name, and add an object of that name."""
    answer = elicit_form_sync("What is it called?", _NAME, timeout=seconds)
    return add_object(answer.data["name"]) if answer.accepted else f"{answer.message}"
