"""The header of a question's dialog: the question, who asks in which scene, and the time left.

Main thread. The header stands outside of the area that scrolls. The sentence about who asks is a
label of its own, in the bridge's own words, so that no question can draw one like it.
"""

from __future__ import annotations

from typing import Final

from dcc_bridge.elicitation.caller_view import Facts
from dcc_bridge.elicitation.view import QuestionView
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import Countdown, InfoButton
from dcc_bridge.qt.labels import SMALL, label, plain_column, tr

_TITLE_SIZE: Final = 1.4  # of the host's own font size


class Header(qt.QFrame):
    """A frame with the question as its title, who asks, and the time that is left.

    Attributes:
        changed: Emitted when the height of the frame has changed.
        title: The label of the question.
        who: The label that says who asks, and in which scene.
        about: The button that shows and hides `facts`.
        facts: All that is known of who asks; hidden until the person wants to know.
        place: The label that says which one of several questions this is.
    """

    changed = qt.Signal()

    def __init__(self, view: QuestionView, icon: qt.QIcon, countdown: Countdown) -> None:
        """Draw the header of a question.

        Args:
            view: The question's texts.
            icon: The icon of the application; a null icon is left out.
            countdown: Says how long the question still waits.
        """
        super().__init__()
        self.setAccessibleName(tr("Who asks"))
        self.setBackgroundRole(qt.QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        facts = (*view.header, *view.source)
        self.title = label(view.heading, size=_TITLE_SIZE, bold=True, on_base=True)
        self.who = _Sentence(view.who_asks)
        self.about = InfoButton()
        self.about.setAccessibleName(tr("More about who asks"))
        self.about.setAccessibleDescription(_spoken(facts))
        self.about.setToolTip(tr("More about who asks"))
        self.about.toggled.connect(self._show_facts)
        self.facts = _Facts(facts)
        self.place = label("", size=SMALL, bold=True, on_base=True)
        self.place.setWordWrap(False)
        for shown in (countdown.warning, countdown.left):
            shown.setTextFormat(qt.Qt.TextFormat.PlainText)
            shown.setForegroundRole(qt.QPalette.ColorRole.Text)
        self._lay_out(icon, countdown)

    def _lay_out(self, icon: qt.QIcon, countdown: Countdown) -> None:
        height = self.fontMetrics().height()
        top = qt.Qt.AlignmentFlag.AlignTop
        right = top | qt.Qt.AlignmentFlag.AlignRight
        who = qt.QHBoxLayout()
        who.addWidget(self.who)
        who.addWidget(self.about, 0, top)
        who.addStretch(1)
        grid = qt.QGridLayout(self)
        grid.setHorizontalSpacing(height)
        grid.setVerticalSpacing(height // 4)
        grid.setColumnStretch(1, 1)
        if not icon.isNull():
            grid.addWidget(self._make_icon(icon), 0, 0, 2, 1, top)
        grid.addWidget(self.title, 0, 1)
        grid.addWidget(countdown, 0, 2, right)
        grid.addLayout(who, 1, 1)
        grid.addWidget(self.place, 1, 2, right)
        grid.addWidget(self.facts, 2, 1, 1, 2)

    def _make_icon(self, icon: qt.QIcon) -> qt.QLabel:
        side = self.style().pixelMetric(qt.QStyle.PixelMetric.PM_LargeIconSize)
        picture = qt.QLabel()
        picture.setPixmap(icon.pixmap(side, side))
        return picture

    @qt.Slot(bool)
    def _show_facts(self, shown: bool) -> None:
        self.facts.setVisible(shown)
        self.changed.emit()


class _Sentence(qt.QWidget):
    """A sentence that is as wide as its text where there is room, and wraps where there is none.

    A label that wraps asks for less width than its text.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self._label = label(text, size=SMALL, on_base=True)
        plain_column(self).addWidget(self._label)

    def sizeHint(self) -> qt.QSize:
        width = self._label.fontMetrics().horizontalAdvance(self._label.text())
        return qt.QSize(width + 1, super().sizeHint().height())


class _Facts(qt.QWidget):
    """The facts about who asks, one a row; hidden at first."""

    def __init__(self, facts: Facts) -> None:
        super().__init__()
        rows = qt.QGridLayout()
        rows.setHorizontalSpacing(self.fontMetrics().height())
        rows.setVerticalSpacing(self.fontMetrics().height() // 6)
        rows.setColumnStretch(1, 1)
        for caption, text in facts:
            row = rows.rowCount()
            shown = label(text, size=SMALL, on_base=True)
            if caption:
                top = qt.Qt.AlignmentFlag.AlignTop
                rows.addWidget(label(caption, size=SMALL, on_base=True), row, 0, top)
                rows.addWidget(shown, row, 1)
            else:
                rows.addWidget(shown, row, 0, 1, 2)
        plain_column(self).addLayout(rows)
        self.hide()


def _spoken(facts: Facts) -> str:
    """Return the facts as a screen reader reads them, one a line."""
    lines = []
    for caption, text in facts:
        if caption:
            lines.append(f"{caption}: {text}")
        else:
            lines.append(text)
    return "\n".join(lines)
