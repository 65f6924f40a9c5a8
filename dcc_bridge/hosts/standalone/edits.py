"""Edits that reach into every local layer of a scene, not only its edit target. Main thread."""

from __future__ import annotations

from collections.abc import Iterable

from pxr import Sdf, Usd


def remove(stage: Usd.Stage, paths: Iterable[Sdf.Path]) -> list[Sdf.Path]:
    """Delete prims with what is below them.

    A prim that comes from a referenced file cannot be deleted from here; it is deactivated, which
    is how USD hides it from everybody who looks at this scene.

    Returns:
        Those that were only deactivated.

    Raises:
        ValueError: A layer is locked.
    """
    gone = list(paths)
    for layer in stage.GetLayerStack(includeSessionLayers=True):
        _remove_specs(layer, [path for path in gone if layer.GetPrimAtPath(path)])
    left = [path for path in gone if stage.GetPrimAtPath(path)]
    for path in left:
        stage.GetPrimAtPath(path).SetActive(False)
    return left


def rename(stage: Usd.Stage, prim: Usd.Prim, name: str) -> Sdf.Path:
    """Give a prim another name, in its place among its siblings.

    Relationships, connections and collections that point to it or below it follow.

    Returns:
        Its new path.

    Raises:
        ValueError: It cannot have that name; says why.
    """
    old = prim.GetPath()
    if not Sdf.Path.IsValidIdentifier(name):
        raise ValueError(
            f"{name!r} is no name for a prim: use letters, digits and _, and begin with no digit."
        )
    editor = Usd.NamespaceEditor(stage)
    editor.RenamePrim(prim, name)
    can_apply = editor.CanApplyEdits()
    if not can_apply:
        raise ValueError(f"{old} cannot be renamed to {name}: {can_apply.whyNot}.")
    editor.ApplyEdits()
    return old.ReplaceName(name)


def _remove_specs(layer: Sdf.Layer, paths: list[Sdf.Path]) -> None:
    if paths and not layer.permissionToEdit:
        raise ValueError(f"The layer {layer.GetDisplayName()} is locked: unlock it first.")
    batch = Sdf.BatchNamespaceEdit()
    for path in paths:
        batch.Add(Sdf.NamespaceEdit.Remove(path))
    if paths and not layer.Apply(batch):
        raise ValueError(f"The layer {layer.GetDisplayName()} does not let these prims go.")
