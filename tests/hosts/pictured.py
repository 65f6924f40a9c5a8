"""The pictures of an open question, written down in an application and read by a test.

`take_time` and `note` run inside of the application, which has no Pillow; the others in the test.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from PIL import Image

    from dcc_bridge.elicitation.question import Question

_SAYS: Final = "pictures.json"


def take_time() -> bool:
    """Have pictures drawn however slow the machine is. Runs inside of the application."""
    import math

    from dcc_bridge.verbs import previews

    setattr(previews, "SLOW_S", math.inf)  # noqa: B010 - it is final elsewhere
    return True


def note(questions: Sequence[Question], folder: Path) -> bool:
    """Write down the pictures of the open question, and what each says; False for no question."""
    if not questions or questions[0].consent is None:
        return False
    pictures = questions[0].consent.pictures
    for number, picture in enumerate(pictures):
        (folder / f"picture_{number}.png").write_bytes(picture.png)
    says = json.dumps([picture.says for picture in pictures])
    (folder / _SAYS).write_text(says, encoding="utf-8")
    return True


def read(folder: Path) -> tuple[list[str], list[Image.Image]]:
    """Return what the pictures say, and the pictures."""
    from PIL import Image

    says = json.loads((folder / _SAYS).read_text(encoding="utf-8"))
    pictures = []
    for number in range(len(says)):
        with Image.open(folder / f"picture_{number}.png") as picture:
            pictures.append(picture.convert("RGB"))
    return says, pictures


def marked(picture: Image.Image) -> tuple[int, int, int, int] | None:
    """Return the rectangle around the marks in a picture; None if there are none."""
    from PIL import ImageChops

    red, green, blue = (part.point(_is_high) for part in picture.split())
    others = ImageChops.lighter(green, blue)
    return ImageChops.subtract(red, others).getbbox()


def _is_high(value: int) -> int:
    return 255 * (value > 180)


def check_pair(now: Image.Image, after: Image.Image) -> None:
    """Check that both are one view, that now has a mark, and that only what is in it goes."""
    from PIL import ImageChops

    mark = marked(now)
    assert mark is not None
    assert marked(after) is None
    left, top, right, bottom = mark
    around = (left - 2, top - 2, right + 2, bottom + 2)  # the white of the mark
    inside = (left + 6, top + 6, right - 6, bottom - 6)
    assert ImageChops.difference(now.crop(inside), after.crop(inside)).getbbox() is not None
    for picture in (now, after):
        picture.paste((0, 0, 0), around)
    assert max(ImageChops.difference(now, after).tobytes()) < 60
