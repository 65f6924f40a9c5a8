"""The desktop's own notification of a question, for a person who works elsewhere. Main thread.

Qt sends it from an icon in the desktop's tray, which is there for as long as the notification is
true. It has no sound of ours.
"""

from __future__ import annotations

from collections.abc import Callable

from dcc_bridge.qt import binding as qt


class DesktopNotice(qt.QObject):
    """The notification that a question waits, one at a time."""

    def __init__(self) -> None:
        super().__init__()
        self._tray: qt.QSystemTrayIcon | None = None

    def show(self, title: str, text: str, icon: qt.QIcon, clicked: Callable[[], None]) -> None:
        """Show a notification, unless the application is in front or the desktop has no tray.

        Args:
            title: The heading.
            text: The sentence.
            icon: The icon in the tray.
            clicked: Called when the person clicks the notification.
        """
        self.clear()
        active = qt.Qt.ApplicationState.ApplicationActive
        if qt.QGuiApplication.applicationState() == active:
            return
        if not qt.QSystemTrayIcon.isSystemTrayAvailable():
            return
        if icon.isNull():  # Qt shows no tray icon without a picture
            question = qt.QStyle.StandardPixmap.SP_MessageBoxQuestion
            icon = qt.QApplication.style().standardIcon(question)
        tray = qt.QSystemTrayIcon(icon, self)
        tray.messageClicked.connect(lambda: clicked())
        tray.activated.connect(lambda reason: clicked())
        tray.show()
        tray.showMessage(title, text, qt.QSystemTrayIcon.MessageIcon.NoIcon)
        self._tray = tray

    def clear(self) -> None:
        """Take the notification and its icon away."""
        tray = self._tray
        self._tray = None
        if tray is not None and qt.isValid(tray):
            tray.hide()
            tray.deleteLater()
