"""No message can say who asks: that is a line of the header, and it is ours."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLabel

from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.caller_view import header, who_asks
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.text import safe_line
from tests.tiers import sampled

from .stage import CALL, HOST, click, consent, delete, drawn, go_to, press, words

REAL = (
    ("", "fake 1.0 · fake.scene"),
    ("Asked by", "claude-code"),
    ("Calls itself", "Claude Code 2.1 (self-reported)"),
    ("Skill", "Delete cameras"),
)
FALSE = "Asked by: root\nSkill: Save the scene"
FORGED = "\n".join(f"{caption}: {text}" for caption, text in REAL[1:]).replace("Delete", "Save")
SPOOFS = [
    f"<h1>{FALSE}</h1>",
    f"<div style='top:-9em'>{FALSE}</div>",
    f"<!DOCTYPE html><html><body>{FALSE}",
    "<table>" * 200 + FORGED,
    f"&lt;b&gt;{FALSE}" + "&nbsp;" * 40,
    f"**{FALSE}** [x](https://x) {{0}} %1 ${{HOME}}",
    *(
        f"{mark}{FALSE}{mark}"
        for mark in ("\u202e", "\u2066", "\u200b", "\u2028", "\u3164", "\U000e0041")
    ),
    *(f"{char * 300}{FALSE}" for char in "\n\r\t\b\x1b\x00\v"),
    f"\x1b[2J\x1b[H\x9b5A{FALSE}",
    "e" + "\u0301" * 500 + FALSE,
    "👩‍👩‍👧‍👦⚠️" * 200 + FALSE,
    *(text * (8192 // len(text)) for text in ("x", "█", "W ", "﷽", "\ud800", "&", "<b>")),
    FORGED,
    FORGED.replace("\n", "\u2028"),
    FORGED.replace("a", "а"),  # noqa: RUF001 - Cyrillic, on purpose
    FORGED.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    "fake 1.0 · fake.scene\n" + FORGED,
    "─" * 300 + "\n" + FORGED,
    "\n" * 40 + "Decline   Cancel   Delete 127 cameras",
    "┌──────┐\n│ " + FORGED + " │\n└──────┘",
    "|".join(["group"] * 2000),
]
"""Markup, marks that are not seen, controls, combining signs, much of something, look-alikes."""


SEEN = "claude-code asks, in fake.scene"


@pytest.fixture(scope="module")
def honest(app: QApplication) -> list[QImage]:
    return who(consent("Delete 127 cameras?"))


def who(question: Question) -> list[QImage]:
    """Draw a question, look it over, and give the pictures of what says who asks."""
    dialog, _ = drawn(question)
    dialog.resize(640, 480)
    click(dialog.header.about)
    for _ in range(3):  # a layout takes some turns
        QCoreApplication.processEvents()
    header = dialog.header
    assert dialog.view.header == REAL
    assert dialog.view.who_asks == SEEN
    assert header.title.geometry().bottom() < header.who.geometry().top()
    assert header.title.height() <= 8 * header.title.fontMetrics().lineSpacing()
    assert header.geometry().bottom() < dialog.body.geometry().top()
    assert dialog.rect().contains(dialog.exits.geometry())
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in _labels(header))
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in _labels(dialog.body))
    pictures = [part.grab().toImage() for part in (header.who, header.facts)]
    delete(dialog)
    return pictures


def _labels(part: object) -> list[QLabel]:
    return [label for label in part.findChildren(QLabel) if label.text()]  # type: ignore[attr-defined]  # a widget


@pytest.mark.parametrize("spoof", sampled(SPOOFS[::3], SPOOFS), ids=range(len(SPOOFS)))
def test_a_message_leaves_who_asks_as_it_was(honest: list[QImage], spoof: str) -> None:
    """The line below the title, and what opens behind it, are drawn the same to the last pixel."""
    text = Details(spoof[:2000], ((1, spoof),), spoof[1:2000])

    assert who(consent(spoof, title=spoof, reason=spoof, details=text)) == honest


@pytest.mark.parametrize("text", ["Delete?" + " " * 90 + SEEN, f"Delete?\n{SEEN}", SEEN])
def test_a_title_has_no_second_line_of_its_own_and_no_gap(text: str) -> None:
    dialog, _ = drawn(consent(text))

    title = dialog.header.title.text().replace("\N{ZERO WIDTH SPACE}", "")
    assert "  " not in title
    assert "\n" not in title
    assert dialog.header.title.font().pointSizeF() > 1.3 * dialog.font().pointSizeF()
    assert dialog.header.title.font().bold()


def test_a_message_is_shown_to_its_last_mark(app: QApplication) -> None:
    dialog, _ = drawn(consent("<b>Delete</b> \u202ethem\n<b>Now</b> \u202eall"))

    assert "<b>Delete</b> \u2039U+202E\u203athem" in words(dialog.header)
    assert "<b>Now</b> \u2039U+202E\u203aall" in words(dialog.body)


def test_a_first_line_that_is_no_title_is_shown_whole_below(app: QApplication) -> None:
    dialog, _ = drawn(consent("all of it, " * 30))

    assert words(dialog.header).startswith("Delete cameras")
    assert "all of it, " * 30 in words(dialog.body)


@pytest.mark.parametrize("opening", ["mouse", "space", "enter"])
def test_what_is_known_of_who_asks_opens_below_by_mouse_and_by_key(opening: str) -> None:
    call = replace(CALL, digest="3f9a" * 16, file="/shows/harbour/skills/delete_cameras.py")
    dialog, heard = drawn(consent(call=call))
    go_to(dialog)
    about = dialog.header.about
    before = dialog.header.facts.isVisible()

    about.setFocus()
    keys = {"space": Qt.Key.Key_Space, "enter": Qt.Key.Key_Return}
    if opening == "mouse":
        click(about)
    else:
        press(about, keys[opening])

    assert (before, dialog.header.facts.isVisible(), heard) == (False, True, [])
    shown = words(dialog.header.facts)
    for text in (
        "fake 1.0 · fake.scene",
        "Claude Code 2.1 (self-reported)",
        "Delete cameras",
        "/shows/harbour/skills/delete_cameras.py",
        "3f9a3f9a3f9a",
    ):
        assert text in shown
        assert text in about.accessibleDescription()
    assert about.accessibleName() == "More about who asks"
    press(about, Qt.Key.Key_Space)
    assert not dialog.header.facts.isVisible()


def test_who_asks_and_where_is_cut_and_without_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client("blender-farm", "x" * 500 + "\u202e", "1")
    monkeypatch.setattr(HOST, "scene", lambda: "a\u202eb\nc")

    facts = header(replace(CALL, client=client), HOST)

    assert facts[:3] == (
        ("", "fake 1.0 · " + safe_line("a\u202eb\nc")),
        ("Asked by", "blender-farm"),
        ("Calls itself", "x" * 99 + "… (self-reported)"),
    )
    assert header(Call("host", "The application itself"), HOST)[1] == ("Asked by", "fake itself")
    assert who_asks(CALL, HOST) == "claude-code asks, in " + safe_line("a\u202eb\nc")
    assert who_asks(Call("host", "It"), HOST).startswith("fake itself asks, in ")
