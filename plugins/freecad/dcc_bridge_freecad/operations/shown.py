"""The objects that a document shows, and those that other objects are made of. Main thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..parts import linked
from ..words import type_of_proxy
from .places import groups_above, own_shape

# The links by which shapes are made into another shape. All other links only refer to an object: an
# expression to its length, an attachment to its face, a drawing or a mesh to the whole.
_INGREDIENTS: Final = (
    *("Base", "Tool", "Tools", "Shapes", "Links", "Source", "Sections", "Profile", "Objects"),
    *("Additions", "Subtractions"),
)
_LINK: Final = "App::PropertyLink"  # how the types of such properties begin
_BODY: Final = "PartDesign::Body"
_AIDS: Final = ("Part::Datum", "App::OriginFeature", "App::Origin", "PartDesign::ShapeBinder")
"""Types of objects that only help to place others."""


def is_shown(obj: Any, among: Any = None) -> bool:
    """Return whether the 3D view shows an object.

    Args:
        obj: The object; shown unless it, or a part or body above it, is hidden.
        among: A part above the object that counts as shown, with all above it; None for none.
    """
    for above in (obj, *groups_above(obj)):
        if above is among:
            return True
        if not above.Visibility:
            return False
    return True


def is_aid(obj: Any) -> bool:
    """Return whether an object only helps to place others."""
    return any(obj.isDerivedFrom(kind) for kind in _AIDS)


def ingredients(objects: Iterable[Any]) -> set[str]:
    """Return the names of all objects that some objects are made of, over any number of steps."""
    names: set[str] = set()
    queue = list(objects)
    for obj in queue:  # the list grows meanwhile
        for each in _made_of(obj):
            if each.Name not in names:
                names.add(each.Name)
                queue.append(each)
    return names


def _made_of(obj: Any) -> Iterator[Any]:
    """Yield the objects that an object is directly made of."""
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
    """Return whether an object shows the shape of another one elsewhere, beside that one."""
    if obj.isDerivedFrom("Part::Part2DObject") or obj.isDerivedFrom("Part::Mirroring"):
        return True
    return bool(type_of_proxy(obj) == "Clone")
