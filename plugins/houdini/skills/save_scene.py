"""Save the scene."""

from __future__ import annotations

from pathlib import Path

import hou

from dcc_bridge import confirm_sync, skill


@skill(risk="destructive", confirms=True, replaced_by="save")
def save_scene(path: str | None = None) -> dict[str, str]:
    """Save the open scene. Its file is overwritten, and undo does not bring that back.

    The person is asked before, and a copy of the file that is written over is kept.

    Args:
        path: Another file to save it in, which is the scene's own from then on. Leave it out to
            save it where it is.

    Returns:
        The file that was written, and the folder with the copy where a file was written over.
    """
    if path is None and hou.hipFile.isNewFile():
        raise ValueError("This scene was never saved: give the path of a file to save it in.")
    target = Path(path or hou.hipFile.path())
    if not target.parent.is_dir():
        raise ValueError(f"{target} cannot be written: there is no folder {target.parent}.")
    over = ", over the file that is there" if target.exists() else ", a new file"
    agreed = confirm_sync(
        f"Save the scene as {target}{over}?",
        verb="Save",
        undoable=False,
        files=[target],
        title="Save scene",
    )
    try:
        hou.hipFile.save(target.as_posix())
    except hou.OperationFailed as error:
        raise ValueError(f"{target} was not written: {error}") from error
    saved = hou.hipFile.path()  # a licence may have given it another suffix
    return {"saved": saved} | ({"copy": str(agreed.checkpoint)} if agreed.checkpoint else {})
