"""The windows of the stand-in, in real Qt."""

from __future__ import annotations

from typing import Any

import shiboken6
from PySide6.QtWidgets import QApplication, QMainWindow, QVBoxLayout, QWidget


class Windows:
    """Maya's window, its workspace controls and its shelves."""

    def __init__(self, kept: dict[str, str] | None = None) -> None:
        self.main = QMainWindow()  # the window
        self.main.setWindowTitle("Autodesk Maya (stand-in)")
        self.main.resize(1000, 700)
        self.main.show()
        self.controls: dict[str, QWidget] = {}  # the workspace controls by name
        self.filled: QWidget | None = None  # the control that is being built, while its script runs
        self.shelves: dict[str, list[str]] = {}  # the shelves with their buttons' commands
        self.kept = kept or {}  # what the workspace remembers from last time: the controls' scripts

    @property
    def is_modal(self) -> bool:
        return QApplication.activeModalWidget() is not None

    @staticmethod
    def address(widget: QWidget) -> int:
        return int(shiboken6.getCppPointer(widget)[0])

    def restore(self) -> None:
        """Build the controls that were there last time."""
        for name, script in self.kept.items():
            self._build(name, script)

    def put(self, widget: int, control: int) -> None:
        into, what = (shiboken6.wrapInstance(one, QWidget) for one in (control, widget))
        assert isinstance(into, QWidget)
        assert isinstance(what, QWidget)
        layout = into.layout()
        assert layout is not None
        layout.addWidget(what)

    def close(self) -> None:
        """Delete the window, as Maya does at its end."""
        shiboken6.delete(self.main)

    # ---- commands

    def workspaceControl(self, name: str, **flags: Any) -> Any:
        if flags.get("exists"):
            return name in self.controls
        if not flags.get("edit"):
            self._build(name, flags["uiScript"])
        self.controls[name].show()
        return name

    def _build(self, name: str, script: str) -> None:
        control = QWidget(self.main)
        control.setObjectName(name)
        QVBoxLayout(control)
        self.controls[name] = self.filled = control
        self.kept[name] = script
        try:
            exec(script, {"__name__": "__main__"})
        finally:
            self.filled = None

    def deleteUI(self, name: str) -> None:
        if self.shelves.pop(name, None) is None:
            self.kept.pop(name)
            shiboken6.delete(self.controls.pop(name))

    def shelfLayout(self, name: str, exists: bool = False, parent: str = "") -> Any:
        if exists:
            return name in self.shelves
        self.shelves[name] = []
        return name

    def shelfButton(self, parent: str, command: str, sourceType: str, **flags: Any) -> str:
        assert sourceType == "python"
        self.shelves[parent].append(command)
        return "shelfButton1"
