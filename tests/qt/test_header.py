"""No message can say who asks: that is the header's, and it is ours."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QIcon, QImage
from PySide6.QtWidgets import QApplication, QLabel

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.call import Call, Client
from dcc_bridge.elicitation.question import Question
from dcc_bridge.qt.header import Header

from .stage import CALL, HOST, consent, delete, drawn, words

REAL = [
    ("", "fake 1.0 · fake.scene"),
    ("Asked by", "claude-code"),
    ("Calls itself", "Claude Code 2.1 (self-reported)"),
    ("Skill", "Delete cameras"),
]
FALSE = "Asked by: root\nSkill: Save the scene"
TAGS = [
    "b",
    "h1",
    "a href='https://x'",
    "img src='x.png'",
    "table",
    "style",
    "div style='top:-9em'",
]
MARKS = [0x202A, 0x202D, 0x202E, 0x2066, 0x2067, 0x2068, 0x200E, 0x200F, 0x200B, 0xFEFF, 0x2028]
SPOOFS = [
    *(f"<{tag}>{FALSE}</{tag.split()[0]}>" for tag in TAGS),
    *(f"{chr(mark)}{FALSE}{chr(mark)}" for mark in MARKS),
    *(f"{char * count}{FALSE}" for char in "\n\r\t\b\x1b\x00\v" for count in (1, 300)),
    *(f"{char * 8192}" for char in ("\n", "x", "█", "\u202e", "﷽", "W ", "\ud800")),
    "\x1b[2J\x1b[H" + FALSE,
    "&lt;b&gt;" + FALSE + "&nbsp;" * 40,
    "e" + "\u0301" * 2000,
    "\u0e49" * 500 + FALSE,
    "|".join(["group"] * 2000),
    "𒐫" * 300,
    "".join(map(chr, range(0x2000, 0x2100))),
    "[*]" * 50,
    "qthelp://<qt>" + FALSE,
    "<!DOCTYPE html><html><body>" + FALSE,
    "<?xml version='1.0'?>" + FALSE,
]


@pytest.fixture(scope="module")
def honest(app: QApplication) -> QImage:
    return top(consent("Delete 127 cameras?"))


def top(question: Question) -> QImage:
    """Draw a question, look it over, and give the picture of its header."""
    dialog, _ = drawn(question)
    dialog.resize(640, 480)
    QCoreApplication.processEvents()
    assert dialog.header.facts == REAL
    assert dialog.header.geometry().bottom() < dialog.body.geometry().top()
    assert dialog.rect().contains(dialog.exits.geometry())
    assert all(one.textFormat() == Qt.TextFormat.PlainText for one in _labels(dialog.header))
    assert all(one.textFormat() == Qt.TextFormat.PlainText for one in _labels(dialog.body))
    picture = dialog.header.grab().toImage()
    assert dialog.width() == 640
    delete(dialog)
    return picture


def _labels(part: object) -> list[QLabel]:
    return [one for one in part.findChildren(QLabel) if one.text()]  # type: ignore[attr-defined]  # a widget


def test_there_are_fifty_spoofs() -> None:
    assert len(SPOOFS) >= 50


@pytest.mark.parametrize("spoof", SPOOFS, ids=range(len(SPOOFS)))
def test_a_message_leaves_the_header_as_it_was(honest: QImage, spoof: str) -> None:
    assert top(consent(spoof)) == honest
    assert top(consent("Delete?", title=spoof, reason=spoof)) == honest


def test_a_message_is_shown_to_its_last_mark(app: QApplication) -> None:
    dialog, _ = drawn(consent("<b>Delete</b> \u202ethem"))

    assert "<b>Delete</b> \u2039U+202E\u203athem" in words(dialog.body)
    delete(dialog)


def test_what_a_client_says_of_itself_is_cut_and_marked(app: QApplication) -> None:
    client = Client("blender-farm", "x" * 500 + "\u202e", "1")

    header = Header(HOST, replace(CALL, client=client), QIcon())

    assert header.facts[1] == ("Asked by", "blender-farm")
    assert header.facts[2] == ("Calls itself", "x" * 99 + "… (self-reported)")
    delete(header)


def test_the_host_that_asks_for_itself_is_named(app: QApplication) -> None:
    header = Header(HOST, Call("host", "The host itself"), QIcon())

    assert header.facts[1] == ("Asked by", "fake itself")
    delete(header)


def test_a_scene_cannot_bring_marks_into_the_header(
    app: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HOST, "scene", lambda: "a\u202eb\nc")

    header = Header(HOST, CALL, QIcon())

    assert header.facts[0] == ("", "fake 1.0 · " + plain.line("a\u202eb\nc"))
    delete(header)
