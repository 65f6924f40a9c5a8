"""A question as HTML: its words, what it is about, its fields, and three ways out. Any thread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.question import MOST_REASON, Question
from dcc_bridge.elicitation.schema import Form
from dcc_bridge.elicitation.wording import lone, word_of
from dcc_bridge.server.pages import entries, filters
from dcc_bridge.server.pages.entries import Entries
from dcc_bridge.server.pages.fields import Row
from dcc_bridge.server.pages.markup import Markup, element, join

MOST_ITEMS: Final = 1000
WORD: Final = "word"
"""The key of the line in which a word is to be typed."""
REASON: Final = "reason"
"""The key of the line in which a person may say why they decline."""
_MOST_KINDS: Final = 8
_LONGEST_ASKED: Final = 160
"""Characters of a message's first line up to which it is drawn as the question itself."""
_MOST_ON_BUTTON: Final = 48


def fields(question: Question) -> Form | None:
    """Give the form that is drawn, or None where the verb says it all."""
    form = question.form
    return form if form is not None and form.fields and lone(question) is None else None


def word(question: Question) -> str:
    """Give what is to be typed before what cannot be undone can be agreed to, or ""."""
    return "" if question.undoable else word_of(question, verb_of(question))


def unarmed(question: Question, filled: Entries) -> dict[str, str]:
    """Say that the word was not typed, under the key of its field; nothing where it was."""
    wanted, typed = word(question), next(iter(filled.get(WORD, ())), "").strip()
    if not wanted or typed in (wanted, plain.line(wanted)):
        return {}
    return {WORD: f"Please type {plain.line(wanted)} here first: this cannot be undone."}


def draw(
    question: Question,
    filled: Entries,
    problems: Mapping[str, str],
    *,
    note: str,
    ends: str,
    filtering: str = "",
) -> Markup:
    """Draw a question.

    Args:
        question: What is asked.
        filled: What is filled in.
        problems: What is wrong with that, by key.
        note: Something to say first, or "".
        ends: The time at which it ends.
        filtering: The key of the field whose list was filtered just now, or "".
    """
    form = fields(question)
    rows = _rows(form, filled, problems, filtering) if form else []
    asked = element(
        "form",
        _guard(question, form),
        _summary(rows),
        element("p", note, class_="notice", role="alert") if note else "",
        _heading(question),
        _preview(question),
        _rest(question),
        *(row.draw() for row in rows),
        _arming(question, filled, problems),
        _more(question, filled),
        _exits(question, focused=not problems and (question.consent or not rows)),
        method="post",
        novalidate=True,
    )
    until = f"It ends at {ends} if nobody answers, and nothing is done."
    return join(asked, _refusing(), element("p", until, class_="small"))


def _guard(question: Question, form: Form | None) -> str:
    """Say what Enter in a field does, by the form's first button.

    In a consent it does nothing: the button is disabled. Beside a filter it may mean that one.
    """
    if question.consent:
        return element("button", type="submit", disabled=True, hidden=True)
    if form is None or not any(map(filters.has_one, form.fields)):
        return ""
    return element("button", type="submit", name="exit", value=filters.ENTER, hidden=True)


def _arming(question: Question, filled: Entries, problems: Mapping[str, str]) -> str:
    """Draw the line in which a word is to be typed."""
    if not (wanted := word(question)):
        return ""
    wrong = problems.get(WORD, "")
    told = element("p", wrong, id="word-problem", class_="problem") if wrong else ""
    label = element("label", f"Type {plain.line(wanted)} to go on", for_=WORD)
    line = element(
        "input",
        type="text",
        id=WORD,
        name=WORD,
        value=next(iter(filled.get(WORD, ())), ""),
        autocomplete="off",
        autocapitalize="off",
        spellcheck="false",
        autofocus=bool(wrong),
        aria_invalid="true" if wrong else None,
        aria_describedby="word-problem" if wrong else None,
    )
    return element("div", label, told, line, class_="field wrong" if wrong else "field")


def _rows(form: Form, filled: Entries, problems: Mapping[str, str], filtering: str) -> list[Row]:
    """Make the rows; the keyboard is at the first problem, so that the rest begins at the top."""
    keys = [entries.key(number) for number in range(len(form.fields))]
    focused = next((key for key in keys if key in problems), "")
    return [
        Row(
            key,
            field,
            filled.get(key, ()),
            problems.get(key, ""),
            key == focused,
            filters.text(key, filled),
            key == filtering,
        )
        for key, field in zip(keys, form.fields, strict=True)
    ]


def _summary(rows: list[Row]) -> str:
    wrong = [row for row in rows if row.problem]
    if not wrong:
        return ""
    links = [
        element(
            "li",
            element("a", f"{plain.line(row.field.title)}: {row.problem}", href=f"#{row.key}"),
        )
        for row in wrong
    ]
    count = "one field" if len(wrong) == 1 else f"{len(wrong)} fields"
    heading = element("h2", f"Please look at {count} again")
    return element("div", heading, element("ul", *links), class_="notice", role="alert")


def _heading(question: Question) -> Markup:
    said: list[str] = []
    if question.reason:
        reason = plain.passage(question.reason)
        said.append(element("p", reason, class_="notice passage"))
    if question.title and question.title not in (verb_of(question), question.call.title):
        said.append(element("p", plain.line(question.title), class_="quiet"))
    asked, _ = _split(plain.passage(question.message))
    said.append(element("h1", asked or f"A question about {plain.line(question.call.title)}"))
    return element("div", *said, class_="words")


def _rest(question: Question) -> str:
    """Draw what else is said; below what it is about, for a message may be as long as it likes."""
    verb, alone = verb_of(question), lone(question)
    _, rest = _split(plain.passage(question.message))
    said = [element("p", rest, class_="passage")] if rest else []
    if plain.line(verb, _MOST_ON_BUTTON) != verb:
        said.append(element("p", f"If you agree: {plain.passage(verb)}", class_="passage"))
    if alone and alone.description:
        said.append(element("p", plain.passage(alone.description), class_="quiet passage"))
    return element("div", *said, class_="words") if said else ""


def _split(message: str) -> tuple[str, str]:
    """Give what is asked, and what is said about it."""
    first, _, rest = message.partition("\n")
    return (first, rest) if first and len(first) <= _LONGEST_ASKED else ("", message)


def _preview(question: Question) -> str:
    """Draw what a consent is about."""
    if not question.consent or not (question.items or not question.undoable):
        return ""
    undo = _undo(question)
    if not question.items:
        return undo
    items = question.items[:MOST_ITEMS]
    kinds = question.kinds or ("",) * len(question.items)
    lines = [_item(item, kind) for item, kind in zip(items, kinds, strict=False)]
    rest = len(question.items) - len(items)
    return element(
        "section",
        element("h2", _count(question), id="items"),
        undo,
        element("ul", *lines, class_="items", tabindex="0", aria_labelledby="items"),
        element("p", f"and {rest:,} more that are not listed", class_="quiet") if rest else "",
        class_="preview",
        aria_labelledby="items",
    )


def _undo(question: Question) -> Markup:
    if question.undoable:
        return element("p", "Can be undone as one step", class_="undo")
    never = element("p", "Cannot be undone", class_="undo never")
    kept = f"A copy is kept first, in {plain.line(question.kept, 400)}" if question.kept else ""
    return join(never, element("p", kept, class_="quiet") if kept else "")


def _item(item: str, kind: str) -> Markup:
    shown = element("span", plain.line(item, 400))
    return element(
        "li", shown, element("span", plain.line(kind, 40), class_="quiet") if kind else ""
    )


def _count(question: Question) -> str:
    """Say how many there are, and of which kinds."""
    number = len(question.items)
    total = "1 item" if number == 1 else f"{number:,} items"
    kinds = Counter(question.kinds).most_common()
    parts = [f"{count:,} {plain.line(kind, 40)}" for kind, count in kinds[:_MOST_KINDS]]
    if others := kinds[_MOST_KINDS:]:
        parts.append(f"{sum(count for _, count in others):,} of other kinds")
    return f"{total}: {', '.join(parts)}" if parts else total


def _more(question: Question, filled: Entries) -> str:
    """Draw what may be done with a question besides answering it."""
    offers = question.offers
    lines: list[str] = []
    if offers.remember is not None:
        most = f"up to {offers.remember:,} items" if offers.remember > 1 else "one item"
        text = f"If I agree, agree to it for this session ({most})"
        lines.append(_option("remember", text, checked="remember" in filled))
    if offers.mute is not None:
        who = plain.line(offers.mute, 60)
        text = f"If I do not, mute {who} for a while"
        lines.append(_option("mute", text, checked="mute" in filled))
    if offers.hand_over is not None:
        where = plain.line(offers.hand_over, 60)
        lines.append(_button(f"Ask in {where} instead", "hand_over", "link"))
    if not lines:
        return ""
    return element("details", element("summary", "More choices"), *lines)


def _option(name: str, text: str, *, checked: bool) -> Markup:
    box = element("input", type="checkbox", id=name, name=name, value=entries.YES, checked=checked)
    return element("div", box, element("label", text, for_=name), class_="tick")


def _exits(question: Question, *, focused: bool) -> Markup:
    """Draw the ways out. The first one has the keyboard: Cancel, where something may be lost."""
    verb = plain.line(verb_of(question), _MOST_ON_BUTTON)
    decline = _button("Decline", "decline", "")
    if question.consent:
        agree = _button(verb, "accept", "weighty")
        cancel = _button("Cancel", "cancel", "", focused=focused)
        buttons = join(cancel, decline, agree)
    else:
        agree = _button(verb, "accept", "main", focused=focused)
        buttons = join(agree, decline, _button("Cancel", "cancel", ""))
    return element("div", buttons, class_="exits", role="group", aria_label="Your answer")


def _refusing() -> Markup:
    """Draw where to say why not: a form of its own, in which Enter can only decline."""
    line = element(
        "input", type="text", id=REASON, name=REASON, maxlength=str(MOST_REASON), autocomplete="off"
    )
    form = element(
        "form",
        element("label", "Your reason, which the agent is told", for_=REASON),
        line,
        _button("Decline with this reason", "decline", ""),
        method="post",
    )
    return element("details", element("summary", "Decline with a reason"), form, class_="refusing")


def _button(text: str, exit: str, style: str, *, focused: bool = False) -> Markup:
    return element(
        "button",
        text,
        type="submit",
        name="exit",
        value=exit,
        class_=style or None,
        autofocus=focused,
    )


def verb_of(question: Question) -> str:
    """Say what agreeing does."""
    alone = lone(question)
    return alone.title if alone is not None else question.title or "Send"
