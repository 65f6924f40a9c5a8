"""Routing: the surfaces that a question goes to, by its kind and by who is there. Any thread.

The broker asks an `Audience` for the *stages* of each question: the surfaces that are asked one
after the other until one has an answer. `stages` is the table in code:

===========  ========================  ============  =====================  ==================
question     host UI, capable client   only host UI  only a capable client  neither
===========  ========================  ============  =====================  ==================
consent      host                      host          client                 unattended
input        client, then host         host          client                 unattended
===========  ========================  ============  =====================  ==================

Consent is asked for at the host because some clients answer by themselves, or declare that they can
ask and draw nothing. A studio may set either row to "host" or "either". With "either" the client
and the host are asked at once if a question in the client can be withdrawn (a legacy client); the
first valid answer counts. Otherwise (a modern client) the client is asked first, and the host only
shows a notice of the question.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Protocol

from dcc_bridge import known_clients
from dcc_bridge.config import Settings
from dcc_bridge.elicitation import rate_limits
from dcc_bridge.elicitation.client_details import client_details
from dcc_bridge.elicitation.question import (
    Caller,
    HostPresenter,
    Offers,
    Presenter,
    Question,
    Stage,
)

MAX_WAITING_QUESTIONS: Final = 50  # of a client, for the host's dialog; one more is refused
# A question that nobody could see ends after so many times the time for an answer, unless its skill
# has set a time.
UNSEEN_FACTOR: Final = 12


class SessionAnswers(Protocol):
    """The answers that a person gave in advance, for the session or a while. Any thread."""

    def covered_by(self, question: Question) -> str | None:
        """Return the id of an earlier question whose answer holds for this question too.

        Returns:
            The id; "" for an answer that was given without a question; None if the question must
            be asked.
        """

    def may_remember(self, question: Question) -> bool:
        """Return whether a question is of a kind that can be agreed to in advance."""

    def allow(self, question: Question) -> None:
        """Remember that a person agreed to a question, and to later ones like it."""


class FixedAnswers:
    """Answers that are fixed before a bridge starts: no person adds to them. Any thread."""

    def __init__(self, covers: Callable[[Question], bool] = lambda question: False) -> None:
        """Fix the answers.

        Args:
            covers: Returns whether a question is agreed to unasked; by default none is.
        """
        self._covers = covers

    def covered_by(self, question: Question) -> str | None:
        """Return "" for a question that need not be asked, else None."""
        if self._covers(question):
            return ""
        return None

    def may_remember(self, question: Question) -> bool:
        """Return False: no question can be agreed to in advance."""
        return False

    def allow(self, question: Question) -> None:
        """Do nothing: agreeing in advance was not offered."""


class Audience:
    """Decides which surfaces a question goes to, by what is known of the host and the clients.

    Attributes:
        settings: The settings of the bridge.
        host: Draws questions in the host; None where no person sits there.
        limits: How much each client may ask at the host.
        grants: The answers that were given in advance.
        silent: The labels of clients that declare that they can ask, and cannot.
    """

    def __init__(
        self, settings: Settings, host: HostPresenter | None, grants: SessionAnswers
    ) -> None:
        self.settings = settings
        self.host = host if settings.host_dialogs else None
        self.limits = rate_limits.RateLimiter(
            settings.dialogs_per_minute, MAX_WAITING_QUESTIONS, settings.pending_questions
        )
        self.grants = grants
        self.silent = set[str | None](known_clients.SILENT)

    def stages(self, question: Question) -> tuple[Stage, ...]:
        """Return the stages of a question, first to last."""
        prefer = self.settings.input
        if question.consent is not None:
            prefer = self.settings.consent
        return stages(
            prefer=prefer,
            host_ui=self.host is not None,
            client=self.channel(question) is not None,
            withdrawable=question.call.route.withdrawable,
        )

    def channel(self, question: Question) -> Presenter | None:
        """Return the presenter that draws a question in its client; None if the client cannot."""
        call = question.call
        if client_label(call) in self.silent or client_details(question) is None:
            return None
        if question.page is not None:
            return call.route.url
        return call.route.form

    def notify(self, text: str) -> None:
        """Show a notice to the person at the host, if there is one. Any thread."""
        if self.host is not None:
            self.host.notice(text)

    def offers(self, question: Question) -> Offers:
        """Return what a person at the host may do with a question besides answering it."""
        call = question.call
        settings = self.settings
        soon = question.timeout or settings.deadline

        hand_over = None
        has_other_surface = question.consent is None or settings.consent != "host"
        if has_other_surface and self.channel(question) is not None:
            hand_over = client_name(call)

        remember = None
        if settings.session_grants and self.grants.may_remember(question):
            remember = len(question.items)

        return Offers(
            soon=soon,
            latest=question.timeout or UNSEEN_FACTOR * soon,
            hand_over=hand_over,
            remember=remember,
            mute=client_label(call),
        )

    def notify_waiting(self, call: Caller) -> None:
        """Tell the person at the host that a client's questions have to wait; not too often."""
        label = client_label(call)
        if self.host is not None and label is not None and self.limits.may_notify(label):
            self.host.notice(f"{label} asks too often. Its next questions must wait.")


def client_label(call: Caller) -> str | None:
    """Return the label of a call's client, or None for a call of the host itself."""
    if call.client is None:
        return None
    return call.client.label


def client_name(call: Caller) -> str:
    """Return the name under which a person knows a call's client, not the self-reported one."""
    return client_label(call) or "the agent"


def stages(
    *, prefer: Literal["client", "host", "either"], host_ui: bool, client: bool, withdrawable: bool
) -> tuple[Stage, ...]:
    """Return the stages of a question, first to last; the surfaces of a stage are asked at once.

    Args:
        prefer: The surface that the setting names for this kind of question.
        host_ui: Whether the host can draw the question.
        client: Whether the client can draw the question.
        withdrawable: Whether a question that the client shows can be withdrawn.

    Returns:
        The stages; none where nobody can be asked.
    """
    if not host_ui and not client:
        return ()
    if not host_ui:
        return (("client",),)
    if not client or prefer == "host":
        return (("host",),)
    if prefer == "either" and withdrawable:
        return (("client", "host"),)
    return (("client",), ("host",))
