"""Save the file."""

from __future__ import annotations

from pathlib import Path

import bpy

from dcc_bridge import confirm_sync, skill
from dcc_bridge.hosts.blender import in_window


@skill(risk="destructive", confirms=True, replaced_by="save")
def save_scene(path: str | None = None) -> dict[str, str]:
    """Save the open file. It is written over, and undo does not bring that back.

    The person is asked before, and a copy of the file that is written over is kept.

    Args:
        path: Another .blend file to save it in, which is the open one from then on. Leave it out
            to save it where it is.

    Returns:
        The file that was written, and the folder with the copy where a file was written over.
    """
    if not (path or bpy.data.filepath):
        raise ValueError("This file was never saved: give the path of one to save it in.")
    target = Path(path or bpy.data.filepath).absolute()
    if target.suffix != ".blend" or not target.parent.is_dir():
        raise ValueError(f"{target} cannot be written: name a .blend in a folder that is there.")
    over = ", over the file that is there" if target.exists() else ", a new file"
    agreed = confirm_sync(
        f"Save as {target}{over}?",
        verb="Save",
        undoable=False,
        files=[target],
        title="Save scene",
    )
    try:
        with in_window():
            bpy.ops.wm.save_as_mainfile(filepath=str(target), check_existing=False)
    except RuntimeError as error:
        raise ValueError(f"{target} was not written: {str(error).strip()}") from error
    return {"saved": str(target)} | ({"copy": str(agreed.checkpoint)} if agreed.checkpoint else {})
