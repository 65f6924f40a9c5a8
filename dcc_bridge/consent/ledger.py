"""The ledger of one call: what was agreed to in it so far, and what of that is used up.

A yes becomes a grant here, whoever gave it: the person, a setting, a grant for the session, or the
plan of a batch. The thread that runs the skill writes it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dcc_bridge.errors import NotConfirmed

GRANT_TTL_S: Final = 3600.0  # a grant ends then, though its call still runs


@dataclass(eq=False, slots=True)
class CallGrant:
    """What one answer allows one call, until it is withdrawn or its time is over.

    Attributes:
        question: The id of the question that was agreed to.
        items: What may be lost, each once; None for whatever the question was about.
        used: The items that were lost already.
        undoable: Whether it covers only what undo brings back.
        files: The files that may be written over; None for any, and for another scene.
        until: When it ends, by the monotonic clock.
    """

    question: str
    items: tuple[str, ...] | None = None
    used: set[str] = field(default_factory=set)
    undoable: bool = True
    files: frozenset[Path] | None = None
    until: float = field(default_factory=lambda: time.monotonic() + GRANT_TTL_S)


@dataclass(slots=True)
class LastingLosses:
    """What a call was allowed to do that undo does not bring back, and the copies kept of it.

    Attributes:
        undoable: Whether nothing of that kind was agreed to.
        lost: What was done for good: "write over shot.usda".
        checkpoint: The folder with the copy, or None.
        kept: The files of which there is a copy; None among them stands for the whole scene.
        kept_at: The place in the undo stack when the copy was made.
        copies: The folders of all copies made for the call.
        copied_folders: Declared folders; a file in them is copied just before it is changed.
    """

    undoable: bool = True
    lost: list[str] = field(default_factory=list)
    checkpoint: Path | None = None
    kept: set[Path | None] = field(default_factory=set)
    kept_at: object = None
    copies: set[Path] = field(default_factory=set)
    copied_folders: frozenset[Path] = frozenset()


@dataclass(slots=True)
class Ledger:
    """What was agreed to so far.

    Attributes:
        needs_grant: Whether a change without a grant is undone.
        judges_losses: Whether only a loss needs a grant: while the body can be done again.
        grants: What a person agreed to, the oldest first.
        refused: Why the last question was refused, if nothing was changed since.
        refusals: How often all that was granted was withdrawn.
        consents: How many questions for consent were answered.
        keeps_answers: Whether a body that is tried again asks for consent only once.
        parts: Items of which an edit may take parts away.
        is_raised: Whether the call loses something only because it called a skill that does.
    """

    needs_grant: bool = False
    judges_losses: bool = False
    grants: list[CallGrant] = field(default_factory=list)
    refused: NotConfirmed | None = None
    refusals: int = 0
    consents: int = 0
    keeps_answers: bool = False
    parts: list[str] = field(default_factory=list)
    is_raised: bool = False

    @property
    def live(self) -> list[CallGrant]:
        """The grants whose time is not over."""
        return [grant for grant in self.grants if grant.until > time.monotonic()]

    def allows_loss(self, files: Sequence[Path]) -> bool:
        """Whether files may be written over; none of them: whether the scene may be closed."""
        lasting = [grant.files for grant in self.live if not grant.undoable]
        granted = {file for over in lasting for file in over or ()}
        wanted = {Path(os.path.abspath(file)) for file in files}
        return None in lasting or (bool(wanted) and wanted <= granted)

    @property
    def allows_change(self) -> bool:
        """Whether the scene may be changed: no grant is needed, or there is one."""
        return self.judges_losses or not self.needs_grant or bool(self.live)

    @property
    def covered(self) -> list[str] | None:
        """The items that may be lost; None where nothing limits them."""
        is_limited = self.needs_grant or self.judges_losses
        if not is_limited or any(grant.items is None for grant in self.live):
            return None
        return [item for grant in self.live for item in grant.items or () if item not in grant.used]

    def use_up(self, lost: Callable[[], Sequence[str]]) -> None:
        """Take what was lost out of the grants; it is listed only where a grant names items."""
        if not self.covered or not (gone := set(lost())):
            return
        for grant in self.grants:
            grant.used |= gone.intersection(grant.items or ())

    def begin_anew(self) -> None:
        """Let a body lose again what it was agreed to lose: what it had lost is there again."""
        self.parts.clear()
        for grant in self.grants:
            grant.used.clear()

    def withdraw(self) -> None:
        """Withdraw all that was granted: a person refused, so nothing may be changed any more."""
        self.grants.clear()
        self.needs_grant = True
        self.judges_losses = False
        self.refusals += 1

    @contextmanager
    def holding(self, question: str) -> Iterator[None]:
        """Hold back the grant of a question until what it depends on was seen to be so."""
        held = [grant for grant in self.grants if grant.question == question]
        self.drop(question)
        refusals = self.refusals
        yield
        if self.refusals == refusals:  # nor where it failed: then there is no grant
            self.grants += held

    def limit_losses(self) -> None:
        """Let nothing go that was not listed, though what was agreed to listed nothing."""
        for grant in self.live:
            grant.items = () if grant.items is None else grant.items

    def drop(self, question: str) -> None:
        """Withdraw the grant of one question: it was given for something else."""
        self.grants = [grant for grant in self.grants if grant.question != question]
