"""Digests of a stage and of things in it. Main thread."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256

from pxr import Sdf, Usd


def scene_digest(stage: Usd.Stage) -> str:
    """Digest everything that the local layers hold, the session layer too."""
    layers = stage.GetLayerStack(includeSessionLayers=True)
    return _digest([layer.ExportToString() for layer in layers])


def fingerprint(stage: Usd.Stage, items: Iterable[str]) -> str:
    """Digest what prims or properties are, not their values; their order does not matter.

    In another scene's file, the same path is another thing.
    """
    what = [_describe(stage, item) for item in sorted(set(items))]
    return _digest([stage.GetRootLayer().identifier, what])


def _digest(facts: object) -> str:
    return sha256(json.dumps(facts).encode()).hexdigest()


def _describe(stage: Usd.Stage, item: str) -> list[object]:
    path = Sdf.Path(item) if Sdf.Path.IsValidPathString(item) else Sdf.Path.emptyPath
    prim = stage.GetPrimAtPath(path.GetPrimPath())
    if not path.IsAbsolutePath() or not prim:
        return [item, "gone"]
    if path.IsPropertyPath():
        return [item, *_property(prim.GetProperty(path.name)), _locks(prim)]
    return [item, _locks(prim), *_below(prim)]


def _property(found: Usd.Property) -> list[object]:
    if isinstance(found, Usd.Attribute):
        return [str(found.GetTypeName()), str(found.GetVariability())]
    return ["relationship" if found else "gone"]


def _locks(prim: Usd.Prim) -> list[object]:
    """USD locks whole layers, and forbids edits of a prim by its permission."""
    editable = [spec.layer.permissionToEdit for spec in prim.GetPrimStack()]
    return [str(prim.GetMetadata("permission")), editable]


def _below(prim: Usd.Prim) -> list[list[object]]:
    every = Usd.PrimRange.AllPrims(prim)
    return [[str(p.GetPath()), p.GetTypeName(), p.IsActive(), p.IsDefined()] for p in every]
