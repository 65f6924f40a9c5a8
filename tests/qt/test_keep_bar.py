"""An edit of an agent without a question can be kept or undone, for as long as the person likes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import shiboken6
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from dcc_bridge.qt.keep_bar import BarWindow, KeepBar
from dcc_bridge.qt.panel.cards import Card

from .desk import CURSOR, Desk
from .stage import click, until, words
from .test_panel import activate, docked


class Kept(Desk):
    """A desk with the bar; the panel is hidden."""

    def __init__(self) -> None:
        super().__init__()
        self.bar = KeepBar(self, self.presenter.notifications, lambda: self.panel.is_seen)
        self.presenter.is_shown_elsewhere = self.bar.covers

    @property
    def shown(self) -> BarWindow:
        until(lambda: self.bar.window is not None)
        assert self.bar.window is not None
        return self.bar.window

    @property
    def steps(self) -> list[str]:
        return [label.partition(" [")[0] for label in self.host.labels]

    def close(self) -> None:
        self.bar.close()
        super().close()


@pytest.fixture
def kept(app: QApplication) -> Iterator[Kept]:
    kept = Kept()
    yield kept
    kept.close()
    assert kept.watching == 0


def said_in(card: Card) -> list[str]:
    return [line for line in words(card).split("\n") if line]


def captions(card: Card) -> list[str]:
    return [button.text() for button in card.buttons]


def press(card: Card, caption: str) -> None:
    (button,) = [button for button in card.buttons if button.text() == caption]
    click(button)


def test_the_last_step_that_asked_nothing_is_kept_and_the_bar_goes(kept: Kept) -> None:
    kept.ended("Moved 12 boxes", "done")
    card = kept.shown.card
    said = said_in(card), captions(card)

    press(card, "Keep")

    until(lambda: kept.bar.window is None)
    assert said == (["Moved 12 boxes", "claude-code"], ["Keep", "Undo"])
    assert kept.steps == ["Moved 12 boxes"]


def test_it_is_undone_from_the_bar_and_the_bar_goes(kept: Kept) -> None:
    kept.ended("Moved 12 boxes", "done")

    press(kept.shown.card, "Undo")

    until(lambda: kept.bar.window is None)
    assert kept.steps == []


def test_steps_of_one_client_in_a_row_are_kept_or_undone_together(kept: Kept) -> None:
    kept.ended("By another", "done", ago=90, client=CURSOR)
    kept.ended("Moved 12 boxes", "done", ago=60)
    kept.ended("Turned 12 boxes", "done", ago=30)
    card = kept.shown.card
    until(lambda: len(card.buttons) == 3)
    said = said_in(card), captions(card)

    press(card, "Undo all")

    until(lambda: kept.steps == ["By another"])
    assert said == (
        ["Turned 12 boxes", "claude-code · the last of 2 steps in a row"],
        ["Keep all", "Undo last", "Undo all"],
    )
    until(lambda: said_in(kept.shown.card) == ["By another", "cursor"])


def test_one_of_several_steps_is_undone_alone(kept: Kept) -> None:
    kept.ended("Moved 12 boxes", "done", ago=60)
    kept.ended("Turned 12 boxes", "done", ago=30)
    until(lambda: len(kept.shown.card.buttons) == 3)

    press(kept.shown.card, "Undo last")

    until(lambda: kept.steps == ["Moved 12 boxes"])
    until(lambda: captions(kept.shown.card) == ["Keep", "Undo"])


def test_after_keep_all_a_new_step_stands_alone(kept: Kept) -> None:
    kept.ended("Moved 12 boxes", "done", ago=60)
    kept.ended("Turned 12 boxes", "done", ago=30)
    until(lambda: len(kept.shown.card.buttons) == 3)
    press(kept.shown.card, "Keep all")
    until(lambda: kept.bar.window is None)

    kept.ended("Scaled 12 boxes", "done", ago=1)

    assert captions(kept.shown.card) == ["Keep", "Undo"]


def test_with_a_step_of_the_person_above_there_is_no_bar_until_that_step_is_undone(
    kept: Kept,
) -> None:
    kept.ended("Moved 12 boxes", "done")
    assert kept.shown is not None

    with kept.host.undo_step("Move Cube"):
        kept.host.items.append("by hand")
    kept.bar.refresh()
    covered = kept.bar.window
    kept.host.undo()

    assert covered is None
    assert captions(kept.shown.card) == ["Keep", "Undo"]


def test_with_an_approved_step_above_there_is_no_bar_until_that_step_is_undone(
    kept: Kept,
) -> None:
    kept.ended("Moved 12 boxes", "done", ago=60)
    assert kept.shown is not None

    kept.ended("Delete 3 lamps", "done", "destructive", by="host", ago=1)
    kept.bar.refresh()
    covered = kept.bar.window
    kept.host.undo()

    assert covered is None
    assert said_in(kept.shown.card)[0] == "Moved 12 boxes"


def test_a_press_that_comes_after_a_newer_step_undoes_nothing(kept: Kept) -> None:
    kept.ended("Moved 12 boxes", "done")
    card = kept.shown.card
    with kept.host.undo_step("Move Cube"):
        kept.host.items.append("by hand")

    press(card, "Undo")

    assert kept.steps == ["Moved 12 boxes", "Move Cube"]


def test_what_was_asked_about_needs_no_bar_and_a_notice_stays(kept: Kept) -> None:
    kept.ended("Deleted 12 boxes", "done", "destructive", by="host")
    (record,) = kept.recent.records()

    kept.presenter.notice("Deleted 12 boxes: done", lambda: None, record.id)
    until(lambda: kept.presenter.notifications.visible)
    kept.bar.refresh()

    assert kept.bar.window is None


def test_one_edit_has_one_notice(kept: Kept) -> None:
    """The bar takes the place of the notice of the same edit."""
    kept.ended("Moved 12 boxes", "done")
    (record,) = kept.recent.records()

    kept.presenter.notice("Moved 12 boxes: done", lambda: None, record.id)
    kept.presenter.notice("claude-code asks too often.")
    until(lambda: kept.presenter.notifications.visible)

    (notice,) = kept.presenter.notifications.visible
    assert notice.text == "claude-code asks too often."
    assert kept.shown.isVisible()


def test_the_notice_and_the_bar_do_not_cover_each_other(kept: Kept) -> None:
    kept.ended("Moved 12 boxes", "done")
    bar = kept.shown

    kept.presenter.notice("claude-code asks too often.")
    until(lambda: kept.presenter.notifications.visible)

    (notice,) = kept.presenter.notifications.visible
    assert not notice.frameGeometry().intersects(bar.frameGeometry())
    assert kept.window.frameGeometry().contains(bar.frameGeometry())


def test_the_bar_takes_no_focus_and_has_no_time_limit(kept: Kept) -> None:
    kept.ended("Moved 12 boxes", "done")
    bar = kept.shown

    assert bar.windowFlags() & Qt.WindowType.WindowDoesNotAcceptFocus
    assert bar.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    assert not bar.findChildren(QTimer)


def test_the_panel_has_the_row_while_it_is_seen_and_the_bar_has_it_else(kept: Kept) -> None:
    dock = docked(kept)
    dock.show()
    kept.panel.refresh()
    kept.ended("Moved 12 boxes", "done")
    until(lambda: kept.panel.pending.isVisible())
    kept.bar.refresh()
    before = kept.bar.window

    dock.hide()
    kept.bar.refresh()

    assert before is None
    assert captions(kept.panel.pending) == ["Keep", "Undo"]
    assert kept.shown.isVisible()


def test_the_row_at_the_foot_of_the_panel_undoes_by_keyboard(desk: Desk) -> None:
    desk.ended("Moved 12 boxes", "done")
    desk.panel.refresh()
    activate(desk.panel)
    undo = desk.panel.pending.buttons[1]
    undo.setFocus()

    QTest.keyClick(undo, Qt.Key.Key_Return)

    until(lambda: not desk.panel.pending.isVisible())
    assert desk.host.labels == []


def test_a_screen_reader_gets_the_name_of_the_bar_and_of_its_buttons(kept: Kept) -> None:
    kept.ended("Moved 12 boxes", "done")
    bar = kept.shown

    assert bar.accessibleName() == "Moved 12 boxes. claude-code"
    assert [button.accessibleName() for button in bar.card.buttons] == [
        "Keep: Moved 12 boxes",
        "Undo: Moved 12 boxes",
    ]


def test_the_bar_goes_with_its_window_and_is_no_trouble(kept: Kept) -> None:
    kept.ended("Moved 12 boxes", "done")
    assert kept.shown is not None

    shiboken6.delete(kept.window)
    kept.ended("Turned 12 boxes", "done", ago=1)
    kept.bar.refresh()

    assert kept.bar.row is not None
    assert kept.bar.row.title == "Turned 12 boxes"
