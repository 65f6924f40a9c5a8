"""What a call left: in the scene, on disk, and of the code that it ran. Frozen, any thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dcc_bridge.elicitation.details import Details


@dataclass(frozen=True, slots=True)
class CodeRun:
    """Code that was asked about, and what it did."""

    why: str  # what its agent says that it is for
    details: Details  # its text, with what is marked
    # How many items were "created", "changed" and "deleted", with the first ones; empty until then.
    changes: Mapping[str, tuple[int, Sequence[str]]] = field(default_factory=dict)
    is_exact: bool = True  # no change is missing in them
    written: tuple[Path, ...] = ()  # the files that it wrote
    is_kept: bool = True  # the record has the text, and errors, which have lines of it


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call left in the scene and on disk."""

    steps: tuple[str, ...] = ()  # the labels of its undo steps, the oldest first
    label: str | None = None  # the top of the undo stack while all of it can be undone, or None
    depth: int = 0  # how deep the undo stack was with them
    file: Path | None = None  # the scene's file then, or None
    lasting: bool = False  # it did what undo does not bring back
    copy: Path | None = None  # the folder with a copy of what was lost by that, or None
    undone_by: str = ""  # "host", the label of a client, or "" where it is not known to be undone
    base: int = 0  # how deep the undo stack was before its steps
    is_away: bool = False  # another scene was open when it was looked for
    code: CodeRun | None = None  # the code of an agent that it was about, or None
