"""What is typed and ticked: a line, a number, a check box. Main thread."""

from __future__ import annotations

import re
from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.schema import Field
from dcc_bridge.qt.binding import QCheckBox, QLineEdit, Qt, Signal, Slot
from dcc_bridge.qt.labels import Mnemonics
from dcc_bridge.qt.words import tr

_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.ASCII | re.IGNORECASE)
_LONG: Final = 48
EXAMPLES: Final = {
    "email": "name@studio.com",
    "uri": "https://",
    "date": "2026-11-20",
    "date-time": "2026-11-20T14:30:00Z",
}
"""Of the formats: the same in every language."""


class Line(QLineEdit):
    """A line of text; an empty one is left out, unless it may be empty and has to be there."""

    changed = Signal()

    def __init__(self, field: Field, default: object) -> None:
        super().__init__("" if default is None else str(default))
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


class Tick(QCheckBox):
    """A check box with its title. One that may be left out has a third state, and says so."""

    changed = Signal()

    def __init__(self, field: Field, default: object, mnemonics: Mnemonics) -> None:
        super().__init__()
        title = plain.line(field.title) if carries_title(field) else tr("Yes")
        self._title = mnemonics.mark(title)
        self.setTristate(not field.required)
        if default is None and not field.required:
            self.setCheckState(Qt.CheckState.PartiallyChecked)
        else:
            self.setChecked(default is True)
        self._tell()
        self.stateChanged.connect(self._tell)

    def value(self) -> object:
        """What it holds."""
        state = self.checkState()
        return None if state == Qt.CheckState.PartiallyChecked else state == Qt.CheckState.Checked

    @Slot()
    def _tell(self) -> None:
        left_out = self.value() is None
        self.setText(tr("{title} (left out)", title=self._title) if left_out else self._title)
        self.changed.emit()


def carries_title(field: Field) -> bool:
    """Whether what a field is filled in with shows the title itself; a long one could not wrap."""
    return field.kind == "boolean" and len(field.title) <= _LONG
