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

from typing import Final, Literal

from dcc_bridge import known_clients
from dcc_bridge.config import Settings
from dcc_bridge.elicitation import grants, rate_limits
from dcc_bridge.elicitation.call import Call
from dcc_bridge.elicitation.question import HostPresenter, Offers, Presenter, Question, Stage

Preference = Literal["client", "host", "either"]
# Seconds for each field after the first: to read what it is, and to type a value.
A_FIELD: Final = 15.0


class Audience:
    """Decides which surfaces a question goes to, by what is known of the host and the clients."""

    def __init__(self, settings: Settings, host: HostPresenter | None, most_waiting: int) -> None:
        self.settings = settings  # what the studio allows
        # Draws questions in the host, or None where nobody sits there.
        self.host = host if settings.host_dialogs else None
        # How much each client may ask there; `most_waiting` of its questions may wait for a place.
        self.limits = rate_limits.RateLimiter(
            settings.dialogs_per_minute, most_waiting, settings.pending_questions
        )
        self.grants = grants.SessionGrants()  # what was agreed to for the session
        self._silent = set(known_clients.SILENT)

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
        if client_label(call) in self._silent:
            return None
        return call.route.form if question.page is None else call.route.url

    def offers(self, question: Question) -> Offers:
        """Return what a person at the host may do with a question."""
        call, settings = question.call, self.settings
        usual = settings.host_deadline if question.page is None else settings.client_deadline
        fields = len(question.form.fields) if question.form else 0
        soon = question.timeout or usual + A_FIELD * max(0, fields - 1)
        has_other = settings.consent != "host" or not question.consent
        hand_over = has_other and self.channel(question) is not None
        remember = settings.session_grants and grants.may_remember(question)
        return Offers(
            soon=soon,
            latest=question.timeout or max(soon, settings.client_deadline),
            hand_over=client_name(call) if hand_over else None,
            remember=len(question.items) if remember else None,
            mute=client_label(call),
        )

    def is_granted(self, question: Question) -> bool:
        """Return whether a person agreed to this for the session; never if undo does not help."""
        return self.grants.covers(question)

    def notify_waiting(self, call: Call) -> None:
        """Notify the person at the host, now and then, that a client's questions have to wait."""
        label = client_label(call)
        if self.host is not None and label is not None and self.limits.may_notify(label):
            asker = client_name(call)
            self.host.notice(f"{asker} asks too often: its next questions have to wait.")

    @property
    def silent(self) -> frozenset[str]:
        """Labels of clients that declare that they can ask, and cannot."""
        return frozenset(self._silent)

    def silence(self, call: Call) -> None:
        """Remember that a client declares that it can ask, and cannot."""
        if call.client is not None:
            self._silent.add(call.client.label)


def client_label(call: Call) -> str | None:
    """Return the label of a call's client, or None for the host's own."""
    return call.client.label if call.client is not None else None


def client_name(call: Call) -> str:
    """Return the name under which a person knows a call's client: not what it says of itself."""
    return client_label(call) or "the agent"


def stages(
    *, prefer: Preference, host_ui: bool, client: bool, withdrawable: bool
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
