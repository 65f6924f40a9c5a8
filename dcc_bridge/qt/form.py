"""The middle of a question's dialog: its message and its fields, in an area that scrolls.

What is shown is what is sent. A field that may be left out is left out while it is empty. However
long a message is, it stays in here: what is above and below keeps its place. Main thread.
"""

from __future__ import annotations

from typing import Any, Final

from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.elicitation.view import FieldView, QuestionView
from dcc_bridge.qt import editors
from dcc_bridge.qt.binding import QFrame, QScrollArea, QSize, Qt, QVBoxLayout, QWidget, Signal, Slot
from dcc_bridge.qt.items_view import Arguments
from dcc_bridge.qt.labels import SMALL, Mnemonics, Notice, label, plain_column, tr

_WIDTH: Final = 72  # of the window, in average characters
_LEAST_WIDTH: Final = 40
_LEAST_LINES: Final = 4
# Characters of a message's first line up to which it is drawn as a heading.
_LONGEST_HEADING: Final = 160


class FormView(QWidget):
    """The fields of a form."""

    changed = Signal()  # something was filled in, or an error appeared or went

    def __init__(self, fields: tuple[FieldView, ...], mnemonics: Mnemonics) -> None:
        super().__init__()
        self.rows = [FieldRow(field, mnemonics) for field in fields]
        column = plain_column(self, self.fontMetrics().height())
        for row in self.rows:
            column.addWidget(row)
            row.changed.connect(self.changed)

    def content(self) -> dict[str, Any]:
        """Return what is filled in, valid or not."""
        values = {row.field.name: row.editor.value() for row in self.rows}
        return {name: value for name, value in values.items() if value is not None}

    def first_wrong(self) -> FieldRow | None:
        """Show what is wrong with each field, and focus and return the first of them."""
        wrong = [row for row in self.rows if not row.check()]
        self.changed.emit()
        if not wrong:
            return None
        wrong[0].editor.setFocus()
        return wrong[0]


class FieldRow(QWidget):
    """A field: its title, its editor, an explanation, and what is wrong with its value."""

    changed = Signal()  # something was filled in

    def __init__(self, view: FieldView, mnemonics: Mnemonics) -> None:
        super().__init__()
        self.field = view.field
        self.editor = editors.make(view, mnemonics)
        self.error = Notice()
        column = plain_column(self, self.fontMetrics().height() // 4)
        required = self.field.required
        if not editors.carries_title(view.field):
            title = label(view.title)
            title.setText(mnemonics.mark(title.text()) + (" *" if required else ""))
            title.setBuddy(self.editor)
            column.addWidget(title)
        column.addWidget(self.editor)
        if view.explanation:
            column.addWidget(label(view.explanation, size=SMALL))
        column.addWidget(self.error)
        names = tr("{title}, optional", title=view.title), tr("{title}, required", title=view.title)
        self.editor.setAccessibleName(names[required])
        self.editor.setAccessibleDescription(view.explanation)
        self.editor.changed.connect(self._recheck)

    def check(self) -> bool:
        """Show what is wrong, and return whether all is well."""
        self.error.say(self._problem())
        return not self.error.text

    def _problem(self) -> str:
        value = self.editor.value()
        if value is None and not self.field.required:
            return ""
        if value is None:
            is_choice = self.field.kind == "choice"
            return tr("Please choose one.") if is_choice else tr("Please fill this in.")
        try:
            self.field.check(value)
        except InvalidAnswer as error:
            return error.reason[:1].upper() + error.reason[1:]
        return ""

    @Slot()
    def _recheck(self) -> None:
        self.check()
        self.changed.emit()


class Body(QScrollArea):
    """The question's text and fields. It wants as much room as they need."""

    def __init__(self, view: QuestionView, *parts: QWidget) -> None:
        super().__init__()
        self._inner = QWidget()
        column = QVBoxLayout(self._inner)
        column.setSpacing(self.fontMetrics().height() // 2)
        for widget in _texts(view):
            column.addWidget(widget)
        for part in parts:
            if isinstance(part, FormView):
                column.addSpacing(self.fontMetrics().height() // 2)
            column.addWidget(part, 0 if isinstance(part, FormView | Arguments) else 1)
        column.addStretch(1)
        self.setWidget(self._inner)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def sizeHint(self) -> QSize:
        """As wide as a line that reads well, as high as everything in it."""
        width = self.fontMetrics().averageCharWidth() * _WIDTH
        return QSize(width, self._inner.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Some lines of some words: a message must not widen the window."""
        metrics = self.fontMetrics()
        return QSize(metrics.averageCharWidth() * _LEAST_WIDTH, metrics.height() * _LEAST_LINES)

    def turn(self, pages: int) -> None:
        """Scroll by whole pages."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + pages * bar.pageStep())


def _texts(view: QuestionView) -> list[QWidget]:
    heading, _, rest = view.message.partition("\n")
    if len(heading) > _LONGEST_HEADING:
        heading, rest = "", view.message
    widgets: list[QWidget] = [Notice(view.reason)] if view.reason else []
    styles: tuple[tuple[str, float, bool], ...] = (
        (view.title, 1.0, True),
        (heading, 1.3, True),
        (rest, 1.0, False),
        (view.agreement, 1.0, False),
        (view.explanation, SMALL, False),
    )
    return widgets + [label(text, size=size, bold=bold) for text, size, bold in styles if text]
