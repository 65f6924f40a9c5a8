"""Blender's undo stack: pushed to, moved along, and read.

Nothing in Python names what lies on the stack. ``WindowManager.print_undo_steps`` prints it to the
process's standard output, so that is where it is read from: the names are Blender's own then, with
what the person did and undid in between. It takes 80 µs. In 4.5 and older it crashes in
background as long as nothing was pushed since the file was opened, so it is not asked then. Main
thread.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import tempfile
from contextlib import suppress
from typing import Final

import bpy

from dcc_bridge.hosts.blender.blender_loop import in_window

_LONGEST: Final = 63
"""Bytes of a name; Blender cuts off the rest, which is what makes ours unique."""
_ENTRY: Final = re.compile(r"^\[(.).{3}\]\s+\d+ \{.*?\} type='.*?', name='(.*)'$", re.MULTILINE)
_BASE: Final = "Original"
_STDOUT: Final = 1


class Stack:
    """The undo stack."""

    def __init__(self) -> None:
        """Know of nothing that was pushed."""
        self._labels: dict[str, str] = {}
        self._is_there = False
        self.start_over()

    def start_over(self) -> None:
        """Take note that another file was opened: it begins a stack of its own."""
        self._is_there = not bpy.app.background

    def prepare(self) -> None:
        """Have something on the stack that the first edit can be undone to.

        Raises:
            RuntimeError: Blender's undo is turned off, so nothing could be taken back.
        """
        preferences = bpy.context.preferences
        if preferences is not None and not preferences.edit.use_global_undo:
            raise RuntimeError(
                "Blender's undo is turned off, and an agent's edit could not be taken back: turn "
                "on Preferences > System > Memory & Limits > Global Undo."
            )
        if not self._is_there or not self._names():
            self._push(_BASE)
            self._is_there = True

    def push(self, label: str) -> None:
        """Make an entry of all that was changed since the last one."""
        name = _cut(label)
        self._labels[name] = label
        self._push(name)

    def top(self) -> str | None:
        """Give the label of what undo would undo, or None."""
        names = self._names() if self._is_there else []
        at = next((at for at, (mark, _) in enumerate(names) if mark == "*"), 0)
        return self._labels.get(names[at][1], names[at][1]) if at else None

    @staticmethod
    def _push(name: str) -> None:
        with in_window():
            bpy.ops.ed.undo_push(message=name)

    @staticmethod
    def _names() -> list[tuple[str, str]]:
        return _ENTRY.findall(_printed())


def _printed() -> str:
    """Give what Blender prints of its stack."""
    windows = bpy.context.window_manager
    assert windows is not None
    with tempfile.TemporaryFile() as output:
        _flush()
        stdout = os.dup(_STDOUT)
        try:
            os.dup2(output.fileno(), _STDOUT)
            windows.print_undo_steps()
            _flush()
        finally:
            os.dup2(stdout, _STDOUT)
            os.close(stdout)
        output.seek(0)
        return output.read().decode(errors="replace")


def _flush() -> None:
    """Empty the buffers of Python's and of C's standard output."""
    if sys.stdout is not None:
        with suppress(OSError, ValueError):  # closed, or nobody reads it
            sys.stdout.flush()
    _C.fflush(None)


def _cut(label: str) -> str:
    """Keep the end of a label that is too long: it is what no other one has."""
    if len(label.encode()) <= _LONGEST:
        return label
    end = label[-20:]
    room = _LONGEST - len(f"… {end}".encode())
    return f"{label.encode()[:room].decode(errors='ignore')}… {end}"


_C: Final = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None)
