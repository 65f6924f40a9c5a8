"""A question stands beside the view, on its screen, in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtWidgets import QWidget

from dcc_bridge.qt.dialog_place import find_corner

from .stage import Stage, ask_name, click, consent, until

DIALOG = QSize(460, 340)
NONE = QRect()
HD = QRect(0, 0, 1920, 1080)
SMALL = QRect(0, 0, 1024, 600)
# The screen, the host's window, the view in it, and where the dialog has to be.
LAYOUTS = {
    "beside a window": (HD, QRect(0, 0, 1400, 1000), QRect(200, 60, 900, 900), (1400, 60)),
    "left of a window": (HD, QRect(500, 0, 1420, 1000), QRect(700, 60, 900, 900), (40, 60)),
    "over wide docks": (HD, HD, QRect(0, 60, 1400, 1000), (1400, 60)),
    "over docks at the left": (HD, HD, QRect(500, 60, 1420, 1000), (40, 60)),
    "below a low view": (HD, HD, QRect(0, 0, 1920, 700), (0, 700)),
    "on a second screen": (
        QRect(1920, 0, 1920, 1080),
        QRect(1920, 0, 1400, 1000),
        QRect(1920, 60, 1400, 900),
        (3320, 60),
    ),
    "furthest from a view at the right": (HD, HD, QRect(300, 60, 1620, 1020), (0, 60)),
    "a small screen": (SMALL, SMALL, QRect(250, 60, 774, 500), (0, 60)),
    "a small screen, all of it a view": (SMALL, SMALL, SMALL, (564, 0)),
}


@pytest.mark.parametrize(("screen", "window", "view", "corner"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_dialog_stands_beside_the_view_or_else_furthest_from_its_centre(
    screen: QRect, window: QRect, view: QRect, corner: tuple[int, int]
) -> None:
    place = QRect(find_corner(DIALOG, screen, window, view, NONE), DIALOG)

    assert (place.left(), place.top()) == corner
    assert screen.contains(place)


def test_where_there_is_no_room_beside_the_view_the_text_that_is_typed_stays_free() -> None:
    typing = QRect(600, 20, 300, 30)

    place = QRect(find_corner(DIALOG, SMALL, SMALL, SMALL, typing), DIALOG)

    assert not place.intersects(typing)


@pytest.mark.parametrize(
    ("size", "corner"), [(QSize(200, 900), (1500, 100)), (QSize(460, 340), (1400, 60))]
)
def test_a_question_stays_in_the_place_of_the_last_one_if_it_fits_there(
    size: QSize, corner: tuple[int, int]
) -> None:
    screen, window, view, _ = LAYOUTS["over wide docks"]

    found = find_corner(size, screen, window, view, NONE, QPoint(1500, 100))

    assert (found.x(), found.y()) == corner


def test_a_larger_question_stays_in_the_corner_of_the_last_one() -> None:
    last = find_corner(QSize(300, 200), SMALL, SMALL, SMALL, QRect(0, 0, 1024, 250))

    place = QRect(find_corner(DIALOG, SMALL, SMALL, SMALL, NONE, last), DIALOG)

    assert last == QPoint(0, 400)
    assert place.bottomLeft() == SMALL.bottomLeft()


def test_a_question_larger_than_the_screen_begins_at_its_top() -> None:
    corner = find_corner(QSize(1200, 700), SMALL, SMALL, SMALL, NONE)

    assert (corner.x(), corner.y()) == (0, 0)


def test_questions_come_where_the_person_moved_the_first_one(stage: Stage) -> None:
    heard, _ = stage.show(consent("First?"))
    stage.show(ask_name("Second?"))
    stage.dialog.move(131, 87)
    click(stage.dialog.exits.decline)
    until(lambda: heard)

    assert stage.dialog.question.message == "Second?"
    assert stage.dialog.pos() == QPoint(131, 87)


def show_facts(dialog: Any) -> None:
    dialog.header.about.click()


def say_why(dialog: Any) -> None:
    dialog.exits.with_reason.trigger()


@pytest.mark.parametrize("grow", [show_facts, say_why])
def test_a_question_grows_only_downwards(stage: Stage, grow: Callable[[Any], None]) -> None:
    stage.show(consent("Delete?", items=tuple("abc")))
    dialog = stage.dialog
    dialog.move(131, 87)
    before = dialog.frameGeometry()
    fitted: list[bool] = []
    dialog.fitted.connect(lambda: fitted.append(True))

    grow(dialog)
    until(lambda: fitted)

    after = dialog.frameGeometry()
    assert (after.topLeft(), after.width()) == (before.topLeft(), before.width())
    assert after.height() > before.height()


@pytest.mark.parametrize("grow", [show_facts, say_why])
def test_a_question_at_the_bottom_of_the_screen_stays_on_it(
    stage: Stage, grow: Callable[[Any], None]
) -> None:
    stage.show(consent("Delete?", items=tuple("abc")))
    dialog = stage.dialog
    screen = dialog.screen().availableGeometry()
    dialog.move(0, screen.bottom() - dialog.frameGeometry().height() + 1)
    fitted: list[bool] = []
    dialog.fitted.connect(lambda: fitted.append(True))

    grow(dialog)
    until(lambda: fitted)

    assert screen.contains(dialog.frameGeometry())
    assert dialog.x() == 0
    assert dialog.rect().contains(dialog.exits.geometry())


def test_a_question_that_was_moved_off_the_screen_comes_back_to_it(stage: Stage) -> None:
    heard, _ = stage.show(consent("First?"))
    stage.show(ask_name("Second?"))
    stage.dialog.move(750, 760)
    click(stage.dialog.exits.decline)
    until(lambda: heard)

    screen = stage.window.screen().availableGeometry()
    assert screen.contains(stage.dialog.frameGeometry())


def test_two_questions_in_a_row_stand_in_one_place_beside_the_view(stage: Stage) -> None:
    view = QWidget()
    stage.window.setCentralWidget(view)
    stage.window.setGeometry(0, 0, 200, 700)
    heard, _ = stage.show(consent("First?"))
    stage.show(consent("Second?"))
    first = stage.dialog.frameGeometry()
    click(stage.dialog.exits.decline)
    until(lambda: heard)

    assert stage.dialog.pos() == first.topLeft()
    assert not first.intersects(QRect(view.mapToGlobal(QPoint()), view.size()))
