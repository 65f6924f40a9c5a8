"""The arguments of a skill, as a question's dialog draws them. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from dcc_bridge.elicitation.caller_view import ArgumentView
from dcc_bridge.elicitation.text import breakable
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import small
from dcc_bridge.qt.labels import SMALL, add_all, label, plain_column, rule, tr, unmarked


class Arguments(qt.QFrame):
    """A frame with a row for each argument of a skill. No value can draw one like it.

    Attributes:
        changed: Emitted when the height of the frame has changed.
    """

    changed = qt.Signal()

    def __init__(self, arguments: Sequence[ArgumentView]) -> None:
        super().__init__()
        self.setAccessibleName(tr("The arguments of the skill"))
        self.setFrameShape(qt.QFrame.Shape.StyledPanel)
        self.setBackgroundRole(qt.QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        grid = qt.QGridLayout(self)
        grid.setHorizontalSpacing(self.fontMetrics().height())
        grid.setColumnStretch(1, 1)
        for argument in arguments:
            row = grid.rowCount()
            if grid.count():
                grid.addWidget(rule(), row, 0, 1, 2)
            name = label(argument.name, bold=True, on_base=True)
            value = _Value(argument)
            value.changed.connect(self.changed)
            grid.addWidget(name, row + 1, 0, qt.Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, row + 1, 1)


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
