"""The arguments that a question is about, drawn in its dialog. Main thread."""

from __future__ import annotations

from typing import Any

from dcc_bridge.spi.drawing import ArgumentView

from .drawing import say
from .fields import NAMES, WIDE_NAME, WIDE_VALUE


def draw_arguments(box: Any, arguments: tuple[ArgumentView, ...]) -> None:
    """Draw a row for each argument; a value stays in its column, however long it is."""
    is_first = True
    for argument in arguments:
        if not is_first:
            box.separator(factor=0.2)
        is_first = False
        row = box.split(factor=NAMES)
        say(row, argument.name, WIDE_NAME)
        texts = [text for text in (argument.value, argument.rest) if text]
        say(row, " ".join(texts), WIDE_VALUE)
