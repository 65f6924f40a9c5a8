"""The arguments and the items that a question is about, drawn in its dialog. Main thread."""

from __future__ import annotations

from typing import Any

import bpy

from dcc_bridge.spi.drawing import ArgumentView, Consent, item_counts, safe_line

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


def draw_items(box: Any, consent: Consent, most: int) -> None:
    """Draw the items that a person would lose, in at most so many lines."""
    items = consent.shown_items
    kinds = consent.kinds or ("",) * len(items)
    box.label(text=item_counts(consent), translate=False)
    columns = 1
    if len(items) > most // 2:
        columns = 2
    rows = list(zip(items, kinds, strict=False))
    shown = rows[: columns * most - 1]
    grid = box.grid_flow(columns=columns, even_columns=True, align=True)
    for item, kind in shown:
        grid.label(text=safe_line(item, 40), icon=_icon(kind), translate=False)
    rest = len(items) - len(shown)
    if rest > 0:
        box.label(text=f"… and {rest:,} more", translate=False)


def _icon(kind: str) -> str:
    """Return Blender's icon for a type of object."""
    layout: Any = bpy.types.UILayout
    known = layout.bl_rna.functions["label"].parameters["icon"]
    icon = f"OUTLINER_OB_{kind}"
    if icon in known.enum_items:
        return icon
    return "OBJECT_DATA"
