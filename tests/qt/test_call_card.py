"""The card of a call; of code: why, what was marked, what changed, its text, and Undo."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from dcc_bridge.consent.effect import CodeRun
from dcc_bridge.elicitation.details import Details
from dcc_bridge.panel import rows
from dcc_bridge.qt.panel.call_card import CallCard
from dcc_bridge.skills.call_history import Status

from .desk import Desk
from .stage import click, press, until

WHY = "Take away the lamps that are switched off."
TEXT = "for lamp in lamps:\n    if not lamp.power:\n        scene.remove(lamp)\n"
DETAILS = Details(TEXT, ((3, "removes objects"),))
CHANGES = {
    "created": (0, []),
    "changed": (2, ["Key", "Fill"]),
    "deleted": (120, [f"Lamp.{number:03}" for number in range(50)]),
}
RAN = CodeRun(WHY, DETAILS, CHANGES, written=(Path("/shots/report.csv"),))


def ran(desk: Desk, state: Status = "done", code: CodeRun = RAN, **more: Any) -> CallCard:
    """Have code that ended, choose it in the history, and give its card."""
    desk.ended("Run code", state, "destructive", code=code, **more)
    desk.panel.refresh()
    history = desk.panel.history
    history.list.setCurrentIndex(history.model.index(0, 0))
    return history.card


@pytest.mark.core
def test_every_row_shows_its_card_and_that_of_code_offers_its_text(desk: Desk) -> None:
    desk.ended("Rename prim", "done", ago=80)
    desk.panel.refresh()
    history = desk.panel.history
    before = history.card.isVisible()
    history.list.setCurrentIndex(history.model.index(0, 0))
    plain = history.card.facts.toPlainText(), history.text.isVisible()

    card = ran(desk, by="host")

    assert not before
    assert plain[0].startswith("Rename prim\nclaude-code · done")
    assert not plain[1]
    assert card.isVisible()
    assert history.text.isVisible()


@pytest.mark.parametrize("way", ["button", "enter"])
def test_the_text_is_read_in_a_window_of_its_own_and_follows_what_is_chosen(
    desk: Desk, way: str
) -> None:
    long = "\n".join(f"v{number} = {number}" for number in range(400))
    card = ran(desk, code=CodeRun("Count.", Details(long, ((399, "why"),)), CHANGES), ago=90)
    history, lines = desk.panel.history, card.details.lines
    laid_out = lines.toPlainText()
    if way == "button":
        history.text.setFocus()
        press(history.text, Qt.Key.Key_Return)
    else:
        press(history.list, Qt.Key.Key_Return)
    shown = card.reader.isVisible(), lines.toPlainText()
    seen = lines.height() // lines.fontMetrics().lineSpacing()
    card.details.reasons.setCurrentRow(0)
    scrolled = lines.verticalScrollBar().value()

    ran(desk, ago=10)

    assert laid_out == ""  # nothing before somebody reads it
    assert shown == (True, long)
    assert seen >= 20
    assert scrolled > 300
    assert (lines.toPlainText(), lines.verticalScrollBar().value()) == (TEXT.rstrip("\n"), 0)
    press(card.reader, Qt.Key.Key_Escape)
    assert not card.reader.isVisible()


def test_the_card_says_why_what_changed_who_agreed_and_what_is_marked(desk: Desk) -> None:
    card = ran(desk, by="host")
    card.open()

    facts, reasons = card.facts.toPlainText().split("\n"), card.details.reasons
    assert facts[:-1] == [
        "claude-code · done · approved in the app",
        f"The agent said: “{WHY}”",
        "Marked 1: line 3: removes objects",
        "Changed 2: Key, Fill",
        f"Deleted 120: {', '.join(CHANGES['deleted'][1])}, 70 more",
        "Wrote 1: /shots/report.csv",
        "Run code · approved in the app",
    ]
    assert facts[-1].startswith("Call ")
    assert [reasons.item(row).text() for row in range(reasons.count())] == [
        "line 3: removes objects"
    ]


@pytest.mark.parametrize(
    ("state", "by", "outcome"),
    [
        ("refused", "host", "declined in the app"),
        ("failed", "host", "failed, nothing was changed"),
        ("timed_out", "host", "took too long, nothing was changed"),
        ("cancelled", None, "cancelled, nothing was changed"),
        ("unknown_outcome", "host", "the outcome is unknown"),
    ],
)
def test_what_did_not_stand_says_so_and_lists_no_change(
    desk: Desk, state: Status, by: Any, outcome: str
) -> None:
    error = "run_python failed: line 3. Nothing was changed." if state == "failed" else None

    card = ran(desk, state, by=by, error=error)

    facts = card.facts.toPlainText()
    assert outcome in facts.split("\n")[0]
    assert WHY in facts
    assert "Changed 2" not in facts
    assert ("Reason: line 3.\n" in facts) is (state == "failed")  # and not the words for the agent
    assert "run_python" not in facts
    assert "Wrote 1: /shots/report.csv" in facts  # undo does not bring it back
    card.open()
    assert card.details.lines.toPlainText() == TEXT.rstrip("\n")


@pytest.mark.parametrize(
    ("is_exact", "sentence"),
    [(True, "It changed nothing in the scene."), (False, "There may be more")],
)
def test_where_nothing_was_counted_the_card_says_what_that_means(
    desk: Desk, is_exact: bool, sentence: str
) -> None:
    nothing = {kind: (0, list[str]()) for kind in CHANGES}

    card = ran(desk, code=CodeRun(WHY, DETAILS, nothing, is_exact))

    assert sentence in card.facts.toPlainText()


@pytest.mark.parametrize("is_from_card", [True, False])
def test_the_step_of_the_code_is_undone_from_its_card_or_elsewhere_and_the_card_says_so(
    desk: Desk, is_from_card: bool
) -> None:
    card = ran(desk, by="host")
    undo = desk.panel.history.undo

    if is_from_card:
        click(undo)
    else:
        desk.host.undo()
        desk.panel.refresh()

    until(lambda: "undone in the app" in card.facts.toPlainText())
    assert desk.host.labels == []
    assert card.isVisible()
    assert not undo.isEnabled()
    assert rows.sign(desk.recent.records()[0]) == "undone"


def test_what_an_agent_says_is_plain_text_in_the_card_too(desk: Desk) -> None:
    card = ran(desk, code=CodeRun("<b>x</b> \u202ey", Details("<i>z</i>"), CHANGES))

    assert "<b>x</b> ‹U+202E›y" in card.facts.toPlainText()  # noqa: RUF001 - ours
    card.open()
    assert card.details.lines.toPlainText() == "<i>z</i>"
    tip = desk.panel.history.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert "&lt;b>x" in tip
    assert "Deleted 120: Lamp.000, Lamp.001, Lamp.002, 117 more" in tip  # a tooltip is short


def test_a_refresh_leaves_what_is_read_where_it_is(desk: Desk) -> None:
    long = "\n".join(f"v{number} = {number}" for number in range(400))
    card = ran(desk, code=CodeRun("Count. " * 200, Details(long), CHANGES))
    card.open()
    bars = [text.verticalScrollBar() for text in (card.facts, card.details.lines)]
    for bar in bars:
        bar.setValue(bar.maximum())
    scrolled = [bar.value() for bar in bars]

    desk.ended("Rename prim", "done", ago=1)
    desk.panel.refresh()

    assert min(scrolled) > 0
    assert [bar.value() for bar in bars] == scrolled
    assert card.isVisible()


def test_tab_goes_from_the_history_through_the_card_to_undo(desk: Desk) -> None:
    card, history = ran(desk, by="host"), desk.panel.history
    desk.panel.activateWindow()
    until(desk.panel.isActiveWindow)

    history.list.setFocus()
    reached: list[QWidget | None] = []
    for _ in range(3):
        focused = QApplication.focusWidget()
        assert focused is not None
        press(focused, Qt.Key.Key_Tab)
        reached.append(QApplication.focusWidget())

    assert reached == [card.facts, history.text, history.undo]
    assert card.facts.accessibleName()


def test_the_window_of_a_text_goes_with_its_panel(app: QApplication) -> None:
    desk = Desk()
    desk.panel.show()
    card = ran(desk)
    card.open()

    desk.close()

    assert not isValid(card.reader)


@pytest.mark.long
def test_a_text_of_400_lines_is_chosen_within_a_frame(desk: Desk) -> None:
    """CPU time of the main thread; the best of several, because other tests run beside it."""
    texts = ["\n".join(f"value_{n} = {n} + {seed}" for n in range(400)) for seed in range(6)]
    codes = [CodeRun("Count.", Details(text), CHANGES) for text in texts]
    for code in codes:
        desk.ended("Run code", "done", "destructive", code=code)
    desk.panel.refresh()
    history, taken = desk.panel.history, []

    for row in range(len(codes)):
        began = time.thread_time()
        history.list.setCurrentIndex(history.model.index(row, 0))
        history.card.grab()
        history.card.open()
        history.card.reader.grab()
        taken.append(time.thread_time() - began)

    assert min(taken) < 0.0167


def test_a_question_of_several_lines_is_told_in_one(desk: Desk) -> None:
    desk.ended("Delete it?\nIt is used twice.", "done", "destructive", by="host")
    desk.panel.refresh()

    (record,) = desk.recent.records()

    assert any("Delete it? It is used twice." in fact for fact in rows.facts(record))
