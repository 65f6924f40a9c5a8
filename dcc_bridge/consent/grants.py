"""Grants for the session: edits, never deletions, that a person agreed to in advance. Any thread.

A grant is for one client and one skill, as the skill's file was then. The grant covers up to so
many items, whichever they are. The grant of a question without items covers only the same question
of a call with the same arguments. A grant ends after an hour. A person can list and revoke grants:
`SessionGrants.live`, `SessionGrants.remaining`, `SessionGrants.revoke`, and for a drawn list
`SessionGrants.watch`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dcc_bridge.audit import redact
from dcc_bridge.callbacks import Callbacks, Unsubscribe
from dcc_bridge.elicitation.question import Question

SESSION_GRANT_TTL_S: Final = 3600.0


@dataclass(frozen=True, slots=True)
class SessionGrant:
    """A grant for the session.

    Attributes:
        skill: The name of the skill.
        title: The title of the skill, for a person.
        digest: The digest of the skill's file.
        client: The label of the client.
        most: The largest number of items that the grant covers; 0 if the question named none.
        about: The digest of the question, if it named no items or showed a text; else "".
        arguments: The arguments by name, if the question named no items.
        until: The time of the end, by the clock of `SessionGrants`.
        question: The id of the question that was agreed to.
    """

    skill: str
    title: str
    digest: str
    client: str
    most: int
    about: str
    arguments: tuple[tuple[str, str], ...]
    until: float
    question: str


class SessionGrants:
    """The grants of the session."""

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin without a grant.

        Args:
            now: The clock, in seconds.
        """
        self._now = now
        self._lock = threading.Lock()
        self._grants: list[SessionGrant] = []
        self._callbacks = Callbacks()

    def allow(self, question: Question) -> None:
        """Add the grant of an answer, in place of a smaller one; nothing for a loss.

        Args:
            question: The question that a person agreed to.
        """
        call = question.call
        if not self.may_remember(question):
            return
        assert call.client is not None  # `may_remember` says so; the type checker cannot see it
        arguments = question.arguments
        if question.items:
            arguments = ()
        grant = SessionGrant(
            skill=call.skill,
            title=call.title,
            digest=call.digest,
            client=call.client.label,
            most=len(question.items),
            about=_about(question),
            arguments=arguments,
            until=self._now() + SESSION_GRANT_TTL_S,
            question=question.id,
        )
        with self._lock:
            self._grants = [older for older in self._grants if not _replaces(grant, older)]
            self._grants.append(grant)
        self._callbacks.call()

    def may_remember(self, question: Question) -> bool:
        """Return whether a person can agree to a question in advance.

        They cannot if undo does not help, or if the record hides the arguments, so that the
        arguments of two calls cannot be compared.
        """
        call = question.call
        is_known = call.client is not None and bool(call.digest)
        can_undo = question.consent is not None and question.undoable
        is_told_apart = bool(question.items) or not call.arguments.hides
        return call.risk == "edit" and is_known and can_undo and is_told_apart

    def covered_by(self, question: Question) -> str | None:
        """Return the id of the question whose answer covers this one too, or None."""
        if not self.may_remember(question):
            return None
        for grant in self.live:
            if _fits(grant, question):
                return grant.question
        return None

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
        """Call a function whenever a grant is added or revoked, on any thread.

        The function is not called when a grant ends by itself: a view of `remaining` looks again
        anyway.

        Returns:
            A function that ends this.
        """
        return self._callbacks.add(fn)

    @property
    def live(self) -> list[SessionGrant]:
        """The grants that have not ended, the oldest first."""
        with self._lock:
            self._grants = [grant for grant in self._grants if grant.until > self._now()]
            return list(self._grants)


def _about(question: Question) -> str:
    """Return the digest of a question's content; "" where a grant covers any items."""
    if question.items and question.details is None:
        return ""
    form = None
    if question.form is not None:
        form = question.form.schema
    text = None
    if question.details is not None:
        text = question.details.sha256
    arguments = question.call.arguments.value
    content = (question.message, form, text, question.arguments, arguments)
    return redact.digest(content)


def _replaces(grant: SessionGrant, older: SessionGrant) -> bool:
    """Return whether a grant covers all that an older one covers."""
    names = ("skill", "digest", "client", "about")
    same = all(getattr(grant, name) == getattr(older, name) for name in names)
    return same and grant.most >= older.most


def _fits(grant: SessionGrant, question: Question) -> bool:
    """Return whether a grant covers a question."""
    call = question.call
    is_skill = grant.skill == call.skill and grant.digest == call.digest
    is_client = call.client is not None and grant.client == call.client.label
    is_content = grant.about == _about(question) and len(question.items) <= grant.most
    return is_skill and is_client and is_content
