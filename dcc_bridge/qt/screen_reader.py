"""Tells a screen reader more of our widgets than their names. Main thread.

A screen reader speaks as the focus moves. `announce` has it say what happens elsewhere in a window,
and `TextLine` and `RowReader` have it read a line of text, and a row of a list, on Linux too.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.labels import tr

_Reason: Final = qt.Qt.FocusReason
_SELECTING: Final = (
    _Reason.TabFocusReason,
    _Reason.BacktabFocusReason,
    _Reason.ShortcutFocusReason,
)


def announce(widget: qt.QWidget, text: str, *, is_urgent: bool = False) -> None:
    """Have a screen reader say a text, wherever the focus is. It raises nothing.

    Before Qt 6.8 the screen reader is told only that the widget has something to say, and reads the
    accessible name of the widget.

    Args:
        widget: The widget that the text is about.
        text: The text.
        is_urgent: Whether the screen reader breaks off what it says, in place of waiting.
    """
    if hasattr(qt, "QAccessibleAnnouncementEvent"):
        announcement = qt.QAccessibleAnnouncementEvent(widget, text)
        if is_urgent:
            announcement.setPoliteness(qt.QAccessible.AnnouncementPoliteness.Assertive)
        qt.QAccessible.updateAccessibility(announcement)
    else:
        alert = qt.QAccessibleEvent(widget, qt.QAccessible.Event.Alert)
        qt.QAccessible.updateAccessibility(alert)


class TextLine(qt.QLineEdit):
    """A line of text that a screen reader reads as it gets the focus."""

    def __init__(self, name: str = "", *, hint: str = "", is_clearable: bool = False) -> None:
        """Make an empty line.

        Args:
            name: The name for a screen reader.
            hint: The text that stands in the line while it is empty.
            is_clearable: Whether a button in the line clears it.
        """
        super().__init__()
        self._selection = qt.QTimer(self, singleShot=True)  # active until the text is selected
        self._selection.timeout.connect(self._select)
        self.setAccessibleName(name)
        self.setPlaceholderText(hint)
        self.set_clearable(is_clearable)

    def set_clearable(self, is_clearable: bool) -> None:
        """Have a button in the line that clears it, or none."""
        self.setClearButtonEnabled(is_clearable)
        for button in self.findChildren(qt.QToolButton):
            button.setAccessibleName(tr("Clear"))

    def focusInEvent(self, event: qt.QFocusEvent) -> None:
        """Select the text, for a screen reader only once Qt has told it of the focus.

        `QLineEdit` selects the text before that (6.11). Orca then takes the line for one that it
        has read, and says nothing of it (43).
        """
        if event.reason() in _SELECTING and qt.QAccessible.isActive():
            self._selection.start(0)
            event = qt.QFocusEvent(event.type(), _Reason.OtherFocusReason)
        super().focusInEvent(event)

    def keyPressEvent(self, event: qt.QKeyEvent) -> None:
        """Select the text before a key that comes as soon as the focus: the key replaces it."""
        if self._selection.isActive():
            self._select()
        super().keyPressEvent(event)

    @qt.Slot()
    def _select(self) -> None:
        self._selection.stop()
        if self.hasFocus():
            self.selectAll()


class RowReader(qt.QObject):
    """Has a screen reader read the current row of a view as the view gets the focus.

    Qt tells of the row first, and then of the view (6.11), so that Orca names the view alone (43).
    """

    def __init__(self, view: qt.QListView | qt.QTreeView) -> None:
        super().__init__(view)
        self._view = view
        self._reading = qt.QTimer(self, singleShot=True)
        self._reading.timeout.connect(self._read)
        application = qt.QApplication.instance()
        if isinstance(application, qt.QGuiApplication):
            application.focusObjectChanged.connect(self._look)

    @qt.Slot(qt.QObject)
    def _look(self, focused: qt.QObject | None) -> None:
        if focused is self._view and qt.QAccessible.isActive():
            self._reading.start(0)

    @qt.Slot()
    def _read(self) -> None:
        index = self._view.currentIndex()
        if self._view.hasFocus() and index.isValid():
            self._view.currentChanged(index, index)  # tells of the row, and changes nothing
