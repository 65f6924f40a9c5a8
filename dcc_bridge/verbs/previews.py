"""The pictures of what a call is about to lose: the scene now, marked, and after. Main thread.

Both pictures of a pair have one viewpoint: that of the person, or a three-quarter view where there
is no window. What goes is framed closer where it is small in the picture, or not wholly in it.

The words: the *after* picture is drawn while a tried edit stands, the *now* picture once the edit
is reverted. A renderer is *warm* once it has drawn: its first picture takes long and may load
modules, so no *after* picture is drawn before that.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from itertools import islice
from time import perf_counter
from typing import Final, NamedTuple

from dcc_bridge.consent.loss import Loss
from dcc_bridge.consent.preview import OutsideStep, Preview
from dcc_bridge.elicitation.question import Picture
from dcc_bridge.errors import Stopped
from dcc_bridge.skills.skill import track
from dcc_bridge.verbs.framing import PLACE_HALF, around, box_of, close_up, shots
from dcc_bridge.verbs.marks import ASPECT, HEIGHT, WIDTH, Mark, joined, marks_around
from dcc_bridge.verbs.operations import Bounds, Shot
from dcc_bridge.verbs.ports import Drawing, Marking
from dcc_bridge.verbs.unreadable import noting, tried

log = logging.getLogger(__name__)

_WARM_UP_PX: Final = (WIDTH // 10, HEIGHT // 10)
SLOW_S: Final = 0.5  # a picture that takes as long keeps the person waiting
_REST_S: Final = 600.0  # for which none is drawn of a scene after a slow one
_MAX_NOTED: Final = 2000  # items, the first of a scene, whose boxes are noted before an edit
_MAX_NOTING_S: Final = 0.2  # for which boxes are noted before each edit that may lose something
_MAX_MARKED: Final = 500
_OF: Final = " of "  # in the name of each part of an item: "modifier Bevel of Cube"


class Previews:
    """The previews of one bridge, and what is known of the time that the host takes to draw.

    Attributes:
        operations: The host's operations, which tell the viewpoint.
        clock: Returns seconds.
        slow_to_rehearse: The scenes in which trying an edit only for its picture took long.
        is_warm: Whether the host has drawn its first picture.
    """

    def __init__(
        self, drawing: Drawing, marking: Marking, clock: Callable[[], float] = perf_counter
    ) -> None:
        """Prepare; nothing is drawn yet. Any thread.

        Args:
            drawing: The host's operations, which tell the viewpoint.
            marking: The same operations, which draw.
            clock: Returns seconds.
        """
        self.operations = drawing
        self._marking = marking
        self.clock = clock
        self.slow_to_rehearse = set[str]()
        self.is_warm = False
        self._slow_scene = ""
        self._slow_until = 0.0

    def of_call(self) -> Preview:
        """Return the preview of one call. Any thread."""
        return ScenePreview(self)

    @property
    def is_slow(self) -> bool:
        """Whether a picture of this scene took so long that no more are drawn for a while."""
        is_same = self._slow_scene == self.operations.host.scene()
        return is_same and self.clock() < self._slow_until

    def draw(self, shot: Shot, marks: Sequence[Mark], size: tuple[int, int]) -> bytes:
        """Draw a picture, and note how long that takes.

        Args:
            shot: The viewpoint.
            marks: The places that are marked.
            size: The width and the height in pixels.

        Returns:
            A PNG.
        """
        begin = self.clock()
        png = self._marking.draw_marked(shot, *size, marks)
        end = self.clock()
        if self.is_warm and end - begin >= SLOW_S:
            self._slow_scene = self.operations.host.scene()
            self._slow_until = end + _REST_S
        self.is_warm = True
        return png


class _After(NamedTuple):
    """The picture of the scene after an edit.

    Attributes:
        items: The things that the edit lost.
        shot: The viewpoint.
        png: The picture.
    """

    items: tuple[str, ...]
    shot: Shot
    png: bytes


class _Noted(NamedTuple):
    """The scene as it was before an edit.

    Attributes:
        shot: The viewpoint.
        boxes: The boxes of the items that have no item below them.
        parents: The parent of each item.
    """

    shot: Shot
    boxes: dict[str, Bounds]
    parents: dict[str, str | None]


class ScenePreview(Preview):
    """Draws what one call is about to lose, by the host's operations."""

    def __init__(self, previews: Previews) -> None:
        self._previews = previews
        self._operations = previews.operations
        self._noted: _Noted | None = None
        self._after: _After | None = None

    @property
    def can_rehearse(self) -> bool:
        """Whether pictures and rehearsals of this scene are fast, as far as is known."""
        scene = self._operations.host.scene()
        return not self._previews.is_slow and scene not in self._previews.slow_to_rehearse

    @contextmanager
    def rehearsing(self) -> Iterator[None]:
        """Time a rehearsal: after a slow one there is none in this scene any more."""
        begin = self._previews.clock()
        yield
        if self._previews.clock() - begin >= SLOW_S:
            self._previews.slow_to_rehearse.add(self._operations.host.scene())

    def expect_loss(self, outside: OutsideStep = nullcontext) -> None:
        """Note the viewpoint, and where the items are; see `Preview.expect_loss`."""
        if not self._previews.is_warm:
            with outside(), _harmless("the first picture cannot be drawn"):
                self._previews.draw(self._viewpoint(), (), _WARM_UP_PX)
        if self._previews.is_slow:
            return
        with _harmless("no viewpoint for pictures can be found"):
            shot = self._viewpoint()
            self._noted = _Noted(shot, *self._note_boxes())

    def forget(self) -> None:
        """Forget the viewpoint and the picture of the last edit."""
        self._noted = None
        self._after = None

    def draw_after(self, items: Sequence[str]) -> None:
        """Draw the scene after an edit, unless the renderer is not warm, or is slow."""
        self._after = None
        if self._previews.is_slow or not self._previews.is_warm:
            return
        with _harmless("the scene after the edit cannot be drawn"):
            shot = self._viewpoint_after(items)
            if shot is not None:
                self._after = _After(tuple(items), shot, self._draw(shot, ()))

    def pictures(self, items: Sequence[str]) -> tuple[Picture, ...]:
        """Return the pictures for a question; see `Preview.pictures`.

        The picture *now* comes alone where the scene after the edit was not drawn, or shows nothing
        of the items. Where the picture *after* was slow, there is none.
        """
        after = self._after
        if after is not None and after.items != tuple(items):
            after = None
        if self._previews.is_slow:
            return ()
        with _harmless("the scene now cannot be drawn"):
            places = self._boxes_now(items[:_MAX_MARKED])
            if after is not None:
                marks = marks_around(after.shot, places)
                if marks:
                    now = self._picture_now(after.shot, marks, items)
                    return now, Picture(after.png, "After")
            if places:
                shot = close_up(self._viewpoint(), around(places), ASPECT)
                return (self._picture_now(shot, marks_around(shot, places), items),)
        return ()

    def _picture_now(self, shot: Shot, marks: Sequence[Mark], items: Sequence[str]) -> Picture:
        """Return the scene now.

        Args:
            shot: The viewpoint.
            marks: The places of the items that are in the picture.
            items: All items.
        """
        if len(marks) == len(items):
            says = f"Now: {Loss(tuple(items)).counted(self._operations.host)}, marked"
        else:
            says = f"Now: {len(marks)} of {len(items)} marked"
        return Picture(self._draw(shot, joined(marks)), says)

    def _draw(self, shot: Shot, marks: Sequence[Mark]) -> bytes:
        return self._previews.draw(shot, marks, (WIDTH, HEIGHT))

    def _viewpoint(self) -> Shot:
        """Return what the person sees; without a window, a view of the whole scene."""
        shot = self._persons()
        if shot is None:
            (shot,) = shots(self._operations, [], "three_quarter", ASPECT)
        return shot

    def _persons(self) -> Shot | None:
        """Return what the person sees in the window; None where there is no window.

        Where they look through a camera, that camera may be what is lost.
        """
        with suppress(LookupError, ValueError):
            return replace(self._operations.viewpoint("person"), camera="", frame=None)
        return None

    def _viewpoint_after(self, items: Sequence[str]) -> Shot | None:
        """Return the viewpoint for items that are gone; None where none was noted before."""
        if self._noted is None:
            return self._persons()
        boxes = self._boxes_before(self._noted, {_item_in(thing) for thing in items})
        if not boxes:
            return self._noted.shot
        return close_up(self._noted.shot, around(boxes), ASPECT)

    def _note_boxes(self) -> tuple[dict[str, Bounds], dict[str, str | None]]:
        """Return the boxes of the items that have no item below them, and all parents."""
        operations = self._operations
        clock = self._previews.clock
        end = clock() + _MAX_NOTING_S
        parents = dict[str, str | None]()
        for item in track(islice(operations.items(), _MAX_NOTED)):
            parents[item], _ = tried(operations.parent, item)
        with_children = set(parents.values())
        boxes = dict[str, Bounds]()
        for item in track(parents):
            if clock() > end:
                break
            if item not in with_children:
                box, _ = tried(box_of, operations, item, PLACE_HALF)
                if box is not None:
                    boxes[item] = box
        return boxes, parents

    def _boxes_before(self, noted: _Noted, lost: Collection[str]) -> list[Bounds]:
        """Return the noted boxes of the items that are lost, or below lost ones."""
        boxes = []
        for item, box in noted.boxes.items():
            above: str | None = item
            while above is not None and above not in lost:
                above = noted.parents.get(above)
            if above is not None:
                boxes.append(box)
        return boxes

    def _boxes_now(self, items: Sequence[str]) -> list[Bounds]:
        """Return the boxes of the things that have a place and are shown."""
        operations = self._operations
        boxes = []
        for thing in items:
            item = _item_in(thing)
            is_shown, _ = tried(operations.is_shown, item)
            box, _ = tried(box_of, operations, item, PLACE_HALF)
            if is_shown and box is not None:
                boxes.append(box)
        return boxes


@contextmanager
def _harmless(what: str) -> Iterator[None]:
    """Log an error in the block, which ends it; the question is asked all the same.

    Args:
        what: What is not done then.
    """
    with noting():  # what cannot be read is no part of the verb's answer
        try:
            yield
        except Stopped:  # the call is over
            raise
        except Exception:  # an application may raise anything
            log.info("%s", what, exc_info=True)


def _item_in(thing: str) -> str:
    """Return the item that a lost thing is, or is a part of."""
    return thing.rpartition(_OF)[2]
