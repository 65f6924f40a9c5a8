"""Where an operator runs: a timer has no window of its own, and most operators want one.

Main thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import bpy


def in_window() -> AbstractContextManager[None]:
    """Make a window the current one, and a 3D view in it where there is one.

    In background there is none, and operators that need none run all the same.
    """
    return next(views(), None) or next(_windows(), None) or nullcontext()


def views() -> Iterator[AbstractContextManager[None]]:
    """Give a context for each 3D view that can be seen."""
    for window in _shown():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                region = next(one for one in area.regions if one.type == "WINDOW")
                yield _override(window, area, region)


def redraw() -> None:
    """Have everything drawn again that tells of the scene."""
    for window in _shown():
        for area in window.screen.areas:
            area.tag_redraw()


def _windows() -> Iterator[AbstractContextManager[None]]:
    for window in _shown():
        yield _override(window, window.screen.areas[0])


def _shown() -> list[bpy.types.Window]:
    windows = bpy.context.window_manager
    return [] if bpy.app.background or windows is None else list(windows.windows)


@contextmanager
def _override(
    window: bpy.types.Window, area: bpy.types.Area, region: bpy.types.Region | None = None
) -> Iterator[None]:
    members: Any = {"window": window, "area": area} | ({"region": region} if region else {})
    with bpy.context.temp_override(**members):
        yield
