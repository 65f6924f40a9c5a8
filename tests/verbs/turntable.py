"""A camera that turns about coloured things which change, and what a look at it must show.

Each thing has a colour of its own, so that a picture tells where it is: that must be where the
legend says, at each frame. Plain Python: Blender's own runs it too.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Callable
from typing import Any, Final

HUES: Final = {"Red": 0, "Yellow": 60, "Green": 120, "Cyan": 180, "Blue": 240, "Magenta": 300}
"""Things by the hue of their colour, in degrees."""
FRAMES: Final = [1, 31, 61, 91]
"""A quarter of a turn apart."""
DISTANCE: Final = 20.0  # of the camera from the axis that it turns about
_PLACE: Final = re.compile(r"  (?:\S*/)?(\w+): (-?\d+) to (-?\d+), (-?\d+) to (-?\d+), ([\d.]+)")
_NEAR: Final = 2.1  # percent: a box of whole percents, and the soft edge of a JPEG

Place = tuple[float, float, float, float]  # left, right, top and bottom, in percent
Pixel = Callable[[int, int], Any]  # the red, green and blue of a column and a row, of 255


def told(legend: str) -> list[dict[str, Place]]:
    """Return where each thing is by the legend, a picture each."""
    places: list[dict[str, Place]] = []
    for line in legend.splitlines():
        if line.startswith("Picture"):
            places.append({})
        elif found := _PLACE.match(line):
            name, left, right, top, bottom, _ = found.groups()
            places[-1][name] = (float(left), float(right), float(top), float(bottom))
    return places


def widths(legend: str) -> list[tuple[float, float]]:
    """Return how wide each picture is, and how far away."""
    found = re.findall(r"([\d.]+) \S+ wide at .*, ([\d.]+) \S+ away", legend)
    return [(float(wide), float(away)) for wide, away in found]


def seen(pixel: Pixel, width: int, height: int, least: float) -> list[dict[str, Place]]:
    """Return where each thing is in a sheet of four pictures, by its colour."""
    cells = [(column, row) for row in (0, 1) for column in (0, 1)]
    return [_cell(pixel, column, row, width, height, least) for column, row in cells]


def _cell(
    pixel: Pixel, column: int, row: int, width: int, height: int, least: float
) -> dict[str, Place]:
    wide = width // 2
    tall = height // 2
    spots: dict[str, list[tuple[int, int]]] = {name: [] for name in HUES}
    for y in range(4, tall - 4):
        for x in range(4, wide - 4):
            red, green, blue = pixel(column * wide + x, row * tall + y)
            hue, saturation, value = colorsys.rgb_to_hsv(red / 255, green / 255, blue / 255)
            nearest = min(HUES, key=lambda name: _between(HUES[name], hue * 360))
            is_pure = saturation > least and _between(HUES[nearest], hue * 360) < 15
            if is_pure and value > 0.3:  # what is not is the edge between two
                spots[nearest].append((x, y))
    return {name: _around(those, wide, tall) for name, those in spots.items() if len(those) > 30}


def _between(one: float, other: float) -> float:
    apart = abs(one - other) % 360
    return min(apart, 360 - apart)


def _around(spots: list[tuple[int, int]], width: int, height: int) -> Place:
    columns = [x for x, _ in spots]
    rows = [y for _, y in spots]
    left = 100 * min(columns) / width
    right = 100 * (max(columns) + 1) / width
    return left, right, 100 * min(rows) / height, 100 * (max(rows) + 1) / height


def check(legend: str, pixel: Pixel, width: int, height: int, *, least: float = 0.5) -> None:
    """Assert that all that is told of four pictures is in them, there, and nothing else is.

    `least` is the saturation from which on a pixel is a thing's, and none of what a viewport draws.
    """
    places = told(legend)
    pictures = seen(pixel, width, height, least)
    for frame, words, colours in zip(FRAMES, places, pictures, strict=True):
        assert words.keys() & HUES.keys() == colours.keys(), f"frame {frame}: {legend}"
        for name, place in colours.items():
            off = max(abs(a - b) for a, b in zip(place, words[name], strict=True))
            assert off < _NEAR, f"{name} at frame {frame}: seen {place}, told {words[name]}"
