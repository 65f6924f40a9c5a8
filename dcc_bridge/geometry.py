"""Vectors of three numbers, for positions and directions in a scene. Any thread."""

from __future__ import annotations

import math

Vector = tuple[float, float, float]


def add(a: Vector, b: Vector, share: float = 1.0) -> Vector:
    """Return the sum of a vector and a multiple of another one. It raises nothing.

    Args:
        a: The first vector.
        b: The second vector.
        share: The factor of the second vector; -1 subtracts it.

    Returns:
        The sum.
    """
    return a[0] + share * b[0], a[1] + share * b[1], a[2] + share * b[2]


def dot(a: Vector, b: Vector) -> float:
    """Return the dot product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return the cross product of two vectors."""
    x = a[1] * b[2] - a[2] * b[1]
    y = a[2] * b[0] - a[0] * b[2]
    z = a[0] * b[1] - a[1] * b[0]
    return x, y, z


def unit(a: Vector) -> Vector:
    """Return the vector of length 1 in the direction of a vector.

    Raises:
        ValueError: The vector has no length.
    """
    length = math.hypot(*a)
    if length < 1e-12:
        raise ValueError("There is no direction from a point to itself.")
    return a[0] / length, a[1] / length, a[2] / length


def frame_of(forward: Vector, up: Vector) -> tuple[Vector, Vector, Vector]:
    """Return the three axes of a camera that looks along a direction.

    Args:
        forward: The direction, of any length.
        up: The direction of up, which need not be at a right angle to `forward`; if both are
            parallel, another axis takes the place of `up`.

    Returns:
        Right, up and forward, of length 1 and at right angles to each other.

    Raises:
        ValueError: One of the directions has no length.
    """
    ahead = unit(forward)
    axes: list[Vector] = [unit(up), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    usable = [axis for axis in axes if abs(dot(ahead, axis)) < 1 - 1e-9]  # not parallel to `ahead`
    right = unit(cross(ahead, usable[0]))
    return right, cross(right, ahead), ahead


def middle(box: tuple[Vector, Vector]) -> Vector:
    """Return the middle of a box, which is given by its lowest and its highest corner."""
    low, high = box
    half = add((0.0, 0.0, 0.0), low, 0.5)
    return add(half, high, 0.5)
