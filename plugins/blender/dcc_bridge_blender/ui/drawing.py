"""Texts on a layout of Blender's, which cuts what does not fit. Main thread."""

from __future__ import annotations

import textwrap
from typing import Any, Final

import bpy

_CHARACTER: Final = 6.3  # pixels of one, on average, in Blender's own font


def scaled(context: bpy.types.Context, pixels: float) -> float:
    """Give a length on the screen as it is before Blender scales it."""
    preferences: Any = context.preferences
    return float(pixels / preferences.system.ui_scale)


def stir(context: bpy.types.Context, event: bpy.types.Event) -> None:
    """Move the mouse and back: what pops up is drawn again with its next event, and not before."""
    if context.window is not None:
        for x in (event.mouse_x ^ 1, event.mouse_x):
            context.window.cursor_warp(x, event.mouse_y)


def columns_of(context: bpy.types.Context, margin: float) -> int:
    """Give how many characters stand side by side in the region that is drawn."""
    width = context.region.width if context.region is not None else 0
    return max(8, int((scaled(context, width) - margin) / _CHARACTER))


def wrapped(text: str, wide: int) -> list[str]:
    """Break a text into lines of so many characters."""
    return [part for line in text.split("\n") for part in textwrap.wrap(line, wide) or [""]]


def say(
    layout: Any, text: str, wide: int, *, icon: str = "NONE", most: int = 24, red: bool = False
) -> None:
    """Draw a safe text, if there is one, in so many lines of so many characters at most."""
    if not text:
        return
    lines = wrapped(text, wide - 3 if icon != "NONE" else wide)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"… {len(lines) - most + 1} more lines are not shown here"]
    column = layout.column(align=True)
    column.alert = red
    for number, line in enumerate(lines):
        sign = icon if number == 0 or icon == "NONE" else "BLANK1"
        column.label(text=line, icon=sign, translate=False)
