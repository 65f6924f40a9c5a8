"""A frame around the control of ours that has the keyboard focus. Main thread.

Styles mark the focus of a list, a text or a row of tabs so faintly that it can be missed, and that
of a check box without a caption not at all. So a frame in the colour of text lies over the control.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Final

from dcc_bridge.qt import binding as qt

_WIDTH: Final = 2  # pixels
_FRAMED: Final = (
    qt.QAbstractButton,
    qt.QAbstractItemView,
    qt.QComboBox,
    qt.QLineEdit,
    qt.QPlainTextEdit,
    qt.QTabBar,
)


class FocusFrames(qt.QObject):
    """Frames each control in a window, or in a part of one, while it has the focus.

    It and its frames have no attribute that refers to a widget: where a window is collected as
    garbage together with such a child of its own, PySide crashes (6.11).
    """

    def __init__(self, top: qt.QWidget) -> None:
        """Begin to follow the focus.

        Args:
            top: The window, or the part of the host's window, whose controls are framed.
        """
        super().__init__(top)
        self._shown: Callable[[], _Frame | None] = lambda: None
        application = qt.QApplication.instance()
        if isinstance(application, qt.QApplication):
            application.focusChanged.connect(self._follow)
        self._follow()

    @qt.Slot()
    def _follow(self) -> None:
        """Frame the control that has the focus.

        It takes no widgets from Qt: the one that loses the focus may be half deleted.
        """
        frame = self._shown()
        self._shown = lambda: None
        if frame is not None and qt.isValid(frame):
            frame.hide()
        focused = qt.QApplication.focusWidget()
        if isinstance(focused, _FRAMED) and self._has(focused):
            self._shown = weakref.ref(_frame_of(focused))

    def _has(self, widget: qt.QWidget) -> bool:
        """Return whether a widget is in the window, or in another window that belongs to it."""
        top = self.parent()
        part: qt.QWidget | None = widget
        while part is not None and part is not top:
            part = part.parentWidget()
        return part is not None


class _Frame(qt.QFocusFrame):
    """The frame over a control, its parent. For a screen reader the control has no such part."""

    def __init__(self, control: qt.QWidget) -> None:
        super().__init__(control)
        control.installEventFilter(self)

    def eventFilter(self, watched: qt.QObject, event: qt.QEvent) -> bool:
        """Keep the size of the control."""
        if event.type() == qt.QEvent.Type.Resize:
            self.fit()
        return False

    def fit(self) -> None:
        """Cover the control."""
        self.setGeometry(self._control().rect())

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        """Draw the frame just inside of the control's edge."""
        painter = qt.QPainter(self)
        ink = self._control().palette().color(qt.QPalette.ColorRole.WindowText)
        painter.setPen(qt.QPen(ink, _WIDTH))
        painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    def _control(self) -> qt.QWidget:
        control = self.parentWidget()
        assert control is not None
        return control


def _frame_of(control: qt.QWidget) -> _Frame:
    """Return the frame of a control, which is shown from now on."""
    frames = [child for child in control.children() if isinstance(child, _Frame)]
    frame = frames[0] if frames else _Frame(control)
    frame.fit()
    frame.show()
    frame.raise_()
    return frame
