"""The editors of a form: one widget for each kind of field. Main thread.

`make` makes the editor of a field. An editor emits ``changed``, and its ``value()`` is None where
the field is left out. The value need not be valid: `Field.check` validates it.
"""

from __future__ import annotations

import re
from typing import Final

from dcc_bridge.elicitation.field_view import FieldView
from dcc_bridge.elicitation.schema import MIN_FILTERED_OPTIONS
from dcc_bridge.elicitation.text import breakable
from dcc_bridge.elicitation.validation import Field
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import small
from dcc_bridge.qt.labels import Mnemonics, plain_column, tr
from dcc_bridge.qt.screen_reader import TextLine
from dcc_bridge.qt.wrapped import wrap

EXAMPLES: Final = {  # the same in every language
    "email": "name@studio.com",
    "uri": "https://",
    "date": "2026-11-20",
    "date-time": "2026-11-20T14:30:00Z",
}
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
_MAX_LINE_LENGTH: Final = 48  # characters of a title that fit in a line
_MAX_ROWS: Final = 6  # of a list, without scrolling
_MIN_CHARACTERS: Final = 12  # for which a combo box has room
_MAX_HEIGHT: Final = 1 << 20  # in pixels, more than any text needs
_BREAK: Final = "\N{ZERO WIDTH SPACE}"  # where a name may be wrapped
_ADJUST: Final = qt.QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
_CHECKABLE: Final = qt.Qt.ItemFlag.ItemIsEnabled | qt.Qt.ItemFlag.ItemIsUserCheckable
_State: Final = qt.Qt.CheckState


class Line(TextLine):
    """A line of text.

    An empty line leaves the field out, except a required field that may be empty.

    Attributes:
        changed: Emitted when the text changed.
    """

    changed = qt.Signal()

    def __init__(self, view: FieldView) -> None:
        super().__init__()
        field = view.field
        if view.default is not None:
            self.setText(str(view.default))
        may_be_empty = field.default == "" or field.least == 0
        self._keeps_empty = field.required and may_be_empty
        hint = ""
        if not field.required:
            hint = tr("optional")
        self.setPlaceholderText(EXAMPLES.get(field.format or "", hint))
        self.set_clearable(not field.required)
        self.textChanged.connect(self.changed)

    def value(self) -> object:
        """Return the text; None where an empty line leaves the field out."""
        text = self.text()
        if not text and not self._keeps_empty:
            return None
        return text


class NumberLine(Line):
    """A line for a number.

    Not a spin box: that cannot be empty, has narrow bounds, and changes under the mouse wheel.
    """

    def value(self) -> object:
        """Return the number; the text itself if the text is no number; None for an empty line."""
        text = self.text().strip()
        if not _NUMBER.fullmatch(text):
            return self.text() or None
        try:
            return int(text)
        except ValueError:
            return float(text)


class Tick(qt.QCheckBox):
    """A check box for yes or no, with a button that leaves the field out.

    Attributes:
        changed: Emitted when the answer changed.
        leave: The button that leaves the field out; hidden where there is no answer.
    """

    changed = qt.Signal()

    def __init__(self, view: FieldView, mnemonics: Mnemonics) -> None:
        super().__init__()
        if carries_title(view.field):
            self._title = mnemonics.mark(view.title)
        else:
            self._title = mnemonics.mark(tr("Yes"))
        self.leave = small(tr("Leave out"), flat=False)
        self.leave.setAccessibleName(tr("Leave out: {title}", title=view.title))
        self.leave.setParent(self)  # without a parent the button would be a window of its own
        self.leave.clicked.connect(self._leave_out)
        self._may_be_left_out = view.may_be_left_out
        self.setTristate(view.may_be_left_out)
        self.setChecked(view.default is True)
        if view.default is None and view.may_be_left_out:
            self.setCheckState(_State.PartiallyChecked)
        self._show_state()
        self.stateChanged.connect(self._show_state)

    def nextCheckState(self) -> None:
        """Go from yes to no and back; only the button leads to the third state, "left out"."""
        if self.checkState() == _State.Checked:
            self.setCheckState(_State.Unchecked)
        else:
            self.setCheckState(_State.Checked)

    def value(self) -> object:
        """Return True for yes, False for no, and None where the field is left out."""
        state = self.checkState()
        if state == _State.PartiallyChecked:
            return None
        return state == _State.Checked

    @qt.Slot()
    def _show_state(self) -> None:
        is_left_out = self.value() is None
        text = self._title
        if is_left_out:
            text = tr("{title} (left out)", title=self._title)
        self.setText(text)
        self.leave.setVisible(self._may_be_left_out and not is_left_out)
        self.changed.emit()

    @qt.Slot()
    def _leave_out(self) -> None:
        self.setFocus()  # before the next line hides the button, which has the focus
        self.setCheckState(_State.PartiallyChecked)


def carries_title(field: Field) -> bool:
    """Return whether a field's editor shows the title itself: a check box, if the title is short.

    The caption of a check box cannot wrap.
    """
    return field.kind == "boolean" and len(field.title) <= _MAX_LINE_LENGTH


class Choice(qt.QComboBox):
    """A combo box. If it has many options, the person can type a part of a name to find one.

    Attributes:
        changed: Emitted when another choice is made, or the text is edited.
    """

    changed = qt.Signal()

    def __init__(self, view: FieldView) -> None:
        super().__init__(sizeAdjustPolicy=_ADJUST, minimumContentsLength=_MIN_CHARACTERS)
        self.setFocusPolicy(qt.Qt.FocusPolicy.StrongFocus)
        self.setPlaceholderText(tr("Choose…"))
        palette = self.palette()  # in Qt 5, Fusion draws the placeholder only in an opaque colour
        palette.setBrush(palette.ColorRole.PlaceholderText, palette.buttonText())
        self.setPalette(palette)
        self._values: list[str | None] = []
        if view.may_be_left_out:
            self.addItem(tr("(left out)"))
            self._values.append(None)
        for option in view.options:
            self.addItem(option.title)
            self._values.append(option.value)
        self.setCurrentIndex(-1)
        if view.default in self._values:
            self.setCurrentIndex(self._values.index(view.default))
        if len(view.options) >= MIN_FILTERED_OPTIONS:
            self._search_by_typing()
        self.currentTextChanged.connect(self.changed)

    def value(self) -> object:
        """Return the chosen value; the typed text if it is no option; None if left out."""
        index = self.currentIndex()
        text = self.currentText()
        if self.itemText(index) != text:  # the text was typed, and not picked from the list
            index = self.findText(text, qt.Qt.MatchFlag.MatchExactly)
        if index >= 0:
            return self._values[index]
        return text or None

    def wheelEvent(self, event: qt.QWheelEvent) -> None:
        """Leave the wheel to the form, which scrolls: the answer must not change in passing."""
        event.ignore()

    def _search_by_typing(self) -> None:
        self.setEditable(True)
        self.setInsertPolicy(qt.QComboBox.InsertPolicy.NoInsert)
        completer = qt.QCompleter(self.model(), self)
        completer.setFilterMode(qt.Qt.MatchFlag.MatchContains)
        completer.setCaseSensitivity(qt.Qt.CaseSensitivity.CaseInsensitive)
        self.setCompleter(completer)


class Choices(qt.QWidget):
    """A list of options with check boxes; a long list has a filter.

    The field is left out if nothing is ticked and the field is not required.

    Attributes:
        changed: Emitted when an item is ticked or unticked.
        list: The list.
        filter: The line that filters the list; only a long list has one.
    """

    changed = qt.Signal()

    def __init__(self, view: FieldView) -> None:
        super().__init__()
        self._may_be_left_out = not view.field.required
        self.list = _TickList()
        self._titles = [option.title for option in view.options]
        self._values = [option.value for option in view.options]
        ticked = view.default or ()
        for option in view.options:
            item = qt.QListWidgetItem(option.title, self.list)
            item.setData(qt.Qt.ItemDataRole.AccessibleTextRole, option.title)
            item.setFlags(_CHECKABLE)
            item.setCheckState(_State.Unchecked)
            if option.value in ticked:
                item.setCheckState(_State.Checked)
        column = plain_column(self)
        if len(view.options) >= MIN_FILTERED_OPTIONS:
            name = tr("Filter {title}", title=view.title)
            self.filter = TextLine(name, hint=tr("Filter"), is_clearable=True)
            self.filter.textChanged.connect(self._filter)
            column.addWidget(self.filter)
        column.addWidget(self.list)
        longest = max(len(title) for title in self._titles)
        if longest > _MAX_LINE_LENGTH:
            self.list.wrap()
        else:
            self.list.fit()
        self.setFocusProxy(self.list)
        self.list.itemChanged.connect(self.changed)

    def value(self) -> object:
        """Return the ticked values in the order of the schema; None if the field is left out."""
        ticked = []
        for row, value in enumerate(self._values):
            if self.list.item(row).checkState() == _State.Checked:
                ticked.append(value)
        if not ticked and self._may_be_left_out:
            return None
        return ticked

    @qt.Slot(str)
    def _filter(self, text: str) -> None:
        wanted = text.lower()
        for row, title in enumerate(self._titles):
            self.list.setRowHidden(row, wanted not in title.lower())


class _TickList(qt.QListWidget):
    """A list that is as high as its first rows, whether they wrap or not."""

    def wrap(self) -> None:
        """Make every row as high as its text is in the width of the list."""
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
        height = min(self.count(), _MAX_ROWS) * self.sizeHintForRow(0)
        self.setFixedHeight(height + 2 * self.frameWidth())

    def sizeHint(self) -> qt.QSize:
        """Return the height of a row; the list gets more by `heightForWidth` or by `fit`."""
        return qt.QSize(super().sizeHint().width(), self.sizeHintForRow(0))

    def minimumSizeHint(self) -> qt.QSize:
        """Return the height of a row."""
        return qt.QSize(super().minimumSizeHint().width(), self.sizeHintForRow(0))

    def heightForWidth(self, width: int) -> int:
        """Return the height of the first rows, wrapped in a width in pixels."""
        metrics = self.fontMetrics()
        style = self.style()
        tick_width = style.pixelMetric(qt.QStyle.PixelMetric.PM_IndicatorWidth)
        tick_height = style.pixelMetric(qt.QStyle.PixelMetric.PM_IndicatorHeight)
        gap = style.pixelMetric(qt.QStyle.PixelMetric.PM_FocusFrameHMargin) + 1
        frame = 2 * self.frameWidth()
        room = qt.QRect(0, 0, width - frame - tick_width - 6 * gap, _MAX_HEIGHT)
        padding = metrics.height() // 2
        height = frame
        for row in range(min(self.count(), _MAX_ROWS)):
            text = self.item(row).text()
            text_height = metrics.boundingRect(room, qt.Qt.TextFlag.TextWordWrap, text).height()
            height += max(text_height, tick_height) + padding
        return height


Editor = Line | NumberLine | Tick | Choice | Choices


def make(view: FieldView, mnemonics: Mnemonics) -> Editor:
    """Make the editor of a field.

    Args:
        view: The field, with the texts and the default that are shown.
        mnemonics: Assigns the letter of a check box that shows its own title.

    Returns:
        The editor, with ``changed`` and ``value()``.
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
