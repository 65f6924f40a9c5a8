"""The middle of a question's dialog: its message and its fields, in an area that scrolls.

What is shown is what is sent. A field that may be left out is left out while it is empty. However
long a message is, it stays in here: what is above and below keeps its place. Main thread.
"""

from __future__ import annotations

from typing import Any, Final

from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.elicitation.view import FieldView, QuestionView
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.arguments_view import Arguments
from dcc_bridge.qt.details_view import DetailsBox
from dcc_bridge.qt.editors import Choice, Tick, carries_title, make
from dcc_bridge.qt.labels import SMALL, Mnemonics, Notice, add_all, label, plain_column, tr

_WIDTH: Final = 72  # of the window, in average characters
_LEAST_WIDTH: Final = 40
_LEAST_LINES: Final = 4
_LONGEST_HEADING: Final = 160  # characters of a first line that is drawn as a heading


class FormView(qt.QWidget):
    """The fields of a form."""

    changed = qt.Signal()  # something was filled in, or an error appeared or went

    def __init__(self, fields: tuple[FieldView, ...], mnemonics: Mnemonics) -> None:
        super().__init__()
        self.rows = [FieldRow(field, mnemonics) for field in fields]
        column = plain_column(self, self.fontMetrics().height())
        for row in self.rows:
            column.addWidget(row)
            row.changed.connect(self.changed)
        self._initial = self.content()

    def content(self) -> dict[str, Any]:
        """Return what is filled in, valid or not."""
        values = {row.field.name: row.editor.value() for row in self.rows}
        return {name: value for name, value in values.items() if value is not None}

    @property
    def typed(self) -> dict[str, Any] | None:
        """What is filled in, or None where that is only what was there at first."""
        content = self.content()
        return content if content != self._initial else None

    def first_wrong(self) -> FieldRow | None:
        """Show what is wrong with each field, and focus and return the first of them."""
        wrong = [row for row in self.rows if not row.check()]
        self.changed.emit()
        if not wrong:
            return None
        wrong[0].editor.setFocus()
        return wrong[0]


class FieldRow(qt.QWidget):
    """A field: its title, its editor, an explanation, and what is wrong with its value."""

    changed = qt.Signal()  # something was filled in

    def __init__(self, view: FieldView, mnemonics: Mnemonics) -> None:
        super().__init__()
        self.field = view.field
        self.editor = make(view, mnemonics)
        self.error = Notice()
        column = plain_column(self, self.fontMetrics().height() // 4)
        if not carries_title(view.field):
            title = label(view.title)
            title.setText(mnemonics.mark(title.text()) + (" *" if self.field.required else ""))
            title.setBuddy(self.editor)
            column.addWidget(title)
        row = qt.QHBoxLayout()
        row.addWidget(self.editor, 0 if isinstance(self.editor, Tick) else 1)
        if isinstance(self.editor, Tick):
            add_all(row, self.editor.leave, None)
        column.addLayout(row)
        if view.explanation:
            column.addWidget(label(view.explanation, size=SMALL))
        column.addWidget(self.error)
        self._name_parts(view)
        self.editor.changed.connect(self._recheck)

    def _name_parts(self, view: FieldView) -> None:
        """Name all that takes the focus or a click by the field, for who cannot see where it is."""
        names = tr("{title}, optional", title=view.title), tr("{title}, required", title=view.title)
        name, editor = names[view.field.required], self.editor
        editor.setAccessibleName(name)
        for part in editor.findChildren(qt.QWidget):
            if isinstance(part, qt.QToolButton):
                part.setAccessibleName(tr("Clear: {title}", title=view.title))
            elif not part.accessibleName() and part.focusPolicy() != qt.Qt.FocusPolicy.NoFocus:
                part.setAccessibleName(name)
        is_choice = isinstance(editor, Choice)  # whose name on Linux is what is chosen in it
        texts = (name if is_choice else "", view.explanation)
        editor.setAccessibleDescription("\n".join(filter(None, texts)))

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

    @qt.Slot()
    def _recheck(self) -> None:
        self.check()
        self.changed.emit()


class Body(qt.QScrollArea):
    """The question's text and fields. It wants as much room as they need."""

    def __init__(self, view: QuestionView, *parts: qt.QWidget) -> None:
        super().__init__()
        self._inner = qt.QWidget()
        column = qt.QVBoxLayout(self._inner)
        column.setSpacing(self.fontMetrics().height() // 2)
        add_all(column, *_texts(view))
        boxes = [part for part in parts if isinstance(part, DetailsBox)]
        self._wanted = max((box.sizeHint().width() for box in boxes), default=0)
        for part in parts:
            if isinstance(part, FormView):
                column.addSpacing(self.fontMetrics().height() // 2)
            column.addWidget(part, 0 if isinstance(part, FormView | Arguments) else 1)
        column.addStretch(1)
        self.setWidget(self._inner)
        self.setWidgetResizable(True)
        self.setFrameShape(qt.QFrame.Shape.NoFrame)
        self.setFocusPolicy(qt.Qt.FocusPolicy.NoFocus)

    def sizeHint(self) -> qt.QSize:
        """As wide as a line that reads well, as high as everything in it."""
        width = max(self.fontMetrics().averageCharWidth() * _WIDTH, self._wanted)
        return qt.QSize(width, self._inner.heightForWidth(width))

    def minimumSizeHint(self) -> qt.QSize:
        """Some lines of some words: a message must not widen the window."""
        metrics = self.fontMetrics()
        return qt.QSize(metrics.averageCharWidth() * _LEAST_WIDTH, metrics.height() * _LEAST_LINES)

    def turn(self, pages: int) -> None:
        """Scroll by whole pages."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + pages * bar.pageStep())


def _texts(view: QuestionView) -> list[qt.QWidget]:
    heading, _, rest = view.message.partition("\n")
    if len(heading) > _LONGEST_HEADING:
        heading, rest = "", view.message
    widgets: list[qt.QWidget] = [Notice(view.reason)] if view.reason else []
    styles: tuple[tuple[str, float, bool], ...] = (
        (view.title, 1.0, True),
        (heading, 1.3, True),
        (rest, 1.0, False),
        (view.agreement, 1.0, False),
        (view.explanation, SMALL, False),
    )
    return widgets + [label(text, size=size, bold=bold) for text, size, bold in styles if text]
