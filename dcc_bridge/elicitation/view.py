"""The view of a question: every text that a surface shows. Any thread.

Each surface (Qt, Blender) calls `view_of` and draws the texts as plain text, so that a question has
the same words everywhere. The bridge's own texts pass through the surface's `tr`, which may
translate them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dcc_bridge.elicitation.caller_view import (
    ArgumentView,
    Facts,
    argument_views,
    header,
    source,
    told_arguments,
    who_asks,
)
from dcc_bridge.elicitation.consent_view import undo_line
from dcc_bridge.elicitation.details import DetailsView, details_view
from dcc_bridge.elicitation.field_view import FieldView, field_views
from dcc_bridge.elicitation.question import NO_DRAFT, Question
from dcc_bridge.elicitation.text import Translate, english, safe_line, safe_text
from dcc_bridge.host import Host

_MAX_HEADING_CHARS: Final = 120  # of the first line of a message that is drawn as the title
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
        heading: The question in one line, the title of a dialog: the first line of the message,
            or the skill where that line is too long.
        who_asks: Who asks, in which scene, as one sentence of our own.
        header: Who asks, as captions and texts. The caption of the application is "".
        source: The file of the skill that asks and its digest, as captions and texts.
        title: A further heading, or "" where the button or the header has the same words.
        reason: Why the question is asked again, or "".
        message: The question itself, whole.
        text: The part of the message that `heading` leaves out.
        verb: The caption of the button that agrees, which says what agreeing does.
        agreement: A sentence with the whole `verb` where the button has no room for it, or "".
        explanation: A further explanation, or "".
        arguments: What the agent asked for: the arguments of a skill, or the steps of a batch.
        fields: The fields to fill in; none for a confirmation, whose only field is the button.
        undo: Whether the edit can be undone, or "" where nothing is lost.
        guarded: Whether Enter must not agree: data may be lost, or a page opens in the browser.
        loses: Whether something goes if the person agrees.
        warns: Whether undo does not bring back what goes.
        word: The word that the person has to type before agreeing to an edit that cannot be
            undone, or "".
        offers: What else the person may do with the question.
        details: The text that is agreed to, or None.
    """

    heading: str
    who_asks: str
    header: Facts
    source: Facts
    title: str
    reason: str
    message: str
    text: str
    verb: str
    agreement: str
    explanation: str
    arguments: tuple[ArgumentView, ...]
    fields: tuple[FieldView, ...]
    undo: str
    guarded: bool
    loses: bool
    warns: bool
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
    draft = question.offers.draft

    verb = _verb(question, tr)
    button = safe_line(verb, _MAX_BUTTON_CHARS)
    agreement = ""
    if button != verb:
        agreement = tr("If you agree: {verb}", verb=safe_text(verb, tr=tr))

    message = safe_text(question.message, tr=tr)
    heading, title, text = _headings(question, verb, message)

    explanation = ""
    fields: tuple[FieldView, ...] = ()
    if confirmation is not None:
        explanation = safe_text(confirmation.description, tr=tr)
    else:
        fields = field_views(question.form, consent is not None, tr, draft.values)
    if draft != NO_DRAFT:
        filled_in = tr("Your earlier entries are filled in again.")
        explanation = f"{explanation}\n{filled_in}".strip()

    undo = ""
    word = ""
    warns = False
    if consent is not None:
        undo = undo_line(consent, tr)
        warns = not consent.undoable and not consent.overwrites_nothing
    if warns:
        word = word_to_type(question.items, verb)

    details = None
    if question.details is not None:
        details = details_view(question.details, tr)

    return QuestionView(
        heading=heading,
        who_asks=who_asks(question.call, host, tr),
        header=header(question.call, host, tr),
        source=source(question.call, tr),
        title=title,
        reason=safe_line(question.reason or ""),
        message=message,
        text=text,
        verb=button,
        agreement=agreement,
        explanation=explanation,
        arguments=argument_views(_asked_for(question), tr),
        fields=fields,
        undo=undo,
        guarded=consent is not None or question.page is not None,
        loses=_loses(question),
        warns=warns,
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


def _asked_for(question: Question) -> Facts:
    """Return what the agent asked for, where its question does not say it."""
    call = question.call
    if question.arguments:
        return question.arguments
    if question.consent is None or question.details is not None:
        return ()
    if call.file:
        return told_arguments(call.arguments.value or {})
    return call.asked_for


def _headings(question: Question, verb: str, message: str) -> tuple[str, str, str]:
    """Return the heading of a question, a further title or "", and the rest of the message."""
    title = ""
    if question.title not in (verb, question.call.title):
        title = safe_line(question.title or "")
    first, _, rest = message.partition("\n")
    heading = " ".join(first.split())  # no gap, behind which a text could pass for another label
    if heading and len(heading) <= _MAX_HEADING_CHARS:
        return heading, title, rest
    if title and len(title) <= _MAX_HEADING_CHARS:
        return title, "", message
    skill = safe_line(question.call.title, _MAX_HEADING_CHARS)
    return skill[:_MAX_HEADING_CHARS], title, message


def fewer(verb: str, kept: int, total: int, tr: Translate = english) -> str:
    """Return the caption of the button that agrees to some of the items: "Delete 29 of 31".

    Any thread. It raises nothing.

    Args:
        verb: The caption that agrees to all items, mostly with their number: "Delete 31".
        kept: The number of items that are agreed to.
        total: The number of all items.
        tr: Translates the texts of the bridge.

    Returns:
        The caption; the verb as it is where all items are agreed to.
    """
    if kept == total:
        return verb
    some = tr("{n:,} of {total:,}", n=kept, total=total)
    number = re.compile(rf"(?<![\d,.])({total}|{total:,})(?![,.]?\d)")
    if number.search(verb):
        return number.sub(some, verb, count=1)
    return f"{verb} ({some})"


def _loses(question: Question) -> bool:
    """Return whether something goes if the person agrees, as far as it is known."""
    consent = question.consent
    if consent is None or consent.overwrites_nothing:
        return False
    if consent.items or not consent.undoable:
        return True
    # A text that is agreed to is tried afterwards, and asks again if it really loses something.
    return question.call.risk == "destructive" and question.details is None


def word_to_type(items: Sequence[str], verb: str) -> str:
    """Return the word that a person types before items go that undo does not bring back.

    Any thread. It raises nothing.

    Args:
        items: The items that go.
        verb: The caption of the button that agrees.

    Returns:
        The name of the only item, the number of several items, or the verb for none.
    """
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
