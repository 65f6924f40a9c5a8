"""Vectors of three numbers, as scenes have them. Any thread."""

from __future__ import annotations

import math

Vector = tuple[float, float, float]


def add(a: Vector, b: Vector, share: float = 1.0) -> Vector:
    """Add a share of a vector to another one. It raises nothing.

    Args:
        a: The vector.
        b: What is added.
        share: How much of it; -1 for what is taken away.

    Returns:
        The sum.
    """
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
    """Return the three axes of somebody who looks along a direction.

    Args:
        forward: The direction, of any length.
        up: What is up, as nearly as may be; another axis if it is the same direction.

    Returns:
        Right, up and forward, of length 1, upright on each other.

    Raises:
        ValueError: One of them has no length.
    """
    ahead = unit(forward)
    axes: list[Vector] = [unit(up), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]  # of two, one is not ahead
    right = unit(cross(ahead, next(it for it in axes if abs(dot(ahead, it)) < 1 - 1e-9)))
    return right, cross(right, ahead), ahead


def middle(box: tuple[Vector, Vector]) -> Vector:
    """Give the middle of a box."""
    return add(add((0.0, 0.0, 0.0), box[0], 0.5), box[1], 0.5)
