"""The undo steps of one call: open while the body runs, closed while a question is open.

A step that was empty leaves nothing, so "the scene was changed" means that our label is on top of
the host's stack. A change without a grant, or one that is not on record, is undone there and then.
Main thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Final

from dcc_bridge.elicitation.audit_trail import RunRecord
from dcc_bridge.elicitation.call import Call
from dcc_bridge.errors import Ended, NoConsent, NotRecorded, PartlyApplied
from dcc_bridge.host import Host
from dcc_bridge.main_thread import MainThread

_MOST_READ: Final = 100
"""Entries that a body which says it only reads is thought to leave."""


class Steps:
    """What one call changed, so that it can be undone as one."""

    def __init__(
        self, host: Host, main: MainThread, call: Call, label: str, account: RunRecord
    ) -> None:
        """Open nothing yet.

        Args:
            host: Whose undo stack it is.
            main: Whose job the call is.
            call: What is run.
            label: What the person reads in the Edit menu.
            account: Where it is written down that the scene may be changed.
        """
        self._account = account
        self._host = host
        self._main = main
        self._call = call
        self._label = label
        self._current_step: AbstractContextManager[None] | None = None
        self._done: list[str] = []
        self._undone: list[str] = []
        self._was_left = False
        self._is_over = False

    @property
    def changed(self) -> bool:
        """Whether a step of this call stands on the undo stack."""
        return bool(self._done)

    @property
    def label(self) -> str | None:
        """The label of the one step by which all that the call did can be undone, or None."""
        return self._done[0] if len(self._done) == 1 and self._call.agreement.undoable else None

    @property
    def done(self) -> tuple[str, ...]:
        """The labels of the steps that stand."""
        return tuple(self._done)

    @property
    def undone(self) -> tuple[str, ...]:
        """The labels of those that were undone."""
        return tuple(self._undone)

    @contextmanager
    def open(self) -> Iterator[None]:
        """Keep a step open while a part of the body runs.

        Raises:
            Ended: The call is over; a task or a thread of the skill came too late.
            NotRecorded: It cannot be written down that the scene may be changed.
        """
        if self._is_over:
            raise Ended(self._call.title)
        self._note_begin()
        self._begin()
        with ExitStack() as stack:
            stack.push(lambda kind, error, trace: self._end(error))
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Undo what a body that says it only reads has left on the host's undo stack.

        It has no step of its own, which some hosts refuse where reading is fine. After a question
        nothing is looked at: what the person did meanwhile lies on the same stack.

        Raises:
            NoConsent: It changed the scene.
        """
        before = self._host.undo_label()
        try:
            yield
        finally:
            if not self._was_left and self._take_back_to(before):
                raise NoConsent(self._call.skill)

    def _take_back_to(self, label: str | None) -> bool:
        """Undo until a label is on top again; tell whether another one was."""
        for taken in range(_MOST_READ):
            top = self._host.undo_label()
            if top in (label, None):
                return taken > 0
            self._host.undo()
        return True

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Close the step while a question is open."""
        self._was_left = True
        was_open = self._current_step is not None
        try:
            if was_open:
                self._end()
            yield
        finally:
            if was_open:
                self._begin()  # first: a skill that goes on in spite of it is seen to change things
                self._note_begin()

    def roll_back(self) -> None:
        """Undo what the call changed, newest first.

        Raises:
            PartlyApplied: Somebody else's change lies on top.
        """
        while self._done:
            if self._host.undo_label() != self._done[-1]:
                raise PartlyApplied(self._call.skill)
            self._undo_last()

    def _undo_last(self) -> None:
        self._host.undo()
        self._undone.append(self._done.pop())

    def close(self) -> None:
        """Let what stands stand, and nothing of it change the scene any more. Any thread."""
        self._is_over = True

    @property
    def _may_change(self) -> bool:
        call = self._call
        return call.risk != "read" and (call.agreement.granted or not call.agreement.needs_grant)

    def _note_begin(self) -> None:
        if self._may_change:
            self._account.begin(self._host, self._label)

    def _begin(self) -> None:
        part = f".{len(self._done) + 1}" if self._done else ""
        self._current_label = f"{self._label} [{self._call.id[:6]}{part}]"
        self._current_step = self._host.undo_step(self._current_label)
        self._current_step.__enter__()

    def _end(self, error: BaseException | None = None) -> None:
        step, self._current_step = self._current_step, None
        if step is None:
            return
        try:
            step.__exit__(type(error) if error else None, error, None)
        finally:
            # Before the host says so: where it cannot, the roll-back looks again.
            self._done.append(self._current_label)
            if self._host.undo_label() == self._current_label:
                self._note_change()
            else:
                self._done.pop()

    def _note_change(self) -> None:
        self._call.agreement.refused = False
        if self._main.job is not None:
            self._main.job.edited = True
        if self._is_over:  # it ended while this step was open
            self._undo_last()
            raise Ended(self._call.title)
        if not self._may_change:
            self.roll_back()
            raise NoConsent(self._call.skill)
        if not self._account.has_begun:
            self.roll_back()
            raise NotRecorded("it could not be when the skill was granted its edit.")
