"""The pictures of a consent, now and after, as previews of Blender's own. Main thread."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import bpy.utils.previews

from .drawing import say

_SCALE: Final = 9.0  # of a picture, in the units of Blender's layouts
LINES: Final = 10  # lines that pictures and captions take
_UNITS: Final = 0.3  # the width of a character, in the same units
_MAX_CAPTION_LINES: Final = 3


class Pictures:
    """Some pictures; they are loaded when they are drawn first."""

    def __init__(self, pictures: Sequence[tuple[bytes, str]]) -> None:
        """Load nothing yet.

        Args:
            pictures: PNGs, each with a text that says what it shows.
        """
        self._pictures = pictures
        self._previews: Any = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def load(self) -> None:
        """Load the pictures; from files, as Blender has no other way."""
        if self._previews is not None or not self._pictures:
            return
        self._folder = tempfile.TemporaryDirectory(prefix="dcc_bridge_")
        self._previews = bpy.utils.previews.new()
        for number, (png, _) in enumerate(self._pictures):
            file = Path(self._folder.name) / f"{number}.png"
            file.write_bytes(png)
            self._previews.load(str(number), str(file), "IMAGE")

    def draw(self, layout: Any, wide: int) -> None:
        """Draw the pictures side by side, each above what it shows.

        Args:
            layout: The layout of Blender's to draw on.
            wide: How many characters a line has.
        """
        if self._previews is None:
            return
        row = layout.row()
        each = wide // len(self._pictures)
        scale = min(_SCALE, each * _UNITS)
        for number, (_, says) in enumerate(self._pictures):
            column = row.column(align=True)
            preview = self._previews[str(number)]
            column.template_icon(preview.icon_id, scale=scale)
            say(column, says, each, most=_MAX_CAPTION_LINES)

    def close(self) -> None:
        """Forget the pictures. Harmless the second time."""
        if self._previews is not None:
            bpy.utils.previews.remove(self._previews)
            self._previews = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
