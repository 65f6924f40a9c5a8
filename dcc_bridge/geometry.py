"""Vectors of three numbers, as scenes have them. Any thread."""

from __future__ import annotations

import math

Vector = tuple[float, float, float]


def add(a: Vector, b: Vector, share: float = 1.0) -> Vector:
    """Add a share of a vector to another one."""
    return a[0] + share * b[0], a[1] + share * b[1], a[2] + share * b[2]


def dot(a: Vector, b: Vector) -> float:
    """Give the product of the lengths along each other."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Give what is upright on two vectors."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def unit(a: Vector) -> Vector:
    """Give the direction of a vector, of length 1."""
    if (length := math.hypot(*a)) < 1e-12:
        raise ValueError("There is no direction from a point to itself.")
    return a[0] / length, a[1] / length, a[2] / length


def frame_of(forward: Vector, up: Vector) -> tuple[Vector, Vector, Vector]:
    """Give the directions right, up and forward, of length 1, of who looks along `forward`."""
    ahead = unit(forward)
    axes: list[Vector] = [unit(up), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]  # of two, one is not ahead
    right = unit(cross(ahead, next(it for it in axes if abs(dot(ahead, it)) < 1 - 1e-9)))
    return right, cross(right, ahead), ahead


def middle(box: tuple[Vector, Vector]) -> Vector:
    """Give the middle of a box."""
    return add(add((0.0, 0.0, 0.0), box[0], 0.5), box[1], 0.5)
