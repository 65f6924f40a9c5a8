"""Text of strangers is shown so that nothing in it hides or reorders anything."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6 import QtGui
from PySide6.QtWidgets import QApplication

from dcc_bridge.elicitation import text as plain
from dcc_bridge.elicitation.text import breakable, safe_line, safe_text, tool_tip

BIDI = [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C]
ZERO_WIDTH = [0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0x00AD, 0x034F, 0x180E, 0x3164, 0x2800]
CONTROLS = [*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
ODD = [0xD800, 0xDFFF, 0xE000, 0xFFFE, 0xFE01, 0xFE0F, 0xE0001, 0xE0041, 0xE0100, 0x10FFFF]


@pytest.mark.parametrize("number", sorted({*BIDI, *ZERO_WIDTH, *CONTROLS, *ODD}), ids=hex)
def test_what_cannot_be_seen_is_shown_as_its_number(number: int) -> None:
    shown = safe_line(f"a{chr(number)}b")

    assert shown == f"a\u2039U+{number:04X}\u203ab"


@given(st.text())
def test_nothing_that_cannot_be_seen_is_left(text: str) -> None:
    left = {unicodedata.category(char)[0] for char in safe_line(text)}

    assert "C" not in left


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], max_codepoint=0x10FF)))
def test_what_can_be_seen_stays_as_it_is(text: str) -> None:
    seen = "".join(char for char in text if ord(char) not in plain._BLANK)

    assert safe_text(seen) == seen


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (safe_text("one\r\ntwo\n\tthree"), "one\ntwo\n    three"),
        (safe_line("one\ntwo"), "one\u2039U+000A\u203atwo"),
        (safe_text("Keep\rDelete"), "Keep\u2039U+000D\u203aDelete"),  # it overwrites no line
        (safe_line("\u26a0\ufe0f Delete"), "\u26a0\ufe0f Delete"),  # a symbol in colour
        (safe_line("cam\ufe0f"), "cam\u2039U+FE0F\u203a"),
        (safe_text("x" * 8192), "x" * 8192),
        (
            safe_text("x" * 10_000),
            "x" * 8192 + "…\n(1,808 more characters are not shown)",
        ),
        (safe_line("x" * 500, 20), "x" * 19 + "…"),
        (safe_line("/World/" + "x" * 500 + "/sh0010_cam", 25), "/World/xxxxx…x/sh0010_cam"),
    ],
    ids=range(9),
)
def test_a_passage_keeps_its_lines_a_line_has_none_and_what_is_too_long_is_cut(
    shown: str, expected: str
) -> None:
    assert shown == expected


@given(st.text(max_size=200))
def test_a_word_too_long_for_a_window_can_be_wrapped_and_nothing_else_changes(text: str) -> None:
    shown = safe_text(text)
    wrapped = breakable(shown)

    assert wrapped.replace("\u200b", "") == shown
    longest = max((len(run) for run in wrapped.replace("\u200b", " ").split()), default=0)
    assert longest <= 56


def test_a_letter_keeps_its_marks() -> None:
    assert breakable("e\u0301" * 14 + "e\u0301") == "e\u0301" * 14 + "\u200be\u0301"


@pytest.mark.parametrize(
    "text", ["plain\nlines", "<b>bold</b>", "a < b & c", "&lt;b&gt;", " <img src='x'>\n  two"]
)
def test_no_tooltip_is_taken_for_markup(app: QApplication, text: str) -> None:
    shown, page = tool_tip(text), QtGui.QTextDocument()

    if QtGui.Qt.mightBeRichText(shown):  # as `QToolTip` looks at it
        page.setHtml(shown)
    else:
        page.setPlainText(shown)

    assert page.toPlainText() == text


def test_every_character_there_is_can_be_shown() -> None:
    everything = "".join(map(chr, range(sys.maxunicode + 1)))

    safe_text(everything, len(everything)).encode()
