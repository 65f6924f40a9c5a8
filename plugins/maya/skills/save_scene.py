"""Save the scene."""

from __future__ import annotations

from pathlib import Path

from maya import cmds

from dcc_bridge import confirm_sync, skill

_KINDS = {".ma": "mayaAscii", ".mb": "mayaBinary"}


@skill(risk="destructive", confirms=True, replaced_by="save")
def save_scene(path: str | None = None) -> dict[str, str]:
    """Save the open scene. Its file is overwritten, and undo does not bring that back.

    The person is asked before, and a copy of the file that is written over is kept.

    Args:
        path: Another file to save it in, ending in .ma or .mb, which is the scene's own from then
            on. Leave it out to save it where it is.

    Returns:
        The file that was written, and the folder with the copy where a file was written over.
    """
    old = str(cmds.file(query=True, sceneName=True))
    target = Path(path or old)
    if not (path or old):
        raise ValueError("This scene was never saved: give the path of a file to save it in.")
    if target.suffix not in _KINDS or not target.parent.is_dir():
        raise ValueError(
            f"{target} cannot be written: name a .ma or .mb file in a folder that is there."
        )
    over = ", over the file that is there" if target.exists() else ", a new file"
    agreed = confirm_sync(
        f"Save the scene as {target}{over}?",
        verb="Save",
        undoable=False,
        files=[target],
        title="Save scene",
    )
    cmds.file(rename=target.as_posix())
    try:
        cmds.file(save=True, force=True, type=_KINDS[target.suffix])
    except RuntimeError as error:
        cmds.file(rename=old)
        raise ValueError(f"{target} was not written: {str(error).strip()}") from error
    return {"saved": str(target)} | ({"copy": str(agreed.checkpoint)} if agreed.checkpoint else {})
