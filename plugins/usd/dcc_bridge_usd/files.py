"""Scenes on disk: read whole or not at all, written whole or not at all. Main thread.

The facts about USD here were measured with usd-core 26.11.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Container, Iterable, Sequence
from pathlib import Path
from typing import Final

from pxr import Ar, Sdf, Tf, Usd, UsdUtils

from dcc_bridge.spi import retry_while_held

from .layer_copies import copy_of
from .locks import Locks

SUFFIXES: Final = (".usd", ".usda", ".usdc")
PACKAGE: Final = ".usdz"  # a file that USD reads, and writes in no other way than whole and anew
_CRATE: Final = b"PXR-USDC"

if sys.platform == "win32":
    # USD keeps a binary file mapped for as long as it is open, and Windows replaces none that is.
    Sdf.Layer.SetDetachedLayerRules(Sdf.Layer.DetachedLayerRules().IncludeAll())


def absolute(path: Path | str, suffixes: Sequence[str] = SUFFIXES) -> Path:
    """Return the absolute path of a scene.

    Args:
        path: The path.
        suffixes: Those that it may have.

    Raises:
        ValueError: The path has no suffix of a scene.
    """
    whole = Path(os.path.abspath(Path(path).expanduser()))
    if whole.suffix.lower() not in suffixes:
        raise ValueError(f"{whole.name} is not a scene: it must end in {', '.join(suffixes)}.")
    return whole


def is_package(path: Path) -> bool:
    """Return whether a file is one that holds a whole scene, which can only be read."""
    return path.suffix.lower() == PACKAGE


def read(path: Path) -> Usd.Stage:
    """Open a scene as it is on disk, not as it is in memory with unsaved edits.

    Raises:
        OSError: There is no such file, or it cannot be read.
        ValueError: The file, or a file that it uses, is not a readable USD file.
    """
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
    """Check that all files can be read: a reload that stops at a broken file has harmed others.

    Raises:
        ValueError: A file is not a readable USD file.
    """
    for layer in stage.GetUsedLayers():
        try:
            if not layer.anonymous:
                Sdf.Layer.OpenAsAnonymous(layer.realPath)
        except Tf.ErrorException as error:
            raise _unreadable(Path(layer.realPath), error) from error


def write(layer: Sdf.Layer, path: Path) -> None:
    """Write a layer to a file, or leave the file as it was.

    Raises:
        OSError: The file cannot be written; the message says why.
    """
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
            retry_while_held(lambda: os.replace(part, target))
    except (OSError, Tf.ErrorException) as error:
        raise OSError(f"{path.name} cannot be saved: {_reason(error)}. It is as it was.") from error


def _export(layer: Sdf.Layer, part: Path, target: Path) -> None:
    arguments = {}
    if _is_text(target):
        arguments["format"] = "usda"
    layer.Export(str(part), args=arguments)
    if target.exists():
        shutil.copymode(target, part)
    with part.open("rb+") as file:  # Windows flushes no file that is open to be read only
        os.fsync(file.fileno())


def _is_text(target: Path) -> bool:
    """Return whether a file is a .usd file with text, which USD by itself would make binary."""
    if target.suffix != ".usd" or not target.exists():
        return False
    with target.open("rb") as file:
        return file.read(len(_CRATE)) != _CRATE


def _unreadable(path: Path, error: Tf.ErrorException) -> ValueError:
    position = re.search(r":(\d+):\d+: ", str(error))
    line = ""
    if position:
        line = f" (line {position[1]})"
    return ValueError(f"{path.name} is not a readable USD file{line}.")


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    reasons = re.findall(r": '(.*?)'\s*$", str(error), re.MULTILINE)
    return str(reasons[0]) if reasons else "USD could not write it"


def write_sublayers(layers: Iterable[Sdf.Layer], locks: Locks) -> None:
    """Write sublayers to their files, but none of them if one has no file or is locked.

    Raises:
        OSError: A file cannot be written.
        ValueError: A sublayer has no file, or is locked.
    """
    layers = list(layers)
    for layer in layers:
        if layer.anonymous or not locks.may_save(layer):
            why = "has no file" if layer.anonymous else "must not be saved"
            raise ValueError(f"The sublayer {layer.GetDisplayName() or 'in memory'} {why}.")
    for layer in layers:
        write(layer, Path(layer.realPath))


def save_as(stage: Usd.Stage, target: Path, fit: Callable[[Sdf.Layer], None]) -> Usd.Stage:
    """Write a stage's root layer to another file, and open that file in its place.

    Args:
        stage: The stage.
        target: The file.
        fit: Fits the paths of a layer to that file, as `path_fitter` returns it.

    Returns:
        The new stage. Session layer, muting and load rules are the same.

    Raises:
        OSError: The file cannot be written.
        ValueError: The file is a part of the scene itself.
    """
    known = Sdf.Layer.Find(str(target))
    if known and known in stage.GetUsedLayers():
        raise ValueError(f"{target.name} is a part of this scene: choose another name.")
    # `Sdf.Layer.identifier` can give a layer another name, but not across formats, and does not
    # notice that a layer of that name exists.
    write_copy(stage.GetRootLayer(), target, fit)
    if known:
        known.Reload(force=True)
    return _reopen(stage, Sdf.Layer.FindOrOpen(str(target)))


def untitled(name: str) -> Usd.Stage:
    """Make an empty stage in memory.

    Args:
        name: What the root layer is called.
    """
    return Usd.Stage.Open(_layer_in_memory(name))


def untitled_copy(name: str, stage: Usd.Stage) -> tuple[Usd.Stage, frozenset[str]]:
    """Copy a stage into memory.

    Args:
        name: What the root layer is called.
        stage: Whose root layer is copied.

    Returns:
        The copy, and its paths that were relative in the stage. A layer without a folder can only
        have absolute ones; once it is saved, these become relative again.
    """
    made_absolute: set[str] = set()

    def from_anywhere(path: str) -> str:
        whole = _from_anywhere(source, path)
        if whole != path:
            made_absolute.add(whole)
        return whole

    source = stage.GetRootLayer()
    copy = _layer_in_memory(name)
    copy.TransferContent(source)
    UsdUtils.ModifyAssetPaths(copy, from_anywhere)
    return Usd.Stage.Open(copy), frozenset(made_absolute)


def _layer_in_memory(name: str) -> Sdf.Layer:
    # Else a name that ends as that of a package makes no layer.
    text = Sdf.FileFormat.FindByExtension("usda")
    return Sdf.Layer.CreateAnonymous(name, text)


def _from_anywhere(layer: Sdf.Layer, path: str) -> str:
    """Return a path of a layer as one that leads to the same file from a layer without a folder.

    What USD searches for ("asset/x.usd", no dots) is changed only if it lies beside the layer.
    """
    if not path or "${" in path or ":" in path or os.path.isabs(path):
        return path
    whole = layer.ComputeAbsolutePath(path)
    if path.startswith("."):
        return whole
    is_there = bool(Ar.GetResolver().Resolve(whole))
    return whole if is_there else path


def write_copy(root: Sdf.Layer, target: Path, fit: Callable[[Sdf.Layer], None]) -> None:
    """Write a root layer to another file, from where its paths lead to the same files.

    Args:
        root: The layer.
        target: The file.
        fit: Fits the paths of a layer to that file, as `path_fitter` returns it.

    Raises:
        OSError: The file cannot be written.
    """
    copy = copy_of(root)
    fit(copy)
    write(copy, target)


def path_fitter(
    root: Sdf.Layer, new: Path, made_absolute: Container[str] = ()
) -> Callable[[Sdf.Layer], None]:
    """Return the function that fits paths to a new file of a layer.

    Args:
        root: The layer. If it has no file, its relative paths have not to be fitted.
        new: The file that it will have.
        made_absolute: The absolute paths that become relative to the new file.
    """
    old_folder = new.parent if root.anonymous else Path(root.realPath).parent
    return lambda layer: relocate(layer, old_folder, new.parent, made_absolute)


def _reopen(stage: Usd.Stage, root: Sdf.Layer) -> Usd.Stage:
    """Open a root layer with what another stage keeps in no layer."""
    new = Usd.Stage.Open(root, stage.GetSessionLayer())
    new.SetLoadRules(stage.GetLoadRules())
    new.MuteAndUnmuteLayers(stage.GetMutedLayers(), [])
    target = stage.GetEditTarget().GetLayer()
    if target != stage.GetRootLayer():
        new.SetEditTarget(target)
    return new


def relocate(layer: Sdf.Layer, old: Path, new: Path, made_absolute: Container[str] = ()) -> None:
    """Make a layer's paths point to the same files from a new folder.

    A path that USD searches for ("asset/x.usd", no dots) is changed only if it lies beside the old
    file. A path with a variable expression is left alone, since USD gives us only its inside.

    Args:
        layer: The layer.
        old: The folder in which the layer lay.
        new: The folder in which the layer will be saved.
        made_absolute: The absolute paths that become relative; others stay as they are.
    """

    def fitted(path: str) -> str:
        if path in made_absolute:
            return _seen_from(new, path)
        return _moved(path, old, new)

    if old != new or made_absolute:
        UsdUtils.ModifyAssetPaths(layer, fitted)


def _moved(path: str, old: Path, new: Path) -> str:
    """Return a path as it is written in a new folder; see `relocate`."""
    if old == new or not path or "${" in path or ":" in path or os.path.isabs(path):
        return path
    outer, bracket, inner = path.partition("[")
    if not outer.startswith(("./", "../")) and not (old / outer).exists():
        return path
    return _seen_from(new, str(old / outer)) + bracket + inner


def _seen_from(folder: Path, path: str) -> str:
    """Return an absolute path as it is written in a folder; as it is on another drive."""
    outer, bracket, inner = path.partition("[")
    try:
        seen = os.path.relpath(outer, folder)
    except ValueError:
        seen = os.path.abspath(outer)
    if not os.path.isabs(seen) and not seen.startswith(".."):
        seen = f"./{seen}"
    return seen.replace(os.sep, "/") + bracket + inner
