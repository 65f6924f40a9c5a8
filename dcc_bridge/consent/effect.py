"""The effect of a call on the scene and on disk, and the code that it ran. Frozen, any thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dcc_bridge.elicitation.details import Details


@dataclass(frozen=True, slots=True)
class CodeRun:
    """Code that the person was asked about, and its effect.

    Attributes:
        why: The purpose that the agent states.
        details: The text, with the marked lines.
        changes: How many items were "created", "changed" and "deleted", and the first of them;
            empty until the code has run.
        is_exact: Whether no change is missing in them.
        written: The files that the code wrote.
        is_kept: Whether the record may have the text, and errors, which quote lines of the text.
    """

    why: str
    details: Details
    changes: Mapping[str, tuple[int, Sequence[str]]] = field(default_factory=dict)
    is_exact: bool = True
    written: tuple[Path, ...] = ()
    is_kept: bool = True


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a call in the scene and on disk.

    Attributes:
        steps: The labels of the undo steps, the oldest first.
        label: The label on top of the undo stack while all steps can be undone, or None.
        depth: How deep the undo stack was with the steps.
        file: The scene's file then, or None.
        lasting: Whether the call did what undo does not bring back.
        copy: The folder with a copy of what was lost by that, or None.
        undone_by: "host", the label of a client, or "" where the call is not known to be undone.
        base: How deep the undo stack was before the steps.
        is_away: Whether another scene was open when the steps were looked for.
        code: The code of an agent that the call ran, or None.
    """

    steps: tuple[str, ...] = ()
    label: str | None = None
    depth: int = 0
    file: Path | None = None
    lasting: bool = False
    copy: Path | None = None
    undone_by: str = ""
    base: int = 0
    is_away: bool = False
    code: CodeRun | None = None
