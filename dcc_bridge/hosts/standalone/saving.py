"""What a save has to do around writing the root layer. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from pxr import Sdf, Usd, UsdUtils

from dcc_bridge.hosts.standalone import files
from dcc_bridge.hosts.standalone.relocate import relocate
from dcc_bridge.hosts.standalone.snapshot import Snapshot


def write_sublayers(layers: Iterable[Sdf.Layer]) -> None:
    """Write sublayers to their files, but none of them if one has no file or is locked.

    Raises:
        OSError: One cannot be written.
        ValueError: One has no file, or must not be saved.
    """
    layers = list(layers)
    for layer in layers:
        if layer.anonymous or not layer.permissionToSave:
            why = "has no file" if layer.anonymous else "must not be saved"
            raise ValueError(f"The sublayer {layer.GetDisplayName() or 'in memory'} {why}.")
    for layer in layers:
        files.write(layer, Path(layer.realPath))


def save_as(stage: Usd.Stage, target: Path) -> Usd.Stage:
    """Write a stage's root layer to another file, and open that one in its place.

    USD can give a layer another name instead (``Sdf.Layer.identifier``), but not across formats,
    and does not notice that a layer of that name exists.

    Returns:
        A stage with the new root layer, the same session layer, mutings and load rules.

    Raises:
        OSError: The file cannot be written.
        ValueError: The scene itself consists of that file.
    """
    known = Sdf.Layer.Find(str(target))
    if known and known in stage.GetUsedLayers():
        raise ValueError(f"{target.name} is a part of this scene: choose another name.")
    write_copy(stage.GetRootLayer(), target)
    if known:
        known.Reload(force=True)
    return _reopen(stage, Sdf.Layer.FindOrOpen(str(target)))


def untitled(stage: Usd.Stage) -> Usd.Stage:
    """Make a stage in memory that holds what the root layer of another one does."""
    source, made = stage.GetRootLayer(), Usd.Stage.CreateInMemory()
    copy = made.GetRootLayer()
    copy.TransferContent(source)
    UsdUtils.ModifyAssetPaths(
        copy, lambda path: source.ComputeAbsolutePath(path) if path.startswith(".") else path
    )
    return made


def write_copy(root: Sdf.Layer, target: Path) -> None:
    """Write what a root layer holds to another file, in which its relative paths still lead there.

    Raises:
        OSError: The file cannot be written.
    """
    copy = Snapshot.take(root).content
    mover(None if root.anonymous else Path(root.realPath), target)(copy)
    files.write(copy, target)


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
