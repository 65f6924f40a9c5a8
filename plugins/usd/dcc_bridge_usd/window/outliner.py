"""The outliner: a tree of the prims, with a filter above. Main thread.

The tree and the session have one selection. What the person selects in the tree is selected in the
session, and what a skill selects in the session is shown in the tree. `_selects_itself` is True as
the outliner changes the tree's selection: that is no selection of the person.
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

_MAX_ROWS_AT_FIRST = 32  # shown when a scene is opened
_MAX_ROWS_OF_SEARCH = 2000  # expanded to show all matches; with more, none are


class Outliner(QWidget):
    """The prims of a session, as a tree with a filter.

    Attributes:
        model: The prims as a Qt model.
        view: The tree.
        filter: The text field; prims are searched for its words.
        refused: Emitted with the reason when an edit was not possible.
    """

    refused = Signal(str)

    def __init__(
        self, session: UsdSession, feed: SessionFeed, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._selects_itself = False
        self._expanded_before_search: list[str] = []
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
        self._connect_feed(feed)
        self.setFocusProxy(self.view)
        self._expand_first_rows()
        self._show_selection()

    def _make_filter(self) -> QLineEdit:
        line = QLineEdit(self)
        line.setPlaceholderText("Filter by name or type")
        line.setClearButtonEnabled(True)
        line.setAccessibleName("Filter prims")
        line.textChanged.connect(self._apply_filter)
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
        view.clicked.connect(self._toggle_visibility)
        view.selectionModel().selectionChanged.connect(self._select_in_session)
        view.ensurePolished()  # or its first rows are laid out without the style sheet
        _size_columns(view.header())
        return view

    def _connect_feed(self, feed: SessionFeed) -> None:
        feed.prims_changed.connect(self._refresh_prims)
        feed.values_changed.connect(self.view.viewport().update)
        feed.stage_opened.connect(self._show_opened_stage)
        feed.selection_changed.connect(self._show_selection)

    def _show_opened_stage(self) -> None:
        """Expand the first rows of another scene, and none if only the file name is another."""
        tops = [self.model.index(row, 0) for row in range(self.model.rowCount())]
        if not any(self.view.isExpanded(top) for top in tops):
            self._expand_first_rows()

    def _refresh_prims(self) -> None:
        """Show the prims that the session has now, with the same selection."""
        self._selects_itself = True
        # The session keeps the selection; Qt would make broken ranges of rows that go.
        self.view.selectionModel().clearSelection()
        self.model.refresh()
        self._selects_itself = False
        self._select_in_tree(self._session.selection)

    def _apply_filter(self, wanted: str) -> None:
        """Show only the prims that fit, and all again, expanded as before, if the text is empty."""
        if not self.model.wanted:
            self._expanded_before_search = self._expanded_paths()
        self._selects_itself = True
        self.model.search(wanted)
        self._selects_itself = False
        if not wanted:
            for index in self.model.indexes(self._expanded_before_search):
                self.view.expand(index)
        elif self.model.size() <= _MAX_ROWS_OF_SEARCH:
            self.view.expandAll()
        self._show_selection()

    def _expanded_paths(self) -> list[str]:
        expanded = [index for index in self.model.indexes(None) if self.view.isExpanded(index)]
        return [self.model.path(index) for index in expanded]

    def _expand_first_rows(self) -> None:
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

    def _select_in_session(self) -> None:
        """Select in the session what the person selected; the prim clicked last comes first."""
        if self._selects_itself:
            return
        current = self.view.currentIndex()
        clicked = self.model.path(current) if current.isValid() else ""
        paths = self.model.paths(self.view.selectionModel().selection())
        self._session.selection = sorted(paths, key=lambda path: path != clicked)

    def _show_selection(self) -> None:
        """Select in the tree what the session has selected, and scroll there if that is new."""
        paths = self._session.selection
        shown = self.model.paths(self.view.selectionModel().selection())
        if set(paths) == set(shown):
            return
        indexes = self._select_in_tree(paths)
        if indexes:
            self._scroll_to(indexes[0])

    def _select_in_tree(self, paths: list[str]) -> list[QModelIndex]:
        """Select the rows of prims, and return the rows that the tree has; the first is current."""
        selection = self.view.selectionModel()
        flags = QItemSelectionModel.SelectionFlag
        indexes = self.model.indexes(paths)
        self._selects_itself = True
        selection.select(_ranges_of_rows(indexes), flags.ClearAndSelect | flags.Rows)
        if indexes:
            selection.setCurrentIndex(indexes[0], flags.NoUpdate)
        self._selects_itself = False
        return indexes

    def _scroll_to(self, index: QModelIndex) -> None:
        """Scroll to a row, to the middle only if the row is out of sight."""
        rect = self.view.visualRect(index)
        hint = QAbstractItemView.ScrollHint.PositionAtCenter
        if not rect.isEmpty() and self.view.viewport().rect().contains(rect.center()):
            hint = QAbstractItemView.ScrollHint.EnsureVisible
        self.view.scrollTo(index, hint)

    def _toggle_visibility(self, index: QModelIndex) -> None:
        """Show or hide the prim of a row, if its eye was clicked."""
        path = self.model.path(index)
        if index.column() == Column.EYE and self.model.is_imageable(path):
            self._edit_session(scene.show, path, not self.model.is_visible(path))

    def _edit_session(self, edit: Callable[..., None], *arguments: object) -> None:
        """Edit the session, and emit `refused` if that is not possible."""
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
        self._edit_session(scene.delete, self._session.selection)


def _size_columns(header: QHeaderView) -> None:
    header.setStretchLastSection(False)
    header.setSectionResizeMode(Column.NAME, QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(Column.TYPE, QHeaderView.ResizeMode.Interactive)
    header.setSectionResizeMode(Column.EYE, QHeaderView.ResizeMode.Fixed)
    header.setMinimumSectionSize(28)
    header.resizeSection(Column.TYPE, header.fontMetrics().horizontalAdvance("DistantLight") + 24)
    header.resizeSection(Column.EYE, 30)


def _ranges_of_rows(indexes: list[QModelIndex]) -> QItemSelection:
    """Return a selection in which neighbouring rows are one range; a range for each row is slow."""
    selection = QItemSelection()
    if not indexes:
        return selection
    in_order = sorted(indexes, key=_parent_and_row)
    first = in_order[0]
    last = first
    parent, row = _parent_and_row(first)
    for index in in_order[1:]:
        position = _parent_and_row(index)
        if position != (parent, row + 1):
            selection.select(first, last)
            first = index
        last = index
        parent, row = position
    selection.select(first, last)
    return selection


def _parent_and_row(index: QModelIndex) -> tuple[int, int]:
    """Return the id of a row's parent, and the row's number under that parent."""
    return index.parent().internalId(), index.row()
