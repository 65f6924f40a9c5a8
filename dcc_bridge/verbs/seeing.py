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
from dcc_bridge.verbs.operations import Bounds, Shot, Vector, triple
from dcc_bridge.verbs.ports import Drawing, Frames
from dcc_bridge.verbs.reading import scene_value

MAX_PICTURE_BYTES: Final = 100_000
MAX_EDGE_PX: Final = 1568  # agents' models shrink larger pictures
_MAX_PICTURES: Final = 4  # of one look
_MAX_LOOKED_FOR: Final = 2000  # items, the first of a scene, that are looked for in a picture
_MAX_LEGEND: Final = 12  # items that the legend names
_VIEW_ANGLE_DEG: Final = 35.0  # from top to bottom, of a view that is made for the items
_MARGIN: Final = 1.08  # by which a picture is larger than the box of its items
_UNIT: Final[Bounds] = ((-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
_ORIGIN: Final[Vector] = (0.0, 0.0, 0.0)
_OPPOSITE: Final = {"back": "front", "left": "right", "bottom": "top"}
# The turns of each view with perspective, in degrees from the front to the right.
_AROUND_DEG: Final = {"three_quarter": (40.0,), "around": (45.0, 135.0, 225.0, 315.0)}
_VIEWS: Final = {"front", "right", "top", *_OPPOSITE, *_AROUND_DEG}
Shading = Literal["solid", "wire", "material"]


def verbs(operations: Drawing) -> list[Callable[..., Any]]:
    """Return the verb that sees."""

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
        if not 64 <= size <= MAX_EDGE_PX:
            raise ValueError(f"size is 64 to {MAX_EDGE_PX} pixels, not {size}.")
        if frames and not isinstance(operations, Frames):
            raise ValueError("This application has no frames: leave `frames` empty.")
        pictures_a_frame = 1
        if view == "around":
            pictures_a_frame = 4
        count = pictures_a_frame * max(1, len(frames))
        if count > _MAX_PICTURES:
            raise ValueError(f"That is {count} pictures; one look shows {_MAX_PICTURES} at most.")
        aspect = _aspect(operations, view)
        pictures: list[_Picture] = []
        every: Sequence[float | None] = frames or [None]
        for frame in every:
            with _evaluated(operations, frame):
                pictures += _pictures(operations, items, marks, view, aspect, frame)
        taken = [picture.shot for picture in pictures]
        image, size_text = _drawn(operations, taken, size, aspect, shading)
        units = scene_value(operations, "units") or "units"
        title = f"{view}, {shading}, {size_text}; across and down in percent, {units} away"
        lines = [title]
        for number, picture in enumerate(pictures, 1):
            lines.append(_caption(number, picture, aspect, units))
            lines += _legend(picture.spots, picture.hidden)
        return ["\n".join(lines), image]

    return [look]


class _Picture(NamedTuple):
    """One picture of a look.

    Attributes:
        shot: From where it is taken, and at which frame.
        spots: Where each item is in it; None for an item that is not wholly before the eye.
        hidden: The items that the scene does not show.
    """

    shot: Shot
    spots: dict[str, _Spot | None]
    hidden: list[str]


def _evaluated(operations: Drawing, frame: float | None) -> AbstractContextManager[None]:
    """Return a block in which the scene is evaluated at a frame; for None at the person's."""
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
    """Yield the pictures of a view, while the scene is evaluated at their frame."""
    boxes = _boxes(operations, [*items, *marks])
    hidden = [item for item in track(boxes) if not operations.is_shown(item)]
    not_shown = set(hidden)
    shown = {item: box for item, box in boxes.items() if item not in not_shown}
    for shot in shots(operations, items, view, aspect):
        spots: dict[str, _Spot | None] = {}
        for item, box in track(shown.items()):
            spots[item] = None
            if box is not None:
                spots[item] = spot(shot, box, aspect)
        yield _Picture(replace(shot, frame=frame), spots, hidden)


def _caption(number: int, picture: _Picture, aspect: float, units: str) -> str:
    """Return the line of a picture, which says how wide it is at how far away."""
    of_frame = ""
    if picture.shot.frame is not None:
        of_frame = f", frame {picture.shot.frame:g}"
    place, distance = _measured(picture)
    width = _rounded(_height(picture.shot, distance) * aspect)
    scale = f"{width} {units} wide at {place}, {_rounded(distance)} {units} away"
    return f"Picture {number}{of_frame}: {scale}"


def _aspect(operations: Drawing, view: str) -> float:
    """Return the width of a picture by its height.

    Through a camera the picture is as wide as the scene is rendered.
    """
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
    """Return the place at which the width of a picture is told, and how far away it is.

    The place is the item that is largest in the picture, if possible a whole one.
    """
    visible = _visible(picture.spots)
    whole = {item: seen for item, seen in visible.items() if not seen.is_cut}
    among = whole or visible
    if not among:
        return "its middle", math.dist(picture.shot.eye, picture.shot.target)
    largest = max(among, key=lambda item: among[item].area)
    return largest, (among[largest].near + among[largest].far) / 2


def _visible(spots: Mapping[str, _Spot | None]) -> dict[str, _Spot]:
    """Return the spots that are in the picture, at least in part."""
    visible = {}
    for item, place in spots.items():
        if place is not None and place.area:
            visible[item] = place
    return visible


def shots(operations: Drawing, items: Sequence[str], view: str, aspect: float) -> list[Shot]:
    """Return from where the pictures of a view are taken, at the frame that is evaluated.

    Args:
        operations: What the host can do.
        items: The items that are framed; none of them stands for all.
        view: As `look` has it.
        aspect: The width of a picture by its height.

    Raises:
        LookupError: There is no such view or camera.
        ValueError: There is no window to look through.
    """
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
    up: Vector = (0.0, 0.0, 1.0)
    if operations.up == "Y":
        up = (0.0, 1.0, 0.0)
    right: Vector = (1.0, 0.0, 0.0)
    box = _framed(operations, items)
    if view in _AROUND_DEG:
        return _shots_around(box, right, up, aspect, _AROUND_DEG[view])
    return [_orthographic(box, right, up, aspect, view)]


def _orthographic(box: Bounds, right: Vector, up: Vector, aspect: float, view: str) -> Shot:
    """Return a shot along an axis, without perspective."""
    front = cross(right, up)
    directions = {"front": front, "right": right, "top": up}
    for name, opposite in _OPPOSITE.items():
        directions[name] = add(_ORIGIN, directions[opposite], -1)
    over = up
    if view == "top":
        over = directions["back"]
    elif view == "bottom":
        over = front
    return _fitting(box, directions[view], over, aspect, 0.0)


def _shots_around(
    box: Bounds, right: Vector, up: Vector, aspect: float, turns_deg: Sequence[float]
) -> list[Shot]:
    """Return shots from a little above, each turned from the front to the right."""
    front = cross(right, up)
    taken = []
    for turn in turns_deg:
        radians = math.radians(turn)
        level = add(add(_ORIGIN, front, math.cos(radians)), right, math.sin(radians))
        direction = unit(add(level, up, 0.5))
        taken.append(_fitting(box, direction, up, aspect, _VIEW_ANGLE_DEG))
    return taken


def _framed(operations: Drawing, items: Sequence[str]) -> Bounds:
    """Return the box around items, or around the whole scene where none are given."""
    boxes = []
    for item in items:
        box = _box(operations, item, 1.0)
        if box is not None:
            boxes.append(box)
    if not items:
        for item in track(operations.items()):
            if operations.parent(item) is not None:
                continue
            box = operations.bounds(item)
            if box is not None:
                boxes.append(box)
    if not boxes:
        boxes = [_UNIT]
    lowest = [min(box[0][axis] for box in boxes) for axis in range(3)]
    highest = [max(box[1][axis] for box in boxes) for axis in range(3)]
    return triple(lowest), triple(highest)


def _box(operations: Drawing, item: str, half_size: float) -> Bounds | None:
    """Return an item's box; for an item without a size, such as a light, a box at its place.

    None for an item that has no place either.
    """
    box = operations.bounds(item)
    if box:
        return box
    with suppress(ValueError):
        at = operations.placement(item).at
        return add(at, _UNIT[0], half_size), add(at, _UNIT[1], half_size)
    return None


def _fitting(box: Bounds, direction: Vector, up: Vector, aspect: float, angle_deg: float) -> Shot:
    """Return a shot from a direction, from so far away that all of a box is in the picture.

    Args:
        box: What is to be in the picture.
        direction: From the middle of the box to the eye, of length 1.
        up: The direction that is up in the picture.
        aspect: The width of the picture by its height.
        angle_deg: From top to bottom; 0 for a shot without perspective.
    """
    target = middle(box)
    right, over, ahead = frame_of(add(_ORIGIN, direction, -1), up)
    halves = []
    depths = []
    for corner in _corners(box):
        offset = add(corner, target, -1)
        half = max(abs(dot(offset, over)), abs(dot(offset, right)) / aspect)
        halves.append(half * _MARGIN)
        depths.append(dot(offset, ahead))
    if not angle_deg:
        height = max(2 * max(halves), 1e-3)
        eye = add(target, direction, max(depths) + height)
        return Shot(eye, target, up, height=height)
    slope = math.tan(math.radians(angle_deg) / 2)
    far = max(half / slope - depth for half, depth in zip(halves, depths, strict=True))
    eye = add(target, direction, max(far, 1e-2))
    return Shot(eye, target, up, angle_deg)


def _corners(box: Bounds) -> Iterator[Vector]:
    """Yield the eight corners of a box."""
    for x, y, z in product(*zip(*box, strict=True)):
        yield x, y, z


class _Spot(NamedTuple):
    """The place of a box in a picture.

    Attributes:
        left: From the left edge, as a share of the picture's width; so is `right`.
        top: From the upper edge, as a share of the picture's height; so is `bottom`.
        right: The other side.
        bottom: The other side.
        near: The distance of its nearest corner from the eye, ahead.
        far: The distance of its farthest corner.
    """

    left: float
    top: float
    right: float
    bottom: float
    near: float
    far: float

    @property
    def area(self) -> float:
        """The share of the picture that the box covers; 0 outside of the picture."""
        width = min(self.right, 1.0) - max(self.left, 0.0)
        height = min(self.bottom, 1.0) - max(self.top, 0.0)
        if width < 0 or height < 0:
            return 0.0
        return max(width, 1e-9) * max(height, 1e-9)

    @property
    def is_cut(self) -> bool:
        """Whether some of the box is outside of the picture."""
        return min(self.left, self.top) < 0 or max(self.right, self.bottom) > 1

    def hides(self, other: _Spot) -> bool:
        """Return whether the box is before another box and covers it wholly."""
        if self.far >= other.near:
            return False
        is_wide = self.left <= other.left and self.right >= other.right
        is_high = self.top <= other.top and self.bottom >= other.bottom
        return is_wide and is_high


def spot(shot: Shot, box: Bounds, aspect: float) -> _Spot | None:
    """Return the place of a box in a picture; None for a box not wholly before the eye.

    Args:
        shot: From where the picture is taken.
        box: In world space.
        aspect: The width of the picture by its height.
    """
    right, over, ahead = frame_of(add(shot.target, shot.eye, -1), shot.up)
    across = []
    down = []
    depths = []
    for corner in _corners(box):
        offset = add(corner, shot.eye, -1)
        depth = dot(offset, ahead)
        if depth < 1e-9:
            return None
        height = _height(shot, depth)
        depths.append(depth)
        across.append(0.5 + dot(offset, right) / (height * aspect))
        down.append(0.5 - dot(offset, over) / height)
    return _Spot(min(across), min(down), max(across), max(down), min(depths), max(depths))


def _height(shot: Shot, depth: float) -> float:
    """Return the height that a picture shows at a distance from the eye, in scene units."""
    if not shot.angle:
        return shot.height
    return 2 * depth * math.tan(math.radians(shot.angle) / 2)


def _drawn(
    operations: Drawing, taken: Sequence[Shot], size: int, aspect: float, shading: str
) -> tuple[bytes, str]:
    """Draw shots in one picture, smaller until it is in bounds; return it and its size in words."""
    edge = float(size)
    columns = 1
    in_columns = ""
    if len(taken) > 1:
        columns = 2
        in_columns = f" each, {len(taken)} in two columns, row by row"
    for _ in range(6):
        width = round(edge * min(1.0, aspect) / columns)
        height = round(width / aspect)
        picture = operations.draw(taken, width, height, shading)
        if len(picture) <= MAX_PICTURE_BYTES:
            return picture, f"{width} x {height} pixels{in_columns}"
        shrink = 0.95 * math.sqrt(MAX_PICTURE_BYTES / len(picture))
        edge *= min(0.9, shrink)
    raise ValueError(
        f"The picture is larger than {MAX_PICTURE_BYTES} bytes however small it is drawn."
    )


def _boxes(operations: Drawing, wanted: Sequence[str]) -> dict[str, Bounds | None]:
    """Return the boxes of the wanted items, or of those without children in the whole scene."""
    boxes: dict[str, Bounds | None] = {}
    for item in wanted:
        operations.kind(item)  # which raises where there is no such item
        boxes[item] = _box(operations, item, 1e-3)
    if wanted:
        return boxes
    parents = {}
    for item in track(islice(operations.items(), _MAX_LOOKED_FOR)):
        parents[item] = operations.parent(item)
    with_children = set(parents.values())
    for item in track(parents):
        if item in with_children:
            continue
        box = operations.bounds(item)
        if box:
            boxes[item] = box
    return boxes


def _legend(spots: Mapping[str, _Spot | None], not_shown: Sequence[str]) -> Iterator[str]:
    """Yield a line for each of the largest items in a picture, and what is outside or hidden."""
    inside = _visible(spots)
    by_size = sorted(inside, key=lambda item: -inside[item].area)
    largest = {item: inside[item] for item in by_size[:_MAX_LEGEND]}
    for item, place in largest.items():
        left, top, right, bottom = (round(100 * share) for share in place[:4])
        cut = ""
        if place.is_cut:
            cut = ", cut off"
        hidden = ""
        for other in largest:
            if largest[other].hides(place):
                hidden = f", may be hidden by {other}"
                break
        where = f"{left} to {right}, {top} to {bottom}, {_rounded(place.near)}"
        yield f"  {item}: {where}{cut}{hidden}"
    smaller = len(inside) - len(largest)
    if smaller:
        yield f"  and {smaller} smaller ones"
    outside = [item for item in spots if item not in inside]
    if outside:
        yield f"  outside: {_listed(outside)}"
    if not_shown:
        yield f"  not shown by the scene: {_listed(not_shown)}"


def _rounded(number: float) -> float:
    """Round to four digits, without an exponent when it is written."""
    return float(f"{number:.4g}")


def _listed(items: Sequence[str]) -> str:
    names = ", ".join(items[:_MAX_LEGEND])
    if len(items) > _MAX_LEGEND:
        names += ", ..."
    return names
