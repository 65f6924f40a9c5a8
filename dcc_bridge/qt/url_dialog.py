"""The dialog of a question that sends a person to a page. Main thread.

The dialog shows the page's address, for which nothing is fetched or looked up, and opens the page
on one button only. Then the dialog stays: the person says that they have finished, tries again, or
closes the dialog. A page of this application itself reports when the person is done there.
"""

from __future__ import annotations

from html import escape
from math import ceil
from typing import Final

from dcc_bridge.elicitation import urls
from dcc_bridge.elicitation.question import Question, Reply
from dcc_bridge.elicitation.text import breakable, safe_line, safe_text
from dcc_bridge.errors import RefusedAddress
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.buttons import ARM_DELAY_MS, Button
from dcc_bridge.qt.labels import SMALL, Notice, add_all, label, plain_column, scale, tr
from dcc_bridge.qt.question_dialog import QuestionDialog

_MAX_LINES: Final = 8  # of an address, without scrolling
_LINE_LENGTH: Final = 48  # characters of an address that fit in a line, and often more


class AddressView(qt.QWidget):
    """The address of a page: whose it is, what is dangerous about it, and all of its text.

    Attributes:
        text: The address.
        url: The address as Qt opens it, which is the same as `text`.
        host: The label that says whose page it is.
        notices: The warnings about the address.
        whole: The box with the whole address, to be read and copied.
    """

    def __init__(self, question: Question) -> None:
        """Draw a question's address.

        Args:
            question: A question with a page.

        Raises:
            RefusedAddress: The URL leads to no page, or Qt would open another URL.
        """
        super().__init__()
        address = urls.of(question)
        self.text = address.url
        self.url = _parse(address.url)
        if address.ours:
            self.host = label(tr("A page of this application"), size=1.1, bold=True)
        else:
            self.host = _host_label(address.place)
        self.notices = [Notice(danger.text) for danger in address.dangers]
        self.whole = _address_box(address.url)
        column = plain_column(self)
        if question.page is not None and question.page.description:
            column.addWidget(label(safe_text(question.page.description, tr=tr)))
        column.addWidget(self.host)
        if address.place.letters and not address.ours:
            letters = safe_line(address.place.letters)
            column.addWidget(label(tr("It reads {letters}", letters=letters)))
        caption = label(tr("The whole address:"), size=SMALL)
        add_all(column, *self.notices, caption, self.whole)


def _parse(text: str) -> qt.QUrl:
    """Parse an address with Qt; RefusedAddress if Qt would open another one than is shown."""
    url = qt.QUrl(text, qt.QUrl.ParsingMode.StrictMode)
    shown = url.toString(qt.QUrl.ComponentFormattingOption.FullyEncoded)
    if not url.isValid() or shown != text:
        raise RefusedAddress(text, f"it would open as {shown!r}")
    return url


def _host_label(place: urls.UrlHost) -> qt.QLabel:
    """Draw a host, with its registered part in bold."""
    weak = escape(breakable(place.weak))
    strong = escape(breakable(place.strong))
    host = label("", size=1.2)
    host.setTextFormat(qt.Qt.TextFormat.RichText)
    host.setText(f"{weak}<b>{strong}</b>")
    host.setAccessibleName(tr("It leads to {host}", host=place.host))
    return host


def _address_box(url: str) -> qt.QPlainTextEdit:
    """Draw an address as text that can be selected, and wraps anywhere."""
    editor = qt.QPlainTextEdit(url, readOnly=True, undoRedoEnabled=False, tabChangesFocus=True)
    editor.setWordWrapMode(qt.QTextOption.WrapMode.WrapAnywhere)
    keyboard = qt.Qt.TextInteractionFlag.TextSelectableByKeyboard
    editor.setTextInteractionFlags(keyboard | qt.Qt.TextInteractionFlag.TextSelectableByMouse)
    editor.setLayoutDirection(qt.Qt.LayoutDirection.LeftToRight)
    editor.setAccessibleName(tr("The whole address"))
    editor.setFont(qt.QFontDatabase.systemFont(qt.QFontDatabase.SystemFont.FixedFont))
    scale(editor, 1.0)
    lines = min(ceil(len(url) / _LINE_LENGTH), _MAX_LINES)
    margins = 2 * (editor.frameWidth() + round(editor.document().documentMargin()) + 1)
    editor.setFixedHeight(editor.fontMetrics().lineSpacing() * lines + margins)
    return editor


class UrlDialog(QuestionDialog):
    """The dialog of a question with a page.

    Attributes:
        address: The address of the page.
        after: The buttons once the page was opened, or could not be.
    """

    address: AddressView
    after: AfterOpening

    @qt.Slot()
    def submit(self) -> None:
        """Open the page, as the person agreed, and show the buttons for afterwards.

        It raises nothing.
        """
        is_open = bool(qt.QDesktopServices.openUrl(self.address.url))
        self.exits.clear()
        self.after.show_for(opened=is_open)
        self._refit.start()

    def _parts(self) -> list[qt.QWidget]:
        self.address = AddressView(self.question)
        return [*super()._parts(), self.address]

    def _finish_building(self) -> None:
        reports_end = self.question.visit is not None
        self.after = AfterOpening(self.address.text, reports_end=reports_end)
        self._column.addWidget(self.after)
        if self.address.notices:
            self.exits.warn()
        self.after.finished.clicked.connect(self._say_finished)
        self.after.again.clicked.connect(self.submit)
        self.after.decline.clicked.connect(self._decline)
        self.after.cancel.clicked.connect(self.reject)

    @qt.Slot()
    def _say_finished(self) -> None:
        self._finish(Reply("accept"))


class AfterOpening(qt.QWidget):
    """A sentence and buttons for after the page was opened, or could not be.

    Attributes:
        text: Says whether the page is open, and what to do next.
        finished: The button that accepts; hidden where the page itself reports the end.
        again: The button that opens the page once more.
        copy: The button that copies the address, for a browser that is opened by hand.
        decline: The button that says no; hidden where the page could be opened.
        cancel: The button that gives no answer.
    """

    def __init__(self, url: str, *, reports_end: bool) -> None:
        """Prepare the buttons; they are hidden until `show_for`.

        Args:
            url: The address to copy.
            reports_end: Whether the page itself reports when the person is done.
        """
        super().__init__()
        self._url = url
        self._reports_end = reports_end
        self.text: qt.QLabel = label("")
        self.finished = Button(tr("I have finished"))
        self.again = Button(tr("Try again"))
        self.copy = Button(tr("Copy the address"))
        self.decline = Button(tr("Decline"))
        self.cancel = Button(tr("Not now"))
        self._buttons = (self.finished, self.decline, self.cancel, self.again, self.copy)
        self._arming = qt.QTimer(self, singleShot=True)  # against the second of a double click
        self._arming.timeout.connect(self._arm)
        self.copy.clicked.connect(self._copy)
        row = qt.QHBoxLayout()
        add_all(qt.QVBoxLayout(self), self.text, row)
        add_all(row, self.again, self.copy, None, self.cancel, self.decline, self.finished)
        self.hide()

    def show_for(self, *, opened: bool) -> None:
        """Show the sentence and the buttons, given whether a browser took the address."""
        if opened and self._reports_end:
            text = tr(
                "The page is open in your browser. This dialog closes once you have finished there."
            )
        elif opened:
            text = tr(
                "The page is open in your browser. Come back here once you have finished there."
            )
        else:
            text = tr("No browser could be opened. Copy the address into one, or decline.")
        self.text.setText(text)
        self.finished.setVisible(opened and not self._reports_end)
        self.decline.setVisible(not opened)
        self.copy.setVisible(not opened)
        for button in self._buttons:
            button.setEnabled(False)
        self._arming.start(ARM_DELAY_MS)
        self.show()

    @qt.Slot()
    def _arm(self) -> None:
        for button in self._buttons:
            button.setEnabled(True)
        if self.copy.isVisible():
            self.copy.setFocus()
        else:
            self.cancel.setFocus()

    @qt.Slot()
    def _copy(self) -> None:
        qt.QApplication.clipboard().setText(self._url)
        self.text.setText(
            tr("The address was copied. Come back here once you have finished there.")
        )
        self.finished.setVisible(not self._reports_end)
