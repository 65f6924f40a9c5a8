"""How much is done, as a thin line. Main thread."""

from __future__ import annotations

from typing import Final

from dcc_bridge.qt.binding import QPainter, QPaintEvent, QPalette, QProgressBar, QRect
from dcc_bridge.qt.panel.signs import accent

_STEPS: Final = 1000
_FAINT: Final = 0.25


class Bar(QProgressBar):
    """A progress bar whose empty part can be seen on the palette's base too."""

    def __init__(self) -> None:
        """Begin hidden."""
        super().__init__()
        self.setTextVisible(False)
        self.setFixedHeight(max(4, self.fontMetrics().height() // 3))
        self.hide()

    def show_done(self, done: float | None) -> None:
        """Show how much is done.

        Args:
            done: Of 1; -1 where nobody knows; None for nothing to be shown.
        """
        self.setRange(0, _STEPS if done is not None and done >= 0 else 0)
        if done is not None and done >= 0:
            self.setValue(round(_STEPS * done))
        self.setVisible(done is not None)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it; the style draws the one whose end nobody knows, which moves."""
        if not self.maximum():
            super().paintEvent(event)
            return
        painter, area = QPainter(self), self.rect()
        track = self.palette().color(QPalette.ColorRole.Text)
        track.setAlphaF(_FAINT)
        painter.fillRect(area, track)
        wide = round(area.width() * self.value() / _STEPS)
        at = 0 if self.isLeftToRight() else area.width() - wide
        done = QRect(at, 0, wide, area.height())
        painter.fillRect(done, accent(self.palette(), QPalette.ColorRole.Base))
        painter.end()
