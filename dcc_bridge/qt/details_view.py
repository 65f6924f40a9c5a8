"""The details of a question, such as code, as the dialog and the panel draw them. Main thread.

`DetailsBox` shows numbered lines: first the changes since the text that was agreed to last, and the
whole text on a button. A marked line has a sign and a reason below the text, besides its colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dcc_bridge.elicitation.details import DetailsRow, DetailsView
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import small
from dcc_bridge.qt.labels import Mnemonics, add_all, label, plain_column, tr
from dcc_bridge.qt.screen_reader import TextLine

# The size of the text as the dialog is opened, in lines and in characters of a line.
_MIN_LINES: Final = 4
_MAX_LINES: Final = 20
_MIN_COLUMNS: Final = 84
_MAX_COLUMNS: Final = 100
_MAX_REASONS: Final = 4  # that are shown without scrolling
_MAX_HEIGHT: Final = 9999  # in pixels, more than any text needs
_HUES: Final = {"!": 0.12, "+": 0.36, "-": 0.99}
"""The hue of a line that is marked, new or gone."""
_TINT_OPACITY: Final = 0.2
"""The opacity of a line's colour: the text on it must stay readable."""


class DetailsBox(qt.QWidget):
    """A text with numbered lines, marks, a search, and a button that copies it.

    Attributes:
        touched: Emitted when the person scrolls, searches or switches.
        lines: The lines of the text.
        search: The line in which a word to find is typed.
        switch: The button between the changes and the whole text; hidden if nothing has changed.
        copy: The button that copies the whole text.
        reasons: The reasons why lines are marked. Choosing a reason shows its line.
    """

    touched = qt.Signal()

    def __init__(self, view: DetailsView, mnemonics: Mnemonics) -> None:
        super().__init__()
        self._title = label("", bold=True)
        self.lines = _Lines()
        self.search = TextLine(tr("Find in the text"), hint=tr("Find"))
        self.search.setMaximumWidth(self.fontMetrics().averageCharWidth() * 24)
        self.search.textChanged.connect(self.touched)
        self.search.returnPressed.connect(self.find_next)
        self.switch = small("")
        self.switch.clicked.connect(self._switch)
        self.copy = small(mnemonics.mark(tr("Copy all")))
        self.copy.clicked.connect(self._copy)
        self.reasons = qt.QListWidget()
        self.reasons.itemSelectionChanged.connect(self._show_mark)
        self.lines.verticalScrollBar().valueChanged.connect(self.touched)
        shortcut = qt.QShortcut(qt.QKeySequence(qt.QKeySequence.StandardKey.Find), self)
        shortcut.activated.connect(self.search.setFocus)
        self._lay_out()
        self.show_view(view)

    def show_view(self, view: DetailsView) -> None:
        """Show a text, from its beginning."""
        self.reasons.clear()  # before the new view is set: this deselects a reason of the old one
        self._view = view
        self.switch.setVisible(bool(view.changes))
        self.reasons.addItems(list(view.marks))
        self.reasons.setVisible(bool(view.marks))
        self._fit_reasons()
        self._show(view.changes or view.rows)

    def resizeEvent(self, event: qt.QResizeEvent) -> None:
        """Wrap the reasons again, in the new width."""
        super().resizeEvent(event)
        self._fit_reasons()

    @qt.Slot()
    def find_next(self) -> None:
        """Go on to the next place of the typed word; after the last place to the first."""
        if not self.lines.find(self.search.text()):
            self.lines.moveCursor(qt.QTextCursor.MoveOperation.Start)
            self.lines.find(self.search.text())

    def _fit_reasons(self) -> None:
        """Make each reason as high as its wrapped lines, as Qt's list does not do by itself."""
        metrics = self.fontMetrics()
        width = max(1, self.width() - 2 * metrics.lineSpacing())
        area = qt.QRect(0, 0, width, _MAX_HEIGHT)
        heights = []
        for row, reason in enumerate(self._view.marks):
            text_area = metrics.boundingRect(area, qt.Qt.TextFlag.TextWordWrap, reason)
            height = text_area.height() + metrics.leading() + 4
            self.reasons.item(row).setSizeHint(qt.QSize(width, height))
            heights.append(height)
        visible_height = sum(heights[:_MAX_REASONS])
        self.reasons.setFixedHeight(visible_height + 2 * self.reasons.frameWidth())

    def _lay_out(self) -> None:
        column = plain_column(self)
        row = qt.QHBoxLayout()
        row.addWidget(self._title, 1)
        add_all(row, self.search, self.switch, self.copy)
        column.addLayout(row)
        column.addWidget(self.lines, 1)
        column.addWidget(self.reasons)
        self.reasons.setWordWrap(True)
        self.reasons.setHorizontalScrollBarPolicy(qt.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.reasons.setAccessibleName(tr("Why these lines are marked"))

    def _show(self, rows: Sequence[DetailsRow]) -> None:
        """Show the rows of the whole text, or those of the changes."""
        view = self._view
        is_whole = rows is view.rows
        titles = []
        if is_whole and view.title:
            titles.append(view.title)
        if view.difference:
            titles.append(view.difference)
        self._title.setText(" · ".join(titles))
        description = [*view.marks]
        if is_whole:
            self.switch.setText(tr("Show changes"))
        else:
            self.switch.setText(tr("Show all lines"))
            description += [f"{row.sign} {row.text}" for row in rows if row.sign != " "]
        self.lines.show_rows(rows, signed=not is_whole)
        self.lines.setAccessibleName(tr("The text: {title}", title=self._title.text()))
        self.lines.setAccessibleDescription("\n".join(description))

    @qt.Slot()
    def _switch(self) -> None:
        if self.lines.rows is self._view.changes:
            self._show(self._view.rows)
        else:
            self._show(self._view.changes)
        self.touched.emit()

    @qt.Slot()
    def _copy(self) -> None:
        text = "\n".join(row.text for row in self._view.rows)
        qt.QApplication.clipboard().setText(text)

    @qt.Slot()
    def _show_mark(self) -> None:
        """Show the line whose reason is chosen."""
        marked = [row.number for row in self._view.rows if row.mark]
        number = marked[self.reasons.currentRow()]
        shown = [row.number for row in self.lines.rows]
        if number not in shown:
            self._show(self._view.rows)
            shown = [row.number for row in self.lines.rows]
        block = self.lines.document().findBlockByNumber(shown.index(number))
        self.lines.setTextCursor(qt.QTextCursor(block))
        self.lines.centerCursor()


class _Lines(qt.QPlainTextEdit):
    """Lines that can be read and selected, with their numbers beside them."""

    def __init__(self) -> None:
        super().__init__(undoRedoEnabled=False, tabChangesFocus=True)
        self.rows: Sequence[DetailsRow] = ()
        self.is_signed = False  # whether to draw which lines are new or gone
        fixed = qt.QFontDatabase.systemFont(qt.QFontDatabase.SystemFont.FixedFont)
        font = self.font()
        font.setFamily(fixed.family())  # in the host's own size
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
        self.rows = rows
        self.is_signed = signed
        self.setPlainText("\n".join(row.text for row in rows))
        columns = len(str(len(rows))) + 6
        width = self.fontMetrics().horizontalAdvance("0") * columns
        self.setViewportMargins(width, 0, 0, 0)
        self._numbers.resize(width, self._numbers.height())
        self.updateGeometry()

    def sizeHint(self) -> qt.QSize:
        metrics = self.fontMetrics()
        lengths = [len(row.text) + 6 for row in self.rows]
        columns = min(max(_MIN_COLUMNS, *lengths, 0), _MAX_COLUMNS)
        lines = min(max(_MIN_LINES, len(lengths) + 1), _MAX_LINES)
        width = self._numbers.width() + columns * metrics.horizontalAdvance("0")
        return qt.QSize(width, lines * metrics.lineSpacing())

    def resizeEvent(self, event: qt.QResizeEvent) -> None:
        super().resizeEvent(event)
        area = self.contentsRect()
        self._numbers.setGeometry(area.x(), area.y(), self._numbers.width(), area.height())

    def visible_rows(self) -> Iterator[tuple[DetailsRow, qt.QRect]]:
        """Yield each row that can be seen, with its area in the viewport."""
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
        painter = qt.QPainter(self.viewport())
        width = self.viewport().width()
        painter.setOpacity(_TINT_OPACITY)
        for row, area in self.visible_rows():
            hue = self._hue(row)
            if hue is not None:
                tint = qt.QColor.fromHsvF(hue, 0.9, 0.9)
                painter.fillRect(0, area.y(), width, area.height(), tint)
        painter.end()
        super().paintEvent(event)
        self._numbers.update()

    def _hue(self, row: DetailsRow) -> float | None:
        if row.mark:
            return _HUES["!"]
        if self.is_signed:
            return _HUES.get(row.sign)
        return None


class _Numbers(qt.QWidget):
    """The numbers of the lines, and a sign at each marked line."""

    def __init__(self, lines: _Lines) -> None:
        super().__init__(lines)
        self._lines = lines

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        painter = qt.QPainter(self)
        metrics = self._lines.fontMetrics()
        painter.setFont(self._lines.font())
        height = metrics.lineSpacing()
        width = self.width() - metrics.horizontalAdvance("0") // 2
        for row, area in self._lines.visible_rows():
            text = self._number_and_signs(row)
            painter.drawText(0, area.y(), width, height, qt.Qt.AlignmentFlag.AlignRight, text)
        painter.end()

    def _number_and_signs(self, row: DetailsRow) -> str:
        mark = ""
        if row.mark:
            mark = "! "
        sign = ""
        if self._lines.is_signed:
            sign = row.sign
        return f"{mark}{row.number or ''} {sign:1}"
