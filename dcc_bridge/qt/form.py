"""A form's fields, one below the other, and what is filled in.

What is shown is what is sent. A field that may be left out is left out while it is empty. Main
thread.
"""

from __future__ import annotations

from typing import Any

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.schema import Field, Form
from dcc_bridge.elicitation.validation import InvalidAnswer
from dcc_bridge.qt import editors
from dcc_bridge.qt.binding import QLabel, QVBoxLayout, QWidget, Signal, Slot
from dcc_bridge.qt.entries import carries_title
from dcc_bridge.qt.labels import SMALL, Mnemonics, Notice, label
from dcc_bridge.qt.words import passage, tr


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
        self.rows = [Row(field, consent=consent, mnemonics=mnemonics) for field in form.fields]
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

    def first_wrong(self) -> Row | None:
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


class Row(QWidget):
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
        made = label(plain.line(self.field.title))
        made.setText(mnemonics.mark(made.text()) + (" *" if self.field.required else ""))
        made.setBuddy(self.editor)
        return made

    def _name(self, explained: str) -> None:
        title, required = plain.line(self.field.title), self.field.required
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
    if field.kind == "string" and (shown := plain.line(field.default)) != field.default:
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
