"""Deleting objects, and which other objects that takes along or breaks. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import FreeCAD

from dcc_bridge import track
from dcc_bridge.spi import Building, Cleaning, Deleting, Junk

from ..document import document, find, gui, label_of
from ..parts import key_of, merely_holds
from ..transactions import transactions
from .places import children, descendants, parent_of

_MATERIAL: Final = "App::MaterialObject"
_VIEW: Final = "TechDraw::DrawViewPart"
# FreeCAD 0.20.2 crashes as it deletes one of these without a view, and a landmark also with a view
# that has no geometry. It deletes them with their view and their page, too.
_LANDMARK: Final = "TechDraw::LandmarkDimension"
_CRASHING: Final = ("TechDraw::DrawViewDimExtent", _LANDMARK)
_ORIGINS: Final = ("App::Origin", "App::Line", "App::Plane")


class _Deletes(Building, Cleaning, Deleting):
    """The operations that lose something."""

    def junk(self, what: Junk) -> list[str]:
        """Return the names of objects that nobody needs, of one kind of junk.

        Raises:
            ValueError: FreeCAD has no such junk.
        """
        match what:
            case "unused":
                materials = document().findObjects(_MATERIAL)
                return [str(obj.Name) for obj in materials if not obj.InList]
            case "empty_groups":
                folders = document().findObjects("App::DocumentObjectGroup")
                groups = [*folders, *document().findObjects("App::Part")]
                return [str(obj.Name) for obj in groups if _is_empty(obj) and not _users(obj)]
            case "duplicate_materials":
                return list(_twins())
            case "dead_links":
                links = document().findObjects("App::Link")
                return [str(obj.Name) for obj in links if obj.LinkedObject is None]
        raise ValueError("FreeCAD makes shapes from their history: it cannot be cleaned.")

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        """Delete junk; of equal materials the first one stays, and all users get it."""
        if what == "duplicate_materials":
            twins = _twins()
            for item in items:
                for user in find(item).InList:
                    user.Material = find(twins[item])
        self.delete(items)

    def delete(self, items: Sequence[str]) -> list[str]:
        """Delete objects; members of a deleted group stay, and ingredients of a deleted shape too.

        Returns:
            No warning.

        Raises:
            ValueError: FreeCAD would crash at one of the objects.
        """
        for item in items:
            _refuse_crash(find(item))
        for item in track(items, message="Deleting"):  # FreeCAD takes long over each one
            obj = document().getObject(item)
            if obj is None:  # a part has taken its origin along
                continue
            body = obj.getParentGeoFeatureGroup()
            if body is not None and obj.isDerivedFrom("PartDesign::Feature"):
                body.removeObject(obj)  # else a body that ends with it has no shape any more
            document().removeObject(item)
        transactions().stale.add(document().Name)
        return []

    def below(self, items: Sequence[str]) -> Sequence[str]:
        """Return the origins, which go with their part or body; their axes are not worth a name."""
        names = [str(origin.Name) for origin in _origins(items)]
        deleted = set(items)
        return [name for name in dict.fromkeys(names) if name not in deleted]

    def orphans(self, items: Sequence[str]) -> Sequence[str]:
        """Return the objects in groups that are deleted, except origins."""
        names = list[str]()
        for item in items:
            for child in children(find(item)):
                if not child.TypeId.startswith(_ORIGINS):
                    names.append(str(child.Name))
        deleted = set(items)
        return [name for name in dict.fromkeys(names) if name not in deleted]

    def check_deletable(self, items: Sequence[str]) -> None:
        """Refuse axes and planes whose part stays, and an object that the person is editing.

        Also refuse an object at which FreeCAD would crash.

        Raises:
            ValueError: One of the items is such an object.
        """
        edited = _object_in_edit()
        for item in items:
            obj = find(item)
            _refuse_crash(obj)
            owner = _owner(obj)
            if owner is not None and owner.Name not in items:
                raise ValueError(
                    f"{item} is a part of the origin of {owner.Name}, and goes with it: delete "
                    f"{owner.Name} instead."
                )
            if edited is not None and edited == obj:
                raise ValueError(f"The person is editing {label_of(obj)}: ask them to close it.")

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        """Return the labels of all direct and indirect users of items, nearest first.

        A user links to an object, or has an expression with it. A group, part or page that only
        holds the object loses nothing else and is not listed.
        """
        queue = [find(item) for item in items]
        for origin in _origins(items):
            queue += [origin, *children(origin)]
        seen = {key_of(obj) for obj in queue}
        labels = list[str]()
        for obj in queue:  # the list grows meanwhile
            for user in obj.InList:
                if key_of(user) in seen or merely_holds(user, obj):
                    continue
                seen.add(key_of(user))
                queue.append(user)
                label = label_of(user)
                if user.Document.Name != document().Name:
                    label = f"{user.Document.Name}#{label}"
                labels.append(label)
        return labels


def _refuse_crash(obj: Any) -> None:
    """Raise a ValueError if FreeCAD would crash as it deletes an object."""
    for dimension in _dimensions_deleted_with(obj):
        if not _is_drawn(dimension):
            raise ValueError(
                f"FreeCAD would crash as it deletes {dimension.Name}, a dimension without a drawn "
                f"view: set References2D of {dimension.Name} to an edge of a view first."
            )


def _dimensions_deleted_with(obj: Any) -> list[Any]:
    """Return the dimensions of `_CRASHING` types that go with an object, itself included."""
    objects = [obj]
    if obj.isDerivedFrom("TechDraw::DrawPage"):
        objects += obj.Views
    for view in list(objects):
        if view.isDerivedFrom(_VIEW):
            objects += view.InList
    return [each for each in objects if each.TypeId in _CRASHING]


def _is_drawn(dimension: Any) -> bool:
    """Return whether a dimension has a view, and a landmark one whose geometry was computed."""
    references = dimension.References2D
    if not references:
        return False
    view = references[0][0]
    if view is None or not view.isDerivedFrom(_VIEW):
        return False
    if dimension.TypeId != _LANDMARK:
        return True
    return bool(view.Source) and view.isValid() and "Touched" not in view.State


def _origins(items: Sequence[str]) -> list[Any]:
    """Return the origins of the parts and bodies among some items."""
    origins = [getattr(find(item), "Origin", None) for item in items]
    return [origin for origin in origins if origin is not None]


def _owner(obj: Any) -> Any:
    """Return the part or body to whose origin an object belongs; None if it is in no origin."""
    if not obj.TypeId.startswith(_ORIGINS):
        return None
    origin = obj if obj.TypeId == "App::Origin" else parent_of(obj)
    if origin is None:
        return None
    for user in origin.InList:
        if getattr(user, "Origin", None) == origin:
            return user
    return None


def _object_in_edit() -> Any:
    """Return the object that the person is editing, such as a sketch; None if there is none."""
    if not FreeCAD.GuiUp:
        return None
    gui_document = gui().getDocument(document().Name)
    if gui_document is None:
        return None
    provider = gui_document.getInEdit()
    return None if provider is None else provider.Object


def _is_empty(obj: Any) -> bool:
    """Return whether a group holds nothing but origins and empty groups."""
    members = [each for each in descendants(obj) if not each.TypeId.startswith(_ORIGINS)]
    return all("Group" in each.PropertiesList for each in members)


def _users(obj: Any) -> set[Any]:
    """Return the users of an object that do not merely hold it."""
    return set(obj.InList) - {parent_of(obj), obj.getParentGeoFeatureGroup()}


def _twins() -> dict[str, str]:
    """Return the materials that equal an earlier one, each with the first of its equals."""
    first_of_card = dict[str, str]()
    twins = dict[str, str]()
    for obj in document().findObjects(_MATERIAL):
        entries = [(key, text) for key, text in obj.Material.items() if key != "Name"]
        first = first_of_card.setdefault(repr(sorted(entries)), str(obj.Name))
        if first != obj.Name:
            twins[str(obj.Name)] = first
    return twins
