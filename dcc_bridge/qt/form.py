"""The middle of a question's dialog: the message and the fields, in an area that scrolls.

`Body` is the area, `FormView` the fields in it, and `FieldRow` a field. The header above the area
and the buttons below keep their places. The answer is what the fields show; an empty field that is
not required is left out. Main thread.
"""

from __future__ import annotations

from typing import Any, Final

from dcc_bridge.elicitation.field_view import FieldView
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.elicitation.view import QuestionView
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.arguments_view import Arguments
from dcc_bridge.qt.details_view import DetailsBox
from dcc_bridge.qt.editors import Choice, Tick, carries_title, make
from dcc_bridge.qt.items_view import Preview
from dcc_bridge.qt.labels import SMALL, Mnemonics, Notice, add_all, label, plain_column, tr
from dcc_bridge.qt.pictures_view import Pictures
from dcc_bridge.qt.screen_reader import announce

_WIDTH: Final = 72  # of the window, in average characters
_ITEMS_WIDTH: Final = 90  # the same, with pictures or items
_MIN_WIDTH: Final = 40  # the same, at least
_MIN_LINES: Final = 4
_KEEPS_HEIGHT: Final = (Pictures, Arguments, qt.QLabel, Notice)


class FormView(qt.QWidget):
    """The fields of a form.

    Attributes:
        changed: Emitted when a value or an error has changed.
        rows: The fields, from the top.
    """

    changed = qt.Signal()

    def __init__(self, fields: tuple[FieldView, ...], mnemonics: Mnemonics) -> None:
        super().__init__()
        self.rows = [FieldRow(field, mnemonics) for field in fields]
        column = plain_column(self, self.fontMetrics().height())
        for row in self.rows:
            column.addWidget(row)
            row.changed.connect(self.changed)
        self._initial = self.content()

    def content(self) -> dict[str, Any]:
        """Return the values that are filled in, valid or not, by the names of their fields."""
        content = {}
        for row in self.rows:
            value = row.editor.value()
            if value is not None:
                content[row.field.name] = value
        return content

    @property
    def typed(self) -> dict[str, Any] | None:
        """The values that are filled in; None while they are the values from the beginning."""
        content = self.content()
        if content == self._initial:
            return None
        return content

    def first_wrong(self) -> FieldRow | None:
        """Show the error of each field; focus and return the first field with an error, or None."""
        wrong = [row for row in self.rows if not row.check()]
        self.changed.emit()
        if not wrong:
            return None
        first = wrong[0]
        first.editor.setFocus()
        announce(first.error, f"{first.title}: {first.error.text}", is_urgent=True)
        return first


class FieldRow(qt.QWidget):
    """A field: its title, its editor, an explanation, and the error of its value.

    Attributes:
        changed: Emitted when the value has changed.
        field: The field.
        title: The title of the field.
        editor: The widget in which the field is filled in.
        error: The error of the value; hidden while there is none.
    """

    changed = qt.Signal()

    def __init__(self, view: FieldView, mnemonics: Mnemonics) -> None:
        super().__init__()
        self.field = view.field
        self.title = view.title
        self.editor = make(view, mnemonics)
        self.error = Notice()
        column = plain_column(self, self.fontMetrics().height() // 4)
        if not carries_title(view.field):
            column.addWidget(self._make_title(view.title, mnemonics))
        row = qt.QHBoxLayout()
        if isinstance(self.editor, Tick):
            add_all(row, self.editor, self.editor.leave, None)
        else:
            row.addWidget(self.editor, 1)
        column.addLayout(row)
        if view.explanation:
            column.addWidget(label(view.explanation, size=SMALL))
        column.addWidget(self.error)
        self._name_parts(view)
        self.editor.changed.connect(self._recheck)

    def check(self) -> bool:
        """Show the error of the value, if there is one, and return whether the value is valid."""
        self.error.say(self._error_text())
        self._describe()
        return not self.error.text

    def _make_title(self, text: str, mnemonics: Mnemonics) -> qt.QLabel:
        title = label(text)
        marked = mnemonics.mark(title.text())
        if self.field.required:
            marked += " *"
        title.setText(marked)
        title.setAccessibleName(self._name(text))  # without the star, which would be read
        title.setBuddy(self.editor)
        return title

    def _name(self, title: str) -> str:
        """Return the name of the field for screen readers."""
        if self.field.required:
            return tr("{title}, required", title=title)
        return tr("{title}, optional", title=title)

    def _name_parts(self, view: FieldView) -> None:
        """Name the parts of the editor for screen readers, by the title of the field."""
        name = self._name(view.title)
        self.editor.setAccessibleName(name)
        for part in self.editor.findChildren(qt.QWidget):
            if isinstance(part, qt.QToolButton):
                part.setAccessibleName(tr("Clear: {title}", title=view.title))
            elif not part.accessibleName() and part.focusPolicy() != qt.Qt.FocusPolicy.NoFocus:
                part.setAccessibleName(name)
        lines = []
        if isinstance(self.editor, Choice):  # on Linux it is read by the chosen text, not its name
            lines.append(name)
        if view.explanation:
            lines.append(view.explanation)
        self._explanation = tuple(lines)
        self._describe()

    def _describe(self) -> None:
        """Let a screen reader read the explanation of the editor, and the error of its value."""
        lines = self._explanation
        if isinstance(self.editor, Tick) and self.editor.value() is None:
            lines = (tr("Left out."), *lines)  # a screen reader may say "checked"
        if self.error.text:
            lines = (*lines, self.error.text)
        self.editor.setAccessibleDescription("\n".join(lines))

    def _error_text(self) -> str:
        """Return the error of the value, or "" where it is valid."""
        value = self.editor.value()
        if value is None and not self.field.required:
            return ""
        if value is None and self.field.kind == "choice":
            return tr("Please choose one.")
        if value is None:
            return tr("Please fill this in.")
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
    """The area with a question's texts, and the widgets of its parts below the texts."""

    def __init__(self, view: QuestionView, *parts: qt.QWidget) -> None:
        """Draw a question.

        Args:
            view: The question's texts.
            *parts: The widgets, from the top. Those of `_KEEPS_HEIGHT` keep their height; the
                other parts share the room that is left.
        """
        super().__init__()
        self._inner = qt.QWidget()
        column = qt.QVBoxLayout(self._inner)
        column.setSpacing(self.fontMetrics().height() // 2)
        add_all(column, *_texts(view))
        character = self.fontMetrics().averageCharWidth()
        self._width = character * _WIDTH
        for part in parts:
            stretch = 1
            if isinstance(part, DetailsBox):
                self._width = max(self._width, part.sizeHint().width())
            if isinstance(part, Pictures | Preview):
                self._width = max(self._width, character * _ITEMS_WIDTH)
            if isinstance(part, FormView):
                column.addSpacing(self.fontMetrics().height() // 2)
            if isinstance(part, (FormView, *_KEEPS_HEIGHT)):
                stretch = 0
            column.addWidget(part, stretch)
        column.addStretch(1)
        self.setWidget(self._inner)
        self.setWidgetResizable(True)
        self.setFrameShape(qt.QFrame.Shape.NoFrame)
        self.setFocusPolicy(qt.Qt.FocusPolicy.NoFocus)

    def sizeHint(self) -> qt.QSize:
        """Return the width of a line that reads well, and the height of all parts."""
        return qt.QSize(self._width, self._inner.heightForWidth(self._width))

    def minimumSizeHint(self) -> qt.QSize:
        """Return the size of a few short lines: a long message must not widen the window."""
        metrics = self.fontMetrics()
        return qt.QSize(metrics.averageCharWidth() * _MIN_WIDTH, metrics.height() * _MIN_LINES)

    def turn(self, pages: int) -> None:
        """Scroll by whole pages."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + pages * bar.pageStep())


def _texts(view: QuestionView) -> list[qt.QWidget]:
    """Return the labels of a question's texts, without the heading, which the header has."""
    widgets: list[qt.QWidget] = []
    if view.reason:
        widgets.append(Notice(view.reason))
    styles: tuple[tuple[str, float, bool], ...] = (
        (view.title, 1.0, True),
        (view.text, 1.0, False),
        (view.agreement, 1.0, False),
        (view.explanation, SMALL, False),
    )
    for text, size, bold in styles:
        if text.strip():
            widgets.append(label(text, size=size, bold=bold))
    return widgets
