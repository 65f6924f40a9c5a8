"""No message can say who asks: that is the header's, and it is ours."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QLabel

from dcc_bridge.consent.call import Call
from dcc_bridge.elicitation.caller import Client
from dcc_bridge.elicitation.caller_view import header
from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.text import safe_line
from tests.tiers import sampled

from .stage import CALL, HOST, consent, delete, drawn, words

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


@pytest.fixture(scope="module")
def honest(app: QApplication) -> QImage:
    return top(consent("Delete 127 cameras?"))


def top(question: Question) -> QImage:
    """Draw a question, look it over, and give the picture of its header."""
    dialog, _ = drawn(question)
    dialog.resize(640, 480)
    QCoreApplication.processEvents()
    assert dialog.view.header == REAL
    assert dialog.header.geometry().bottom() < dialog.body.geometry().top()
    assert dialog.rect().contains(dialog.exits.geometry())
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in _labels(dialog.header))
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in _labels(dialog.body))
    picture: QImage = dialog.header.grab().toImage()
    assert dialog.width() == 640
    delete(dialog)
    return picture


def _labels(part: object) -> list[QLabel]:
    return [label for label in part.findChildren(QLabel) if label.text()]  # type: ignore[attr-defined]  # a widget


@pytest.mark.parametrize("spoof", sampled(SPOOFS[::3], SPOOFS), ids=range(len(SPOOFS)))
def test_a_message_leaves_the_header_as_it_was(honest: QImage, spoof: str) -> None:
    text = Details(spoof[:2000], ((1, spoof),), spoof[1:2000])

    assert top(consent(spoof, title=spoof, reason=spoof, details=text)) == honest


def test_a_message_is_shown_to_its_last_mark(app: QApplication) -> None:
    dialog, _ = drawn(consent("<b>Delete</b> \u202ethem"))

    assert "<b>Delete</b> \u2039U+202E\u203athem" in words(dialog.body)


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
