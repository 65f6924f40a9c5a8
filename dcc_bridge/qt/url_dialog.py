"""The dialog of a page that a person is sent to, and of what there is to do once it is open.

The page opens on one button, and on nothing else. Its address is drawn from its text alone: nothing
is fetched or looked up. Then the dialog stays: whoever comes back says they have finished, tries
again, or closes it. A page of this application says itself when it is done. Main thread.
"""

from __future__ import annotations

from html import escape
from typing import Final

from dcc_bridge.elicitation import urls
from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.elicitation.text import breakable, safe_line, safe_text
from dcc_bridge.errors import RefusedAddress
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import ARM_DELAY_MS, Button
from dcc_bridge.qt.labels import SMALL, Notice, add_all, label, plain_column, scale, tr
from dcc_bridge.qt.question_dialog import QuestionDialog

_MOST_LINES: Final = 8
_IN_LINE: Final = 48  # characters of an address that fit in a line of it, and often more


class AddressView(qt.QWidget):
    """Where a page is."""

    def __init__(self, question: Question) -> None:
        """Draw a question's address; RefusedAddress where it is no page's, or Qt reads another."""
        super().__init__()
        where = urls.of(question)
        self.text = where.url
        self.url = _same(where.url)  # what opens: exactly what is shown
        ours = tr("A page of this application")
        self.host = label(ours, size=1.1, bold=True) if where.ours else _host(where.place)
        self.notices = [Notice(danger.text) for danger in where.dangers]
        self.whole = _whole(where.url)  # all of it, to be read and copied
        column = plain_column(self)
        if question.page is not None and question.page.description:
            column.addWidget(label(safe_text(question.page.description, tr=tr)))
        column.addWidget(self.host)
        if where.place.letters and not where.ours:
            letters = safe_line(where.place.letters)
            column.addWidget(label(tr("It reads {letters}", letters=letters)))
        add_all(column, *self.notices, label(tr("The whole address:"), size=SMALL), self.whole)


def _same(text: str) -> qt.QUrl:
    """Read an address as Qt does, which must be as it is shown."""
    url = qt.QUrl(text, qt.QUrl.ParsingMode.StrictMode)
    shown = url.toString(qt.QUrl.ComponentFormattingOption.FullyEncoded)
    if not url.isValid() or shown != text:
        raise RefusedAddress(text, f"it would open as {shown!r}")
    return url


def _host(place: urls.UrlHost) -> qt.QLabel:
    """Draw a host, which may wrap; it has only a network's characters, and is escaped anyhow."""
    host = label("", size=1.2)
    host.setTextFormat(qt.Qt.TextFormat.RichText)
    parts = [escape(breakable(part)) for part in (place.weak, place.strong)]
    host.setText(f"{parts[0]}<b>{parts[1]}</b>")
    host.setAccessibleName(tr("It leads to {host}", host=place.host))
    return host


def _whole(url: str) -> qt.QPlainTextEdit:
    editor = qt.QPlainTextEdit(url, readOnly=True, undoRedoEnabled=False, tabChangesFocus=True)
    editor.setWordWrapMode(qt.QTextOption.WrapMode.WrapAnywhere)
    keyboard = qt.Qt.TextInteractionFlag.TextSelectableByKeyboard
    editor.setTextInteractionFlags(keyboard | qt.Qt.TextInteractionFlag.TextSelectableByMouse)
    editor.setLayoutDirection(qt.Qt.LayoutDirection.LeftToRight)
    editor.setAccessibleName(tr("The whole address"))
    editor.setFont(qt.QFontDatabase.systemFont(qt.QFontDatabase.SystemFont.FixedFont))
    scale(editor, 1.0)
    lines = min(-(-len(url) // _IN_LINE), _MOST_LINES)
    margins = 2 * (editor.frameWidth() + round(editor.document().documentMargin()) + 1)
    editor.setFixedHeight(editor.fontMetrics().lineSpacing() * lines + margins)
    return editor


class UrlDialog(QuestionDialog):
    """A page to go to, drawn."""

    address: AddressView
    after: After  # what there is to do once it was opened, or could not be

    @qt.Slot()
    def submit(self) -> None:
        """Open the page, now that the person agreed; tell them if that failed."""
        opened = bool(qt.QDesktopServices.openUrl(self.address.url))
        self.exits.clear()
        self.after.show_for(opened=opened)
        self._refit.start()

    def _parts(self) -> list[qt.QWidget]:
        self.address = AddressView(self.question)
        return [*super()._parts(), self.address]

    def _finish_building(self) -> None:
        self.after = After(self.address.text, alone=self.question.visit is not None)
        self._column.addWidget(self.after)
        if not self.address.notices:
            self.exits.verb.setIcon(qt.QIcon())
        self.after.finished.clicked.connect(self._say_finished)
        self.after.again.clicked.connect(self.submit)
        self.after.decline.clicked.connect(self._decline)
        self.after.cancel.clicked.connect(self.reject)

    @qt.Slot()
    def _say_finished(self) -> None:
        self._finish(Reply("accept"))


class After(qt.QWidget):
    """What there is to do after the click."""

    def __init__(self, url: str, *, alone: bool) -> None:
        super().__init__()
        self._url = url  # what is copied
        self._alone = alone  # the page says itself when it is done
        self.text: qt.QLabel = label("")
        self.finished = Button(tr("I have finished"))  # hidden where the page says so itself
        self.again = Button(tr("Try again"))  # opens it once more
        self.copy = Button(tr("Copy the address"))  # for a browser that was opened by hand
        self.decline = Button(tr("Decline"))  # says no, where it could not be opened
        self.cancel = Button(tr("Cancel"))  # gives no answer
        self._buttons = (self.finished, self.decline, self.cancel, self.again, self.copy)
        self._moment = qt.QTimer(self, singleShot=True)  # takes no second click of a double one
        self._moment.timeout.connect(self._arm)
        self.copy.clicked.connect(self._copy)
        row = qt.QHBoxLayout()
        add_all(qt.QVBoxLayout(self), self.text, row)
        add_all(row, self.again, self.copy, None, self.cancel, self.decline, self.finished)
        self.hide()

    def show_for(self, *, opened: bool) -> None:
        """Show what there is to do, given whether the browser took the address."""
        if opened and self._alone:
            text = tr("The page is open in your browser. This closes once you are done there.")
        elif opened:
            text = tr("The page is open in your browser. Come back here once you are done there.")
        else:
            text = tr("No browser could be opened. Copy the address into one, or decline.")
        self.text.setText(text)
        self.finished.setVisible(opened and not self._alone)
        self.decline.setVisible(not opened)
        self.copy.setVisible(not opened)
        for button in self._buttons:
            button.setEnabled(False)
        self._moment.start(ARM_DELAY_MS)
        self.show()

    @qt.Slot()
    def _arm(self) -> None:
        for button in self._buttons:
            button.setEnabled(True)
        (self.copy if self.copy.isVisible() else self.cancel).setFocus()

    @qt.Slot()
    def _copy(self) -> None:
        qt.QApplication.clipboard().setText(self._url)
        self.text.setText(tr("The address was copied. Come back here once you are done there."))
        self.finished.setVisible(not self._alone)
