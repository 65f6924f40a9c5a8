"""A yes for a while: plain code of one client runs unshown, until a fixed time. Any thread.

A grant is for the code of one session of one client, in one scene. What makes code plain is decided
by whoever asks about it: it says so by a `CodeScope`. A grant is never prolonged. Besides its time
a no to code of the client ends it, code of the client that is not plain, another scene, the end of
the session, a pause, and a click of the person.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final, NamedTuple

from dcc_bridge.elicitation.caller import CodeScope
from dcc_bridge.elicitation.question import Question

_MINUTE: Final = 60.0
# Seconds by which the wall clock may go slower than the other one: time servers correct it so.
_CORRECTED: Final = 10.0


class Moment(NamedTuple):
    """A time on both clocks."""

    monotonic: float  # seconds; nobody can set it
    wall: float  # seconds since the epoch; what a person reads

    @classmethod
    def now(cls) -> Moment:
        """Return what time it is."""
        return cls(time.monotonic(), time.time())


@dataclass(frozen=True, slots=True)
class CodeGrant:
    """What a person agreed to for a while."""

    scope: CodeScope  # whose code it covers, and in which scene
    question: str  # the id of the question that was agreed to
    began: Moment
    seconds: float  # how long it is valid

    @property
    def until(self) -> float:
        """When it ends by itself, in seconds since the epoch."""
        return self.began.wall + self.seconds

    def has_ended(self, now: Moment) -> bool:
        """Return whether its time is over on either clock, or the wall clock was set back."""
        passed = now.monotonic - self.began.monotonic
        passed_on_wall = now.wall - self.began.wall
        was_set_back = passed_on_wall < passed - _CORRECTED
        return was_set_back or max(passed, passed_on_wall) >= self.seconds


class CodeGrants:
    """The grants for code that are valid."""

    def __init__(
        self,
        minutes: int,  # how long each is valid; 0: there are none
        changed: Callable[[], None] = lambda: None,  # called when one is added or ends
        now: Callable[[], Moment] = Moment.now,
    ) -> None:
        self._seconds = minutes * _MINUTE
        self._changed = changed
        self._now = now
        self._lock = threading.Lock()
        self._grants: list[CodeGrant] = []

    @property
    def live(self) -> list[CodeGrant]:
        """The grants that have not ended, the oldest first."""
        now = self._now()
        with self._lock:
            self._grants = [grant for grant in self._grants if not grant.has_ended(now)]
            return list(self._grants)

    def may_allow(self, question: Question) -> bool:
        """Return whether a question is about plain code, so that a yes may be one for a while."""
        is_about_code = question.call.dialogue.plain_code is not None
        loses_nothing = question.undoable and not question.items
        return self._seconds > 0 and is_about_code and loses_nothing

    def allow(self, question: Question) -> None:
        """Add what an answer granted; nothing where a grant is valid already."""
        scope = question.call.dialogue.plain_code
        if scope is None or not self.may_allow(question):
            return
        now = self._now()
        grant = CodeGrant(scope, question.id, now, self._seconds)
        with self._lock:
            valid = [older for older in self._grants if not older.has_ended(now)]
            is_new = all(older.scope != scope for older in valid)
            self._grants = [*valid, grant] if is_new else valid
        if is_new:
            self._changed()

    def covered_by(self, question: Question) -> str | None:
        """Return the id of the question that was agreed to for this one too; None for none."""
        scope = question.call.dialogue.plain_code
        if scope is None or not self.may_allow(question):
            return None
        self.end_elsewhere(scope.scene)
        return next((grant.question for grant in self.live if grant.scope == scope), None)

    def end(self, grant: CodeGrant) -> None:
        """End a grant."""
        self._end_where(lambda other: other == grant)

    def end_of_client(self, label: str) -> None:
        """End what the client of a label may do, in each of its sessions."""
        self._end_where(lambda grant: grant.scope.client == label)

    def end_of_session(self, session: str) -> None:
        """End what a client may do in a session that has ended."""
        self._end_where(lambda grant: grant.scope.session == session)

    def end_elsewhere(self, scene: Hashable) -> None:
        """End what holds for another scene than the one that is open."""
        self._end_where(lambda grant: grant.scope.scene != scene)

    def end_all(self) -> None:
        """End every grant."""
        self._end_where(lambda grant: True)

    def _end_where(self, ends: Callable[[CodeGrant], bool]) -> None:
        with self._lock:
            before = self._grants
            self._grants = [grant for grant in before if not ends(grant)]
            has_changed = len(self._grants) < len(before)
        if has_changed:
            self._changed()
