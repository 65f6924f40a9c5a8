"""The arguments that a question is about, drawn in its dialog. Main thread."""

from __future__ import annotations

from typing import Any, Final

from dcc_bridge.spi.drawing import ArgumentView

from .drawing import say
from .fields import NAMES, WIDE_NAME, WIDE_VALUE

_MAX_BRIEF: Final = 3  # arguments that nobody agrees to


def draw_briefly(box: Any, arguments: tuple[ArgumentView, ...], wide: int) -> int:
    """Draw a line for each of the first arguments, and return the number of lines.

    Args:
        box: Where they are drawn.
        arguments: The arguments.
        wide: The characters of a line.
    """
    for argument in arguments[:_MAX_BRIEF]:
        text = " ".join(f"{argument.name}: {argument.value}".split())
        if len(text) > wide:
            text = f"{text[: wide - 1]}…"
        box.label(text=text, translate=False)
    left = len(arguments) - _MAX_BRIEF
    if left <= 0:
        return len(arguments)
    box.label(text=f"… and {left} more", translate=False)
    return _MAX_BRIEF + 1


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
