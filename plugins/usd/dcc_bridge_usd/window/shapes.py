"""The visible prims of a stage as points in space: boxes, camera frusta and lights.

No Qt in here. Main thread, like everything that reads the stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from pxr import Gf, Tf, Usd, UsdGeom, UsdLux, UsdShade

from dcc_bridge.spi import readable

from ..prims import branch, require_end
from .space import Point, around, numbers, radius, upright
from .tree import Kind, kind_of

Colour = tuple[float, float, float]
_VisiblePrim = tuple[Usd.Prim, Kind]
_FIRST = Usd.TimeCode.EarliestTime()
_GREY: Colour = (0.46, 0.49, 0.54)
_SOLID = {Kind.GEOMETRY, Kind.CURVES}
FACES = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
"""The corners of a box's faces, counter-clockwise seen from outside."""
_SKY = Tf.Type.Find(UsdLux.DomeLight)
_SUN = Gf.Vec3d(0.349, 0.847, 0.399)  # the direction that the light comes from
_MIRRORED = (1, 0, 3, 2, 5, 4, 7, 6)
"""The corners of a mirrored box, so that its faces stay turned outwards."""


@dataclass(frozen=True, slots=True)
class Shape:
    """One prim in space.

    Attributes:
        path: The path of the prim.
        kind: The kind of the prim.
        points: The eight corners of a box; the place of a camera and the four corners of its frame;
            the place of a light.
        colour: Linear red, green and blue of a box.
        shades: How bright each face of a box is.
    """

    path: str
    kind: Kind
    points: tuple[Point, ...]
    colour: Colour = _GREY
    shades: tuple[float, ...] = ()


@dataclass(frozen=True)
class Scenery:
    """All shapes of a stage.

    Attributes:
        shapes: The shapes.
        focus: Points worth looking at: all but those of the ground, which is as large as everything
            together.
        size: How large a camera or light is drawn, in the scene's units.
    """

    shapes: tuple[Shape, ...]
    focus: tuple[Point, ...]
    size: float


def collect(
    stage: Usd.Stage,
    time: Usd.TimeCode = _FIRST,
    through: Callable[[Sequence[_VisiblePrim]], Iterable[_VisiblePrim]] = iter,
) -> Scenery:
    """Find the shapes of all visible prims.

    Args:
        stage: The scene.
        time: The frame; by default the first key of each value.
        through: Iterates over the prims with an extent, to report progress where that takes long.
    """
    reader = _Reader(stage, time)
    solid_prims: list[_VisiblePrim] = []
    placed: list[tuple[Usd.Prim, Kind, Gf.Matrix4d]] = []
    for prim, kind in _visible(stage, time):
        if kind in _SOLID:
            solid_prims.append((prim, kind))
            continue
        place = readable(str(prim.GetPath()), reader.place, prim)
        if place is not None:
            placed.append((prim, kind, place))
    solids = []
    for prim, kind in through(solid_prims):
        shape = readable(str(prim.GetPath()), reader.solid, prim, kind)
        if shape is not None:
            solids.append(shape)
    focus = _focus(solids, [place.ExtractTranslation() for _, _, place in placed])
    size = radius(around(focus)) * 0.013
    marks = []
    for prim, kind, place in placed:
        mark = readable(str(prim.GetPath()), reader.mark, prim, kind, place, size)
        if mark is not None:
            marks.append(mark)
    return Scenery((*solids, *marks), focus, size)


def _focus(solids: Sequence[Shape], places: Sequence[Point]) -> tuple[Point, ...]:
    """Return the points that are worth looking at; see `Scenery.focus`."""
    everything = [*places, *_points(solids)]
    box = around(everything)
    if not everything:
        return box.GetMin(), box.GetMax()
    large = radius(box) * 0.7
    objects = [shape for shape in solids if radius(around(shape.points)) < large]
    if not objects:
        return tuple(everything)
    return (*places, *_points(objects))


def _points(shapes: Iterable[Shape]) -> Iterator[Point]:
    for shape in shapes:
        yield from shape.points


def _visible(stage: Usd.Stage, time: Usd.TimeCode) -> Iterator[_VisiblePrim]:
    """Yield the visible prims that have a box or a mark, and their kinds."""
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


def _shades(matrix: Gf.Matrix4d) -> tuple[float, ...]:
    """Return how bright the faces of a box are."""
    x, y, z = (matrix.GetRow3(row) for row in range(3))
    side = -1.0 if _is_mirrored(matrix) else 1.0
    shades = list[float]()
    for normal in (Gf.Cross(y, z), Gf.Cross(z, x), Gf.Cross(x, y)):
        toward = side * (normal * _SUN) / (normal.GetLength() or 1.0)
        for facing in (-toward, toward):
            shades.append(0.55 + 0.45 * max(-0.4, facing))
    return tuple(shades)


def _is_mirrored(matrix: Gf.Matrix4d) -> bool:
    """Return whether a matrix turns left into right."""
    return bool(matrix.GetDeterminant3() < 0)


def _require_finite(points: Iterable[Point]) -> None:
    """Raise ValueError for points to which nothing can be drawn."""
    for point in points:
        if not all(map(isfinite, numbers(point))):
            raise ValueError("its place is no number")


class _Reader:
    """Reads places, boxes and colours, with caches for all prims of a stage."""

    def __init__(self, stage: Usd.Stage, time: Usd.TimeCode) -> None:
        self._time = time
        self._places = UsdGeom.XformCache(time)
        self._bounds = UsdGeom.BBoxCache(time, [UsdGeom.Tokens.default_, UsdGeom.Tokens.render])
        self._colours = {"": _GREY}
        self._upright = upright(stage)

    def place(self, prim: Usd.Prim) -> Gf.Matrix4d:
        """Return the matrix of a prim with Y up, without scale and shear."""
        matrix = self._places.GetLocalToWorldTransform(prim)
        _require_finite([matrix.ExtractTranslation()])
        return Gf.Matrix4d(matrix.RemoveScaleShear() * self._upright)

    def solid(self, prim: Usd.Prim, kind: Kind) -> Shape | None:
        """Return the box of a prim with an extent; None if the extent is empty."""
        require_end(branch(prim))
        limits = self._bounds.ComputeUntransformedBound(prim).GetRange()
        if limits.IsEmpty():
            return None
        matrix = self._places.GetLocalToWorldTransform(prim) * self._upright
        corners: Sequence[int] = range(8)
        if _is_mirrored(matrix):
            corners = _MIRRORED
        points = tuple(matrix.Transform(limits.GetCorner(corner)) for corner in corners)
        _require_finite(points)
        return Shape(str(prim.GetPath()), kind, points, self._colour(prim), _shades(matrix))

    def _colour(self, prim: Usd.Prim) -> Colour:
        """Return the display colour of a prim, or that of its material."""
        colours = UsdGeom.Gprim(prim).GetDisplayColorAttr().Get(self._time)
        if colours:
            red, green, blue = numbers(colours[0])
            return red, green, blue
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        path = str(material.GetPath()) if material else ""
        if path not in self._colours:
            self._colours[path] = _diffuse(material, self._time)
        return self._colours[path]

    def mark(self, prim: Usd.Prim, kind: Kind, place: Gf.Matrix4d, size: float) -> Shape:
        """Return the mark of a camera or a light, of a size in the scene's units."""
        points = [Gf.Vec3d(0)]
        if kind is Kind.CAMERA:
            points += self._frame(prim, size)
        placed = tuple(place.Transform(point) for point in points)
        _require_finite(placed)
        return Shape(str(prim.GetPath()), kind, placed)

    def _frame(self, prim: Usd.Prim, size: float) -> list[Point]:
        """Return the corners of a camera's frame, relative to the camera."""
        camera = UsdGeom.Camera(prim)
        lens = camera.GetFocalLengthAttr().Get(self._time) or 50.0
        wide = camera.GetHorizontalApertureAttr().Get(self._time) or 20.955
        high = camera.GetVerticalApertureAttr().Get(self._time) or 15.2908
        x = min(wide / lens, 3.0) * size / 2
        y = min(high / lens, 3.0) * size / 2
        corners = ((-x, -y), (x, -y), (x, y), (-x, y))
        return [Gf.Vec3d(across, upwards, -size) for across, upwards in corners]


def _diffuse(material: UsdShade.Material, time: Usd.TimeCode) -> Colour:
    """Return the colour of a material's preview surface; grey where it is not one plain value."""
    shader, _, _ = material.ComputeSurfaceSource()
    if not shader:
        return _GREY
    diffuse = shader.GetInput("diffuseColor")
    value = diffuse.Get(time) if diffuse else None
    if value is None:
        return _GREY
    return value[0], value[1], value[2]
