"""The layers of a scene as its settings: which there are, are edited, muted and loaded.

Main thread.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from pxr import Ar, Sdf, Usd, UsdGeom

from .. import files
from ..prims import require
from ..views import StageView, layer_names, names_of_muted, sublayers_in, with_loaded


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
    root: Any = stage.GetRootLayer()
    paths = [_beside(root, path) for path in value]
    if len(set(paths)) < len(paths):
        raise ValueError("sublayers are named once each.")
    _check_target_stays(stage, paths)
    added = [path for path in paths if path not in root.subLayerPaths]
    _kept = [_found_or_made(stage, path) for path in added]  # until the scene keeps them
    offsets = dict(zip(root.subLayerPaths, root.subLayerOffsets, strict=True))
    root.subLayerPaths[:] = paths
    for index, path in enumerate(paths):
        root.subLayerOffsets[index] = offsets.get(path, Sdf.LayerOffset())


def _beside(root: Any, path: str) -> str:
    """Return the path of a layer; a new file comes beside the scene.

    USD looks for "anim.usda" along its search paths, and in the end in the working folder, where
    "./anim.usda" is beside the scene.
    """
    whole = root.ComputeAbsolutePath(path)
    is_found = path in root.subLayerPaths or Ar.GetResolver().Resolve(whole)
    if is_found or path.startswith(".") or Path(path).is_absolute():
        return path
    return f"./{path}"


def _check_target_stays(stage: Usd.Stage, paths: list[str]) -> None:
    """Check that the layer that edits go to is not among those that are removed."""
    root = stage.GetRootLayer()
    for path in sublayers(stage):
        layer = Sdf.Layer.FindRelativeToLayer(root, path)
        if path in paths or not layer:
            continue
        if stage.GetEditTarget().GetLayer() in (layer, *sublayers_in(layer)):
            raise ValueError(f"{path} is the edit_target, or has it: choose another one first.")


def _found_or_made(stage: Usd.Stage, path: str) -> Sdf.Layer:
    """Return an opened layer, or a new one with the units of the scene, which a save writes.

    Raises:
        ValueError: The file is no layer, or is the scene itself.
    """
    root = stage.GetRootLayer()
    if ":SDF_FORMAT_ARGS:" in path:
        raise ValueError(f"{path!r} cannot be a sublayer: a file's name has no SDF_FORMAT_ARGS.")
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
    layer = stage.GetEditTarget().GetLayer()
    return layer_names(stage).get(layer) or str(layer.GetDisplayName())


def layer_called(stage: Usd.Stage, name: Any) -> Sdf.Layer:
    """Return a layer of the scene that edits can go to.

    Args:
        stage: The scene.
        name: The name of the layer, or its path as the root layer has it.

    Raises:
        ValueError: There is no such layer, or several; the message names what there is.
    """
    layers = stage.GetLayerStack(includeSessionLayers=False)
    layer = _called(stage, name, layers)
    if layer is None:
        raise ValueError(f"edit_target is one of {_names(stage, layers)}, not {name!r}.")
    return layer


def _called(stage: Usd.Stage, name: Any, layers: Collection[Sdf.Layer]) -> Sdf.Layer | None:
    """Return the layer of a name, or of a path as the root layer has it; None if there is none.

    Raises:
        ValueError: Several layers have the name; the message has a name for each.
    """
    names = layer_names(stage)
    for layer in layers:
        if name in (layer.identifier, names.get(layer)):
            return layer
    alike = [layer for layer in names if layer.GetDisplayName() == name]
    if len(alike) > 1:
        raise ValueError(f"{name} is the name of several layers: {_names(stage, alike)}.")
    whole = stage.GetRootLayer().ComputeAbsolutePath(str(name)) if name else ""
    for layer in layers:
        if layer.identifier == whole:
            return layer
    return None


def _names(stage: Usd.Stage, layers: Collection[Sdf.Layer]) -> str:
    names = layer_names(stage)
    return ", ".join(names.get(layer) or layer.GetDisplayName() for layer in layers)


def muted(stage: Usd.Stage) -> list[str]:
    """Return the names of the layers that are muted."""
    return names_of_muted(stage, stage.GetMutedLayers())


def view_muting(stage: Usd.Stage, names: Any) -> StageView:
    """Return the view of the scene in which these layers below the root are muted, and no other.

    Args:
        stage: The scene.
        names: The names of the layers, or their paths as the root layer has them.

    Raises:
        ValueError: There is no such layer, or several, or edits go to it.
    """
    if not isinstance(names, list):
        raise ValueError("muted_layers are names of layers, in a list.")
    layers = sublayers_in(stage.GetRootLayer())
    view = StageView.of(stage)
    kept = view.muted - {layer.identifier for layer in layers}
    wanted = set[str]()
    for name in names:
        layer = _called(stage, name, layers)
        if layer is None:
            raise ValueError(f"muted_layers are some of {_names(stage, layers)}, not {name!r}.")
        if view.target.GetLayer() in (layer, *sublayers_in(layer)):
            raise ValueError(f"{name} is the edit_target, or has it: choose another one first.")
        wanted.add(layer.identifier)
    return view._replace(muted=kept | wanted)


def view_unloading(stage: Usd.Stage, paths: Any) -> StageView:
    """Return the view of the scene in which the payloads of these prims are not loaded.

    All others are loaded.

    Raises:
        ValueError: One of them is no prim with a payload.
    """
    if not isinstance(paths, list):
        raise ValueError("unloaded are paths of prims that have payloads, in a list.")
    rules = Usd.StageLoadRules.LoadAll()
    for path in paths:
        if not require(stage, str(path)).HasAuthoredPayloads():
            raise ValueError(f'{path} has no payload: import_file with how="payload" makes one.')
        rules = with_loaded(rules, Sdf.Path(path), is_loaded=False)
    return StageView.of(stage)._replace(rules=rules)


def view_loading(prim: Usd.Prim, is_loaded: Any) -> StageView:
    """Return the view of the scene in which the payload of a prim is loaded, or is not.

    Raises:
        ValueError: The value is neither true nor false.
    """
    if not isinstance(is_loaded, bool):
        raise ValueError(f"loaded is true or false, not {is_loaded!r}.")
    view = StageView.of(prim.GetStage())
    rules = with_loaded(view.rules, prim.GetPath(), is_loaded=is_loaded)
    return view._replace(rules=rules)
