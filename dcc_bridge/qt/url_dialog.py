"""A question that sends the person to a page: it opens on one button, and on nothing else.

Afterwards it stays: whoever comes back says that they have finished, tries again, or closes it. A
page of this application says itself when it is done. Main thread.
"""

from __future__ import annotations

from dcc_bridge.elicitation.question import Reply
from dcc_bridge.qt.binding import (
    QApplication,
    QDesktopServices,
    QHBoxLayout,
    QIcon,
    QLabel,
    QTimer,
    QVBoxLayout,
    QWidget,
    Slot,
)
from dcc_bridge.qt.buttons import ARM_DELAY, Button
from dcc_bridge.qt.dialog import QuestionDialog
from dcc_bridge.qt.labels import label
from dcc_bridge.qt.url import AddressView
from dcc_bridge.qt.words import tr


class UrlDialog(QuestionDialog):
    """A page to go to, drawn.

    Attributes:
        address: Where it is.
        after: What there is to do once it was opened, or could not be.
    """

    address: AddressView
    after: After

    def submit(self) -> None:
        """Open the page, now that the person agreed; tell them if that failed."""
        opened = bool(QDesktopServices.openUrl(self.address.url))
        self.exits.clear()
        self.after.show_for(opened=opened)
        self._refit.start()

    def _verb(self) -> str:
        return tr("Open in the browser")

    def _parts(self) -> list[QWidget]:
        self.address = AddressView(self.question)
        return [*super()._parts(), self.address]

    def _finish_building(self) -> None:
        visit = self.question.visit
        self.after = After(self.address.text, alone=visit is not None)
        self._column.addWidget(self.after)
        if not self.address.notices:
            self.exits.verb.setIcon(QIcon())
        self.after.finished.clicked.connect(self._say_finished)
        self.after.again.clicked.connect(self._agree)
        self.after.decline.clicked.connect(self._decline)
        self.after.cancel.clicked.connect(self.reject)

    @Slot()
    def _say_finished(self) -> None:
        self._finish(Reply("accept"))


class After(QWidget):
    """What there is to do after the click.

    Attributes:
        text: What happened.
        finished: Says that the person is done there; hidden where the page says so itself.
        again: Opens it once more.
        copy: Copies the address, for a browser that was opened by hand.
        decline: Says no, where it could not be opened.
        cancel: Gives no answer.
    """

    def __init__(self, url: str, *, alone: bool) -> None:
        """Draw it, hidden.

        Args:
            url: What is copied.
            alone: The page says itself when it is done.
        """
        super().__init__()
        self._url = url
        self._alone = alone
        self.text: QLabel = label("")
        self.finished = Button(tr("I have finished"))
        self.again = Button(tr("Try again"))
        self.copy = Button(tr("Copy the address"))
        self.decline = Button(tr("Decline"))
        self.cancel = Button(tr("Cancel"))
        self._moment = QTimer(self)  # the second click of a double one is meant for the first
        self._moment.setSingleShot(True)
        self._moment.timeout.connect(self._arm)
        self.copy.clicked.connect(self._copy)
        self._lay_out()
        self.hide()

    def show_for(self, *, opened: bool) -> None:
        """Show it.

        Args:
            opened: The browser took the address.
        """
        if opened and self._alone:
            told = tr("The page is open in your browser. This closes once you are done there.")
        elif opened:
            told = tr("The page is open in your browser. Come back here once you are done there.")
        else:
            told = tr("No browser could be opened. Copy the address into one, or decline.")
        self.text.setText(told)
        self._show(finished=opened, failed=not opened)

    def _show(self, *, finished: bool, failed: bool) -> None:
        self.finished.setVisible(finished and not self._alone)
        self.decline.setVisible(failed)
        self.copy.setVisible(failed)
        buttons = (self.finished, self.decline, self.cancel, self.again, self.copy)
        for button in buttons:
            button.setEnabled(False)
        self._moment.start(ARM_DELAY)
        self.show()

    @Slot()
    def _arm(self) -> None:
        for button in (self.finished, self.decline, self.cancel, self.again, self.copy):
            button.setEnabled(True)
        (self.copy if self.copy.isVisible() else self.cancel).setFocus()

    @Slot()
    def _copy(self) -> None:
        QApplication.clipboard().setText(self._url)
        self.text.setText(tr("The address was copied. Come back here once you are done there."))
        self.finished.setVisible(not self._alone)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.addWidget(self.text)
        row = QHBoxLayout()
        row.addWidget(self.again)
        row.addWidget(self.copy)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.decline)
        row.addWidget(self.finished)
        column.addLayout(row)
