"""What a surface shows of a question. A renderer only draws it: Qt, Blender, a terminal.

Each text is safe to show as plain text. Those of ours pass through the `tr` of the renderer, which
may translate them. Any thread.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import Final

from dcc_bridge.elicitation.details import DetailsRow, DetailsView, details_view
from dcc_bridge.elicitation.field_view import FieldView, field_views
from dcc_bridge.elicitation.question import MOST_MESSAGE, Caller, Consent, Question
from dcc_bridge.elicitation.text import Translate, english, left_out, numbered, safe_line, safe_text
from dcc_bridge.host import Host
from dcc_bridge.known_clients import CLI_LABEL

MOST_IN_HEADER: Final = 100  # characters of a text that says who asks
_MOST_ON_BUTTON: Final = 48
_MOST_OF_CLIENT: Final = 24
_MOST_KINDS: Final = 4
_MOST_OF_ARGUMENT: Final = 200
_CLOSED: Final = {ord("»"): numbered("»")}  # what closes a value cannot stand in it
Facts = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ArgumentView:
    """An argument of a call: a row, in which the name and the value stand apart.

    Attributes:
        name: The parameter.
        value: The beginning of the value, in one line.
        rest: How many characters are left out of it, or ""
        whole: The value with its line breaks, or "" where `value` is all of it.
    """

    name: str
    value: str
    rest: str
    whole: str

    def __str__(self) -> str:
        """Give the row as a text in which no value can pass for another argument."""
        value = self.value.translate(_CLOSED)
        return f"{self.name}: «{value}»" + (f" {self.rest}" if self.rest else "")


@dataclass(frozen=True, slots=True)
class OffersView:
    """The captions of what else a person may do; "" for what is not offered."""

    remember: str  # agrees for what comes as well
    remembers: str  # what holds of that, in sentences; no caption
    hand_over: str  # answers in the client instead
    mute: str  # declines, and mutes the client
    muting: str  # what that does, in sentences; no caption


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question.

    Attributes:
        header: Who asks, as no message can say it: captions, "" for the first, and texts.
        title: A heading, or "" where the button or the header has the same words.
        reason: Why it is asked again, or ""
        message: What is asked.
        verb: What agreeing does, as short as a button needs it.
        agreement: The same in full where the button has no room for it, or ""
        explanation: What else is said of it, or ""
        fields: What to fill in; none where the button stands for the only field.
        undo: Whether it can be undone, or "" where nothing is lost.
        word: What has to be typed before what cannot be undone can be agreed to, or ""
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
        host: Where it is drawn.
        tr: Translates texts of ours.

    Returns:
        The view; its texts are safe to show.
    """
    verb, confirmation, consent = _verb(question, tr), question.confirmation, question.consent
    on_button = safe_line(verb, _MOST_ON_BUTTON)
    typed = question.offers.typed
    again = tr("What you had filled in is here again.") if typed else ""
    is_lost = consent is not None and not (consent.undoable or consent.overwrites_nothing)
    whole, is_said = safe_text(verb, tr=tr), question.title in (verb, question.call.title)
    return QuestionView(
        header=header(question.call, host, tr),
        title="" if is_said else safe_line(question.title or ""),
        reason=safe_line(question.reason or ""),
        message=safe_text(question.message, tr=tr),
        verb=on_button,
        agreement=tr("If you agree: {verb}", verb=whole) if on_button != verb else "",
        explanation=safe_text(confirmation.description, tr=tr) if confirmation else again,
        fields=() if confirmation else field_views(question.form, consent is not None, tr, typed),
        undo=undo_line(consent, tr) if consent else "",
        word=_word(question.items, verb) if is_lost else "",
        offers=_offers(question, tr),
        details=details_view(question.details, tr) if question.details else None,
    )


def argument_views(arguments: Facts, tr: Translate = english) -> tuple[ArgumentView, ...]:
    """Make the views of a call's arguments: their names, and their whole values as texts.

    Any thread. It raises nothing.

    Args:
        arguments: A name and a value each, as `Question.arguments` has them.
        tr: Translates texts of ours.

    Returns:
        As many views.
    """
    return tuple(_argument_view(safe_line(name), value, tr) for name, value in arguments)


def _argument_view(name: str, value: str, tr: Translate) -> ArgumentView:
    left = len(value) - _MOST_OF_ARGUMENT
    shown = safe_line(value[:_MOST_OF_ARGUMENT], _MOST_OF_ARGUMENT)
    if left <= 0:
        return ArgumentView(name, shown, "", safe_text(value, tr=tr) if "\n" in value else "")
    return ArgumentView(name, f"{shown}…", left_out(left, tr), safe_text(value, tr=tr))


def client_details(question: Question) -> str | None:
    """Return a question's details as a client shows them; None where its form has no room.

    Our own command prints a text of any length.
    """
    if question.details is None:
        return ""
    view, client = details_view(question.details), question.call.client
    title = view.title if view.changes else ", ".join(filter(None, (view.title, view.difference)))
    whole = _fenced(title, view.rows, *view.marks)
    both = _fenced(view.difference, view.changes) + "\n\n" + whole if view.changes else whole
    if client is not None and client.label == CLI_LABEL:
        return both
    room = MOST_MESSAGE - len(question.message.encode("utf-8", "surrogatepass"))
    fitting = (text for text in (both, whole) if len(text.encode("utf-8", "replace")) <= room)
    return next(fitting, None)


def _fenced(title: str, rows: tuple[DetailsRow, ...], *marks: str) -> str:
    """Give rows between fences; each begins with its number, so none can close them."""
    return "\n".join([f"{title}:", *marks, "```", *map(str, rows), "```"])


def header(call: Caller, host: Host, tr: Translate = english) -> Facts:
    """Return who asks, where: captions and texts."""
    scene = safe_line(host.scene(), MOST_IN_HEADER)
    place = f"{host.name} {host.version}".strip()
    return (("", f"{place} · {scene}"), *asker(call, host.name, tr))


def asker(call: Caller, host: str, tr: Translate = english) -> Facts:
    """Return who asks as no message can: the label is proved by a token, the name is not."""
    line, client = partial(safe_line, most=MOST_IN_HEADER), call.client
    facts = [(tr("Asked by"), line(client.label) if client else tr("{host} itself", host=host))]
    if client and client.name:
        claim = line(f"{client.name} {client.version}".strip())
        facts.append((tr("Calls itself"), tr("{client} (self-reported)", client=claim)))
    return (*facts, (tr("Skill"), line(call.title)))


def _verb(question: Question, tr: Translate) -> str:
    if question.page is not None:
        return tr("Open in the browser")
    if question.confirmation is not None:
        return question.confirmation.title
    return question.title or tr("Send")


def _word(items: tuple[str, ...], verb: str) -> str:
    """Return the name of the only item, how many there are, or the verb."""
    if len(items) == 1:
        return items[0].rstrip("/|").replace("|", "/").rpartition("/")[2] or items[0]
    return str(len(items)) if items else verb


def item_counts(consent: Consent, tr: Translate = english) -> str:
    """Return how many items there are of which kind, as a person reads it. It raises nothing.

    Args:
        consent: What is asked about.
        tr: Translates texts of ours.

    Returns:
        Such as "Camera (2) · mesh (10)".
    """
    kinds, n = Counter(consent.kinds).most_common(), len(consent.items)
    names = {"": tr("untyped"), "gone": tr("no longer there")}  # "gone" is what hosts say of those
    named = [
        f"{names.get(kind) or _kind_in_words(kind)} ({n:,})" for kind, n in kinds[:_MOST_KINDS]
    ]
    others = sum(count for _, count in kinds[_MOST_KINDS:])
    parts = [*named, *([tr("other types ({n:,})", n=others)] if others else [])]
    return " · ".join(parts) or (tr("1 item") if n == 1 else tr("{n:,} items", n=n))


def _kind_in_words(kind: str) -> str:
    """Return a type as people write it: "Sketch" for "Sketcher::SketchObject", "Light probe"."""
    module, _, own = kind.rpartition("::")
    if module.isalpha() and own.isalnum():  # "labs::tree::2.0" is whole in Houdini
        own = re.sub("(Document)?Object", "", own) or own
    else:
        own = kind
    words = re.sub("(?<=[a-z])(?=[A-Z])", " ", own)
    if " " in words or words.isupper():
        words = words.replace("_", " ").capitalize()
    return safe_line(words)


def undo_line(consent: Consent, tr: Translate = english) -> str:
    """Return whether what is agreed to can be undone, or "" where it is not known what that is."""
    if consent.overwrites_nothing:
        return tr("Nothing is written over. Undo does not remove a new file.")
    if consent.undoable:
        return tr("Can be undone as one step.") if consent.items or consent.arguments else ""
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
    offers, line = question.offers, partial(safe_line, most=_MOST_OF_CLIENT)
    client, n = line(offers.mute or tr("this client")), offers.remember
    remember = remembers = hand_over = mute = muting = ""
    if offers.may_remember:
        remembers = tr("For this skill only. You can revoke it, and everything can be undone.")
    if offers.minutes:
        remember = _for_a_while(offers.minutes, tr)
        remembers = tr(
            "It ends with a no, a pause, another scene, code that is marked, and a click on End in "
            "the panel."
        )
    elif n == 0:
        remember = tr(
            "Do not ask {client} this again this session, for the same arguments", client=client
        )
    elif n == 1:
        remember = tr("Do not ask {client} again this session, for up to 1 item", client=client)
    elif n is not None:
        remember = tr(
            "Do not ask {client} again this session, for up to {n:,} items", client=client, n=n
        )
    if offers.hand_over is not None:
        hand_over = tr("Ask in {client}", client=line(offers.hand_over))
    if offers.mute is not None:
        mute = tr("Mute {client} for 10 minutes", client=client)
        muting = tr(
            "Declines this and every other question of {client} for that time. Edits that need no "
            "question go on: Pause stops those.",
            client=client,
        )
    return OffersView(remember, remembers, hand_over, mute, muting)


def _for_a_while(minutes: int, tr: Translate) -> str:
    """Return the caption that agrees to plain code for some minutes."""
    time = tr("{n} minutes", n=minutes) if minutes > 1 else tr("1 minute")
    return tr(
        "For {time}, run its scripts without showing them, as long as they only work in this scene "
        "and can be undone. Deleting still asks.",
        time=time,
    )
