"""The calls that ended, with the undo of the chosen one, as a tab of the panel. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dcc_bridge.elicitation.text import safe_line, tool_tip
from dcc_bridge.panel import rows
from dcc_bridge.panel.state import State
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.call_menu import CallMenu
from dcc_bridge.qt.labels import SMALL, add_all, scale, tr
from dcc_bridge.qt.panel import widgets
from dcc_bridge.qt.panel.code_card import CodeCard
from dcc_bridge.skills.call_history import Record, why_not_undo

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
