"""The panel itself: a widget that any PySide6 host can dock. It never takes the focus by itself.

A throttle: whatever changes, on whatever thread, only asks for a refresh, of which there are ten a
second at most, one a second for what the clock changes, and none while it is hidden. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final

from dcc_bridge.callbacks import Unsubscribe
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.text import safe_line, tool_tip
from dcc_bridge.panel import rows
from dcc_bridge.panel.state import Port, State, is_due, read
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.event_loop import DeferredDeletion
from dcc_bridge.qt.labels import SMALL, add_all, padded, plain_column, scale, tr
from dcc_bridge.qt.notifications import CallMenu, CodeCard
from dcc_bridge.qt.outlines import draw_outlines
from dcc_bridge.qt.panel import widgets
from dcc_bridge.qt.panel.cards import Cards
from dcc_bridge.skills.call_history import Record, why_not_undo

rows.tr = tr
_BETWEEN: Final = 100  # milliseconds between two refreshes
_TICK: Final = 1000
_LEAST_LINES: Final = 8  # of text that the panel is high at least
_NAMES: Final = 50  # of what code changed, of each kind
_AT_TOP: Final = int(qt.Qt.AlignmentFlag.AlignTop | qt.Qt.AlignmentFlag.AlignRight)
_ICONS: Final = {
    "done": qt.QStyle.StandardPixmap.SP_DialogApplyButton,
    "undone": qt.QStyle.StandardPixmap.SP_BrowserReload,
    "unanswered": qt.QStyle.StandardPixmap.SP_MessageBoxInformation,
    "refused": qt.QStyle.StandardPixmap.SP_DialogCancelButton,
    "cancelled": qt.QStyle.StandardPixmap.SP_DialogCancelButton,
    "not_started": qt.QStyle.StandardPixmap.SP_DialogCancelButton,
}
Index = qt.QModelIndex | qt.QPersistentModelIndex


class Panel(qt.QWidget):
    """What agents do in this session, what they ask, and what they did."""

    def __init__(
        self, port: Port, bring: Callable[[Question], None], parent: qt.QWidget | None = None
    ) -> None:
        """Build the panel; it reads once it is shown.

        Args:
            port: The bridge.
            bring: Brings a question's dialog up: `DialogPresenter.bring`.
            parent: The widget that owns it, or None.
        """
        super().__init__(parent)
        self._port = port
        self._bring = bring  # a question's dialog: `DialogPresenter.bring`
        self._deletion = DeferredDeletion()
        self._unwatch: Unsubscribe | None = None
        self._is_refresh_requested = False
        self._tab_order: list[qt.QWidget] = []
        self.state: State | None = None
        self.banner = widgets.Banner()  # the bridge's state and address, and the pause switch
        self.history = History()  # the calls that ended
        self.now = Cards(tr("What agents do, and what they ask you, appears here."), self._deletion)
        self.grants = Cards(
            tr("Edits that you allow for the session are listed here; you can revoke them."),
            self._deletion,
        )
        self.clients = Cards(tr("Agents that connect are listed here."), self._deletion)
        self.tabs = qt.QTabWidget()  # the history, the grants and the clients
        self._throttle = qt.QTimer(self, interval=_BETWEEN, singleShot=True)
        self._clock = qt.QTimer(self, interval=_TICK)
        self.setAccessibleName(tr("Agents"))
        self._connect()
        self._lay_out()

    def close_for_good(self) -> None:
        """Stop listening and delete what is no longer shown; the host deletes the rest.

        It raises nothing.
        """
        self._stop_listening()
        self._deletion.flush()

    @qt.Slot()
    def refresh(self) -> None:
        """Read the state and show it. It raises nothing."""
        self._is_refresh_requested = False  # first: what changes from now on asks for another one
        state = self.state = read(self._port)
        self.banner.show_state(state)
        self.now.show_rows(rows.now(state))
        self.history.show_state(state)
        self.grants.show_rows(rows.grants(state))
        self.clients.show_rows(rows.clients(state))
        self._name_tabs(state)
        self._set_tab_order()
        draw_outlines(self)
        self._column.activate()

    @qt.Slot()
    def _refresh_if_due(self) -> None:
        """Refresh, which costs 2 ms and more, if it may be due. Each second, whatever happens."""
        if self.state is None or is_due(self._port, self.state):
            self.refresh()

    def sizeHint(self) -> qt.QSize:
        """As large as all that is in it."""
        return self._inner.sizeHint()

    def minimumSizeHint(self) -> qt.QSize:
        """Some lines, which scroll: a dock must not make the host's window higher than a screen."""
        bar = self.style().pixelMetric(qt.QStyle.PixelMetric.PM_ScrollBarExtent)
        width = self._inner.minimumSizeHint().width() + bar
        return qt.QSize(width, self.fontMetrics().height() * _LEAST_LINES)

    def enter(self) -> None:
        """Give the keyboard focus to the first button. It raises nothing."""
        first = next(iter(self.now.buttons), self.banner.pause)
        first.setFocus(qt.Qt.FocusReason.ShortcutFocusReason)

    @qt.Slot()
    def enter_clients(self) -> None:
        """Show the clients, and look for those on this computer that can be connected.

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
        """Stop listening while it is hidden."""
        super().hideEvent(event)
        if not event.spontaneous():  # a minimized window is hidden too, and shown without an event
            self._stop_listening()

    def _stop_listening(self) -> None:
        self._is_refresh_requested = False
        self._clock.stop()
        self._throttle.stop()
        self._unsubscribe()

    def _unsubscribe(self) -> None:
        unwatch, self._unwatch = self._unwatch, None
        if unwatch is not None:
            unwatch()

    def _request_refresh(self) -> None:
        """Ask for a refresh. Any thread; many calls are one refresh."""
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
        """Do what a button says; nothing if the row's subject is gone meanwhile."""
        if verb == "copy":
            qt.QApplication.clipboard().setText(key)
        rows.act(self._port, key, verb, self._bring)
        self._throttle.start()

    @qt.Slot(bool)
    def _pause(self, on: bool) -> None:
        (self._port.pause if on else self._port.resume)()
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
        self._clock.timeout.connect(self._refresh_if_due)
        self.banner.paused.connect(self._pause)
        self.banner.unmuted.connect(self._unmute)
        self.banner.connect_client.clicked.connect(self.enter_clients)
        self.history.undone.connect(self._undo)
        for cards in (self.now, self.grants, self.clients):
            cards.acted.connect(self._act)

    def _name_tabs(self, state: State) -> None:
        counts = (0, len(state.grants), len(state.clients))
        names = (tr("History"), tr("Allowed"), tr("Agents"))
        for at, (name, count) in enumerate(zip(names, counts, strict=True)):
            text = f"{name} ({count})" if count else name
            if self.tabs.tabText(at) != text:
                self.tabs.setTabText(at, text)

    def _set_tab_order(self) -> None:
        """Let Tab follow the reading order, also for rows that came later."""
        top = (*self.banner.buttons, *self.now.buttons, self.tabs.tabBar())
        history, card = self.history, self.history.card
        did = (history.list, card, history.text, history.undo, history.reads)
        order = [*top, *did, *self.grants.buttons, *self.clients.buttons]
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
        self._column = column = _Column(self._inner)
        column.setContentsMargins(gap, gap, gap, gap)
        column.setSpacing(gap + gap // 2)
        add_all(column, self.banner, self.now)
        column.addWidget(self.tabs, 1)
        scrolled = qt.QScrollArea(widgetResizable=True)
        scrolled.setFrameShape(qt.QFrame.Shape.NoFrame)
        scrolled.setFocusPolicy(qt.Qt.FocusPolicy.NoFocus)
        scrolled.setHorizontalScrollBarPolicy(qt.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scrolled.setWidget(self._inner)
        self._inner.setAutoFillBackground(False)
        scrolled.viewport().setAutoFillBackground(False)
        plain_column(self).addWidget(scrolled)


class _Column(qt.QVBoxLayout):
    """A column that what scrolls it makes as high as it must be, and not as it would like to be."""

    def hasHeightForWidth(self) -> bool:
        """Have what scrolls it go by the least height; the parts still wrap."""
        return False


class HistoryModel(qt.QAbstractTableModel):
    """The calls that ended, the newest on top: what each was, and when it ended."""

    def __init__(self, style: qt.QStyle) -> None:
        super().__init__()
        self.records: list[Record] = []
        self._warning = style.standardIcon(qt.QStyle.StandardPixmap.SP_MessageBoxWarning)
        self._icons = {state: style.standardIcon(icon) for state, icon in _ICONS.items()}

    def show_records(self, records: Sequence[Record]) -> None:
        """Show these."""
        self.beginResetModel()
        self.records = list(records)
        self.endResetModel()

    def rowCount(self, parent: Index = qt.QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Give how many there are."""
        return 0 if parent.isValid() else len(self.records)

    def columnCount(self, parent: Index = qt.QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Give two columns: the call, and its time."""
        return 2

    def data(self, index: Index, role: int = qt.Qt.ItemDataRole.DisplayRole) -> Any:
        """Give the text, the icon or the tooltip of a row."""
        record, is_time = self.records[index.row()], index.column() == 1
        match role:
            case qt.Qt.ItemDataRole.ToolTipRole:
                return tool_tip("\n".join(rows.facts(record)))
            case qt.Qt.ItemDataRole.TextAlignmentRole if is_time:
                return _AT_TOP
            case qt.Qt.ItemDataRole.DisplayRole if is_time:
                ended = qt.QDateTime.fromSecsSinceEpoch(int(record.ended or record.began))
                return qt.QLocale().toString(ended.time(), qt.QLocale.FormatType.ShortFormat)
            case _ if is_time:
                return None
            case qt.Qt.ItemDataRole.DisplayRole:
                return f"{safe_line(record.title)}\n{rows.summary(record)}"
            case qt.Qt.ItemDataRole.AccessibleTextRole:
                return f"{safe_line(record.title)}. {rows.summary(record)}"
            case qt.Qt.ItemDataRole.DecorationRole:
                return self._icons.get(rows.sign(record), self._warning)
        return None


class History(qt.QWidget):
    """The list of calls that ended, with an undo button."""

    undone = qt.Signal(str)  # the person wants the step of that label undone

    def __init__(self) -> None:
        super().__init__()
        self._state: State | None = None
        self.model = HistoryModel(self.style())
        self.model.setParent(self)
        self.list = self._make_list()
        self.menu = CallMenu(self.list)  # copies the id of the chosen one
        self._empty = widgets.SecondaryLabel()  # where nothing is listed
        self._empty.show_text(tr("What agents did, and who agreed to it, will be listed here."))
        self.reads = qt.QCheckBox(tr("Reads too"))  # whether calls that only read are listed too
        self.reads.setToolTip(tr("Also list calls that changed nothing."))
        self.reads.setFocusPolicy(qt.Qt.FocusPolicy.TabFocus)
        scale(self.reads, SMALL)
        self.card = CodeCard()  # of the chosen one, where it is of code
        self.text = widgets.Action(tr("Show the code"))  # in a window
        self.undo = widgets.Action(tr("Undo"))  # takes back the chosen one, or the newest
        self._why = widgets.SecondaryLabel()
        self.reads.toggled.connect(self._refresh)
        self.undo.clicked.connect(self._undo)
        self.list.activated.connect(self.card.open)
        self.text.clicked.connect(self.card.open)
        self.list.selectionModel().selectionChanged.connect(self._show_undo)
        self._lay_out()

    def show_state(self, state: State) -> None:
        """Show what ended until now."""
        self._state = state
        self._refresh()

    @property
    def chosen(self) -> Record | None:
        """The call that is selected."""
        selected = self.list.selectionModel().selectedRows()
        return self.model.records[selected[0].row()] if selected else None

    @qt.Slot()
    def _refresh(self) -> None:
        ended = self._state.ended if self._state is not None else ()
        shown = [record for record in ended if self.reads.isChecked() or not record.only_read]
        if shown != self.model.records:
            self._replace(shown)
        self._empty.setVisible(not shown)
        self.list.setVisible(bool(shown))
        self._show_undo()

    def _replace(self, shown: list[Record]) -> None:
        """List other calls; what is selected and what is looked at stay where they are."""
        chosen, bar = self.chosen, self.list.verticalScrollBar()
        looked_at = self.list.indexAt(self.list.viewport().rect().topLeft())
        first = self.model.records[looked_at.row()] if looked_at.isValid() and bar.value() else None
        self.model.show_records(shown)
        places = {record.id: row for row, record in enumerate(shown)} if chosen or first else {}
        if chosen is not None and chosen.id in places:
            self.list.setCurrentIndex(self.model.index(places[chosen.id], 0))
        if first is not None and first.id in places:
            top = qt.QAbstractItemView.ScrollHint.PositionAtTop
            self.list.scrollTo(self.model.index(places[first.id], 0), top)

    @qt.Slot()
    def _show_undo(self) -> None:
        if self._state is None:
            return
        chosen, record = self.chosen, self._undo_target()
        self.menu.set_call(chosen.id if chosen is not None else "")
        code = chosen.effect.code if chosen is not None else None
        facts = rows.facts(chosen, _NAMES) if chosen is not None and code is not None else ()
        self.card.show_code(code, "\n".join(facts))
        self.text.setVisible(code is not None)
        text, why = tr("Undo"), tr("No agent changed the scene yet.")
        if record is not None:
            why = why_not_undo(record, self._state.top.label, self._state.host, tr)
            if not why:
                text = tr("Undo {title}", title=safe_line(record.title, 32)).replace("&", "&&")
        self.undo.setEnabled(not why)
        self.undo.setText(text)
        self.undo.setToolTip(why)
        self.undo.setAccessibleDescription(why)
        self._why.show_text(why if self.model.records else "")

    def _undo_target(self) -> Record | None:
        """Give the call that Undo is about: the chosen one, or the newest that left a step."""
        if self.chosen is not None or self._state is None:
            return self.chosen
        left = (it for it in self._state.ended if it.effect.steps or it.effect.lasting)
        return self._state.undoable or next(left, None)

    @qt.Slot()
    def _undo(self) -> None:
        record = self._undo_target()
        if record is not None and record.effect.label is not None:
            self.undone.emit(record.effect.label)

    def _make_list(self) -> qt.QTreeView:
        view = qt.QTreeView(headerHidden=True, rootIsDecorated=False, uniformRowHeights=True)
        view.setModel(self.model)
        view.setFrameShape(qt.QFrame.Shape.NoFrame)
        view.setFocusPolicy(qt.Qt.FocusPolicy.TabFocus)
        view.setHorizontalScrollBarPolicy(qt.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(qt.QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setEditTriggers(qt.QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setAccessibleName(tr("What agents did"))
        scale(view, SMALL)
        header = view.header()
        header.setStretchLastSection(False)
        header.setResizeContentsPrecision(0)  # of the rows in sight: all of them take too long
        header.setSectionResizeMode(0, qt.QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, qt.QHeaderView.ResizeMode.ResizeToContents)
        return view

    def _lay_out(self) -> None:
        gap = self.fontMetrics().height() // 2
        foot = qt.QHBoxLayout()
        foot.setSpacing(gap)
        add_all(foot, self.undo, None, self.reads)
        column = qt.QVBoxLayout(self)
        column.setContentsMargins(0, gap, 0, 0)
        column.setSpacing(gap)
        column.addWidget(self.list, 1)
        column.addWidget(self.card, 1)
        add_all(column, self.text, self._empty)
        column.addStretch(0)
        add_all(column, self._why, foot)
