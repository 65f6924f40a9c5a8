"""Small pictures of what a call was about, side by side. Main thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dcc_bridge.elicitation.text import safe_line, tool_tip
from dcc_bridge.qt import binding as qt

_HEIGHT: Final = 6  # lines of text


def thumbnail(png: bytes, width: int, height: int) -> qt.QPixmap:
    """Return a picture that fits into a size; an empty one where the bytes are no picture."""
    picture = qt.QPixmap()
    if not picture.loadFromData(png):
        return picture
    keep = qt.Qt.AspectRatioMode.KeepAspectRatio
    smooth = qt.Qt.TransformationMode.SmoothTransformation
    return picture.scaled(width, height, keep, smooth)


class Pictures(qt.QWidget):
    """Pictures side by side, as wide as there is room; hidden without any.

    Attributes:
        labels: A label for each picture.
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[tuple[bytes, str], ...] = ()
        self.labels: list[qt.QLabel] = []
        self._row = qt.QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self.setMaximumHeight(self.fontMetrics().height() * _HEIGHT)
        self.hide()

    def show_pictures(self, pictures: Sequence[tuple[bytes, str]]) -> None:
        """Show these pictures in place of the former ones.

        Args:
            pictures: PNGs, each with a text that says what it shows.
        """
        self.setVisible(bool(pictures))
        if tuple(pictures) == self._shown:
            return
        self._shown = tuple(pictures)
        for label in self.labels[len(pictures) :]:
            label.clear()
            label.hide()
        while len(self.labels) < len(pictures):
            label = qt.QLabel(alignment=qt.Qt.AlignmentFlag.AlignCenter)
            label.setSizePolicy(qt.QSizePolicy.Policy.Ignored, qt.QSizePolicy.Policy.Ignored)
            self._row.addWidget(label, 1)
            self.labels.append(label)
        for label, (_, says) in zip(self.labels, pictures, strict=False):
            label.setAccessibleName(safe_line(says))
            label.setToolTip(tool_tip(says))
            label.show()
        self.updateGeometry()
        self._scale()

    def sizeHint(self) -> qt.QSize:
        """Return a height of some lines."""
        line = self.fontMetrics().height()
        return qt.QSize(line * _HEIGHT, line * _HEIGHT)

    def resizeEvent(self, event: qt.QResizeEvent) -> None:
        """Scale the pictures to the new size."""
        super().resizeEvent(event)
        self._scale()

    def _scale(self) -> None:
        if not self._shown:
            return
        width = self.width() // len(self._shown)
        for label, (png, _) in zip(self.labels, self._shown, strict=False):
            label.setPixmap(thumbnail(png, width, self.height()))
