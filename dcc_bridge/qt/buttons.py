"""The buttons below a question, how long it still waits, and what else may be done. Main thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from dcc_bridge.elicitation.question import MAX_REASON_CHARS
from dcc_bridge.elicitation.text import tool_tip
from dcc_bridge.elicitation.view import OffersView
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt.labels import (
    SMALL,
    Mnemonics,
    add_all,
    label,
    plain_column,
    scale,
    tr,
    unmarked,
)

ARM_DELAY: Final = 250  # milliseconds for which what cannot be taken back cannot be clicked
ENTER: Final = (qt.Qt.Key.Key_Return, qt.Qt.Key.Key_Enter)
_TICK: Final = 250
_TYPING: Final = 5.0  # seconds after a touch for which the person is taken to be still at it


class Button(qt.QPushButton):
    """A button that leaves Enter to its dialog: on some desktops every button takes it."""

    def __init__(self, text: str) -> None:
        super().__init__(text, autoDefault=False)

    def keyPressEvent(self, event: qt.QKeyEvent) -> None:
        """Pass Enter on."""
        if event.key() in ENTER:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        """Frame it while it has the focus: a style draws nothing around a flat button."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = qt.QPainter(self)
            painter.setPen(self.palette().color(qt.QPalette.ColorRole.WindowText))
            painter.drawRect(self.rect().adjusted(1, 1, -2, -2))
            painter.end()


def small(caption: str, *, flat: bool = True) -> Button:
    """Make a quiet button, beside those that matter."""
    button = Button(caption)
    button.setFlat(flat)
    scale(button, SMALL)
    return button


class Exits(qt.QWidget):
    """Decline, Cancel, and the button that says what will be done."""

    def __init__(self, verb: str, *aside: qt.QWidget, consent: bool, mnemonics: Mnemonics) -> None:
        """Draw them, below what stands `aside`.

        With `consent` something may be lost: Cancel is the default, the verb stands out, has no
        mnemonic, and cannot be clicked for a moment after it appeared.
        """
        super().__init__()
        self._consent = consent
        self._is_armed = not consent
        self._is_held = False
        self.cancel = Button(mnemonics.mark(tr("Cancel")))  # gives no answer
        self.cancel.setToolTip(tr("Close without an answer. Nothing is done."))
        self.decline = Button(mnemonics.mark(tr("Decline")))  # with the reason that stands there
        self.decline.setToolTip(tr("Say no. The agent is told that you do not want this."))
        self.with_reason = small(unmarked(tr("with a reason…")))  # brings the line for that reason
        self.with_reason.setToolTip(tr("Say no, and tell the agent why."))
        hint = tr("Why not? The agent is told. Enter declines.")
        self.reason = qt.QLineEdit(maxLength=MAX_REASON_CHARS, placeholderText=hint)
        self.reason.setAccessibleName(tr("Why you decline"))
        self.reason.hide()  # until it is asked for
        self.verb = Button(unmarked(verb) if consent else mnemonics.mark(verb))  # agrees
        (self.cancel if consent else self.verb).setDefault(True)
        self.with_reason.clicked.connect(self._ask_reason)
        self._moment = qt.QTimer(self, singleShot=True)
        self._moment.timeout.connect(self._arm)
        if consent:
            scale(self.verb, 1.0, bold=True)
            warning = qt.QStyle.StandardPixmap.SP_MessageBoxWarning
            self.verb.setIcon(self.style().standardIcon(warning))
        row = qt.QHBoxLayout()
        add_all(qt.QVBoxLayout(self), *aside, self.reason, row)
        add_all(row, self.decline, self.with_reason, None, self.cancel, self.verb)

    def showEvent(self, event: qt.QShowEvent) -> None:
        """Start the moment in which a click meant for something else does nothing."""
        super().showEvent(event)
        if self._consent and not event.spontaneous():
            self._is_armed = False
            self.verb.setEnabled(False)
            self._moment.start(ARM_DELAY)

    @qt.Slot(bool)
    def hold(self, held: bool) -> None:
        """Keep the verb from being clicked until something else is done."""
        self._is_held = held
        self.verb.setEnabled(self._is_armed and not held)

    def clear(self) -> None:
        """Take all of them away; what stands above them stays."""
        for part in (self.decline, self.with_reason, self.reason, self.cancel, self.verb):
            part.hide()

    @qt.Slot()
    def _ask_reason(self) -> None:
        self.with_reason.hide()
        self.reason.show()
        self.reason.setFocus()

    @qt.Slot()
    def _arm(self) -> None:
        self._is_armed = True
        self.verb.setEnabled(not self._is_held)


class Countdown(qt.QWidget):
    """A line of small text that counts down, with a button that begins anew. See `Offers`."""

    expired = qt.Signal()  # the time is up

    def __init__(
        self,
        soon: float,
        latest: float,
        mnemonics: Mnemonics,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._now = now
        self._soon = soon
        self._latest = now() + latest
        self._ends = min(now() + soon, self._latest)
        self._ticked = now()
        self._touched = now() - _TYPING
        self._is_drawn = False
        self.left = qt.QLabel()  # says how long
        scale(self.left, SMALL)
        text = mnemonics.mark(tr("More time"))
        self.more = small(text, flat=False)  # hidden where no more is to be had
        self.more.clicked.connect(self.begin_anew)
        row = qt.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        add_all(row, self.left, self.more, None)
        self._timer = qt.QTimer(self)
        self._timer.timeout.connect(self.tick)
        self._timer.start(_TICK)
        self.tick()

    @qt.Slot()
    def touch(self) -> None:
        """Stand still for a moment: the person is at it."""
        self._touched = self._now()

    @qt.Slot()
    def begin_anew(self) -> None:
        """Give the person the whole time again, as far as there is any."""
        self._ends = min(self._now() + self._soon, self._latest)
        self.tick()

    @qt.Slot()
    def tick(self) -> None:
        """Show what is left, or say that it is over."""
        now = self._now()
        if not self._is_drawn or now - self._touched < _TYPING:
            self._ends = min(self._ends + now - self._ticked, self._latest)
        self._ticked = now
        left = max(0, round(self._ends - now))
        self.left.setText(tr("Closes in {time}", time=f"{left // 60}:{left % 60:02}"))
        self.more.setVisible(self._ends < self._latest)
        if now >= self._ends and self._timer.isActive():
            self._timer.stop()
            self.expired.emit()

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        """Begin to count once it can be seen: a slow host may need its time until then."""
        super().paintEvent(event)
        self._is_drawn = True


class WrappedBox(qt.QWidget):
    """A box to tick beside its caption, which wraps: that of a QCheckBox would not."""

    def __init__(self, caption: str, explanation: str) -> None:
        super().__init__()
        self.box = qt.QCheckBox()
        self.box.setAccessibleName(caption)
        self.box.setAccessibleDescription(explanation)
        self.setToolTip(tool_tip(explanation))
        row = qt.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.box, 0, qt.Qt.AlignmentFlag.AlignTop)
        row.addWidget(label(caption), 1)

    def mousePressEvent(self, event: qt.QMouseEvent) -> None:
        """Take a press on the caption, so that its release comes here too."""
        event.accept()

    def mouseReleaseEvent(self, event: qt.QMouseEvent) -> None:
        """Tick the box, or not, as a click on the caption of any other one does."""
        is_left = event.button() == qt.Qt.MouseButton.LeftButton
        if is_left and self.rect().contains(event.pos()):
            self.box.click()


class Further(qt.QWidget):
    """What else may be done with a question, below the countdown."""

    handed_over = qt.Signal()  # the person would rather answer in the client
    muted = qt.Signal()  # they decline, and want to hear no more of this client for a while

    def __init__(self, offers: OffersView, mnemonics: Mnemonics, countdown: qt.QWidget) -> None:
        super().__init__()
        self.remember: qt.QCheckBox | None = None  # agrees in advance; None: not offered
        self.hand_over: Button | None = None  # answers elsewhere; None where that is not offered
        self.mute: Button | None = None  # mutes the client; None where nobody is to be muted
        column = plain_column(self)
        if offers.remember:
            in_advance = WrappedBox(offers.remember, offers.remembers)
            self.remember = in_advance.box
            column.addWidget(in_advance)
        if offers.hand_over:
            self.hand_over = small(mnemonics.mark(offers.hand_over))
            self.hand_over.clicked.connect(self.handed_over)
        if offers.mute:
            self.mute = small(unmarked(offers.mute))
            self.mute.setToolTip(tool_tip(offers.muting))
            self.mute.setAccessibleDescription(offers.muting)
            self.mute.clicked.connect(self.muted)
        row = qt.QHBoxLayout()
        row.addWidget(countdown, 1)
        add_all(row, *(it for it in (self.hand_over, self.mute) if it is not None))
        column.addLayout(row)
