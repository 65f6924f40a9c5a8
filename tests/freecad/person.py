"""Somebody who sits at FreeCAD with our plug-in in it. FreeCAD imports this when it starts.

What they can be told besides the buttons of a dialog is `WORDS`. Main thread.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import FreeCAD
import FreeCADGui

import dcc_bridge
from dcc_bridge.qt import binding
from dcc_bridge.qt.binding import (
    QAction,
    QApplication,
    QDialog,
    QDockWidget,
    QPaintEvent,
    QPlainTextEdit,
    QPoint,
    QTextEdit,
    QTimer,
    QWidget,
    Slot,
)
from dcc_bridge.qt.panel.cards import Card
from dcc_bridge.qt.presenter import DialogPresenter
from dcc_bridge_freecad import plugin
from tests.hosts import pictured
from tests.hosts.person import WindowPerson
from tests.hosts.screen import SIZE

HOME = Path(os.environ["HOME"])
IS_SEEN = os.environ.get("QT_QPA_PLATFORM") != "offscreen"


def presenter() -> DialogPresenter | None:
    parts = plugin.plug_in()._parts
    return parts.presenter if parts is not None else None


def new() -> None:
    """Make a document with ten boxes and a cylinder, as its own file."""
    for name in list(FreeCAD.listDocuments()):
        FreeCAD.closeDocument(name)
    # A 3D view where there is no screen crashes FreeCAD.
    document = FreeCAD.newDocument("Scene", hidden=not IS_SEEN)
    for number in range(10):
        place = FreeCAD.Placement(FreeCAD.Vector(15 * number, 0, 0), FreeCAD.Rotation())
        document.addObject("Part::Box", f"Box{number}").Placement = place
    document.addObject("Part::Cylinder", "Cylinder")
    document.recompute()
    document.saveAs(str(HOME / "scene.FCStd"))
    document.clearUndos()
    HEART.show_up()
    if IS_SEEN:
        for dock in FreeCADGui.getMainWindow().findChildren(QDockWidget):
            dock.setVisible(dock.objectName() == "Combo View")
        FreeCADGui.getMainWindow().setGeometry(0, 0, *SIZE)
        QApplication.processEvents()  # the view has its size then
        FreeCADGui.ActiveDocument.ActiveView.viewIsometric()
        FreeCADGui.SendMsgToActiveView("ViewFit")


def undo() -> None:
    """Undo as FreeCAD's own menu does; a hidden document has no menu."""
    if IS_SEEN:
        FreeCADGui.runCommand("Std_Undo")
    else:
        FreeCAD.ActiveDocument.undo()


def sit() -> bool:
    """Go to FreeCAD's Python console."""
    window = FreeCADGui.getMainWindow()
    editors = window.findChildren(QPlainTextEdit)
    (console,) = (it for it in editors if it.metaObject().className() == "Gui::PythonConsole")
    (dock,) = (it for it in window.findChildren(QDockWidget) if it.isAncestorOf(console))
    dock.show()
    window.activateWindow()
    console.setFocus()
    return bool(console.hasFocus())


def edit() -> None:
    FreeCAD.ActiveDocument.openTransaction("Edit Height")
    FreeCAD.ActiveDocument.Cylinder.Height = 33
    FreeCAD.ActiveDocument.recompute()
    FreeCAD.ActiveDocument.commitTransaction()


def modal() -> None:
    dialog = QDialog(FreeCADGui.getMainWindow())
    dialog.setModal(True)
    dialog.open()

    def end() -> None:
        dialog.accept()
        binding.delete(dialog)

    QTimer.singleShot(1500, end)


def where() -> None:
    """Write down which bridge it is that runs here."""
    (HOME / "where").write_text(str(dcc_bridge.__file__), encoding="utf-8")


def reload() -> None:
    plugin.unload()
    plugin.load()


def entries() -> dict[str, QAction]:
    """Open our menu, as a click on it does; give what it offers."""
    bar = FreeCADGui.getMainWindow().menuBar()
    (menu,) = (one.menu() for one in bar.actions() if one.text().replace("&", "") == "Agents")
    menu.aboutToShow.emit()
    return {entry.text(): entry for entry in menu.actions()}


def choose(entry: str) -> Callable[[], None]:
    return lambda: entries()[entry].trigger()


def menu() -> None:
    """Write down what our menu offers, and whether the panel is seen and has the keys."""
    offered = [text for text, entry in entries().items() if entry.isEnabled()]
    docks = FreeCADGui.getMainWindow().findChildren(QDockWidget, "DccBridgeAgents")
    focus = FreeCADGui.getMainWindow().focusWidget()
    seen = [dock.isVisible() and dock.isAncestorOf(focus) for dock in docks if dock.widget()]
    (HOME / "menu").write_text(json.dumps([offered, seen]), encoding="utf-8")


def workbench() -> None:
    FreeCADGui.activateWorkbench("SpreadsheetWorkbench")
    FreeCADGui.activateWorkbench("PartWorkbench")


def close() -> None:
    """Close the window, as a click on its corner does when there is nothing to save."""
    for name in list(FreeCAD.listDocuments()):
        FreeCAD.closeDocument(name)
    FreeCADGui.getMainWindow().close()


def leave() -> None:
    """End the event loop; the window is deleted without having been closed."""
    QApplication.quit()


_SETTLED = 10  # how often a button is found at its place before it is believed to stay there


class FreeCADPerson(WindowPerson):
    """Types the word for which a dialog asks, and tells where a button is on the screen.

    They wait for what can be seen before they press a key as well: a shortcut of FreeCAD's that is
    disabled is swallowed, and FreeCAD enables it a while after the edit. Esc ends a skill that has
    begun.
    """

    _times = 0

    def _obey(self, order: str) -> bool:
        drawn = presenter()
        asked = drawn.dialogs[0] if drawn is not None and drawn.dialogs else None
        if order == "type" and asked is not None and asked.name is not None:
            asked.name.editor.setText(asked.view.word)
            return True
        if order == "locate" and asked is not None and asked.exits.verb.isEnabled():
            return self._stays(asked.exits.verb.mapTo(asked, asked.exits.verb.rect().center()))
        if order == "locate Cancel":
            return self._locate()
        if order == "can undo":
            return bool(FreeCADGui.getMainWindow().findChild(QAction, "Std_Undo").isEnabled())
        return order not in ("type", "locate") and super()._obey(order)

    def _locate(self) -> bool:
        """Write down where on the screen the button is that ends the skill that runs."""
        for card in FreeCADGui.getMainWindow().findChildren(Card):
            for button in card.buttons:
                has_begun = card.row.done is not None
                if button.verb == "cancel" and button.isVisible() and has_begun:
                    return self._stays(button.mapToGlobal(button.rect().center()))
        return False

    def _stays(self, at: QPoint) -> bool:
        """Write down where a button is; give whether it stays there."""
        where = f"{at.x()} {at.y()}"
        file = HOME / "at"
        was = file.read_text(encoding="utf-8") if file.exists() else ""
        self._times = self._times % _SETTLED + 1 if where == was else 0
        file.write_text(where, encoding="utf-8")
        return self._times == _SETTLED


class Heartbeat(QWidget):
    """Counts the turns of FreeCAD's event loop, and how often its status bar is drawn.

    Both must go on while a skill waits.
    """

    def __init__(self) -> None:
        super().__init__()
        self._turns = self._frames = 0
        self.setFixedSize(4, 4)
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._beat)
        self._timer.start(20)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._frames += 1

    @Slot()
    def _beat(self) -> None:
        self._turns += 1
        self.update()

    def note(self) -> None:
        with open(HOME / "ticks", "a", encoding="utf-8") as out:
            out.write(f"{time.monotonic()} {self._turns} {self._frames}\n")

    def show_up(self) -> None:
        """Take a place in the window, which is up by now."""
        FreeCADGui.getMainWindow().statusBar().addPermanentWidget(self)
        self.show()


HEART = Heartbeat()


def report() -> None:
    """Write down what the Report view says, in which colours, and whether it is open."""
    dock = FreeCADGui.getMainWindow().findChild(QDockWidget, "Report view")
    view = dock.findChild(QTextEdit)
    lines: list[list[str]] = []
    block = view.document().begin()
    while block.isValid():
        at = block.begin()
        colour = "" if at.atEnd() else at.fragment().charFormat().foreground().color().name()
        lines.append([block.text(), colour])
        block = block.next()
    told = {"is_open": dock.isVisible(), "lines": lines}
    (HOME / "report.json").write_text(json.dumps(told), encoding="utf-8")


def pictures() -> bool:
    """Write down the pictures of the question that waits."""
    parts = plugin.plug_in()._parts
    return parts is not None and pictured.note(parts.bridge.broker.open, HOME)


def keep_bar() -> bool:
    """Write down what the bar says, its buttons, and how many notices are drawn; when it is there.

    It is also written whether the main window has kept the keyboard.
    """
    parts = plugin.plug_in()._parts
    bar = parts.keep_bar.window if parts is not None and parts.keep_bar is not None else None
    if parts is None or bar is None or not bar.isVisible():
        return False
    area = FreeCADGui.getMainWindow().frameGeometry()
    told = {
        "title": bar.card.row.title,
        "detail": bar.card.row.detail,
        "buttons": [button.text() for button in bar.card.buttons],
        "notices": [notice.text for notice in parts.presenter.notifications.visible],
        "is_inside": area.contains(bar.frameGeometry()),
        "is_active": bar.isActiveWindow(),
    }
    (HOME / "bar.json").write_text(json.dumps(told), encoding="utf-8")
    return True


def panel_row() -> bool:
    """Wait until the panel has the row of the bar, and the bar is gone; choose the oldest call."""
    parts = plugin.plug_in()._parts
    if parts is None or parts.panel is None or parts.keep_bar is None:
        return False
    history = parts.panel.history
    if parts.keep_bar.window is not None or not parts.panel.pending.isVisible():
        return False
    if history.chosen is None:
        history.list.setCurrentIndex(history.model.index(5, 0))
        return False
    return bool(history.card.isVisible() and history.undo_back.isVisible())


def press_row(caption: str) -> Callable[[], bool]:
    """Return a word that presses a button of the panel's row about what asked nothing."""

    def press() -> bool:
        parts = plugin.plug_in()._parts
        buttons = parts.panel.pending.buttons if parts is not None and parts.panel else []
        for button in buttons:
            if button.text() == caption:
                button.click()
                return True
        return False

    return press


WORDS: dict[str, Any] = {
    "take time": pictured.take_time,
    "pictures": pictures,
    "keep bar": keep_bar,
    "panel row": panel_row,
    "Undo all": press_row("Undo all"),
    "report": report,
    "new": new,
    "undo": undo,
    "edit": edit,
    "sit": sit,
    "modal": modal,
    "reload": reload,
    "where": where,
    "menu": menu,
    "workbench": workbench,
    **{name: choose(name) for name in ("Start", "Stop", "Pause", "Resume")},
    **{name: choose(name) for name in ("What agents did", "Connect a client")},
    "close": close,
    "leave": leave,
    "tick": HEART.note,
}
PERSON = FreeCADPerson(presenter, WORDS)
