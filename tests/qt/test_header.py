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
TAGS = [
    *("b", "h1", "a href='https://x'", "img src='x.png'", "table", "style"),
    *("div style='top:-9em'", "font size=7 color=red", "p align=right", "pre", "marquee"),
    *("center", "script", "iframe src='file:///'", "svg width=999", "body bgcolor=black"),
    *("meta charset=x", "title", "textarea", "!--"),
]
MARKS = [
    *range(0x200B, 0x2010),  # without width, and of direction
    *range(0x2028, 0x202F),  # line and paragraph, embedding and override
    *range(0x2060, 0x2070),  # joiners, invisible operators, isolates
    *(0x00AD, 0x034F, 0x061C, 0x115F, 0x180E, 0x2800, 0x3000, 0x3164, 0xFEFF, 0xFFA0, 0xFFFC),
    *(0xE0001, 0xE0041, 0xFE0F, 0xE0100, 0x0085, 0x009B),
]
CONTROLS = "\n\r\t\b\x1b\x00\v\f\x7f"
ESCAPES = ["[2J", "[H", "[1;31m", "[5A", "[?1049h", "]0;title\x07", "]8;;https://x\x07", "c", "[6n"]
COMBINING = [0x0301, 0x0334, 0x0338, 0x0489, 0x0E49, 0x20DD, 0x20E3, 0x0F39]
EMOJI = ["😀", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "⚠️", "🇩🇪", "👍🏿", "🔒", "✅"]
LONG = ["\n", "x", "█", "\u202e", "﷽", "W ", "\ud800", "g\u0301", "𒐫", "😀", "&", "<b>"]
LOOKALIKES = [
    FORGED,
    FORGED.upper(),
    FORGED.replace(": ", "\t"),
    FORGED.replace("\n", "\u2028"),
    FORGED.replace("\n", "\r"),
    FORGED.replace("a", "а"),  # noqa: RUF001 - Cyrillic, on purpose
    FORGED.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    "fake 1.0 · fake.scene\n" + FORGED,
    "─" * 300 + "\n" + FORGED,
    "\n" * 40 + "Decline   Cancel   Delete 127 cameras",
    "┌──────┐\n│ " + FORGED + " │\n└──────┘",
    "Who asks\n" + FORGED,
]
SPOOFS = [
    *(f"<{tag}>{FALSE}</{tag.split()[0]}>" for tag in TAGS),
    *(f"{'<' + tag + '>'}" * 200 + FORGED for tag in TAGS[:7]),
    *(f"{chr(mark)}{FALSE}{chr(mark)}" for mark in MARKS),
    *(FORGED.replace(":", f"{chr(mark)}:") for mark in MARKS),
    *(f"{char * count}{FALSE}" for char in CONTROLS for count in (1, 300)),
    *(f"\x1b{escape}{FALSE}" for escape in ESCAPES),
    *(f"\x9b{escape[1:]}{FORGED}" for escape in ESCAPES),
    *(f"{'e' + chr(mark) * 500}{FALSE}" for mark in COMBINING),
    *(emoji * count + FALSE for emoji in EMOJI for count in (1, 200)),
    *(text * (8192 // len(text)) for text in LONG),
    *LOOKALIKES,
    *(f"&{name};" * 40 + FALSE for name in ("lt", "nbsp", "#8238", "amp", "#x202e", "Tab")),
    *(f"{scheme}{FALSE}" for scheme in ("qthelp://<qt>", "data:text/html,<h1>", "javascript:")),
    *(f"{start}<html><body>{FALSE}" for start in ("<!DOCTYPE html>", "<?xml version='1.0'?>", " ")),
    *(f"{mark}{FALSE}{mark}" for mark in ("**", "```\n", "# ", "|a|b|\n|-|-|\n", "[x](https://x)")),
    "\x1b[2J\x1b[H" + FALSE,
    "|".join(["group"] * 2000),
    "𒐫" * 300,
    "".join(map(chr, range(0x2000, 0x2100))),
    "[*]" * 50,
    "%1 %2 %n {0} {self} ${HOME}" + FALSE,
    "&D&e&c&l&i&n&e" + FALSE,
]


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


def test_there_are_two_hundred_spoofs() -> None:
    assert len(set(SPOOFS)) >= 200


@pytest.mark.parametrize("spoof", sampled(SPOOFS[::7], SPOOFS), ids=range(len(SPOOFS)))
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
