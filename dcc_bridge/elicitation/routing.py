"""Who is asked: the surfaces by the kind of question, and who is there. Any thread.

===========  ========================  ============  =====================  ==================
question     host UI, capable client   only host UI  only a capable client  neither
===========  ========================  ============  =====================  ==================
consent      host                      host          client                 unattended
input        client, then host         host          client                 unattended
===========  ========================  ============  =====================  ==================

The host decides on consent because clients in the wild answer by themselves, or declare that they
can ask and draw nothing. A studio may set either row to "host" or "either". With "either" a legacy
client and the host are asked at once and the first valid answer counts; a question that a modern
client shows cannot be withdrawn, so there the client is asked and the host shows a chip.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Protocol

from dcc_bridge import known_clients
from dcc_bridge.config import Settings
from dcc_bridge.elicitation import rate_limits
from dcc_bridge.elicitation.question import (
    Caller,
    HostPresenter,
    Offers,
    Presenter,
    Question,
    Stage,
)
from dcc_bridge.elicitation.text import split_lines
from dcc_bridge.elicitation.view import client_details

A_FIELD: Final = 15.0  # seconds for each field after the first, to read it and to type a value
MAX_WAITING_QUESTIONS: Final = 50  # of a client, for a place in the host; one more is refused
A_LINE: Final = 1.0  # for each line of a text that is agreed to, as far as there is time


class SessionAnswers(Protocol):
    """What a person agreed to in advance, for the session or a while. Any thread."""

    def covered_by(self, question: Question) -> str | None:
        """Return the id of the question whose answer covers this one; None: it has to be asked.

        The id is "" where it was agreed to otherwise.
        """

    def may_remember(self, question: Question) -> bool:
        """Return whether a question is of a kind that can be agreed to in advance."""

    def allow(self, question: Question) -> None:
        """Hear that a person agreed to a question, and to what comes."""


class FixedAnswers:
    """Answers that are fixed before a bridge starts: no person adds to them. Any thread."""

    def __init__(self, covers: Callable[[Question], bool] = lambda question: False) -> None:
        """Take what decides.

        Args:
            covers: Returns whether a question is agreed to; without it none is.
        """
        self._covers = covers

    def covered_by(self, question: Question) -> str | None:
        """Return "" for a question that need not be asked, else None."""
        return "" if self._covers(question) else None

    def may_remember(self, question: Question) -> bool:
        """Return that no question can be agreed to in advance."""
        return False

    def allow(self, question: Question) -> None:
        """Do nothing: it was offered to nobody."""


class Audience:
    """Decides which surfaces a question goes to, by what is known of the host and the clients."""

    def __init__(
        self, settings: Settings, host: HostPresenter | None, grants: SessionAnswers
    ) -> None:
        self.settings = settings  # what the studio allows
        self.host = host if settings.host_dialogs else None  # None where nobody sits there
        # How much each client may ask there.
        self.limits = rate_limits.RateLimiter(
            settings.dialogs_per_minute, MAX_WAITING_QUESTIONS, settings.pending_questions
        )
        self.grants = grants  # what was agreed to for the session
        # labels of clients that declare that they can ask, and cannot
        self.silent = set[str | None](known_clients.SILENT)
        self.patient = set[str | None]()  # clients that have no request to lose while they wait

    def stages(self, question: Question) -> tuple[Stage, ...]:
        """List whom to ask, first to last."""
        return stages(
            prefer=self.settings.consent if question.consent else self.settings.input,
            host_ui=self.host is not None,
            client=self.channel(question) is not None,
            withdrawable=question.call.route.withdrawable,
        )

    def channel(self, question: Question) -> Presenter | None:
        """Return the presenter of the client; None for one that cannot draw this, or will not."""
        call = question.call
        if client_label(call) in self.silent or client_details(question) is None:
            return None
        return call.route.form if question.page is None else call.route.url

    def notify(self, text: str) -> None:
        """Tell the person at the host something, if there is one. Any thread."""
        if self.host is not None:
            self.host.notice(text)

    def offers(self, question: Question) -> Offers:
        """Return what a person at the host may do with a question."""
        call, settings = question.call, self.settings
        is_short = question.page is None and client_label(call) not in self.patient
        usual = settings.host_deadline if is_short else settings.client_deadline
        fields = len(question.form.fields) if question.form else 0
        lines = len(split_lines(question.details.text)) if question.details else 0
        reading = min(A_LINE * lines, max(0.0, settings.client_deadline - usual))
        soon = question.timeout or usual + A_FIELD * max(0, fields - 1) + reading
        has_other = settings.consent != "host" or not question.consent
        hand_over = has_other and self.channel(question) is not None
        may_remember = self.grants.may_remember(question)
        is_code = call.dialogue.plain_code is not None
        remember = settings.session_grants and may_remember and not is_code
        return Offers(
            soon=soon,
            latest=question.timeout or max(soon, settings.client_deadline),
            hand_over=client_name(call) if hand_over else None,
            remember=len(question.items) if remember else None,
            minutes=settings.grant_minutes if may_remember and is_code else 0,
            mute=client_label(call),
        )

    def notify_waiting(self, call: Caller) -> None:
        """Notify the person at the host, now and then, that a client's questions have to wait."""
        label = client_label(call)
        if self.host is not None and label is not None and self.limits.may_notify(label):
            self.host.notice(f"{label} asks too often: its next questions have to wait.")


def client_label(call: Caller) -> str | None:
    """Return the label of a call's client, or None for the host's own."""
    return call.client.label if call.client is not None else None


def client_name(call: Caller) -> str:
    """Return the name under which a person knows a call's client: not what it says of itself."""
    return client_label(call) or "the agent"


def stages(
    *, prefer: Literal["client", "host", "either"], host_ui: bool, client: bool, withdrawable: bool
) -> tuple[Stage, ...]:
    """List who is asked, first to last; those in one stage are asked at once.

    There are no stages where nobody can be asked. `prefer` is whom the setting names for this kind
    of question; `host_ui` and `client` say who can draw it, `withdrawable` that a client's can be
    withdrawn.
    """
    if not (host_ui and client):
        return (("client",),) if client else (("host",),) if host_ui else ()
    if prefer == "host":
        return (("host",),)
    if prefer == "either" and withdrawable:
        return (("client", "host"),)
    return (("client",), ("host",))
