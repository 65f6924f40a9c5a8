"""The editors of a form's fields: one widget a kind of field.

Each is made from its field, has ``value()``, which is None where it is left out, and sends
``changed``. What it holds need not be valid: `Field.check` says so. Main thread.
"""

from __future__ import annotations

import re
from typing import Final

from dcc_bridge.elicitation.schema import FILTERED_FROM, Field
from dcc_bridge.elicitation.view import FieldView
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.labels import Mnemonics, plain_column, tr

_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
_LONG: Final = 48
# Of the formats: the same in every language.
EXAMPLES: Final = {
    "email": "name@studio.com",
    "uri": "https://",
    "date": "2026-11-20",
    "date-time": "2026-11-20T14:30:00Z",
}


class Line(qt.QLineEdit):
    """A line of text; an empty one is left out, unless it may be empty and has to be there."""

    changed = qt.Signal()

    def __init__(self, view: FieldView) -> None:
        super().__init__("" if view.default is None else str(view.default))
        field = view.field
        self._keeps_empty = field.required and (field.default == "" or field.least == 0)
        hint = "" if field.required else tr("optional")
        self.setPlaceholderText(EXAMPLES.get(field.format or "", hint))
        self.setClearButtonEnabled(not field.required)
        self.textChanged.connect(self.changed)

    def value(self) -> object:
        """What it holds."""
        return self.text() if self.text() or self._keeps_empty else None


class NumberLine(Line):
    """A line for a number. No spin box: that can be neither empty, nor large, nor scrolled past."""

    def value(self) -> object:
        """What it holds: the text itself where it is not a number."""
        text = self.text().strip()
        if not _NUMBER.fullmatch(text):
            return self.text() or None
        try:
            return int(text)
        except ValueError:
            return float(text)


class Tick(qt.QCheckBox):
    """A check box with its title. One that may be left out has a third state, and says so."""

    changed = qt.Signal()

    def __init__(self, view: FieldView, mnemonics: Mnemonics) -> None:
        super().__init__()
        self._title = mnemonics.mark(view.title if carries_title(view.field) else tr("Yes"))
        self.setTristate(not view.field.required)
        if view.default is None and not view.field.required:
            self.setCheckState(qt.Qt.CheckState.PartiallyChecked)
        else:
            self.setChecked(view.default is True)
        self._tell()
        self.stateChanged.connect(self._tell)

    def value(self) -> object:
        """What it holds."""
        state = self.checkState()
        return (
            None
            if state == qt.Qt.CheckState.PartiallyChecked
            else state == qt.Qt.CheckState.Checked
        )

    @qt.Slot()
    def _tell(self) -> None:
        left_out = self.value() is None
        self.setText(tr("{title} (left out)", title=self._title) if left_out else self._title)
        self.changed.emit()


def carries_title(field: Field) -> bool:
    """Whether what a field is filled in with shows the title itself; a long one could not wrap."""
    return field.kind == "boolean" and len(field.title) <= _LONG


_ROWS: Final = 6
_LEAST_SHOWN: Final = 12
_ADJUST: Final = qt.QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
_TICKABLE: Final = qt.Qt.ItemFlag.ItemIsEnabled | qt.Qt.ItemFlag.ItemIsUserCheckable


class Choice(qt.QComboBox):
    """A combo box; one with many choices can be searched by typing a part of the name."""

    changed = qt.Signal()

    def __init__(self, view: FieldView) -> None:
        super().__init__()
        self.setFocusPolicy(qt.Qt.FocusPolicy.StrongFocus)
        self.setPlaceholderText(tr("Choose…"))
        self.setSizeAdjustPolicy(_ADJUST)
        self.setMinimumContentsLength(_LEAST_SHOWN)
        if not view.field.required:
            self.addItem(tr("(left out)"))
        self._values: list[str | None] = [] if view.field.required else [None]
        self._values += [option.value for option in view.options]
        self.addItems([option.title for option in view.options])
        is_known = view.default in self._values
        self.setCurrentIndex(self._values.index(view.default) if is_known else -1)
        if len(view.options) >= FILTERED_FROM:
            self._make_searchable()
        self.currentTextChanged.connect(self.changed)

    def value(self) -> object:
        """What it holds: the text itself where it is none of the choices."""
        index, text = self.currentIndex(), self.currentText()
        if self.itemText(index) != text:  # typed, and not picked from the list
            index = self.findText(text, qt.Qt.MatchFlag.MatchExactly)
        return self._values[index] if index >= 0 else text or None

    def wheelEvent(self, event: qt.QWheelEvent) -> None:
        """Let the form scroll: a wheel that changes an answer in passing is a trap."""
        event.ignore()

    def _make_searchable(self) -> None:
        self.setEditable(True)
        self.setInsertPolicy(qt.QComboBox.InsertPolicy.NoInsert)
        completer = qt.QCompleter(self.model(), self)
        completer.setFilterMode(qt.Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(qt.Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)


class Choices(qt.QWidget):
    """A list to tick, with a filter above a long one; nothing ticked is left out if it may be."""

    changed = qt.Signal()

    def __init__(self, view: FieldView) -> None:
        super().__init__()
        self._may_be_left_out = not view.field.required
        self.list = qt.QListWidget()
        self.list.viewport().setBackgroundRole(qt.QPalette.ColorRole.Window)  # boxes show on it
        self._values = [option.value for option in view.options]
        for option in view.options:
            self.list.addItem(_item(option.title, ticked=option.value in (view.default or ())))
        column = plain_column(self)
        if len(view.options) >= FILTERED_FROM:
            column.addWidget(self._make_filter())
        column.addWidget(self.list)
        self._fit()
        self.setFocusProxy(self.list)
        self.list.itemChanged.connect(self.changed)

    def value(self) -> object:
        """What is ticked, in the order of the schema."""
        states = [self.list.item(row).checkState() for row in range(self.list.count())]
        pairs = zip(self._values, states, strict=True)
        ticked = [value for value, state in pairs if state == qt.Qt.CheckState.Checked]
        return None if not ticked and self._may_be_left_out else ticked

    def _make_filter(self) -> qt.QLineEdit:
        self.filter = qt.QLineEdit()
        self.filter.setPlaceholderText(tr("Filter"))
        self.filter.setAccessibleName(tr("Filter the choices"))
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(self._filter)
        return self.filter

    @qt.Slot(str)
    def _filter(self, text: str) -> None:
        for row in range(self.list.count()):
            self.list.setRowHidden(row, text.lower() not in self.list.item(row).text().lower())

    def _fit(self) -> None:
        rows = min(self.list.count(), _ROWS)
        self.list.setFixedHeight(rows * self.list.sizeHintForRow(0) + 2 * self.list.frameWidth())


def _item(title: str, *, ticked: bool) -> qt.QListWidgetItem:
    item = qt.QListWidgetItem(title)
    item.setFlags(_TICKABLE)
    item.setCheckState(qt.Qt.CheckState.Checked if ticked else qt.Qt.CheckState.Unchecked)
    return item


Editor = Line | NumberLine | Tick | Choice | Choices


def make(view: FieldView, mnemonics: Mnemonics) -> Editor:
    """Make the editor of a field.

    Args:
        view: What is asked.
        mnemonics: Of the window; a check box carries its own title.
    """
    match view.field.kind:
        case "boolean":
            return Tick(view, mnemonics)
        case "choice":
            return Choice(view)
        case "choices":
            return Choices(view)
        case "string":
            return Line(view)
        case _:
            return NumberLine(view)
