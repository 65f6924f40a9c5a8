"""The text that a question is about: read whole, searched, copied, and what differs first."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from dcc_bridge.elicitation.details import Details, details_view
from dcc_bridge.qt.details_view import DetailsBox
from dcc_bridge.qt.labels import Mnemonics

from .contrasts import contrast, dark, light
from .stage import ask_name, consent, drawn, press, until, words

BEFORE = "\n".join(f"value_{number} = {number}" for number in range(1, 41))
AFTER = BEFORE.replace("value_20 = 20", "remove(it)")
MARKS = ((3, "writes a file"), (20, "removes objects"))


def box(details: Details, **more: Any) -> tuple[Any, DetailsBox, list[Any]]:
    dialog, heard = drawn(consent(details=details, **more))
    return dialog, dialog.details, heard


def test_all_of_a_text_is_there_and_can_only_be_read() -> None:
    dialog, details, _ = box(Details(AFTER, MARKS))

    assert details.lines.toPlainText() == AFTER
    assert details.lines.isReadOnly()
    assert "40 lines" in words(dialog)
    assert not details.switch.isVisible()


def test_markup_in_a_text_is_text_and_nothing_in_it_is_hidden() -> None:
    _dialog, details, _ = box(Details("<b>x</b>\n\u202ey\tz" + " " * 500 + "os.remove()"))

    shown = details.lines.toPlainText()
    assert shown.startswith("<b>x</b>\n‹U+202E›y    z")  # noqa: RUF001 - ours
    assert details.lines.horizontalScrollBar().maximum() == 0


def test_what_differs_is_shown_first_and_the_whole_text_at_a_click() -> None:
    dialog, details, _ = box(Details(AFTER, MARKS, BEFORE))
    first = details.lines.toPlainText().split("\n")

    details.switch.click()

    assert "1 line differs from the text approved last" in words(dialog)
    assert first[4:6] == ["value_20 = 20", "remove(it)"]
    assert len(first) == 10
    assert details.lines.toPlainText() == AFTER
    details.switch.click()
    assert details.lines.toPlainText().split("\n") == first


def test_a_chosen_reason_shows_its_line_also_where_only_what_differs_is_seen() -> None:
    _dialog, details, _ = box(Details(AFTER, MARKS, BEFORE))
    reasons = [details.reasons.item(row).text() for row in range(details.reasons.count())]

    details.reasons.setCurrentRow(1)
    differing = details.lines.textCursor().block().text()
    details.reasons.setCurrentRow(0)

    assert reasons == ["line 3: writes a file", "line 20: removes objects"]
    assert differing == "remove(it)"
    assert details.lines.textCursor().block().text() == "value_3 = 3"


def test_a_text_is_searched_by_keys_and_enter_agrees_to_nothing() -> None:
    dialog, details, heard = box(Details(AFTER))
    seen = []

    QTest.qWaitForWindowActive(dialog)
    QTest.keyClick(dialog, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    focused = dialog.focusWidget()
    QTest.keyClicks(details.search, "_1")
    for _ in range(12):
        press(details.search, Qt.Key.Key_Return)
        seen.append(details.lines.textCursor().block().text())

    assert focused is details.search
    assert seen[:2] == [*seen[11:], "value_10 = 10"]  # after the last one comes the first
    assert heard == []


def test_what_is_copied_is_what_is_shown(app: QApplication) -> None:
    _dialog, details, _ = box(Details(AFTER, (), BEFORE))

    details.copy.click()

    assert app.clipboard().text() == AFTER


def test_reading_holds_the_countdown_and_the_way_to_agree_is_what_it_was() -> None:
    dialog, details, _ = box(Details(AFTER), undoable=False)
    before = dialog.countdown._last_touch

    bar = details.lines.verticalScrollBar()
    bar.setValue(bar.maximum())

    assert dialog.countdown._last_touch > before
    assert dialog.exits.cancel.isDefault()
    assert dialog.focusWidget() is dialog.exits.cancel
    assert dialog.name is not None


def test_each_part_has_a_name_and_the_marks_are_told_to_who_cannot_see_them() -> None:
    _dialog, details, _ = box(Details(AFTER, MARKS, BEFORE))

    parts = (details.lines, details.search, details.reasons)
    assert all(part.accessibleName() for part in parts)
    assert "line 20: removes objects" in details.lines.accessibleDescription()
    assert "+ remove(it)" in details.lines.accessibleDescription()
    assert all(part.focusPolicy() & Qt.FocusPolicy.TabFocus for part in parts)
    assert details.lines.tabChangesFocus()


@pytest.mark.parametrize("palette", [dark, light])
def test_each_kind_of_line_can_be_told_and_read_on_any_ground(
    app: QApplication, request: pytest.FixtureRequest, palette: Any
) -> None:
    before = app.palette()
    request.addfinalizer(lambda: app.setPalette(before))
    app.setPalette(palette())
    _dialog, details, _ = box(Details(AFTER, ((22, "why"),), BEFORE))
    picture = details.lines.viewport().grab().toImage()
    right = picture.width() - 2

    areas = [(row.sign, area) for row, area in details.lines.visible_rows()]
    grounds = {QColor(picture.pixel(right, area.center().y())).name() for _, area in areas[:9]}

    assert len(grounds) == 4
    assert palette().color(QPalette.ColorRole.Base).name() in grounds
    assert all(contrast(picture, area) > 4.5 for _, area in areas[:9])


def test_a_form_may_have_a_text_too() -> None:
    dialog, _ = drawn(ask_name(details=Details(AFTER)))

    assert dialog.details is not None
    assert dialog.details is not None
    assert dialog.focusWidget() is dialog.form.rows[0].editor


def test_tab_goes_through_a_text_in_the_order_in_which_it_is_read_and_out_of_it() -> None:
    dialog, details, _ = box(Details(AFTER, MARKS, BEFORE))
    QTest.qWaitForWindowActive(dialog)
    details.search.setFocus()
    order = [details.switch, details.copy, details.lines, details.reasons]
    reached = []
    for _ in (*order, "an answer"):
        focused = dialog.focusWidget()
        assert focused is not None
        press(focused, Qt.Key.Key_Tab)
        reached.append(dialog.focusWidget())

    assert reached[:-1] == order
    assert reached[-1] in dialog.exits.findChildren(QPushButton)


def test_a_text_is_scrolled_and_selected_by_keys_alone(app: QApplication) -> None:
    dialog, details, heard = box(Details(AFTER))
    QTest.qWaitForWindowActive(dialog)
    details.lines.setFocus()
    shift = Qt.KeyboardModifier.ShiftModifier

    press(details.lines, Qt.Key.Key_PageDown)
    scrolled = details.lines.verticalScrollBar().value()
    press(details.lines, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    press(details.lines, Qt.Key.Key_End, shift)
    press(details.lines, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)

    assert scrolled > 0
    assert app.clipboard().text() == "value_1 = 1"
    assert heard == []


def test_why_a_line_is_marked_is_read_whole_however_narrow_it_is() -> None:
    why = "removes objects, and all that hangs below them: " + "bpy.data.objects.remove " * 4
    details = DetailsBox(details_view(Details(AFTER, ((20, why),))), Mnemonics())
    details.resize(300, 400)
    details.show()
    until(lambda: details.rect().contains(details.reasons.geometry()))

    item = details.reasons.item(0)
    area = details.reasons.visualItemRect(item)
    wrap = Qt.TextFlag.TextWordWrap
    text = details.fontMetrics().boundingRect(QRect(0, 0, area.width(), 999), wrap, item.text())
    assert text.height() > 2 * details.fontMetrics().lineSpacing()
    assert area.height() >= text.height()
    assert details.reasons.viewport().height() >= text.height()
