"""The pictures of a consent: the scene as it is now, and as it would be afterwards. Main thread.

The pictures stand side by side, and below each other where the dialog is narrow. Tab reaches each
picture, and a screen reader reads what the picture shows. A click, or Enter, shows a picture large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from dcc_bridge.elicitation.question import Picture
from dcc_bridge.elicitation.text import safe_line
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import ENTER
from dcc_bridge.qt.event_loop import OURS_PROPERTY
from dcc_bridge.qt.labels import SMALL, label, plain_column, tr

_MIN_CHARACTERS: Final = 24  # average ones, the width of a picture that stands beside another
_MAX_LINES: Final = 15  # the height of a picture, in lines of text
_MAX_SCREEN_SHARE: Final = 0.27  # of the screen's height: the list has to be seen too
_SPACING: Final = 8  # pixels between the pictures
_MAX_LARGE_SHARE: Final = 0.8  # of the screen's width and height, for a picture shown large
_MAX_LARGE_FACTOR: Final = 2  # beyond which a picture shown large says no more
_ENLARGING: Final = (*ENTER, qt.Qt.Key.Key_Space)


class Pictures(qt.QWidget):
    """The pictures of a consent.

    Attributes:
        enlarged: Emitted when the person has a picture shown large.
        pictures: A frame for each picture, in the order of the consent.
        large: The window of the picture that is shown large; None before the first one.
    """

    enlarged = qt.Signal()

    def __init__(self, pictures: Sequence[Picture]) -> None:
        """Draw the pictures; one that cannot be read is left out."""
        super().__init__()
        self.pictures = list(_frames(pictures))
        self.large: LargePicture | None = None
        for frame in self.pictures:
            frame.setParent(self)
            frame.chosen.connect(self._enlarge)
        policy = qt.QSizePolicy(qt.QSizePolicy.Policy.Preferred, qt.QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> qt.QSize:
        """Return the size for the pictures side by side, at their least width."""
        width = self._least_width() * len(self.pictures)
        return qt.QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> qt.QSize:
        """Return half of the least width; the height follows from the width."""
        return qt.QSize(self._least_width() // 2, self.fontMetrics().lineSpacing())

    def hasHeightForWidth(self) -> bool:
        """Return True: the pictures keep their shape."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all pictures in a width in pixels."""
        heights = [frame.heightForWidth(self._width_of_one(width)) for frame in self.pictures]
        if self._is_stacked(width):
            return sum(heights) + _SPACING * max(0, len(heights) - 1)
        return max(heights, default=0)

    def resizeEvent(self, event: qt.QResizeEvent) -> None:
        """Place the pictures in the new width."""
        super().resizeEvent(event)
        width = self._width_of_one(self.width())
        is_stacked = self._is_stacked(self.width())
        corner = qt.QPoint(0, 0)
        for frame in self.pictures:
            place = qt.QRect(corner, qt.QSize(width, frame.heightForWidth(width)))
            frame.setGeometry(qt.QStyle.visualRect(self.layoutDirection(), self.rect(), place))
            if is_stacked:
                corner.setY(place.bottom() + 1 + _SPACING)
            else:
                corner.setX(place.right() + 1 + _SPACING)

    def hideEvent(self, event: qt.QHideEvent) -> None:
        """Close the large picture with its question."""
        super().hideEvent(event)
        if self.large is not None and not event.spontaneous() and qt.isValid(self.large):
            self.large.hide()

    @qt.Slot()
    def _enlarge(self) -> None:
        frame = self.sender()
        if isinstance(frame, PictureFrame):
            if self.large is None:
                self.large = LargePicture(self)
            self.large.show_picture(frame)
            self.enlarged.emit()

    def _least_width(self) -> int:
        return self.fontMetrics().averageCharWidth() * _MIN_CHARACTERS

    def _is_stacked(self, width: int) -> bool:
        """Return whether a width has no room for the pictures side by side."""
        return width < self._least_width() * len(self.pictures)

    def _width_of_one(self, width: int) -> int:
        if self._is_stacked(width) or not self.pictures:
            return width
        count = len(self.pictures)
        return (width - _SPACING * (count - 1)) // count


class PictureFrame(qt.QLabel):
    """A picture in a frame, with its caption below; a label, which screen readers call an image.

    Attributes:
        chosen: Emitted when the person wants to see the picture large.
        image: The picture.
    """

    chosen = qt.Signal()

    def __init__(self, image: qt.QImage, says: str) -> None:
        super().__init__()
        self.image = image
        self.setPixmap(qt.QPixmap(1, 1))  # never drawn: a label without one is no image
        self.setFocusPolicy(qt.Qt.FocusPolicy.TabFocus)
        self.setBackgroundRole(qt.QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)
        self.setAccessibleName(says)
        self.setAccessibleDescription(tr("Enter shows it large."))
        self.setToolTip(tr("{picture}. A click shows it large.", picture=says))
        self.setCursor(qt.Qt.CursorShape.PointingHandCursor)
        self._caption = label(says, size=SMALL, on_base=True)
        column = plain_column(self)
        margin = self.fontMetrics().height() // 3
        column.setContentsMargins(margin, margin, margin, margin)
        column.addStretch(1)
        column.addWidget(self._caption)
        self._margin = margin

    def hasHeightForWidth(self) -> bool:
        """Return True: the picture keeps its shape."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the picture and of its caption in a width in pixels."""
        return self._picture_height(width) + self._caption_height(width)

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        """Draw the picture above the caption, and an outline, which is thick with the focus."""
        width = self.width()
        height = self.height() - self._caption_height(width)
        size = self.image.size().scaled(width, height, qt.Qt.AspectRatioMode.KeepAspectRatio)
        place = qt.QRect(qt.QPoint(0, 0), size)
        place.moveCenter(qt.QRect(0, 0, width, height).center())
        painter = qt.QPainter(self)
        painter.setRenderHint(qt.QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(place, self.image)
        painter.setPen(self.palette().color(qt.QPalette.ColorRole.Mid))
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        if self.hasFocus():
            ink = self.palette().color(qt.QPalette.ColorRole.Text)
            painter.setPen(qt.QPen(ink, 2))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    def keyPressEvent(self, event: qt.QKeyEvent) -> None:
        """Show the picture large on Enter or the space bar."""
        if event.key() not in _ENLARGING:
            super().keyPressEvent(event)
        elif not event.isAutoRepeat():
            self.chosen.emit()

    def mousePressEvent(self, event: qt.QMouseEvent) -> None:
        """Accept a press, so that Qt sends the release to this widget."""
        event.accept()

    def mouseReleaseEvent(self, event: qt.QMouseEvent) -> None:
        """Show the picture large on a click."""
        if event.button() == qt.Qt.MouseButton.LeftButton:
            self.chosen.emit()

    def focusInEvent(self, event: qt.QFocusEvent) -> None:
        """Draw the outline of the focus."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: qt.QFocusEvent) -> None:
        """Draw the outline without the focus."""
        super().focusOutEvent(event)
        self.update()

    def _picture_height(self, width: int) -> int:
        height = width * self.image.height() // self.image.width()
        most = self.fontMetrics().lineSpacing() * _MAX_LINES
        share = round(self.window().screen().availableSize().height() * _MAX_SCREEN_SHARE)
        return min(height, most, share)

    def _caption_height(self, width: int) -> int:
        inside = max(1, width - 2 * self._margin)
        return self._caption.heightForWidth(inside) + 2 * self._margin


class LargePicture(qt.QDialog):
    """A window with one picture, as large as the screen allows; Esc closes it.

    A click does not: the second press of a double click would reach a button of the question.

    Attributes:
        picture: The label of the picture.
    """

    def __init__(self, parent: qt.QWidget) -> None:
        super().__init__(parent)
        self.setProperty(OURS_PROPERTY, True)
        self.picture = qt.QLabel()
        self.picture.setScaledContents(True)
        plain_column(self).addWidget(self.picture)

    def show_picture(self, frame: PictureFrame) -> None:
        """Show a picture in the middle of the screen of its question."""
        screen = frame.screen().availableGeometry()
        most = screen.size() * _MAX_LARGE_SHARE
        size = frame.image.size() * _MAX_LARGE_FACTOR
        if size.width() > most.width() or size.height() > most.height():
            size.scale(most, qt.Qt.AspectRatioMode.KeepAspectRatio)
        self.setWindowTitle(frame.accessibleName())
        self.picture.setPixmap(qt.QPixmap.fromImage(frame.image))
        self.picture.setAccessibleName(frame.accessibleName())
        self.setFixedSize(size)
        place = qt.QRect(qt.QPoint(), size)
        place.moveCenter(screen.center())
        self.move(place.topLeft())
        self.show()
        self.raise_()
        self.activateWindow()


def _frames(pictures: Sequence[Picture]) -> Iterator[PictureFrame]:
    """Yield a frame for each picture that can be read."""
    for picture in pictures:
        image = qt.QImage.fromData(picture.png)
        if not image.isNull():
            yield PictureFrame(image, safe_line(picture.says))
