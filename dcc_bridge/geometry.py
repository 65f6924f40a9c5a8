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


def aiming_rotation(axis: Vector, up: Vector, to: Vector, world_up: Vector) -> Vector:
    """Return the rotation that turns one axis to a direction and keeps another axis up.

    Args:
        axis: The item's own axis that is to look along `to`.
        up: The item's own axis that is to stay up.
        to: The direction, in world space.
        world_up: The direction that is up in the world.

    Returns:
        Degrees about the fixed axes X, Y and Z.
    """
    own = frame_of(axis, up)
    world = frame_of(to, world_up)
    # The rows of the matrix that turns the item's own axes into those of the world.
    rows = []
    for i in range(3):
        row = []
        for j in range(3):
            row.append(sum(world[k][i] * own[k][j] for k in range(3)))
        rows.append(row)
    sine = -rows[2][0]
    y = math.asin(max(-1.0, min(1.0, sine)))
    if abs(sine) < 1 - 1e-9:
        x = math.atan2(rows[2][1], rows[2][2])
        z = math.atan2(rows[1][0], rows[0][0])
    else:  # X and Z turn about one axis, so all of the turn is given to X
        x = math.atan2(-rows[1][2], rows[1][1])
        z = 0.0
    return math.degrees(x), math.degrees(y), math.degrees(z)


def turned(rotation: Vector, axis: int, degrees: float) -> Vector:
    """Return a rotation that is followed by a turn about an axis of the world.

    Args:
        rotation: Degrees about the fixed axes X, Y and Z.
        axis: The number of the axis, 0 for X.
        degrees: By how much, against the clock where the axis points at the viewer.
    """
    ahead: Vector = (1.0, 0.0, 0.0)
    up: Vector = (0.0, 1.0, 0.0)
    for number, angle in (*enumerate(rotation), (axis, degrees)):
        ahead = about(ahead, number, angle)
        up = about(up, number, angle)
    return aiming_rotation((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), ahead, up)


def about(point: Vector, axis: int, degrees: float) -> Vector:
    """Return a point that is turned about an axis of the world."""
    cosine = math.cos(math.radians(degrees))
    sine = math.sin(math.radians(degrees))
    one = (axis + 1) % 3
    two = (axis + 2) % 3
    result = list(point)
    result[one] = point[one] * cosine - point[two] * sine
    result[two] = point[one] * sine + point[two] * cosine
    return result[0], result[1], result[2]
