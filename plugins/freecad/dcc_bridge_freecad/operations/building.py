"""Making, copying, grouping and naming objects, and how they look. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from dcc_bridge.spi import Building

from ..document import document, find, made_of
from ..parts import linked
from ..transactions import transactions
from .places import descendants, parent_of, placement_above, world_placement
from .properties import explained, links_of, property_type

_GROUP: Final = "App::DocumentObjectGroup"
_KINDS: Final = {"collection": _GROUP, "folder": _GROUP, "group": _GROUP, "parent": "App::Part"}
_MATERIAL: Final = "App::MaterialObject"
_LOOKS: Final = ("base_color", "emission", "roughness", "opacity")


class _Builds(Building):
    """The operations that make objects and put them in order."""

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        """Add an object; its label is the name, with a number if the name is taken.

        Returns:
            The internal name, by which the object is an item.

        Raises:
            LookupError: There is no such type.
            ValueError: The object cannot be put into `under`.
        """
        if kind not in self.types():
            near = ", ".join(get_close_matches(kind, self.types(), 3))
            hint = f"; names like it: {near}." if near else "."
            raise LookupError(f"There is no type {kind!r}{hint}")
        obj = document().addObject(kind, name or kind.partition("::")[2])
        if name:
            obj.Label = name
        if under is not None:
            _put_into(_group(under), obj)
        transactions().stale.add(document().Name)
        return str(obj.Name)

    def duplicate(self, item: str, *, linked: bool) -> str:
        """Copy an object with all objects in it and those it is made of, or make a link to it.

        Args:
            item: The object.
            linked: Whether to make a link in place of a copy.

        Returns:
            The internal name of the copy or link.

        Raises:
            ValueError: The object is a step in the making of a body, or made of itself.
        """
        obj = find(item)
        if obj in made_of(obj):  # FreeCAD 0.20 crashes as it undoes the copy of such an object
            raise ValueError(f"{item} links back to itself, so it cannot be copied.")
        body = obj.getParentGeoFeatureGroup()
        if body is not None and obj.isDerivedFrom("PartDesign::Feature"):
            raise ValueError(f"{item} is a step in the making of {body.Name}: duplicate that.")
        copy = _link_to(obj) if linked else _copy_of(obj)
        above = parent_of(obj)
        if above is not None and not above.isDerivedFrom("PartDesign::Body"):
            _put_into(above, copy)
        transactions().stale.add(document().Name)
        return str(copy.Name)

    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        """Take an object out of its group, part or body, and put it into another one.

        Args:
            item: The object.
            under: The new group, part or body; None to leave it in none.
            keep_place: Whether the object, or each one in a group without a placement of its own,
                stays in its place in the world.

        Returns:
            The item, which stays the same.

        Raises:
            ValueError: The object cannot be put there.
        """
        obj = find(item)
        group = _group(under) if under is not None else None
        if group is not None and group in (obj, *descendants(obj)):
            raise ValueError(f"{item} cannot be put into {under}, which is in it.")
        # A group without a placement moves the objects in it.
        moved = [obj] if "Placement" in obj.PropertiesList else list(_placed_below(obj))
        before = [world_placement(each) for each in moved]
        for above in {parent_of(obj), obj.getParentGeoFeatureGroup()} - {None, group}:
            above.removeObject(obj)
        if group is not None:
            _put_into(group, obj)
        if keep_place:
            for each, place in zip(moved, before, strict=True):
                local = placement_above(each).inverse().multiply(place)
                if local != each.Placement:
                    each.Placement = local
        transactions().stale.add(document().Name)
        return item

    def collect(self, items: Sequence[str], into: str, kind: str) -> str:
        """Put objects into a group or a part, which is made if there is none of that name.

        Args:
            items: The objects; each can be in one group only.
            into: The name or label of the group or part.
            kind: "collection", "folder", "group" or "parent".

        Returns:
            The internal name of the group or part.

        Raises:
            ValueError: FreeCAD has no such kind, or an object cannot be put there.
        """
        if kind not in _KINDS:
            raise ValueError(f"FreeCAD has no {kind}: it has {', '.join(_KINDS)} (an App::Part).")
        existing = document().getObject(into)
        if existing is None:
            labelled = document().getObjectsByLabel(into)
            existing = labelled[0] if labelled else None
        group = self.create(_KINDS[kind], into, None) if existing is None else str(existing.Name)
        for item in items:
            self.set_parent(item, group, keep_place=True)
        return group

    def called(self, item: str, name: str) -> tuple[str, Sequence[str]]:
        """Return the label that a name becomes, and the other objects that have this label."""
        label = name.strip()
        others = document().getObjectsByLabel(label)
        return label, [str(other.Name) for other in others if other.Name != item]

    def rename(self, item: str, name: str) -> str:
        """Change an object's label, which expressions follow; its internal name stays.

        Returns:
            The internal name.

        Raises:
            ValueError: The label is empty, or another object has it.
        """
        obj = find(item)
        label, others = self.called(item, name)
        if not label:
            raise ValueError(f"{item} needs a label that can be read.")
        if others:
            raise ValueError(f"{label!r} is taken: it is the label of {others[0]}.")
        obj.Label = label
        return str(obj.Name)

    # ---- materials, of FreeCAD with a window

    def materials(self) -> list[str]:
        """Return the names of the material objects."""
        return [str(obj.Name) for obj in document().findObjects(_MATERIAL)]

    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        """Make or change a material object, and change the looks of its users.

        Args:
            name: The label or name of the material; None for "Material".
            values: The looks to change, by the names in `_LOOKS`.

        Returns:
            The internal name of the material.

        Raises:
            ValueError: FreeCAD draws no such look.
        """
        unknown = sorted(values.keys() - set(_LOOKS))
        if unknown:
            raise ValueError(f"FreeCAD draws no {', '.join(unknown)}, but {', '.join(_LOOKS)}.")
        by_label = {str(obj.Label): obj for obj in document().findObjects(_MATERIAL)}
        obj = by_label.get(name or "") or document().getObject(name or "Material")
        if obj is None or not obj.isDerivedFrom(_MATERIAL):
            obj = document().addObject(_MATERIAL, name or "Material")
            obj.Label = name or obj.Label
        card = {**obj.Material, "Name": str(obj.Label)}
        for look, value in values.items():
            card.update(_card_entries(look, value))
        obj.Material = card
        for user in obj.InList:
            if getattr(user, "Material", None) == obj:
                _show(user, card)
        return str(obj.Name)

    def assign(self, item: str, material: str) -> None:
        """Link an object to a material, and copy the material's looks to the object.

        Raises:
            ValueError: The object has no surface, or a property "Material" of another type.
        """
        obj = find(item)
        card_object = find(material)
        if not hasattr(obj.ViewObject, "ShapeMaterial"):
            raise ValueError(f"{item}, a {obj.TypeId}, has no surface: assign to what is in it.")
        if "Material" not in obj.PropertiesList:
            obj.addProperty("App::PropertyLink", "Material", "Material", "What it looks like")
        if property_type(obj, "Material") != "App::PropertyLink":
            raise ValueError(f"{item} keeps its material in a way of its own.")
        obj.Material = card_object
        _show(obj, card_object.Material)
        transactions().stale.add(document().Name)


def _link_to(obj: Any) -> Any:
    """Make a link to an object, or to the object that a link leads to, in the same place."""
    link = document().addObject("App::Link", obj.Name)
    link.LinkedObject = obj.getLinkedObject()
    link.Label = obj.Label
    for name in {"Placement", "ScaleVector"} & set(obj.PropertiesList):
        setattr(link, name, getattr(obj, name))
    return link


def _copy_of(obj: Any) -> Any:
    """Copy an object with all objects in it and those it is made of; return its copy."""
    whole = {each.Name: each for each in _whole(obj)}
    copies = document().copyObject(list(whole.values()), False)
    if isinstance(copies, list | tuple):
        return copies[0]
    return copies


def _group(under: str) -> Any:
    """Return the group, part or body of a name; ValueError if it can hold nothing."""
    group = find(under)
    if not group.hasExtension("App::GroupExtension"):
        raise ValueError(f"{under}, a {group.TypeId}, holds nothing: create a {_GROUP}.")
    return group


def _put_into(group: Any, obj: Any) -> None:
    with explained(f"{obj.Name} cannot be put into {group.Name}"):
        group.addObject(obj)


def _whole(obj: Any) -> Iterator[Any]:
    """Yield an object, all objects in it, and the shapes that it is made of."""
    yield obj
    for child in descendants(obj):
        yield from _whole(child)
    for name in links_of(obj):
        for used in linked(getattr(obj, name)):
            is_shape = used.isDerivedFrom("Part::Feature") and used.Document == obj.Document
            if is_shape and name not in ("Support", "LinkedObject", "Tip", "BaseFeature"):
                yield from _whole(used)


def _placed_below(obj: Any) -> Iterator[Any]:
    """Yield the objects with a placement in a group that has no placement."""
    above = obj.getParentGeoFeatureGroup()
    for child in descendants(obj):
        if "Placement" in child.PropertiesList and child.getParentGeoFeatureGroup() == above:
            yield child


def _card_entries(look: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the entries of FreeCAD's material card for a look, each as key and text."""
    if look in ("base_color", "emission"):
        red, green, blue = (_to_srgb(float(part)) for part in value)
        key = "DiffuseColor" if look == "base_color" else "EmissiveColor"
        yield key, f"({red:.4f}, {green:.4f}, {blue:.4f}, 0.0)"
        return
    inverse = 1 - min(max(float(value), 0.0), 1.0)
    if look == "roughness":
        yield "Shininess", f"{inverse:.4f}"
    else:
        yield "Transparency", f"{100 * inverse:.0f}"


def _to_srgb(linear: float) -> float:
    """Return a component of a linear colour in sRGB, clamped to 0 to 1."""
    part = min(max(linear, 0.0), 1.0)
    if part <= 0.0031308:
        return 12.92 * part
    encoded: float = 1.055 * part ** (1 / 2.4) - 0.055
    return encoded


def _show(obj: Any, card: Mapping[str, str]) -> None:
    """Copy the looks of a material card to an object."""
    view = obj.ViewObject
    material = view.ShapeMaterial
    for key in ("DiffuseColor", "EmissiveColor"):
        if key in card:
            components = card[key].strip("()").split(",")
            setattr(material, key, tuple(float(component) for component in components))
    if "Shininess" in card:
        material.Shininess = float(card["Shininess"])
    if "Transparency" in card:
        material.Transparency = float(card["Transparency"]) / 100
    view.ShapeMaterial = material
    if "OverrideMaterial" in view.PropertiesList:
        view.OverrideMaterial = True
