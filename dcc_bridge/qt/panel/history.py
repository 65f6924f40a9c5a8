"""The history tab of the panel: the calls that ended, and a button that undoes a call. Main thread.

`HistoryModel` is the Qt model of the list, and `History` draws the list, the code of the selected
call, and the button.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dcc_bridge.elicitation.text import safe_line, tool_tip
from dcc_bridge.panel import rows
from dcc_bridge.panel.state import State
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.call_menu import CallMenu
from dcc_bridge.qt.labels import SMALL, add_all, scale, tr, unmarked
from dcc_bridge.qt.panel import widgets
from dcc_bridge.qt.panel.code_card import CodeCard
from dcc_bridge.skills.call_history import Record, why_not_undo

_MAX_NAMES: Final = 50  # of the items that code changed, of each kind
_MAX_TITLE_LENGTH: Final = 32  # characters of a call's title on the button that undoes the call
_AT_TOP: Final = int(qt.Qt.AlignmentFlag.AlignTop | qt.Qt.AlignmentFlag.AlignRight)
_ICONS: Final = {
    "done": qt.QStyle.StandardPixmap.SP_DialogApplyButton,
    "tried": qt.QStyle.StandardPixmap.SP_MessageBoxInformation,
    "undone": qt.QStyle.StandardPixmap.SP_BrowserReload,
    "unanswered": qt.QStyle.StandardPixmap.SP_MessageBoxInformation,
    "refused": qt.QStyle.StandardPixmap.SP_DialogCancelButton,
    "cancelled": qt.QStyle.StandardPixmap.SP_DialogCancelButton,
    "not_started": qt.QStyle.StandardPixmap.SP_DialogCancelButton,
}
Index = qt.QModelIndex | qt.QPersistentModelIndex


class HistoryModel(qt.QAbstractTableModel):
    """The calls that ended, the newest on top: a column for the call, and one for its time.

    Attributes:
        records: The calls that are listed, in the order of the rows.
    """

    def __init__(self, style: qt.QStyle) -> None:
        super().__init__()
        self.records: list[Record] = []
        self._warning = style.standardIcon(qt.QStyle.StandardPixmap.SP_MessageBoxWarning)
        self._icons = {state: style.standardIcon(icon) for state, icon in _ICONS.items()}

    def show_records(self, records: Sequence[Record]) -> None:
        """List these calls in place of the former ones."""
        self.beginResetModel()
        self.records = list(records)
        self.endResetModel()

    def rowCount(self, parent: Index = qt.QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Return how many calls are listed."""
        if parent.isValid():
            return 0
        return len(self.records)

    def columnCount(self, parent: Index = qt.QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Return 2, for the call and its time."""
        return 2

    def data(self, index: Index, role: int = qt.Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text, the icon or the tooltip of a cell."""
        record = self.records[index.row()]
        if role == qt.Qt.ItemDataRole.ToolTipRole:
            return tool_tip("\n".join(rows.facts(record)))
        if index.column() == 1:
            return _time_data(record, role)
        match role:
            case qt.Qt.ItemDataRole.DisplayRole:
                return f"{safe_line(record.title)}\n{rows.summary(record)}"
            case qt.Qt.ItemDataRole.AccessibleTextRole:
                return f"{safe_line(record.title)}. {rows.summary(record)}"
            case qt.Qt.ItemDataRole.DecorationRole:
                return self._icons.get(rows.sign(record), self._warning)
        return None


def _time_data(record: Record, role: int) -> Any:
    """Return the data of the cell with a call's time."""
    match role:
        case qt.Qt.ItemDataRole.TextAlignmentRole:
            return _AT_TOP
        case qt.Qt.ItemDataRole.DisplayRole:
            ended = qt.QDateTime.fromSecsSinceEpoch(int(record.ended or record.began))
            return qt.QLocale().toString(ended.time(), qt.QLocale.FormatType.ShortFormat)
    return None


class History(qt.QWidget):
    """The list of calls that ended, with an undo button.

    Attributes:
        undone: Emitted when the person wants a step undone, with the step's label.
        model: The calls that are listed.
        list: The list of the calls.
        menu: Copies the id of the chosen call.
        reads: The check box that also lists the calls that only read.
        card: Describes the code of the chosen call; hidden where the call ran none.
        text: The button that opens the text of that code in a window.
        undo: The button that undoes the chosen call; without a chosen call, the newest.
    """

    undone = qt.Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._state: State | None = None
        self.model = HistoryModel(self.style())
        self.model.setParent(self)
        self.list = self._make_list()
        self.menu = CallMenu(self.list)
        self._empty = widgets.SecondaryLabel()  # shown where no call is listed
        self._empty.show_text(tr("This list will show what agents did and who approved it."))
        self.reads = qt.QCheckBox(tr("Show reads"))
        self.reads.setToolTip(tr("Also show calls that changed nothing."))
        self.reads.setFocusPolicy(qt.Qt.FocusPolicy.TabFocus)
        scale(self.reads, SMALL)
        self.card = CodeCard()
        self.text = widgets.Action(tr("Show the code"))
        self.undo = widgets.Action(tr("Undo"))
        self._refusal = widgets.SecondaryLabel()  # says why the button cannot undo
        self.reads.toggled.connect(self._refresh)
        self.undo.clicked.connect(self._undo)
        self.list.activated.connect(self.card.open)
        self.text.clicked.connect(self.card.open)
        self.list.selectionModel().selectionChanged.connect(self._show_chosen)
        self._lay_out()

    def show_state(self, state: State) -> None:
        """Show the calls that ended until now."""
        self._state = state
        self._refresh()

    @property
    def chosen(self) -> Record | None:
        """The call that is selected, or None."""
        selected = self.list.selectionModel().selectedRows()
        if not selected:
            return None
        return self.model.records[selected[0].row()]

    @qt.Slot()
    def _refresh(self) -> None:
        shown = []
        if self._state is not None:
            lists_reads = self.reads.isChecked()
            for record in self._state.ended:
                if lists_reads or not record.only_read:
                    shown.append(record)
        if shown != self.model.records:
            self._replace(shown)
        self._empty.setVisible(not shown)
        self.list.setVisible(bool(shown))
        self._show_chosen()

    def _replace(self, shown: list[Record]) -> None:
        """List other calls; the selected call and the topmost visible one keep their places."""
        chosen = self.chosen
        top = self._topmost()
        self.model.show_records(shown)
        if chosen is None and top is None:
            return
        places = {record.id: row for row, record in enumerate(shown)}
        if chosen is not None and chosen.id in places:
            self.list.setCurrentIndex(self.model.index(places[chosen.id], 0))
        if top is not None and top.id in places:
            at_top = qt.QAbstractItemView.ScrollHint.PositionAtTop
            self.list.scrollTo(self.model.index(places[top.id], 0), at_top)

    def _topmost(self) -> Record | None:
        """Return the call at the upper edge of a list that is scrolled, or None."""
        if not self.list.verticalScrollBar().value():
            return None
        index = self.list.indexAt(self.list.viewport().rect().topLeft())
        if not index.isValid():
            return None
        return self.model.records[index.row()]

    @qt.Slot()
    def _show_chosen(self) -> None:
        """Show the code of the chosen call, and whether the button can undo."""
        if self._state is None:
            return
        chosen = self.chosen
        call_id = ""
        code = None
        facts = ""
        if chosen is not None:
            call_id = chosen.id
            code = chosen.effect.code
        if chosen is not None and code is not None:
            facts = "\n".join(rows.facts(chosen, _MAX_NAMES))
        self.menu.set_call(call_id)
        self.card.show_code(code, facts)
        self.text.setVisible(code is not None)
        self._show_undo(self._state)

    def _show_undo(self, state: State) -> None:
        record = self._undo_target()
        caption = tr("Undo")
        refusal = tr("No agent has changed the scene yet.")
        if record is not None:
            refusal = why_not_undo(record, state.top.label, state.host, tr)
        if record is not None and not refusal:
            title = safe_line(record.title, _MAX_TITLE_LENGTH)
            caption = unmarked(tr("Undo: {title}", title=title))
        self.undo.setEnabled(not refusal)
        self.undo.setText(caption)
        self.undo.setToolTip(refusal)
        self.undo.setAccessibleDescription(refusal)
        if not self.model.records:
            refusal = ""  # the sentence about the empty list says enough
        self._refusal.show_text(refusal)

    def _undo_target(self) -> Record | None:
        """Return the call that the undo button is about; None if no call left a step."""
        if self.chosen is not None or self._state is None:
            return self.chosen
        if self._state.undoable is not None:
            return self._state.undoable
        for record in self._state.ended:
            if record.effect.steps or record.effect.lasting:
                return record
        return None

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
        header.setResizeContentsPrecision(0)  # only the rows in sight: all rows take too long
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
        add_all(column, self._refusal, foot)
