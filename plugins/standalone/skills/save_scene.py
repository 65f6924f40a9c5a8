"""Save the scene."""

from __future__ import annotations

from pathlib import Path

from dcc_bridge import confirm_sync, skill
from dcc_bridge.hosts.standalone import files, session


@skill(risk="destructive", confirms=True, replaced_by="save")
def save_scene(path: str | None = None) -> dict[str, str]:
    """Save the open scene with its unsaved sublayers. Files are overwritten; undo does not help.

    The person is asked before, and copies of the files that are written over are kept.

    Args:
        path: Another file to save it in, ending in .usd, .usda or .usdc, which is the scene's own
            from then on. Leave it out to save it where it is.

    Returns:
        The file that was written, and the folder with the copies where files were written over.
    """
    scene = session()
    target = files.absolute(path) if path is not None else scene.path
    if target is None:
        raise ValueError("This scene was never saved: give the path of a file to save it in.")
    if not target.parent.is_dir():
        raise ValueError(f"{target.name} cannot be saved: there is no folder {target.parent}.")
    agreed = confirm_sync(
        lambda _: _question(scene.scene(), target, _others(target)),
        verb="Save",
        undoable=False,
        files=lambda: [target, *_others(target)],
        title="Save scene",
    )
    try:
        saved = {"saved": str(scene.save(target))}
    except OSError as error:
        raise ValueError(str(error)) from error
    return saved | ({"copies": str(agreed.checkpoint)} if agreed.checkpoint else {})


def _others(target: Path) -> list[Path]:
    """List the sublayers that are saved too."""
    scene = session()
    return [file for file in scene.files() if file not in (target, scene.path)]


def _question(scene: str, target: Path, others: list[Path]) -> str:
    over = ", over the file that is there" if target.exists() else ", a new file"
    where = f"{scene}{over}" if target == session().path else f"{scene} as {target}{over}"
    more = "\n".join(["", "Its unsaved sublayers are written too:", *map(str, others)])
    return f"Save {where}?{more if others else ''}"
