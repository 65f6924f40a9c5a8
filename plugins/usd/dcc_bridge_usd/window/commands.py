"""The menus: every command of the window, its words and its keys. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QDockWidget, QMainWindow, QMenu, QMenuBar

from .scene import SessionFeed

if TYPE_CHECKING:
    from ..host import UsdSession
    from .documents import Documents
    from .history import History
    from .outliner import Outliner
    from .viewport import Viewport

Keys = QKeySequence.StandardKey | str
_STANDARD = QKeySequence.StandardKey
AGENTS_KEY = "F8"


@dataclass(frozen=True)
class Widgets:
    """The parts of a window on which the commands act."""

    documents: Documents
    outliner: Outliner
    viewport: Viewport
    history: History


class Commands(QObject):
    """The actions of a window, in the menus File, Edit and View.

    Attributes:
        view: The menu View.
        looks: The actions that choose perspective or top, which exclude each other.
        frames: The actions that frame the selected prims, or all.
        save: Saves the scene; the other actions are named like it.
    """

    def __init__(
        self, window: QMainWindow, widgets: Widgets, session: UsdSession, feed: SessionFeed
    ) -> None:
        super().__init__(window)
        self._widgets = widgets
        self._session = session
        self._file(window, window.menuBar())
        self._edit(window.menuBar())
        self.view = self._view(window.menuBar())
        feed.steps_changed.connect(self.refresh)
        feed.selection_changed.connect(self.refresh)
        self.refresh()

    def _file(self, window: QMainWindow, bar: QMenuBar) -> None:
        menu = bar.addMenu("&File")
        documents = self._widgets.documents
        _add(menu, "&Open…", documents.open, _STANDARD.Open)
        menu.addSeparator()
        self.save = _add(menu, "&Save", documents.save, _STANDARD.Save)
        _add(menu, "Save &As…", documents.save_as, "Ctrl+Shift+S")
        menu.addSeparator()
        leave = _add(menu, "&Quit", window.close, "Ctrl+Q")
        leave.setMenuRole(QAction.MenuRole.QuitRole)

    def _edit(self, bar: QMenuBar) -> None:
        menu = bar.addMenu("&Edit")
        history = self._widgets.history
        outliner = self._widgets.outliner
        self.undo = _add(menu, "&Undo", history.undo, _STANDARD.Undo)
        self.redo = _add(menu, "&Redo", history.redo, "Ctrl+Shift+Z")
        menu.addSeparator()
        self.rename = _add(menu, "Re&name", outliner.rename, "F2")
        self.delete = _add(menu, "&Delete", outliner.delete, _STANDARD.Delete)
        menu.addSeparator()
        self.deselect = _add(menu, "Select N&othing", self._deselect, "Ctrl+Shift+A")

    def _view(self, bar: QMenuBar) -> QMenu:
        menu = bar.addMenu("&View")
        viewport = self._widgets.viewport
        kinds = QActionGroup(self)
        perspective = _add(menu, "&Perspective", viewport.update, "P")
        plan = _add(menu, "&Top", viewport.update, "T")
        for action in (perspective, plan):
            action.setCheckable(True)
            kinds.addAction(action)
        perspective.setChecked(True)
        plan.toggled.connect(viewport.set_plan)
        menu.addSeparator()
        selected = _add(menu, "Frame &Selected", viewport.frame_selected, "F")
        everything = _add(menu, "Frame &All", viewport.frame_all, "A")
        menu.addSeparator()
        self.looks = [perspective, plan]
        self.frames = [selected, everything]
        return menu

    def add_agents(
        self,
        dock: QDockWidget,
        enter_question: Callable[[], bool],
        enter: Callable[[], None],
        connect: Callable[[], None],
    ) -> None:
        """List the agents' dock, with a key that goes to what agents want.

        The key goes to the question that is drawn. Without a question it goes to the dock, and
        hides the dock when it is pressed there. For the arguments see `MainWindow.add_agents`.
        """

        def go() -> None:
            if enter_question():
                action.setChecked(dock.isVisible())  # the click on the menu has changed it
                return
            if dock.isVisible() and _has_focus(dock):
                dock.hide()
            else:
                dock.show()
                dock.raise_()
                enter()
            action.setChecked(dock.isVisible())

        def show() -> None:
            dock.show()
            dock.raise_()
            connect()

        action = _add(self.view, "A&gents", go, AGENTS_KEY)
        _add(self.view, "&Connect a Client…", show, "")
        action.setCheckable(True)
        dock.visibilityChanged.connect(action.setChecked)

    def _deselect(self) -> None:
        self._session.selection = []

    def refresh(self) -> None:
        """Name the steps that can be undone and redone, and disable what cannot be done now."""
        _name(self.undo, "&Undo", self._session.undo_labels)
        _name(self.redo, "&Redo", self._session.redo_labels)
        self.save.setEnabled(self._session.modified or self._session.path is None)
        for action in (self.rename, self.delete, self.deselect):
            action.setEnabled(bool(self._session.selection))


def _has_focus(dock: QDockWidget) -> bool:
    """Return whether the keyboard is in a dock."""
    panel = dock.widget()
    if not panel:
        return False
    focused = panel.focusWidget()
    return focused is not None and focused.hasFocus()


def _add(menu: QMenu, text: str, do: Callable[[], object], keys: Keys) -> QAction:
    action = menu.addAction(text)
    action.setShortcut(QKeySequence(keys))
    action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
    action.triggered.connect(do)
    return action


def _name(action: QAction, verb: str, labels: list[str]) -> None:
    """Name an action by the newest of some steps, and disable it if there is none."""
    label = labels[-1].replace("&", "&&") if labels else ""
    action.setText(f"{verb} {label}".rstrip())
    action.setEnabled(bool(labels))
