"""The menu "Agents" in FreeCAD, in every workbench. Main thread.

The entries are commands of FreeCAD's own kind, so a person can put them on a tool bar or a key by
Tools > Customize. FreeCAD 0.20 cannot show commands in somebody else's workbench: it builds the
menu bar anew for each workbench and sends a signal, upon which the menu is inserted again.
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
_NEXT_MENU: Final = "&Windows"
"""The menu that follows ours, by the untranslated name that FreeCAD keeps in its action."""


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
    """The menu, as long as the plug-in is loaded.

    Attributes:
        dock: The dock that holds the panel; None until the panel is shown.
        menu: The menu in the menu bar.
    """

    def __init__(self, commands: Sequence[Command]) -> None:
        """Insert the menu into the menu bar; FreeCAD's window must be up.

        Args:
            commands: The entries of the menu, in this order.
        """
        super().__init__()
        self._window: Any = FreeCADGui.getMainWindow()
        self.dock: QDockWidget | None = None
        self.menu = QMenu(tr(_TITLE), self._window)
        # Without the data FreeCAD loses the menu when the person changes the language.
        self.menu.menuAction().setData(tr(_TITLE))
        registered = FreeCADGui.listCommands()
        for command in commands:
            if command.name not in registered:  # no command can be removed again
                FreeCADGui.addCommand(command.name, command)
            entry = self.menu.addAction(tr(command.text))
            entry.setData(command.name)
            entry.setShortcut(QKeySequence(command.key))
        self.menu.aboutToShow.connect(self._enable_entries)
        self.menu.triggered.connect(self._run)
        self._window.workbenchActivated.connect(self._insert)
        self._insert()

    def close(self) -> None:
        """Remove the menu, and take the panel out of its dock."""
        self.close_panel()
        if isValid(self.menu):  # else the window is gone, and all that belongs to it
            self._window.workbenchActivated.disconnect(self._insert)
            delete(self.menu)

    def show_panel(self, panel: Panel) -> None:
        """Show the panel at the right of the window, or in the place that the person gave it."""
        if self.dock is None or not isValid(self.dock):
            self.dock = QDockWidget(tr("Agents"), self._window)
            self.dock.setObjectName("DccBridgeAgents")
            self._window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.dock)
        self.dock.setWidget(panel)
        self.dock.show()
        self.dock.raise_()

    def close_panel(self) -> None:
        """Take the panel out of its dock, and delete the dock but not the panel."""
        dock = self.dock
        self.dock = None
        if dock is None or not isValid(dock):
            return
        panel = dock.widget()
        if panel is not None:
            panel.setParent(None)
        delete(dock)

    @Slot()
    def _insert(self) -> None:
        """Insert the menu before the menu of windows, or at the end if there is none."""
        bar = self._window.menuBar()
        followers = [action for action in bar.actions() if action.data() == _NEXT_MENU]
        follower = followers[0] if followers else None
        bar.insertMenu(follower, self.menu)

    @Slot()
    def _enable_entries(self) -> None:
        for action in self.menu.actions():
            action.setEnabled(FreeCADGui.isCommandActive(action.data()))

    @Slot(QAction)
    def _run(self, action: QAction) -> None:
        FreeCADGui.runCommand(action.data())
