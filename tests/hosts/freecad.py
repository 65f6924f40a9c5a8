"""The old place of what starts FreeCAD, for tests that still import it from here."""

from __future__ import annotations

from tests.freecad.launch import (
    CONSOLE,
    PROGRAM,
    ROOT,
    WITHOUT_A_SCREEN,
    dependencies,
    in_console,
    run,
    script,
    settle,
)

__all__ = [
    "CONSOLE",
    "PROGRAM",
    "ROOT",
    "WITHOUT_A_SCREEN",
    "dependencies",
    "in_console",
    "run",
    "script",
    "settle",
]
