"""What the tests and the pictures of the panel play on: a stage with all that a panel reads."""

from __future__ import annotations

from typing import Any

import shiboken6

from dcc_bridge.qt.panel.panel import Panel

from .parts import CLAUDE, CURSOR, YES, Parts, furnish
from .stage import Stage

__all__ = ["CLAUDE", "CURSOR", "YES", "Desk", "Parts", "furnish"]


class Desk(Parts):
    """The same with a window, dialogs and a panel."""

    def __init__(self, most: int = 100) -> None:
        self.stage = Stage()
        super().__init__(self.stage.main, self.stage.broker, most)
        self.window = self.stage.window
        self.presenter = self.stage.presenter
        self.panel = Panel(self, self.presenter.bring)

    @property
    def dialog(self) -> Any:
        return self.stage.dialog

    def furnish(self) -> None:
        furnish(self)
        self.panel.refresh()

    def close(self) -> None:
        """Take everything down; the panel with its window, if it stands in one."""
        if shiboken6.isValid(self.panel):
            self.panel.close_for_good()
            shiboken6.delete(self.panel)
        self.stage.close()
