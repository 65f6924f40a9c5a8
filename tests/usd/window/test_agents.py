"""The panel is part of our own application: docked, in the View menu, reached by a key."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDockWidget, QTabBar

from dcc_bridge.qt.panel.panel import Panel
from dcc_bridge_usd.window.main_window import MainWindow
from tests.pictures import code_run
from tests.qt.contrasts import unseen
from tests.qt.desk import Desk
from tests.qt.stage import until
from tests.qt.test_panel import activate

SMALL = QSize(1024 - 12, 600 - 48)  # what a window manager's frame leaves of such a screen


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.close()


@pytest.fixture
def dock(window: MainWindow, desk: Desk) -> QDockWidget:
    dock = window.add_agents(
        desk.panel, desk.presenter.enter, desk.panel.enter, desk.panel.enter_clients
    )
    until(desk.panel.isVisible)
    return dock


def has_focus(dock: QDockWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and dock.isAncestorOf(focused)


def test_it_is_seen_from_the_beginning_and_takes_no_focus(
    window: MainWindow, dock: QDockWidget
) -> None:
    panel = dock.widget()

    assert panel.isVisible()
    assert panel.height() > 300
    assert not has_focus(dock)
    assert "A&gents" in [action.text() for action in window.commands.view.actions()]


def test_no_tab_of_the_panel_is_named_as_a_dock_of_the_window(
    window: MainWindow, dock: QDockWidget
) -> None:
    docks = [other.windowTitle() for other in window.findChildren(QDockWidget) if other != dock]
    bars = dock.widget().findChildren(QTabBar)
    tabs = [bar.tabText(index) for bar in bars for index in range(bar.count())]

    assert tabs
    assert sorted(docks) == ["Details", "Outliner", "Undo steps"]
    assert not set(tabs) & set(docks)


def test_its_key_goes_there_and_hides_it_and_shows_it_again(
    window: MainWindow, dock: QDockWidget
) -> None:
    activate(window)
    QTest.keyClick(window, Qt.Key.Key_F8)
    assert has_focus(dock)

    QTest.keyClick(window, Qt.Key.Key_F8)
    assert dock.isHidden()

    QTest.keyClick(window, Qt.Key.Key_F8)
    assert dock.widget().isVisible()
    assert has_focus(dock)


def test_its_key_leads_into_the_question_that_is_drawn_wherever_the_dock_is(
    window: MainWindow, dock: QDockWidget, desk: Desk
) -> None:
    desk.ask("Delete 127 cameras?", desk.call("Delete prims", "destructive")[0])
    dialog = desk.dialog

    for leave in (dock.hide, desk.panel.enter):
        activate(window)
        leave()
        QTest.keyClick(window, Qt.Key.Key_F8)
        until(dialog.isActiveWindow)
        assert dialog.isVisible()

    assert dock.isHidden()


def test_the_window_fits_a_screen_of_1024_by_600_whatever_the_panel_shows(
    window: MainWindow, dock: QDockWidget, desk: Desk
) -> None:
    desk.furnish()
    desk.ended("Ran 17 lines of code", "done", "destructive", by="host", code=code_run())
    desk.broker.audience.limits.mute("cursor")
    desk.pause()
    desk.panel.refresh()
    desk.panel.history.list.setCurrentIndex(desk.panel.history.model.index(0, 0))
    until(desk.panel.history.card.isVisible)

    window.resize(SMALL)

    until(lambda: window.size() == SMALL)
    least = window.minimumSizeHint()
    assert least.width() <= SMALL.width()
    assert least.height() <= SMALL.height()
    assert window.rect().contains(dock.geometry())


def test_every_control_of_the_window_can_be_seen(window: MainWindow, dock: QDockWidget) -> None:
    """Its outline has a contrast of 3 to 1, measured in a picture of it."""
    window.resize(1400, 1000)
    until(dock.isVisible)

    assert unseen(window, window.grab().toImage()) == []


def test_the_menu_leads_to_the_clients_that_can_be_connected_also_where_the_dock_was_hidden(
    window: MainWindow, dock: QDockWidget
) -> None:
    panel = dock.widget()
    assert isinstance(panel, Panel)
    dock.hide()
    (action,) = [
        action for action in window.commands.view.actions() if action.text() == "&Connect a Client…"
    ]

    action.trigger()

    until(lambda: panel.clients.isVisible())
    until(lambda: panel.state is not None and panel.state.local.step == "done")
