"""What a consent is about: the items, how many of which kind, and what the skill is called with.

The list is a model over the question's tuple: 100,000 rows cost no more than ten. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from dcc_bridge.elicitation.question import Consent, Question
from dcc_bridge.elicitation.text import breakable, safe_line, tool_tip
from dcc_bridge.elicitation.view import ArgumentView, item_counts
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import small
from dcc_bridge.qt.labels import SMALL, Mnemonics, add_all, label, plain_column, rule, tr, unmarked

_LINES: Final = 7
_FILTER_FROM: Final = 8  # rows from which on a filter is worth its place
Index = qt.QModelIndex | qt.QPersistentModelIndex


class Items(qt.QAbstractListModel):
    """The items that match a filter, one a row."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        consent = question.consent or Consent()
        self._items = consent.items
        self._shown = consent.shown_items
        self._kinds = consent.kinds
        self._rows: Sequence[int] = range(len(self._items))

    def rowCount(self, parent: Index = qt.QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Give how many match."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = qt.Qt.ItemDataRole.DisplayRole) -> Any:
        """Give what the person reads for an item, and its kind where it is known."""
        at = self._rows[index.row()]
        if role == qt.Qt.ItemDataRole.DisplayRole:
            return safe_line(self._shown[at])
        if role == qt.Qt.ItemDataRole.ToolTipRole and self._kinds:
            return tool_tip(safe_line(self._kinds[at]))
        return None

    @qt.Slot(str)
    def narrow(self, text: str) -> None:
        """Show those whose path, label or kind contains a text."""
        wanted = text.casefold()
        self.beginResetModel()
        rows = range(len(self._items))
        self._rows = [row for row in rows if wanted in self._words(row)] if wanted else rows
        self.endResetModel()

    def at(self, rows: Sequence[int]) -> list[str]:
        """Give the items of some rows, or of all that match where there are none."""
        return [self._items[self._rows[row]] for row in rows or range(len(self._rows))]

    def _words(self, at: int) -> str:
        kind = self._kinds[at] if self._kinds else ""
        return f"{self._items[at]} {self._shown[at]} {kind}".casefold()


class Preview(qt.QWidget):
    """The items of a consent, with how many they are and whether they come back by undo."""

    def __init__(
        self,
        question: Question,
        undo: qt.QWidget,
        mnemonics: Mnemonics,
        select: Callable[[Sequence[str]], None],
    ) -> None:
        super().__init__()
        self._select = select  # selects items in the host
        self.items = Items(question)  # the model of the list
        self.list = self._make_list()
        hint = tr("Filter by name or type")
        self.filter = qt.QLineEdit(placeholderText=hint, clearButtonEnabled=True)
        self.filter.setAccessibleName(tr("Filter the list"))
        self.filter.setVisible(len(question.items) >= _FILTER_FROM)
        self.filter.textChanged.connect(self.items.narrow)
        text = mnemonics.mark(tr("Select in the scene"))
        self.look = small(text, flat=False)  # what is selected, or all
        self.look.clicked.connect(self._look)
        top = qt.QHBoxLayout()
        top.addWidget(label(item_counts(question.consent or Consent(), tr), bold=True), 1)
        top.addWidget(self.look)
        add_all(plain_column(self), top, self.filter, self.list, undo)

    @qt.Slot()
    def _look(self) -> None:
        rows = [index.row() for index in self.list.selectionModel().selectedRows()]
        self._select(self.items.at(rows))

    def _make_list(self) -> qt.QListView:
        view = _List(uniformItemSizes=True, layoutMode=qt.QListView.LayoutMode.Batched)
        view.setModel(self.items)
        view.setSelectionMode(qt.QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setEditTriggers(qt.QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setLayoutDirection(qt.Qt.LayoutDirection.LeftToRight)  # else "/a/b" is drawn as "a/b/"
        view.setTextElideMode(qt.Qt.TextElideMode.ElideMiddle)
        view.setAccessibleName(tr("What this is about"))
        return view


class _List(qt.QListView):
    """A list that wants a few lines, however many there are."""

    def sizeHint(self) -> qt.QSize:
        metrics = self.fontMetrics()
        count = self.model().rowCount() if self.model() is not None else 0
        height = max(metrics.lineSpacing(), self.sizeHintForRow(0)) * max(2, min(_LINES, count))
        return qt.QSize(metrics.averageCharWidth() * 40, height + 2 * self.frameWidth())


class Arguments(qt.QFrame):
    """What a skill is called with: a row for each argument, which no value can draw."""

    changed = qt.Signal()  # it has another height

    def __init__(self, arguments: Sequence[ArgumentView]) -> None:
        super().__init__()
        self.setAccessibleName(tr("What the skill is called with"))
        self.setFrameShape(qt.QFrame.Shape.StyledPanel)
        self.setBackgroundRole(qt.QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        grid = qt.QGridLayout(self)
        grid.setHorizontalSpacing(self.fontMetrics().height())
        grid.setColumnStretch(1, 1)
        for argument in arguments:
            row = grid.rowCount()
            if grid.count():
                grid.addWidget(rule(), row, 0, 1, 2)
            name, value = label(argument.name, bold=True, on_base=True), _Value(argument)
            value.changed.connect(self.changed)
            grid.addWidget(name, row + 1, 0, qt.Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row + 1, 1)


class _Value(qt.QWidget):
    """A value in its cell: the beginning of it, until the person wants to see all."""

    changed = qt.Signal()

    def __init__(self, argument: ArgumentView) -> None:
        super().__init__()
        self._whole = argument.whole
        self._label = label(argument.value, on_base=True)
        self._rest = label(argument.rest, size=SMALL, on_base=True)
        self._rest.setWordWrap(False)
        self._more = small(unmarked(tr("Show all")))
        self._more.setAccessibleName(tr("Show all of {name}", name=argument.name))
        self._more.clicked.connect(self._show_whole)
        row = qt.QHBoxLayout()
        add_all(plain_column(self, 0), self._label, row)
        add_all(row, self._rest, self._more, None)
        self._rest.setVisible(bool(argument.rest))
        self._more.setVisible(bool(argument.whole))

    @qt.Slot()
    def _show_whole(self) -> None:
        self._label.setText(breakable(self._whole))
        self._rest.hide()
        self._more.hide()
        self.changed.emit()


class NameToArm(qt.QWidget):
    """A line in which a word is to be typed before what cannot be undone can be agreed to."""

    lacking = qt.Signal(bool)  # whether the word does not stand there

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word = word
        self.editor = qt.QLineEdit()
        self.editor.setAccessibleName(tr("Type {word} to go on", word=safe_line(word)))
        self.editor.textChanged.connect(self._look)
        request = label(tr("Type {word} to go on:", word=safe_line(word)))
        add_all(plain_column(self), request, self.editor)

    @qt.Slot(str)
    def _look(self, text: str) -> None:
        self.lacking.emit(text.strip() != self._word)
