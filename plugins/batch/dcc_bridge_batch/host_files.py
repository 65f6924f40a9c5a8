"""Opens and saves scenes in a host's own process, by the host's name. Main thread.

It is done as the person would do it, outside of any skill: whether a scene may be replaced is what
the plan says. What stands here of Maya and Houdini is by their references, and was not run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from dcc_bridge.spi import Host, digest

_MOST_CONTENT: Final = 64_000_000  # bytes of a file whose whole content is compared
_BACKUPS: Final = "CreateBackupFiles"  # FreeCAD's name of it, in its reference of parameters


class FileCalls(NamedTuple):
    """The calls that open a scene in place of the open one, and save it to its own file."""

    open: Callable[[Any, Path], None]
    save: Callable[[Any], None]


def content(host: Any) -> str | None:
    """Digest what a scene holds, values and all; None where a host cannot tell, or it is large."""
    stage = getattr(host, "stage", None)
    if stage is None or sum(it.stat().st_size for it in host.files()) > _MOST_CONTENT:
        return None
    layers = stage.GetLayerStack(includeSessionLayers=False)
    return digest([it.ExportToString() for it in layers])


def _open_usd(host: Any, path: Path) -> None:
    host.open(path)


def _save_usd(host: Any) -> None:
    host.save()


def _open_blend(host: Any, path: Path) -> None:
    import bpy

    preferences = bpy.context.preferences
    if preferences is not None:
        preferences.filepaths.save_version = 0  # no ``.blend1`` beside each scene
    # Scripts in a file do not run, and the layout of windows stays ours: nobody looks at it.
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
    if Path(bpy.data.filepath) != path:
        raise OSError(f"Blender did not open {path.name}.")
    with host.undo_step("Open"):  # what a load leaves to be evaluated is no edit of the skill's
        for layer in [it for scene in bpy.data.scenes for it in scene.view_layers]:
            layer.update()


def _save_blend(host: Any) -> None:
    import bpy

    if "FINISHED" not in bpy.ops.wm.save_mainfile(check_existing=False):
        raise OSError("Blender did not save the scene.")


def _open_freecad(host: Any, path: Path) -> None:
    import FreeCAD

    for name in list(FreeCAD.listDocuments()):
        FreeCAD.closeDocument(name)
    document = FreeCAD.openDocument(str(path))
    FreeCAD.setActiveDocument(document.Name)


def _save_freecad(host: Any) -> None:
    import FreeCAD

    document = FreeCAD.ActiveDocument
    document.recompute()
    # It keeps copies beside the file, ``.FCBak``, as the user set it for their own work. What is
    # set here would be theirs too: FreeCAD writes its settings down as it ends.
    settings = FreeCAD.ParamGet("User parameter:BaseApp/Preferences/Document")
    is_set = _BACKUPS in (settings.GetBools() or ())
    was = settings.GetBool(_BACKUPS, True)
    settings.SetBool(_BACKUPS, False)
    try:
        document.save()
    finally:
        if is_set:
            settings.SetBool(_BACKUPS, was)
        else:
            settings.RemBool(_BACKUPS)


def _open_maya(host: Any, path: Path) -> None:
    from maya import cmds

    # `executeScriptNodes=False` keeps code that a scene brings from running as it opens.
    cmds.file(path.as_posix(), open=True, force=True, executeScriptNodes=False)


def _save_maya(host: Any) -> None:
    from maya import cmds

    cmds.file(save=True, force=True)  # in the type that the file has


def _open_houdini(host: Any, path: Path) -> None:
    import hou

    # A warning as it loads, such as of an asset that is missing, is an error: it is not ignored.
    hou.hipFile.load(path.as_posix(), suppress_save_prompt=True)


def _save_houdini(host: Any) -> None:
    import hou

    hou.hipFile.save(save_to_recent_files=False)


CALLS: Final[dict[str, FileCalls]] = {
    "usd": FileCalls(_open_usd, _save_usd),
    "blender": FileCalls(_open_blend, _save_blend),
    "freecad": FileCalls(_open_freecad, _save_freecad),
    "maya": FileCalls(_open_maya, _save_maya),
    "houdini": FileCalls(_open_houdini, _save_houdini),
}


def foreign_files(host: Host) -> list[Path]:
    """List what a save would write over besides the scene's own file: no plan speaks of it."""
    own = host.file()
    return [file for file in host.files() if file != own]
