"""The places and sizes of FreeCAD's objects. Main thread."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import FreeCAD

from dcc_bridge.spi import At, Axes, Bounds, Building, Placement, Vector, triple

from ..document import document, find
from ..edges import is_view
from ..transactions import transactions
from .edge_items import EdgeItem, edge_item
from .properties import lock_reason

_CURVE_POINTS: Final = 257  # of a curve along which others are put
_NO_SCALE: Final = (
    "{} cannot be scaled: a Placement in FreeCAD has no scale. Set its lengths with set_values, or "
    "duplicate it linked: a link has a scale."
)


class _Places(Building):
    """The operations on the places of objects."""

    def bounds(self, item: str) -> Bounds | None:
        """Return the box of a shape, or of all shapes in a group; None if there is no shape."""
        transactions().compute()
        edge = edge_item(item)
        if edge is not None:
            return _bounds_of_edge(edge)
        boxes = [box for box in _boxes(find(item)) if box.isValid()]
        if not boxes:
            return None
        whole = boxes[0]
        for box in boxes[1:]:
            whole.add(box)
        low = float(whole.XMin), float(whole.YMin), float(whole.ZMin)
        high = float(whole.XMax), float(whole.YMax), float(whole.ZMax)
        return low, high

    def placement(self, item: str, space: Axes = "world") -> Placement:
        """Return an object's Placement; a scale other than 1 is that of a link.

        Raises:
            ValueError: The object has no place of its own.
        """
        transactions().compute()
        obj = _find_placed(item)
        where = world_placement(obj) if space == "world" else obj.Placement
        yaw, pitch, roll = where.Rotation.toEuler()
        return Placement(triple(where.Base), (roll, pitch, yaw), _scale(obj))

    def path(self, item: str) -> list[Vector]:
        """Return points of the first wire or edge of an object's shape.

        Raises:
            ValueError: The object has no shape, or one with faces.
        """
        transactions().compute()
        shape = world_shape(find(item))
        if shape is None or not hasattr(shape, "Edges") or shape.Faces or not shape.Edges:
            raise ValueError(f"{item} is no curve: give along a list of points.")
        curve = [*shape.Wires, *shape.Edges][0]
        points = [triple(point) for point in curve.discretize(Number=_CURVE_POINTS)]
        if curve.isClosed():
            points[-1] = points[0]
        return points

    def place(
        self, item: str, at: At = None, rotation: At = None, scale: At = None, space: Axes = "world"
    ) -> None:
        """Write an object's Placement, and the scale of a link.

        Args:
            item: The object.
            at: The position in mm; None leaves it.
            rotation: The angles about X, Y and Z in degrees; None leaves them.
            scale: The factors of a link; None leaves them.
            space: The axes of position and rotation.

        Raises:
            ValueError: The object cannot be placed, or not scaled.
        """
        obj = _find_placed(item)
        lock = _place_lock(obj)
        if lock:
            raise ValueError(f"{item} cannot be placed: {lock}.")
        if scale is not None and math.dist(scale, _scale(obj)) > 1e-9:
            if "ScaleVector" not in obj.PropertiesList:
                raise ValueError(_NO_SCALE.format(item))
            obj.ScaleVector = FreeCAD.Vector(*scale)
        above = placement_above(obj) if space == "world" else FreeCAD.Placement()
        where = above.multiply(obj.Placement)
        if at is not None:
            where.Base = FreeCAD.Vector(*at)
        if rotation is not None:
            where.Rotation = FreeCAD.Rotation(*reversed(rotation))
        if at is not None or rotation is not None:
            obj.Placement = above.inverse().multiply(where)
        transactions().stale.add(document().Name)

    def aim(self, item: str) -> tuple[Vector, Vector]:
        """Return the axis along which cylinders, cones and extrusions are long, and Y as up."""
        return (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)


def _bounds_of_edge(edge: EdgeItem) -> Bounds | None:
    """Return the box of an edge in the world; None of an edge that is drawn on a page."""
    if is_view(edge.obj):
        return None
    placed = edge.obj.Shape.getElement(f"Edge{edge.edge.number}").copy(False)
    placed.Placement = placement_above(edge.obj).multiply(placed.Placement)
    box = placed.BoundBox
    return triple((box.XMin, box.YMin, box.ZMin)), triple((box.XMax, box.YMax, box.ZMax))


def _place_lock(obj: Any) -> str:
    """Return why an object cannot be placed; "" if it can."""
    body = obj.getParentGeoFeatureGroup()
    if body is not None and obj.isDerivedFrom("PartDesign::Feature"):
        return f"it is a step in the making of {body.Name}, which can be placed"
    return lock_reason(obj, "Placement")


def world_placement(obj: Any) -> Any:
    """Return the placement of an object in the world."""
    return placement_above(obj).multiply(obj.Placement)


def placement_above(obj: Any) -> Any:
    """Return the world placement of the part or body that an object's own placement refers to."""
    where = FreeCAD.Placement()
    for above in groups_above(obj):
        where = above.Placement.multiply(where)
    return where


def groups_above(obj: Any) -> Iterator[Any]:
    """Yield the part or body that an object is in, then that in which this one is, and so on."""
    seen = {obj.Name}
    above = obj.getParentGeoFeatureGroup()
    while above is not None and above.Name not in seen:  # a damaged document may lead back
        yield above
        seen.add(above.Name)
        above = above.getParentGeoFeatureGroup()


def world_shape(obj: Any) -> Any:
    """Return a copy of an object's shape or mesh in its world placement; None without a shape."""
    shape = own_shape(obj)
    if shape is None:
        return None
    above = placement_above(obj)
    copy = shape.copy(False) if hasattr(shape, "ShapeType") else shape.copy()
    copy.Placement = above.multiply(copy.Placement)
    return copy


def own_shape(obj: Any) -> Any:
    """Return an object's shape or mesh, which must not be changed; None if it is empty."""
    if obj.isDerivedFrom("Mesh::Feature"):
        return obj.Mesh if obj.Mesh.CountFacets else None
    if obj.isDerivedFrom("Part::Datum") or not _may_have_shape(obj):  # a datum is endless
        return None
    require_end(obj)
    shape = getattr(obj, "Shape", None)
    if shape is None or shape.isNull():
        return None
    return shape


def require_end(obj: Any) -> None:
    """Raise ValueError for links that lead back: FreeCAD 0.20 crashes as it looks for a shape."""
    seen = set[str]()
    while "LinkedObject" in obj.PropertiesList:
        if obj.Name in seen:
            raise ValueError("it links back to itself")
        seen.add(obj.Name)
        obj = obj.LinkedObject
        if obj is None:
            return


def children(obj: Any) -> list[Any]:
    """Return the objects in a group, a part, a body or an origin, in its order."""
    names = obj.PropertiesList
    members = list(obj.Group) if "Group" in names else []
    # A part also lists the members of the groups in it.
    deeper = set[str]()
    for member in members:
        if "Group" in member.PropertiesList:
            deeper.update(each.Name for each in member.Group)
    result = [member for member in members if member.Name not in deeper]
    if "OriginFeatures" in names:
        result += obj.OriginFeatures
    if "Origin" in names and obj.Origin:
        result.append(obj.Origin)
    return result


def descendants(obj: Any) -> Iterator[Any]:
    """Yield the objects in an object, each followed by those in it, and each of them once."""
    yield from _descendants(obj, {obj.Name})


def _descendants(obj: Any, seen: set[str]) -> Iterator[Any]:
    for child in children(obj):
        if child.Name in seen:  # a damaged document may lead back
            continue
        seen.add(child.Name)
        yield child
        yield from _descendants(child, seen)


def parent_of(obj: Any) -> Any:
    """Return the group, part, body or origin that an object is in; None if it is in none."""
    if obj.isDerivedFrom("App::OriginFeature"):
        for user in obj.InList:
            if "OriginFeatures" in user.PropertiesList:
                return user
        return None
    return obj.getParentGroup() or obj.getParentGeoFeatureGroup()


@contextmanager
def scratch_document() -> Iterator[Any]:
    """Make a hidden document for the block, and close it; the active document stays so."""
    active = document().Name
    scratch = FreeCAD.newDocument("dcc_bridge", hidden=True, temp=True)
    scratch.UndoMode = 0  # its edits belong to no step
    FreeCAD.setActiveDocument(active)
    try:
        yield scratch
    finally:
        FreeCAD.closeDocument(scratch.Name)
        FreeCAD.setActiveDocument(active)


def _boxes(obj: Any) -> Iterator[Any]:
    """Yield the box of an object's shape, or the boxes of all shapes in a group."""
    if not _has_own_box(obj):
        for below in descendants(obj):
            if _has_own_box(below):
                yield from _boxes(below)
        return
    shape = own_shape(obj)
    if shape is None:
        return
    # FreeCAD makes an inexact box from the facets of a shape that was drawn: a copy has no facets.
    is_copied = FreeCAD.GuiUp or not placement_above(obj).isIdentity()
    placed = world_shape(obj) if is_copied else shape
    is_uneven = len(set(_scale(obj))) > 1
    if is_uneven:  # the plain box of a shape scaled unevenly is too large
        yield placed.optimalBoundingBox()
    else:
        yield placed.BoundBox


def _has_own_box(obj: Any) -> bool:
    return _may_have_shape(obj) or bool(obj.isDerivedFrom("Mesh::Feature"))


def _may_have_shape(obj: Any) -> bool:
    return bool(obj.isDerivedFrom("Part::Feature") or "LinkedObject" in obj.PropertiesList)


def _find_placed(item: str) -> Any:
    """Return an object; ValueError if it has no Placement."""
    obj = find(item)
    if "Placement" not in obj.PropertiesList:
        raise ValueError(f"{item}, a {obj.TypeId}, has no place of its own: move what is in it.")
    return obj


def _scale(obj: Any) -> Vector:
    return triple(getattr(obj, "ScaleVector", (1.0, 1.0, 1.0)))
