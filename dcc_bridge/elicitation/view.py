"""The view of a question: every text that a surface shows. Any thread.

Each surface (Qt, Blender) calls `view_of` and draws the texts as plain text, so that a question has
the same words everywhere. The bridge's own texts pass through the surface's `tr`, which may
translate them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dcc_bridge.elicitation.caller_view import Facts, header
from dcc_bridge.elicitation.consent_view import undo_line
from dcc_bridge.elicitation.details import DetailsView, details_view
from dcc_bridge.elicitation.field_view import FieldView, field_views
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.text import Translate, english, safe_line, safe_text
from dcc_bridge.host import Host

_MAX_BUTTON_CHARS: Final = 48
_MAX_CLIENT_CHARS: Final = 24  # of a client's name in a caption


@dataclass(frozen=True, slots=True)
class OffersView:
    """The captions of the offers besides an answer; "" for each that is not made.

    Attributes:
        remember: The caption that agrees to later questions as well.
        remembers: Sentences that explain `remember`; no caption.
        hand_over: The caption that moves the question to the client.
        mute: The caption that declines, and mutes the client.
        muting: Sentences that explain `mute`; no caption.
    """

    remember: str
    remembers: str
    hand_over: str
    mute: str
    muting: str


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question, as a surface draws it.

    Attributes:
        header: Who asks, as captions and texts. The caption of the application is "".
        title: A heading, or "" where the button or the header has the same words.
        reason: Why the question is asked again, or "".
        message: The question itself.
        verb: The caption of the button that agrees, which says what agreeing does.
        agreement: A sentence with the whole `verb` where the button has no room for it, or "".
        explanation: A further explanation, or "".
        fields: The fields to fill in; none for a confirmation, whose only field is the button.
        undo: Whether the edit can be undone, or "" where nothing is lost.
        word: The word that the person has to type before agreeing to an edit that cannot be
            undone, or "".
        offers: What else the person may do with the question.
        details: The text that is agreed to, or None.
    """

    header: Facts
    title: str
    reason: str
    message: str
    verb: str
    agreement: str
    explanation: str
    fields: tuple[FieldView, ...]
    undo: str
    word: str
    offers: OffersView
    details: DetailsView | None


def view_of(question: Question, host: Host, tr: Translate = english) -> QuestionView:
    """Make the view of a question in a host. Any thread. It raises nothing.

    Args:
        question: The question.
        host: The application in which the question is drawn.
        tr: Translates the texts of the bridge.

    Returns:
        The view; its texts are safe to show.
    """
    consent = question.consent
    confirmation = question.confirmation
    typed = question.offers.typed

    verb = _verb(question, tr)
    button = safe_line(verb, _MAX_BUTTON_CHARS)
    agreement = ""
    if button != verb:
        agreement = tr("If you agree: {verb}", verb=safe_text(verb, tr=tr))

    title = ""
    if question.title not in (verb, question.call.title):
        title = safe_line(question.title or "")

    explanation = ""
    fields: tuple[FieldView, ...] = ()
    if confirmation is not None:
        explanation = safe_text(confirmation.description, tr=tr)
    else:
        fields = field_views(question.form, consent is not None, tr, typed)
        if typed:
            explanation = tr("Your earlier entries are filled in again.")

    undo = ""
    word = ""
    if consent is not None:
        undo = undo_line(consent, tr)
        if not consent.undoable and not consent.overwrites_nothing:
            word = _word_to_type(question.items, verb)

    details = None
    if question.details is not None:
        details = details_view(question.details, tr)

    return QuestionView(
        header=header(question.call, host, tr),
        title=title,
        reason=safe_line(question.reason or ""),
        message=safe_text(question.message, tr=tr),
        verb=button,
        agreement=agreement,
        explanation=explanation,
        fields=fields,
        undo=undo,
        word=word,
        offers=_offers(question, tr),
        details=details,
    )


def _verb(question: Question, tr: Translate) -> str:
    if question.page is not None:
        return tr("Open in the browser")
    if question.confirmation is not None:
        return question.confirmation.title
    return question.title or tr("Send")


def _word_to_type(items: tuple[str, ...], verb: str) -> str:
    """Return the name of the only item, the number of several items, or the verb for none."""
    if not items:
        return verb
    if len(items) > 1:
        return str(len(items))
    path = items[0].rstrip("/|").replace("|", "/")
    return path.rpartition("/")[2] or items[0]


def _offers(question: Question, tr: Translate) -> OffersView:
    offers = question.offers
    client = safe_line(offers.mute or tr("this client"), _MAX_CLIENT_CHARS)
    n = offers.remember
    remember = ""
    remembers = ""
    if offers.may_remember:
        remembers = tr("Only for this skill. You can revoke it. Every edit can be undone.")
    if n == 0:
        remember = tr(
            "Let {client} do this without asking during this session, with the same arguments",
            client=client,
        )
    elif n == 1:
        remember = tr(
            "Let {client} do this without asking during this session, for up to 1 item",
            client=client,
        )
    elif n is not None:
        remember = tr(
            "Let {client} do this without asking during this session, for up to {n:,} items",
            client=client,
            n=n,
        )
    hand_over = ""
    if offers.hand_over is not None:
        other = safe_line(offers.hand_over, _MAX_CLIENT_CHARS)
        hand_over = tr("Ask in {client}", client=other)
    mute = ""
    muting = ""
    if offers.mute is not None:
        mute = tr("Mute {client} for 10 minutes", client=client)
        muting = tr(
            "Declines this and every other question of {client} for that time. Edits that need no "
            "question continue. To stop those too, use Pause.",
            client=client,
        )
    return OffersView(remember, remembers, hand_over, mute, muting)
