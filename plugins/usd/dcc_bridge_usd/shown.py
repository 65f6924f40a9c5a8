"""Checks whether a scene shows a prim that its layers hold. Main thread.

A prim is shown if its variants are selected, and it is defined, active and no class.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pxr import Sdf, Usd

_NO_CHILD: Final = "dcc_bridge_no_child"


def prim_of(stage: Usd.Stage, path: Sdf.Path) -> Usd.Prim | None:
    """Return the prim at the path of a spec; None where it is in a variant that is not selected."""
    if not is_selected(stage, path):
        return None
    return stage.GetPrimAtPath(path.StripAllVariantSelections()) or None


def is_selected(stage: Usd.Stage, path: Sdf.Path) -> bool:
    """Return whether the variants in a path are the ones that the scene shows."""
    while path.ContainsPrimVariantSelection():
        if path.IsPrimVariantSelectionPath():
            name, variant = path.GetVariantSelection()
            prim = stage.GetPrimAtPath(path.GetPrimPath().StripAllVariantSelections())
            if not prim or prim.GetVariantSet(name).GetVariantSelection() != variant:
                return False
        path = path.GetParentPath()
    return True


def was_switched_off(prim: Usd.Prim, before: list[Any], now: list[Any]) -> bool:
    """Return whether edits of a prim's specs took the prim out of the scene.

    A prim leaves the scene when it is only an over or a class from now on, or inactive.

    Args:
        prim: The prim.
        before: The specs of the prim before the edits, the strongest first.
        now: The specs of the prim now.
    """
    parent = prim.GetParent()
    if not parent.IsActive():
        return False
    specifiers_before = _specifiers(before)
    specifiers_now = _specifiers(now)
    if parent.IsDefined():
        if Sdf.SpecifierDef in specifiers_before - specifiers_now and not prim.IsDefined():
            return True
        is_new_class = Sdf.SpecifierClass in specifiers_now - specifiers_before
        was_defined = Sdf.SpecifierDef in specifiers_before | _specifiers(prim.GetPrimStack())
        if is_new_class and was_defined and prim.IsAbstract():
            return True
    if prim.IsActive():
        return False
    return _active(before) is not False and _active(before) != _active(now)


def is_shown(stage: Usd.Stage, path: Sdf.Path) -> bool:
    """Return whether the scene shows a prim at a path."""
    prim = stage.GetPrimAtPath(path)
    return bool(prim) and prim.IsActive() and prim.IsDefined() and not prim.IsAbstract()


def is_brought(stage: Usd.Stage, path: Sdf.Path) -> bool:
    """Return whether a referenced file has a prim for a path, also where a payload is unloaded.

    Neither what is relocated to the path counts, nor what the scene's own layers have there.
    """
    return path.name in brought(stage, path.GetParentPath())


def brought(stage: Usd.Stage, owner: Sdf.Path) -> set[str]:
    """Return the names of the prims that referenced files have below one; see `is_brought`."""
    own_layers = stage.GetLayerStack()
    loaded = Usd.Stage.OpenMasked(
        stage.GetRootLayer(),
        stage.GetSessionLayer(),
        stage.GetPathResolverContext(),
        Usd.StagePopulationMask([owner.AppendChild(_NO_CHILD)]),  # else all below is composed
        Usd.Stage.LoadAll,
    )
    prim = loaded.GetPrimAtPath(owner)
    names: set[str] = set()
    if not prim:
        return names
    for spec in prim.GetPrimStack():
        is_own = spec.path == owner and spec.layer in own_layers
        if not is_own:
            names.update(spec.nameChildren.keys())
    return names


def hides(specs: list[Any]) -> bool:
    """Return whether specs hide the prim that they refer to."""
    return _active(specs) is False or Sdf.SpecifierClass in _specifiers(specs)


def _specifiers(specs: Iterable[Any]) -> set[Any]:
    return {spec.specifier for spec in specs}


def _active(specs: Iterable[Any]) -> bool | None:
    """Return the strongest opinion about whether a prim is active; None where there is none."""
    for spec in specs:
        if spec.HasInfo("active"):
            return bool(spec.active)
    return None
