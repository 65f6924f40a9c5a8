"""The scene now and afterwards is seen side by side, reached by Tab and read by a screen reader."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QRect, Qt
from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtWidgets import QApplication

from dcc_bridge.elicitation.question import Picture
from dcc_bridge.qt.outlines import contrast, losing_colours
from dcc_bridge.qt.pictures_view import Pictures

from .contrasts import png
from .stage import click, consent, drawn, go_to, press

NOW = Picture(png("#d02020"), "Now: 3 boxes, marked")
AFTER = Picture(png("#20d020"), "After")


def shown(width: int, *pictures: Picture) -> Pictures:
    """Draw pictures in a width, as high as they want to be."""
    view = Pictures(pictures)
    view.resize(width, view.heightForWidth(width))
    view.show()
    QCoreApplication.processEvents()
    return view


def area_of(frame: Any, colour: str) -> QRect:
    """Return the place at which a frame has a colour."""
    image: QImage = frame.grab().toImage()
    wanted = QColor(colour).rgb()
    points = [
        (x, y)
        for x in range(image.width())
        for y in range(image.height())
        if image.pixel(x, y) == wanted
    ]
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    return QRect(left, top, right - left + 1, bottom - top + 1)


def test_in_a_wide_dialog_the_pictures_stand_side_by_side(app: QApplication) -> None:
    view = shown(600, NOW, AFTER)
    now, after = view.pictures

    assert now.y() == after.y()
    assert now.geometry().right() < after.x()
    assert now.size() == after.size()


def test_in_a_narrow_dialog_they_stand_below_each_other(app: QApplication) -> None:
    view = shown(200, NOW, AFTER)
    now, after = view.pictures

    assert now.x() == after.x()
    assert now.geometry().bottom() < after.y()
    assert view.rect().contains(after.geometry())


@pytest.mark.parametrize("width", [200, 420, 600, 1200])
def test_a_picture_keeps_its_shape_and_is_whole(app: QApplication, width: int) -> None:
    view = shown(width, NOW, AFTER)
    now, _ = view.pictures

    area = area_of(now, "#d02020")

    assert area.width() / area.height() == pytest.approx(480 / 360, rel=0.05)
    assert now.rect().contains(area)


def test_from_right_to_left_now_stands_at_the_right(
    app: QApplication, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: app.setLayoutDirection(Qt.LayoutDirection.LeftToRight))
    app.setLayoutDirection(Qt.LayoutDirection.RightToLeft)

    view = shown(600, NOW, AFTER)
    now, after = view.pictures

    assert after.geometry().right() < now.x()


def test_tab_reaches_each_picture_first_and_its_name_says_what_it_shows() -> None:
    dialog, heard = drawn(consent(items=tuple("abc"), pictures=(NOW, AFTER)))
    go_to(dialog)
    dialog.header.about.setFocus()

    reached = []
    for _ in range(2):
        press(dialog.focusWidget(), Qt.Key.Key_Tab)
        reached.append(dialog.focusWidget())

    assert reached == dialog.pictures.pictures
    assert [frame.accessibleName() for frame in reached] == [NOW.says, AFTER.says]
    assert heard == []


@pytest.mark.parametrize("key", [None, Qt.Key.Key_Return, Qt.Key.Key_Space])
def test_a_click_or_a_key_shows_a_picture_large_and_esc_closes_only_that(
    key: Qt.Key | None,
) -> None:
    dialog, heard = drawn(consent(items=tuple("abc"), pictures=(NOW, AFTER)))
    go_to(dialog)
    view = dialog.pictures
    _, after = view.pictures

    if key is None:
        click(after)
    else:
        after.setFocus()
        press(after, key)
    large = view.large
    is_shown = large.isVisible()
    size = large.size()
    press(large, Qt.Key.Key_Escape)

    assert is_shown
    assert large.windowTitle() == large.picture.accessibleName() == AFTER.says
    assert size.width() > 2 * after.width()
    assert size.width() / size.height() == pytest.approx(480 / 360, rel=0.02)
    assert large.screen().availableGeometry().size().expandedTo(size) == (
        large.screen().availableGeometry().size()
    )
    assert not large.isVisible()
    assert dialog.isVisible()
    assert heard == []


def test_a_click_on_a_large_picture_leaves_it_over_the_buttons_of_its_question() -> None:
    dialog, heard = drawn(consent(items=tuple("abc"), pictures=(NOW,)))
    click(dialog.pictures.pictures[0])

    click(dialog.pictures.large)

    assert dialog.pictures.large.isVisible()
    assert heard == []


def test_one_window_shows_each_picture_large_and_ends_with_its_question() -> None:
    dialog, _ = drawn(consent(items=tuple("abc"), pictures=(NOW, AFTER)))
    now, after = dialog.pictures.pictures
    click(now)
    first = dialog.pictures.large

    click(after)
    second = dialog.pictures.large
    title = second.windowTitle()
    dialog.dismiss()

    assert second is first
    assert title == AFTER.says
    assert not second.isVisible()


def test_without_pictures_and_for_one_that_cannot_be_read_nothing_is_drawn() -> None:
    plain, _ = drawn(consent(items=tuple("abc")))
    broken, _ = drawn(consent(items=tuple("abc"), pictures=(Picture(b"no picture", "Now"),)))

    assert plain.pictures is None
    assert broken.pictures.pictures == []
    assert broken.pictures.height() == 0


@pytest.mark.parametrize("ground", ["black", "#26282d", "#44474d", "#777", "#efefef", "white"])
def test_a_red_button_is_read_and_stands_out_on_any_ground(app: QApplication, ground: str) -> None:
    palette = QPalette(QColor(ground))

    colours = losing_colours(palette)

    assert contrast(colours.ink, colours.fill) >= 4.5
    assert contrast(colours.edge, QColor(ground)) >= 3.0
