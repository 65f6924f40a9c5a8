"""Grants for plain code of one client, which runs unshown until a fixed time. Any thread.

A grant is for the code of one session of one client, in one scene. The part that asks about code
decides whether the code is plain, and says so by a `CodeScope`. A grant is never prolonged. It ends
earlier when the person refuses code of the client, when the client sends code that is not plain,
with another scene, with the session, with a pause, and by a click of the person.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final, NamedTuple

from dcc_bridge.elicitation.caller import CodeScope
from dcc_bridge.elicitation.question import Question

_MINUTE_S: Final = 60.0
# How far the wall clock may fall behind the monotonic one: time servers correct it so.
_MAX_CORRECTION_S: Final = 10.0


class Moment(NamedTuple):
    """A time on both clocks.

    Attributes:
        monotonic: Seconds on the clock that nobody can set.
        wall: Seconds since the epoch, which a person reads as a time.
    """

    monotonic: float
    wall: float

    @classmethod
    def now(cls) -> Moment:
        """Return the current time."""
        return cls(time.monotonic(), time.time())


@dataclass(frozen=True, slots=True)
class CodeGrant:
    """A grant for plain code.

    Attributes:
        scope: The client, the session and the scene that are covered.
        question: The id of the question that a person agreed to.
        began: The time of the answer.
        seconds: How long the grant is valid.
    """

    scope: CodeScope
    question: str
    began: Moment
    seconds: float

    @property
    def until(self) -> float:
        """The time at which the grant ends by itself, in seconds since the epoch."""
        return self.began.wall + self.seconds

    def has_ended(self, now: Moment) -> bool:
        """Return whether the time is over on either clock, or the wall clock was set back."""
        passed = now.monotonic - self.began.monotonic
        passed_on_wall = now.wall - self.began.wall
        was_set_back = passed_on_wall < passed - _MAX_CORRECTION_S
        return was_set_back or max(passed, passed_on_wall) >= self.seconds


def _no_listener() -> None:
    pass


class CodeGrants:
    """The valid grants for plain code."""

    def __init__(
        self,
        minutes: int,
        changed: Callable[[], None] = _no_listener,
        now: Callable[[], Moment] = Moment.now,
    ) -> None:
        """Begin without a grant.

        Args:
            minutes: How long each grant is valid; 0 for no grants.
            changed: Called when a grant is added, or is ended before its time.
            now: Returns the time on both clocks.
        """
        self._seconds = minutes * _MINUTE_S
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
        """Return whether a yes may be a grant: the question is about plain code, and no loss."""
        is_about_code = question.call.dialogue.plain_code is not None
        loses_nothing = question.undoable and not question.items
        return self._seconds > 0 and is_about_code and loses_nothing

    def allow(self, question: Question) -> None:
        """Add the grant of an answer; nothing where a grant of that scope is valid already."""
        scope = question.call.dialogue.plain_code
        if scope is None or not self.may_allow(question):
            return
        now = self._now()
        grant = CodeGrant(scope, question.id, now, self._seconds)
        with self._lock:
            valid = [older for older in self._grants if not older.has_ended(now)]
            is_new = all(older.scope != scope for older in valid)
            if is_new:
                valid.append(grant)
            self._grants = valid
        if is_new:
            self._changed()

    def covered_by(self, question: Question) -> str | None:
        """Return the id of the question whose answer covers this one too, or None."""
        scope = question.call.dialogue.plain_code
        if scope is None or not self.may_allow(question):
            return None
        self.end_elsewhere(scope.scene)
        for grant in self.live:
            if grant.scope == scope:
                return grant.question
        return None

    def end(self, grant: CodeGrant) -> None:
        """End a grant."""
        self._end_where(lambda other: other == grant)

    def end_of_client(self, label: str) -> None:
        """End the grants of a client, by the client's label, in all sessions."""
        self._end_where(lambda grant: grant.scope.client == label)

    def end_of_session(self, session: str) -> None:
        """End the grants of a session."""
        self._end_where(lambda grant: grant.scope.session == session)

    def end_elsewhere(self, scene: Hashable) -> None:
        """End the grants for other scenes than the open one.

        Args:
            scene: The id of the open scene.
        """
        self._end_where(lambda grant: grant.scope.scene != scene)

    def end_all(self) -> None:
        """End every grant."""
        self._end_where(lambda grant: True)

    def _end_where(self, ends: Callable[[CodeGrant], bool]) -> None:
        """End the grants for which a function returns True."""
        with self._lock:
            before = self._grants
            self._grants = [grant for grant in before if not ends(grant)]
            has_changed = len(self._grants) < len(before)
        if has_changed:
            self._changed()
