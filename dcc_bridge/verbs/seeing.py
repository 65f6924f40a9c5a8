"""The verb that sees: look. Main thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from itertools import islice, product
from typing import Any, Final, Literal, NamedTuple

from dcc_bridge import skill, track
from dcc_bridge.geometry import add, cross, dot, frame_of, middle, unit
from dcc_bridge.verbs.operations import Bounds, Shot, Vector
from dcc_bridge.verbs.ports import Drawing, Frames
from dcc_bridge.verbs.reading import scene_value

MOST_BYTES: Final = 100_000  # of a picture
MOST_EDGE: Final = 1568  # pixels; agents' models shrink what is larger
_MOST_SEEN: Final = 2000  # items, the first of a scene, that are looked for in a picture
_MOST_FOUND: Final = 12  # items whose place in the picture is told
_ANGLE: Final = 35.0  # from top to bottom, of a view that is made for the items
_UNIT: Final[Bounds] = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
_OPPOSITE: Final = {"back": "front", "left": "right", "bottom": "top"}
_VIEWS: Final = {"front", "right", "top", *_OPPOSITE, "three_quarter", "around"}
Shading = Literal["solid", "wire", "material"]


def verbs(operations: Drawing) -> list[Callable[..., Any]]:
    """Make the verb that sees."""

    @skill(title="Look at the scene", risk="read")
    def look(
        items: list[str] = [],
        view: str = "three_quarter",
        shading: Shading = "solid",
        frames: list[float] = [],
        size: int = 768,
        marks: list[str] = [],
    ) -> Any:
        """See the scene, or some items, as one picture with a legend.

        The person's view, camera and selection stay as they are.

        Args:
            items: Framed; empty for all.
            view: person, camera (the scene's), front, back, left, right, top, bottom,
                three_quarter, around (four), or a camera.
            shading: Of surfaces.
            frames: A picture of each, four at most.
            size: The long edge in pixels.
            marks: More items for the legend.
        """
        if not 64 <= size <= MOST_EDGE:
            raise ValueError(f"size is 64 to {MOST_EDGE} pixels, not {size}.")
        if frames and not isinstance(operations, Frames):
            raise ValueError("This application has no frames: leave `frames` empty.")
        each = 4 if view == "around" else 1
        count = each * max(1, len(frames))
        if count > 4:
            raise ValueError(f"That is {count} pictures; one look shows 4 at most.")
        aspect = _aspect(operations, view)
        pictures: list[_Picture] = []
        every: Sequence[float | None] = frames or [None]
        for frame in every:
            with _evaluated(operations, frame):
                pictures += _pictures(operations, items, marks, view, aspect, frame)
        picture, how = _drawn(operations, [it.shot for it in pictures], size, aspect, shading)
        units = scene_value(operations, "units") or "units"
        lines = [f"{view}, {shading}, {how}; across and down in percent, {units} away"]
        for number, one in enumerate(pictures, 1):
            of_frame = "" if one.shot.frame is None else f", frame {one.shot.frame:g}"
            where, distance = _measured(one)
            wide = _rounded(_height(one.shot, distance) * aspect)
            scale = f"{wide} {units} wide at {where}, {_rounded(distance)} {units} away"
            lines.append(f"Picture {number}{of_frame}: {scale}")
            lines += _legend(one.spots, one.hidden)
        return ["\n".join(lines), picture]

    return [look]


class _Picture(NamedTuple):
    """One picture of a look, with what is where in it at its frame."""

    shot: Shot
    spots: dict[str, _Spot | None]
    hidden: list[str]
    """The items that the scene does not show."""


def _evaluated(operations: Drawing, frame: float | None) -> AbstractContextManager[None]:
    """Return what has the scene evaluated at a frame; for None it stays at the person's."""
    if frame is None or not isinstance(operations, Frames):
        return nullcontext()
    return operations.at_frame(frame)


def _pictures(
    operations: Drawing,
    items: Sequence[str],
    marks: Sequence[str],
    view: str,
    aspect: float,
    frame: float | None,
) -> Iterator[_Picture]:
    """Yield the pictures of a view; while the scene is evaluated at their frame."""
    boxes = _boxes(operations, [*items, *marks])
    hidden = [item for item in track(boxes) if not operations.is_shown(item)]
    not_shown = set(hidden)
    shown = {item: box for item, box in boxes.items() if item not in not_shown}
    for shot in shots(operations, items, view, aspect):
        spots = {item: box and spot(shot, box, aspect) for item, box in track(shown.items())}
        yield _Picture(replace(shot, frame=frame), spots, hidden)


def _aspect(operations: Drawing, view: str) -> float:
    """Return how many times as wide as high a picture is: as it is rendered, through a camera."""
    if view in _VIEWS:
        return 4 / 3
    form = scene_value(operations, "size")
    if form:
        aspect = form[0] / max(form[1], 1)
    else:
        (shot,) = shots(operations, [], view, 4 / 3)
        aspect = shot.aspect or 4 / 3
    return float(max(0.25, min(4.0, aspect)))


def _measured(picture: _Picture) -> tuple[str, float]:
    """Return where the width of a picture is told, and how far away that is.

    That is the item of which most is seen, without one that goes beyond the picture if possible.
    """
    seen = {item: it for item, it in picture.spots.items() if it is not None and it.area}
    whole = [item for item in seen if not seen[item].is_cut]
    among = whole or list(seen)
    if not among:
        return "its middle", math.dist(picture.shot.eye, picture.shot.target)
    largest = max(among, key=lambda item: seen[item].area)
    return largest, (seen[largest].near + seen[largest].far) / 2


def shots(operations: Drawing, items: Sequence[str], view: str, aspect: float) -> list[Shot]:
    """Give from where the pictures of a view are taken, at the frame that is evaluated."""
    if view == "camera":
        view = scene_value(operations, "camera")
        if not view:
            raise LookupError("The scene has no camera of its own: give a camera's item as view.")
    if view not in _VIEWS:
        try:
            return [operations.viewpoint(view)]
        except LookupError as error:
            every = ", ".join(("person", "camera", *sorted(_VIEWS)))
            raise LookupError(f"{error} Views: {every}.") from None
    zero, right = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    up: Vector = (0.0, 1.0, 0.0) if operations.up == "Y" else (0.0, 0.0, 1.0)
    front = cross(right, up)
    box = _framed(operations, items)
    ways = {"front": front, "right": right, "top": up}
    ways |= {name: add(zero, ways[other], -1) for name, other in _OPPOSITE.items()}
    if view in ways:
        over = {"top": ways["back"], "bottom": front}.get(view, up)
        return [_fitting(box, ways[view], over, aspect, 0.0)]
    turns = map(math.radians, [45, 135, 225, 315] if view == "around" else [40])
    around = [add(add(zero, front, math.cos(it)), right, math.sin(it)) for it in turns]
    return [_fitting(box, unit(add(way, up, 0.5)), up, aspect, _ANGLE) for way in around]


def _framed(operations: Drawing, items: Sequence[str]) -> Bounds:
    on_top = items or (it for it in track(operations.items()) if operations.parent(it) is None)
    boxes = [box for item in on_top if (box := _box(operations, item, 1.0 if items else 0.0))] or [
        _UNIT
    ]
    low, high = zip(*boxes, strict=True)
    (x, y, z), (a, b, c) = map(min, zip(*low, strict=True)), map(max, zip(*high, strict=True))
    return (x, y, z), (a, b, c)


def _box(operations: Drawing, item: str, size: float) -> Bounds | None:
    # a light has no form; it is seen at its place, with a box of that size
    if (box := operations.bounds(item)) or not size:
        return box
    with suppress(ValueError):
        at = operations.placement(item).at
        return add(at, _UNIT[0], size), add(at, _UNIT[1], size)
    return None


def _fitting(box: Bounds, way: Vector, up: Vector, aspect: float, angle: float) -> Shot:
    """Look at a box from a direction, from so far that all of it is in the picture."""
    target = middle(box)
    right, over, ahead = frame_of(add((0.0, 0.0, 0.0), way, -1), up)
    points = [add((x, y, z), target, -1) for x, y, z in product(*zip(*box, strict=True))]
    halves = [max(abs(dot(p, over)), abs(dot(p, right)) / aspect) * 1.08 for p in points]
    depths = [dot(p, ahead) for p in points]
    if not angle:
        height = max(2 * max(halves), 1e-3)
        return Shot(add(target, way, max(depths) + height), target, up, height=height)
    slope = math.tan(math.radians(angle) / 2)
    far = max(half / slope - deep for half, deep in zip(halves, depths, strict=True))
    return Shot(add(target, way, max(far, 1e-2)), target, up, angle)


class _Spot(NamedTuple):
    """Where a box is in a picture: shares of it, from the left and the top, and how far away."""

    left: float
    top: float
    right: float
    bottom: float
    near: float
    far: float

    @property
    def area(self) -> float:
        width = min(self.right, 1.0) - max(self.left, 0.0)
        height = min(self.bottom, 1.0) - max(self.top, 0.0)
        return max(width, 1e-9) * max(height, 1e-9) if width >= 0 and height >= 0 else 0.0

    @property
    def is_cut(self) -> bool:
        """Whether some of it is outside of the picture."""
        return min(self.left, self.top) < 0 or max(self.right, self.bottom) > 1

    def hides(self, other: _Spot) -> bool:
        begins = self.left <= other.left and self.top <= other.top and self.far < other.near
        return begins and self.right >= other.right and self.bottom >= other.bottom


def spot(shot: Shot, box: Bounds, aspect: float) -> _Spot | None:
    """Find a box in a picture; None for what is not wholly before the eye."""
    right, over, ahead = frame_of(add(shot.target, shot.eye, -1), shot.up)
    ways = [add((x, y, z), shot.eye, -1) for x, y, z in product(*zip(*box, strict=True))]
    depths = [dot(way, ahead) for way in ways]
    if min(depths) < 1e-9:
        return None
    tall = [_height(shot, depth) for depth in depths]
    across = [0.5 + dot(way, right) / (t * aspect) for way, t in zip(ways, tall, strict=True)]
    down = [0.5 - dot(way, over) / t for way, t in zip(ways, tall, strict=True)]
    return _Spot(min(across), min(down), max(across), max(down), min(depths), max(depths))


def _height(shot: Shot, depth: float) -> float:  # that a picture shows, so far from the eye
    return 2 * depth * math.tan(math.radians(shot.angle) / 2) if shot.angle else shot.height


def _drawn(
    operations: Drawing, taken: Sequence[Shot], size: int, aspect: float, shading: str
) -> tuple[bytes, str]:
    edge, sheet = float(size), len(taken) > 1
    for _ in range(6):
        width = round(edge * min(1.0, aspect) / (2 if sheet else 1))
        height = round(width / aspect)
        picture = operations.draw(taken, width, height, shading)
        if len(picture) <= MOST_BYTES:
            each = f" each, {len(taken)} in two columns, row by row" if sheet else ""
            return picture, f"{width} x {height} pixels{each}"
        edge *= min(0.9, 0.95 * math.sqrt(MOST_BYTES / len(picture)))
    raise ValueError(f"The picture is larger than {MOST_BYTES} bytes even at the smallest size.")


def _boxes(operations: Drawing, wanted: Sequence[str]) -> dict[str, Bounds | None]:
    if wanted:
        return {
            item: _box(operations, item, 1e-3)
            for item in wanted
            if operations.kind(item) is not None
        }
    parents = {
        item: operations.parent(item) for item in track(islice(operations.items(), _MOST_SEEN))
    }
    leaves = parents.keys() - set(parents.values())
    return {
        item: box for item in track(parents) if item in leaves and (box := operations.bounds(item))
    }


def _legend(spots: Mapping[str, _Spot | None], not_shown: Sequence[str]) -> Iterator[str]:
    """Tell where items are in a picture, and what is hidden, outside or not shown at all."""
    inside = {item: it for item, it in spots.items() if it is not None and it.area}
    largest = sorted(inside, key=lambda item: -inside[item].area)[:_MOST_FOUND]
    for item in largest:
        it = inside[item]
        away = _rounded(it.near)
        left, top, right, bottom = (round(100 * share) for share in it[:4])
        cut = ", cut off" if it.is_cut else ""
        before = next((other for other in largest if inside[other].hides(it)), None)
        hidden = f", may be hidden by {before}" if before else ""
        yield f"  {item}: {left} to {right}, {top} to {bottom}, {away}{cut}{hidden}"
    if more := len(inside) - len(largest):
        yield f"  and {more} smaller ones"
    if out := [item for item in spots if item not in inside]:
        yield f"  outside: {_listed(out)}"
    if not_shown:
        yield f"  not shown by the scene: {_listed(not_shown)}"


def _rounded(number: float) -> float:
    """Round to four digits, without an exponent when it is written."""
    return float(f"{number:.4g}")


def _listed(items: Sequence[str]) -> str:
    more = ", ..." if len(items) > _MOST_FOUND else ""
    return ", ".join(items[:_MOST_FOUND]) + more
