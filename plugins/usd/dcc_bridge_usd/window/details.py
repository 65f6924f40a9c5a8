"""The details: what is selected, and its attributes to look at and change.

Main thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QGridLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from dcc_bridge.spi.qt import tool_tip

from . import values
from .attributes import AttributeModel, Column
from .icons import Icons
from .scene import SessionFeed
from .tree import Kind, kind_of

if TYPE_CHECKING:
    from ..host import UsdSession

AnyIndex = QModelIndex | QPersistentModelIndex


class _ValueDelegate(QStyledItemDelegate):
    """Edits a value as a line, or as a list if only certain values are allowed."""

    def createEditor(
        self, parent: QWidget, option: QStyleOptionViewItem, index: AnyIndex
    ) -> QWidget:
        model = index.model()
        allowed: list[str] = []
        if isinstance(model, AttributeModel):
            attribute = model.attribute(index)
            if attribute:
                allowed = values.choices(attribute)
        if not allowed:
            return super().createEditor(parent, option, index)
        combo = QComboBox(parent)
        combo.addItems(allowed)
        combo.activated.connect(self._commit)
        return combo

    def _commit(self) -> None:
        combo = self.sender()
        if isinstance(combo, QComboBox):
            self.commitData.emit(combo)
            self.closeEditor.emit(combo)

    def setEditorData(self, editor: QWidget, index: AnyIndex) -> None:
        if isinstance(editor, QComboBox):
            editor.setCurrentText(index.data(Qt.ItemDataRole.EditRole))
        else:
            super().setEditorData(editor, index)

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: AnyIndex) -> None:
        if isinstance(editor, QComboBox):
            model.setData(index, editor.currentText())
        else:
            super().setModelData(editor, model, index)


class Details(QWidget):
    """The first of the selected prims in full, or the scene where nothing is selected.

    Attributes:
        model: The attributes.
        view: The table of the attributes.
        refused: Emitted when an edit was not possible; the text says why.
    """

    refused = Signal(str)

    def __init__(
        self, session: UsdSession, feed: SessionFeed, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._icons = Icons()
        self._icon = QLabel(self)
        self._name = QLabel(self)
        self._path = _path_line(self)
        self.model = AttributeModel(session, self)
        self.model.refused.connect(self.refused)
        self.view = self._make_view()
        self._lay_out()
        feed.values_changed.connect(self.refresh)
        feed.selection_changed.connect(self.refresh)
        feed.steps_changed.connect(self._refresh_scene)
        self.refresh()

    def _make_view(self) -> QTreeView:
        view = QTreeView(self)
        view.setModel(self.model)
        view.setAccessibleName("Attributes")
        view.setItemDelegate(_ValueDelegate(view))
        view.setRootIsDecorated(False)
        view.setIndentation(10)
        view.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        view.setUniformRowHeights(True)
        view.setAllColumnsShowFocus(True)
        triggers = QAbstractItemView.EditTrigger
        view.setEditTriggers(triggers.DoubleClicked | triggers.EditKeyPressed)
        view.ensurePolished()  # or its first rows are laid out without the style sheet
        _size_columns(view.header())
        return view

    def _lay_out(self) -> None:
        font = self._name.font()
        font.setBold(True)
        font.setPointSizeF(font.pointSizeF() * 1.15)
        self._name.setFont(font)
        self._name.setMinimumWidth(1)  # a long name must not make the window wider than the screen
        self._name.setIndent(2)  # as a line edit does
        self._name.setTextFormat(Qt.TextFormat.PlainText)
        head = QGridLayout()
        head.setContentsMargins(12, 8, 12, 8)
        head.setHorizontalSpacing(10)
        head.addWidget(self._icon, 0, 0)
        head.addWidget(self._name, 0, 1)
        head.addWidget(self._path, 1, 1)
        head.setColumnStretch(1, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(head)
        layout.addWidget(self.view)

    def refresh(self) -> None:
        """Show what is selected now."""
        paths = self._session.selection
        prim = self._session.stage.GetPrimAtPath(paths[0]) if paths else None
        if not prim:
            self._show_scene()
            return
        name = prim.GetName()
        if len(paths) > 1:
            name = f"{name}  and {len(paths) - 1} more"
        self._head(kind_of(str(prim.GetTypeName())), name, paths[0])
        self.model.show_prim(paths[0])
        self._expand()

    def _show_scene(self) -> None:
        self._head(Kind.ROOT, self._session.scene(), "Nothing selected")
        self.model.show_scene()
        self._expand()

    def _refresh_scene(self) -> None:
        if not self._session.selection:
            self._show_scene()

    def _head(self, kind: Kind, name: str, path: str) -> None:
        self._icon.setPixmap(self._icons.of(kind).pixmap(QSize(16, 16)))
        self._name.setText(name)
        self._path.setText(path)
        self._path.setToolTip(tool_tip(path))
        self._path.end(False)  # a long path shows its end, which says most

    def _expand(self) -> None:
        for row in range(self.model.rowCount()):
            self.view.setFirstColumnSpanned(row, QModelIndex(), True)
        self.view.expandAll()


def _path_line(parent: QWidget) -> QLineEdit:
    line = QLineEdit(parent)
    line.setObjectName("path")
    line.setReadOnly(True)
    line.setFrame(False)
    line.setAccessibleName("Path")
    return line


def _size_columns(header: QHeaderView) -> None:
    header.setStretchLastSection(False)
    header.setSectionResizeMode(Column.NAME, QHeaderView.ResizeMode.Interactive)
    header.setSectionResizeMode(Column.VALUE, QHeaderView.ResizeMode.Stretch)
    header.setSectionResizeMode(Column.TYPE, QHeaderView.ResizeMode.Interactive)
    width = header.fontMetrics().horizontalAdvance
    header.resizeSection(Column.NAME, width("verticalApertureOffset") + 26)
    header.resizeSection(Column.TYPE, width("matrix4d") + 26)
