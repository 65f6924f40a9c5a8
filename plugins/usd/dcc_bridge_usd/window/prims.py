"""The tree of prims as a Qt item model over a stage.

On a change the model reads the stage again, and prims that are still there keep their ids. So
expansion, scroll position and an open editor survive an agent's edit, and ten thousand prims stay
quick: announcing the rows one run at a time took two minutes when every fourth of them went.
Main thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from pxr import UsdGeom
from PySide6.QtCore import (
    QAbstractItemModel,
    QItemSelection,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from . import scene, theme
from .icons import Icons
from .tree import Kind, Node, Reading, read

if TYPE_CHECKING:
    from ..host import UsdSession

AnyIndex = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
_NOWHERE = QModelIndex()


class Column(IntEnum):
    """The columns of the tree."""

    NAME = 0
    TYPE = 1
    EYE = 2


class PrimModel(QAbstractItemModel):
    """The prims of a session's stage; renaming an item is an undo step.

    Attributes:
        wanted: The words that are searched for; "" shows all prims.
        census: How many prims of each kind the stage has, shown or not.
        refused: Emitted when a rename was not possible; the text says why.
    """

    refused = Signal(str)

    def __init__(self, session: UsdSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._icons = Icons()
        self.wanted = ""
        self._nodes: dict[int, Node] = {}
        self._paths: dict[str, Node] | None = None
        self.census: Counter[Kind] = Counter()
        self.reset()

    def reset(self) -> None:
        """Forget all rows and read the stage anew."""
        self.beginResetModel()
        self._take(read(self._session.stage, self.wanted))
        self.endResetModel()

    def refresh(self) -> None:
        """Bring the rows up to date; views keep what they know of prims that are still there."""
        reading = read(self._session.stage, self.wanted)
        is_same = reading.root.inherit(self._root)
        if not is_same:
            self.layoutAboutToBeChanged.emit()
        self._take(reading)
        if not is_same:
            before = self.persistentIndexList()
            self.changePersistentIndexList(before, [self._moved(index) for index in before])
            self.layoutChanged.emit()

    def _take(self, reading: Reading) -> None:
        self._root = reading.root
        self.census = reading.census
        self._nodes = {node.id: node for node in reading.root.walk() if node.parent}
        self._paths = None

    def _moved(self, index: QModelIndex) -> QModelIndex:
        node = self._nodes.get(index.internalId())
        if node is None:
            return QModelIndex()
        return self._index(node, index.column())

    def search(self, wanted: str) -> None:
        """Show only the prims that match some words, with the prims above them; "" shows all."""
        self.wanted = wanted
        self.reset()

    def path(self, index: AnyIndex) -> str:
        """Return the path of the prim at an index."""
        return self._node(index).path

    def paths(self, selection: QItemSelection) -> list[str]:
        """List the paths in a selection of whole rows, without asking Qt for each."""
        paths: list[str] = []
        for number in range(selection.count()):
            rows = selection.at(number)
            parent = self._node(rows.parent())
            paths += [node.path for node in parent.children[rows.top() : rows.bottom() + 1]]
        return paths

    def kind(self, index: AnyIndex) -> Kind:
        """Return the kind of the prim at an index."""
        return self._node(index).kind

    def size(self) -> int:
        """Return the number of all rows, at every depth."""
        return len(self._nodes)

    def indexes(self, paths: Iterable[str] | None) -> list[QModelIndex]:
        """Return the indexes of the prims at some paths that are shown; None stands for all."""
        if paths is None:
            return [self._index(node) for node in self._nodes.values()]
        by_path = self._by_path()
        return [self._index(by_path[path]) for path in paths if path in by_path]

    def _by_path(self) -> dict[str, Node]:
        if self._paths is None:
            self._paths = {node.path: node for node in self._root.walk()}
        return self._paths

    def _node(self, index: AnyIndex) -> Node:
        if not index.isValid():
            return self._root
        return self._nodes[index.internalId()]

    def _index(self, node: Node, column: int = Column.NAME) -> QModelIndex:
        if node.parent is None:
            return QModelIndex()
        return self.createIndex(node.row, column, node.id)

    def index(self, row: int, column: int, parent: AnyIndex = _NOWHERE) -> QModelIndex:
        """Return the index of a child of ``parent``."""
        children = self._node(parent).children
        if not (0 <= row < len(children) and 0 <= column < len(Column)):
            return QModelIndex()
        return self.createIndex(row, column, children[row].id)

    def parent(self, index: AnyIndex = _NOWHERE) -> QModelIndex:  # type: ignore[override]  # QObject.parent() is its overload
        """Return the index of the parent prim."""
        node = self._node(index)
        if node.parent is None:
            return QModelIndex()
        return self._index(node.parent)

    def rowCount(self, parent: AnyIndex = _NOWHERE) -> int:
        """Return the number of children; only the first column has any."""
        if parent.column() > 0:
            return 0
        return len(self._node(parent).children)

    def columnCount(self, parent: AnyIndex = _NOWHERE) -> int:
        """Return the number of columns."""
        return len(Column)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole
    ) -> Any:
        """Return the title of a column."""
        if role == Role.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return ("Name", "Type", "")[section]
        return None

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        """Return the flags of a cell; names can be edited."""
        flags = super().flags(index)
        if index.column() == Column.NAME:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def data(self, index: AnyIndex, role: int = Role.DisplayRole) -> Any:
        """Return what a cell shows."""
        node = self._node(index)
        if role in (Role.DisplayRole, Role.EditRole):
            texts = {Column.NAME: node.name, Column.TYPE: node.type_name}
            return texts.get(Column(index.column()))
        if role == Role.DecorationRole:
            return self._icon(node, index.column())
        if role == Role.ForegroundRole and self._is_dim(node, index.column()):
            return theme.DIM if index.column() == Column.TYPE else theme.FAINT
        return node.path if role == Role.ToolTipRole else None

    def _icon(self, node: Node, column: int) -> Any:
        if column == Column.NAME:
            return self._icons.of(node.kind)
        if column == Column.EYE and self.is_imageable(node.path):
            return self._icons.shown if self.is_visible(node.path) else self._icons.hidden
        return None

    def _is_dim(self, node: Node, column: int) -> bool:
        return column == Column.TYPE or not node.matches or not self.is_visible(node.path)

    def is_imageable(self, path: str) -> bool:
        """Return whether a prim can be visible at all."""
        prim = self._session.stage.GetPrimAtPath(path)
        return bool(prim and UsdGeom.Imageable(prim))

    def is_visible(self, path: str) -> bool:
        """Return whether a prim is visible, or is active and can be neither visible nor hidden."""
        prim = self._session.stage.GetPrimAtPath(path)
        if not prim or not prim.IsActive():
            return False
        imageable = UsdGeom.Imageable(prim)
        return not imageable or imageable.ComputeVisibility() != UsdGeom.Tokens.invisible

    def setData(self, index: AnyIndex, value: Any, role: int = Role.EditRole) -> bool:
        """Rename a prim, and return whether that was possible."""
        if role != Role.EditRole or index.column() != Column.NAME:
            return False
        try:
            scene.rename(self._session, self.path(index), str(value).strip())
        except scene.Refused as refusal:
            self.refused.emit(str(refusal))
            return False
        return True
