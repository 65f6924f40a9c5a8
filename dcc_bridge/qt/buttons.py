"""The bottom of a question's dialog. Main thread.

`Exits` has the buttons that answer, `Countdown` the time that is left, and `OffersBar` the offers
besides an answer, such as muting the client.
"""

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

ARM_DELAY_MS: Final = 250
"""The time after a button appeared in which it refuses clicks, if a click may lose something."""
ENTER: Final = (qt.Qt.Key.Key_Return, qt.Qt.Key.Key_Enter)
_TICK_MS: Final = 250
_TOUCH_PAUSE_S: Final = 5.0
"""The time for which the countdown stands still after the person has read or typed something."""


class Button(qt.QPushButton):
    """A button that leaves the key Enter to its dialog, on every desktop."""

    def __init__(self, text: str) -> None:
        super().__init__(text, autoDefault=False)

    def keyPressEvent(self, event: qt.QKeyEvent) -> None:
        """Pass Enter on to the dialog."""
        if event.key() in ENTER:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        """Frame a button with the focus, which a style does not do for a flat button."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = qt.QPainter(self)
            painter.setPen(self.palette().color(qt.QPalette.ColorRole.WindowText))
            painter.drawRect(self.rect().adjusted(1, 1, -2, -2))
            painter.end()


def small(caption: str, *, flat: bool = True) -> Button:
    """Make a small button, for actions of less weight than the answers."""
    button = Button(caption)
    button.setFlat(flat)
    scale(button, SMALL)
    return button


class Exits(qt.QWidget):
    """The buttons that answer a question: decline, cancel and agree.

    Attributes:
        verb: The button that agrees, which says what will be done.
        cancel: The button that gives no answer.
        decline: The button that says no, with the reason that stands in `reason`.
        with_reason: The button that shows `reason`.
        reason: The line for a reason; hidden until the person asks for it.
    """

    def __init__(self, verb: str, *above: qt.QWidget, consent: bool, mnemonics: Mnemonics) -> None:
        """Draw the buttons.

        Args:
            verb: The text of the button that agrees.
            *above: The widgets that stand above the buttons.
            consent: Whether something may be lost. Then Cancel is the default, and the button that
                agrees stands out, has no mnemonic, and cannot be clicked for `ARM_DELAY_MS` after
                it appeared.
            mnemonics: Assigns the letters of the buttons.
        """
        super().__init__()
        self._consent = consent
        self._is_armed = not consent
        self._is_held = False
        self.cancel = Button(mnemonics.mark(tr("Cancel")))
        self.cancel.setToolTip(tr("Close without an answer. Nothing is changed."))
        self.decline = Button(mnemonics.mark(tr("Decline")))
        self.decline.setToolTip(tr("Decline. The agent is told that you do not want this."))
        self.with_reason = small(unmarked(tr("with a reason…")))
        self.with_reason.setToolTip(tr("Decline and tell the agent why."))
        self.with_reason.clicked.connect(self._ask_reason)
        hint = tr("Why not? The agent sees your reason. Enter declines.")
        self.reason = qt.QLineEdit(maxLength=MAX_REASON_CHARS, placeholderText=hint)
        self.reason.setAccessibleName(tr("Why you decline"))
        self.reason.hide()
        if consent:
            self.verb = Button(unmarked(verb))
            self.cancel.setDefault(True)
            self._make_verb_stand_out()
        else:
            self.verb = Button(mnemonics.mark(verb))
            self.verb.setDefault(True)
        self._arming = qt.QTimer(self, singleShot=True)
        self._arming.timeout.connect(self._arm)
        row = qt.QHBoxLayout()
        add_all(qt.QVBoxLayout(self), *above, self.reason, row)
        add_all(row, self.decline, self.with_reason, None, self.cancel, self.verb)

    def showEvent(self, event: qt.QShowEvent) -> None:
        """Refuse clicks for a moment: they may have been meant for something else."""
        super().showEvent(event)
        if self._consent and not event.spontaneous():
            self._is_armed = False
            self.verb.setEnabled(False)
            self._arming.start(ARM_DELAY_MS)

    @qt.Slot(bool)
    def hold(self, held: bool) -> None:
        """Refuse clicks on the button that agrees, until a call with False."""
        self._is_held = held
        self.verb.setEnabled(self._is_armed and not held)

    def clear(self) -> None:
        """Hide every button and the reason; the widgets above them stay."""
        for part in (self.decline, self.with_reason, self.reason, self.cancel, self.verb):
            part.hide()

    def _make_verb_stand_out(self) -> None:
        scale(self.verb, 1.0, bold=True)
        warning = qt.QStyle.StandardPixmap.SP_MessageBoxWarning
        self.verb.setIcon(self.style().standardIcon(warning))

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
    """A line of text that counts down, with a button that starts the time again.

    The time stands still until the line is painted for the first time, while nobody can see the
    dialog, and for some seconds after each `touch`. It always ends at the latest end.

    Attributes:
        expired: Emitted once the time is up.
        left: The label that says how much time is left.
        more: The button that starts the time again; hidden where no more is to be had.
    """

    expired = qt.Signal()

    def __init__(
        self,
        soon: float,
        latest: float,
        mnemonics: Mnemonics,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin to count down.

        Args:
            soon: Seconds for an answer of a person who sees the dialog and does nothing.
            latest: Seconds after which the time is up, whatever the person does.
            mnemonics: Assigns the letter of the button.
            now: The clock, in seconds.
        """
        super().__init__()
        self._now = now
        self._soon = soon
        self._latest = now() + latest
        self._ends = min(now() + soon, self._latest)
        self._last_tick = now()
        self._last_touch = now() - _TOUCH_PAUSE_S
        self._is_drawn = False
        self.left = qt.QLabel()
        scale(self.left, SMALL)
        text = mnemonics.mark(tr("More time"))
        self.more = small(text, flat=False)
        self.more.clicked.connect(self.begin_anew)
        row = qt.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        add_all(row, self.left, self.more, None)
        self._timer = qt.QTimer(self)
        self._timer.timeout.connect(self.tick)
        self._timer.start(_TICK_MS)
        self.tick()

    @qt.Slot()
    def touch(self) -> None:
        """Stand still for some seconds: the person reads or types."""
        self._last_touch = self._now()

    @qt.Slot()
    def begin_anew(self) -> None:
        """Start the whole time again, but not beyond the latest end."""
        self._ends = min(self._now() + self._soon, self._latest)
        self.tick()

    @qt.Slot()
    def tick(self) -> None:
        """Show the time that is left, and emit `expired` once there is none."""
        now = self._now()
        is_touched = now - self._last_touch < _TOUCH_PAUSE_S
        if is_touched or not self._can_be_seen():
            self._ends = min(self._ends + now - self._last_tick, self._latest)
        self._last_tick = now
        left = max(0, round(self._ends - now))
        self.left.setText(tr("Closes in {time}", time=f"{left // 60}:{left % 60:02}"))
        self.more.setVisible(self._ends < self._latest)
        if now >= self._ends and self._timer.isActive():
            self._timer.stop()
            self.expired.emit()

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        """Let the time run, now that the line can be seen: a slow host may paint late."""
        super().paintEvent(event)
        self._is_drawn = True

    def _can_be_seen(self) -> bool:
        """Return whether a person could see the line, as far as Qt knows."""
        if not self._is_drawn or not self.isVisible():
            return False
        dialog = self.window()
        handle = dialog.windowHandle()
        if dialog.isMinimized() or handle is None or not handle.isExposed():
            return False
        owner = dialog.parentWidget()
        if owner is None:
            return True
        host_window = owner.window()
        return host_window.isVisible() and not host_window.isMinimized()


class WrappedBox(qt.QWidget):
    """A check box with a caption that wraps, unlike the caption of a QCheckBox.

    Attributes:
        box: The check box itself, without a caption.
    """

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
        """Accept a press on the caption, so that Qt sends the release to this widget."""
        event.accept()

    def mouseReleaseEvent(self, event: qt.QMouseEvent) -> None:
        """Tick or untick the box, as a click on the caption of any other check box does."""
        is_left = event.button() == qt.Qt.MouseButton.LeftButton
        if is_left and self.rect().contains(event.pos()):
            self.box.click()


class OffersBar(qt.QWidget):
    """The countdown of a question, and the offers besides an answer.

    Attributes:
        handed_over: Emitted when the person wants to answer in the client.
        muted: Emitted when the person declines, and wants no questions of this client for a while.
        remember: The check box that agrees in advance, or None where that is not offered.
        hand_over: The button that moves the question elsewhere, or None where that is not offered.
        mute: The button that mutes the client, or None where no client can be muted.
    """

    handed_over = qt.Signal()
    muted = qt.Signal()

    def __init__(self, offers: OffersView, mnemonics: Mnemonics, countdown: qt.QWidget) -> None:
        """Draw the offers of a question, beside its countdown."""
        super().__init__()
        self.remember: qt.QCheckBox | None = None
        self.hand_over: Button | None = None
        self.mute: Button | None = None
        column = plain_column(self)
        row = qt.QHBoxLayout()
        row.addWidget(countdown, 1)
        if offers.remember:
            in_advance = WrappedBox(offers.remember, offers.remembers)
            self.remember = in_advance.box
            column.addWidget(in_advance)
        if offers.hand_over:
            self.hand_over = small(mnemonics.mark(offers.hand_over))
            self.hand_over.clicked.connect(self.handed_over)
            row.addWidget(self.hand_over)
        if offers.mute:
            self.mute = small(unmarked(offers.mute))
            self.mute.setToolTip(tool_tip(offers.muting))
            self.mute.setAccessibleDescription(offers.muting)
            self.mute.clicked.connect(self.muted)
            row.addWidget(self.mute)
        column.addLayout(row)
