"""An agent and a person at a stand-in application that runs in this process, in real Qt."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from PySide6.QtWidgets import QApplication

from dcc_bridge.bridge import Bridge
from dcc_bridge.qt.question_dialog import QuestionDialog
from tests.live import LIMIT, Live
from tests.qt import stage


def application() -> QApplication:
    """Give the one application of this process."""
    app = QApplication.instance() or QApplication(["test"])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    return app


class LiveApplication(Live):
    """Agents on threads of their own, over HTTP; a person at the window."""

    def __init__(self, bridge: Bridge) -> None:
        self.bridge = bridge
        self.host = bridge.host
        self.pump = SimpleNamespace(wake=lambda delay: bridge.main.post(lambda: None))
        self.until(lambda: bool(bridge.address))

    def until(self, condition: Callable[[], bool], limit: float = LIMIT) -> None:
        """Run the application's event loop until a condition holds."""
        stage.until(condition, limit)

    @property
    def dialog(self) -> QuestionDialog:
        """Wait for a question, and give its dialog."""
        self.until(lambda: bool(shown()))
        return shown()[0]

    def agree(self) -> str:
        dialog = self.dialog
        if dialog.name is not None:  # what cannot be undone is agreed to by its name
            dialog.name.editor.setText(dialog.view.word)
        verb = stage.armed(dialog)
        said = verb.text()
        stage.click(verb)
        return said

    def refuse(self) -> None:
        stage.click(self.dialog.exits.decline)


def shown() -> list[QuestionDialog]:
    tops = QApplication.topLevelWidgets()
    return [top for top in tops if isinstance(top, QuestionDialog) and top.isVisible()]
