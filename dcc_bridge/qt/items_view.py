"""The items that a consent is about, as a question's dialog lists them. Main thread.

`Items` is a Qt model over the question's tuple: 100,000 rows cost no more than ten. `Preview` draws
the list, a filter and the counts by type. If a path is too long for a line, the rows wrap, and the
parents that all paths share stand once above the list. So each name can be read whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from dcc_bridge.elicitation.consent_view import item_counts
from dcc_bridge.elicitation.question import Consent, Question
from dcc_bridge.elicitation.text import breakable, safe_line, tool_tip
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import small
from dcc_bridge.qt.labels import SMALL, Mnemonics, add_all, label, plain_column, tr
from dcc_bridge.qt.wrapped import MAX_LINE_LENGTH, wrap

_MAX_LINES: Final = 7  # that the list asks for
_MAX_PATH_LENGTH: Final = 4096  # characters of a path that are shown
_SEPARATORS: Final = "/|"  # between a parent and its child in a path
_MIN_FILTERED_ROWS: Final = 8  # a shorter list has no filter
Index = qt.QModelIndex | qt.QPersistentModelIndex


class Items(qt.QAbstractListModel):
    """The items that match a filter, one a row.

    Attributes:
        has_long: Whether a path is so long that the rows have to wrap.
        parents: The shared beginning of all paths, which the rows leave out; or "".
    """

    def __init__(self, question: Question) -> None:
        super().__init__()
        consent = question.consent or Consent()
        self._items = consent.items
        self._shown = consent.shown_items
        self._kinds = consent.kinds
        self._rows: Sequence[int] = range(len(self._items))
        longest = max((len(path) for path in self._shown), default=0)
        self.has_long = longest > MAX_LINE_LENGTH
        self.parents = ""
        if self.has_long:
            self.parents = _shared_parents(self._shown)

    def rowCount(self, parent: Index = qt.QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        """Return how many items match."""
        if parent.isValid():
            return 0
        return len(self._rows)

    def data(self, index: Index, role: int = qt.Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text of a row: its path without `parents`; in a tooltip the whole path."""
        number = self._rows[index.row()]
        item = self._shown[number]
        match role:
            case qt.Qt.ItemDataRole.DisplayRole:
                shown = safe_line(item.removeprefix(self.parents), _MAX_PATH_LENGTH)
                if self.has_long:
                    return breakable(shown)
                return shown
            case qt.Qt.ItemDataRole.AccessibleTextRole:
                return safe_line(item, _MAX_PATH_LENGTH)
            case qt.Qt.ItemDataRole.ToolTipRole:
                lines = [breakable(safe_line(item, _MAX_PATH_LENGTH))]
                if self._kinds:
                    lines.append(safe_line(self._kinds[number]))
                return tool_tip("\n".join(lines), wraps=self.has_long)
        return None

    @qt.Slot(str)
    def narrow(self, text: str) -> None:
        """Show the items whose path, label or kind contains a text, in either case."""
        wanted = text.casefold()
        numbers = range(len(self._items))
        self.beginResetModel()
        self._rows = numbers
        if wanted:
            self._rows = [number for number in numbers if wanted in self._words(number)]
        self.endResetModel()

    def at(self, rows: Sequence[int]) -> list[str]:
        """Return the items of some rows; without rows, all items that match."""
        if not rows:
            return [self._items[number] for number in self._rows]
        return [self._items[self._rows[row]] for row in rows]

    def _words(self, number: int) -> str:
        kind = ""
        if self._kinds:
            kind = self._kinds[number]
        return f"{self._items[number]} {self._shown[number]} {kind}".casefold()


def _shared_parents(paths: Sequence[str]) -> str:
    """Return the beginning of all paths up to the last parent that they share, or ""."""
    first = min(paths)
    last = max(paths)  # the beginning that the first and the last path share, all paths share
    if first == last:
        return ""
    length = 0
    for position, (character, other) in enumerate(zip(first, last, strict=False), 1):
        if character != other:
            break
        if character in _SEPARATORS:
            length = position
    return first[:length]


class Preview(qt.QWidget):
    """The items of a consent, their number by type, and whether undo brings them back.

    Attributes:
        items: The model of the list.
        list: The list of the items.
        filter: The line that filters the list; hidden above a short one.
        look: The button that selects the chosen items in the scene, or all of them.
        parents: The label of the parents that all paths share; hidden where there are none.
    """

    def __init__(
        self,
        question: Question,
        undo: qt.QWidget,
        mnemonics: Mnemonics,
        select: Callable[[Sequence[str]], None],
    ) -> None:
        """Draw the items of a question.

        Args:
            question: The question, with a consent.
            undo: The widget that says whether undo brings the items back; it stands at the bottom.
            mnemonics: Assigns the letter of the button.
            select: Selects items in the scene.
        """
        super().__init__()
        self._select = select
        self.items = Items(question)
        self.list = self._make_list()
        hint = tr("Filter by name or type")
        self.filter = qt.QLineEdit(placeholderText=hint, clearButtonEnabled=True)
        self.filter.setAccessibleName(tr("Filter the list"))
        self.filter.setVisible(len(question.items) >= _MIN_FILTERED_ROWS)
        self.filter.textChanged.connect(self.items.narrow)
        caption = mnemonics.mark(tr("Select in the scene"))
        self.look = small(caption, flat=False)
        self.look.clicked.connect(self._look)
        counts = item_counts(question.consent or Consent(), tr)
        top = qt.QHBoxLayout()
        top.addWidget(label(counts, bold=True), 1)
        top.addWidget(self.look)
        parents = safe_line(self.items.parents, _MAX_PATH_LENGTH)
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
        """Return the selected items, or all that match."""
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
        view.setAccessibleName(tr("Affected items"))
        return view


class _List(qt.QListView):
    """A list that asks for the height of a few lines, however many rows it has."""

    def sizeHint(self) -> qt.QSize:
        metrics = self.fontMetrics()
        count = 0
        if self.model() is not None:
            count = self.model().rowCount()
        row_height = max(metrics.lineSpacing(), self.sizeHintForRow(0))
        height = row_height * max(2, min(_MAX_LINES, count))
        limit = 2 * _MAX_LINES * metrics.lineSpacing()  # a row may be many lines high
        frame = 2 * self.frameWidth()
        return qt.QSize(metrics.averageCharWidth() * 40, min(height, limit) + frame)


class NameToArm(qt.QWidget):
    """A line in which the person types a word before they can agree to a lasting loss.

    Attributes:
        lacking: Emitted as the text changes; True until the text is the word.
        editor: The line.
    """

    lacking = qt.Signal(bool)

    def __init__(self, word: str) -> None:
        super().__init__()
        self._word = word
        self.editor = qt.QLineEdit()
        self.editor.setAccessibleName(tr("Type {word} to continue", word=safe_line(word)))
        self.editor.textChanged.connect(self._check)
        request = label(tr("Type {word} to continue:", word=safe_line(word)))
        add_all(plain_column(self), request, self.editor)

    @qt.Slot(str)
    def _check(self, text: str) -> None:
        self.lacking.emit(text.strip() != self._word)
