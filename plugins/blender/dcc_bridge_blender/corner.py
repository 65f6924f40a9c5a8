"""What is said in passing: questions that wait elsewhere, and what was done. Main thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from dcc_bridge.hosts.blender.blender_loop import redraw

PASSING: Final = 60.0
"""Seconds for which a notice stays."""
Act = tuple[str, Callable[[], None]]


@dataclass(eq=False)
class Note:
    """One thing that is said.

    Attributes:
        text: What.
        acts: What a person may do about it: a button's caption, and what it does.
        ends: When it goes by itself, or None.
    """

    text: str
    acts: tuple[Act, ...]
    ends: float | None = None


@dataclass
class Corner:
    """All that is said now, the newest last; the sidebar shows it."""

    notes: list[Note] = field(default_factory=list)

    def say(self, text: str, *acts: Act, passing: bool = False) -> Note:
        """Say something, for good or for a minute."""
        note = Note(text, acts, time.monotonic() + PASSING if passing else None)
        self.notes.append(note)
        redraw()
        return note

    def remove(self, note: Note) -> None:
        """Say it no more; harmless the second time."""
        if note in self.notes:
            self.notes.remove(note)
            redraw()

    def sweep(self, now: float) -> None:
        """Drop what was to be said in passing only."""
        for note in [one for one in self.notes if one.ends is not None and one.ends < now]:
            self.remove(note)

    def act(self, note: int, act: int) -> None:
        """Do what a button says, unless it went away meanwhile."""
        if note < len(self.notes) and act < len(self.notes[note].acts):
            said = self.notes[note]
            if said.ends is not None:
                self.remove(said)
            said.acts[act][1]()
