"""The menu "Agents" in FreeCAD, in every workbench. Main thread.

What it offers are commands of FreeCAD's own kind, so whoever likes puts them on a tool bar or a key
by Tools > Customize. FreeCAD 0.20 cannot be asked to show commands in another's workbench: it
builds its menu bar anew for each, and tells of it; then the menu is put in again.
"""

from __future__ import annotations

from collections.abc import Callable
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

from . import plugin

_TITLE: Final = "&Agents"
_BEFORE: Final = "&Windows"
"""The menu that ours stands before, by the untranslated name that FreeCAD keeps with it."""


@dataclass(frozen=True)
class Command:
    """Something that a person can have done; FreeCAD looks for its methods by their names."""

    name: str  # its name among FreeCAD's commands
    text: str  # what the menu says
    tip: str  # what is said about it
    act: Callable[[], object]  # does it
    can: Callable[[], bool]  # whether it can be done now
    key: str = ""  # the key that does it, of those that FreeCAD leaves free

    def GetResources(self) -> dict[str, str]:
        """Give the words."""
        return {"MenuText": tr(self.text), "ToolTip": tr(self.tip)}

    def IsActive(self) -> bool:
        """Tell whether it can be done now."""
        return self.can()

    def Activated(self, _: int = 0) -> None:
        """Do it."""
        self.act()


def _is_paused() -> bool | None:
    bridge = plugin.plug_in().bridge
    return bridge.is_paused if bridge is not None else None


COMMANDS: Final = (
    Command(
        "DccBridge_Start",
        "Start",
        "Let AI agents work in this FreeCAD",
        lambda: plugin.start(),
        lambda: plugin.plug_in().bridge is None,
    ),
    Command(
        "DccBridge_Stop",
        "Stop",
        "Disconnect all agents, and stop what they are doing",
        lambda: plugin.stop(),
        lambda: plugin.plug_in().bridge is not None,
    ),
    Command(
        "DccBridge_Pause",
        "Pause",
        "Let agents read but not edit",
        lambda: plugin.pause(),
        lambda: _is_paused() is False,
    ),
    Command(
        "DccBridge_Resume",
        "Resume",
        "Let agents edit again",
        lambda: plugin.resume(),
        lambda: _is_paused() is True,
    ),
    Command(
        "DccBridge_Agents",
        "What agents did",
        "Show what AI agents do in this session, what they ask you, and what they did",
        lambda: plugin.show_panel(),
        lambda: plugin.plug_in().bridge is not None,
        "F8",
    ),
    Command(
        "DccBridge_Connect",
        "Connect a client",
        "Set up an AI client on this computer so that it finds this FreeCAD",
        lambda: plugin.show_clients(),
        lambda: plugin.plug_in().bridge is not None,
    ),
)


class Menu(QObject):
    """The menu, as long as the plug-in is loaded."""

    def __init__(self) -> None:
        """Put it into the bar; FreeCAD's window must be up."""
        super().__init__()
        self._window: Any = FreeCADGui.getMainWindow()
        self.dock: QDockWidget | None = None  # what the panel is in, while it is shown
        self.menu = QMenu(tr(_TITLE), self._window)  # what is in the menu bar
        self.menu.menuAction().setData(tr(_TITLE))  # or FreeCAD loses it with another language
        known = FreeCADGui.listCommands()
        for command in COMMANDS:
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
