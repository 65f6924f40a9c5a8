"""Texts on a layout of Blender's, which cuts what does not fit. Main thread."""

from __future__ import annotations

import textwrap
from typing import Any, Final

import bpy

_CHARACTER_WIDTH: Final = 6.3  # pixels of a character, on average, in Blender's own font
_ICON_CHARACTERS: Final = 3  # characters that an icon takes the place of
_BAR: Final = 10  # characters of a progress bar


def scaled_by(context: bpy.types.Context) -> float:
    """Return by how much Blender scales the interface."""
    preferences: Any = context.preferences
    return float(preferences.system.ui_scale)


def scaled(context: bpy.types.Context, pixels: float) -> float:
    """Return a length on the screen, in pixels, as it was before Blender scaled the interface."""
    return pixels / scaled_by(context)


def stir(context: bpy.types.Context, event: bpy.types.Event) -> None:
    """Move the mouse pointer by a pixel and back.

    Blender draws a popup again with the popup's next event, and not before.
    """
    if context.window is None:
        return
    for x in (event.mouse_x ^ 1, event.mouse_x):
        context.window.cursor_warp(x, event.mouse_y)


def columns_of(context: bpy.types.Context, margin: float) -> int:
    """Return how many characters fit side by side into the region that is drawn.

    Args:
        context: The context that Blender draws in.
        margin: The pixels at the sides of the text, before scaling.
    """
    width = 0
    if context.region is not None:
        width = context.region.width
    characters = (scaled(context, width) - margin) / _CHARACTER_WIDTH
    return max(8, int(characters))


def wrapped(text: str, wide: int) -> list[str]:
    """Break a text into lines of at most `wide` characters; empty lines stay."""
    lines = []
    for line in text.split("\n"):
        lines += textwrap.wrap(line, wide) or [""]
    return lines


def say(
    layout: Any, text: str, wide: int, *, icon: str = "NONE", most: int = 24, red: bool = False
) -> None:
    """Draw a text, broken into lines. An empty text draws nothing.

    Args:
        layout: The layout of Blender's to draw on.
        text: The text, which has to be safe to show.
        wide: How many characters a line has at most.
        icon: The name of an icon before the first line.
        most: How many lines are drawn at most. The last line then counts those left out.
        red: Whether the text is drawn as an error.
    """
    if not text:
        return
    has_icon = icon != "NONE"
    if has_icon:
        wide -= _ICON_CHARACTERS
    lines = wrapped(text, wide)
    if len(lines) > most:
        rest = len(lines) - most + 1
        lines = [*lines[: most - 1], f"… {rest} more lines are not shown here"]
    column = layout.column(align=True)
    column.alert = red
    for line in lines:
        column.label(text=line, icon=icon, translate=False)
        if has_icon:
            icon = "BLANK1"


def bar(done: float) -> str:
    """Return a progress bar; a negative share stands for one that is not known."""
    full = round(_BAR * max(0.0, done))
    bar = "█" * full + "░" * (_BAR - full)
    if done < 0:
        return bar
    return f"{bar} {done:.0%}"
