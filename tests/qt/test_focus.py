"""The focus is seen in each palette at the lines of text, check boxes and buttons of a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QWidget

from dcc_bridge.elicitation.details import Details
from dcc_bridge.elicitation.question import Question
from dcc_bridge.qt.outlines import contrast

from .measure import LEAST_OF_A_CONTROL, LOOKS
from .spoken_card import deletion, export
from .stage import Stage, armed, consent, go_to

_BAND = 3  # pixels around a widget in which a style may draw the focus
_LEAST_PIXELS = 20
_CONTROLS = (QLineEdit, QAbstractButton, QLabel)  # a label is a picture of the scene
QUESTIONS: dict[str, Callable[[], Question]] = {
    "deletion": deletion,
    "form": export,
    "code": lambda: consent(details=Details("del cameras\n" * 30)),
}


def reached(top: QWidget) -> Iterator[QWidget]:
    """Yield the controls that Tab reaches in a window."""
    for widget in top.findChildren(QWidget):
        takes_tab = widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        is_itself = widget.focusProxy() is None
        if (
            isinstance(widget, _CONTROLS)
            and takes_tab
            and is_itself
            and widget.isVisibleTo(top)
            and widget.isEnabled()
        ):
            yield widget


def picture(top: QWidget, widget: QWidget) -> QImage:
    """Take a picture of a widget and of a band around it."""
    QApplication.processEvents()
    area = QRect(widget.mapTo(top, QPoint()), widget.size())
    area.adjust(-_BAND, -_BAND, _BAND, _BAND)
    return top.grab(area & top.rect()).toImage().convertToFormat(QImage.Format.Format_RGB32)


def has_visible_focus(top: QWidget, widget: QWidget, other: QWidget) -> bool:
    """Return whether enough pixels change enough as a widget gets the focus."""
    other.setFocus(Qt.FocusReason.TabFocusReason)
    before = picture(top, widget)
    widget.setFocus(Qt.FocusReason.TabFocusReason)
    after = picture(top, widget)
    pixels = zip(
        memoryview(before.bits()).cast("I"), memoryview(after.bits()).cast("I"), strict=True
    )
    changed = [pair for pair in pixels if pair[0] != pair[1]]
    seen = [pair for pair in set(changed) if contrast(*map(QColor, pair)) >= LEAST_OF_A_CONTROL]
    return sum(pair in seen for pair in changed) >= _LEAST_PIXELS


def without_visible_focus(top: QWidget) -> list[str]:
    widgets = list(reached(top))
    assert len(widgets) > 3
    found = []
    for number, widget in enumerate(widgets):
        if not has_visible_focus(top, widget, widgets[number - 1]):
            name = widget.accessibleName() or getattr(widget, "text", str)()
            found.append(f"{type(widget).__name__} {name!r}")
    return found


@pytest.fixture(params=list(LOOKS))
def look(request: pytest.FixtureRequest, app: QApplication) -> Iterator[str]:
    """Draws everything in a palette."""
    style, palette = app.style().name(), app.palette()
    app.setStyle("Fusion")
    app.setPalette(LOOKS[request.param]())
    yield request.param
    app.setStyle(style)
    app.setPalette(palette)


@pytest.mark.parametrize("kind", list(QUESTIONS))
def test_the_focus_is_seen_at_the_controls_of_a_question(
    look: str, stage: Stage, kind: str
) -> None:
    stage.show(QUESTIONS[kind]())
    dialog = stage.dialog
    armed(dialog)
    go_to(dialog)

    assert without_visible_focus(dialog) == []
