"""The ledger of one call: its grants so far, and which of their items were lost already.

Each yes becomes a grant: of a person, of a setting, of a grant for the session, or of the plan of a
batch. A grant is live until its time is over. The thread that runs the skill writes the ledger.
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

GRANT_TTL_S: Final = 3600.0  # a grant ends by then, even if its call still runs


def _end_from_now() -> float:
    return time.monotonic() + GRANT_TTL_S


@dataclass(eq=False, slots=True)
class CallGrant:
    """The grant of one answer to one call, until it is withdrawn or its time is over.

    Attributes:
        question: The id of the question that was agreed to.
        items: The items that may be lost, each once; None for any item.
        used: The items that were lost already.
        undoable: Whether the grant covers only losses that undo brings back.
        files: The files that may be written over; None for any, and for another scene.
        until: The time of the end, by the monotonic clock.
        kept: The items that the person unticked, which must still be there.
    """

    question: str
    items: tuple[str, ...] | None = None
    used: set[str] = field(default_factory=set)
    undoable: bool = True
    files: frozenset[Path] | None = None
    until: float = field(default_factory=_end_from_now)
    kept: tuple[str, ...] = ()


@dataclass(slots=True)
class LastingLosses:
    """The losses of a call that undo does not bring back, and the copies kept of them.

    Attributes:
        undoable: Whether nobody has agreed to a loss of that kind.
        lost: The acts: "write over shot.usda".
        checkpoint: The folder with the newest copy, or None.
        copied_files: The files of which there is a copy; None among them stands for the scene.
        copied_at: The place in the undo stack when the newest copy was made.
        copies: The folders of all copies made for the call.
        copied_folders: Declared folders; a file in them is copied just before it is changed.
    """

    undoable: bool = True
    lost: list[str] = field(default_factory=list)
    checkpoint: Path | None = None
    copied_files: set[Path | None] = field(default_factory=set)
    copied_at: object = None
    copies: set[Path] = field(default_factory=set)
    copied_folders: frozenset[Path] = frozenset()


@dataclass(slots=True)
class Ledger:
    """The grants and the refusals of one call so far.

    Two flags say what needs a grant::

        needs_grant  judges_losses
        no           no             nothing
        any          yes            a loss: the body is tried, and can be tried again
        yes          no             each change, and each loss

    Attributes:
        needs_grant: Whether the skill is not trusted to change the scene without a grant.
        judges_losses: Whether only a loss needs a grant.
        grants: The grants, the oldest first.
        refused: The refusal of the last question, if nothing was changed since.
        refusals: How often all grants were withdrawn.
        consents: How many questions for consent were answered.
        keeps_answers: Whether a body that is tried again asks for consent only once.
        parts: Items of which an edit may take parts away, such as a key or a link.
        is_raised: Whether the call is destructive only because it called a destructive skill.
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
        """Return whether files may be written over.

        Args:
            files: The files; empty to ask whether the scene may be closed.
        """
        granted = set[Path]()
        for grant in self.live:
            if grant.undoable:
                continue
            if grant.files is None:
                return True
            granted.update(grant.files)
        wanted = {Path(os.path.abspath(file)) for file in files}
        return bool(wanted) and wanted <= granted

    @property
    def allows_change(self) -> bool:
        """Whether the scene may be changed: no grant is needed, or there is one."""
        return self.judges_losses or not self.needs_grant or bool(self.live)

    @property
    def agreed_items(self) -> list[str] | None:
        """The items that may be lost; None if any item may be lost."""
        is_limited = self.needs_grant or self.judges_losses
        if not is_limited:
            return None
        agreed = list[str]()
        for grant in self.live:
            if grant.items is None:
                return None
            agreed.extend(item for item in grant.items if item not in grant.used)
        return agreed

    @property
    def kept_items(self) -> list[str]:
        """The items that a person unticked, and that no other grant covers."""
        live = self.live
        covered = {item for grant in live for item in grant.items or ()}
        return [item for grant in live for item in grant.kept if item not in covered]

    def use_up(self, lost: Callable[[], Sequence[str]]) -> None:
        """Mark lost items as used up in the grants.

        Args:
            lost: Lists the lost items. It is called only where a grant names items.
        """
        if not self.agreed_items:
            return
        gone = set(lost())
        for grant in self.grants:
            grant.used |= gone.intersection(grant.items or ())

    def begin_anew(self) -> None:
        """Let a body lose the granted items again, as its edits were taken back."""
        self.parts.clear()
        for grant in self.grants:
            grant.used.clear()

    def withdraw(self) -> None:
        """Withdraw all grants: a person refused, so nothing may be changed any more."""
        self.grants.clear()
        self.needs_grant = True
        self.judges_losses = False
        self.refusals += 1

    @contextmanager
    def holding(self, question: str) -> Iterator[None]:
        """Hold back the grant of a question while its conditions are checked.

        If the block raises, or a person refuses in it, the grant does not come back.

        Args:
            question: The id of the question.
        """
        held_grants = [grant for grant in self.grants if grant.question == question]
        self.drop(question)
        refusals_before = self.refusals
        yield
        if self.refusals == refusals_before:
            self.grants += held_grants

    def limit_losses(self) -> None:
        """Let the grants without a list cover no loss."""
        for grant in self.live:
            if grant.items is None:
                grant.items = ()

    def drop(self, question: str) -> None:
        """Withdraw the grant of one question.

        Args:
            question: The id of the question.
        """
        self.grants = [grant for grant in self.grants if grant.question != question]
