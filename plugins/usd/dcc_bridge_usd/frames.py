"""A stage as it is evaluated at one frame, skeletons and blend shapes too.

USD leaves it to a renderer to move points by a skeleton. Here the points are moved in a layer over
the stage; the stage itself is only read. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdSkel

from dcc_bridge import track

_ROOT: Final = Tf.Type.Find(UsdSkel.Root)
_ANIMATION: Final = Tf.Type.Find(UsdSkel.Animation)
_POSE: Final = ("translations", "rotations", "scales", "blendShapeWeights")


def evaluated(stage: Usd.Stage, frame: float) -> Usd.Stage:
    """Return a stage whose points and extents at a frame are those that a person sees.

    Args:
        stage: The stage, which is only read.
        frame: The frame.

    Returns:
        The stage itself if nothing in it is deformed, else another stage over it.
    """
    roots: list[Sdf.Path] = []
    outdated: list[Sdf.Path] = []
    for prim in track(stage.Traverse(), message="Evaluating"):
        if prim.IsA(_ROOT):
            roots.append(prim.GetPath())
        elif _is_extent_outdated(prim):
            outdated.append(prim.GetPath())
    if not roots and not outdated:
        return stage
    posed = _over(stage)
    _bake(posed, roots, frame)
    for path in outdated:
        boundable = UsdGeom.Boundable(posed.GetPrimAtPath(path))
        extent = UsdGeom.Boundable.ComputeExtentFromPlugins(boundable, Usd.TimeCode(frame))
        boundable.GetExtentAttr().Set(extent, Usd.TimeCode(frame))
    return posed


def _bake(posed: Usd.Stage, roots: Sequence[Sdf.Path], frame: float) -> None:
    """Write the pose of skeletons at a frame into the points that they move."""
    if not roots:
        return
    for prim in posed.Traverse():
        if prim.IsA(_ANIMATION):
            _set_keys(prim, Usd.TimeCode(frame))
    for path in roots:
        UsdSkel.BakeSkinning(UsdSkel.Root(posed.GetPrimAtPath(path)), Gf.Interval(frame, frame))


def _is_extent_outdated(prim: Usd.Prim) -> bool:
    """Return whether a prim has keyed points, and an extent with fewer keys."""
    based = UsdGeom.PointBased(prim)
    if not based or not based.GetExtentAttr().HasAuthoredValue():
        return False
    return bool(
        based.GetPointsAttr().GetNumTimeSamples() > based.GetExtentAttr().GetNumTimeSamples()
    )


def _over(stage: Usd.Stage) -> Usd.Stage:
    """Return a stage that shows the same, and whose edits go into a new layer."""
    root = stage.GetRootLayer()
    overlay = Sdf.Layer.CreateAnonymous()
    for name in root.pseudoRoot.ListInfoKeys():  # units, axes and rates count in the root only
        if not name.startswith("subLayer"):
            overlay.pseudoRoot.SetInfo(name, root.pseudoRoot.GetInfo(name))
    for layer in (stage.GetSessionLayer(), root):
        overlay.subLayerPaths.append(layer.identifier)
    posed = Usd.Stage.Open(overlay, stage.GetPathResolverContext(), Usd.Stage.LoadNone)
    posed.MuteAndUnmuteLayers(stage.GetMutedLayers(), [])
    posed.SetLoadRules(stage.GetLoadRules())
    return posed


def _set_keys(animation: Usd.Prim, time: Usd.TimeCode) -> None:
    """Set a key at a time, since only what stands at keys is written into points."""
    for name in _POSE:
        attribute = animation.GetAttribute(name)
        if attribute and attribute.GetNumTimeSamples():
            attribute.Set(attribute.Get(time), time)
