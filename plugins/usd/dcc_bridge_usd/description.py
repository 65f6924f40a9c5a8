"""Descriptions of a scene and of a prim, for people and agents. Main thread."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any, Final

from pxr import Usd, UsdGeom

from dcc_bridge.spi import digest

from .coercion import plain
from .prims import require

_MAX_COUNTED: Final = 12_000  # prims that are counted by type in 15 ms, as measured
_MAX_NAMES: Final = 200  # enough for an agent to learn what there is
_MAX_ELEMENTS: Final = 16  # of an array


def scene_summary(stage: Usd.Stage) -> dict[str, Any]:
    """Describe a stage: units, frames, layers, and how many prims of each type.

    If there are more prims than are counted, "counted_all" is false.
    """
    default = stage.GetDefaultPrim()
    default_path = str(default.GetPath()) if stage.HasDefaultPrim() else None
    # The parts of a scene usually are below its default prim.
    top = (default or stage.GetPseudoRoot()).GetChildren()
    prims = iter(stage.Traverse())
    types = Counter(prim.GetTypeName() or "prim" for prim in islice(prims, _MAX_COUNTED))
    layers = stage.GetLayerStack(False)
    return {
        "default_prim": default_path,
        "top": [str(prim.GetPath()) for prim in top][:_MAX_NAMES],
        "prims": types.total(),
        "counted_all": next(prims, None) is None,
        "types": dict(types.most_common()),
        "up": str(UsdGeom.GetStageUpAxis(stage)),
        "units": f"{UsdGeom.GetStageMetersPerUnit(stage):g} m",
        "frames": [stage.GetStartTimeCode(), stage.GetEndTimeCode()],
        "fps": stage.GetFramesPerSecond(),
        "layers": [layer.GetDisplayName() for layer in layers][:_MAX_NAMES],
    }


def describe_prim(stage: Usd.Stage, path: str) -> dict[str, Any]:
    """Describe a prim: its type, what is below it, its attributes and relationships.

    Args:
        stage: The scene.
        path: The prim's path; the slash in front may be missing.

    Raises:
        LookupError: There is no such prim; the message names what there is instead.
    """
    try:
        prim = require(stage, f"/{path.lstrip('/')}")
    except ValueError as error:
        raise LookupError(str(error)) from error
    children = prim.GetAllChildren()
    attributes = {}
    for attribute in prim.GetAttributes():
        if attribute.HasValue():
            attributes[attribute.GetName()] = _attribute(attribute)
    relationships = {}
    for relationship in prim.GetRelationships():
        targets = [str(target) for target in relationship.GetTargets()]
        relationships[relationship.GetName()] = targets[:_MAX_NAMES]
    return {
        "path": str(prim.GetPath()),
        "type": str(prim.GetTypeName()),
        "active": prim.IsActive(),
        "children": [child.GetName() for child in children][:_MAX_NAMES],
        "children_count": len(children),
        "attributes": attributes,
        "relationships": relationships,
    }


def _attribute(attribute: Usd.Attribute) -> dict[str, Any]:
    """Describe an attribute with its default value, or with its first key."""
    keys = attribute.GetNumTimeSamples()
    time = Usd.TimeCode.Default()
    if keys:
        time = Usd.TimeCode(attribute.GetTimeSamples()[0])
    value = attribute.Get(time)
    type_name = attribute.GetTypeName()
    facts: dict[str, Any] = {"type": str(type_name)}
    if type_name.isArray and value is not None and len(value) > _MAX_ELEMENTS:
        facts["elements"] = len(value)
        facts["value"] = plain(value[:_MAX_ELEMENTS])
    else:
        facts["value"] = plain(value)
    if keys:
        facts["keys"] = keys
    return facts


def scene_digest(stage: Usd.Stage) -> str:
    """Digest everything that the local layers hold, the session layer too."""
    layers = stage.GetLayerStack(includeSessionLayers=True)
    return digest([layer.ExportToString() for layer in layers])
