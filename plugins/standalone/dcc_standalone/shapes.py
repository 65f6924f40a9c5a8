"""What of the stage can be seen, as points in space: boxes, camera frusta and lights.

No Qt in here. Main thread, as everything that reads the stage.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, cast

from pxr import Gf, Usd, UsdGeom, UsdShade

from .kinds import Kind, kind_of
from .space import Box, Point

if TYPE_CHECKING:
    from pxr.Gf import Matrix4d

_GREY = (0.46, 0.49, 0.54)
_SOLID = {Kind.GEOMETRY, Kind.CURVES}
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
"""The corners of a box's faces, counter-clockwise seen from outside."""
_SUN = Gf.Vec3d(0.35, 0.85, 0.4).GetNormalized()


@dataclass(frozen=True, slots=True)
class Shape:
    """One prim in space."""

    path: str
    kind: Kind
    points: tuple[Point, ...]
    """A box's eight corners; a camera's place and the four corners of its frame; a light's place
    and a point it shines to."""
    colour: tuple[float, float, float] = _GREY
    """Linear red, green and blue of a box."""
    shades: tuple[float, ...] = ()
    """How bright each face of a box is."""


@dataclass(frozen=True)
class Scenery:
    """All shapes of a stage."""

    shapes: tuple[Shape, ...]
    focus: tuple[Point, ...]
    """What is worth looking at: all but the ground, which is as large as everything together."""
    size: float
    """How large a camera or light is drawn, in the scene's units."""


def collect(stage: Usd.Stage) -> Scenery:
    """Find the shapes of all visible prims of a stage."""
    reader = _Reader(stage)
    prims = list(_visible(stage))
    solids = [shape for prim, kind in prims if kind in _SOLID for shape in reader.solid(prim, kind)]
    places = [reader.place(prim) for prim, kind in prims if kind not in _SOLID]
    focus = _focus(solids, places)
    size = Box.around(focus).radius * 0.013
    marks = [reader.mark(prim, kind, size) for prim, kind in prims if kind not in _SOLID]
    return Scenery((*solids, *marks), focus, size)


def _focus(solids: Sequence[Shape], places: Sequence[Point]) -> tuple[Point, ...]:
    everything = [*places, *(point for shape in solids for point in shape.points)]
    box = Box.around(everything)
    objects = [shape for shape in solids if Box.around(shape.points).radius < box.radius * 0.7]
    kept = [*places, *(point for shape in objects for point in shape.points)] if objects else []
    return tuple(kept or everything or (box.low, box.high))


def _visible(stage: Usd.Stage) -> Iterator[tuple[Usd.Prim, Kind]]:
    prims = iter(Usd.PrimRange(stage.GetPseudoRoot()))
    for prim in prims:
        imageable = UsdGeom.Imageable(prim)
        if imageable and imageable.GetVisibilityAttr().Get() == UsdGeom.Tokens.invisible:
            prims.PruneChildren()
            continue
        kind = kind_of(str(prim.GetTypeName()))
        if kind in _SOLID or kind in (Kind.CAMERA, Kind.LIGHT):
            yield prim, kind


class _Reader:
    """Reads places, with what USD remembers between prims."""

    def __init__(self, stage: Usd.Stage) -> None:
        time = Usd.TimeCode.EarliestTime()
        self._time = time
        self._places = UsdGeom.XformCache(time)
        self._bounds = UsdGeom.BBoxCache(time, [UsdGeom.Tokens.default_, UsdGeom.Tokens.render])
        self._colours = {"": _GREY}
        self._lies = UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z

    def _point(self, matrix: Matrix4d, x: float, y: float, z: float) -> Point:
        a, b, c = cast("Point", matrix.Transform(Gf.Vec3d(x, y, z)))
        return (a, c, -b) if self._lies else (a, b, c)

    def place(self, prim: Usd.Prim) -> Point:
        """Say where a prim stands."""
        return self._point(self._places.GetLocalToWorldTransform(prim), 0, 0, 0)

    def solid(self, prim: Usd.Prim, kind: Kind) -> Iterator[Shape]:
        """Make the box of what has an extent; nothing if it is empty."""
        limits = self._bounds.ComputeUntransformedBound(prim).GetRange()
        if limits.IsEmpty():
            return
        matrix = self._places.GetLocalToWorldTransform(prim)
        low, high = limits.GetMin(), limits.GetMax()
        if matrix.GetDeterminant() < 0:
            low[0], high[0] = high[0], low[0]  # mirrored: the faces stay turned outwards
        corners = product(*zip(cast("Point", low), cast("Point", high), strict=True))
        points = tuple(self._point(matrix, *corner) for corner in corners)
        yield Shape(str(prim.GetPath()), kind, points, self._colour(prim), _shades(points))

    def _colour(self, prim: Usd.Prim) -> tuple[float, float, float]:
        colours = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get(self._time)
        if colours:
            red, green, blue = colours[0]
            return red, green, blue
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        path = str(material.GetPath()) if material else ""
        if path not in self._colours:
            self._colours[path] = _diffuse(material)
        return self._colours[path]

    def mark(self, prim: Usd.Prim, kind: Kind, size: float) -> Shape:
        """Make the mark of a camera or a light, of a size that does not depend on its scale."""
        matrix = self._places.GetLocalToWorldTransform(prim).RemoveScaleShear()
        if kind is Kind.CAMERA:
            ends = self._frame(prim, size)
        else:
            ends = [(0.0, 0.0, 0.0), (0.0, 0.0, -size)]
        points = tuple(self._point(matrix, *end) for end in ends)
        return Shape(str(prim.GetPath()), kind, points)

    def _frame(self, prim: Usd.Prim, size: float) -> list[Point]:
        camera = UsdGeom.Camera(prim)
        lens = camera.GetFocalLengthAttr().Get(self._time) or 50.0
        wide = camera.GetHorizontalApertureAttr().Get(self._time) or 20.955
        high = camera.GetVerticalApertureAttr().Get(self._time) or 15.2908
        x, y = min(wide / lens, 3.0) * size / 2, min(high / lens, 3.0) * size / 2
        return [(0.0, 0.0, 0.0), (-x, -y, -size), (x, -y, -size), (x, y, -size), (-x, y, -size)]


def _diffuse(material: UsdShade.Material) -> tuple[float, float, float]:
    """Give the colour of a material's preview surface, where it is one plain value."""
    shader, _, _ = material.ComputeSurfaceSource()
    given = shader.GetInput("diffuseColor") if shader else None
    value = given.Get() if given else None
    return (value[0], value[1], value[2]) if value is not None else _GREY


def _shades(points: tuple[Point, ...]) -> tuple[float, ...]:
    return tuple(_shade(*(Gf.Vec3d(*points[corner]) for corner in face[:3])) for face in FACES)


def _shade(a: Gf.Vec3d, b: Gf.Vec3d, c: Gf.Vec3d) -> float:
    normal = Gf.Cross(b - a, c - b).GetNormalized()
    return 0.55 + 0.45 * max(-0.4, Gf.Dot(normal, _SUN))
