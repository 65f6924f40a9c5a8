"""Looking things up on a stage by what people and agents write. Main thread."""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase

from pxr import Sdf, Usd


def prim_at(stage: Usd.Stage, path: str) -> Usd.Prim | None:
    """Give the prim at a path, or None. A path that is none, USD complains of; we do not."""
    if not Sdf.Path.IsValidPathString(path):
        return None
    place = Sdf.Path(path)
    is_prim = place.IsAbsolutePath() and place.IsPrimPath()
    return (stage.GetPrimAtPath(place) or None) if is_prim else None


def require(stage: Usd.Stage, path: str) -> Usd.Prim:
    """Give the prim at a path.

    Raises:
        ValueError: There is none; says what there is instead.
    """
    prim = prim_at(stage, path)
    if prim is None:
        raise ValueError(f"There is no prim at {path!r}. {_nearest(stage, path)}")
    return prim


def require_attribute(prim: Usd.Prim, name: str) -> Usd.Attribute:
    """Give an attribute that a prim has.

    Raises:
        ValueError: It has none of that name; names those that are like it.
    """
    attribute = prim.GetAttribute(name)
    if attribute and attribute.IsDefined():
        return attribute
    if prim.GetRelationship(name):
        raise ValueError(f"{name} of {prim.GetPath()} is a relationship, not an attribute.")
    names = prim.GetPropertyNames()
    near = get_close_matches(name, names, 5) or names[:10]
    raise ValueError(
        f"{prim.GetPath()} has no attribute {name!r}. It has {', '.join(near) or 'none'}."
    )


def find(
    stage: Usd.Stage, name: str = "*", type_name: str | None = None, under: str = "/"
) -> list[Usd.Prim]:
    """List the active, loaded, defined prims that match, in the order of the scene.

    Args:
        stage: The scene.
        name: Glob on the prim's name, or on its whole path if there is a slash in it.
        type_name: The exact type; None or "*" for any.
        under: Where to look; that prim itself is not among them.

    Raises:
        ValueError: There is no prim ``under`` which to look.
    """
    root = stage.GetPseudoRoot() if under == "/" else require(stage, under)
    return [
        prim
        for prim in Usd.PrimRange(root)
        if prim != root
        and type_name in (None, "*", str(prim.GetTypeName()))
        and fnmatchcase(str(prim.GetPath()) if "/" in name else prim.GetName(), name)
    ]


def _nearest(stage: Usd.Stage, path: str) -> str:
    """Help with the first step of a path that is not there."""
    if not Sdf.Path.IsValidPathString(path) or not Sdf.Path(path).IsAbsolutePath():
        return 'A path looks like "/World/Cameras/cam1".'
    above = (p for p in Sdf.Path(path).GetAncestorsRange() if stage.GetPrimAtPath(p))
    parent = next(above, Sdf.Path.absoluteRootPath)
    names = [child.GetName() for child in stage.GetPrimAtPath(parent).GetChildren()]
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return f"Under {parent} there is {', '.join(names[:10]) or 'nothing'}{more}."
