"""What a scene and a prim are, described for people and agents. Main thread."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any, Final

from pxr import Usd, UsdGeom

from dcc_bridge.spi import digest

from .coercion import plain
from .prims import require

MOST_COUNTED: Final = 12_000  # prims that are counted by type in 15 ms, as measured
_MOST_NAMED: Final = 200  # so many that an agent learns what there is
_MOST_ELEMENTS: Final = 16


def scene_summary(stage: Usd.Stage) -> dict[str, Any]:
    """Describe a stage: units, frames, layers, and how many prims of each type.

    If there are more than are counted, "counted_all" is false.
    """
    prims = iter(stage.Traverse())
    # the parts of a scene usually are below its default prim
    top = (stage.GetDefaultPrim() or stage.GetPseudoRoot()).GetChildren()
    types = Counter(p.GetTypeName() or "prim" for p in islice(prims, MOST_COUNTED))
    return {
        "default_prim": str(stage.GetDefaultPrim().GetPath()) if stage.HasDefaultPrim() else None,
        "top": [str(prim.GetPath()) for prim in top][:_MOST_NAMED],
        "prims": types.total(),
        "counted_all": next(prims, None) is None,
        "types": dict(types.most_common()),
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "units": f"{UsdGeom.GetStageMetersPerUnit(stage):g} m",
        "frames": [stage.GetStartTimeCode(), stage.GetEndTimeCode()],
        "fps": stage.GetFramesPerSecond(),
        "layers": [it.GetDisplayName() for it in stage.GetLayerStack(False)][:_MOST_NAMED],
    }


def describe_prim(stage: Usd.Stage, path: str) -> dict[str, Any]:
    """Describe a prim: its type, what is below it, its attributes and relationships.

    The slash in front of its path may be missing. LookupError says what there is instead.
    """
    try:
        prim = require(stage, f"/{path.lstrip('/')}")
    except ValueError as error:
        raise LookupError(str(error)) from error
    children = prim.GetAllChildren()
    return {
        "path": str(prim.GetPath()),
        "type": str(prim.GetTypeName()),
        "active": prim.IsActive(),
        "children": [child.GetName() for child in children][:_MOST_NAMED],
        "children_count": len(children),
        "attributes": {a.GetName(): _attribute(a) for a in prim.GetAttributes() if a.HasValue()},
        "relationships": {
            r.GetName(): [str(target) for target in r.GetTargets()][:_MOST_NAMED]
            for r in prim.GetRelationships()
        },
    }


def _attribute(attribute: Usd.Attribute) -> dict[str, Any]:
    keys = attribute.GetNumTimeSamples()
    value = attribute.Get() if not keys else attribute.Get(attribute.GetTimeSamples()[0])
    facts: dict[str, Any] = {"type": str(attribute.GetTypeName())}
    if attribute.GetTypeName().isArray and value is not None and len(value) > _MOST_ELEMENTS:
        facts |= {"elements": len(value), "value": plain(value[:_MOST_ELEMENTS])}
    else:
        facts["value"] = plain(value)
    return facts | ({"keys": keys} if keys else {})


def scene_digest(stage: Usd.Stage) -> str:
    """Digest everything that the local layers hold, the session layer too."""
    return digest([it.ExportToString() for it in stage.GetLayerStack(includeSessionLayers=True)])
