"""Import from other files and export to them. No Qt in here. Main thread."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdUtils

from dcc_bridge.spi import Exported

from ..places import below
from ..views import StageView, relative

TURNS = {("Z", "Y"): -90.0, ("Y", "Z"): 90.0}
"""Degrees about X, from the axis that is up in a file to that of the scene."""
_MAX_NAMED = 10  # missing files


class Incoming:
    """A file that is to become a part of a scene.

    Attributes:
        path: The file.
        stage: The stage of the file.
        tops: The defined prims at the top of the stage.
    """

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            ValueError: The file is not there, cannot be read, or nothing is in it.
        """
        if not path.is_file():
            raise ValueError(f"There is no file {path}.")
        try:
            self.stage = Usd.Stage.Open(str(path))
        except Tf.ErrorException as error:
            raise ValueError(f"{path.name} is not a file that USD can read.") from error
        self.path = path
        children = self.stage.GetPseudoRoot().GetChildren()
        self.tops = [prim for prim in children if prim.IsDefined()]
        if not self.tops:
            raise ValueError(f"There is nothing in {path.name}.")

    def name(self) -> str:
        """Return a name for the content: that of the default prim, or of the file."""
        default = self.stage.GetDefaultPrim()
        return default.GetName() if default else self.path.stem

    def refer(
        self, scene: Usd.Stage, at: Sdf.Path, scale: float, turn: float, *, is_payload: bool
    ) -> None:
        """Refer to the default prim of the file, or to all that is in the file.

        Args:
            scene: The stage that refers to the file.
            at: The path of the new prim.
            scale: The scale of the new prim.
            turn: How far the new prim is turned about X, in degrees.
            is_payload: Whether it is a payload, which people load on demand, and no reference.
        """
        default = self.stage.GetDefaultPrim()
        tops = [default] if default else self.tops
        file = _written(scene, str(self.path))
        is_group = len(tops) > 1 or bool(turn) or scale != 1
        if is_group:
            UsdGeom.Xform.Define(scene, at)
        for prim in tops:
            path = at.AppendChild(prim.GetName()) if is_group else at
            source = Sdf.Path.emptyPath if default else prim.GetPath()
            new = scene.DefinePrim(path)
            if is_payload:
                new.GetPayloads().AddPayload(file, source)
            else:
                new.GetReferences().AddReference(file, source)
        _fit(scene, at, scale, turn)

    def copy(self, scene: Usd.Stage, at: Sdf.Path, scale: float, turn: float) -> None:
        """Copy what the file's own layers hold; what they refer to stays in its files.

        Args:
            scene: The stage that gets the copy, in the layer that is edited.
            at: The path of the new prim.
            scale: The scale of the new prim.
            turn: How far the new prim is turned about X, in degrees.
        """

        def written(path: str) -> str:
            return _written(scene, path) if os.path.isabs(path) else path

        whole = UsdUtils.FlattenLayerStack(self.stage)
        UsdUtils.ModifyAssetPaths(whole, written)
        source = self.tops[0].GetPath()
        if len(self.tops) > 1 or turn or scale != 1:
            source = _gathered(whole, [prim.GetPath() for prim in self.tops])
        target = scene.GetEditTarget().GetLayer()
        Sdf.CreatePrimInLayer(target, at.GetParentPath())
        Sdf.CopySpec(whole, source, target, at)
        _fit(scene, at, scale, turn)

    def doubts(self, scene: Usd.Stage, scale: float, up: str | None) -> Iterator[str]:
        """Yield sentences about what may be wrong with the imported prims.

        Args:
            scene: The stage that has them now.
            scale: The scale that was asked for.
            up: The axis that the caller says is up in the file, if any.
        """
        name = self.path.name
        theirs = UsdGeom.GetStageMetersPerUnit(self.stage)
        ours = UsdGeom.GetStageMetersPerUnit(scene)
        if theirs != ours and scale == 1:
            yield (
                f"{name} has {theirs:g} metres a unit and this scene {ours:g}: "
                f"scale={theirs / ours:g} makes it fit."
            )
        axis = str(UsdGeom.GetStageUpAxis(self.stage))
        own_axis = str(UsdGeom.GetStageUpAxis(scene))
        if axis != own_axis and up is None:
            yield f'{name} has {axis} up and this scene {own_axis}: up="{axis}" turns it.'
        if not self.stage.HasDefaultPrim():
            yield f"{name} has no default prim: all that is in it came."
        _, _, missing = UsdUtils.ComputeAllDependencies(str(self.path))
        if missing:
            yield f"Not found: {', '.join(map(str, missing[:_MAX_NAMED]))}."


def _gathered(layer: Sdf.Layer, tops: Sequence[Sdf.Path]) -> Sdf.Path:
    """Put prims below a new prim, so that what leads from one of them to another follows."""
    stage = Usd.Stage.Open(layer)
    holder = Sdf.Path("/came")
    stage.DefinePrim(holder, "Xform")
    for path in tops:
        editor = Usd.NamespaceEditor(stage)
        editor.MovePrimAtPath(path, holder.AppendChild(path.name))
        editor.ApplyEdits()
    return holder


def _fit(scene: Usd.Stage, at: Sdf.Path, scale: float, turn: float) -> None:
    if turn or scale != 1:
        common = UsdGeom.XformCommonAPI(scene.GetPrimAtPath(at))
        common.SetRotate(Gf.Vec3f(turn, 0, 0))
        common.SetScale(Gf.Vec3f(scale))


def _written(scene: Usd.Stage, path: str) -> str:
    """Return a path as it is written in the layer that is edited."""
    own = scene.GetEditTarget().GetLayer().realPath
    return relative(path, os.path.dirname(own)) if own else path


def flattened(
    scene: Usd.Stage, items: Sequence[Sdf.Path], frames: tuple[float, float] | None, folder: Path
) -> tuple[Sdf.Layer, Exported]:
    """Flatten prims with what they use and all above them, or the scene, into one layer.

    Args:
        scene: The scene.
        items: The prims; none for the whole scene.
        frames: The first and the last frame whose keys are kept; None keeps all.
        folder: The folder in which the layer will be saved.

    Returns:
        The layer, what is in it, and sentences about what was left out.
    """

    def seen_from_folder(path: str) -> str:
        return relative(path, str(folder)) if os.path.isabs(path) else path

    stage = scene
    is_own = not items and not _has_arcs(scene)
    if items:
        mask = Usd.StagePopulationMask(items)
        stage = Usd.Stage.OpenMasked(scene.GetRootLayer(), scene.GetSessionLayer(), mask)
        stage.ExpandPopulationMask()
        StageView.of(scene).show(stage)
    # Without references this is ten times faster, and instances of the scene's own prims stay.
    whole = UsdUtils.FlattenLayerStack(scene) if is_own else stage.Flatten(False)
    if frames is not None:
        _cut_frames(whole, stage, *frames)
    UsdUtils.ModifyAssetPaths(whole, seen_from_folder)
    left_out = list(_not_shown(stage))
    inactive = 0
    prims = stage.Traverse()
    if is_own:
        prims = stage.TraverseAll()
    else:
        inactive = sum(not prim.IsActive() for prim in stage.TraverseAll())
    if inactive:
        left_out.append(f"{inactive} inactive prims, and what is below them.")
    if items:
        noun = "prim" if len(items) == 1 else "prims"
        left_out.append(f"All but {len(items)} {noun}, what is below them, and what they need.")
    return whole, Exported([str(prim.GetPath()) for prim in prims], left_out)


def _not_shown(stage: Usd.Stage) -> Iterator[str]:
    """Yield a sentence for each layer that is muted, and each payload that is not loaded."""
    for identifier in stage.GetMutedLayers():
        name = Sdf.Layer.GetDisplayNameFromIdentifier(identifier)
        yield f"The layer {name}, which is muted."
    loaded = set(stage.GetLoadSet())
    for path in stage.FindLoadable():
        if path not in loaded:
            yield f"The payload of {path}, which is not loaded."


def _has_arcs(scene: Usd.Stage) -> bool:
    """Return whether a scene refers to files other than its own layers."""
    referred = set()
    own = {""}
    for layer in scene.GetLayerStack():
        sublayers: Any = layer.subLayerPaths
        own.update(str(path) for path in sublayers)
        referred.update(layer.GetCompositionAssetDependencies())
    return bool(referred - own)


def _cut_frames(layer: Sdf.Layer, stage: Usd.Stage, first: float, last: float) -> None:
    """Remove the keys outside a range of frames, and set keys at its ends."""
    layer.startTimeCode = first
    layer.endTimeCode = last
    for path in below(layer, Sdf.Path.absoluteRootPath):
        if path.IsPropertyPath():
            _cut_keys(layer, path, stage.GetAttributeAtPath(path), first, last)


def _cut_keys(
    layer: Sdf.Layer, path: Sdf.Path, attribute: Usd.Attribute, first: float, last: float
) -> None:
    times = layer.ListTimeSamplesForPath(path)
    if not times:
        return
    ends = {}
    if attribute:
        ends = {time: attribute.Get(time) for time in (first, last)}
    for time in times:
        if not first <= time <= last:
            layer.EraseTimeSample(path, time)
    for time, value in ends.items():
        layer.SetTimeSample(path, time, value)
