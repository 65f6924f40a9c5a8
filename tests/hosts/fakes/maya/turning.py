"""Rotations of Maya, in its six orders.

A node's matrix multiplies rows, and its order "zxy" turns about Z first: by the reference of
`xform`. Pure Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

Rows = list[list[float]]
Vector = tuple[float, float, float]


def turned(angles: Sequence[float], order: str = "xyz") -> Rows:
    """Make the matrix of three angles in degrees, about X, Y and Z, in an order."""
    rows = [[float(i == j) for j in range(3)] for i in range(3)]
    for axis in order:
        one, other = ("xyz".index(axis) + 1) % 3, ("xyz".index(axis) + 2) % 3
        cosine = math.cos(math.radians(angles["xyz".index(axis)]))
        sine = math.sin(math.radians(angles["xyz".index(axis)]))
        for row in rows:
            row[one], row[other] = (
                row[one] * cosine - row[other] * sine,
                row[one] * sine + row[other] * cosine,
            )
    return rows


def angles(rows: Rows, order: str = "xyz") -> Vector:
    """Give the angles in degrees, about X, Y and Z, that make a rotation in an order."""
    i, j, k = ("xyz".index(axis) for axis in order)
    sign = 1.0 if order in ("xyz", "yzx", "zxy") else -1.0
    middle = math.asin(max(-1.0, min(1.0, -sign * rows[i][k])))
    if abs(rows[i][k]) < 1.0 - 1e-9:
        first = math.atan2(sign * rows[j][k], rows[k][k])
        last = math.atan2(sign * rows[i][j], rows[i][i])
    else:  # two axes are one
        first, last = math.atan2(-sign * rows[k][j], rows[j][j]), 0.0
    found = {i: first, j: middle, k: last}
    x, y, z = (math.degrees(found[axis]) + 0.0 for axis in range(3))
    return x, y, z


def reordered(given: Sequence[float], before: str, after: str) -> Vector:
    """Give the angles of another order that turn the same way."""
    if before == after:
        x, y, z = given
        return x, y, z
    return angles(turned(given, before), after)


def taken_apart(matrix: Sequence[float]) -> tuple[Rows, Vector]:
    """Part a matrix of sixteen into its rotation and its scale; a mirror is a scale of X."""
    rows = [list(matrix[start : start + 3]) for start in (0, 4, 8)]
    a, b, c = rows
    volume = sum(a[n] * (b[n - 2] * c[n - 1] - b[n - 1] * c[n - 2]) for n in range(3))
    x, y, z = (math.hypot(*row) for row in rows)
    x = -x if volume < 0 else x
    clean = [[n / (s or 1.0) for n in row] for row, s in zip(rows, (x, y, z), strict=True)]
    return clean, (x, y, z)
