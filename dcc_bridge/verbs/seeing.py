"""The verb that sees, look: what it draws and its legend. Main thread."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from dcc_bridge import skill, track
from dcc_bridge.verbs.framing import VIEWS, Spot, box_of, height_at, shots, spot
from dcc_bridge.verbs.operations import Bounds, Shot
from dcc_bridge.verbs.ports import Drawing, Frames
from dcc_bridge.verbs.reading import scene_value

MAX_PICTURE_BYTES: Final = 100_000
MAX_EDGE_PX: Final = 1568  # agents' models shrink larger pictures
_MAX_PICTURES: Final = 4  # of one look
_MAX_LOOKED_FOR: Final = 2000  # items, the first of a scene, that are looked for in a picture
_MAX_LEGEND: Final = 12  # items that the legend names
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
    spots: dict[str, Spot | None]
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
        spots: dict[str, Spot | None] = {}
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
    width = _rounded(height_at(picture.shot, distance) * aspect)
    scale = f"{width} {units} wide at {place}, {_rounded(distance)} {units} away"
    return f"Picture {number}{of_frame}: {scale}"


def _aspect(operations: Drawing, view: str) -> float:
    """Return the width of a picture by its height.

    Through a camera the picture is as wide as the scene is rendered.
    """
    if view in VIEWS:
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


def _visible(spots: Mapping[str, Spot | None]) -> dict[str, Spot]:
    """Return the spots that are in the picture, at least in part."""
    visible = {}
    for item, place in spots.items():
        if place is not None and place.area:
            visible[item] = place
    return visible


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
        f"The picture is larger than {MAX_PICTURE_BYTES} bytes even at the smallest size."
    )


def _boxes(operations: Drawing, wanted: Sequence[str]) -> dict[str, Bounds | None]:
    """Return the boxes of the wanted items, or of those without children in the whole scene."""
    boxes: dict[str, Bounds | None] = {}
    for item in wanted:
        operations.kind(item)  # which raises where there is no such item
        boxes[item] = box_of(operations, item, 1e-3)
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


def _legend(spots: Mapping[str, Spot | None], not_shown: Sequence[str]) -> Iterator[str]:
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
