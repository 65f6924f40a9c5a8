"""The menu "Agents" in FreeCAD, in every workbench. Main thread.

What it offers are commands of FreeCAD's own kind, so whoever likes puts them on a tool bar or a key
by Tools > Customize. FreeCAD 0.20 cannot be asked to show commands in another's workbench: it
builds its menu bar anew for each, and tells of it; then the menu is put in again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import FreeCADGui

from dcc_bridge.spi.qt import (
    Panel,
    QAction,
    QDockWidget,
    QKeySequence,
    QMenu,
    QObject,
    Qt,
    Slot,
    delete,
    isValid,
    tr,
)

_TITLE: Final = "&Agents"
_BEFORE: Final = "&Windows"
"""The menu that ours stands before, by the untranslated name that FreeCAD keeps with it."""


@dataclass(frozen=True)
class Command:
    """A command of FreeCAD's own kind; FreeCAD looks for its methods by their names.

    Attributes:
        name: The name among FreeCAD's commands.
        text: The text of the menu's entry.
        tip: A sentence about the command.
        act: Runs the command.
        can: Returns whether the command can be run now.
        key: The key that runs it, of those that FreeCAD leaves free; "" for none.
    """

    name: str
    text: str
    tip: str
    act: Callable[[], object]
    can: Callable[[], bool]
    key: str = ""

    def GetResources(self) -> dict[str, str]:
        """Return the texts of the command."""
        return {"MenuText": tr(self.text), "ToolTip": tr(self.tip)}

    def IsActive(self) -> bool:
        """Return whether the command can be run now."""
        return self.can()

    def Activated(self, _: int = 0) -> None:
        """Run the command."""
        self.act()


class Menu(QObject):
    """The menu, as long as the plug-in is loaded."""

    def __init__(self, commands: Sequence[Command]) -> None:
        """Put it into the bar; FreeCAD's window must be up.

        Args:
            commands: What it offers, in this order.
        """
        super().__init__()
        self._window: Any = FreeCADGui.getMainWindow()
        self.dock: QDockWidget | None = None  # what the panel is in, while it is shown
        self.menu = QMenu(tr(_TITLE), self._window)  # what is in the menu bar
        self.menu.menuAction().setData(tr(_TITLE))  # or FreeCAD loses it with another language
        known = FreeCADGui.listCommands()
        for command in commands:
            if command.name not in known:  # none can be taken back
                FreeCADGui.addCommand(command.name, command)
            entry = self.menu.addAction(tr(command.text))
            entry.setData(command.name)
            entry.setShortcut(QKeySequence(command.key))
        self.menu.aboutToShow.connect(self._look)
        self.menu.triggered.connect(self._run)
        self._window.workbenchActivated.connect(self._put)
        self._put()

    def close(self) -> None:
        """Take it away, and the panel out of its dock."""
        self.close_panel()
        if isValid(self.menu):  # else the window is gone, and all that belongs to it
            self._window.workbenchActivated.disconnect(self._put)
            delete(self.menu)

    def show_panel(self, panel: Panel) -> None:
        """Show the panel at the right of the window, or wherever the person put it."""
        if self.dock is None or not isValid(self.dock):
            self.dock = QDockWidget(tr("Agents"), self._window)
            self.dock.setObjectName("DccBridgeAgents")
            self._window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        self.dock.setWidget(panel)
        self.dock.show()
        self.dock.raise_()

    def close_panel(self) -> None:
        """Take the panel out of its dock, which goes; the panel is its maker's to delete."""
        dock, self.dock = self.dock, None
        if dock is None or not isValid(dock):
            return
        panel = dock.widget()
        if panel is not None:
            panel.setParent(None)
        delete(dock)

    @Slot()
    def _put(self) -> None:
        bar = self._window.menuBar()
        before = next((action for action in bar.actions() if action.data() == _BEFORE), None)
        bar.insertMenu(before, self.menu)

    @Slot()
    def _look(self) -> None:
        for action in self.menu.actions():
            action.setEnabled(FreeCADGui.isCommandActive(action.data()))

    @Slot(QAction)
    def _run(self, action: QAction) -> None:
        FreeCADGui.runCommand(action.data())
