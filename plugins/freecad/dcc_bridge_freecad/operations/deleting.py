"""What is thrown away, and what that takes along or breaks. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import FreeCAD

from dcc_bridge import track
from dcc_bridge.spi import Building, Cleaning, Deleting, Junk

from ..document import called, document, find, gui
from ..parts import key_of, merely_holds
from ..transactions import transactions
from .places import children, parent_of

_ORIGINS: Final = ("App::Origin", "App::Line", "App::Plane")


class _Deletes(Building, Cleaning, Deleting):
    """The operations that lose something."""

    def junk(self, what: Junk) -> list[str]:
        match what:
            case "unused":
                cards = document().findObjects("App::MaterialObject")
                return [str(obj.Name) for obj in cards if not obj.InList]
            case "empty_groups":
                kinds = "App::DocumentObjectGroup", "App::Part"
                groups = [obj for kind in kinds for obj in document().findObjects(kind)]
                return [str(obj.Name) for obj in groups if _is_empty(obj) and not _users(obj)]
            case "duplicate_materials":
                return list(_twins())
            case "dead_links":
                links = document().findObjects("App::Link")
                return [str(obj.Name) for obj in links if obj.LinkedObject is None]
        raise ValueError("FreeCAD makes shapes from their history: it cannot be cleaned.")

    def clean(self, what: Junk, items: Sequence[str]) -> None:
        """Take them away; of materials that are the same the first one stays, for all users."""
        if what == "duplicate_materials":
            twins = _twins()
            for item in items:
                for user in find(item).InList:
                    user.Material = find(twins[item])
        self.delete(items)

    def delete(self, items: Sequence[str]) -> list[str]:
        """Remove objects; what is in a group or what others are made of stays."""
        for item in track(items, message="Deleting"):  # each one takes FreeCAD long
            obj = document().getObject(item)
            if obj is None:  # a part takes its origin along
                continue
            body = obj.getParentGeoFeatureGroup()
            if body is not None and obj.isDerivedFrom("PartDesign::Feature"):
                body.removeObject(obj)  # else a body that ends with it has no shape any more
            document().removeObject(item)
        transactions().stale.add(document().Name)
        return []

    def below(self, items: Sequence[str]) -> Sequence[str]:
        """List the origins, which go with their part or body; their axes are not worth a name."""
        given = set(items)
        names = [str(origin.Name) for origin in _origins(items)]
        return [name for name in dict.fromkeys(names) if name not in given]

    def orphans(self, items: Sequence[str]) -> Sequence[str]:
        """List what is in groups that go, but for origins."""
        found = [child for item in items for child in children(find(item))]
        left = [obj.Name for obj in found if not obj.TypeId.startswith(_ORIGINS)]
        given = set(items)
        return [name for name in dict.fromkeys(left) if name not in given]

    def check_deletable(self, items: Sequence[str]) -> None:
        """Refuse axes and planes whose part stays, and an object that the person is editing."""
        edited = _edited()
        for item in items:
            obj = find(item)
            owner = _owner(obj)
            if owner is not None and owner.Name not in items:
                raise ValueError(
                    f"{item} is a part of the origin of {owner.Name}, and goes with it: delete "
                    f"{owner.Name} instead."
                )
            if edited is not None and edited == obj:
                raise ValueError(f"The person is editing {called(obj)}: ask them to close it.")

    def dependents(self, items: Sequence[str]) -> Sequence[str]:
        """List what uses items by a link or an expression, and what uses that, nearest first.

        A group, part or page that only holds them is as good without.
        """
        ahead = [find(item) for item in items]
        for origin in _origins(items):
            ahead += [origin, *children(origin)]
        seen = {key_of(obj) for obj in ahead}
        found = list[str]()
        for obj in ahead:  # the list grows meanwhile
            for user in obj.InList:
                if key_of(user) in seen or merely_holds(user, obj):
                    continue
                seen.add(key_of(user))
                ahead.append(user)
                is_far = user.Document.Name != document().Name
                found.append(f"{user.Document.Name}#{called(user)}" if is_far else called(user))
        return found


def _origins(items: Sequence[str]) -> list[Any]:
    """Return the origins of the parts and bodies among some items."""
    found = [getattr(find(item), "Origin", None) for item in items]
    return [origin for origin in found if origin is not None]


def _owner(obj: Any) -> Any:
    """Return the part or body to whose origin an object belongs; None where it is of none."""
    if not obj.TypeId.startswith(_ORIGINS):
        return None
    origin = obj if obj.TypeId == "App::Origin" else parent_of(obj)
    users = origin.InList if origin is not None else ()
    return next((user for user in users if getattr(user, "Origin", None) == origin), None)


def _edited() -> Any:
    """Return the object that the person is editing, such as a sketch; None where there is none."""
    shown = gui().getDocument(document().Name) if FreeCAD.GuiUp else None
    in_edit = shown.getInEdit() if shown is not None else None
    return None if in_edit is None else in_edit.Object


def _is_empty(obj: Any) -> bool:
    members = [each for each in children(obj) if not each.isDerivedFrom("App::Origin")]
    return all("Group" in each.PropertiesList and _is_empty(each) for each in members)


def _users(obj: Any) -> set[Any]:
    return set(obj.InList) - {parent_of(obj), obj.getParentGeoFeatureGroup()}


def _twins() -> dict[str, str]:
    """Return the materials that equal an earlier one, each with that one."""
    first, twins = dict[str, str](), dict[str, str]()
    for obj in document().findObjects("App::MaterialObject"):
        card = repr(sorted((key, it) for key, it in obj.Material.items() if key != "Name"))
        earlier = first.setdefault(card, str(obj.Name))
        twins |= {} if earlier == obj.Name else {str(obj.Name): earlier}
    return twins
