"""The places and sizes of FreeCAD's objects. Main thread."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import FreeCAD

from dcc_bridge.spi import At, Axes, Bounds, Building, Placement, Vector, triple

from ..document import document, find
from ..transactions import transactions
from .properties import held

_NO_SCALE: Final = (
    "{} cannot be scaled: a Placement in FreeCAD has no scale. Set its lengths with set_values, or "
    "duplicate it linked: a link has a scale."
)


class _Places(Building):
    """The operations on where things are."""

    def bounds(self, item: str) -> Bounds | None:
        """Return the box of the shape, or of all that is in a group."""
        transactions().compute()
        boxes = [box for box in _boxes(find(item)) if box.isValid()]
        if not boxes:
            return None
        whole = boxes[0]
        for box in boxes[1:]:
            whole.add(box)
        low = float(whole.XMin), float(whole.YMin), float(whole.ZMin)
        return low, (float(whole.XMax), float(whole.YMax), float(whole.ZMax))

    def placement(self, item: str, space: Axes = "world") -> Placement:
        """Read the Placement; the scale is that of a link."""
        transactions().compute()
        obj = _placed(item)
        where = world(obj) if space == "world" else obj.Placement
        yaw, pitch, roll = where.Rotation.toEuler()
        return Placement(triple(where.Base), (roll, pitch, yaw), _scale(obj))

    def place(
        self, item: str, at: At = None, rotation: At = None, scale: At = None, space: Axes = "world"
    ) -> None:
        """Write the Placement, and of a link the scale."""
        obj = _placed(item)
        if reason := _held(obj):
            raise ValueError(f"{item} cannot be placed: {reason}.")
        if scale is not None and math.dist(scale, _scale(obj)) > 1e-9:
            if "ScaleVector" not in obj.PropertiesList:
                raise ValueError(_NO_SCALE.format(item))
            obj.ScaleVector = FreeCAD.Vector(*scale)
        above = above_of(obj) if space == "world" else FreeCAD.Placement()
        where = above.multiply(obj.Placement)
        if at is not None:
            where.Base = FreeCAD.Vector(*at)
        if rotation is not None:
            where.Rotation = FreeCAD.Rotation(*reversed(rotation))
        if at is not None or rotation is not None:
            obj.Placement = above.inverse().multiply(where)
        transactions().stale.add(document().Name)

    def aim(self, item: str) -> tuple[Vector, Vector]:
        """Return the axis along which cylinders, cones and extrusions are long."""
        return (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)


def _held(obj: Any) -> str:
    """Say why an object cannot be placed; nothing where it can."""
    body = obj.getParentGeoFeatureGroup()
    if body is not None and obj.isDerivedFrom("PartDesign::Feature"):
        return f"it is a step in the making of {body.Name}, which can be placed"
    return held(obj, "Placement")


def world(obj: Any) -> Any:
    """Return the placement of an object in the world, with all above it."""
    return above_of(obj).multiply(obj.Placement)


def above_of(obj: Any) -> Any:
    """Return the placement of the axes in which an object's own is given."""
    where, above = FreeCAD.Placement(), obj.getParentGeoFeatureGroup()
    while above is not None:
        where = above.Placement.multiply(where)
        above = above.getParentGeoFeatureGroup()
    return where


def world_shape(obj: Any) -> Any:
    """Return a copy of an object's shape or mesh where it is in the world; None without one."""
    shape = own_shape(obj)
    if shape is None:
        return None
    above = above_of(obj)
    copy = shape.copy(False) if hasattr(shape, "ShapeType") else shape.copy()
    copy.Placement = above.multiply(copy.Placement)
    return copy


def own_shape(obj: Any) -> Any:
    """Return an object's shape or mesh, which must not be changed; None where it is empty."""
    if obj.isDerivedFrom("Mesh::Feature"):
        return obj.Mesh if obj.Mesh.CountFacets else None
    has_end = _may_have_shape(obj) and not obj.isDerivedFrom("Part::Datum")
    shape = getattr(obj, "Shape", None) if has_end else None
    return None if shape is None or shape.isNull() else shape


def children(obj: Any) -> list[Any]:
    """List what is in a group, a part, a body or an origin, in its order."""
    names = obj.PropertiesList
    found = list(obj.Group) if "Group" in names else []
    # What is in a group in a part is listed by the part as well.
    deep = {each.Name for one in found if "Group" in one.PropertiesList for each in one.Group}
    found = [each for each in found if each.Name not in deep]
    if "OriginFeatures" in names:
        found += obj.OriginFeatures
    return [*found, obj.Origin] if "Origin" in names and obj.Origin else found


def below(obj: Any) -> Iterator[Any]:
    """Walk all that is in an object, and in that."""
    for child in children(obj):
        yield child
        yield from below(child)


def parent_of(obj: Any) -> Any:
    """Return the group, part, body or origin that an object is in; None where it is in none."""
    if obj.isDerivedFrom("App::OriginFeature"):
        return next((user for user in obj.InList if "OriginFeatures" in user.PropertiesList), None)
    return obj.getParentGroup() or obj.getParentGeoFeatureGroup()


@contextmanager
def scratch_document() -> Iterator[Any]:
    """Make a document that nobody sees, and close it."""
    active = document().Name
    scratch = FreeCAD.newDocument("dcc_bridge", hidden=True, temp=True)
    scratch.UndoMode = 0  # what is done in it is no step
    FreeCAD.setActiveDocument(active)
    try:
        yield scratch
    finally:
        FreeCAD.closeDocument(scratch.Name)
        FreeCAD.setActiveDocument(active)


def _boxes(obj: Any) -> Iterator[Any]:
    if not _may_have_shape(obj) and not obj.isDerivedFrom("Mesh::Feature"):
        for child in children(obj):
            yield from _boxes(child)
        return
    shape = own_shape(obj)
    if shape is None:
        return
    # What is drawn has facets, of which a box is made that is not the exact one: a copy has none.
    is_copied = FreeCAD.GuiUp or not above_of(obj).isIdentity()
    placed = world_shape(obj) if is_copied else shape
    # What is scaled more in one direction has a box that is too large, but for this.
    is_uneven = len(set(_scale(obj))) > 1
    yield placed.optimalBoundingBox() if is_uneven else placed.BoundBox


def _may_have_shape(obj: Any) -> bool:
    return bool(obj.isDerivedFrom("Part::Feature") or "LinkedObject" in obj.PropertiesList)


def _placed(item: str) -> Any:
    obj = find(item)
    if "Placement" not in obj.PropertiesList:
        raise ValueError(f"{item}, a {obj.TypeId}, has no place of its own: move what is in it.")
    return obj


def _scale(obj: Any) -> Vector:
    return triple(getattr(obj, "ScaleVector", (1.0, 1.0, 1.0)))
