"""What of the stage can be seen, as points in space: boxes, camera frusta and lights.

No Qt in here. Main thread, as everything that reads the stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pxr import Gf, Tf, Usd, UsdGeom, UsdLux, UsdShade

from .space import Point, around, numbers, radius, upright
from .tree import Kind, kind_of

Colour = tuple[float, float, float]
_Seen = tuple[Usd.Prim, Kind]
_FIRST = Usd.TimeCode.EarliestTime()
_GREY: Colour = (0.46, 0.49, 0.54)
_SOLID = {Kind.GEOMETRY, Kind.CURVES}
FACES = ((0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6))
"""The corners of a box's faces, counter-clockwise seen from outside."""
_SKY = Tf.Type.Find(UsdLux.DomeLight)
_SUN = Gf.Vec3d(0.349, 0.847, 0.399)


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
    placed = [(prim, kind, reader.place(prim)) for prim, kind in prims if kind not in _SOLID]
    focus = _focus(solids, [place.ExtractTranslation() for _, _, place in placed])
    size = radius(around(focus)) * 0.013
    marks = [reader.mark(prim, kind, place, size) for prim, kind, place in placed]
    return Scenery((*solids, *marks), focus, size)


def _focus(solids: Sequence[Shape], places: Sequence[Point]) -> tuple[Point, ...]:
    everything = [*places, *(point for shape in solids for point in shape.points)]
    box = around(everything)
    large = radius(box) * 0.7
    objects = [shape for shape in solids if radius(around(shape.points)) < large]
    if not objects:
        return tuple(everything or (box.GetMin(), box.GetMax()))
    return (*places, *(point for shape in objects for point in shape.points))


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


def _shades(matrix: Gf.Matrix4d) -> tuple[float, ...]:
    """Return how bright the faces of a box are."""
    x, y, z = (matrix.GetRow3(row) for row in range(3))
    side = -1.0 if _is_mirrored(matrix) else 1.0
    shades = list[float]()
    for normal in (Gf.Cross(y, z), Gf.Cross(z, x), Gf.Cross(x, y)):
        toward = side * (normal * _SUN) / (normal.GetLength() or 1.0)
        shades += [0.55 + 0.45 * max(-0.4, turned) for turned in (-toward, toward)]
    return tuple(shades)


def _is_mirrored(matrix: Gf.Matrix4d) -> bool:
    """Return whether left became right."""
    return bool(matrix.GetDeterminant3() < 0)


class _Reader:
    """Reads places, with what USD remembers between prims."""

    def __init__(self, stage: Usd.Stage, time: Usd.TimeCode) -> None:
        self._time = time
        self._places = UsdGeom.XformCache(time)
        self._bounds = UsdGeom.BBoxCache(time, [UsdGeom.Tokens.default_, UsdGeom.Tokens.render])
        self._colours = {"": _GREY}
        self._upright = upright(stage)

    def place(self, prim: Usd.Prim) -> Gf.Matrix4d:
        """Return where a prim stands and how it is turned, at its true size."""
        matrix = self._places.GetLocalToWorldTransform(prim)
        return Gf.Matrix4d(matrix.RemoveScaleShear() * self._upright)

    def solid(self, prim: Usd.Prim, kind: Kind) -> Iterator[Shape]:
        """Make the box of what has an extent; nothing if it is empty."""
        limits = self._bounds.ComputeUntransformedBound(prim).GetRange()
        if limits.IsEmpty():
            return
        matrix = self._places.GetLocalToWorldTransform(prim) * self._upright
        corners: Sequence[int] = range(8)
        if _is_mirrored(matrix):
            corners = (1, 0, 3, 2, 5, 4, 7, 6)  # so that the faces stay turned outwards
        points = tuple(matrix.Transform(limits.GetCorner(corner)) for corner in corners)
        yield Shape(str(prim.GetPath()), kind, points, self._colour(prim), _shades(matrix))

    def _colour(self, prim: Usd.Prim) -> Colour:
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
        """Make the mark of a camera or a light, of a size in the scene's units."""
        points = [Gf.Vec3d(0)]
        if kind is Kind.CAMERA:
            points += self._frame(prim, size)
        return Shape(str(prim.GetPath()), kind, tuple(map(place.Transform, points)))

    def _frame(self, prim: Usd.Prim, size: float) -> list[Point]:
        camera = UsdGeom.Camera(prim)
        lens = camera.GetFocalLengthAttr().Get(self._time) or 50.0
        wide = camera.GetHorizontalApertureAttr().Get(self._time) or 20.955
        high = camera.GetVerticalApertureAttr().Get(self._time) or 15.2908
        x, y = min(wide / lens, 3.0) * size / 2, min(high / lens, 3.0) * size / 2
        corners = (-x, -y), (x, -y), (x, y), (-x, y)
        return [Gf.Vec3d(across, upwards, -size) for across, upwards in corners]


def _diffuse(material: UsdShade.Material, time: Usd.TimeCode) -> Colour:
    """Give the colour of a material's preview surface, where it is one plain value."""
    shader, _, _ = material.ComputeSurfaceSource()
    given = shader.GetInput("diffuseColor") if shader else None
    value = given.Get(time) if given else None
    return (value[0], value[1], value[2]) if value is not None else _GREY
