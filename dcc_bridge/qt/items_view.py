"""What a consent is about: the items, how many of which kind, and what the skill is called with.

The list is a model over the question's tuple: 100,000 rows cost no more than ten. Paths that are
too long for a line are wrapped, and the parents that all of them share are told once, above the
list: so each name can be read whole, and what differs is seen. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from dcc_bridge.elicitation.question import Consent, Question
from dcc_bridge.elicitation.text import breakable, safe_line, tool_tip
from dcc_bridge.elicitation.view import item_counts
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import small
from dcc_bridge.qt.labels import SMALL, Mnemonics, add_all, label, plain_column, tr
from dcc_bridge.qt.wrapped import FITS, wrap

_LINES: Final = 7
_MOST_SHOWN: Final = 4096  # characters of a path
_PARENT_MARKS: Final = "/|"  # what stands between a parent and its child in a path
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
        self.has_long = max(map(len, self._shown), default=0) > FITS  # some have to be wrapped
        self.parents = _shared_parents(self._shown) if self.has_long else ""
        self._rows: Sequence[int] = range(len(self._items))

    def rowCount(self, parent: Index = qt.QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Give how many match."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = qt.Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what is read of a row: below the shared parents; whole in its tool tip."""
        at = self._rows[index.row()]
        item = self._shown[at]
        if role == qt.Qt.ItemDataRole.DisplayRole:
            shown = safe_line(item.removeprefix(self.parents), _MOST_SHOWN)
            return breakable(shown) if self.has_long else shown
        if role == qt.Qt.ItemDataRole.AccessibleTextRole:
            return safe_line(item, _MOST_SHOWN)
        if role == qt.Qt.ItemDataRole.ToolTipRole:
            lines = [breakable(safe_line(item, _MOST_SHOWN))]
            if self._kinds:
                lines.append(safe_line(self._kinds[at]))
            return tool_tip("\n".join(lines), wraps=self.has_long)
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


def _shared_parents(items: Sequence[str]) -> str:
    """Return the beginning of all paths up to the last parent that they share, or ""."""
    first, last = min(items), max(items)  # whatever these share, all between them share too
    if first == last:
        return ""
    shared = 0
    for at, (one, other) in enumerate(zip(first, last, strict=False), 1):
        if one != other:
            break
        if one in _PARENT_MARKS:
            shared = at
    return first[:shared]


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
        parents = safe_line(self.items.parents, _MOST_SHOWN)
        self.parents = label(tr("Below {path}", path=parents), size=SMALL)
        self.parents.setVisible(bool(parents))
        add_all(plain_column(self), top, self.parents, self.filter, self.list, undo)

    @qt.Slot()
    def _look(self) -> None:
        self._select(self._chosen())

    @qt.Slot()
    def _copy(self) -> None:
        qt.QApplication.clipboard().setText("\n".join(self._chosen()))

    def _chosen(self) -> list[str]:
        """Return what is selected, or all that match."""
        rows = [index.row() for index in self.list.selectionModel().selectedRows()]
        return self.items.at(sorted(rows))

    def _make_list(self) -> qt.QListView:
        view = _List(layoutMode=qt.QListView.LayoutMode.Batched)
        view.setUniformItemSizes(True)
        if self.items.has_long:
            wrap(view)
        view.setModel(self.items)
        copy = qt.QAction(tr("Copy"), view)
        copy.setShortcut(qt.QKeySequence(qt.QKeySequence.StandardKey.Copy))
        copy.setShortcutContext(qt.Qt.ShortcutContext.WidgetShortcut)
        copy.triggered.connect(self._copy)
        view.addAction(copy)
        view.setContextMenuPolicy(qt.Qt.ContextMenuPolicy.ActionsContextMenu)
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
        least = min(height, 2 * _LINES * metrics.lineSpacing())  # a row may be many lines high
        return qt.QSize(metrics.averageCharWidth() * 40, least + 2 * self.frameWidth())


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
