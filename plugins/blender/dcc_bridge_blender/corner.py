"""The notifications that the sidebar shows: questions that wait elsewhere, and what was done.

Main thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from dcc_bridge.hosts.blender.blender_loop import redraw

_PASSING: Final = 60.0
"""Seconds for which a notification stays that needs no answer."""
Act = tuple[str, Callable[[], None]]


@dataclass(eq=False)
class Note:
    """A notification.

    Attributes:
        text: What it says.
        acts: What a person may do about it: a button's caption, and what it does.
        ends: When it goes by itself, or None.
    """

    text: str
    acts: tuple[Act, ...]
    ends: float | None = None


@dataclass
class Corner:
    """All notifications, the newest last."""

    notes: list[Note] = field(default_factory=list)

    def add(self, text: str, *acts: Act, ends: float | None = None) -> Note:
        """Show a notification until it is removed, or until a time."""
        note = Note(text, acts, ends)
        self.notes.append(note)
        redraw()
        return note

    def add_passing(self, text: str, *acts: Act, call: str | None = None) -> Note:
        """Show a notification for a minute. It has no room for the call's id: the log has it."""
        return self.add(text, *acts, ends=time.monotonic() + _PASSING)

    def remove(self, *notes: Note) -> None:
        """Take notifications away; they may be gone already."""
        self.notes = [note for note in self.notes if note not in notes]
        redraw()

    def sweep(self, now: float) -> None:
        """Take away those whose time is up."""
        if over := [note for note in self.notes if note.ends is not None and note.ends < now]:
            self.remove(*over)

    def act(self, note: int, act: int) -> None:
        """Do what a button says, unless it went away meanwhile."""
        if note < len(self.notes) and act < len(self.notes[note].acts):
            pressed = self.notes[note]
            if pressed.ends is not None:
                self.remove(pressed)
            pressed.acts[act][1]()
