"""What agents did: a list that stays fast, and the one step that can be taken back. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from dcc_bridge.elicitation import plain
from dcc_bridge.qt.binding import (
    QAbstractItemView,
    QAbstractListModel,
    QCheckBox,
    QColor,
    QDateTime,
    QFont,
    QFrame,
    QHBoxLayout,
    QListView,
    QLocale,
    QModelIndex,
    QPainter,
    QPalette,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    Qt,
    QVBoxLayout,
    QWidget,
    Signal,
    Slot,
)
from dcc_bridge.qt.copying import CallMenu, tip
from dcc_bridge.qt.labels import SMALL, scale
from dcc_bridge.qt.panel import sentences
from dcc_bridge.qt.panel.quiet import Action, Quiet, muted
from dcc_bridge.qt.panel.signs import draw
from dcc_bridge.qt.panel.state import State
from dcc_bridge.qt.words import tr
from dcc_bridge.skills.call_history import Record

RECORD: Final = int(Qt.ItemDataRole.UserRole)
_SIGNS: Final = {"done": "tick", "refused": "cross", "cancelled": "cross", "not_started": "cross"}
Index = QModelIndex | QPersistentModelIndex


class Records(QAbstractListModel):
    """The calls that ended, the newest on top."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self.records: list[Record] = []

    def show_records(self, records: Sequence[Record]) -> None:
        """Show these."""
        self.beginResetModel()
        self.records = list(records)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Give how many there are."""
        return 0 if parent.isValid() else len(self.records)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Give a row's sentence, its whole story, or its record."""
        record = self.records[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return f"{plain.line(record.title)}. {said(record)}"
            case Qt.ItemDataRole.ToolTipRole:
                error = plain.passage(record.error) if record.error else ""
                return "\n".join(filter(None, (said(record), error, tip(record.id))))
        return record if role == RECORD else None


class _Lines(QStyledItemDelegate):
    """Draws a call in two lines: what it was, and how it ended."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line = option.fontMetrics.height()
        return QSize(line * 10, round(line * 2.9))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        record: Record = index.data(RECORD)
        view: QWidget = option.widget
        panel = QStyle.PrimitiveElement.PE_PanelItemViewItem
        view.style().drawPrimitive(panel, option, painter, view)
        text, dim = _colours(view, chosen=bool(option.state & QStyle.StateFlag.State_Selected))
        line = view.fontMetrics().height()
        inner = option.rect.adjusted(line // 2, line // 3, -line // 2, -line // 3)
        sign, words = _split(view, inner, line, round(line * 1.5))
        draw(painter, _SIGNS.get(record.state, "mark"), QRectF(sign), dim)
        upper = QRect(words.topLeft(), QSize(words.width(), line))
        lower = words.adjusted(0, line, 0, 0)
        small = _small(view.font())
        used = _write(painter, view, upper, _clock(record), small, dim, at_end=True)
        room = -used - line // 2
        mirrored = view.isRightToLeft()
        title = upper.adjusted(-room, 0, 0, 0) if mirrored else upper.adjusted(0, 0, room, 0)
        _write(painter, view, title, plain.line(record.title), view.font(), text)
        _write(painter, view, lower, said(record), small, dim)


def _colours(view: QWidget, *, chosen: bool) -> tuple[QColor, QColor]:
    """Give the colour of what matters in a row, and of the rest."""
    roles, palette = QPalette.ColorRole, view.palette()
    if chosen:
        return palette.color(roles.HighlightedText), palette.color(roles.HighlightedText)
    return palette.color(roles.Text), muted(palette, roles.Text, roles.Base)


def _split(view: QWidget, area: QRect, line: int, indent: int) -> tuple[QRect, QRect]:
    """Give the places of a row's sign and of its words."""
    if view.isRightToLeft():
        sign = QRect(area.right() + 1 - line, area.top(), line, line)
        return sign, area.adjusted(0, 0, -indent, 0)
    return QRect(area.topLeft(), QSize(line, line)), area.adjusted(indent, 0, 0, 0)


def _small(font: QFont) -> QFont:
    """Give the smaller font; a host may have set its own in points or in pixels."""
    made = QFont(font)
    if font.pointSizeF() > 0:
        made.setPointSizeF(font.pointSizeF() * SMALL)
    else:
        made.setPixelSize(round(font.pixelSize() * SMALL))
    return made


def _write(
    painter: QPainter,
    view: QWidget,
    area: QRect,
    text: str,
    font: QFont,
    colour: QColor,
    *,
    at_end: bool = False,
) -> int:
    """Write a line, cut where it does not fit, and give how wide it is."""
    painter.setFont(font)
    painter.setPen(colour)
    metrics = painter.fontMetrics()
    side = Qt.AlignmentFlag.AlignRight if at_end else Qt.AlignmentFlag.AlignLeft
    flags = QStyle.visualAlignment(view.layoutDirection(), side) | Qt.AlignmentFlag.AlignVCenter
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, area.width())
    painter.drawText(area, int(flags) | int(Qt.TextFlag.TextSingleLine), shown)
    return metrics.horizontalAdvance(shown)


class History(QWidget):
    """The calls that ended, with what can be taken back.

    Signals:
        undone: The person wants the step of that label undone.

    Attributes:
        model: The calls.
        list: Draws them.
        menu: Copies the id of the chosen one.
        reads: Whether calls that only read are listed too.
        undo: Takes back the chosen one, or the newest.
    """

    undone = Signal(str)

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self._state: State | None = None
        self._shown: list[Record] = []
        self.model = Records()
        self.model.setParent(self)
        self.list = self._make_list()
        self.menu = CallMenu(self.list)
        self._empty = Quiet()
        self._empty.say(tr("What agents did, and who agreed to it, will be listed here."))
        self.reads = QCheckBox(tr("Reads too"))
        self.reads.setToolTip(tr("List also the calls that changed nothing."))
        self.reads.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        scale(self.reads, SMALL)
        self.undo = Action(tr("Undo"))
        self._why = Quiet()
        self.reads.toggled.connect(self._refresh)
        self.undo.clicked.connect(self._undo)
        self.list.selectionModel().selectionChanged.connect(self._show_undo)
        self._lay_out()

    def show_state(self, state: State) -> None:
        """Show what ended until now."""
        self._state = state
        self._refresh()

    @property
    def chosen(self) -> Record | None:
        """The call that is selected."""
        rows = self.list.selectionModel().selectedRows()
        record: Record | None = rows[0].data(RECORD) if rows else None
        return record

    @Slot()
    def _refresh(self) -> None:
        ended = self._state.ended if self._state is not None else ()
        shown = [one for one in ended if self.reads.isChecked() or not one.only_read]
        if shown != self._shown:
            self._replace(shown)
        self._empty.setVisible(not shown)
        self.list.setVisible(bool(shown))
        self._show_undo()

    def _replace(self, shown: list[Record]) -> None:
        """List other calls; what is selected and what is looked at stay where they are."""
        chosen, bar = self.chosen, self.list.verticalScrollBar()
        looked_at = self.list.indexAt(self.list.viewport().rect().topLeft())
        first = looked_at.data(RECORD) if looked_at.isValid() and bar.value() else None
        self._shown = shown
        self.model.show_records(shown)
        rows = {one.id: row for row, one in enumerate(shown)} if chosen or first else {}
        if chosen is not None and chosen.id in rows:
            self.list.setCurrentIndex(self.model.index(rows[chosen.id]))
        if first is not None and first.id in rows:
            top = QAbstractItemView.ScrollHint.PositionAtTop
            self.list.scrollTo(self.model.index(rows[first.id]), top)

    @Slot()
    def _show_undo(self) -> None:
        if self._state is None:
            return
        self.menu.tell(self.chosen.id if self.chosen is not None else "")
        record = self._meant()
        why = sentences.why_not_undo(record, self._state)
        named = record is not None and record.undo_label is not None
        self.undo.setEnabled(not why)
        self.undo.setText(
            tr("Undo {title}", title=plain.line(record.title, 32)).replace("&", "&&")
            if named and record is not None
            else tr("Undo")
        )
        self.undo.setToolTip(why)
        self.undo.setAccessibleDescription(why)
        self._why.say(why if self._shown else "")

    def _meant(self) -> Record | None:
        """Give the call that Undo is about: the chosen one, or the newest that left a step."""
        if self.chosen is not None or self._state is None:
            return self.chosen
        newest = next((one for one in self._state.ended if one.undo_label), None)
        return self._state.undoable or newest

    @Slot()
    def _undo(self) -> None:
        record = self._meant()
        if record is not None and record.undo_label is not None:
            self.undone.emit(record.undo_label)

    def _make_list(self) -> QListView:
        made = QListView()
        made.setModel(self.model)
        made.setItemDelegate(_Lines(made))
        made.setUniformItemSizes(True)
        made.setFrameShape(QFrame.Shape.NoFrame)
        made.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        made.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        made.setAccessibleName(tr("What agents did"))
        return made

    def _lay_out(self) -> None:
        gap = self.fontMetrics().height() // 2
        foot = QHBoxLayout()
        foot.setSpacing(gap)
        foot.addWidget(self.undo)
        foot.addStretch(1)
        foot.addWidget(self.reads)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, gap, 0, 0)
        column.setSpacing(gap)
        column.addWidget(self.list, 1)
        column.addWidget(self._empty)
        column.addStretch(0)
        column.addWidget(self._why)
        column.addLayout(foot)


def said(record: Record) -> str:
    """Say who called, and how it ended."""
    return f"{sentences.who(record.client)} · {sentences.ended(record)}"


def _clock(record: Record) -> str:
    at = QDateTime.fromSecsSinceEpoch(int(record.ended or record.began))
    return QLocale().toString(at.time(), QLocale.FormatType.ShortFormat)
