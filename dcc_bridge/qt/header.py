"""The header of a question's dialog: who asks, for what, and in which scene. Main thread."""

from __future__ import annotations

from dcc_bridge.elicitation.caller_view import Facts
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.labels import SMALL, label, tr


class Header(qt.QFrame):
    """A frame with facts about who asks. No message can draw one like it.

    Attributes:
        place: The label that says which one of several questions this is.
    """

    def __init__(self, facts: Facts, icon: qt.QIcon) -> None:
        """Draw the facts, one a row.

        Args:
            facts: Pairs of a caption and a text. A text without a caption is a heading.
            icon: The icon of the application; a null icon is left out.
        """
        super().__init__()
        self.setAccessibleName(tr("Who asks"))
        self.setBackgroundRole(qt.QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self._grid = qt.QGridLayout(self)
        self._grid.setHorizontalSpacing(self.fontMetrics().height())
        self._grid.setVerticalSpacing(self.fontMetrics().height() // 6)
        self._grid.setColumnStretch(2, 1)
        if not icon.isNull():
            self._add_icon(icon, len(facts))
        for row, (caption, text) in enumerate(facts):
            if caption:
                self._grid.addWidget(label(caption, size=SMALL, on_base=True), row, 1)
                self._grid.addWidget(label(text, size=SMALL, on_base=True), row, 2)
            else:
                heading = label(text, size=1.1, bold=True, on_base=True)
                self._grid.addWidget(heading, row, 1, 1, 2)
        self.place = label("", size=SMALL, bold=True, on_base=True)
        self.place.setWordWrap(False)
        self._grid.addWidget(self.place, 0, 3)

    def _add_icon(self, icon: qt.QIcon, rows: int) -> None:
        side = self.style().pixelMetric(qt.QStyle.PixelMetric.PM_LargeIconSize)
        picture = qt.QLabel()
        picture.setPixmap(icon.pixmap(side, side))
        self._grid.addWidget(picture, 0, 0, rows, 1, qt.Qt.AlignmentFlag.AlignTop)
