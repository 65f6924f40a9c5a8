"""The five things a form is filled in with.

Each is made from its field, has ``value()``, which is None where it is left out, and sends
``changed``. What it holds need not be valid: `Field.check` says so. Main thread.
"""

from __future__ import annotations

from dcc_bridge.elicitation.schema import Field
from dcc_bridge.qt.choices import Choice, Choices
from dcc_bridge.qt.entries import Line, NumberLine, Tick
from dcc_bridge.qt.labels import Mnemonics

Editor = Line | NumberLine | Tick | Choice | Choices


def make(field: Field, default: object, mnemonics: Mnemonics) -> Editor:
    """Make what a field is filled in with.

    Args:
        field: What is asked.
        default: What is filled in at first, or None.
        mnemonics: Of the window; a check box carries its own title.
    """
    match field.kind:
        case "boolean":
            return Tick(field, default, mnemonics)
        case "choice":
            return Choice(field, default)
        case "choices":
            return Choices(field, default)
        case "string":
            return Line(field, default)
        case _:
            return NumberLine(field, default)
