"""What waits elsewhere is said in a corner of the host's window, quietly."""

from __future__ import annotations

import shiboken6
from PySide6.QtCore import QPoint, QRect, Qt, QTimer
from PySide6.QtWidgets import QApplication, QDockWidget, QLabel, QWidget

from dcc_bridge.qt import notifications

from .desk import Desk
from .stage import Stage, ask_name, click, consent, elsewhere, until, words
from .test_panel import docked


def chips(stage: Stage, *messages: str) -> list[notifications.Notification]:
    """Say of questions that they wait elsewhere, and give their chips."""
    for message in messages or ("Which shot?",):
        stage.presenter.chip(ask_name(message), "x", lambda: None, lambda: None)
    until(lambda: len(stage.presenter.notifications.visible) == len(messages or " "))
    return list(stage.presenter.notifications.visible)


def test_a_chip_says_what_waits_where_and_its_buttons_act(stage: Stage) -> None:
    acted: list[str] = []
    stage.presenter.chip(
        ask_name("Which shot?\nmore"),
        "Claude Code",
        lambda: acted.append("here"),
        lambda: acted.append("cancel"),
    )
    until(lambda: stage.presenter.notifications.visible)
    (chip,) = stage.presenter.notifications.visible

    for button in chip.buttons:
        click(button)

    assert chip.text == "Waiting in Claude Code: Which shot?"
    assert acted == ["here", "cancel"]


def test_a_chip_is_taken_away_from_any_thread_and_at_any_time(stage: Stage) -> None:
    take_away = [
        stage.presenter.chip(ask_name(f"{n}?"), "x", lambda: None, lambda: None) for n in range(3)
    ]
    until(lambda: len(stage.presenter.notifications.visible) == 3)

    until(elsewhere(lambda: take_away[1]("answered")).done)
    take_away[1]("again")
    until(lambda: len(stage.presenter.notifications.visible) == 2)

    assert [chip.text for chip in stage.presenter.notifications.visible] == [
        "Waiting in x: 0?",
        "Waiting in x: 2?",
    ]


def test_a_chip_takes_no_focus_and_lies_over_the_corner_of_the_window(stage: Stage) -> None:
    stage.window.activateWindow()
    (chip,) = chips(stage)

    assert chip.windowFlags() & Qt.WindowType.WindowDoesNotAcceptFocus
    assert chip.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    assert stage.window.frameGeometry().contains(chip.frameGeometry())


def test_of_several_chips_the_newest_is_drawn_with_the_number_of_the_others(stage: Stage) -> None:
    every = chips(stage, "0?", "1?", "2?")
    drawn = [chip.isVisible() for chip in every]
    said = words(every[2])

    stage.presenter.notifications.remove(every[2])

    assert drawn == [False, False, True]
    assert said == "Waiting in x: 2? (and 2 more)"
    assert [chip.isVisible() for chip in every[:2]] == [False, True]
    assert words(every[1]) == "Waiting in x: 1? (and 1 more)"


def test_a_chip_covers_no_dialog_of_ours(stage: Stage) -> None:
    stage.window.resize(620, 420)
    stage.show(consent())
    dialog = stage.dialog
    area = stage.window.frameGeometry()
    dialog.move(area.right() - dialog.width(), area.bottom() - dialog.height())

    stage.presenter.chip(ask_name(), "x", lambda: None, lambda: None)
    until(lambda: stage.presenter.notifications.visible[-1:])
    until(lambda: stage.presenter.notifications.visible[-1].text.startswith("Waiting"))

    chip = stage.presenter.notifications.visible[-1]
    assert chip.isVisible()
    assert not chip.frameGeometry().intersects(dialog.frameGeometry())


def test_a_chip_covers_no_button_of_the_panel_in_a_wide_dock(desk: Desk) -> None:
    desk.window.setCentralWidget(QWidget())
    dock = docked(desk)
    desk.window.resize(1000, 600)
    desk.window.resizeDocks([dock], [420], Qt.Orientation.Horizontal)
    until(lambda: desk.panel.isVisible() and 380 < desk.panel.width() < 480)

    desk.presenter.chip(ask_name(), "x", lambda: None, lambda: None)
    until(lambda: desk.presenter.notifications.visible)

    (chip,) = desk.presenter.notifications.visible
    panel = QRect(desk.panel.mapToGlobal(QPoint()), desk.panel.size())
    assert not chip.frameGeometry().intersects(panel)


def test_where_a_small_window_has_no_free_corner_a_notice_goes_to_one_of_the_screen(
    stage: Stage,
) -> None:
    stage.window.resize(560, 400)
    stage.show(consent())
    dialog = stage.dialog
    dialog.setGeometry(stage.window.frameGeometry())

    stage.presenter.notice("claude-code asks too often.")
    until(lambda: stage.presenter.notifications.visible)

    (notice,) = stage.presenter.notifications.visible
    assert not notice.frameGeometry().intersects(dialog.frameGeometry())
    assert notice.screen().availableGeometry().contains(notice.frameGeometry())


def test_a_chip_fits_into_a_narrow_window(stage: Stage) -> None:
    stage.window.resize(320, 420)

    (chip,) = chips(stage, "Which of the many shots of the sequence should be rendered next?")

    assert stage.window.frameGeometry().contains(chip.frameGeometry())


def test_a_chip_leaves_the_status_bar_to_be_read(stage: Stage) -> None:
    bar = stage.window.statusBar()
    bar.showMessage("saved")
    until(bar.isVisible)

    (chip,) = chips(stage)

    assert chip.frameGeometry().bottom() < bar.mapToGlobal(bar.rect().topLeft()).y()


def test_a_notice_leaves_the_buttons_of_a_dock_at_the_right_to_be_clicked(stage: Stage) -> None:
    """The panel's own undo is at the foot of such a dock."""
    stage.window.setCentralWidget(QWidget())
    docks = [QDockWidget(), QDockWidget()]
    areas = (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)
    for dock, area in zip(docks, areas, strict=True):
        dock.setWidget(QLabel("Undo"))
        stage.window.addDockWidget(area, dock)
    until(docks[1].isVisible)

    (chip,) = chips(stage)

    right = docks[1].mapToGlobal(docks[1].rect().topLeft()).x()
    assert docks[0].width() < chip.frameGeometry().left() < chip.frameGeometry().right() < right


def test_a_chip_has_the_ground_that_a_style_sheet_gives_to_dialogs(stage: Stage) -> None:
    """Those of FreeCAD give a colour to every text, and a ground to dialogs alone."""
    stage.window.setStyleSheet("QDialog { background-color: #232932 }")

    (chip,) = chips(stage)

    picture = chip.grab().toImage()
    assert picture.pixelColor(picture.width() // 2, 4).name() == "#232932"


def test_a_chip_follows_the_window(stage: Stage) -> None:
    (chip,) = chips(stage)
    before = chip.pos()

    stage.window.resize(stage.window.width() - 200, stage.window.height() - 100)

    until(lambda: chip.pos() != before)
    assert stage.window.frameGeometry().contains(chip.frameGeometry())


def test_a_notice_goes_by_itself(stage: Stage) -> None:
    elsewhere(lambda: stage.presenter.notice("claude-code asks too often.\u202e"))
    until(lambda: stage.presenter.notifications.visible)
    text = stage.presenter.notifications.visible[0].text
    timer = stage.presenter.notifications.visible[0].findChild(QTimer)
    assert timer is not None
    seconds = timer.interval() / 1000
    timer.start(0)  # eight seconds are long for a test
    until(lambda: not stage.presenter.notifications.visible)

    assert text == "claude-code asks too often.\u2039U+202E\u203a"
    assert seconds == 8.0


def test_a_notice_gives_the_id_of_its_call_to_who_looks_closer(
    stage: Stage, app: QApplication
) -> None:
    stage.presenter.notice("Delete prims: done for Claude Code", lambda: None, "3c0ffee")
    stage.presenter.notice("in passing")
    until(lambda: len(stage.presenter.notifications.visible) == 2)
    chip, other = stage.presenter.notifications.visible
    assert (chip.toolTip(), other.toolTip(), other.menu) == ("Call 3c0ffee", "", None)
    assert chip.menu is not None

    chip.customContextMenuRequested.emit(chip.rect().center())
    until(chip.menu.isVisible)
    chip.menu.copy.trigger()

    assert app.clipboard().text() == "3c0ffee"


def test_a_chip_whose_window_goes_is_no_trouble(stage: Stage) -> None:
    take_away = stage.presenter.chip(ask_name(), "x", lambda: None, lambda: None)
    until(lambda: stage.presenter.notifications.visible)

    shiboken6.delete(stage.window)
    take_away("answered")
    heard, _ = stage.show(consent())
    click(stage.dialog.exits.decline)
    until(lambda: heard)

    assert stage.presenter.notifications.visible == []


def test_close_deletes_the_chips(stage: Stage) -> None:
    (chip,) = chips(stage)

    stage.presenter.close()

    assert not shiboken6.isValid(chip)
