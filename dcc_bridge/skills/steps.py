"""The undo steps of one call: open while the body runs, closed while a question is open.

A step that was empty leaves nothing, so "the scene was changed" means that our label is on top of
the host's stack. A change without a grant is undone there and then. Main thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from dcc_bridge.elicitation.call import Call
from dcc_bridge.errors import NoConsent, PartlyApplied
from dcc_bridge.host import Host
from dcc_bridge.threads import MainThread


class Steps:
    """What one call changed, so that it can be undone as one."""

    def __init__(self, host: Host, main: MainThread, call: Call, label: str) -> None:
        """Open nothing yet.

        Args:
            host: Whose undo stack it is.
            main: Whose job the call is.
            call: What is run.
            label: What the person reads in the Edit menu.
        """
        self._host = host
        self._main = main
        self._call = call
        self._label = label
        self._open: AbstractContextManager[None] | None = None
        self._done: list[str] = []

    @property
    def changed(self) -> bool:
        """Whether a step of this call stands on the undo stack."""
        return bool(self._done)

    @property
    def label(self) -> str | None:
        """The label of the one step that the call left, or None for none or several."""
        return self._done[0] if len(self._done) == 1 else None

    @contextmanager
    def stretch(self) -> Iterator[None]:
        """Keep a step open while a part of the body runs."""
        self._begin()
        try:
            yield
        except BaseException as error:  # the step hears of it, and it goes on
            self._end(error)
            raise
        self._end()

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Close the step while a question is open."""
        was_open = self._open is not None
        try:
            if was_open:
                self._end()
            yield
        finally:
            if was_open:
                self._begin()

    def roll_back(self) -> None:
        """Undo what the call changed, newest first.

        Raises:
            PartlyApplied: Somebody else's change lies on top.
        """
        while self._done:
            if self._host.undo_label() != self._done[-1]:
                raise PartlyApplied(self._call.skill)
            self._host.undo()
            self._done.pop()

    def _begin(self) -> None:
        part = f".{len(self._done) + 1}" if self._done else ""
        self._current = f"{self._label} [{self._call.id[:6]}{part}]"
        self._open = self._host.undo_step(self._current)
        self._open.__enter__()

    def _end(self, error: BaseException | None = None) -> None:
        step, self._open = self._open, None
        if step is None:
            return
        try:
            step.__exit__(type(error) if error else None, error, None)
        finally:
            if self._host.undo_label() == self._current:
                self._note_change()

    def _note_change(self) -> None:
        self._done.append(self._current)
        self._call.refused = False
        if self._main.job is not None:
            self._main.job.edited = True
        if self._call.needs_grant and not self._call.granted:
            self.roll_back()
            raise NoConsent(self._call.skill)
