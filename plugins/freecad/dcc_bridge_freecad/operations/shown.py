"""The objects that a document shows, and those that others are made of. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..parts import linked
from .places import own_shape

# The links by which shapes are made into another one. Others only refer to an object: an expression
# to its length, an attachment to its face, a drawing or a mesh to all of it.
_INGREDIENTS: Final = (
    *("Base", "Tool", "Tools", "Shapes", "Links", "Source", "Sections", "Profile", "Objects"),
    *("Additions", "Subtractions"),
)
_LINK: Final = "App::PropertyLink"  # how the types of such properties begin
_BODY: Final = "PartDesign::Body"
_AIDS: Final = ("Part::Datum", "App::OriginFeature", "App::Origin", "PartDesign::ShapeBinder")
"""Types of objects that only help to place others."""


def is_shown(obj: Any, among: Any = None) -> bool:
    """Return whether the 3D view shows an object: neither it nor a part or body above is hidden.

    With `among`, a part that is looked into, whether it would be if that one were shown.
    """
    above = obj
    while above is not None and above is not among:
        if not above.Visibility:
            return False
        above = above.getParentGeoFeatureGroup()
    return True


def is_aid(obj: Any) -> bool:
    """Return whether an object only helps to place others."""
    return any(obj.isDerivedFrom(kind) for kind in _AIDS)


def ingredients(objects: Iterable[Any]) -> set[str]:
    """Return the names of all that these objects are made of, and what that is made of."""
    found: set[str] = set()
    ahead = list(objects)
    for obj in ahead:  # the list grows meanwhile
        for each in _made_of(obj):
            if each.Name not in found:
                found.add(each.Name)
                ahead.append(each)
    return found


def _made_of(obj: Any) -> Iterator[Any]:
    if obj.isDerivedFrom(_BODY):
        yield from obj.Group
        if obj.BaseFeature is not None:
            yield obj.BaseFeature
        return
    if own_shape(obj) is None or _is_copy(obj):
        return
    for name in _INGREDIENTS:
        if name in obj.PropertiesList and obj.getTypeIdOfProperty(name).startswith(_LINK):
            yield from linked(getattr(obj, name))


def _is_copy(obj: Any) -> bool:
    """Return whether an object shows another one's shape elsewhere, beside it."""
    kind = getattr(getattr(obj, "Proxy", None), "Type", "")
    is_outline = obj.isDerivedFrom("Part::Part2DObject")
    return bool(kind == "Clone" or obj.isDerivedFrom("Part::Mirroring") or is_outline)
