"""Grants for what comes: edits, never deletions, that a person agreed to in advance. Any thread.

A grant is for one skill as its file was and one client. It is for up to so many items, whichever
they are; that of a question without items is for this very question, asked by a call with the same
arguments. It ends after an hour. A person can list and revoke them: `SessionGrants.live`,
`SessionGrants.remaining`, `SessionGrants.revoke`, and for a drawn list `SessionGrants.watch`.
What they agreed to for code of an agent is in `code_grants`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dcc_bridge.audit import redact
from dcc_bridge.callbacks import Callbacks, Unsubscribe
from dcc_bridge.consent.call import Call
from dcc_bridge.consent.code_grants import CodeGrants, Moment
from dcc_bridge.elicitation.context import current_context
from dcc_bridge.elicitation.question import Question

LASTS: Final = 3600.0


@dataclass(frozen=True, slots=True)
class SessionGrant:
    """A grant for the session."""

    skill: str
    title: str  # what a person reads for it
    digest: str  # what its file was
    client: str
    most: int  # items it may be about at most; 0 where the question named none
    about: str  # the digest of what was asked where it named no items, or showed a text; else ""
    arguments: tuple[tuple[str, str], ...]  # by name, where it named no items
    until: float  # when it ends, as the clock has it
    question: str  # the id of the question that was agreed to


class SessionGrants:
    """The grants of the session.

    Attributes:
        code: What was agreed to for a while: code of an agent.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,  # the clock, in seconds
        *,
        minutes: int = 0,  # for how long code may be agreed to; 0: never
        moment: Callable[[], Moment] = Moment.now,  # both clocks
    ) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._grants: list[SessionGrant] = []
        self._callbacks = Callbacks()
        self.code = CodeGrants(minutes, self._callbacks.call, moment)

    def allow(self, question: Question) -> None:
        """Add what an answer granted, in place of the same for fewer items; nothing for a loss."""
        call = question.call
        if not self.may_remember(question):
            return
        if self.code.may_allow(question):
            self.code.allow(question)
            return
        assert call.client is not None  # `may_remember` says so; the type checker cannot see it
        grant = SessionGrant(
            *(call.skill, call.title, call.digest, call.client.label, len(question.items)),
            about=_about(question),
            arguments=() if question.items else question.arguments,
            until=self._now() + LASTS,
            question=question.id,
        )
        with self._lock:
            self._grants = [older for older in self._grants if not _replaces(grant, older)]
            self._grants.append(grant)
        self._callbacks.call()

    def may_remember(self, question: Question) -> bool:
        """Return whether a question is of a kind that can be agreed to in advance.

        It never is where undo does not help, nor where nobody could tell its arguments from others.
        """
        call = question.call
        if call.dialogue.plain_code is not None:
            return self.code.may_allow(question)
        is_known = call.client is not None and bool(call.digest)
        can_undo = question.consent is not None and question.undoable
        is_told_apart = bool(question.items) or not call.arguments.hides
        return call.risk == "edit" and is_known and can_undo and is_told_apart

    def covered_by(self, question: Question) -> str | None:
        """Return the id of the question whose answer covers this one, or None.

        It is None where undo does not help.
        """
        if not self.may_remember(question):
            return None
        if self.code.may_allow(question):
            return self.code.covered_by(question)
        fitting = (grant.question for grant in self.live if _fits(grant, question))
        return next(fitting, None)

    def revoke(self, grant: SessionGrant) -> None:
        """Revoke a grant."""
        with self._lock:
            if grant not in self._grants:
                return
            self._grants.remove(grant)
        self._callbacks.call()

    def remaining(self, grant: SessionGrant) -> float:
        """Return the seconds until a grant ends by itself; 0 for one that ended."""
        return max(0.0, grant.until - self._now())

    def watch(self, fn: Callable[[], None]) -> Unsubscribe:
        """Call a function whenever a grant of either kind is added or revoked, on any thread.

        It is not called when a grant ends by itself: whoever shows `remaining` looks again anyway.
        """
        return self._callbacks.add(fn)

    @property
    def live(self) -> list[SessionGrant]:
        """The grants that have not ended, the oldest first."""
        with self._lock:
            self._grants = [grant for grant in self._grants if grant.until > self._now()]
            return list(self._grants)


def end_code_grants(call: Call) -> None:
    """End what the client of a call may do with code without being asked. Any thread."""
    context = current_context()
    if context is None or call.client is None:
        return
    grants = context.broker.audience.grants
    if isinstance(grants, SessionGrants):
        grants.code.end_of_client(call.client.label)


def _about(question: Question) -> str:
    """Return the digest of all that is asked; "" where it is about any items of so many."""
    if question.items and question.details is None:
        return ""
    form = question.form.schema if question.form else None
    text = question.details.sha256 if question.details else None
    asked = question.message, form, text, question.arguments, question.call.arguments.value
    return redact.digest(asked)


def _replaces(grant: SessionGrant, older: SessionGrant) -> bool:
    names = ("skill", "digest", "client", "about")
    same = all(getattr(grant, name) == getattr(older, name) for name in names)
    return same and grant.most >= older.most


def _fits(grant: SessionGrant, question: Question) -> bool:
    call = question.call
    same = (grant.skill, grant.digest) == (call.skill, call.digest)
    is_client = call.client is not None and grant.client == call.client.label
    is_asked = grant.about == _about(question) and len(question.items) <= grant.most
    return same and is_client and is_asked
