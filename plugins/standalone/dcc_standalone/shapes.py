"""What of the stage can be seen, as points in space: boxes, camera frusta and lights.

No Qt in here. Main thread, as everything that reads the stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import hypot
from typing import Any

from pxr import Gf, Tf, Usd, UsdGeom, UsdLux, UsdShade

from dcc_standalone.space import Box, Point, cross, dot
from dcc_standalone.tree import Kind, kind_of

Colour = tuple[float, float, float]
_Seen = tuple[Usd.Prim, Kind]
_FIRST = Usd.TimeCode.EarliestTime()
_GREY: Colour = (0.46, 0.49, 0.54)
_SOLID = {Kind.GEOMETRY, Kind.CURVES}
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
"""The corners of a box's faces, counter-clockwise seen from outside."""
_SKY = Tf.Type.Find(UsdLux.DomeLight)
_SUN = (0.349, 0.847, 0.399)


@dataclass(frozen=True, slots=True)
class Shape:
    """One prim in space."""

    path: str
    kind: Kind
    points: tuple[Point, ...]
    """A box's eight corners; a camera's place and its frame's four; a light's place."""
    colour: Colour = _GREY  # linear red, green and blue of a box
    shades: tuple[float, ...] = ()  # how bright each face of a box is


@dataclass(frozen=True)
class Scenery:
    """All shapes of a stage."""

    shapes: tuple[Shape, ...]
    focus: tuple[Point, ...]
    """What is worth looking at: all but the ground, which is as large as everything together."""
    size: float  # how large a camera or light is drawn, in the scene's units


def collect(
    stage: Usd.Stage,
    time: Usd.TimeCode = _FIRST,
    through: Callable[[Sequence[_Seen]], Iterable[_Seen]] = iter,
) -> Scenery:
    """Find the shapes of all visible prims at a frame; by default at the first key of each value.

    `through` is what the prims are iterated with, where it takes long.
    """
    reader = _Reader(stage, time)
    prims = list(_visible(stage, time))
    boxes = through([seen for seen in prims if seen[1] in _SOLID])
    solids = [shape for prim, kind in boxes for shape in reader.solid(prim, kind)]
    placed = [(prim, kind, reader.axes(prim)) for prim, kind in prims if kind not in _SOLID]
    focus = _focus(solids, [axes.origin for _, _, axes in placed])
    size = Box.around(focus).radius * 0.013
    marks = [reader.mark(prim, kind, axes, size) for prim, kind, axes in placed]
    return Scenery((*solids, *marks), focus, size)


def _focus(solids: Sequence[Shape], places: Sequence[Point]) -> tuple[Point, ...]:
    everything = [*places, *(point for shape in solids for point in shape.points)]
    box = Box.around(everything)
    objects = [shape for shape in solids if Box.around(shape.points).radius < box.radius * 0.7]
    kept = [*places, *(point for shape in objects for point in shape.points)] if objects else []
    return tuple(kept or everything or (box.low, box.high))


def _visible(stage: Usd.Stage, time: Usd.TimeCode) -> Iterator[_Seen]:
    prims = iter(Usd.PrimRange(stage.GetPseudoRoot()))
    for prim in prims:
        imageable = UsdGeom.Imageable(prim)
        if imageable and imageable.GetVisibilityAttr().Get(time) == UsdGeom.Tokens.invisible:
            prims.PruneChildren()
            continue
        kind = kind_of(str(prim.GetTypeName()))
        has_place = kind in _SOLID or kind in (Kind.CAMERA, Kind.LIGHT)
        if has_place and not prim.IsA(_SKY):
            yield prim, kind


class _Axes:
    """Where a prim's own axes lie in the world, Y up, as plain numbers."""

    def __init__(self, matrix: Gf.Matrix4d, lies: bool) -> None:
        points = [(x, z, -y) if lies else (x, y, z) for x, y, z, _ in _numbers(matrix)]
        self.x, self.y, self.z, self.origin = points

    def point(self, x: float, y: float, z: float) -> Point:
        """Put a point of the prim's own space into the world."""
        (ax, ay, az), (bx, by, bz), (cx, cy, cz) = self.x, self.y, self.z
        ox, oy, oz = self.origin
        return (
            ox + x * ax + y * bx + z * cx,
            oy + x * ay + y * by + z * cy,
            oz + x * az + y * bz + z * cz,
        )

    def is_mirrored(self) -> bool:
        """Whether left became right."""
        return dot(self.x, cross(self.y, self.z)) < 0

    def shades(self) -> tuple[float, ...]:
        """Say how bright the faces of a box are."""
        normals = cross(self.y, self.z), cross(self.z, self.x), cross(self.x, self.y)
        sign = -1.0 if self.is_mirrored() else 1.0
        lit = [sign * dot(normal, _SUN) / (hypot(*normal) or 1.0) for normal in normals]
        return tuple(
            0.55 + 0.45 * max(-0.4, turned) for toward in lit for turned in (-toward, toward)
        )


class _Reader:
    """Reads places, with what USD remembers between prims."""

    def __init__(self, stage: Usd.Stage, time: Usd.TimeCode) -> None:
        self._time = time
        self._places = UsdGeom.XformCache(time)
        self._bounds = UsdGeom.BBoxCache(time, [UsdGeom.Tokens.default_, UsdGeom.Tokens.render])
        self._colours = {"": _GREY}
        self._lies = UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z

    def axes(self, prim: Usd.Prim) -> _Axes:
        """Say where a prim stands and how it is turned, at its true size."""
        matrix = self._places.GetLocalToWorldTransform(prim)
        return _Axes(matrix.RemoveScaleShear(), self._lies)

    def solid(self, prim: Usd.Prim, kind: Kind) -> Iterator[Shape]:
        """Make the box of what has an extent; nothing if it is empty."""
        limits = self._bounds.ComputeUntransformedBound(prim).GetRange()
        if limits.IsEmpty():
            return
        axes = _Axes(self._places.GetLocalToWorldTransform(prim), self._lies)
        (ax, ay, az), (bx, by, bz) = _numbers(limits.GetMin()), _numbers(limits.GetMax())
        if axes.is_mirrored():
            ax, bx = bx, ax  # so that the faces stay turned outwards
        points = tuple(axes.point(*at) for at in product((ax, bx), (ay, by), (az, bz)))
        yield Shape(str(prim.GetPath()), kind, points, self._colour(prim), axes.shades())

    def _colour(self, prim: Usd.Prim) -> Colour:
        colours = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get(self._time)
        if colours:
            red, green, blue = _numbers(colours[0])
            return red, green, blue
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        path = str(material.GetPath()) if material else ""
        if path not in self._colours:
            self._colours[path] = _diffuse(material, self._time)
        return self._colours[path]

    def mark(self, prim: Usd.Prim, kind: Kind, axes: _Axes, size: float) -> Shape:
        """Make the mark of a camera or a light, of a size in the scene's units."""
        ends = self._frame(prim, size) if kind is Kind.CAMERA else []
        points = (axes.origin, *(axes.point(*end) for end in ends))
        return Shape(str(prim.GetPath()), kind, points)

    def _frame(self, prim: Usd.Prim, size: float) -> list[Point]:
        camera = UsdGeom.Camera(prim)
        lens = camera.GetFocalLengthAttr().Get(self._time) or 50.0
        wide = camera.GetHorizontalApertureAttr().Get(self._time) or 20.955
        high = camera.GetVerticalApertureAttr().Get(self._time) or 15.2908
        x, y = min(wide / lens, 3.0) * size / 2, min(high / lens, 3.0) * size / 2
        return [(-x, -y, -size), (x, -y, -size), (x, y, -size), (-x, y, -size)]


def _diffuse(material: UsdShade.Material, time: Usd.TimeCode) -> Colour:
    """Give the colour of a material's preview surface, where it is one plain value."""
    shader, _, _ = material.ComputeSurfaceSource()
    given = shader.GetInput("diffuseColor") if shader else None
    value = given.Get(time) if given else None
    return (value[0], value[1], value[2]) if value is not None else _GREY


def _numbers(value: object) -> Any:
    """Give the numbers of one of USD's vectors or matrices; its own iterator takes 20 µs each."""
    return memoryview(value).tolist()  # type: ignore[arg-type]  # they are buffers; the stubs do not say so
