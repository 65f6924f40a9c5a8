"""Rename one object."""

from __future__ import annotations

from dcc_bridge import skill
from dcc_bridge.hosts.freecad.freecad_document import find


@skill(risk="edit", replaced_by="rename")
def rename_object(name: str, new_label: str) -> dict[str, str]:
    """Give an object another label, which is what the person reads. They can undo it.

    Its name, by which other calls and expressions find it, stays: FreeCAD never changes that.

    Args:
        name: The object's name, such as "Box001", or its label where only one object has that.
        new_label: FreeCAD adds a number where another object has it.

    Returns:
        The name, and the old and the new label.
    """
    obj = find(name)
    if not new_label.strip():
        raise ValueError("new_label is empty: give a text to read.")
    before = str(obj.Label)
    obj.Label = new_label.strip()
    return {"name": str(obj.Name), "before": before, "after": str(obj.Label)}
