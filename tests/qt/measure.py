"""Measures what is drawn: ``python -m tests.qt.measure LOOK DIRECTION FOLDER``, offscreen.

Draws the consent with its preview, the form with every kind of field, and the chip, saves a picture
of each, and prints what is wrong with them as JSON. In a process of its own: Qt reads its scale
when it starts.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QModelIndex, QPoint, QRect, Qt
from PySide6.QtGui import QColor, QImage, QPalette
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QCheckBox,
    QComboBox,
    QFrame,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from dcc_bridge.elicitation.question import Offers, Picture, Question
from dcc_bridge.qt.keep_bar import BarWindow, KeepBar
from dcc_bridge.qt.panel.panel import Panel
from dcc_bridge.qt.question_dialog import QuestionDialog
from dcc_bridge_usd.window import theme
from tests.pictures import (
    code_question,
    code_run,
    fill_in,
    form_question,
    page_question,
    waiting_question,
)
from tests.qt.desk import Desk
from tests.qt.stage import Stage, armed, consent, until

LEAST_CONTRAST = 4.5
"""What the Web Content Accessibility Guidelines ask of text, level AA."""
LEAST_OF_A_CONTROL = 3.0
"""What they ask of a control's outline or ground beside what is around it."""
_OUTLINED = (QPushButton, QCheckBox, QLineEdit, QComboBox, QAbstractItemView, QPlainTextEdit)
_BAND = 3  # pixels at the edge of a control in which its outline is looked for
_ITEMS = tuple(f"/World/Cameras/sq010/sh{10 * n:04}_cam" for n in range(127))


def dark() -> QPalette:
    return QPalette(QColor("#44474d"), QColor("#2b2d31"))


def light() -> QPalette:
    return QPalette(QColor("#efefef"))


def high_contrast() -> QPalette:
    """Make a palette as of a desktop with high contrast: white and yellow on black."""
    palette = QPalette(QColor("black"), QColor("black"))
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text):
        palette.setColor(role, QColor("white"))
    palette.setColor(QPalette.ColorRole.ButtonText, QColor("yellow"))
    palette.setColor(QPalette.ColorRole.Base, QColor("black"))
    palette.setColor(QPalette.ColorRole.Highlight, QColor("#1aebff"))
    palette.setColor(QPalette.ColorRole.HighlightedText, QColor("black"))
    return palette


def png(colour: str) -> bytes:
    """Make a picture of one colour."""
    image = QImage(480, 360, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    file = QBuffer()
    file.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(file, "PNG")  # type: ignore[call-overload]  # its stub wants bytes, which it refuses
    return bytes(file.data().data())


def card_question() -> Question:
    """Make a consent with pictures, of items in groups that can be unticked."""
    items = tuple(f"/World/Cameras/sq{n % 5}/sh{10 * n:04}_cam" for n in range(127))
    pictures = (Picture(png("#8a7050"), "Now: 127 cameras, marked"), Picture(png("#777"), "After"))
    return consent(
        items=items,
        kinds=("Camera",) * len(items),
        pictures=pictures,
        may_take_fewer=True,
        offers=Offers(45, 300, mute="claude-code"),
    )


def consent_question() -> Question:
    """Make a consent with everything that can stand on one."""
    offers = Offers(45, 300, hand_over="Claude Code", remember=200, mute="claude-code")
    reason = "the scene has changed meanwhile; this is the list as it is now"
    kinds = ("Camera",) * len(_ITEMS)
    message = "Delete 127 cameras?\nAll of them are under /World/Cameras."
    return consent(message, items=_ITEMS, kinds=kinds, undoable=False, reason=reason, offers=offers)


def drawn(stage: Stage) -> Iterator[tuple[str, QWidget]]:
    """Draw one after the other, and give each once it has its size."""
    asked = {
        "consent": consent_question(),
        "card": card_question(),
        "url": page_question(),
        "code": code_question(),
    }
    for name, question in asked.items():
        _, take_down = stage.show(question)
        dialog = stage.dialog
        if dialog.name is not None:
            dialog.name.editor.setText(str(len(_ITEMS)))
        armed(dialog)
        if name == "card":
            untick_some(dialog)
        if name != "consent":
            until(lambda body=dialog.body: not body.verticalScrollBar().isVisible())  # type: ignore[misc]  # bound now
        yield name, dialog
        take_down("measured")
        until(lambda: not stage.presenter.dialogs)
    stage.window.activateWindow()
    until(stage.window.isActiveWindow)  # or the platform leads into the question
    stage.show(form_question())
    fill_in(stage.dialog)
    until(lambda: not stage.dialog.body.verticalScrollBar().isVisible())
    yield "form", stage.dialog
    stage.presenter.chip(waiting_question(), "Claude Code", lambda: None, lambda: None)
    until(lambda: len(stage.presenter.notifications.visible) == 2)
    notice, chip = stage.presenter.notifications.visible
    yield "notice", notice
    yield "chip", chip
    desk = Desk()
    desk.panel.resize(desk.panel.fontMetrics().height() * 24, 900)
    desk.panel.show()
    desk.furnish()
    until(lambda: desk.presenter.dialogs)
    desk.presenter.dialogs[0].set_aside()
    yield "panel", desk.panel
    desk.close()
    yield from _card()
    yield from _undo_of_several()


def _undo_of_several() -> Iterator[tuple[str, QWidget]]:
    """Draw the list of what goes back with a call, and the bar about what asked nothing."""
    desk = Desk()
    desk.panel.resize(desk.panel.fontMetrics().height() * 24, 900)
    bar = KeepBar(desk, desk.presenter.notifications, lambda: False)
    desk.ended("Moved 12 boxes", "done", ago=60)
    desk.ended("Turned 12 boxes", "done", ago=30)
    bar.refresh()
    assert bar.window is not None
    yield "bar", bar.window
    bar.close()
    for record in desk.recent.records():
        desk.recent.settle(record.id)
    desk.panel.show()
    desk.panel.refresh()
    desk.panel.history.list.setCurrentIndex(desk.panel.history.model.index(1, 0))
    desk.panel.history.undo_back.click()
    steps = desk.panel.history.steps
    assert steps is not None
    until(steps.isVisible)
    yield "steps", desk.panel
    desk.close()


def untick_some(dialog: QuestionDialog) -> None:
    """Have check boxes of each kind in a list, and all that is known of who asks."""
    assert dialog.preview is not None
    assert isinstance(dialog.preview.list, QTreeView)
    items = dialog.preview.items
    group = items.index(0)
    state = Qt.ItemDataRole.CheckStateRole
    items.setData(items.index(1), Qt.CheckState.Unchecked, state)
    items.setData(items.index(0, 0, group), Qt.CheckState.Unchecked, state)
    dialog.preview.list.expand(group)
    dialog.header.about.click()


def _card() -> Iterator[tuple[str, QWidget]]:
    """Draw the panel with the card of code that ran."""
    desk = Desk()
    desk.panel.resize(desk.panel.fontMetrics().height() * 24, 900)
    desk.panel.show()
    desk.ended("Rename prim", "done", by="grant", ago=300)
    run = code_run()
    desk.ended("Ran 17 lines of code", "done", "destructive", by="host", code=run)
    desk.panel.refresh()
    desk.panel.history.list.setCurrentIndex(desk.panel.history.model.index(0, 0))
    yield "history", desk.panel
    desk.panel.history.text.click()
    card = desk.panel.history.card
    until(lambda: card.details.rect().contains(card.details.reasons.geometry()))
    yield "text", card.reader
    desk.close()


def problems(top: QWidget) -> list[str]:
    """Say what of a window is cut, covered, or too faint to read or to be seen."""
    visible = [part for part in top.findChildren(QWidget) if part.isVisibleTo(top)]
    parts = [part for part in visible if not _inner(part)]
    captioned = [part for part in parts if isinstance(part, QLabel | QAbstractButton | QLineEdit)]
    picture = top.grab().toImage()
    return [
        *(f"{_name(part)} is cut" for part in parts if is_cut(part) or not _is_inside(part)),
        *(f"{_name(a)} lies over {_name(b)}" for a, b in _overlaps(parts)),
        *(
            f"{_name(part)} has a contrast of {seen:.2f}"
            for part in captioned
            if _text(part) and (seen := contrast(picture, _caption(part, top))) < LEAST_CONTRAST
        ),
        *unseen(top, picture),
    ]


def _text(part: QLabel | QAbstractButton | QLineEdit) -> str:
    """Return what is written on a part: in an empty line its example."""
    if isinstance(part, QLineEdit):
        return part.text() or part.placeholderText()
    return part.text()


def _inner(part: QWidget) -> bool:
    """Whether it is a part of what draws its own parts; a dialog's scrolled body is looked into."""
    parent = part.parentWidget()
    while parent is not None and not parent.isWindow():
        if isinstance(parent, QLineEdit | QComboBox | QAbstractItemView):
            return True  # they draw their own parts
        parent = parent.parentWidget()
    return part.objectName().startswith("qt_scrollarea")


def is_cut(part: QWidget) -> bool:
    if isinstance(part, QLabel) and part.wordWrap():
        return part.height() < part.heightForWidth(part.width())
    if isinstance(part, QLineEdit):
        text = part.text() or part.placeholderText()
        return part.width() < part.fontMetrics().horizontalAdvance(text)
    if isinstance(part, QListView):
        rows = [part.sizeHintForIndex(part.model().index(row, 0)) for row in range(4)]
        return max(row.width() for row in rows if row.isValid()) > part.viewport().width()
    if isinstance(part, QTreeView):
        return part.sizeHintForColumn(0) > part.columnWidth(0)
    if isinstance(part, QLabel | QAbstractButton | QComboBox):
        hint = part.sizeHint()
        return part.width() < hint.width() or part.height() < hint.height()
    return False


def _is_inside(part: QWidget) -> bool:
    parent = part.parentWidget()
    return parent is None or parent.rect().contains(part.geometry())


def _overlaps(parts: list[QWidget]) -> Iterator[tuple[QWidget, QWidget]]:
    for part, other in combinations(parts, 2):
        siblings = part.parentWidget() is other.parentWidget()
        if siblings and part.geometry().intersects(other.geometry()):
            yield part, other


def _area(part: QWidget, top: QWidget) -> QRect:
    return QRect(part.mapTo(top, QPoint()), part.size()) & top.rect()


def _caption(part: QWidget, top: QWidget) -> QRect:
    """Give where a part's text stands: inside of a button's outline."""
    edge = _BAND if isinstance(part, QPushButton | QLineEdit) else 0
    return _area(part, top).adjusted(edge, edge, -edge, -edge)


def contrast(picture: QImage, area: QRect) -> float:
    """Give the contrast of what is written in a part of a picture with what it stands on."""
    scale = picture.devicePixelRatio()
    corner, end = area.topLeft() * scale, area.bottomRight() * scale
    counted = Counter(
        picture.pixel(x, y) for x in range(corner.x(), end.x()) for y in range(corner.y(), end.y())
    )
    if not counted:
        return 21.0  # scrolled out of sight
    ground = _luminance(counted.most_common(1)[0][0])
    return max(_ratio(_luminance(pixel), ground) for pixel in counted)


def unseen(top: QWidget, picture: QImage) -> list[str]:
    """Say which controls of a window do not stand out from what is around them."""
    visible = [part for part in top.findChildren(QWidget) if part.isVisibleTo(top)]
    controls = [it for it in visible if isinstance(it, _OUTLINED) and not _inner(it)]
    found = []
    for control in controls:
        if _is_bare(control) or not control.isEnabled():
            continue
        for place in _outlined(control):
            area = QRect(control.mapTo(top, place.topLeft()), place.size())
            is_whole = top.rect().contains(area) and _is_in_sight(control, place)
            if is_whole and (seen := edge_contrast(picture, area)) < LEAST_OF_A_CONTROL:
                found.append(f"{_name(control)} has an outline with a contrast of {seen:.2f}")
    return found


def _is_bare(control: QWidget) -> bool:
    """Whether it is only text, or fills what it is in, as a list in a dock does."""
    if isinstance(control, QPushButton):
        return control.isFlat()
    if isinstance(control, QLineEdit):
        return not control.hasFrame()
    return isinstance(control, QFrame) and not control.frameWidth()


def _is_in_sight(control: QWidget, place: QRect) -> bool:
    return control.visibleRegion().contains(place)


def _outlined(control: QWidget) -> list[QRect]:
    """Give the parts of a control that have an outline, in its own coordinates."""
    style = control.style()
    if isinstance(control, QCheckBox):
        box = QStyleOptionButton()
        control.initStyleOption(box)
        return [style.subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, box, control)]
    places = [control.rect()]
    if not isinstance(control, QListView | QTreeView):
        return places
    for row in _ticked_rows(control):
        item = QStyleOptionViewItem()
        control.initViewItemOption(item)
        item.rect = control.visualRect(row)
        item.features = QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator
        box_in_list = QStyle.SubElement.SE_ItemViewItemCheckIndicator
        place = style.subElementRect(box_in_list, item, control)
        places.append(place.translated(control.viewport().pos()))
    return places


def _ticked_rows(view: QListView | QTreeView) -> Iterator[QModelIndex]:
    """Return the rows in sight that have a check box."""
    row = view.indexAt(QPoint(view.viewport().width() // 2, 1)).siblingAtColumn(0)
    while row.isValid() and view.viewport().rect().contains(view.visualRect(row)):
        if row.data(Qt.ItemDataRole.CheckStateRole) is not None:
            yield row
        below = QPoint(view.viewport().width() // 2, view.visualRect(row).bottom() + 2)
        row = view.indexAt(below).siblingAtColumn(0)


def edge_contrast(picture: QImage, area: QRect) -> float:
    """Give the contrast of an area's edge with what is beside it, at the side where it is least."""
    scale = picture.devicePixelRatio()
    left, top = round(area.left() * scale), round(area.top() * scale)
    right, bottom = round((area.right() + 1) * scale) - 1, round((area.bottom() + 1) * scale) - 1
    middle = ((left + right) // 2, (top + bottom) // 2)
    beside = -round(2 * scale)
    band = range(-1, round(_BAND * scale))  # where a pixel is a part of one, a line may lie before
    sides = (
        [(left + step, middle[1]) for step in (beside, *band)],
        [(right - step, middle[1]) for step in (beside, *band)],
        [(middle[0], top + step) for step in (beside, *band)],
        [(middle[0], bottom - step) for step in (beside, *band)],
    )
    least = []
    for side in sides:
        inside = [point for point in side if picture.rect().contains(*point)]
        ground, *edge = (_luminance(picture.pixel(x, y)) for x, y in inside)
        least.append(max(_ratio(pixel, ground) for pixel in edge))
    return min(least)


def _ratio(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def _luminance(pixel: int) -> float:
    colour = QColor(pixel)
    red, green, blue = map(_linear, (colour.redF(), colour.greenF(), colour.blueF()))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _name(part: QWidget) -> str:
    text = getattr(part, "text", str)()
    return f"{type(part).__name__} {text!r}"


def _sides(top: QWidget) -> list[str]:
    """Give the captions of a window's last row of buttons, from left to right."""
    row: list[QPushButton] = getattr(top, "buttons", [])
    if isinstance(top, Panel):
        row = list(top.now.buttons[:2]) or [top.history.undo]
        if top.history.steps is not None:
            row = list(top.history.steps.buttons)
    if isinstance(top, BarWindow):
        row = list(top.card.buttons)
    if isinstance(top, QuestionDialog):
        row = [top.exits.decline, top.exits.cancel, top.exits.verb]
    return [button.text().replace("&", "") for button in sorted(row, key=QPushButton.x)]


LOOKS: dict[str, Callable[[], QPalette]] = {
    "dark": dark,
    "light": light,
    "contrast": high_contrast,
}


def main(look: str, direction: str, folder: str) -> None:
    app = QApplication([])
    if look == "ours":
        theme.dress(app)
    else:
        app.setStyle("Fusion")
        app.setPalette(LOOKS[look]())
    app.setLayoutDirection(Qt.LayoutDirection[direction])
    stage, report = Stage(), {}
    for name, top in drawn(stage):
        top.grab().save(str(Path(folder) / f"{name}.png"))
        report[name] = {
            "problems": problems(top),
            "buttons": _sides(top),
            "scale": top.devicePixelRatio(),
        }
    stage.close()
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])
