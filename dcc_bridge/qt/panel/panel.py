"""The panel: a widget that any Qt host can dock, and that never takes the focus by itself.

`PlugIn.panel` makes the panel for a bridge. A change on any thread only asks for a refresh, which
reads a new `State`. The panel refreshes ten times a second at most, once a second for the times
that it shows, and not at all while it is hidden. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from dcc_bridge.callbacks import Unsubscribe
from dcc_bridge.elicitation.question import Question
from dcc_bridge.panel import pressing, rows
from dcc_bridge.panel.row import Row
from dcc_bridge.panel.state import Port, State, is_due, read
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.event_loop import PANEL_NAME, DeferredDeletion
from dcc_bridge.qt.focus_frame import FocusFrames
from dcc_bridge.qt.labels import add_all, padded, plain_column, tr
from dcc_bridge.qt.outlines import draw_outlines
from dcc_bridge.qt.panel import widgets
from dcc_bridge.qt.panel.cards import Card, Cards
from dcc_bridge.qt.panel.history import History

rows.tr = tr
_REFRESH_INTERVAL_MS: Final = 100  # between two refreshes, at least
_CLOCK_INTERVAL_MS: Final = 1000  # between two checks whether the shown times have changed
_MIN_LINES: Final = 8  # of text that the panel is high


class Panel(qt.QWidget):
    """The panel: what agents do in this session, ask, and did.

    Attributes:
        state: The state that is shown, or None until the panel was shown first.
        banner: The bridge's state and address, and the pause switch.
        now: The calls that run, and the questions that are open.
        history: The calls that ended.
        grants: The edits that the person allows for the session.
        clients: The agents that are connected, and those on this computer that can be.
        tabs: The tabs with the history, the grants and the clients.
        pending: The edits that asked nothing, at the foot, until the person keeps or undoes them.
    """

    def __init__(
        self, port: Port, bring: Callable[[Question], None], parent: qt.QWidget | None = None
    ) -> None:
        """Build the panel; it reads the state once it is shown.

        Args:
            port: The bridge.
            bring: Brings a question's dialog up: `DialogPresenter.bring`.
            parent: The widget that owns the panel, or None.
        """
        super().__init__(parent)
        self._port = port
        self._bring = bring
        self._deletion = DeferredDeletion()
        self._unwatch: Unsubscribe | None = None
        self._is_refresh_requested = False
        self._tab_order: list[qt.QWidget] = []
        self.state: State | None = None
        self.banner = widgets.Banner()
        self.history = History(self._deletion)
        self.now = Cards(tr("Questions and running calls of agents appear here."), self._deletion)
        self.grants = Cards(
            tr("Edits that you allow for the session appear here. You can revoke them."),
            self._deletion,
        )
        self.clients = Cards(tr("Connected agents appear here."), self._deletion)
        self.pending = Card(Row("", ""), self._deletion)
        self.pending.setFrameShape(qt.QFrame.Shape.StyledPanel)
        self.pending.hide()
        self.tabs = qt.QTabWidget()
        self._throttle = qt.QTimer(self, interval=_REFRESH_INTERVAL_MS, singleShot=True)
        self._clock = qt.QTimer(self, interval=_CLOCK_INTERVAL_MS)
        self._scroll = qt.QTimer(self, interval=0, singleShot=True)
        self._opened: qt.QWidget | None = None
        self._opened_place = qt.QRect()
        self.setObjectName(PANEL_NAME)
        self.setAccessibleName(tr("Agents"))
        self._connect()
        self._lay_out()
        FocusFrames(self)

    def close_for_good(self) -> None:
        """Stop listening, and delete the widgets of former rows; the caller deletes the panel.

        It raises nothing.
        """
        self._stop_listening()
        self._deletion.flush()

    @qt.Slot()
    def refresh(self) -> None:
        """Read the state and show it. It raises nothing."""
        self._is_refresh_requested = False  # first: a change from now on asks for another refresh
        state = read(self._port)
        self.state = state
        self.banner.show_state(state)
        self.now.show_rows(rows.now(state))
        self.history.show_state(state)
        self.grants.show_rows(rows.grants(state))
        self.clients.show_rows(rows.clients(state))
        self._show_pending(state)
        self._name_tabs(state)
        self._set_tab_order()
        draw_outlines(self)
        self._column.activate()

    @qt.Slot()
    def _refresh_if_due(self) -> None:
        """Refresh if something shown may have changed; a refresh costs 2 ms and more."""
        if self.state is None or is_due(self._port, self.state):
            self.refresh()

    @property
    def is_seen(self) -> bool:
        """Whether the panel is drawn now: neither closed nor behind the tab of another dock."""
        window = self.window()
        return self.isVisible() and not window.isMinimized() and not self.visibleRegion().isEmpty()

    def sizeHint(self) -> qt.QSize:
        """Return the size of all parts."""
        return self._inner.sizeHint()

    def minimumSizeHint(self) -> qt.QSize:
        """Return the height of some lines, which scroll.

        A dock must not make the host's window higher than a screen.
        """
        bar = self.style().pixelMetric(qt.QStyle.PixelMetric.PM_ScrollBarExtent)
        width = self._inner.minimumSizeHint().width() + bar
        return qt.QSize(width, self.fontMetrics().height() * _MIN_LINES)

    def enter(self) -> None:
        """Move the keyboard focus to the first button of a row, or to the tabs.

        It raises nothing. Never to *Pause*: whoever looks for a question presses Space next.
        """
        first: qt.QWidget = self.tabs.tabBar()
        if self.now.buttons:
            first = self.now.buttons[0]
        first.setFocus(qt.Qt.FocusReason.ShortcutFocusReason)

    @qt.Slot()
    def enter_clients(self) -> None:
        """Show the clients, and look for others on this computer that can be connected.

        It raises nothing.
        """
        self.tabs.setCurrentIndex(self.tabs.count() - 1)
        self._act("", "look")

    def showEvent(self, event: qt.QShowEvent) -> None:
        """Refresh, and listen to changes from now on."""
        super().showEvent(event)
        if self._unwatch is None:
            self._unwatch = self._port.watch(self._request_refresh)
            self._clock.start()
            self.refresh()

    def hideEvent(self, event: qt.QHideEvent) -> None:
        """Stop listening while the panel is hidden."""
        super().hideEvent(event)
        if not event.spontaneous():  # a minimized window comes back without a new `showEvent`
            self._stop_listening()

    def _stop_listening(self) -> None:
        self._is_refresh_requested = False
        self._clock.stop()
        self._throttle.stop()
        self._unsubscribe()

    def _unsubscribe(self) -> None:
        unwatch = self._unwatch
        self._unwatch = None
        if unwatch is not None:
            unwatch()

    def _request_refresh(self) -> None:
        """Ask for a refresh. Any thread; many calls lead to one refresh."""
        if not self._is_refresh_requested:
            self._is_refresh_requested = True
            self._port.main.post(self._refresh_soon)

    def _refresh_soon(self) -> None:
        if not qt.isValid(self):  # the host deleted the panel without telling us
            self._unsubscribe()
        elif self._unwatch is not None and not self._throttle.isActive():
            self._throttle.start()

    @qt.Slot(str, str)
    def _act(self, key: str, verb: str) -> None:
        """Do what a button says; nothing if the subject of the row is gone meanwhile."""
        if verb == "copy":
            qt.QApplication.clipboard().setText(key)
        pressing.press(self._port, key, verb, self._bring)
        self._throttle.start()

    @qt.Slot(bool)
    def _pause(self, on: bool) -> None:
        if on:
            self._port.pause()
        else:
            self._port.resume()
        self.refresh()

    @qt.Slot()
    def _unmute(self) -> None:
        limits = self._port.broker.audience.limits
        for label in limits.muted:
            limits.unmute(label)
        self.refresh()

    @qt.Slot(str)
    def _undo(self, label: str) -> None:
        self._port.undo(label)
        self.refresh()

    def _connect(self) -> None:
        self._throttle.timeout.connect(self.refresh)
        self._scroll.timeout.connect(self._scroll_to_opened)
        self._clock.timeout.connect(self._refresh_if_due)
        self.banner.paused.connect(self._pause)
        self.banner.unmuted.connect(self._unmute)
        self.banner.connect_client.clicked.connect(self.enter_clients)
        self.history.undone.connect(self._undo)
        self.history.acted.connect(self._act)
        self.history.opened.connect(self._bring_into_view)
        for cards in (self.now, self.grants, self.clients, self.pending):
            cards.acted.connect(self._act)

    @qt.Slot(qt.QWidget)
    def _bring_into_view(self, part: qt.QWidget) -> None:
        """Scroll to a part of the history that was just opened, once it has its place."""
        self._opened = part
        self._opened_place = qt.QRect()
        self._scroll.start()

    @qt.Slot()
    def _scroll_to_opened(self) -> None:
        """Scroll to the opened part, again in each turn until its place stays the same."""
        part = self._opened
        if part is None or not qt.isValid(part) or not part.isVisible():
            self._opened = None
            return
        self._column.activate()
        qt.QCoreApplication.sendPostedEvents(None, qt.QEvent.Type.LayoutRequest)
        self._scrolled.ensureWidgetVisible(part)
        place = qt.QRect(part.mapTo(self._inner, qt.QPoint()), part.size())
        if place == self._opened_place:
            self._opened = None
        else:
            self._opened_place = place
            self._scroll.start()

    def _show_pending(self, state: State) -> None:
        row = rows.pending_row(state)
        self.pending.setVisible(row is not None)
        if row is not None:
            self.pending.show_row(row)

    def _name_tabs(self, state: State) -> None:
        counts = (0, len(state.grants), len(state.clients))
        names = (tr("History"), tr("Allowed"), tr("Agents"))
        for at, (name, count) in enumerate(zip(names, counts, strict=True)):
            text = name
            if count:
                text = f"{name} ({count})"
            if self.tabs.tabText(at) != text:
                self.tabs.setTabText(at, text)

    def _set_tab_order(self) -> None:
        """Let Tab follow the reading order, for new rows too."""
        order = [
            *self.banner.buttons,
            *self.now.buttons,
            self.tabs.tabBar(),
            *self.history.fields,
            *self.grants.buttons,
            *self.clients.buttons,
            *self.pending.buttons,
        ]
        if order != self._tab_order:
            self._tab_order = order
            for before, after in pairwise(order):
                qt.QWidget.setTabOrder(before, after)

    def _lay_out(self) -> None:
        gap = self.fontMetrics().height() // 2
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setFocusPolicy(qt.Qt.FocusPolicy.TabFocus)
        for page in (self.history, padded(self.grants), padded(self.clients)):
            self.tabs.addTab(page, "")
        self._inner = qt.QWidget()
        self._column = _Column(self._inner)
        self._column.setContentsMargins(gap, gap, gap, gap)
        self._column.setSpacing(gap)
        add_all(self._column, self.banner, self.now)
        self._column.addWidget(self.tabs, 1)
        scrolled = qt.QScrollArea(widgetResizable=True)
        scrolled.setFrameShape(qt.QFrame.Shape.NoFrame)
        scrolled.setFocusPolicy(qt.Qt.FocusPolicy.NoFocus)
        scrolled.setHorizontalScrollBarPolicy(qt.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scrolled.setWidget(self._inner)
        self._inner.setAutoFillBackground(False)
        scrolled.viewport().setAutoFillBackground(False)
        column = plain_column(self)
        column.addWidget(scrolled, 1)
        column.addWidget(self.pending)
        self._scrolled = scrolled


class _Column(qt.QVBoxLayout):
    """A column whose height in a scroll area is its minimum, and not its preferred height."""

    def hasHeightForWidth(self) -> bool:
        """Return False, which has the scroll area take the minimum. The parts still wrap."""
        return False
