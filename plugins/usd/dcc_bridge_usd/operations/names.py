"""Names of prims: which is free, and which was meant. No Qt in here. Main thread."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from typing import Final

from pxr import Sdf, Usd

_FAR: Final = 20_000  # prims among which one of that name is looked for


def near(name: str, names: Iterable[str], above: Sdf.Path | None = None) -> str:
    """Say which names are like one; those below a prim as paths."""
    lower = {each.lower(): each for each in names}
    like = get_close_matches(name.lower(), lower, 5, 0.6)
    within = [each for each in lower if name and name.lower() in each][:5]
    found = [lower[each] for each in dict.fromkeys(like + within)]
    found = [str(above.AppendChild(each)) for each in found] if above else found
    return f" Near: {', '.join(found[:5])}." if found else ""


def instead(stage: Usd.Stage, path: str) -> str:
    """Say what there is in the place of a prim that is not there."""
    if not Sdf.Path.IsValidPathString(path) or not Sdf.Path(path).IsAbsolutePath():
        at = _called(stage, path.rpartition("/")[2])
        return f" Is it {', '.join(at)}?" if at else ' A path looks like "/World/Camera".'
    above = stage.GetPseudoRoot()
    for each in Sdf.Path(path).GetPrefixes():
        child = stage.GetPrimAtPath(each)
        if not child:
            names = above.GetAllChildrenNames()
            other = _called(stage, Sdf.Path(path).name)
            elsewhere = f" {Sdf.Path(path).name} is at {', '.join(other)}." if other else ""
            like = near(each.name, names[:_FAR], above.GetPath())
            return elsewhere or like or f" Under {above.GetPath()}: {', '.join(names[:10])}."
        above = child
    return ""


def _called(stage: Usd.Stage, name: str) -> list[str]:
    every = (it for it in islice(stage.Traverse(), _FAR) if it.GetName() == name)
    return [str(prim.GetPath()) for prim in islice(every, 5)]


def free(above: Usd.Prim, name: str) -> str:
    """Give a name that no prim below another has: Lamp_01, and then Lamp_02."""
    if not _is_taken(above, name):
        return name
    stem = name.rstrip("0123456789")
    digits = name[len(stem) :]
    first, width = (int(digits) + 1, len(digits)) if digits else (1, 1)
    stem = stem if digits else f"{stem}_"

    def nth(number: int) -> str:
        return f"{stem}{first + number:0{width}}"

    step = 1
    while _is_taken(above, nth(step - 1)):
        step *= 2  # names run on, so what lies between is taken most likely
    low, high = step // 2, step  # the one before `low` is taken, the one before `high` is free
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _is_taken(above, nth(middle - 1)) else (low, middle)
    return nth(high - 1)


def _is_taken(above: Usd.Prim, name: str) -> bool:
    path, stage = above.GetPath().AppendChild(name), above.GetStage()
    layers = stage.GetLayerStack()
    return bool(stage.GetPrimAtPath(path)) or any(it.GetPrimAtPath(path) for it in layers)
