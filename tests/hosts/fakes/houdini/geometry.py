"""Matrices and shapes of the stand-in Houdini: vectors are rows, as in Houdini."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

Rows = list[list[float]]


class Matrix4:
    """`hou.Matrix4`."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def __mul__(self, other: Matrix4) -> Matrix4:
        columns = list(zip(*other.rows, strict=True))
        return Matrix4([[_dot(row, column) for column in columns] for row in self.rows])

    def inverted(self) -> Matrix4:
        """Of what has no shear: turned back, scaled back, moved back."""
        scales = self.extractScales()
        turned = [[self.rows[j][i] / scales[j] ** 2 for j in range(3)] for i in range(3)]
        moved = [-_dot(self.rows[3][:3], column) for column in zip(*turned, strict=True)]
        return Matrix4([*([*row, 0.0] for row in turned), [*moved, 1.0]])

    def asTupleOfTuples(self) -> tuple[tuple[float, ...], ...]:
        return tuple(map(tuple, self.rows))

    def explode(self) -> dict[str, tuple[float, ...]]:
        """`hou.Matrix4.explode`: here of what has no shear."""
        parts = self.extractTranslates(), self.extractRotates(), self.extractScales()
        names = ("translate", "rotate", "scale", "shear")
        return dict(zip(names, (*parts, (0.0, 0.0, 0.0)), strict=True))

    def extractTranslates(self) -> tuple[float, ...]:
        return tuple(self.rows[3][:3])

    def extractScales(self) -> tuple[float, ...]:
        return tuple(math.hypot(*row[:3]) for row in self.rows[:3])

    def extractRotates(self) -> tuple[float, ...]:
        """About x, then y, then z."""
        m = [[it / scale for it in row[:3]] for row, scale in zip(self.rows, self.extractScales())]  # noqa: B905 - the fourth row is the place
        y = math.asin(max(-1.0, min(1.0, -m[0][2])))
        return tuple(
            map(math.degrees, (math.atan2(m[1][2], m[2][2]), y, math.atan2(m[0][1], m[0][0])))
        )


def build(parts: Mapping[str, Sequence[float]], **orders: str) -> Matrix4:
    """`hou.hmath.buildTransform`: scale, then turn about x, y and z, then move."""
    assert set(orders.values()) <= {"srt", "xyz"}
    sx, sy, sz = parts.get("scale", (1.0, 1.0, 1.0))
    made = Matrix4([[sx, 0, 0, 0], [0, sy, 0, 0], [0, 0, sz, 0], [0, 0, 0, 1]])
    for axis, angle in enumerate(parts.get("rotate", (0.0, 0.0, 0.0))):
        a, b, turn = (axis + 1) % 3, (axis + 2) % 3, math.radians(angle)
        rows = [[float(i == j) for j in range(4)] for i in range(4)]
        rows[a][a] = rows[b][b] = math.cos(turn)
        rows[a][b], rows[b][a] = math.sin(turn), -math.sin(turn)
        made = made * Matrix4(rows)
    made.rows[3][:3] = list(parts.get("translate", (0.0, 0.0, 0.0)))
    return made


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
    return tuple(_dot([*point, 1.0], column) for column in zip(*by.rows, strict=True))[:3]


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))
