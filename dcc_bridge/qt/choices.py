"""What is chosen: one of some, and some of many. Main thread."""

from __future__ import annotations

from collections import Counter
from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.schema import FILTERED_FROM, Field
from dcc_bridge.qt.binding import (
    QComboBox,
    QCompleter,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPalette,
    Qt,
    QVBoxLayout,
    QWheelEvent,
    QWidget,
    Signal,
    Slot,
)
from dcc_bridge.qt.words import tr

_ROWS: Final = 6
_LEAST_SHOWN: Final = 12
_ADJUST: Final = QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
_TICKABLE: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsUserCheckable


class Choice(QComboBox):
    """A combo box; one with many choices can be searched by typing a part of the name."""

    changed = Signal()

    def __init__(self, field: Field, default: object) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setPlaceholderText(tr("Choose…"))
        self.setSizeAdjustPolicy(_ADJUST)
        self.setMinimumContentsLength(_LEAST_SHOWN)
        if not field.required:
            self.addItem(tr("(left out)"))
        self._values: list[str | None] = [] if field.required else [None]
        self._values += [option.value for option in field.options]
        self.addItems(_titles(field))
        self.setCurrentIndex(self._values.index(default) if default in self._values else -1)
        if len(field.options) >= FILTERED_FROM:
            self._make_searchable()
        self.currentTextChanged.connect(self.changed)

    def value(self) -> object:
        """What it holds: the text itself where it is none of the choices."""
        index, text = self.currentIndex(), self.currentText()
        if self.itemText(index) != text:  # typed, and not picked from the list
            index = self.findText(text, Qt.MatchFlag.MatchExactly)
        return self._values[index] if index >= 0 else text or None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Let the form scroll: a wheel that changes an answer in passing is a trap."""
        event.ignore()

    def _make_searchable(self) -> None:
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        completer = QCompleter(self.model(), self)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)


class Choices(QWidget):
    """A list to tick, with a filter above a long one; nothing ticked is left out if it may be."""

    changed = Signal()

    def __init__(self, field: Field, default: object) -> None:
        super().__init__()
        self._may_be_left_out = not field.required
        ticked = default if isinstance(default, list) else []
        self.list = QListWidget()
        self.list.viewport().setBackgroundRole(QPalette.ColorRole.Window)  # boxes show on it
        self._values = [option.value for option in field.options]
        for title, value in zip(_titles(field), self._values, strict=True):
            self.list.addItem(_item(title, ticked=value in ticked))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        if len(field.options) >= FILTERED_FROM:
            column.addWidget(self._make_filter())
        column.addWidget(self.list)
        self._fit()
        self.setFocusProxy(self.list)
        self.list.itemChanged.connect(self.changed)

    def value(self) -> object:
        """What is ticked, in the order of the schema."""
        states = [self.list.item(row).checkState() for row in range(self.list.count())]
        pairs = zip(self._values, states, strict=True)
        ticked = [value for value, state in pairs if state == Qt.CheckState.Checked]
        return None if not ticked and self._may_be_left_out else ticked

    def _make_filter(self) -> QLineEdit:
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(tr("Filter"))
        self.filter.setAccessibleName(tr("Filter the choices"))
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._filter)
        return self.filter

    @Slot(str)
    def _filter(self, text: str) -> None:
        for row in range(self.list.count()):
            self.list.setRowHidden(row, text.lower() not in self.list.item(row).text().lower())

    def _fit(self) -> None:
        rows = min(self.list.count(), _ROWS)
        self.list.setFixedHeight(rows * self.list.sizeHintForRow(0) + 2 * self.list.frameWidth())


def _titles(field: Field) -> list[str]:
    """Give the choices' titles, with the value beside those that look the same."""
    titles = [plain.line(option.title) for option in field.options]
    count = Counter(titles)
    return [
        title if count[title] == 1 else f"{title} ({plain.line(option.value)})"
        for title, option in zip(titles, field.options, strict=True)
    ]


def _item(title: str, *, ticked: bool) -> QListWidgetItem:
    item = QListWidgetItem(title)
    item.setFlags(_TICKABLE)
    item.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)
    return item
