"""The middle of a question: its message and its fields, in an area that scrolls.

What is shown is what is sent. A field that may be left out is left out while it is empty. However
long a message is, it stays in here: what is above and below keeps its place. Main thread.
"""

from __future__ import annotations

from typing import Any, Final

from dcc_bridge.elicitation import wording
from dcc_bridge.elicitation.question import Question
from dcc_bridge.elicitation.schema import Field, Form
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.qt import editors
from dcc_bridge.qt.binding import (
    QFrame,
    QLabel,
    QScrollArea,
    QSize,
    Qt,
    QVBoxLayout,
    QWidget,
    Signal,
    Slot,
)
from dcc_bridge.qt.editors import carries_title
from dcc_bridge.qt.labels import SMALL, Mnemonics, Notice, label, passage, tr


class FormView(QWidget):
    """The fields of a form.

    Signals:
        changed: Something was filled in, or a reason appeared or went.
    """

    changed = Signal()

    def __init__(self, form: Form, *, consent: bool = False, mnemonics: Mnemonics) -> None:
        """Draw the fields.

        Args:
            form: What is asked.
            consent: The answer decides whether something is lost: nothing is ticked beforehand.
            mnemonics: Of the window.
        """
        super().__init__()
        self.rows = [FieldRow(field, consent=consent, mnemonics=mnemonics) for field in form.fields]
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self.fontMetrics().height())
        for row in self.rows:
            column.addWidget(row)
            row.changed.connect(self.changed)

    def content(self) -> dict[str, Any]:
        """Give what is filled in, valid or not."""
        values = {row.field.name: row.editor.value() for row in self.rows}
        return {name: value for name, value in values.items() if value is not None}

    def first_wrong(self) -> FieldRow | None:
        """Show what is wrong with each field, go to the first of them, and give it."""
        wrong = [row for row in self.rows if not row.check()]
        self.changed.emit()
        if not wrong:
            return None
        wrong[0].editor.setFocus()
        return wrong[0]

    def check(self) -> bool:
        """Do the same, and say if all is well."""
        return self.first_wrong() is None


class FieldRow(QWidget):
    """A field: its title, what it is filled in with, an explanation, and what is wrong with it.

    Signals:
        changed: Something was filled in.
    """

    changed = Signal()

    def __init__(self, field: Field, *, consent: bool, mnemonics: Mnemonics) -> None:
        super().__init__()
        self.field = field
        default, withheld = _default(field, consent)
        self.editor = editors.make(field, default, mnemonics)
        self.error = Notice()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self.fontMetrics().height() // 4)
        if not carries_title(field):
            column.addWidget(self._title(mnemonics))
        column.addWidget(self.editor)
        if explained := "\n".join(filter(None, [field.description, _limits(field), withheld])):
            column.addWidget(label(passage(explained), size=SMALL))
        column.addWidget(self.error)
        self._name(explained)
        self.editor.changed.connect(self._recheck)

    def problem(self) -> str:
        """Say what is wrong with what is filled in, or ""."""
        value = self.editor.value()
        if value is None and not self.field.required:
            return ""
        if value is None:
            chosen = self.field.kind == "choice"
            return tr("Please choose one.") if chosen else tr("Please fill this in.")
        try:
            self.field.check(value)
        except InvalidAnswer as error:
            return _capitalised(error.reason)
        return ""

    def check(self) -> bool:
        """Show what is wrong, and say if all is well."""
        self.error.say(self.problem())
        return not self.error.text

    @Slot()
    def _recheck(self) -> None:
        self.check()
        self.changed.emit()

    def _title(self, mnemonics: Mnemonics) -> QLabel:
        title = label(safe_line(self.field.title))
        title.setText(mnemonics.mark(title.text()) + (" *" if self.field.required else ""))
        title.setBuddy(self.editor)
        return title

    def _name(self, explained: str) -> None:
        title, required = safe_line(self.field.title), self.field.required
        self.editor.setAccessibleName(
            tr("{title}, required", title=title)
            if required
            else tr("{title}, optional", title=title)
        )
        self.editor.setAccessibleDescription(passage(explained))


def _default(field: Field, consent: bool) -> tuple[Any, str]:
    """Give what is filled in at first, and what is said where that is not the form's default."""
    if field.default is None or (consent and field.default is True):
        return None, ""
    if field.kind == "string" and (shown := safe_line(field.default)) != field.default:
        return None, tr(
            "Suggested, but not filled in, because of what it hides: {shown}", shown=shown
        )
    return field.check(field.default), ""


def _limits(field: Field) -> str:
    if field.kind not in ("number", "integer", "choices"):
        return ""
    least, most = _bound(field.least), _bound(field.most)
    if least and most:
        return tr("From {least} to {most}.", least=least, most=most)
    if least:
        return tr("At least {least}.", least=least)
    return tr("At most {most}.", most=most) if most else ""


def _bound(value: float | None) -> str:
    return "" if value is None else f"{int(value) if float(value).is_integer() else value}"


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


_MOST_ON_BUTTON: Final = 48


def verb_of(question: Question) -> str:
    """Say what agreeing does."""
    agreed = question.confirmation
    return agreed.title if agreed is not None else question.title or tr("Send")


def word_of(question: Question) -> str:
    """Choose what is to be typed before what cannot be undone: a name, or how many there are."""
    return wording.word_of(question, verb_of(question))


def on_button(verb: str) -> str:
    """Give as much of a verb as fits on a button."""
    return safe_line(verb, _MOST_ON_BUTTON)


_WIDTH: Final = 72
"""Of the window, in average characters."""
_LEAST_WIDTH: Final = 40
_LEAST_LINES: Final = 4
_LONGEST_ASKED: Final = 160
"""Characters of a message's first line up to which it is drawn as the question itself."""


class Body(QScrollArea):
    """The question's words and fields. It wants as much room as they need."""

    def __init__(
        self, question: Question, verb: str, view: FormView | None, *parts: QWidget
    ) -> None:
        """Draw them.

        Args:
            question: What is asked.
            verb: What agreeing does; shown whole here where the button has no room for it.
            view: The fields, or None where the verb says it all.
            *parts: What stands below them.
        """
        super().__init__()
        self._inner = QWidget()
        self._column = QVBoxLayout(self._inner)
        self._column.setSpacing(self.fontMetrics().height() // 2)
        self._say(question, verb)
        if view is not None:
            self._column.addSpacing(self.fontMetrics().height() // 2)
            self._column.addWidget(view)
        for part in parts:
            self._column.addWidget(part, 1)
        self._column.addStretch(1)
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

    def _say(self, question: Question, verb: str) -> None:
        if question.reason:
            self._column.addWidget(Notice(question.reason))
        if question.title and question.title not in (verb, question.call.title):
            self._column.addWidget(label(safe_line(question.title), bold=True))
        asked, rest = _split(passage(question.message))
        if asked:
            self._column.addWidget(label(asked, size=1.3, bold=True))
        if rest:
            self._column.addWidget(label(rest))
        if on_button(verb) != verb:
            self._column.addWidget(label(tr("If you agree: {verb}", verb=passage(verb))))
        agreed = question.confirmation
        if agreed is not None and agreed.description:
            self._column.addWidget(label(passage(agreed.description), size=SMALL))


def _split(message: str) -> tuple[str, str]:
    """Give what is asked, and what is said about it."""
    first, _, rest = message.partition("\n")
    return (first, rest) if len(first) <= _LONGEST_ASKED else ("", message)
