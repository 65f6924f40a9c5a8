"""The editors of a form: one widget for each kind of field. Main thread.

Each editor is made from its field. It has ``value()``, which is None where the field is left out,
and sends ``changed``. Its value need not be valid: `Field.check` says whether it is.
"""

from __future__ import annotations

import re
from typing import Final

from dcc_bridge.elicitation.schema import FILTERED_FROM
from dcc_bridge.elicitation.text import breakable
from dcc_bridge.elicitation.validation import Field
from dcc_bridge.elicitation.view import FieldView
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import small
from dcc_bridge.qt.labels import Mnemonics, plain_column, tr
from dcc_bridge.qt.wrapped import wrap

_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
_LONG: Final = 48
EXAMPLES: Final = {  # the same in every language
    "email": "name@studio.com",
    "uri": "https://",
    "date": "2026-11-20",
    "date-time": "2026-11-20T14:30:00Z",
}
_ROWS: Final = 6
_LEAST_SHOWN: Final = 12
_ENDLESS: Final = 1 << 20  # pixels
_BREAK: Final = "\N{ZERO WIDTH SPACE}"  # where a name may be wrapped
_ADJUST: Final = qt.QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
_TICKABLE: Final = qt.Qt.ItemFlag.ItemIsEnabled | qt.Qt.ItemFlag.ItemIsUserCheckable


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
    """A check box with its title. A click answers yes or no; leaving it out is another button."""

    changed = qt.Signal()

    def __init__(self, view: FieldView, mnemonics: Mnemonics) -> None:
        super().__init__()
        self._title = mnemonics.mark(view.title if carries_title(view.field) else tr("Yes"))
        self.leave = small(tr("Leave out"), flat=False)  # hidden where there is no answer
        self.leave.setAccessibleName(tr("Leave out: {title}", title=view.title))
        self.leave.setParent(self)  # until it is laid out: it must not be a window of its own
        self.leave.clicked.connect(self._leave_out)
        self._may_be_left_out = view.may_be_left_out
        self.setTristate(view.may_be_left_out)
        self.setChecked(view.default is True)
        if view.default is None and view.may_be_left_out:
            self.setCheckState(qt.Qt.CheckState.PartiallyChecked)
        self._tell()
        self.stateChanged.connect(self._tell)

    def nextCheckState(self) -> None:
        """Go from yes to no and back, and never to the third state: no click is lost in it."""
        states = qt.Qt.CheckState
        is_yes = self.checkState() == states.Checked
        self.setCheckState(states.Unchecked if is_yes else states.Checked)

    def value(self) -> object:
        """What it holds."""
        state = self.checkState()
        is_left_out = state == qt.Qt.CheckState.PartiallyChecked
        return None if is_left_out else state == qt.Qt.CheckState.Checked

    @qt.Slot()
    def _tell(self) -> None:
        left_out = self.value() is None
        self.setText(tr("{title} (left out)", title=self._title) if left_out else self._title)
        self.leave.setVisible(self._may_be_left_out and not left_out)
        self.changed.emit()

    @qt.Slot()
    def _leave_out(self) -> None:
        self.setFocus()  # the button goes
        self.setCheckState(qt.Qt.CheckState.PartiallyChecked)


def carries_title(field: Field) -> bool:
    """Whether what a field is filled in with shows the title itself; a long one could not wrap."""
    return field.kind == "boolean" and len(field.title) <= _LONG


class Choice(qt.QComboBox):
    """A combo box; one with many choices can be searched by typing a part of the name."""

    changed = qt.Signal()

    def __init__(self, view: FieldView) -> None:
        super().__init__(sizeAdjustPolicy=_ADJUST, minimumContentsLength=_LEAST_SHOWN)
        self.setFocusPolicy(qt.Qt.FocusPolicy.StrongFocus)
        self.setPlaceholderText(tr("Choose…"))
        palette = self.palette()  # Fusion, in Qt 5, draws no hint that is not opaque
        palette.setBrush(palette.ColorRole.PlaceholderText, palette.buttonText())
        self.setPalette(palette)
        if view.may_be_left_out:
            self.addItem(tr("(left out)"))
        self._values: list[str | None] = [None] if view.may_be_left_out else []
        self._values += [option.value for option in view.options]
        self.addItems([option.title for option in view.options])
        is_known = view.default in self._values
        self.setCurrentIndex(self._values.index(view.default) if is_known else -1)
        if len(view.options) >= FILTERED_FROM:  # it is searched by typing
            self.setEditable(True)
            self.setInsertPolicy(qt.QComboBox.InsertPolicy.NoInsert)
            completer = qt.QCompleter(self.model(), self)
            completer.setFilterMode(qt.Qt.MatchFlag.MatchContains)
            completer.setCaseSensitivity(qt.Qt.CaseSensitivity.CaseInsensitive)
            self.setCompleter(completer)
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


class Choices(qt.QWidget):
    """A list to tick, with a filter above a long one; nothing ticked is left out if it may be."""

    changed = qt.Signal()

    def __init__(self, view: FieldView) -> None:
        super().__init__()
        self._may_be_left_out = not view.field.required
        self.list = _Ticks()
        self._titles = [option.title for option in view.options]
        self._values = [option.value for option in view.options]
        states = qt.Qt.CheckState
        for option in view.options:
            item = qt.QListWidgetItem(option.title, self.list)
            item.setData(qt.Qt.ItemDataRole.AccessibleTextRole, option.title)
            item.setFlags(_TICKABLE)
            is_ticked = option.value in (view.default or ())
            item.setCheckState(states.Checked if is_ticked else states.Unchecked)
        column = plain_column(self)
        if len(view.options) >= FILTERED_FROM:
            self.filter = qt.QLineEdit(placeholderText=tr("Filter"), clearButtonEnabled=True)
            self.filter.setAccessibleName(tr("Filter {title}", title=view.title))
            self.filter.textChanged.connect(self._filter)
            column.addWidget(self.filter)
        column.addWidget(self.list)
        if max(map(len, self._titles)) > _LONG:
            self.list.wrap()
        else:
            self.list.fit()
        self.setFocusProxy(self.list)
        self.list.itemChanged.connect(self.changed)

    def value(self) -> object:
        """What is ticked, in the order of the schema."""
        states = [self.list.item(row).checkState() for row in range(self.list.count())]
        pairs = zip(self._values, states, strict=True)
        ticked = [value for value, state in pairs if state == qt.Qt.CheckState.Checked]
        return None if not ticked and self._may_be_left_out else ticked

    @qt.Slot(str)
    def _filter(self, text: str) -> None:
        for row in range(self.list.count()):
            self.list.setRowHidden(row, text.lower() not in self._titles[row].lower())


class _Ticks(qt.QListWidget):
    """A list that is as high as its first rows, and wraps them where one is too long."""

    def wrap(self) -> None:
        """Have every row be as high as its text is in the width that there is."""
        for row in range(self.count()):
            item = self.item(row)
            item.setText(breakable(item.text().replace("_", f"_{_BREAK}")))
        self.setHorizontalScrollBarPolicy(qt.Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        wrap(self)
        policy = qt.QSizePolicy(qt.QSizePolicy.Policy.Expanding, qt.QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def fit(self) -> None:
        """Take the height of the first rows, none of which is wrapped."""
        height = min(self.count(), _ROWS) * self.sizeHintForRow(0)
        self.setFixedHeight(height + 2 * self.frameWidth())

    def sizeHint(self) -> qt.QSize:
        """Want no more than a row; `heightForWidth` or a fixed height says the rest."""
        return qt.QSize(super().sizeHint().width(), self.sizeHintForRow(0))

    def minimumSizeHint(self) -> qt.QSize:
        """Want no more than a row."""
        return qt.QSize(super().minimumSizeHint().width(), self.sizeHintForRow(0))

    def heightForWidth(self, width: int) -> int:
        """Be as high as the first rows are when they are wrapped."""
        metrics, style = self.fontMetrics(), self.style()
        tick = style.pixelMetric(qt.QStyle.PixelMetric.PM_IndicatorWidth)
        gap = style.pixelMetric(qt.QStyle.PixelMetric.PM_FocusFrameHMargin) + 1
        room = qt.QRect(0, 0, width - 2 * self.frameWidth() - tick - 6 * gap, _ENDLESS)
        flags = qt.Qt.TextFlag.TextWordWrap
        texts = [self.item(row).text() for row in range(min(self.count(), _ROWS))]
        heights = [metrics.boundingRect(room, flags, text).height() for text in texts]
        least = style.pixelMetric(qt.QStyle.PixelMetric.PM_IndicatorHeight)
        padding = metrics.height() // 2
        return sum(max(height, least) + padding for height in heights) + 2 * self.frameWidth()


Editor = Line | NumberLine | Tick | Choice | Choices


def make(view: FieldView, mnemonics: Mnemonics) -> Editor:
    """Make the editor of a field; a check box carries its own title, with a mnemonic."""
    if view.field.kind == "boolean":
        return Tick(view, mnemonics)
    editors: dict[str, type[Line | Choice | Choices]] = {
        "choice": Choice,
        "choices": Choices,
        "string": Line,
    }
    return editors.get(view.field.kind, NumberLine)(view)
