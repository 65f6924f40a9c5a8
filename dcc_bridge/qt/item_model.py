"""The items that a consent is about, as a Qt model over the question's tuple. Main thread.

Items of several parents stand in groups by parent, if that says more than a list: then each parent
is named once. Rows are made as they are drawn, so 100,000 items cost no more than their grouping.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from dcc_bridge.elicitation.consent_view import kind_counts
from dcc_bridge.elicitation.question import Consent
from dcc_bridge.elicitation.text import breakable, safe_line, tool_tip
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.labels import tr
from dcc_bridge.qt.wrapped import MAX_LINE_LENGTH

MAX_PATH_LENGTH: Final = 4096  # characters of a path that are shown
_SEPARATORS: Final = "/|"  # between a parent and its child in a path
_MIN_GROUPED: Final = 8  # items; fewer stand in a list
_MIN_IN_GROUP: Final = 2  # items of a group on average; with fewer, groups say no more than a list
_MAX_GROUPS: Final = 1000  # more take a tree too long to lay out, and say no more than a list
_State: Final = qt.Qt.CheckState
_Role: Final = qt.Qt.ItemDataRole
_NOWHERE: Final = qt.QModelIndex()
Index = qt.QModelIndex | qt.QPersistentModelIndex


class Items(qt.QAbstractItemModel):
    """The items that match a search, one a row, or in groups by parent.

    The first column has the names, the second the number of a group's items.

    Attributes:
        ticked: Emitted when the person has ticked or unticked items.
        may_take_fewer: Whether each row has a check box.
        is_grouped: Whether the rows at the top are parents.
        has_long: Whether a list has a path that is so long that the rows have to wrap.
        parents: The shared beginning of all paths, which the rows leave out; or "".
    """

    ticked = qt.Signal()

    def __init__(self, consent: Consent) -> None:
        super().__init__()
        self.may_take_fewer = consent.may_take_fewer
        self._items = consent.items
        self._shown = consent.shown_items
        self._kinds = consent.kinds
        self._left_out: set[int] = set()  # the numbers of the items that are unticked
        self._states: dict[int, qt.Qt.CheckState] = {}  # of the groups that were drawn
        self.has_long = False
        self.parents = ""
        by_parent = _by_parent(self._shown)
        self.is_grouped = self._may_group(by_parent)
        if not self.is_grouped:
            self.has_long = _longest(self._shown) > MAX_LINE_LENGTH
            if self.has_long or len(by_parent) == 1:
                self.parents = _shared_parents(self._shown)
            by_parent = {"": range(len(self._items))}
        elif _longest(by_parent) > MAX_LINE_LENGTH:
            self.parents = _shared_parents(by_parent)
        self._all_groups = list(by_parent.items())
        self._groups = self._all_groups

    @property
    def count(self) -> int:
        """The number of the items that match the search."""
        return sum(len(numbers) for _, numbers in self._groups)

    @property
    def kept_count(self) -> int:
        """The number of the items that are ticked, whether they match the search or not."""
        return len(self._items) - len(self._left_out)

    @property
    def group_count(self) -> int:
        """The number of the parents of all items; 0 for a list."""
        if self.is_grouped:
            return len(self._all_groups)
        return 0

    def left_out(self) -> tuple[str, ...]:
        """Return the items that are unticked, in the order of the question."""
        return tuple(self._items[number] for number in sorted(self._left_out))

    def kept(self) -> list[str]:
        """Return the items that are ticked, in the order of the question."""
        kept = []
        for number, item in enumerate(self._items):
            if number not in self._left_out:
                kept.append(item)
        return kept

    def index(self, row: int, column: int = 0, parent: Index = _NOWHERE) -> qt.QModelIndex:
        """Return the index of a row: below a group, its id is the group's row and 1."""
        if not self.hasIndex(row, column, parent):
            return qt.QModelIndex()
        if parent.isValid():
            return self.createIndex(row, column, parent.row() + 1)
        return self.createIndex(row, column, 0)

    def parent(self, index: Index = _NOWHERE) -> qt.QModelIndex:  # type: ignore[override]  # QObject.parent() is its overload
        """Return the index of the group in which an item stands."""
        if not index.isValid() or index.internalId() == 0:
            return qt.QModelIndex()
        return self.createIndex(index.internalId() - 1, 0, 0)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Return how many groups there are, or how many items a group or the list has."""
        if not parent.isValid():
            if self.is_grouped:
                return len(self._groups)
            return self.count
        if self._is_group(parent) and parent.column() == 0:
            return len(self._groups[parent.row()][1])
        return 0

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """Return the number of columns."""
        if self.is_grouped:
            return 2
        return 1

    def headerData(
        self, section: int, orientation: qt.Qt.Orientation, role: int = _Role.DisplayRole
    ) -> Any:
        """Return the name of a column, which a screen reader reads."""
        names = (tr("Item"), tr("Number"))
        is_named = orientation == qt.Qt.Orientation.Horizontal and section < len(names)
        if is_named and role == _Role.DisplayRole:
            return names[section]
        return None

    def flags(self, index: Index) -> qt.Qt.ItemFlag:
        """Return the flags of a row, which has a check box where the asker can take fewer."""
        flags = super().flags(index)
        if self.may_take_fewer and index.column() == 0:
            flags |= qt.Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = _Role.DisplayRole) -> Any:
        """Return the text of a row: without the parents; in a tooltip the whole path."""
        if role == _Role.CheckStateRole:
            return self._check_state(index)
        if index.column() == 1:
            return self._count_of(index, role)
        if self._is_group(index):
            shown = self._group_data(self._groups[index.row()][0], role)
        else:
            shown = self._item_data(index, role)
        if role == _Role.AccessibleTextRole:
            return self._spoken(shown, self._check_state(index))
        return shown

    def setData(self, index: Index, value: Any, role: int = _Role.EditRole) -> bool:
        """Tick or untick an item, or the items of a group that match the search."""
        if role != _Role.CheckStateRole or not self.may_take_fewer:
            return False
        self._tick(self._numbers(index), is_ticked=_State(value) == _State.Checked)
        self.dataChanged.emit(index, index, [_Role.CheckStateRole])
        self._emit_changed(index)
        group = self.parent(index)
        if group.isValid():
            self.dataChanged.emit(group, group, [_Role.CheckStateRole])
        self.ticked.emit()
        return True

    def leave_out(self, items: Collection[str]) -> None:
        """Untick the rows of some items, where the rows have check boxes."""
        if not self.may_take_fewer:
            return
        wanted = frozenset(items)
        numbers = [number for number, item in enumerate(self._items) if item in wanted]
        self._tick(numbers, is_ticked=False)
        self._emit_changed(_NOWHERE)
        self.ticked.emit()

    def tick_all(self, is_ticked: bool) -> None:
        """Tick or untick all items that match the search."""
        for _, numbers in self._groups:
            self._tick(numbers, is_ticked=is_ticked)
        self._emit_changed(_NOWHERE)
        self.ticked.emit()

    def state_of_all(self) -> qt.Qt.CheckState:
        """Return whether all items that match the search are ticked, some, or none."""
        if not self._left_out:
            return _State.Checked
        out = sum(self._count_left_out(numbers) for _, numbers in self._groups)
        return _state(out, self.count)

    @qt.Slot(str)
    def narrow(self, text: str) -> None:
        """Show the items whose path, label or kind contains a text, in either case."""
        wanted = text.casefold()
        self.beginResetModel()
        self._states.clear()
        self._groups = self._all_groups
        if wanted:
            self._groups = []
            for parent, numbers in self._all_groups:
                found = [number for number in numbers if wanted in self._words(number)]
                if found or not self.is_grouped:
                    self._groups.append((parent, found))
        self.endResetModel()

    def at(self, indexes: Sequence[Index]) -> list[str]:
        """Return the items of some rows; without rows, all items that match."""
        numbers = dict[int, None]()  # a group and an item in it may both be chosen
        for index in indexes:
            numbers.update(dict.fromkeys(self._numbers(index)))
        if not indexes:
            for _, found in self._groups:
                numbers.update(dict.fromkeys(found))
        return [self._items[number] for number in numbers]

    def _may_group(self, by_parent: Mapping[str, Sequence[int]]) -> bool:
        """Return whether groups say more than a list, and each row of theirs fits in a line.

        A row of a tree is cut where it is too long, so two of them could look alike.
        """
        count = len(self._items)
        most = min(count // _MIN_IN_GROUP, _MAX_GROUPS)
        if count < _MIN_GROUPED or not 1 < len(by_parent) <= most:
            return False
        shared = len(_shared_parents(by_parent))
        for parent, numbers in by_parent.items():
            longest = max(len(self._shown[number]) for number in numbers)
            if max(longest - len(parent), len(parent) - shared) > MAX_LINE_LENGTH:
                return False
        return True

    def _is_group(self, index: Index) -> bool:
        return self.is_grouped and index.internalId() == 0

    def _numbers(self, index: Index) -> Sequence[int]:
        """Return the number of the item of a row, or those of a group."""
        if self._is_group(index):
            return self._groups[index.row()][1]
        group = max(0, index.internalId() - 1)
        return (self._groups[group][1][index.row()],)

    def _group_data(self, parent: str, role: int) -> Any:
        """Return the text of a group; items without a parent stand at the top of the scene."""
        whole = safe_line(parent, MAX_PATH_LENGTH) or tr("At the top")
        match role:
            case _Role.DisplayRole:
                return whole.removeprefix(safe_line(self.parents, MAX_PATH_LENGTH))
            case _Role.AccessibleTextRole:
                return whole
            case _Role.ToolTipRole:
                return tool_tip(breakable(whole), wraps=len(whole) > MAX_LINE_LENGTH)
        return None

    def _item_data(self, index: Index, role: int) -> Any:
        number = self._numbers(index)[0]
        whole = safe_line(self._shown[number], MAX_PATH_LENGTH)
        match role:
            case _Role.DisplayRole:
                return self._name(number, index)
            case _Role.AccessibleTextRole:
                return whole
            case _Role.ToolTipRole:
                lines = [breakable(whole)]
                if self._kinds:
                    lines.append(safe_line(self._kinds[number]))
                return tool_tip("\n".join(lines), wraps=len(whole) > MAX_LINE_LENGTH)
        return None

    def _spoken(self, name: str, state: qt.Qt.CheckState | None) -> str:
        """Return what a screen reader says of a row; not every one says if its box is ticked."""
        if state == _State.Unchecked:
            return tr("{name}, left out", name=name)
        if state == _State.PartiallyChecked:
            return tr("{name}, partly left out", name=name)
        return name

    def _name(self, number: int, index: Index) -> str:
        """Return the text of an item, without the parents that stand elsewhere."""
        name = self._shown[number]
        if self.is_grouped:
            parent = self._groups[index.internalId() - 1][0]
            if parent:
                name = name[len(parent) + 1 :]
        else:
            name = name.removeprefix(self.parents)
        shown = safe_line(name, MAX_PATH_LENGTH)
        if self.has_long:
            return breakable(shown)
        return shown

    def _count_of(self, index: Index, role: int) -> Any:
        """Return the text of the second column: how many items of which kind a group has."""
        if role == _Role.TextAlignmentRole:
            return qt.Qt.AlignmentFlag.AlignRight | qt.Qt.AlignmentFlag.AlignVCenter
        if role != _Role.DisplayRole or not self._is_group(index):
            return None
        numbers = self._numbers(index)
        kinds = list[str]()
        if self._kinds:
            kinds = [self._kinds[number] for number in numbers]
        return kind_counts(kinds, len(numbers), tr)

    def _check_state(self, index: Index) -> qt.Qt.CheckState | None:
        """Return whether all items of a row are ticked, some, or none; None without check boxes."""
        if not self.may_take_fewer or index.column() != 0:
            return None
        if not self._left_out:
            return _State.Checked
        if not self._is_group(index):
            return _state(self._count_left_out(self._numbers(index)), 1)
        if index.row() not in self._states:
            numbers = self._numbers(index)
            state = _state(self._count_left_out(numbers), len(numbers))
            self._states[index.row()] = state
        return self._states[index.row()]

    def _count_left_out(self, numbers: Sequence[int]) -> int:
        return sum(number in self._left_out for number in numbers)

    def _tick(self, numbers: Sequence[int], *, is_ticked: bool) -> None:
        if is_ticked:
            self._left_out.difference_update(numbers)
        else:
            self._left_out.update(numbers)
        self._states.clear()

    def _emit_changed(self, parent: Index) -> None:
        """Announce that the check boxes below an index may look different."""
        last = self.rowCount(parent) - 1
        if last >= 0:
            first = self.index(0, 0, parent)
            self.dataChanged.emit(first, self.index(last, 0, parent), [_Role.CheckStateRole])

    def _words(self, number: int) -> str:
        kind = ""
        if self._kinds:
            kind = self._kinds[number]
        return f"{self._items[number]} {self._shown[number]} {kind}".casefold()


def _state(left_out: int, count: int) -> qt.Qt.CheckState:
    if left_out == 0:
        return _State.Checked
    if left_out == count:
        return _State.Unchecked
    return _State.PartiallyChecked


def _by_parent(paths: Sequence[str]) -> dict[str, Sequence[int]]:
    """Return the numbers of the paths by their parents; a name that is no path has none."""
    groups: dict[str, list[int]] = {}
    for number, path in enumerate(paths):
        parent = ""
        if path.startswith(("/", "|")):
            parent = path[: max(path.rfind("/"), path.rfind("|"))]
        groups.setdefault(parent, []).append(number)
    return dict(groups)


def _longest(texts: Iterable[str]) -> int:
    """Return the length of the longest text."""
    return max(map(len, texts), default=0)


def _shared_parents(paths: Collection[str]) -> str:
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
