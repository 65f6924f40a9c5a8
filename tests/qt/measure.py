"""Measures what is drawn: ``python -m tests.qt.measure LOOK DIRECTION FOLDER``, offscreen.

Draws the consent with its preview, the form with every kind of field, and the chip, saves a picture
of each, and prints what is wrong with them as JSON. In a process of its own: Qt reads its scale
when it starts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QPushButton,
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
from tests.qt.contrasts import (
    LEAST_CONTRAST,
    LOOKS,
    inner,
    name_of,
    png,
    texts,
    unseen,
)
from tests.qt.desk import Desk
from tests.qt.stage import Stage, armed, consent, until

_ITEMS = tuple(f"/World/Cameras/sq010/sh{10 * n:04}_cam" for n in range(127))


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
    parts = [part for part in visible if not inner(part)]
    picture = top.grab().toImage()
    return [
        *(f"{name_of(part)} is cut" for part in parts if is_cut(part) or not _is_inside(part)),
        *(f"{name_of(a)} lies over {name_of(b)}" for a, b in _overlaps(parts)),
        *(
            f"{name} has a contrast of {seen:.2f}"
            for name, seen in texts(top, picture)
            if seen < LEAST_CONTRAST
        ),
        *unseen(top, picture),
    ]


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
