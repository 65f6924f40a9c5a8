"""The list of the calls that ended: its model, its rows and its menu. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dcc_bridge.elicitation.text import tool_tip
from dcc_bridge.panel import rows
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.call_menu import CallMenu
from dcc_bridge.qt.labels import SMALL, scale, tr
from dcc_bridge.qt.panel.pictures import thumbnail
from dcc_bridge.qt.panel.widgets import muted
from dcc_bridge.qt.screen_reader import RowReader
from dcc_bridge.skills.call_history import Record

_MAX_NAMES: Final = 50  # of the items in a copied row, of each kind
_MIN_ROWS: Final = 10  # that the list has room for, if it has as many
_MIN_ROWS_ABOVE_CARD: Final = 4  # the same, while the card of a call is shown below the list
_ROW_PADDING: Final = 2  # pixels above and below the line of a row
_SUBJECT_SHARE: Final = 0.6  # of a row that is too narrow for all of it
_CENTRED: Final = qt.Qt.AlignmentFlag.AlignVCenter | qt.Qt.AlignmentFlag.AlignLeft
_AT_END: Final = int(qt.Qt.AlignmentFlag.AlignVCenter | qt.Qt.AlignmentFlag.AlignRight)
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

    def __init__(self, style: qt.QStyle, line: int) -> None:
        """List no call yet.

        Args:
            style: The style whose icons are drawn.
            line: The height of a line of text; a picture is as high as a row.
        """
        super().__init__()
        self.records: list[Record] = []
        self._line = line
        self._pictures: dict[str, qt.QPixmap] = {}  # by the id of the call
        self._warning = style.standardIcon(qt.QStyle.StandardPixmap.SP_MessageBoxWarning)
        self._icons = {state: style.standardIcon(icon) for state, icon in _ICONS.items()}

    def show_records(self, records: Sequence[Record]) -> None:
        """List these calls in place of the former ones."""
        self.beginResetModel()
        self.records = list(records)
        self._pictures = {one.id: self._small_picture(one) for one in records if one.pictures}
        self.endResetModel()

    def _small_picture(self, record: Record) -> qt.QPixmap:
        """Return the first picture of a call, as high as a row."""
        picture = self._pictures.get(record.id)
        if picture is None:
            png, _ = record.pictures[0]
            height = self._line + 2 * _ROW_PADDING
            picture = thumbnail(png, 2 * height, height)
        return picture

    def headerData(
        self,
        section: int,
        orientation: qt.Qt.Orientation,
        role: int = qt.Qt.ItemDataRole.DisplayRole,
    ) -> Any:
        """Return the name of a column, which a screen reader reads."""
        names = (tr("Call"), tr("Time"))
        is_named = orientation == qt.Qt.Orientation.Horizontal and section < len(names)
        if is_named and role == qt.Qt.ItemDataRole.DisplayRole:
            return names[section]
        return None

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
            return tool_tip("\n".join(rows.story(record)))
        if index.column() == 1:
            if role == qt.Qt.ItemDataRole.DecorationRole:
                return self._pictures.get(record.id)
            return _time_data(record, role)
        match role:
            case qt.Qt.ItemDataRole.DisplayRole:
                return f"{rows.subject(record)}\n{rows.summary(record)}"
            case qt.Qt.ItemDataRole.AccessibleTextRole:
                return _spoken(record)
            case qt.Qt.ItemDataRole.DecorationRole:
                return self._icons.get(rows.sign(record), self._warning)
        return None


def _time_data(record: Record, role: int) -> Any:
    """Return the data of the cell with a call's time."""
    match role:
        case qt.Qt.ItemDataRole.TextAlignmentRole:
            return _AT_END
        case qt.Qt.ItemDataRole.DisplayRole:
            ended = qt.QDateTime.fromSecsSinceEpoch(int(record.ended or record.began))
            return qt.QLocale().toString(ended.time(), qt.QLocale.FormatType.ShortFormat)
    return None


class _RowDelegate(qt.QStyledItemDelegate):
    """Draws a call in one line: its subject, then in a quiet colour by whom and how it ended.

    What is too long ends with an ellipsis; the tooltip has all of it.
    """

    def sizeHint(self, option: qt.QStyleOptionViewItem, index: Index) -> qt.QSize:
        """Return the height of a line."""
        width = super().sizeHint(option, index).width()
        return qt.QSize(width, option.fontMetrics.height() + 2 * _ROW_PADDING)

    def paint(self, painter: qt.QPainter, option: qt.QStyleOptionViewItem, index: Index) -> None:
        """Draw the subject as the style draws an item, and the rest of the line behind it."""
        subject, summary = index.data(qt.Qt.ItemDataRole.DisplayRole).split("\n")
        row = qt.QStyleOptionViewItem(option)
        self.initStyleOption(row, index)
        view = self.parent()
        assert isinstance(view, qt.QTreeView)
        style = view.style()
        metrics = row.fontMetrics
        row.text = subject
        area = style.subElementRect(qt.QStyle.SubElement.SE_ItemViewItemText, row, view)
        gap = metrics.height() // 2
        room = max(0, area.width() - 2 * gap)
        beside = room - metrics.horizontalAdvance(summary)
        most = max(beside, round(room * _SUBJECT_SHARE))
        row.text = _isolated(metrics.elidedText(subject, row.textElideMode, most))
        style.drawControl(qt.QStyle.ControlElement.CE_ItemViewItem, row, painter, view)

        drawn = metrics.horizontalAdvance(row.text)
        rest = qt.QRect(area.left() + drawn + 2 * gap, area.top(), room - drawn, area.height())
        painter.save()
        painter.setFont(row.font)
        painter.setPen(_quiet_ink(row))
        painter.drawText(
            style.visualRect(row.direction, area, rest),
            style.visualAlignment(row.direction, _CENTRED),
            _isolated(metrics.elidedText(summary, row.textElideMode, rest.width())),
        )
        painter.restore()


def _isolated(text: str) -> str:
    """Return a text that reads in its own direction, whatever the direction of the row."""
    return f"\N{FIRST STRONG ISOLATE}{text}\N{POP DIRECTIONAL ISOLATE}"


def _quiet_ink(row: qt.QStyleOptionViewItem) -> qt.QColor:
    """Return the colour of the less important text of a row."""
    if row.state & qt.QStyle.StateFlag.State_Selected:
        return row.palette.color(qt.QPalette.ColorRole.HighlightedText)
    return muted(row.palette, qt.QPalette.ColorRole.Text, qt.QPalette.ColorRole.Base)


class HistoryList(qt.QTreeView):
    """The list of the calls; it shows whole rows."""

    def __init__(self, model: HistoryModel) -> None:
        super().__init__(headerHidden=True, rootIsDecorated=False, uniformRowHeights=True)
        self.setModel(model)
        self.setFrameShape(qt.QFrame.Shape.NoFrame)
        self.setFocusPolicy(qt.Qt.FocusPolicy.TabFocus)
        self.setHorizontalScrollBarPolicy(qt.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(qt.QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setEditTriggers(qt.QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(qt.Qt.TextElideMode.ElideRight)
        self.setAccessibleName(tr("What agents did"))
        self.setItemDelegateForColumn(0, _RowDelegate(self))
        self.setIndentation(0)
        RowReader(self)
        scale(self, SMALL)
        self._min_rows = _MIN_ROWS
        side = self.fontMetrics().height()
        self.setIconSize(qt.QSize(2 * side, side))
        header = self.header()
        header.setStretchLastSection(False)
        header.setResizeContentsPrecision(0)  # only the rows in sight: all rows take too long
        header.setSectionResizeMode(0, qt.QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, qt.QHeaderView.ResizeMode.ResizeToContents)

    def leave_room(self, has_card: bool) -> None:
        """Keep room for fewer rows while the card of a call is shown below."""
        self._min_rows = _MIN_ROWS
        if has_card:
            self._min_rows = _MIN_ROWS_ABOVE_CARD
        self.fit_rows()

    def fit_rows(self) -> None:
        """Keep room for some rows, and leave the part of a row at the bottom out of sight."""
        row = self.sizeHintForRow(0)
        if row <= 0:
            return
        self.setMinimumHeight(row * min(self._min_rows, self.model().rowCount()))
        margin = self.height() % row
        if margin != self.viewportMargins().bottom():
            self.setViewportMargins(0, 0, 0, margin)

    def resizeEvent(self, event: qt.QResizeEvent) -> None:
        """Show whole rows in the new height."""
        super().resizeEvent(event)
        self.fit_rows()


class HistoryMenu(CallMenu):
    """The menu of the history: it copies the chosen row, or all rows that are listed.

    Attributes:
        copy_row: The entry that copies all facts of the chosen call.
        copy_all: The entry that copies a line for each call that is listed.
    """

    def __init__(self, view: HistoryList, model: HistoryModel) -> None:
        """Add the menu to the list."""
        super().__init__(view)
        self._model = model
        self.copy_row = self.addAction(tr("Copy this row"))
        self.copy_all = self.addAction(tr("Copy all rows"))
        self.copy_row.triggered.connect(self._copy_row)
        self.copy_all.triggered.connect(self._copy_all)
        self.set_call("")

    def set_call(self, call: str) -> None:
        """Set the call that the menu is about; "" for none."""
        super().set_call(call)
        self.copy_row.setEnabled(bool(call))
        self.copy_all.setEnabled(bool(self._model.records))

    @qt.Slot()
    def _copy_row(self) -> None:
        for record in self._model.records:
            if record.id == self.call:
                facts = (_when(record), *rows.story(record, _MAX_NAMES))
                qt.QApplication.clipboard().setText("\n".join(facts))

    @qt.Slot()
    def _copy_all(self) -> None:
        lines = []
        for record in self._model.records:
            cells = (_when(record), rows.subject(record), rows.summary(record), record.id)
            lines.append("\t".join(cells))
        qt.QApplication.clipboard().setText("\n".join(lines))


def _spoken(record: Record) -> str:
    """Return the row of a call as a screen reader reads it."""
    subject = rows.subject(record)
    if not subject.endswith((".", "?", "!")):
        subject += "."
    return f"{subject} {rows.summary(record)}"


def _when(record: Record) -> str:
    """Return when a call ended, with the date."""
    ended = qt.QDateTime.fromSecsSinceEpoch(int(record.ended or record.began))
    return str(ended.toString("yyyy-MM-dd HH:mm:ss"))
