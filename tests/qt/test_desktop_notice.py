"""Who works in another application hears of a question by the desktop's own notification."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QSystemTrayIcon

from .stage import Stage, click, consent, until

ACTIVE = Qt.ApplicationState.ApplicationActive
INACTIVE = Qt.ApplicationState.ApplicationInactive


class Desktop:
    """A desktop with a tray, or without."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.has_tray = True
        self.state = INACTIVE
        self.said: list[tuple[str, str]] = []
        self.icons: list[Any] = []
        self.hidden = 0

        def show(tray: Any) -> None:
            self.icons.append(tray)

        def hide(tray: Any) -> None:
            self.hidden += 1

        def say(tray: Any, title: str, text: str, *more: Any) -> None:
            self.said.append((title, text))

        patch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: self.has_tray)
        patch.setattr(QSystemTrayIcon, "show", show)
        patch.setattr(QSystemTrayIcon, "hide", hide)
        patch.setattr(QSystemTrayIcon, "showMessage", say)
        patch.setattr(QGuiApplication, "applicationState", lambda: self.state)


@pytest.fixture
def desktop(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Desktop:
    stage.window.activateWindow()
    until(stage.window.isActiveWindow)  # else Qt gives the keyboard to the dialog
    return Desktop(monkeypatch)


def test_it_says_who_asks_and_what_and_a_click_leads_there(stage: Stage, desktop: Desktop) -> None:
    stage.show(consent("Delete 127 cameras?\nAll of them."))
    dialog = stage.dialog
    (tray,) = desktop.icons

    tray.messageClicked.emit()

    assert desktop.said == [(dialog.windowTitle(), "Delete 127 cameras?")]
    assert not tray.icon().isNull()
    assert dialog.gate._is_entered
    assert desktop.hidden == 1  # the person is there


def test_it_goes_with_its_question(stage: Stage, desktop: Desktop) -> None:
    heard, _ = stage.show(consent())

    click(stage.dialog.exits.decline)
    until(lambda: heard)

    assert desktop.hidden == len(desktop.icons) == 1


@pytest.mark.parametrize(("state", "has_tray"), [(ACTIVE, True), (INACTIVE, False)])
def test_nothing_is_said_in_front_of_the_application_or_without_a_tray(
    state: Qt.ApplicationState, has_tray: bool, stage: Stage, desktop: Desktop
) -> None:
    desktop.state = state
    desktop.has_tray = has_tray

    stage.show(consent())
    until(lambda: stage.presenter.dialogs)

    assert desktop.said == []
