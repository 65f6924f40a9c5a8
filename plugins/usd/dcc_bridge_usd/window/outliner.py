"""The outliner: a filter and the tree of prims, with the selection of the session.

Main thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QLineEdit,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from . import scene
from .prims import Column, PrimModel
from .scene import SessionFeed
from .tree import Kind

if TYPE_CHECKING:
    from ..host import UsdSession

_MAX_ROWS_AT_FIRST = 32  # that are expanded when a scene is opened
_MAX_ROWS_OF_SEARCH = 2000  # that are expanded to show all matches


class Outliner(QWidget):
    """The prims of a session.

    Attributes:
        model: The prims.
        view: The tree of prims.
        filter: The words that are searched for.
        refused: Emitted when an edit was not possible; the text says why.
    """

    refused = Signal(str)

    def __init__(
        self, session: UsdSession, feed: SessionFeed, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._syncing = False
        self._expanded: list[str] = []
        self.model = PrimModel(session, self)
        self.model.refused.connect(self.refused)
        self.filter = self._make_filter()
        self.view = self._make_view()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        top = QVBoxLayout()
        top.setContentsMargins(8, 2, 8, 6)
        top.addWidget(self.filter)
        layout.addLayout(top)
        layout.addWidget(self.view)
        self._follow(feed)
        self.setFocusProxy(self.view)
        self._expand_some()
        self._show_selection()

    def _make_filter(self) -> QLineEdit:
        line = QLineEdit(self)
        line.setPlaceholderText("Filter by name or type")
        line.setClearButtonEnabled(True)
        line.setAccessibleName("Filter prims")
        line.textChanged.connect(self._search)
        return line

    def _make_view(self) -> QTreeView:
        view = QTreeView(self)
        view.setModel(self.model)
        view.setAccessibleName("Prims")
        view.setUniformRowHeights(True)
        view.setAllColumnsShowFocus(True)
        view.setIndentation(16)
        view.setIconSize(QSize(16, 16))
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        view.clicked.connect(self._click)
        view.selectionModel().selectionChanged.connect(self._take_selection)
        view.ensurePolished()  # or its first rows are laid out without the style sheet
        _size_columns(view.header())
        return view

    def _follow(self, feed: SessionFeed) -> None:
        feed.prims_changed.connect(self._refresh)
        feed.values_changed.connect(self.view.viewport().update)
        feed.stage_opened.connect(self._open)
        feed.selection_changed.connect(self._show_selection)

    def _open(self) -> None:
        tops = [self.model.index(row, 0) for row in range(self.model.rowCount())]
        if not any(self.view.isExpanded(top) for top in tops):
            self._expand_some()

    def _refresh(self) -> None:
        self._syncing = True
        # The session keeps the selection; Qt would make broken ranges of rows that go.
        self.view.selectionModel().clearSelection()
        self.model.refresh()
        self._syncing = False
        self._select(self._session.selection)

    def _search(self, wanted: str) -> None:
        if not self.model.wanted:
            self._expanded = self._expanded_paths()
        self._syncing = True
        self.model.search(wanted)
        self._syncing = False
        if not wanted:
            for index in self.model.indexes(self._expanded):
                self.view.expand(index)
        elif self.model.size() <= _MAX_ROWS_OF_SEARCH:
            self.view.expandAll()
        self._show_selection()

    def _expanded_paths(self) -> list[str]:
        expanded = [index for index in self.model.indexes(None) if self.view.isExpanded(index)]
        return [self.model.path(index) for index in expanded]

    def _expand_some(self) -> None:
        """Expand from the top down as many rows as a person can look over, but no materials."""
        rows = _MAX_ROWS_AT_FIRST
        waiting = deque([QModelIndex()])
        while waiting:
            parent = waiting.popleft()
            count = self.model.rowCount(parent)
            children = [self.model.index(row, 0, parent) for row in range(count)]
            if parent.isValid() and (len(children) > rows or self._are_materials(children)):
                continue
            rows -= len(children)
            self.view.expand(parent)
            waiting.extend(children)

    def _are_materials(self, indexes: list[QModelIndex]) -> bool:
        return all(self.model.kind(index) in (Kind.MATERIAL, Kind.SHADER) for index in indexes)

    def _take_selection(self) -> None:
        """Select in the session what the person selected here, the prim clicked last first."""
        if self._syncing:
            return
        current = self.view.currentIndex()
        clicked = self.model.path(current) if current.isValid() else ""
        paths = self.model.paths(self.view.selectionModel().selection())
        self._session.selection = sorted(paths, key=lambda path: path != clicked)

    def _show_selection(self) -> None:
        """Select what the session has selected, and scroll there if the selection is new here."""
        paths = self._session.selection
        shown = self.model.paths(self.view.selectionModel().selection())
        if set(paths) == set(shown):
            return
        selected = self._select(paths)
        if selected:
            self._bring_to_view(selected[0])

    def _select(self, paths: list[str]) -> list[QModelIndex]:
        selected = self.view.selectionModel()
        flags = QItemSelectionModel.SelectionFlag
        indexes = self.model.indexes(paths)
        self._syncing = True
        selected.select(_joined(indexes), flags.ClearAndSelect | flags.Rows)
        if indexes:
            selected.setCurrentIndex(indexes[0], flags.NoUpdate)
        self._syncing = False
        return indexes

    def _bring_to_view(self, index: QModelIndex) -> None:
        """Scroll to a row, to the middle only if the row is out of sight."""
        place = self.view.visualRect(index)
        hint = QAbstractItemView.ScrollHint.PositionAtCenter
        if not place.isEmpty() and self.view.viewport().rect().contains(place.center()):
            hint = QAbstractItemView.ScrollHint.EnsureVisible
        self.view.scrollTo(index, hint)

    def _click(self, index: QModelIndex) -> None:
        path = self.model.path(index)
        if index.column() == Column.EYE and self.model.is_imageable(path):
            self._try(scene.show, path, not self.model.is_visible(path))

    def _try(self, edit: Callable[..., None], *arguments: object) -> None:
        try:
            edit(self._session, *arguments)
        except scene.Refused as refusal:
            self.refused.emit(str(refusal))

    def rename(self) -> None:
        """Open the editor on the current prim's name."""
        current = self.view.currentIndex()
        if current.isValid():
            self.view.edit(current.siblingAtColumn(Column.NAME))

    def delete(self) -> None:
        """Delete the selected prims."""
        self._try(scene.delete, self._session.selection)


def _size_columns(header: QHeaderView) -> None:
    header.setStretchLastSection(False)
    header.setSectionResizeMode(Column.NAME, QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(Column.TYPE, QHeaderView.ResizeMode.Interactive)
    header.setSectionResizeMode(Column.EYE, QHeaderView.ResizeMode.Fixed)
    header.setMinimumSectionSize(28)
    header.resizeSection(Column.TYPE, header.fontMetrics().horizontalAdvance("DistantLight") + 24)
    header.resizeSection(Column.EYE, 30)


def _joined(indexes: list[QModelIndex]) -> QItemSelection:
    """Make a selection of rows with neighbours joined: a range for each row is slow."""
    selection = QItemSelection()
    if not indexes:
        return selection
    in_order = sorted(indexes, key=_place)
    first = in_order[0]
    last = first
    parent, row = _place(first)
    for index in in_order[1:]:
        place = _place(index)
        if place != (parent, row + 1):
            selection.select(first, last)
            first = index
        last = index
        parent, row = place
    selection.select(first, last)
    return selection


def _place(index: QModelIndex) -> tuple[int, int]:
    """Return the id of an index's parent, and the row below it."""
    return index.parent().internalId(), index.row()
