"""Look at the scene as a whole."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pxr import Usd, UsdGeom

from dcc_bridge import skill
from dcc_bridge.hosts.standalone import session


@skill(risk="read")
def scene_summary() -> dict[str, Any]:
    """Describe the open USD scene: its file, units, frames, layers, and what prims it has.

    Call this first. It also tells what the person has selected, and the step that undo would undo.
    """
    here = session()
    stage = here.stage
    types = Counter(prim.GetTypeName() or "(no type)" for prim in stage.Traverse())
    return {
        "scene": here.scene(),
        "path": str(here.path) if here.path else None,
        "modified": here.modified,
        "default_prim": str(stage.GetDefaultPrim().GetPath()) if stage.HasDefaultPrim() else None,
        "top": [str(prim.GetPath()) for prim in _top(stage)],
        "prims": types.total(),
        "types": dict(types.most_common()),
        "up_axis": str(UsdGeom.GetStageUpAxis(stage)),
        "metres_per_unit": UsdGeom.GetStageMetersPerUnit(stage),
        "frames": [stage.GetStartTimeCode(), stage.GetEndTimeCode()],
        "frames_per_second": stage.GetFramesPerSecond(),
        "layers": [layer.GetDisplayName() for layer in stage.GetLayerStack(False)],
        "selection": here.selection,
        "undo": here.undo_label(),
    }


def _top(stage: Usd.Stage) -> list[Usd.Prim]:
    """Give the default prim's children, where a scene's parts usually are, or the roots."""
    return (stage.GetDefaultPrim() or stage.GetPseudoRoot()).GetChildren()
