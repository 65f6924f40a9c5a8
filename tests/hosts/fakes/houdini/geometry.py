"""Matrices and shapes of the stand-in Houdini: vectors are rows, as in Houdini."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pxr import Gf

from tests.hosts.fakes import turning


class Matrix4:
    """`hou.Matrix4`."""

    def __init__(self, rows: Any) -> None:
        self.matrix: Any = Gf.Matrix4d(rows)  # its stub does not know that it has rows

    def __mul__(self, other: Matrix4) -> Matrix4:
        return Matrix4(self.matrix * other.matrix)

    def inverted(self) -> Matrix4:
        return Matrix4(self.matrix.GetInverse())

    def asTupleOfTuples(self) -> tuple[tuple[float, ...], ...]:
        return tuple(map(tuple, self.matrix))

    def explode(self) -> dict[str, tuple[float, ...]]:
        """`hou.Matrix4.explode`: here of what has no shear."""
        parts = self.extractTranslates(), self.extractRotates(), self.extractScales()
        names = ("translate", "rotate", "scale", "shear")
        return dict(zip(names, (*parts, (0.0, 0.0, 0.0)), strict=True))

    def extractTranslates(self) -> tuple[float, ...]:
        return tuple(self.matrix.ExtractTranslation())

    def extractScales(self) -> tuple[float, ...]:
        return turning.taken_apart(self.matrix)[1]

    def extractRotates(self) -> tuple[float, ...]:
        """About x, then y, then z."""
        return turning.angles(turning.taken_apart(self.matrix)[0])


def build(parts: Mapping[str, Sequence[float]], **orders: str) -> Matrix4:
    """`hou.hmath.buildTransform`: scale, then turn about x, y and z, then move."""
    assert set(orders.values()) <= {"srt", "xyz"}
    rotation = turning.turned(parts.get("rotate", (0.0, 0.0, 0.0)))
    scale, at = (
        Gf.Vec3d(*parts.get("scale", (1, 1, 1))),
        Gf.Vec3d(*parts.get("translate", (0, 0, 0))),
    )
    made = Gf.Matrix4d().SetScale(scale) * Gf.Matrix4d().SetRotate(rotation)
    return Matrix4(made.SetTranslateOnly(at))


class Geometry:
    """A shape: the two corners of a box for each of its parts."""

    def __init__(
        self, points: Iterable[tuple[float, ...]] = (), *, materials: bool = False
    ) -> None:
        self.points = list(points)
        self._has_materials = materials

    def findPrimAttrib(self, name: str) -> object:
        """`hou.Geometry.findPrimAttrib`: a Material node writes shop_materialpath."""
        return object() if self._has_materials and name == "shop_materialpath" else None

    def merge(self, other: Geometry) -> None:
        self.points += other.points

    def transform(self, matrix: Matrix4) -> None:
        """Of boxes, those around what was turned."""
        pairs = zip(self.points[::2], self.points[1::2], strict=True)
        boxes = [Geometry(pair).boundingBox(matrix) for pair in pairs]
        self.points = [point for box in boxes for point in (box.minvec(), box.maxvec())]

    def saveToFile(self, name: str) -> None:
        Path(name).write_text(json.dumps(self.points, indent=20))

    def intrinsicValue(self, name: str) -> int:
        each = {"pointcount": 8, "primitivecount": 6, "vertexcount": 24}[name]
        return each * len(self.points) // 2

    def boundingBox(self, transform: Matrix4 | None = None) -> Any:
        corners = list(product(*zip(*self.points, strict=True)))
        moved = [_moved(point, transform) for point in corners] if transform else corners
        low, high = (tuple(map(way, zip(*moved, strict=True))) for way in (min, max))
        return SimpleNamespace(minvec=lambda: low, maxvec=lambda: high)


def _moved(point: Sequence[float], by: Matrix4) -> tuple[float, ...]:
    return tuple(by.matrix.Transform(Gf.Vec3d(*point)))
