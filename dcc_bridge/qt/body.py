"""The middle of a question: its words and its fields, in an area that scrolls.

However long a message is, it stays in here: what is above and below keeps its place. Main thread.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation import plain
from dcc_bridge.elicitation.question import Question
from dcc_bridge.qt.binding import QFrame, QScrollArea, QSize, Qt, QVBoxLayout, QWidget
from dcc_bridge.qt.form import FormView
from dcc_bridge.qt.labels import SMALL, Notice, label
from dcc_bridge.qt.wording import lone, on_button
from dcc_bridge.qt.words import passage, tr

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
            self._column.addWidget(label(plain.line(question.title), bold=True))
        asked, rest = _split(passage(question.message))
        if asked:
            self._column.addWidget(label(asked, size=1.3, bold=True))
        if rest:
            self._column.addWidget(label(rest))
        if on_button(verb) != verb:
            self._column.addWidget(label(tr("If you agree: {verb}", verb=passage(verb))))
        agreed = lone(question)
        if agreed is not None and agreed.description:
            self._column.addWidget(label(passage(agreed.description), size=SMALL))


def _split(message: str) -> tuple[str, str]:
    """Give what is asked, and what is said about it."""
    first, _, rest = message.partition("\n")
    return (first, rest) if len(first) <= _LONGEST_ASKED else ("", message)
