"""The sublayers of a scene, and the layer that edits go to, as its settings. Main thread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pxr import Sdf, Usd, UsdGeom

from .. import files


def sublayers(stage: Usd.Stage) -> list[str]:
    """Return the paths of the sublayers, the strongest first, as the root layer has them."""
    paths: Any = stage.GetRootLayer().subLayerPaths
    return [str(path) for path in paths]


def set_sublayers(stage: Usd.Stage, value: Any) -> None:
    """Add, remove and order sublayers, and keep the time offset of each that stays.

    A file that is not there becomes a new layer, which the next save writes.

    Raises:
        ValueError: The value is no list of paths, or a layer cannot be added or removed.
    """
    if not isinstance(value, list) or not all(isinstance(path, str) and path for path in value):
        raise ValueError("sublayers are paths of USD files, in a list.")
    if len(set(value)) < len(value):
        raise ValueError("sublayers are named once each.")
    root: Any = stage.GetRootLayer()
    _check_target_stays(stage, value)
    added = [path for path in value if path not in root.subLayerPaths]
    _kept = [_found_or_made(stage, path) for path in added]  # until the scene keeps them
    offsets = dict(zip(root.subLayerPaths, root.subLayerOffsets, strict=True))
    root.subLayerPaths[:] = value
    for index, path in enumerate(value):
        root.subLayerOffsets[index] = offsets.get(path, Sdf.LayerOffset())


def _check_target_stays(stage: Usd.Stage, paths: list[str]) -> None:
    """Check that the layer that edits go to is not among those that are removed."""
    root = stage.GetRootLayer()
    for path in sublayers(stage):
        layer = Sdf.Layer.Find(root.ComputeAbsolutePath(path))
        if path not in paths and layer and layer == stage.GetEditTarget().GetLayer():
            raise ValueError(f"{path} is the edit_target: choose another one first.")


def _found_or_made(stage: Usd.Stage, path: str) -> Sdf.Layer:
    """Return an opened layer, or a new one with the units of the scene, which a save writes.

    Raises:
        ValueError: The file is no layer, or is the scene itself.
    """
    root = stage.GetRootLayer()
    if root.anonymous and not Path(path).is_absolute():
        raise ValueError(f"Save the scene first: {path} is relative to its file.")
    file = files.absolute(Path(root.ComputeAbsolutePath(path)))
    if str(file) == root.realPath:
        raise ValueError(f"{path} is this scene itself.")
    if file.is_file() or Sdf.Layer.Find(str(file)):
        return Sdf.Layer.FindOrOpen(str(file))
    if not file.parent.is_dir():
        raise ValueError(f"There is no folder {file.parent}.")
    new = Sdf.Layer.New(Sdf.FileFormat.FindByExtension(file.suffix), str(file))
    new.pseudoRoot.SetInfo("upAxis", UsdGeom.GetStageUpAxis(stage))
    new.pseudoRoot.SetInfo("metersPerUnit", UsdGeom.GetStageMetersPerUnit(stage))
    return new


def target(stage: Usd.Stage) -> str:
    """Return the name of the layer that edits go to."""
    return str(stage.GetEditTarget().GetLayer().GetDisplayName())


def layer_called(stage: Usd.Stage, name: Any) -> Sdf.Layer:
    """Return a layer of the scene by its name, or by its path as the root layer has it.

    Raises:
        ValueError: There is no such layer; the message names what there is.
    """
    layers = stage.GetLayerStack(includeSessionLayers=False)
    root = stage.GetRootLayer()
    for layer in layers:
        whole = root.ComputeAbsolutePath(str(name)) if name else ""
        if layer.identifier in (name, whole) or layer.GetDisplayName() == name:
            return layer
    names = ", ".join(layer.GetDisplayName() for layer in layers)
    raise ValueError(f"edit_target is one of {names}, not {name!r}.")
