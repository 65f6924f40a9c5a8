"""Scenes on disk: read whole or not at all, written whole or not at all. Main thread.

What is said here of USD was measured with usd-core 26.11.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from pxr import Sdf, Tf, Usd, UsdUtils

from .layer_copies import copy_of
from .locks import Locks

SUFFIXES: Final = (".usd", ".usda", ".usdc")
_CRATE: Final = b"PXR-USDC"

if sys.platform == "win32":
    # USD keeps a binary file mapped for as long as it is open, and Windows replaces none that is.
    Sdf.Layer.SetDetachedLayerRules(Sdf.Layer.DetachedLayerRules().IncludeAll())


def absolute(path: Path | str) -> Path:
    """Give the path of a scene as it is kept; ValueError where it has no suffix of a scene."""
    whole = Path(os.path.abspath(Path(path).expanduser()))
    if whole.suffix.lower() not in SUFFIXES:
        raise ValueError(f"{whole.name} is not a scene: it must end in {', '.join(SUFFIXES)}.")
    return whole


def read(path: Path) -> Usd.Stage:
    """Open what is on disk, not what was made of it in memory; OSError, ValueError say why not."""
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if not path.is_file() or not os.access(path, os.R_OK):
        raise PermissionError(f"{path} cannot be read.")
    is_known = bool(Sdf.Layer.Find(str(path)))
    try:
        stage = Usd.Stage.Open(str(path))
    except Tf.ErrorException as error:
        raise _unreadable(path, error) from error
    if is_known:
        _check_all(stage)
    # A file that USD has in memory is opened as it is there, unsaved edits included.
    stage.Reload()
    return stage


def _check_all(stage: Usd.Stage) -> None:
    """See that a reload will go well; one that stops at a broken file has harmed others by then."""
    for layer in stage.GetUsedLayers():
        try:
            if not layer.anonymous:
                Sdf.Layer.OpenAsAnonymous(layer.realPath)
        except Tf.ErrorException as error:
            raise _unreadable(Path(layer.realPath), error) from error


def write(layer: Sdf.Layer, path: Path) -> None:
    """Write a layer to a file, or leave the file as it was; OSError says why."""
    target = path.resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path.name} cannot be saved: there is no folder {target.parent}.")
    if target.exists() and not (os.access(target, os.W_OK) and target.stat().st_mode & 0o222):
        raise PermissionError(f"{path.name} cannot be saved: the file is read-only.")
    # `Sdf.Layer.Save` and `Export` write to a file beside the target, but move it there even when
    # writing failed: with a full disk the good scene is replaced by a part of the new one. So USD
    # writes to a file of ours, which is moved only after all went well. It lies in a new folder
    # that only its user can enter: USD follows a link that somebody else has put in its place.
    try:
        with tempfile.TemporaryDirectory(
            prefix=".dcc_bridge-", dir=target.parent, ignore_cleanup_errors=True
        ) as folder:
            part = Path(folder, target.name)
            _export(layer, part, target)
            os.replace(part, target)
    except (OSError, Tf.ErrorException) as error:
        raise OSError(f"{path.name} cannot be saved: {_reason(error)}. It is as it was.") from error


def _export(layer: Sdf.Layer, part: Path, target: Path) -> None:
    layer.Export(str(part), args={"format": "usda"} if _is_text(target) else {})
    if target.exists():
        shutil.copymode(target, part)
    with part.open("rb+") as file:  # Windows flushes no file that is open to be read only
        os.fsync(file.fileno())


def _is_text(target: Path) -> bool:
    """Whether it is a .usd file that holds text, which USD by itself would make binary."""
    if target.suffix != ".usd" or not target.exists():
        return False
    with target.open("rb") as file:
        return file.read(len(_CRATE)) != _CRATE


def _unreadable(path: Path, error: Tf.ErrorException) -> ValueError:
    position = re.search(r":(\d+):\d+: ", str(error))
    line = f" (line {position[1]})" if position else ""
    return ValueError(f"{path.name} is not a readable USD file{line}.")


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    reasons = re.findall(r": '(.*?)'\s*$", str(error), re.MULTILINE)
    return str(reasons[0]) if reasons else "USD could not write it"


def write_sublayers(layers: Iterable[Sdf.Layer], locks: Locks) -> None:
    """Write sublayers to their files, but none of them if one has no file or is locked."""
    layers = list(layers)
    for layer in layers:
        if layer.anonymous or not locks.may_save(layer):
            why = "has no file" if layer.anonymous else "must not be saved"
            raise ValueError(f"The sublayer {layer.GetDisplayName() or 'in memory'} {why}.")
    for layer in layers:
        write(layer, Path(layer.realPath))


def save_as(stage: Usd.Stage, target: Path) -> Usd.Stage:
    """Write a stage's root layer to another file, and open that one in its place.

    Session layer, mutings and load rules stay. OSError, or ValueError where the scene itself
    consists of that file.
    """
    known = Sdf.Layer.Find(str(target))
    if known and known in stage.GetUsedLayers():
        raise ValueError(f"{target.name} is a part of this scene: choose another name.")
    # `Sdf.Layer.identifier` can give a layer another name, but not across formats, and does not
    # notice that a layer of that name exists.
    write_copy(stage.GetRootLayer(), target)
    if known:
        known.Reload(force=True)
    return _reopen(stage, Sdf.Layer.FindOrOpen(str(target)))


def untitled(name: str, stage: Usd.Stage | None = None) -> Usd.Stage:
    """Make a stage in memory, which may hold what the root layer of another one does."""
    copy_stage = Usd.Stage.CreateInMemory(name)
    if stage is None:
        return copy_stage
    source, copy = stage.GetRootLayer(), copy_stage.GetRootLayer()
    copy.TransferContent(source)
    UsdUtils.ModifyAssetPaths(
        copy, lambda path: source.ComputeAbsolutePath(path) if path.startswith(".") else path
    )
    return copy_stage


def write_copy(root: Sdf.Layer, target: Path) -> None:
    """Write a root layer to another file, in which its relative paths still lead to the same."""
    copy = copy_of(root)
    mover(None if root.anonymous else Path(root.realPath), target)(copy)
    write(copy, target)


def mover(old: Path | None, new: Path) -> Callable[[Sdf.Layer], None]:
    """Give what fits a layer to its new file; a scene that had none has nothing to fit."""
    return lambda layer: relocate(layer, old.parent if old else new.parent, new.parent)


def _reopen(stage: Usd.Stage, root: Sdf.Layer) -> Usd.Stage:
    new = Usd.Stage.Open(root, stage.GetSessionLayer())
    new.SetLoadRules(stage.GetLoadRules())
    new.MuteAndUnmuteLayers(stage.GetMutedLayers(), [])
    target = stage.GetEditTarget().GetLayer()
    if target != stage.GetRootLayer():
        new.SetEditTarget(target)
    return new


def relocate(layer: Sdf.Layer, old: Path, new: Path) -> None:
    """Make a layer's relative paths point to the same files from a new folder, where it is saved.

    A path that USD searches for ("asset/x.usd", no dots) is changed only if it lies beside the old
    file. A path with a variable expression is left alone, since USD gives us only its inside.
    """
    if old != new:
        UsdUtils.ModifyAssetPaths(layer, lambda path: _moved(path, old, new))


def _moved(path: str, old: Path, new: Path) -> str:
    if not path or "${" in path or ":" in path or os.path.isabs(path):
        return path
    outer, bracket, inner = path.partition("[")
    if not outer.startswith(("./", "../")) and not (old / outer).exists():
        return path
    try:
        moved = os.path.relpath(old / outer, new)
    except ValueError:  # another drive
        moved = os.path.abspath(old / outer)
    dots = "" if os.path.isabs(moved) or moved.startswith("..") else "./"
    return (dots + moved).replace(os.sep, "/") + bracket + inner
