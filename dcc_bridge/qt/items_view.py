"""The items that a consent is about, as a question's dialog draws them. Main thread.

`Preview` draws the items, a search, and how many of which kind there are. Where the asker can take
fewer, each row has a check box. If a path in a list is too long for a line, the rows wrap. A name
in a group may be cut in its middle; its tooltip, the clipboard and a screen reader have all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from dcc_bridge.elicitation.consent_view import item_counts
from dcc_bridge.elicitation.question import Consent
from dcc_bridge.elicitation.text import breakable, safe_line
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import small
from dcc_bridge.qt.item_model import MAX_PATH_LENGTH, Items
from dcc_bridge.qt.labels import SMALL, Mnemonics, add_all, label, plain_column, tr
from dcc_bridge.qt.screen_reader import RowReader, TextLine
from dcc_bridge.qt.wrapped import wrap

_MAX_LINES: Final = 7  # that the list asks for
_MIN_SEARCHED_ROWS: Final = 8  # a shorter list has no search
_MAX_EXPANDED: Final = 500  # found items whose groups are opened
_SEARCH_CHARACTERS: Final = 18  # average ones, the width of the search


class Preview(qt.QWidget):
    """The items of a consent, with their number by type.

    Attributes:
        items: The model of the list.
        list: The list of the items, or the tree of their groups.
        everything: The check box of all items that match; hidden where all have to go.
        search: The line that searches the list; hidden above a short one.
        found: Says how many items match; hidden while nothing is searched.
        look: The button that selects the chosen items in the scene, or all of them.
        parents: The label of the parents that all paths share; hidden where there are none.
    """

    def __init__(
        self, consent: Consent, mnemonics: Mnemonics, select: Callable[[Sequence[str]], None]
    ) -> None:
        """Draw the items of a consent.

        Args:
            consent: The consent.
            mnemonics: Assigns the letter of the button.
            select: Selects items in the scene.
        """
        super().__init__()
        self._select = select
        self._total = len(consent.items)
        self.items = Items(consent)
        self.list = self._make_list()
        self.everything = qt.QCheckBox()
        self.everything.setAccessibleName(tr("All that are shown"))
        self.everything.setToolTip(tr("All that are shown"))
        self.everything.setVisible(consent.may_take_fewer)
        self.everything.clicked.connect(self._tick_all)
        name = tr("Search by name or type")
        self.search = TextLine(name, hint=tr("Search"), is_clearable=True)
        self.search.setToolTip(name)
        width = self.fontMetrics().averageCharWidth() * _SEARCH_CHARACTERS
        self.search.setFixedWidth(width + self.fontMetrics().height())
        self.search.setVisible(self._total >= _MIN_SEARCHED_ROWS)
        self.search.textChanged.connect(self._narrow)
        self.found = label("", size=SMALL)
        self.found.hide()
        caption = mnemonics.mark(tr("Select in the scene"))
        self.look = small(caption, flat=False)
        self.look.clicked.connect(self._look)
        parents = safe_line(self.items.parents, MAX_PATH_LENGTH)
        self.parents = label(tr("In {path}", path=parents), size=SMALL)
        self.parents.setVisible(bool(parents))
        self.items.ticked.connect(self._show_ticks)
        self._show_ticks()
        self._lay_out(item_counts(consent, tr))

    def _lay_out(self, counts: str) -> None:
        if self.items.group_count:
            counts = tr("{items} in {n:,} groups", items=counts, n=self.items.group_count)
        top = qt.QHBoxLayout()
        top.addWidget(self.everything)
        top.addWidget(label(counts, bold=True), 1)
        top.addWidget(self.look)
        top.addWidget(self.search)
        add_all(plain_column(self), top, self.parents, self.found, self.list)
        self.setTabOrder(self.everything, self.look)
        self.setTabOrder(self.look, self.search)
        self.setTabOrder(self.search, self.list)

    @qt.Slot(str)
    def _narrow(self, text: str) -> None:
        """Show what matches, with its groups open, and say how many items that are."""
        self.items.narrow(text)
        count = self.items.count
        self.found.setText(tr("{n:,} of {total:,} shown", n=count, total=self._total))
        self.found.setVisible(bool(text))
        if isinstance(self.list, qt.QTreeView) and text and count <= _MAX_EXPANDED:
            self.list.expandAll()
        self._show_ticks()

    @qt.Slot(bool)
    def _tick_all(self, is_ticked: bool) -> None:
        self.items.tick_all(is_ticked)

    @qt.Slot()
    def _show_ticks(self) -> None:
        """Show in the check box of all items whether all, some or none are ticked."""
        self.everything.setCheckState(self.items.state_of_all())
        self.list.viewport().update()

    @qt.Slot()
    def _look(self) -> None:
        self._select(self._chosen())

    @qt.Slot()
    def _copy(self) -> None:
        qt.QApplication.clipboard().setText("\n".join(self._chosen()))

    def _chosen(self) -> list[str]:
        """Return the selected items, or all that match."""
        return self.items.at(sorted(self.list.selectionModel().selectedRows()))

    def _make_list(self) -> qt.QListView | qt.QTreeView:
        view: qt.QListView | qt.QTreeView
        if self.items.is_grouped:
            view = _Tree()
        else:
            view = _List(layoutMode=qt.QListView.LayoutMode.Batched)
            view.setUniformItemSizes(True)
            if self.items.has_long:
                wrap(view)
        view.setModel(self.items)
        if isinstance(view, _Tree):
            view.size_columns()
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
        view.setTabKeyNavigation(False)
        view.setAccessibleName(tr("Affected items"))
        RowReader(view)
        return view


class _List(qt.QListView):
    """A list that asks for the height of a few lines, however many rows it has."""

    def sizeHint(self) -> qt.QSize:
        return _size_of_some_rows(self)


class _Tree(qt.QTreeView):
    """A tree of groups that asks for the height of a few lines, however many rows it has."""

    def __init__(self) -> None:
        super().__init__(headerHidden=True, uniformRowHeights=True)

    def size_columns(self) -> None:
        """Let the names take the room that the numbers leave."""
        header = self.header()
        header.setStretchLastSection(False)
        header.setResizeContentsPrecision(0)  # only the rows in sight: all rows take too long
        header.setSectionResizeMode(0, qt.QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, qt.QHeaderView.ResizeMode.ResizeToContents)

    def sizeHint(self) -> qt.QSize:
        return _size_of_some_rows(self)


def _size_of_some_rows(view: qt.QListView | qt.QTreeView) -> qt.QSize:
    metrics = view.fontMetrics()
    count = 0
    row_height = metrics.lineSpacing()
    if view.model() is not None:
        count = view.model().rowCount()
        first = view.model().index(0, 0)
        row_height = max(row_height, view.sizeHintForIndex(first).height())
    height = row_height * max(2, min(_MAX_LINES, count))
    limit = 2 * _MAX_LINES * metrics.lineSpacing()  # a row may be many lines high
    frame = 2 * view.frameWidth()
    return qt.QSize(metrics.averageCharWidth() * 40, min(height, limit) + frame)


class NameToArm(qt.QWidget):
    """A line in which the person types a word before they can agree to a lasting loss.

    Attributes:
        changed: Emitted as the text or the word changes.
        editor: The line.
    """

    changed = qt.Signal()

    def __init__(self, word: str) -> None:
        super().__init__()
        self.editor = TextLine()
        self.editor.textChanged.connect(self.changed)
        self._request = label("")
        add_all(plain_column(self), self._request, self.editor)
        self.ask_for(word)

    @property
    def is_lacking(self) -> bool:
        """Whether the word has not been typed."""
        return self.editor.text().strip() != self._word

    def ask_for(self, word: str) -> None:
        """Ask for another word, as the person agrees to something else."""
        self._word = word
        shown = safe_line(word)
        self._request.setText(breakable(tr("Type {word} to continue:", word=shown)))
        self.editor.setAccessibleName(tr("Type {word} to continue", word=shown))
        self.changed.emit()
