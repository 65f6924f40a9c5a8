"""What comes in from another file, and what goes out to one. No Qt in here. Main thread."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdUtils

from .links import relative

TURNS = {("Z", "Y"): -90.0, ("Y", "Z"): 90.0}
"""About X, from the axis that is up in a file to that of the scene."""


class Incoming:
    """A file that is to become a part of a scene."""

    def __init__(self, path: Path) -> None:
        """Open it; ValueError where it cannot be read, or nothing is in it."""
        if not path.is_file():
            raise ValueError(f"There is no file {path}.")
        try:
            self.stage = Usd.Stage.Open(str(path))
        except Tf.ErrorException as error:
            raise ValueError(f"{path.name} is not a file that USD can read.") from error
        self.path = path
        self.tops = [it for it in self.stage.GetPseudoRoot().GetChildren() if it.IsDefined()]
        if not self.tops:
            raise ValueError(f"There is nothing in {path.name}.")

    def name(self) -> str:
        """Give what its content could be called."""
        default = self.stage.GetDefaultPrim()
        return default.GetName() if default else self.path.stem

    def refer(self, scene: Usd.Stage, at: Sdf.Path, scale: float, turn: float) -> None:
        """Refer to its default prim, or to all that is in it."""
        default = self.stage.GetDefaultPrim()
        tops = [default] if default else self.tops
        is_one = len(tops) == 1 and not turn and scale == 1
        if not is_one:
            UsdGeom.Xform.Define(scene, at)
        for prim in tops:
            made = scene.DefinePrim(at if is_one else at.AppendChild(prim.GetName()))
            place = Sdf.Path.emptyPath if default else prim.GetPath()
            made.GetReferences().AddReference(_written(scene, str(self.path)), place)
        _fit(scene, at, scale, turn)

    def copy(self, scene: Usd.Stage, at: Sdf.Path, scale: float, turn: float) -> None:
        """Copy what its layers hold; what they refer to stays in its files."""
        whole = UsdUtils.FlattenLayerStack(self.stage)
        UsdUtils.ModifyAssetPaths(
            whole, lambda it: _written(scene, it) if os.path.isabs(it) else it
        )
        source, target = self.tops[0].GetPath(), scene.GetEditTarget().GetLayer()
        if len(self.tops) > 1 or turn or scale != 1:
            source = _gathered(whole, [prim.GetPath() for prim in self.tops])
        Sdf.CreatePrimInLayer(target, at.GetParentPath())
        Sdf.CopySpec(whole, source, target, at)
        _fit(scene, at, scale, turn)

    def doubts(self, scene: Usd.Stage, scale: float, up: str | None) -> Iterator[str]:
        """Say what may be wrong with it."""
        name = self.path.name
        theirs, ours = map(UsdGeom.GetStageMetersPerUnit, (self.stage, scene))
        if theirs != ours and scale == 1:
            yield (
                f"{name} has {theirs:g} metres a unit and this scene {ours:g}: "
                f"scale={theirs / ours:g} makes it fit."
            )
        axis, own = (str(UsdGeom.GetStageUpAxis(it)) for it in (self.stage, scene))
        if axis != own and up is None:
            yield f'{name} has {axis} up and this scene {own}: up="{axis}" turns it.'
        if not self.stage.HasDefaultPrim():
            yield f"{name} has no default prim: all that is in it came."
        if missing := UsdUtils.ComputeAllDependencies(str(self.path))[2]:
            yield f"Not found: {', '.join(map(str, missing[:10]))}."


def _gathered(layer: Sdf.Layer, tops: Sequence[Sdf.Path]) -> Sdf.Path:
    """Put prims below one, so that what leads from one of them to another follows."""
    loose, holder = Usd.Stage.Open(layer), Sdf.Path("/came")
    loose.DefinePrim(holder, "Xform")
    for path in tops:
        editor = Usd.NamespaceEditor(loose)
        editor.MovePrimAtPath(path, holder.AppendChild(path.name))
        editor.ApplyEdits()
    return holder


def _fit(scene: Usd.Stage, at: Sdf.Path, scale: float, turn: float) -> None:
    if turn or scale != 1:
        common = UsdGeom.XformCommonAPI(scene.GetPrimAtPath(at))
        common.SetRotate(Gf.Vec3f(turn, 0, 0))
        common.SetScale(Gf.Vec3f(scale))


def _written(scene: Usd.Stage, path: str) -> str:
    """Write a path as the layer that is edited should."""
    own = scene.GetEditTarget().GetLayer().realPath
    return relative(path, os.path.dirname(own)) if own else path


def flattened(
    scene: Usd.Stage, items: Sequence[Sdf.Path], frames: tuple[float, float] | None, folder: Path
) -> tuple[Sdf.Layer, list[str]]:
    """Give prims with what they use and all above them, or the scene, as one layer.

    The texts say what was left out.
    """
    stage, is_own = scene, not items and not _has_arcs(scene)
    if items:
        mask = Usd.StagePopulationMask(items)
        stage = Usd.Stage.OpenMasked(scene.GetRootLayer(), scene.GetSessionLayer(), mask)
        stage.ExpandPopulationMask()
    # without references it is ten times faster, and instances of its own prims stay such
    whole = UsdUtils.FlattenLayerStack(scene) if is_own else stage.Flatten(False)
    if frames is not None:
        _cut_frames(whole, stage, *frames)
    UsdUtils.ModifyAssetPaths(
        whole, lambda it: relative(it, str(folder)) if os.path.isabs(it) else it
    )
    left = []
    if not is_own and (inactive := sum(not it.IsActive() for it in stage.TraverseAll())):
        left.append(f"{inactive} inactive prims, and what is below them.")
    if items:
        noun = "prim" if len(items) == 1 else "prims"
        left.append(f"All but {len(items)} {noun}, what is below them, and what they need.")
    return whole, left


def _has_arcs(scene: Usd.Stage) -> bool:
    """Whether a scene refers to files, beside those whose layers are its own."""
    layers = scene.GetLayerStack()
    every = {path for layer in layers for path in layer.GetCompositionAssetDependencies()}
    below: list[Any] = [layer.subLayerPaths for layer in layers]
    return bool(every - {"", *(str(path) for paths in below for path in paths)})


def _cut_frames(layer: Sdf.Layer, stage: Usd.Stage, first: float, last: float) -> None:
    """Leave the samples of a range, and what a value was at its ends."""
    layer.startTimeCode, layer.endTimeCode = first, last
    every: list[Sdf.Path] = []
    layer.Traverse(Sdf.Path.absoluteRootPath, every.append)  # type: ignore[arg-type]  # paths
    for path in every:
        times = layer.ListTimeSamplesForPath(path) if path.IsPropertyPath() else []
        if not times:
            continue
        attribute = stage.GetAttributeAtPath(path)
        ends = {at: attribute.Get(at) for at in (first, last)} if attribute else {}
        for at in times:
            if not first <= at <= last:
                layer.EraseTimeSample(path, at)
        for at, value in ends.items():
            layer.SetTimeSample(path, at, value)
