"""The keys that a person types into a text or a console while a skill works.

A key that is passed on would push an undo step in the middle of the skill's own. So the keys are
kept, and typed once the skill has ended. Main thread.

This holds for the text editor and the Python console below the mouse. A field that is being edited
cannot be served: Blender tells no add-on that there is one, and lets none make a key event.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import bpy

log = logging.getLogger("dcc_bridge.blender")
_MOVES: Final = {
    "LEFT_ARROW": "PREVIOUS_CHARACTER",
    "RIGHT_ARROW": "NEXT_CHARACTER",
    "HOME": "LINE_BEGIN",
    "END": "LINE_END",
}
_LINES: Final = {"UP_ARROW": "PREVIOUS_LINE", "DOWN_ARROW": "NEXT_LINE"}
_DELETIONS: Final = {"BACK_SPACE": "PREVIOUS_CHARACTER", "DEL": "NEXT_CHARACTER"}
_ENTER: Final = ("RET", "NUMPAD_ENTER")
_EDITORS: Final[Mapping[str, tuple[str, str, Mapping[str, str]]]] = {
    "TEXT_EDITOR": ("text", "line_break", {**_MOVES, **_LINES}),
    "CONSOLE": ("console", "execute", _MOVES),
}
"""By the type of an area: its operators, the one for Enter, and the keys that move the cursor."""
Stroke = tuple[bpy.types.Area, str, dict[str, str]]  # an operator in an area, with its properties


class Keystrokes:
    """The keys that were typed and are not in the text yet."""

    def __init__(self) -> None:
        """Begin without a key."""
        self._strokes: list[Stroke] = []

    def take(self, context: bpy.types.Context, event: bpy.types.Event) -> None:
        """Keep a key, if it types into an editor below the mouse."""
        area = _editor_below(context, event)
        if area is None or event.value != "PRESS" or event.ctrl or event.alt or event.oskey:
            return
        operators, enter, moves = _EDITORS[area.type]
        if event.type in _ENTER:
            self._strokes.append((area, f"{operators}.{enter}", {}))
        elif event.type in _DELETIONS:
            self._strokes.append((area, f"{operators}.delete", {"type": _DELETIONS[event.type]}))
        elif event.type in moves:
            self._strokes.append((area, f"{operators}.move", {"type": moves[event.type]}))
        elif event.unicode.isprintable() and event.unicode:
            self._strokes.append((area, f"{operators}.insert", {"text": event.unicode}))

    def type(self) -> None:
        """Type the keys that were kept."""
        strokes = self._strokes
        self._strokes = []
        for area, operator, properties in strokes:
            try:
                _run(area, operator, properties)
            except (ReferenceError, RuntimeError):  # the editor or its text is gone
                log.info("a key that was pressed while a skill worked had no place any more")


def _editor_below(context: bpy.types.Context, event: bpy.types.Event) -> bpy.types.Area | None:
    """Return the text editor or console below the mouse, or None."""
    screen = context.screen
    if screen is None:
        return None
    for area in screen.areas:
        x = event.mouse_x - area.x
        y = event.mouse_y - area.y
        if area.type in _EDITORS and 0 <= x < area.width and 0 <= y < area.height:
            return area
    return None


def _run(area: bpy.types.Area, operator: str, properties: dict[str, str]) -> None:
    """Run an operator in an area, as its key would."""
    manager: Any = bpy.context.window_manager
    group, name = operator.split(".")
    run = getattr(getattr(bpy.ops, group), name)
    for window in manager.windows:
        if area in window.screen.areas[:]:
            region = next(region for region in area.regions if region.type == "WINDOW")
            context: Any = bpy.context
            with context.temp_override(window=window, area=area, region=region):
                run(**properties)
