"""The bar that offers to keep or undo what agents did without a question. Main thread.

The bar lies in the corner of the host's window, below the notifications, takes no focus and waits
until the person keeps or undoes the edits. It is hidden while another step is the last, and while
the panel can be seen, which has the same row at its foot, where the keyboard reaches it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dcc_bridge.panel import pressing, rows
from dcc_bridge.panel.pending import is_pending, is_unasked
from dcc_bridge.panel.row import Row
from dcc_bridge.panel.state import Port, read
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.event_loop import DeferredDeletion
from dcc_bridge.qt.labels import plain_column, tr
from dcc_bridge.qt.notifications import Notifications, QuietWindow
from dcc_bridge.qt.outlines import draw_outlines
from dcc_bridge.qt.panel.cards import Card
from dcc_bridge.qt.screen_reader import announce

_REFRESH_INTERVAL_MS: Final = 100  # between two refreshes, at least
_CLOCK_INTERVAL_MS: Final = 1000  # between two looks at the undo stack, while an edit is pending
_WIDTH: Final = 84  # in average characters


class KeepBar(qt.QObject):
    """Shows the newest edits that asked nothing, until the person keeps or undoes them.

    Attributes:
        row: The row that is shown, or None.
        window: The window of the bar; None while it is hidden.
    """

    def __init__(
        self, port: Port, notifications: Notifications, is_panel_seen: Callable[[], bool]
    ) -> None:
        """Begin to follow the edits of agents.

        Args:
            port: The bridge.
            notifications: The corner of the host's window.
            is_panel_seen: Returns whether the panel can be seen, which then has the row.
        """
        super().__init__()
        self._port = port
        self._notifications = notifications
        self._is_panel_seen = is_panel_seen
        self._deletion = DeferredDeletion()
        self._is_refresh_requested = False
        self.row: Row | None = None
        self.window: BarWindow | None = None
        self._throttle = qt.QTimer(self, interval=_REFRESH_INTERVAL_MS, singleShot=True)
        self._clock = qt.QTimer(self, interval=_CLOCK_INTERVAL_MS)
        self._throttle.timeout.connect(self.refresh)
        self._clock.timeout.connect(self.refresh)
        self._unwatch = port.watch(self._request_refresh)

    def covers(self, call: str) -> bool:
        """Return whether the edit of a call is shown here or in the panel, and so needs no notice.

        It raises nothing. For `DialogPresenter.is_shown_elsewhere`.

        Args:
            call: The id of the call.

        Returns:
            True for an agent's call about which nobody was asked.
        """
        for record in self._port.recent.records():
            if record.id == call:
                return is_unasked(record)
        return False

    @qt.Slot()
    def refresh(self) -> None:
        """Look at the edits, and show or hide the bar. It raises nothing."""
        self._is_refresh_requested = False  # first: a change from now on asks for another refresh
        state = read(self._port)
        row = rows.pending_row(state)
        self.row = row
        if not any(is_pending(record) for record in state.ended):
            self._clock.stop()
        elif not self._clock.isActive():
            self._clock.start()
        if row is None or self._is_panel_seen():
            self._hide()
        else:
            self._show(row)

    def close(self) -> None:
        """Stop following the edits, and delete the bar. It raises nothing."""
        self._unwatch()
        self._clock.stop()
        self._throttle.stop()
        self._hide()
        self._deletion.flush()

    def _show(self, row: Row) -> None:
        window = self.window
        if window is None or not qt.isValid(window):
            window = BarWindow(row, self._notifications.host_window, self._deletion)
            window.card.acted.connect(self._act)
            self.window = window
            self._notifications.hold(window)
            window.show()
            announce(window, window.accessibleName())
        elif window.card.row != row:
            window.show_row(row)
            self._notifications.hold(window)

    def _hide(self) -> None:
        window = self.window
        self.window = None
        if window is not None:
            self._notifications.hold(None)
            if qt.isValid(window):
                self._deletion.add(window)

    def _request_refresh(self) -> None:
        """Ask for a refresh. Any thread; many calls lead to one refresh."""
        if not self._is_refresh_requested:
            self._is_refresh_requested = True
            self._port.main.post(self._refresh_soon)

    def _refresh_soon(self) -> None:
        if qt.isValid(self) and not self._throttle.isActive():
            self._throttle.start()

    @qt.Slot(str, str)
    def _act(self, key: str, verb: str) -> None:
        pressing.press(self._port, key, verb, lambda question: None)
        self._throttle.start()


class BarWindow(QuietWindow):
    """The window of the bar: one row, over the host's window.

    Attributes:
        card: Draws the row.
    """

    def __init__(self, row: Row, parent: qt.QWidget | None, deletion: DeferredDeletion) -> None:
        """Draw a row.

        Args:
            row: The row.
            parent: The host's window, or None.
            deletion: Deletes the buttons of former rows.
        """
        super().__init__(parent)
        self.setWindowTitle(tr("Keep or undo"))
        self.card = Card(row, deletion)
        self.card.setFrameShape(qt.QFrame.Shape.Box)
        self.card.setForegroundRole(qt.QPalette.ColorRole.PlaceholderText)
        plain_column(self).addWidget(self.card)
        self.show_row(row)

    def show_row(self, row: Row) -> None:
        """Show a later state of the edits, or later edits."""
        self.card.show_row(row)
        self.setAccessibleName(f"{row.title}. {row.detail}")
        draw_outlines(self)

    def fit(self, most: int) -> None:
        """Take the size that the row needs.

        Args:
            most: The greatest width, in pixels.
        """
        width = min(self.fontMetrics().averageCharWidth() * _WIDTH, most)
        self.setFixedWidth(width)
        self.setFixedHeight(max(self.heightForWidth(width), self.sizeHint().height()))
