"""The verb `look`: it draws the scene as one picture and lists in a legend what is where.

A *look* is one call of the verb. It draws a *picture* for each frame and each viewpoint, and sets
them side by side in one image. A `Shot` is the viewpoint of a picture; a `Spot` is the rectangle
that an item's box covers in it, with its distance. Everything runs on the main thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice
from typing import Any, Final, Literal, NamedTuple

from dcc_bridge import skill, track
from dcc_bridge.skills.described import Legend, Place, Told
from dcc_bridge.verbs.framing import PLACE_HALF, VIEWS, Spot, box_of, height_at, shots, spot
from dcc_bridge.verbs.operations import Bounds, Shot
from dcc_bridge.verbs.ports import Drawing, Frames
from dcc_bridge.verbs.scene import scene_value
from dcc_bridge.verbs.unreadable import box_of_item, readable

MAX_PICTURE_BYTES: Final = 100_000
MAX_EDGE_PX: Final = 1568  # agents' models shrink larger pictures
_MAX_PICTURES: Final = 4  # in one look
_MAX_LOOKED_FOR: Final = 2000  # items, the first of a scene, that are looked for in a picture
_MAX_LEGEND: Final = 12  # items that the legend names
_MAX_PLACES: Final = 100  # items that a person can point at in a picture
Shading = Literal["solid", "wire", "material"]


def verbs(operations: Drawing) -> list[Callable[..., Any]]:
    """Return the verb `look` over a host's operations."""

    @skill(title="Look at the scene", risk="read")
    def look(
        items: list[str] = [],
        view: str = "three_quarter",
        shading: Shading = "solid",
        frames: list[float] = [],
        size: int = 768,
        marks: list[str] = [],
    ) -> Told:
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
        frames_or_current: Sequence[float | None] = frames or [None]
        for frame in frames_or_current:
            with _at_frame(operations, frame):
                pictures += _plan_pictures(operations, items, marks, view, aspect, frame)
        picture_shots = [picture.shot for picture in pictures]
        image, size_text = _draw(operations, picture_shots, size, aspect, shading)
        units = scene_value(operations, "units") or "units"
        title = f"{view}, {shading}, {size_text}; across and down in percent, {units} away"
        lines = [title]
        for number, picture in enumerate(pictures, 1):
            lines.append(_caption(number, picture, aspect, units))
            lines += _legend(picture.spots, picture.hidden)
        return [Legend("\n".join(lines), _places(pictures)), image]

    return [look]


class _Picture(NamedTuple):
    """One picture of a look, before it is drawn.

    Attributes:
        shot: The viewpoint and the frame of the picture.
        spots: The spot of each shown item; None for an item that has no box, or whose box is not
            wholly in front of the eye.
        hidden: The items that are hidden in the scene itself, whatever the viewpoint.
    """

    shot: Shot
    spots: dict[str, Spot | None]
    hidden: list[str]


def _at_frame(operations: Drawing, frame: float | None) -> AbstractContextManager[None]:
    """Return a context in which the scene is evaluated at a frame.

    For None the scene stays at the frame that the person has set.
    """
    if frame is None or not isinstance(operations, Frames):
        return nullcontext()
    return operations.at_frame(frame)


def _plan_pictures(
    operations: Drawing,
    items: Sequence[str],
    marks: Sequence[str],
    view: str,
    aspect: float,
    frame: float | None,
) -> Iterator[_Picture]:
    """Yield the pictures of a view at one frame; nothing is drawn yet.

    Args:
        operations: The host's operations; the scene must be evaluated at `frame` already.
        items: The items that fill the picture; empty for the whole scene.
        marks: Further items for the legend, which the picture need not hold.
        view: The view as `look` takes it.
        aspect: The width of a picture divided by its height.
        frame: The frame that the pictures carry for `Drawing.draw`; None for the person's.
    """
    boxes = _boxes(operations, [*items, *marks])
    hidden = [item for item in track(boxes) if readable(item, operations.is_shown, item) is False]
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
    """Return the title line of a picture in the legend, with its scale.

    With perspective the width of a picture depends on the distance, so the line names an item, the
    item's distance, and how many scene units the picture is wide there.
    """
    of_frame = ""
    if picture.shot.frame is not None:
        of_frame = f", frame {picture.shot.frame:g}"
    place, distance = _scale_reference(picture)
    width = _round(height_at(picture.shot, distance) * aspect)
    scale = f"{width} {units} wide at {place}, {_round(distance)} {units} away"
    return f"Picture {number}{of_frame}: {scale}"


def _aspect(operations: Drawing, view: str) -> float:
    """Return the width of a picture divided by its height.

    Named views such as "front" are 4:3. A picture through a camera, or through the person's view,
    is as wide as the scene's rendered image, or as the shot itself where the scene states no image
    size; never narrower than 1:4 or wider than 4:1.
    """
    if view in VIEWS:
        return 4 / 3
    render_size = scene_value(operations, "size")
    if render_size:
        aspect = render_size[0] / max(render_size[1], 1)
    else:
        (shot,) = shots(operations, [], view, 4 / 3)
        aspect = shot.aspect or 4 / 3
    return float(max(0.25, min(4.0, aspect)))


def _scale_reference(picture: _Picture) -> tuple[str, float]:
    """Return the item at whose distance the picture's width is stated, and that distance.

    The largest item that no edge cuts off is preferred, then the largest item at all. Where no item
    is in the picture, the place is "its middle".
    """
    visible = _visible_spots(picture.spots)
    uncut = {item: item_spot for item, item_spot in visible.items() if not item_spot.is_cut}
    candidates = uncut or visible
    if not candidates:
        return "its middle", math.dist(picture.shot.eye, picture.shot.target)
    largest = max(candidates, key=lambda item: candidates[item].area)
    return largest, (candidates[largest].near + candidates[largest].far) / 2


def _visible_spots(spots: Mapping[str, Spot | None]) -> dict[str, Spot]:
    """Return the spots that lie at least partly inside the edges of the picture."""
    visible = {}
    for item, item_spot in spots.items():
        if item_spot is not None and item_spot.area:
            visible[item] = item_spot
    return visible


def _draw(
    operations: Drawing, picture_shots: Sequence[Shot], size: int, aspect: float, shading: str
) -> tuple[bytes, str]:
    """Draw several shots in one image of at most `MAX_PICTURE_BYTES`.

    The size in bytes is only known after drawing, so an image that is too large is drawn again
    with shorter edges, six times at most.

    Returns:
        The image, and its size in pixels as words for the legend.

    Raises:
        ValueError: The sixth image was still too large.
    """
    edge = float(size)
    columns = _columns(picture_shots)
    in_columns = ""
    if columns > 1:
        in_columns = f" each, {len(picture_shots)} in two columns, row by row"
    for _ in range(6):
        width = round(edge * min(1.0, aspect) / columns)
        height = round(width / aspect)
        image = operations.draw(picture_shots, width, height, shading)
        if len(image) <= MAX_PICTURE_BYTES:
            return image, f"{width} x {height} pixels{in_columns}"
        shrink = 0.95 * math.sqrt(MAX_PICTURE_BYTES / len(image))
        edge *= min(0.9, shrink)
    raise ValueError(
        f"The picture is larger than {MAX_PICTURE_BYTES} bytes even at the smallest size."
    )


def _columns(pictures: Sequence[object]) -> int:
    """Return in how many columns pictures stand in their image, row by row."""
    return min(2, len(pictures))


def _places(pictures: Sequence[_Picture]) -> list[Place]:
    """Return the places of the largest items of each picture in the image of all pictures."""
    columns = _columns(pictures)
    rows = math.ceil(len(pictures) / columns)
    places: list[Place] = []
    for number, picture in enumerate(pictures):
        row, column = divmod(number, columns)
        inside = _visible_spots(picture.spots)
        for item in sorted(inside, key=lambda item: -inside[item].area)[:_MAX_PLACES]:
            left, top, right, bottom = (min(1.0, max(0.0, edge)) for edge in inside[item][:4])
            place = (
                item,
                round((column + left) / columns, 4),
                round((row + top) / rows, 4),
                round((column + right) / columns, 4),
                round((row + bottom) / rows, 4),
            )
            places.append(place)
    return places


def _boxes(operations: Drawing, wanted: Sequence[str]) -> dict[str, Bounds | None]:
    """Return the boxes of the items that the legend is about.

    These are the wanted items. Where none are wanted, they are the items of the scene that have a
    size and no children, because a parent's box only repeats the boxes below it.

    Raises:
        LookupError: A wanted item does not exist.
    """
    boxes: dict[str, Bounds | None] = {}
    for item in wanted:
        operations.kind(item)  # called for its LookupError: the item may not exist
        boxes[item] = readable(item, box_of, operations, item, PLACE_HALF)
    if wanted:
        return boxes
    parents = {}
    for item in track(islice(operations.items(), _MAX_LOOKED_FOR)):
        parents[item] = readable(item, operations.parent, item)
    with_children = set(parents.values())
    for item in track(parents):
        if item in with_children:
            continue
        box = readable(item, box_of_item, operations, item)
        if box:
            boxes[item] = box
    return boxes


def _legend(spots: Mapping[str, Spot | None], not_shown: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a picture's legend.

    Each of the largest items has a line with its edges in percent and its distance. Then follow
    the number of smaller items, the items outside of the picture, and the items in `not_shown`.
    """
    inside = _visible_spots(spots)
    by_size = sorted(inside, key=lambda item: -inside[item].area)
    largest = {item: inside[item] for item in by_size[:_MAX_LEGEND]}
    for item, item_spot in largest.items():
        left, top, right, bottom = (round(100 * share) for share in item_spot[:4])
        cut = ""
        if item_spot.is_cut:
            cut = ", cut off"
        hidden = ""
        for other in largest:
            if largest[other].hides(item_spot):
                hidden = f", may be hidden by {other}"
                break
        where = f"{left} to {right}, {top} to {bottom}, {_round(item_spot.near)}"
        yield f"  {item}: {where}{cut}{hidden}"
    smaller = len(inside) - len(largest)
    if smaller:
        yield f"  and {smaller} smaller ones"
    outside = [item for item in spots if item not in inside]
    if outside:
        yield f"  outside: {_join_names(outside)}"
    if not_shown:
        yield f"  not shown by the scene: {_join_names(not_shown)}"


def _round(number: float) -> float:
    """Round a number to four significant digits, as a float: 12350.0 and not 1.235e+04."""
    return float(f"{number:.4g}")


def _join_names(items: Sequence[str]) -> str:
    """Return the first items of a list as one text, which ends in "..." if there are more."""
    names = ", ".join(items[:_MAX_LEGEND])
    if len(items) > _MAX_LEGEND:
        names += ", ..."
    return names
