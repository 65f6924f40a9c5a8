"""The arguments that the agent gave, as a question's dialog draws them. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dcc_bridge.elicitation.caller_view import ArgumentView
from dcc_bridge.elicitation.text import breakable
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import small
from dcc_bridge.qt.labels import SMALL, add_all, label, plain_column, rule, tr, unmarked

_MAX_ROWS: Final = 3  # of arguments that nobody agrees to; a button shows the others


class Arguments(qt.QFrame):
    """A frame with a row for each argument of a skill, or each step of a batch.

    No value can draw a row like them.

    Attributes:
        changed: Emitted when the height of the frame has changed.
        grid: The rows.
        more: The button that shows the rows that are not shown at first; hidden where none is left.
    """

    changed = qt.Signal()

    def __init__(self, arguments: Sequence[ArgumentView], *, is_agreed: bool) -> None:
        """Draw the arguments.

        Args:
            arguments: The arguments.
            is_agreed: Whether the person agrees to them, so that all rows are shown at once.
        """
        super().__init__()
        self.setAccessibleName(tr("What the agent asked for"))
        self.setFrameShape(qt.QFrame.Shape.StyledPanel)
        self.setBackgroundRole(qt.QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.grid = qt.QGridLayout()
        self.grid.setHorizontalSpacing(self.fontMetrics().height())
        self.grid.setColumnStretch(1, 1)
        self._is_agreed = is_agreed
        count = len(arguments)
        if not is_agreed:
            count = min(count, _MAX_ROWS)
        self._rest = arguments[count:]
        self._add(arguments[:count])
        self.more = small(unmarked(tr("Show all {n:,}", n=len(arguments))))
        self.more.setAccessibleName(tr("Show all that the agent asked for"))
        self.more.clicked.connect(self._show_rest)
        self.more.setVisible(bool(self._rest))
        caption = label(tr("The agent asked for"), size=SMALL, on_base=True)
        row = qt.QHBoxLayout()
        add_all(row, self.more, None)
        add_all(qt.QVBoxLayout(self), caption, self.grid, row)

    def _add(self, arguments: Sequence[ArgumentView]) -> None:
        """Add a row for each of some arguments."""
        for argument in arguments:
            row = self.grid.rowCount()
            if self._is_agreed and self.grid.count():
                self.grid.addWidget(rule(), row, 0, 1, 2)
            name = label(argument.name, bold=True, on_base=True)
            value = _Value(argument)
            value.changed.connect(self.changed)
            self.grid.addWidget(name, row + 1, 0, qt.Qt.AlignmentFlag.AlignTop)
            self.grid.addWidget(value, row + 1, 1)

    @qt.Slot()
    def _show_rest(self) -> None:
        rest = self._rest
        self._rest = ()
        self._add(rest)
        self.more.hide()
        self.changed.emit()


class _Value(qt.QWidget):
    """The value of an argument: its beginning, and a button that shows the whole value."""

    changed = qt.Signal()  # the height of the value has changed

    def __init__(self, argument: ArgumentView) -> None:
        super().__init__()
        self._whole = argument.whole
        self._label = label(argument.value, on_base=True)
        self._rest = label(argument.rest, size=SMALL, on_base=True)
        self._rest.setWordWrap(False)
        self._more = small(unmarked(tr("Show all")))
        self._more.setAccessibleName(tr("Show all of {name}", name=argument.name))
        self._more.clicked.connect(self._show_whole)
        row = qt.QHBoxLayout()
        add_all(plain_column(self, 0), self._label, row)
        add_all(row, self._rest, self._more, None)
        self._rest.setVisible(bool(argument.rest))
        self._more.setVisible(bool(argument.whole))

    @qt.Slot()
    def _show_whole(self) -> None:
        self._label.setText(breakable(self._whole))
        self._rest.hide()
        self._more.hide()
        self.changed.emit()
