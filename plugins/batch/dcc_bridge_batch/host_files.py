"""Opens and saves scenes in a host's own process, for each application. Main thread.

These calls run outside of any skill, as if a person made them: the plan decides whether a scene may
be replaced. The calls of Maya and Houdini follow their references, and were never run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from dcc_bridge.spi import Host, digest

_MAX_CONTENT_BYTES: Final = 64_000_000  # of the files of a scene whose whole content is compared
_FREECAD_BACKUPS: Final = "CreateBackupFiles"  # a parameter of FreeCAD


class FileCalls(NamedTuple):
    """The calls of an application: open another scene, and save it to its own file."""

    open: Callable[[Any, Path], None]
    save: Callable[[Any], None]


def content(host: Any) -> str | None:
    """Return the digest of the whole content of a scene, with all values.

    None for other hosts than USD, and for large scenes.
    """
    stage = getattr(host, "stage", None)
    if stage is None:
        return None
    size = sum(file.stat().st_size for file in host.files())
    if size > _MAX_CONTENT_BYTES:
        return None
    layers = stage.GetLayerStack(includeSessionLayers=False)
    return digest([layer.ExportToString() for layer in layers])


def _open_usd(host: Any, path: Path) -> None:
    host.open(path)


def _save_usd(host: Any) -> None:
    host.save()


def _open_blend(host: Any, path: Path) -> None:
    import bpy

    preferences = bpy.context.preferences
    if preferences is not None:
        preferences.filepaths.save_version = 0  # no ``.blend1`` beside each scene
    # Scripts in a file do not run. Its window layout is not loaded: nobody looks at the windows.
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=False)
    if Path(bpy.data.filepath) != path:
        raise OSError(f"Blender did not open {path.name}.")
    # Blender evaluates part of a file after loading, which must not count as the skill's edit.
    with host.undo_step("Open"):
        for scene in bpy.data.scenes:
            for layer in scene.view_layers:
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
    # The user may have set that FreeCAD keeps backups, ``.FCBak``, beside each file. The setting is
    # restored, because FreeCAD saves its settings on exit.
    settings = FreeCAD.ParamGet("User parameter:BaseApp/Preferences/Document")
    names = settings.GetBools() or ()
    is_set = _FREECAD_BACKUPS in names
    before = settings.GetBool(_FREECAD_BACKUPS, True)
    settings.SetBool(_FREECAD_BACKUPS, False)
    try:
        document.save()
    finally:
        if is_set:
            settings.SetBool(_FREECAD_BACKUPS, before)
        else:
            settings.RemBool(_FREECAD_BACKUPS)


def _open_maya(host: Any, path: Path) -> None:
    from maya import cmds

    # `executeScriptNodes=False` keeps a scene's own code from running as the scene opens.
    cmds.file(path.as_posix(), open=True, force=True, executeScriptNodes=False)


def _save_maya(host: Any) -> None:
    from maya import cmds

    cmds.file(save=True, force=True)  # in the type that the file has


def _open_houdini(host: Any, path: Path) -> None:
    import hou

    # Without `ignore_load_warnings` a warning, such as that an asset is missing, is an error.
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
    """List the files that a save would overwrite besides the scene's own; no plan covers them."""
    own = host.file()
    return [file for file in host.files() if file != own]
