"""The main window: outliner, viewport, details and history around one session.

Main thread.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from . import icons, theme
from .commands import Commands, Widgets
from .details import Details
from .documents import Documents
from .history import History
from .outliner import Outliner
from .scene import SessionFeed
from .tree import Kind
from .viewport import Viewport

if TYPE_CHECKING:
    from ..host import UsdSession

_COUNTED = {
    Kind.CAMERA: ("camera", "cameras"),
    Kind.LIGHT: ("light", "lights"),
    Kind.GEOMETRY: ("object", "objects"),
    Kind.MATERIAL: ("material", "materials"),
}


def summary(census: Counter[Kind], selected: int) -> str:
    """Return a line about what a scene holds.

    Args:
        census: How many prims of each kind there are.
        selected: How many prims are selected.
    """
    parts = [_count(census.total(), "prim", "prims")]
    for kind, (singular, plural) in _COUNTED.items():
        if census[kind]:
            parts.append(_count(census[kind], singular, plural))
    if selected:
        parts.append(f"{selected} selected")
    return "   ·   ".join(parts)


def _count(number: int, singular: str, plural: str) -> str:
    noun = singular if number == 1 else plural
    return f"{number:,} {noun}".replace(",", "\N{NARROW NO-BREAK SPACE}")


class ServerState(QWidget):
    """The server's address with a dot for its state."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dot = QLabel("\N{BLACK CIRCLE}", self)
        self._label = QLabel(self)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 2, 10, 2)
        layout.setSpacing(7)
        layout.addWidget(self._dot)
        layout.addWidget(self._label)
        self.show_state("MCP: starting…", False)

    @property
    def text(self) -> str:
        """The text that is shown."""
        return self._label.text()

    def show_state(self, text: str, ok: bool) -> None:
        """Show a text, with a green dot if agents can connect, else with an amber dot."""
        self._label.setText(text)
        colour = theme.GOOD if ok else theme.WAITING
        tip = "Agents can connect" if ok else "Agents cannot connect"
        self._dot.setStyleSheet(f"color: {colour.name()}")
        self._dot.setToolTip(tip)


_LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
_RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
_MESSAGE_MS = 6000  # for which a sentence stays in the status bar
_SIZE = QSize(1440, 860)
_FRAME = QSize(12, 48)  # what a window manager draws around the window


class MainWindow(QMainWindow):
    """The window of our own application.

    Attributes:
        closed: Emitted once the window is closed, and unsaved changes are saved or given up.
        session: The scene.
        feed: The changes of the scene as signals.
        documents: The scene's file.
        commands: The menus.
    """

    closed = Signal()

    def __init__(self, session: UsdSession) -> None:
        super().__init__()
        self.session = session
        self._is_agreed = False
        self._raise = QTimer(self)
        self._raise.setSingleShot(True)
        self.feed = SessionFeed(session, self)
        self.documents = Documents(session, self)
        self.outliner = Outliner(session, self.feed, self)
        self.viewport = Viewport(session, self.feed, self)
        self.details = Details(session, self.feed, self)
        self.history = History(session, self.feed, self)
        widgets = Widgets(self.documents, self.outliner, self.viewport, self.history)
        self.commands = Commands(self, widgets, session, self.feed)
        self._lay_out()
        self._make_status()
        self.feed.steps_changed.connect(self.refresh)
        self.feed.selection_changed.connect(self.refresh)
        self.refresh()

    def _lay_out(self) -> None:
        self.setWindowIcon(icons.application())
        self.setCentralWidget(self._with_bar(self.viewport))
        left = self.add_dock("Outliner", self.outliner, _LEFT)
        details = self.add_dock("Details", self.details, _RIGHT)
        history = self.add_dock("Undo steps", self.history, _RIGHT)
        self._details_dock = details
        self._history_dock = history
        self.setCorner(Qt.Corner.BottomLeftCorner, _LEFT)
        self.setCorner(Qt.Corner.BottomRightCorner, _RIGHT)
        self.resize(_SIZE.boundedTo(self.screen().availableSize() - _FRAME))
        self.resizeDocks([left, details], [350, 430], Qt.Orientation.Horizontal)
        self.resizeDocks([details, history], [520, 240], Qt.Orientation.Vertical)
        self.outliner.setFocus()

    def _with_bar(self, viewport: Viewport) -> QWidget:
        """Return a viewport with its tool bar and the caption above it."""
        bar = QToolBar(self)
        bar.addActions(self.commands.looks)
        bar.addSeparator()
        bar.addActions(self.commands.frames)
        self._caption = QLabel(self)
        self._caption.setTextFormat(Qt.TextFormat.PlainText)
        self._caption.setObjectName("caption")
        self._caption.setWordWrap(True)
        self._caption.hide()
        area = QWidget(self)
        layout = QVBoxLayout(area)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(bar)
        layout.addWidget(self._caption)
        layout.addWidget(viewport, 1)
        return area

    def _make_status(self) -> None:
        self._summary = QLabel(self)
        self._summary.setTextFormat(Qt.TextFormat.PlainText)
        self._summary.setContentsMargins(10, 0, 0, 0)
        self._server = ServerState(self)
        self.statusBar().addWidget(self._summary)
        self.statusBar().addPermanentWidget(self._server)
        self.statusBar().setSizeGripEnabled(False)
        self.documents.said.connect(self.say)
        self.outliner.refused.connect(self.say)
        self.details.refused.connect(self.say)
        self.history.refused.connect(self.say)

    def add_dock(self, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        """Dock a widget, and list it in the View menu."""
        dock = self._dock(title, widget, area)
        self.commands.view.addAction(dock.toggleViewAction())
        return dock

    def _dock(self, title: str, widget: QWidget, area: Qt.DockWidgetArea) -> QDockWidget:
        dock = QDockWidget(title, self)
        dock.setObjectName(title)
        dock.setWidget(widget)
        self.addDockWidget(area, dock)
        return dock

    def add_agents(
        self,
        panel: QWidget,
        enter_question: Callable[[], bool],
        enter: Callable[[], None],
        connect: Callable[[], None],
    ) -> QDockWidget:
        """Dock the panel of what agents do, in front of the history; the caller deletes the panel.

        Args:
            panel: The panel.
            enter_question: Puts the keyboard into the question that is drawn; False without one.
            enter: Puts the keyboard into the panel.
            connect: Shows in the panel which clients can be connected.
        """
        dock = self._dock("Agents", panel, _RIGHT)
        self.tabifyDockWidget(dock, self._history_dock)
        self.resizeDocks([self._details_dock, dock], [230, 580], Qt.Orientation.Vertical)
        self._raise.timeout.connect(dock.raise_)
        self._raise.start(0)  # after the tabs are laid out: before that Qt ignores the call
        self.commands.add_agents(dock, enter_question, enter, connect)
        return dock

    def refresh(self) -> None:
        """Show the scene's name, state and size."""
        self.setWindowTitle(f"{self.session.scene()}[*] \N{EN DASH} dcc_bridge")
        self.setWindowModified(self.session.modified)
        self._summary.setText(summary(self.outliner.model.census, len(self.session.selection)))

    def say(self, text: str) -> None:
        """Show a sentence in the status bar for a while."""
        self.statusBar().showMessage(text, _MESSAGE_MS)

    def tell(self, text: str) -> None:
        """Show a sentence above the viewport, until the next sentence."""
        self._caption.setText(text)
        self._caption.show()

    def set_server(self, text: str, ok: bool) -> None:
        """Show the address of the server, "MCP: 127.0.0.1:41234", or why agents cannot connect."""
        self._server.show_state(text, ok)

    @property
    def server_text(self) -> str:
        """The text of the status bar about the server."""
        return self._server.text

    @property
    def summary_text(self) -> str:
        """The text of the status bar about the scene."""
        return self._summary.text()

    def close_now(self) -> None:
        """Close without asking; unsaved changes are lost."""
        self._is_agreed = True
        if self.isVisible():
            self.close()
        else:
            self.closed.emit()  # Qt sends no close event to a window that is closed already

    def closeEvent(self, event: QCloseEvent) -> None:
        """Close once the person has saved unsaved changes, or given them up."""
        if self._is_agreed or not self.session.modified:
            event.accept()
            self.closed.emit()
        else:
            event.ignore()
            self.documents.leave(self.close_now)
