"""The view of a question: all texts that a surface shows. A renderer (Qt, Blender) only draws them.

Each text is safe to show as plain text. The bridge's own texts pass through the renderer's `tr`,
which may translate them. Any thread.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from dcc_bridge.elicitation.details import DetailsRow, DetailsView, details_view
from dcc_bridge.elicitation.field_view import FieldView, field_views
from dcc_bridge.elicitation.question import MAX_MESSAGE_BYTES, Caller, Consent, Question
from dcc_bridge.elicitation.text import Translate, english, left_out, numbered, safe_line, safe_text
from dcc_bridge.host import Host
from dcc_bridge.known_clients import CLI_LABEL

MAX_HEADER_CHARS: Final = 100  # of each text that says who asks
_MAX_BUTTON_CHARS: Final = 48
_MAX_CLIENT_CHARS: Final = 24  # of a client's name in a caption
_MAX_ARGUMENT_CHARS: Final = 200
_MAX_KINDS: Final = 4  # that are named; the others are counted together
_CLOSING_QUOTES: Final = {ord("»"): numbered("»")}  # a value cannot contain what closes it
Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ArgumentView:
    """An argument of a call: a row, in which the name and the value stand apart.

    Attributes:
        name: The parameter.
        value: The beginning of the value, in one line.
        rest: A note that counts the characters that `value` leaves out, or "".
        whole: The value with its line breaks, or "" where `value` is all of it.
    """

    name: str
    value: str
    rest: str
    whole: str

    def __str__(self) -> str:
        """Return the row as a text in which no value can pass for another argument."""
        value = self.value.translate(_CLOSING_QUOTES)
        row = f"{self.name}: «{value}»"
        if not self.rest:
            return row
        return f"{row} {self.rest}"


@dataclass(frozen=True, slots=True)
class OffersView:
    """The captions of what else a person may do; "" for what is not offered.

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
        header: Who asks, which no message can forge: captions, "" for the first, and texts.
        title: A heading, or "" where the button or the header has the same words.
        reason: Why the question is asked again, or "".
        message: The question itself.
        verb: What agreeing does, as short as a button needs it.
        agreement: The same in full where the button has no room for it, or "".
        explanation: A further explanation, or "".
        fields: The fields to fill in; none where the button stands for the only field.
        undo: Whether the edit can be undone, or "" where nothing is lost.
        word: The word that the person has to type before agreeing to an edit that cannot be
            undone, or "".
        offers: What else the person may do.
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
    """Make the view of a question in a host: what a person reads, in the same words everywhere.

    Any thread. It raises nothing.

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
            word = _word(question.items, verb)

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


def argument_views(arguments: Facts, tr: Translate = english) -> tuple[ArgumentView, ...]:
    """Make the views of a call's arguments.

    Any thread. It raises nothing.

    Args:
        arguments: The name and the whole value of each, as `Question.arguments` has them.
        tr: Translates the texts of the bridge.

    Returns:
        A view for each argument, in the same order.
    """
    return tuple(_argument_view(safe_line(name), value, tr) for name, value in arguments)


def _argument_view(name: str, value: str, tr: Translate) -> ArgumentView:
    shown = safe_line(value[:_MAX_ARGUMENT_CHARS], _MAX_ARGUMENT_CHARS)
    left = len(value) - _MAX_ARGUMENT_CHARS
    if left > 0:
        return ArgumentView(name, f"{shown}…", left_out(left, tr), safe_text(value, tr=tr))
    whole = ""
    if "\n" in value:
        whole = safe_text(value, tr=tr)
    return ArgumentView(name, shown, "", whole)


def client_details(question: Question) -> str | None:
    """Return a question's details as the client shows them. Any thread. It raises nothing.

    Args:
        question: The question.

    Returns:
        The text with the difference from the one before, or the text alone where both together
        are too long; "" for a question without details; None if the client's form has no room
        even for the text. The bridge's own command prints a text of any length.
    """
    if question.details is None:
        return ""
    view = details_view(question.details)
    title = view.title
    if view.difference and not view.changes:
        title = f"{title}, {view.difference}"
    whole = _fenced(title, view.rows, view.marks)
    with_changes = whole
    if view.changes:
        with_changes = _fenced(view.difference, view.changes) + "\n\n" + whole
    client = question.call.client
    if client is not None and client.label == CLI_LABEL:
        return with_changes
    room = MAX_MESSAGE_BYTES - len(question.message.encode("utf-8", "surrogatepass"))
    for text in (with_changes, whole):
        if len(text.encode("utf-8", "replace")) <= room:
            return text
    return None


def _fenced(title: str, rows: tuple[DetailsRow, ...], marks: tuple[str, ...] = ()) -> str:
    """Put rows between fences; each row begins with its number, so none can close the fence."""
    lines = [f"{title}:", *marks, "```"]
    lines.extend(str(row) for row in rows)
    lines.append("```")
    return "\n".join(lines)


def header(call: Caller, host: Host, tr: Translate = english) -> Facts:
    """Return the application, its scene and who asks, as captions and texts. Any thread."""
    scene = safe_line(host.scene(), MAX_HEADER_CHARS)
    place = f"{host.name} {host.version}".strip()
    return (("", f"{place} · {scene}"), *asker(call, host.name, tr))


def asker(call: Caller, host: str, tr: Translate = english) -> Facts:
    """Return who asks, as captions and texts. Any thread.

    A token proves the client's label. The name that the client calls itself is not proved.
    """
    client = call.client
    label = tr("{host} itself", host=host)
    if client is not None:
        label = safe_line(client.label, MAX_HEADER_CHARS)
    facts = [(tr("Asked by"), label)]
    if client is not None and client.name:
        claim = safe_line(f"{client.name} {client.version}".strip(), MAX_HEADER_CHARS)
        facts.append((tr("Calls itself"), tr("{client} (self-reported)", client=claim)))
    facts.append((tr("Skill"), safe_line(call.title, MAX_HEADER_CHARS)))
    return tuple(facts)


def _verb(question: Question, tr: Translate) -> str:
    if question.page is not None:
        return tr("Open in the browser")
    if question.confirmation is not None:
        return question.confirmation.title
    return question.title or tr("Send")


def _word(items: tuple[str, ...], verb: str) -> str:
    """Return the last part of the only item's path, the number of several items, or the verb."""
    if not items:
        return verb
    if len(items) > 1:
        return str(len(items))
    path = items[0].rstrip("/|").replace("|", "/")
    return path.rpartition("/")[2] or items[0]


def item_counts(consent: Consent, tr: Translate = english) -> str:
    """Return how many items there are of which kind, as a person reads it. It raises nothing.

    Args:
        consent: What the person is asked to agree to.
        tr: Translates the texts of the bridge.

    Returns:
        Such as "Camera (2) · mesh (10)".
    """
    kinds = Counter(consent.kinds).most_common()
    if not kinds:
        n = len(consent.items)
        if n == 1:
            return tr("1 item")
        return tr("{n:,} items", n=n)
    # A host says "gone" of an item that is no longer in the scene.
    own_names = {"": tr("untyped"), "gone": tr("no longer there")}
    parts = []
    for kind, count in kinds[:_MAX_KINDS]:
        name = own_names.get(kind) or _kind_in_words(kind)
        parts.append(f"{name} ({count:,})")
    others = sum(count for _, count in kinds[_MAX_KINDS:])
    if others:
        parts.append(tr("other types ({n:,})", n=others))
    return " · ".join(parts)


def _kind_in_words(kind: str) -> str:
    """Return a type as people write it: "Sketch" for "Sketcher::SketchObject", "Light probe"."""
    module, _, name = kind.rpartition("::")
    # In Houdini "labs::tree::2.0" is one name.
    if module.isalpha() and name.isalnum():
        name = re.sub("(Document)?Object", "", name) or name
    else:
        name = kind
    words = re.sub("(?<=[a-z])(?=[A-Z])", " ", name)
    if " " in words or words.isupper():
        words = words.replace("_", " ").capitalize()
    return safe_line(words)


def undo_line(consent: Consent, tr: Translate = english) -> str:
    """Return a sentence about whether an edit can be undone. It raises nothing.

    Args:
        consent: What the person is asked to agree to.
        tr: Translates the texts of the bridge.

    Returns:
        The sentence; "" for an edit that can be undone, of unknown items.
    """
    if consent.overwrites_nothing:
        return tr("Nothing is overwritten. Undo does not remove a new file.")
    if consent.undoable:
        if consent.items or consent.arguments:
            return tr("Can be undone as one step.")
        return ""
    folders = ", ".join(safe_line(folder.name) for folder in consent.uncopied)
    if consent.kept is None and not folders:
        return tr("This can NOT be undone.")
    if consent.kept is None:
        return tr("This can NOT be undone. NO copy is kept of {folders}", folders=folders)
    place = safe_line(consent.kept)
    if consent.files is None:
        return tr(
            "This can NOT be undone. A copy of the scene is kept first, in {place}", place=place
        )
    if not folders:
        return tr("This can NOT be undone. A copy is kept first, in {place}", place=place)
    return tr(
        "This can NOT be undone. NO copy is kept of {folders}. "
        "A copy of the rest is kept first, in {place}",
        folders=folders,
        place=place,
    )


def _offers(question: Question, tr: Translate) -> OffersView:
    offers = question.offers
    client = safe_line(offers.mute or tr("this client"), _MAX_CLIENT_CHARS)
    n = offers.remember
    remember = ""
    remembers = ""
    if offers.may_remember:
        remembers = tr("Only for this skill. You can revoke it. Every edit can be undone.")
    if offers.minutes:
        remember = _for_a_while(offers.minutes, tr)
        remembers = tr(
            "It ends when you decline, pause, open another scene, are asked about marked code, or "
            "press End in the panel."
        )
    elif n == 0:
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


def _for_a_while(minutes: int, tr: Translate) -> str:
    """Return the caption that agrees to plain code for some minutes."""
    time = tr("1 minute")
    if minutes > 1:
        time = tr("{n} minutes", n=minutes)
    return tr(
        "For {time}, run its scripts without showing them if they only work in this scene and can "
        "be undone. Deleting still asks you.",
        time=time,
    )
