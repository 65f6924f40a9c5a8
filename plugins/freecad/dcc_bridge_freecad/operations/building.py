"""Making, copying, grouping and naming objects, and how they look. Main thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from dcc_bridge.spi import Building

from ..document import document, find
from ..parts import linked
from ..transactions import transactions
from .places import above_of, below, parent_of, world
from .properties import explained, form, links_of

_GROUP: Final = "App::DocumentObjectGroup"
_KINDS: Final = {"collection": _GROUP, "folder": _GROUP, "group": _GROUP, "parent": "App::Part"}
_MATERIAL: Final = "App::MaterialObject"
_LOOKS: Final = ("base_color", "emission", "roughness", "opacity")


class _Builds(Building):
    """The operations that make, and that put in order."""

    def create(self, kind: str, name: str | None, under: str | None) -> str:
        """Add an object; its label is the name, with a number where that is taken."""
        if kind not in self.types():
            near = ", ".join(get_close_matches(kind, self.types(), 3))
            raise LookupError(f"There is no type {kind!r}" + (f"; near: {near}." if near else "."))
        obj = document().addObject(kind, name or kind.partition("::")[2])
        if name:
            obj.Label = name
        if under is not None:
            _put_into(_group(under), obj)
        transactions().stale.add(document().Name)
        return str(obj.Name)

    def duplicate(self, item: str, *, linked: bool) -> str:
        """Copy an object with all that is in it and what it is made of, or make a link to it."""
        obj = find(item)
        body = obj.getParentGeoFeatureGroup()
        if body is not None and obj.isDerivedFrom("PartDesign::Feature"):
            raise ValueError(f"{item} is a step in the making of {body.Name}: duplicate that.")
        if linked:
            copy = document().addObject("App::Link", obj.Name)
            copy.LinkedObject, copy.Label = obj.getLinkedObject(), obj.Label
            for name in {"Placement", "ScaleVector"} & set(obj.PropertiesList):
                setattr(copy, name, getattr(obj, name))
        else:
            whole = {each.Name: each for each in _whole(obj)}
            copies = document().copyObject(list(whole.values()), False)
            copy = copies[0] if isinstance(copies, list | tuple) else copies
        above = parent_of(obj)
        if above is not None and not above.isDerivedFrom("PartDesign::Body"):
            _put_into(above, copy)
        transactions().stale.add(document().Name)
        return str(copy.Name)

    def set_parent(self, item: str, under: str | None, *, keep_place: bool) -> str:
        """Take an object out of what it is in, and put it into a group, a part or a body."""
        obj = find(item)
        group = _group(under) if under is not None else None
        if group is not None and group in (obj, *below(obj)):
            raise ValueError(f"{item} cannot be put into {under}, which is in it.")
        # What is in a group that is moved moves with it.
        moved = [obj] if "Placement" in obj.PropertiesList else list(_placed_below(obj))
        before = [world(each) for each in moved]
        for above in {parent_of(obj), obj.getParentGeoFeatureGroup()} - {None, group}:
            above.removeObject(obj)
        if group is not None:
            _put_into(group, obj)
        for each, place in zip(moved, before, strict=True) if keep_place else ():
            local = above_of(each).inverse().multiply(place)
            if local != each.Placement:
                each.Placement = local
        transactions().stale.add(document().Name)
        return item

    def collect(self, items: Sequence[str], into: str, kind: str) -> str:
        """Put objects into a group or a part; each is in one at most."""
        if kind not in _KINDS:
            raise ValueError(f"FreeCAD has no {kind}: it has {', '.join(_KINDS)} (an App::Part).")
        found = document().getObject(into) or next(iter(document().getObjectsByLabel(into)), None)
        group = str(found.Name) if found is not None else self.create(_KINDS[kind], into, None)
        for item in items:
            self.set_parent(item, group, keep_place=True)
        return group

    def called(self, item: str, name: str) -> tuple[str, Sequence[str]]:
        """Return a label, and the objects that have it: their names have nothing to do with it."""
        label = name.strip()
        others = document().getObjectsByLabel(label)
        return label, [str(it.Name) for it in others if it.Name != item]

    def rename(self, item: str, name: str) -> str:
        """Change the label; expressions follow. The name, by which the item is told, stays."""
        obj, (label, others) = find(item), self.called(item, name)
        if not label:
            raise ValueError(f"{item} needs a label that can be read.")
        if others:
            raise ValueError(f"{label!r} is taken: it is the label of {others[0]}.")
        obj.Label = label
        return str(obj.Name)

    # ---- materials, where there is a window

    def materials(self) -> list[str]:
        return [str(obj.Name) for obj in document().findObjects(_MATERIAL)]

    def material(self, name: str | None, values: Mapping[str, Any]) -> str:
        """Make or change a material object; what has it looks so."""
        if other := sorted(values.keys() - set(_LOOKS)):
            raise ValueError(f"FreeCAD draws no {', '.join(other)}, but {', '.join(_LOOKS)}.")
        known = {str(obj.Label): obj for obj in document().findObjects(_MATERIAL)}
        obj = known.get(name or "") or document().getObject(name or "Material")
        if obj is None or not obj.isDerivedFrom(_MATERIAL):
            obj = document().addObject(_MATERIAL, name or "Material")
            obj.Label = name or obj.Label
        card = {**obj.Material, "Name": str(obj.Label)}
        card |= {key: text for look, it in values.items() for key, text in _card(look, it)}
        obj.Material = card
        for user in obj.InList:
            if getattr(user, "Material", None) == obj:
                _show(user, card)
        return str(obj.Name)

    def assign(self, item: str, material: str) -> None:
        """Put the colours of a material on an object, and a link to the material."""
        obj, given = find(item), find(material)
        if not hasattr(obj.ViewObject, "ShapeMaterial"):
            raise ValueError(f"{item}, a {obj.TypeId}, has no surface: assign to what is in it.")
        if "Material" not in obj.PropertiesList:
            obj.addProperty("App::PropertyLink", "Material", "Material", "What it looks like")
        if form(obj, "Material") != "App::PropertyLink":
            raise ValueError(f"{item} keeps its material in a way of its own.")
        obj.Material = given
        _show(obj, given.Material)
        transactions().stale.add(document().Name)


def _group(under: str) -> Any:
    group = find(under)
    if not group.hasExtension("App::GroupExtension"):
        raise ValueError(f"{under}, a {group.TypeId}, holds nothing: create a {_GROUP}.")
    return group


def _put_into(group: Any, obj: Any) -> None:
    with explained(f"{obj.Name} cannot be put into {group.Name}"):
        group.addObject(obj)


def _whole(obj: Any) -> Iterator[Any]:
    """Walk an object, all that is in it, and the shapes that it is made of."""
    yield obj
    for child in below(obj):
        yield from _whole(child)
    for name in links_of(obj):
        for used in linked(getattr(obj, name)):
            is_shape = used.isDerivedFrom("Part::Feature") and used.Document == obj.Document
            if is_shape and name not in ("Support", "LinkedObject", "Tip", "BaseFeature"):
                yield from _whole(used)


def _placed_below(obj: Any) -> Iterator[Any]:
    """Walk what has a place of its own in a group that has none."""
    above = obj.getParentGeoFeatureGroup()
    for child in below(obj):
        if "Placement" in child.PropertiesList and child.getParentGeoFeatureGroup() == above:
            yield child


def _card(look: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield a look in the words of FreeCAD's material cards."""
    if look in ("base_color", "emission"):
        red, green, blue = (_as_shown(float(part)) for part in value)
        key = "DiffuseColor" if look == "base_color" else "EmissiveColor"
        yield key, f"({red:.4f}, {green:.4f}, {blue:.4f}, 0.0)"
    elif look == "roughness":
        yield "Shininess", f"{1 - min(max(float(value), 0.0), 1.0):.4f}"
    else:
        yield "Transparency", f"{100 * (1 - min(max(float(value), 0.0), 1.0)):.0f}"


def _as_shown(linear: float) -> float:
    """Return a part of a linear colour as a screen takes it."""
    part = min(max(linear, 0.0), 1.0)
    return 12.92 * part if part <= 0.0031308 else 1.055 * part ** (1 / 2.4) - 0.055


def _show(obj: Any, card: Mapping[str, str]) -> None:
    shown = obj.ViewObject
    look = shown.ShapeMaterial
    for key in ("DiffuseColor", "EmissiveColor"):
        if key in card:
            setattr(look, key, tuple(float(part) for part in card[key].strip("()").split(",")))
    if "Shininess" in card:
        look.Shininess = float(card["Shininess"])
    if "Transparency" in card:
        look.Transparency = float(card["Transparency"]) / 100
    shown.ShapeMaterial = look
    if "OverrideMaterial" in shown.PropertiesList:
        shown.OverrideMaterial = True
