"""The header of a question's dialog: who asks, for what, and in which scene. Main thread."""

from __future__ import annotations

from dcc_bridge.elicitation.view import Facts
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.labels import SMALL, label, tr


class Header(qt.QFrame):
    """Who asks, as a message cannot say it."""

    def __init__(self, facts: Facts, icon: qt.QIcon) -> None:
        super().__init__()
        self.setAccessibleName(tr("Who asks"))
        self.setBackgroundRole(qt.QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        grid = qt.QGridLayout(self)
        grid.setHorizontalSpacing(self.fontMetrics().height())
        grid.setVerticalSpacing(self.fontMetrics().height() // 6)
        grid.setColumnStretch(2, 1)
        if not icon.isNull():
            side = self.style().pixelMetric(qt.QStyle.PixelMetric.PM_LargeIconSize)
            picture = qt.QLabel()
            picture.setPixmap(icon.pixmap(side, side))
            grid.addWidget(picture, 0, 0, len(facts), 1, qt.Qt.AlignmentFlag.AlignTop)
        for row, (caption, text) in enumerate(facts):
            if caption:
                grid.addWidget(label(caption, size=SMALL, on_base=True), row, 1)
                grid.addWidget(label(text, size=SMALL, on_base=True), row, 2)
            else:
                grid.addWidget(label(text, size=1.1, bold=True, on_base=True), row, 1, 1, 2)
        self.place = label("", size=SMALL, bold=True, on_base=True)  # which of several it is
        self.place.setWordWrap(False)
        grid.addWidget(self.place, 0, 3)
