"""Save the document."""

from __future__ import annotations

from pathlib import Path

from dcc_bridge import confirm_sync, skill
from dcc_bridge.hosts.freecad.freecad_document import document


@skill(risk="destructive", confirms=True, replaced_by="save")
def save_document(path: str | None = None) -> dict[str, str]:
    """Save the active document. Its file is overwritten, and undo does not bring that back.

    The person is asked before, and a copy of the file that is written over is kept.

    Args:
        path: Another file to save it in, ending in .FCStd, which is the document's own from then
            on. Leave it out to save it where it is.

    Returns:
        The file that was written, and the folder with the copy where a file was written over.
    """
    if not (path or document().FileName):
        raise ValueError("This document was never saved: give the path of a file to save it in.")
    target = Path(path or document().FileName)
    if target.suffix.lower() != ".fcstd" or not target.is_absolute() or not target.parent.is_dir():
        raise ValueError(
            f"{target} cannot be written: name a .FCStd file by its whole path, in a folder that "
            "is there."
        )
    over = ", over the file that is there" if target.exists() else ", a new file"
    agreed = confirm_sync(
        f"Save {document().Label} as {target}{over}?",
        verb="Save",
        undoable=False,
        files=[target],
        title="Save document",
    )
    before = target.stat().st_mtime_ns if target.exists() else 0
    document().saveAs(str(target))
    if not target.exists() or target.stat().st_mtime_ns == before:  # FreeCAD does not tell
        raise ValueError(f"FreeCAD did not write {target}.")
    return {"saved": str(target)} | ({"copy": str(agreed.checkpoint)} if agreed.checkpoint else {})
