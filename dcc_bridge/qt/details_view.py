"""A text that a question is about: all of it in numbered lines, or first what differs. Main thread.

What is marked has a sign and a reason below, not only a colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dcc_bridge.elicitation.details import DetailsRow, DetailsView
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import small
from dcc_bridge.qt.labels import Mnemonics, add_all, label, plain_column, tr

_LINES: Final = 4, 20  # that are seen at once, at least and at most as it is opened
_COLUMNS: Final = 84, 100
_REASONS: Final = 4
_HUES: Final = {"!": 0.12, "+": 0.36, "-": 0.99}  # of a marked line, a new one, one that is gone
_TINT: Final = 0.2  # how much of it lies on the ground: the text reads as before


class DetailsBox(qt.QWidget):
    """A text with its lines, what is marked in them, and ways to find and to copy."""

    touched = qt.Signal()  # the person reads

    def __init__(self, view: DetailsView, mnemonics: Mnemonics) -> None:
        super().__init__()
        self._title = label("", bold=True)
        self.lines = _Lines()
        self.search = qt.QLineEdit(placeholderText=tr("Find"))
        self.search.setAccessibleName(tr("Find in the lines"))
        self.search.setMaximumWidth(self.fontMetrics().averageCharWidth() * 24)
        self.search.textChanged.connect(self.touched)
        self.search.returnPressed.connect(self.find_next)
        self.switch = small("")  # between what differs and all of it; hidden where nothing does
        self.switch.clicked.connect(self._switch)
        self.copy = small(mnemonics.mark(tr("Copy all")))
        self.copy.clicked.connect(self._copy)
        # Why lines are marked; the line is shown whose reason is chosen.
        self.reasons = qt.QListWidget()
        self.reasons.itemSelectionChanged.connect(self._show_mark)
        self.lines.verticalScrollBar().valueChanged.connect(self.touched)
        shortcut = qt.QShortcut(qt.QKeySequence(qt.QKeySequence.StandardKey.Find), self)
        shortcut.activated.connect(self.search.setFocus)
        self._lay_out()
        self.show_view(view)

    def show_view(self, view: DetailsView) -> None:
        """Show a text, from its beginning."""
        self.reasons.clear()  # first: it takes the choice of one of them back
        self._view = view
        self.switch.setVisible(bool(view.changes))
        self.reasons.addItems(list(view.marks))
        self.reasons.setVisible(bool(view.marks))
        self._fit_reasons()
        self._show(view.changes or view.rows)

    def resizeEvent(self, event: qt.QResizeEvent) -> None:
        """Wrap the reasons otherwise where it is narrower."""
        super().resizeEvent(event)
        self._fit_reasons()

    def _fit_reasons(self) -> None:
        """Give each reason the lines that it needs: a list of Qt's gives it one."""
        metrics, wrap, heights = self.fontMetrics(), qt.Qt.TextFlag.TextWordWrap, list[int]()
        area = qt.QRect(0, 0, max(1, self.width() - 2 * metrics.lineSpacing()), 9999)
        for row, why in enumerate(self._view.marks):
            heights.append(metrics.boundingRect(area, wrap, why).height() + metrics.leading() + 4)
            self.reasons.item(row).setSizeHint(qt.QSize(area.width(), heights[row]))
        self.reasons.setFixedHeight(sum(heights[:_REASONS]) + 2 * self.reasons.frameWidth())

    def _lay_out(self) -> None:
        column, row = plain_column(self), qt.QHBoxLayout()
        row.addWidget(self._title, 1)
        add_all(row, self.search, self.switch, self.copy)
        column.addLayout(row)
        column.addWidget(self.lines, 1)
        column.addWidget(self.reasons)
        self.reasons.setWordWrap(True)
        self.reasons.setHorizontalScrollBarPolicy(qt.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.reasons.setAccessibleName(tr("Why lines are marked"))

    def _show(self, rows: Sequence[DetailsRow]) -> None:
        view, is_whole = self._view, rows is self._view.rows
        titles = (view.title if is_whole else "", view.difference)
        self._title.setText(" · ".join(filter(None, titles)))
        self.switch.setText(tr("Show what differs") if is_whole else tr("Show all lines"))
        self.lines.show_rows(rows, signed=not is_whole)
        self.lines.setAccessibleName(tr("The text: {title}", title=self._title.text()))
        signs = [f"{row.sign} {row.text}" for row in rows if row.sign != " " and not is_whole]
        self.lines.setAccessibleDescription("\n".join([*view.marks, *signs]))

    @qt.Slot()
    def _switch(self) -> None:
        view = self._view
        self._show(view.rows if self.lines.rows is view.changes else view.changes)
        self.touched.emit()

    @qt.Slot()
    def _copy(self) -> None:
        qt.QApplication.clipboard().setText("\n".join(row.text for row in self._view.rows))

    @qt.Slot()
    def find_next(self) -> None:
        """Go on to the next place of what is looked for; after the last one to the first."""
        if not self.lines.find(self.search.text()):
            self.lines.moveCursor(qt.QTextCursor.MoveOperation.Start)
            self.lines.find(self.search.text())

    @qt.Slot()
    def _show_mark(self) -> None:
        number = [row.number for row in self._view.rows if row.mark][self.reasons.currentRow()]
        if number not in [row.number for row in self.lines.rows]:
            self._show(self._view.rows)
        at = [row.number for row in self.lines.rows].index(number)
        self.lines.setTextCursor(qt.QTextCursor(self.lines.document().findBlockByNumber(at)))
        self.lines.centerCursor()


class _Lines(qt.QPlainTextEdit):
    """Lines that can be read and selected, with their numbers beside them."""

    def __init__(self) -> None:
        super().__init__(undoRedoEnabled=False, tabChangesFocus=True)
        self.rows: Sequence[DetailsRow] = ()
        self.is_signed = False  # new and gone ones are drawn as such
        fixed, font = qt.QFontDatabase.SystemFont.FixedFont, self.font()
        font.setFamily(qt.QFontDatabase.systemFont(fixed).family())  # in the host's own size
        self.setFont(font)
        flags = qt.Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        self.setLayoutDirection(qt.Qt.LayoutDirection.LeftToRight)
        option = qt.QTextOption()
        option.setTextDirection(qt.Qt.LayoutDirection.LeftToRight)
        option.setWrapMode(qt.QTextOption.WrapMode.WrapAnywhere)
        self.document().setDefaultTextOption(option)
        self._numbers = _Numbers(self)

    def show_rows(self, rows: Sequence[DetailsRow], *, signed: bool) -> None:
        self.rows, self.is_signed = rows, signed
        self.setPlainText("\n".join(row.text for row in rows))
        wide = self.fontMetrics().horizontalAdvance("0") * (len(str(len(rows))) + 6)
        self.setViewportMargins(wide, 0, 0, 0)
        self._numbers.resize(wide, self._numbers.height())
        self.updateGeometry()

    def sizeHint(self) -> qt.QSize:
        metrics, lengths = self.fontMetrics(), [len(row.text) + 6 for row in self.rows]
        columns = min(max(_COLUMNS[0], *lengths, 0), _COLUMNS[1])
        lines = min(max(_LINES[0], len(lengths) + 1), _LINES[1])
        wide = self._numbers.width() + columns * metrics.horizontalAdvance("0")
        return qt.QSize(wide, lines * metrics.lineSpacing())

    def resizeEvent(self, event: qt.QResizeEvent) -> None:
        super().resizeEvent(event)
        area = self.contentsRect()
        self._numbers.setGeometry(area.x(), area.y(), self._numbers.width(), area.height())

    def visible(self) -> Iterator[tuple[DetailsRow, qt.QRect]]:
        block = self.firstVisibleBlock()
        area = self.blockBoundingGeometry(block).translated(self.contentOffset())
        for row in self.rows[block.blockNumber() :]:
            area.setHeight(self.blockBoundingRect(block).height())
            yield row, area.toAlignedRect()
            area.translate(0, area.height())
            block = block.next()
            if area.top() > self.viewport().height():
                return

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        painter, wide = qt.QPainter(self.viewport()), self.viewport().width()
        painter.setOpacity(_TINT)
        for row, area in self.visible():
            hue = _HUES.get("!" if row.mark else row.sign if self.is_signed else "")
            if hue is not None:
                tint = qt.QColor.fromHsvF(hue, 0.9, 0.9)
                painter.fillRect(0, area.y(), wide, area.height(), tint)
        painter.end()
        super().paintEvent(event)
        self._numbers.update()


class _Numbers(qt.QWidget):
    """The numbers of the lines, and a sign at those that are marked."""

    def __init__(self, lines: _Lines) -> None:
        super().__init__(lines)
        self._lines = lines

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        painter, lines = qt.QPainter(self), self._lines
        painter.setFont(lines.font())
        high, right = lines.fontMetrics().lineSpacing(), qt.Qt.AlignmentFlag.AlignRight
        wide = self.width() - lines.fontMetrics().horizontalAdvance("0") // 2
        for row, area in lines.visible():
            sign = row.sign if lines.is_signed else ""
            text = f"{'! ' if row.mark else ''}{row.number or ''} {sign:1}"
            painter.drawText(0, area.y(), wide, high, right, text)
        painter.end()
