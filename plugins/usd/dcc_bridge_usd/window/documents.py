"""Opening, saving and leaving a scene, and the questions that go with it.

No question blocks: each is opened, and the rest is done when it is answered. Main thread.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog, QLabel, QMessageBox, QWidget

if TYPE_CHECKING:
    from ..host import UsdSession

_SCENES = "USD scenes (*.usda *.usd *.usdc)"
_READABLE = "USD scenes (*.usda *.usd *.usdc *.usdz)"
Button = QMessageBox.StandardButton


def _nothing() -> None:
    """Do nothing, after a question that nothing else waits for."""


class Documents(QObject):
    """The file of a session.

    Attributes:
        said: Emitted after something was done, with a sentence for the status bar.
        question: The question about unsaved changes, while it is open.
        dialog: The file dialog, while it is open.
    """

    said = Signal(str)

    def __init__(self, session: UsdSession, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self._then: Callable[[], None] = _nothing
        self.question: QMessageBox | None = None
        self.dialog: QFileDialog | None = None

    def open(self) -> None:
        """Ask about unsaved changes, then for a file, and open it."""
        self.leave(self._ask_what_to_open)

    def leave(self, then: Callable[[], None]) -> None:
        """Do something that would lose unsaved changes, once the person agreed or saved them.

        Args:
            then: Does it.
        """
        if self.question:
            self.question.activateWindow()
        elif self._session.modified:
            self._then = then
            self._ask()
        else:
            then()

    def save(self) -> None:
        """Save, asking for a name if there is none."""
        self._save_and(_nothing)

    def save_as(self) -> None:
        """Ask for a name and save."""
        self._ask_where_to_save(_nothing)

    def _save_and(self, then: Callable[[], None]) -> None:
        if self._session.path is None:
            self._ask_where_to_save(then)
        elif self._write(None):
            then()

    def _ask(self) -> None:
        what = f"Save the changes to {self._session.scene()}?"
        lost = "They are lost if you do not save them."
        box = _box(QMessageBox.Icon.Warning, self._window, what, lost)
        box.setWindowTitle("Unsaved changes")
        box.setStandardButtons(Button.Save | Button.Discard | Button.Cancel)
        box.setDefaultButton(Button.Save)
        box.finished.connect(self._answered)
        self.question = box
        box.open()

    def _answered(self, answer: int) -> None:
        then = self._take_then()
        if self.question:
            self.question.deleteLater()
            self.question = None
        if answer == Button.Save:
            self._save_and(then)
        elif answer == Button.Discard:
            then()

    def _take_then(self) -> Callable[[], None]:
        """Return what waits for an answer, and let nothing wait."""
        then = self._then
        self._then = _nothing
        return then

    def _ask_what_to_open(self) -> None:
        self._browse("Open", QFileDialog.AcceptMode.AcceptOpen, self._open)

    def _ask_where_to_save(self, then: Callable[[], None]) -> None:
        self._then = then
        self._browse("Save as", QFileDialog.AcceptMode.AcceptSave, self._save_there)

    def _browse(
        self, title: str, mode: QFileDialog.AcceptMode, chosen: Callable[[str], None]
    ) -> None:
        path = self._session.path
        folder = str(path.parent) if path else ""
        name = path.name if path else "untitled.usda"
        dialog = QFileDialog(self._window, title, folder, _SCENES)
        dialog.setAcceptMode(mode)
        if mode is QFileDialog.AcceptMode.AcceptOpen:
            dialog.setNameFilter(_READABLE)
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        else:
            dialog.setDefaultSuffix("usda")
            dialog.selectFile(name)
        dialog.fileSelected.connect(chosen)
        dialog.finished.connect(self._closed)
        self.dialog = dialog
        dialog.open()

    def _closed(self, result: int) -> None:
        if result == QFileDialog.DialogCode.Rejected:
            self._then = _nothing
        if self.dialog:
            self.dialog.deleteLater()
            self.dialog = None

    def _open(self, name: str) -> None:
        self.open_file(Path(name))

    def open_file(self, path: Path) -> None:
        """Open a file without asking; unsaved changes are lost."""
        try:
            self._session.open(path)
        except (OSError, RuntimeError, ValueError) as error:
            self._complain(f"{path.name} cannot be opened.", error)
        else:
            self.said.emit(f"Opened {path.name}")

    def _save_there(self, name: str) -> None:
        then = self._take_then()
        if self._write(Path(name)):
            then()

    def _write(self, path: Path | None) -> bool:
        """Save to a file, and return whether that was possible."""
        try:
            saved = self._session.save(path)
        except (OSError, RuntimeError, ValueError) as error:
            self._complain("The scene cannot be saved.", error)
            return False
        self.said.emit(f"Saved {saved.name}")
        return True

    def _complain(self, text: str, error: Exception) -> None:
        box = _box(QMessageBox.Icon.Critical, self._window, text, str(error))
        box.finished.connect(box.deleteLater)
        box.open()


def _box(icon: QMessageBox.Icon, window: QWidget, text: str, more: str) -> QMessageBox:
    """Make a message box that shows markup as it is: a file may have any name."""
    box = QMessageBox(icon, "", text, Button.Ok, window)
    box.setInformativeText(more)
    for label in box.findChildren(QLabel):
        label.setTextFormat(Qt.TextFormat.PlainText)
    return box
