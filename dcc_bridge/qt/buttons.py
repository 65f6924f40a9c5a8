"""The bottom of a question's dialog. Main thread.

`Exits` has the buttons that answer, `OffersBar` the offers besides an answer, and `Countdown` the
time that is left, which stands in the header.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from dcc_bridge.elicitation.question import MAX_REASON_CHARS
from dcc_bridge.elicitation.text import tool_tip
from dcc_bridge.elicitation.view import OffersView, QuestionView
from dcc_bridge.qt import binding as qt
from dcc_bridge.qt import outlines
from dcc_bridge.qt.labels import (
    SMALL,
    Mnemonics,
    add_all,
    label,
    scale,
    tr,
    unmarked,
)
from dcc_bridge.qt.screen_reader import TextLine, announce

ARM_DELAY_MS: Final = 250
"""The time after a button appeared in which it refuses clicks, if a click may lose something."""
ENTER: Final = (qt.Qt.Key.Key_Return, qt.Qt.Key.Key_Enter)
_ARROW_GAP: Final = 4  # pixels between a button and the arrow that belongs to it
_INFO_MARGIN: Final = 6  # pixels around the circle of a button with the letter i
_PRESSED_PERCENT: Final = 125  # the factor by which a red button is darker while it is pressed
_TICK_MS: Final = 250
_MAX_WARNING_S: Final = 30  # before the time is up
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


class InfoButton(Button):
    """A small button with the letter i in a circle, which shows and hides something."""

    def __init__(self) -> None:
        super().__init__("")
        self.setCheckable(True)
        self.setFlat(True)

    def sizeHint(self) -> qt.QSize:
        """Return the size of the circle, with room for the frame of the focus."""
        side = self.fontMetrics().height() + _INFO_MARGIN
        return qt.QSize(side, side)

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        """Draw the circle, filled while something is shown."""
        ink = self.palette().color(qt.QPalette.ColorRole.Text)
        ground = self.palette().color(qt.QPalette.ColorRole.Base)
        margin = _INFO_MARGIN // 2
        circle = self.rect().adjusted(margin, margin, -margin - 1, -margin - 1)
        painter = qt.QPainter(self)
        painter.setRenderHint(qt.QPainter.RenderHint.Antialiasing)
        painter.setPen(ink)
        if self.isChecked():
            painter.setBrush(ink)
        painter.drawEllipse(circle)
        if self.isChecked():
            painter.setPen(ground)
        painter.drawText(circle, qt.Qt.AlignmentFlag.AlignCenter, "i")
        painter.end()


class ArrowButton(Button):
    """A narrow button with an arrow, which opens a menu."""

    def __init__(self) -> None:
        super().__init__("")
        policy = qt.QSizePolicy.Policy
        self.setSizePolicy(policy.Fixed, policy.Fixed)

    def sizeHint(self) -> qt.QSize:
        """Return the height of a button with a text, and a little more width than the arrow."""
        return qt.QSize(2 * self.fontMetrics().height(), super().sizeHint().height())

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        """Draw the arrow on the button, in the colour of a text."""
        super().paintEvent(event)
        half = max(3, self.fontMetrics().height() // 4)
        middle = self.rect().center()
        corners = [
            middle + qt.QPoint(-half, -half // 2),
            middle + qt.QPoint(half, -half // 2),
            middle + qt.QPoint(0, half - half // 2),
        ]
        painter = qt.QPainter(self)
        painter.setRenderHint(qt.QPainter.RenderHint.Antialiasing)
        painter.setPen(qt.Qt.PenStyle.NoPen)
        painter.setBrush(self.palette().color(qt.QPalette.ColorRole.ButtonText))
        painter.drawPolygon(qt.QPolygon(corners))
        painter.end()


class VerbButton(Button):
    """The button that agrees; red where something is lost.

    Attributes:
        is_losing: Whether the button is red.
    """

    def __init__(self, *, is_losing: bool) -> None:
        super().__init__("")
        self.is_losing = is_losing

    def paintEvent(self, event: qt.QPaintEvent) -> None:
        """Draw a red button by itself: a style may ignore the colours of a palette."""
        if not self.is_losing or not self.isEnabled():
            super().paintEvent(event)
            return
        ground = self.window().palette()  # `draw_outlines` changes the button's own
        colours = outlines.losing_colours(ground)
        fill = colours.fill
        if self.isDown():
            fill = fill.darker(_PRESSED_PERCENT)
        painter = qt.QPainter(self)
        # No line of a pen: at a scale of 1.5 one of the four sides is not drawn.
        painter.fillRect(self.rect(), colours.edge)
        painter.fillRect(self.rect().adjusted(1, 1, -1, -1), fill)
        painter.setPen(colours.ink)
        self._draw_caption(painter)
        if self.hasFocus() or self.underMouse():
            painter.setBrush(qt.Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(2, 2, -3, -3))
        painter.end()

    def _draw_caption(self, painter: qt.QPainter) -> None:
        """Draw the text in the middle, and the icon, if there is one, before the text."""
        middle = qt.Qt.AlignmentFlag.AlignCenter | qt.Qt.TextFlag.TextHideMnemonic
        area = self.rect()
        if not self.icon().isNull():
            side = self.iconSize().width()
            width = self.fontMetrics().size(qt.Qt.TextFlag.TextHideMnemonic, self.text()).width()
            gap = side // 4
            icon = qt.QRect(0, 0, side, side)
            icon.moveCenter(area.center())
            icon.moveLeft(area.center().x() - (width + gap + side) // 2)
            text = qt.QRect(icon.right() + gap, area.top(), width, area.height())
            direction = self.layoutDirection()
            self.icon().paint(painter, qt.QStyle.visualRect(direction, area, icon))
            area = qt.QStyle.visualRect(direction, area, text)
        painter.drawText(area, int(middle), self.text())


def small(caption: str, *, flat: bool = True) -> Button:
    """Make a small button, for actions of less weight than the answers."""
    button = Button(caption)
    button.setFlat(flat)
    scale(button, SMALL)
    return button


class Exits(qt.QWidget):
    """The buttons that answer a question: decline, not now, and agree.

    Attributes:
        muted: Emitted when the person declines, and wants no questions of this client for a while.
        verb: The button that agrees, which says what will be done.
        cancel: The button that gives no answer.
        decline: The button that says no, with the reason that stands in `reason`.
        ways: The button that opens `menu`.
        menu: The other ways to decline.
        with_reason: The entry that shows `reason`.
        mute: The entry that also mutes the client, or None where no client can be muted.
        reason: The line for a reason; hidden until the person asks for it.
    """

    muted = qt.Signal()

    def __init__(self, view: QuestionView, *above: qt.QWidget, mnemonics: Mnemonics) -> None:
        """Draw the buttons.

        Args:
            view: The question's texts. Where it is `guarded`, *Not now* is the default, and the
                button that agrees stands out, has no mnemonic, and cannot be clicked for
                `ARM_DELAY_MS` after it appeared.
            *above: The widgets that stand above the buttons.
            mnemonics: Assigns the letters of the buttons.
        """
        super().__init__()
        self._is_guarded = view.guarded
        self._is_armed = not view.guarded
        self._is_held = False
        self.cancel = Button(mnemonics.mark(tr("Not now")))
        self.cancel.setToolTip(tr("Close without an answer. Nothing is changed."))
        self.decline = Button(mnemonics.mark(tr("Decline")))
        self.decline.setToolTip(tr("Decline. The agent is told that you do not want this."))
        self._build_menu(view.offers)
        hint = tr("Why not? The agent sees your reason. Enter declines.")
        self.reason = TextLine(tr("Why you decline"), hint=hint)
        self.reason.setMaxLength(MAX_REASON_CHARS)
        self.reason.hide()
        self.verb = VerbButton(is_losing=view.loses)
        self.verb.setAccessibleDescription(view.undo)
        if view.guarded:
            self.verb.setText(unmarked(view.verb))
            scale(self.verb, 1.0, bold=True)
            self.cancel.setDefault(True)
        else:
            self.verb.setText(mnemonics.mark(view.verb))
            self.verb.setDefault(True)
        if view.warns:
            self.warn()
        self._arming = qt.QTimer(self, singleShot=True)
        self._arming.timeout.connect(self._arm)
        self._lay_out(above)

    def _build_menu(self, offers: OffersView) -> None:
        """Make the entries of the menu, and the button that opens it."""
        self.menu = qt.QMenu(self)
        self.menu.setToolTipsVisible(True)
        self.with_reason = self.menu.addAction(tr("Decline and say why…"))
        self.with_reason.setToolTip(tr("Decline and tell the agent why."))
        self.with_reason.triggered.connect(self._ask_reason)
        self.mute: qt.QAction | None = None
        if offers.mute:
            self.mute = self.menu.addAction(unmarked(offers.mute))
            self.mute.setToolTip(tool_tip(offers.muting))
            self.mute.triggered.connect(self.muted)
        self.ways = ArrowButton()
        self.ways.setAccessibleName(tr("Other ways to decline"))
        self.ways.setToolTip(tr("Decline and say why, or mute the client."))
        self.ways.clicked.connect(self._open_menu)

    def _lay_out(self, above: Sequence[qt.QWidget]) -> None:
        declining = qt.QHBoxLayout()
        declining.setSpacing(_ARROW_GAP)
        add_all(declining, self.decline, self.ways)
        row = qt.QHBoxLayout()
        add_all(row, declining, None, self.cancel, self.verb)
        add_all(qt.QVBoxLayout(self), *above, self.reason, row)

    def showEvent(self, event: qt.QShowEvent) -> None:
        """Refuse clicks for a moment: they may have been meant for something else."""
        super().showEvent(event)
        if self._is_guarded and not event.spontaneous():
            self._is_armed = False
            self.verb.setEnabled(False)
            self._arming.start(ARM_DELAY_MS)

    def hideEvent(self, event: qt.QHideEvent) -> None:
        """Close the menu with the question."""
        super().hideEvent(event)
        # A host that quits may delete the menu before the dialog: to Qt the menu is a window too.
        if not event.spontaneous() and qt.isValid(self.menu):
            self.menu.close()

    @qt.Slot(bool)
    def hold(self, held: bool) -> None:
        """Refuse clicks on the button that agrees, until a call with False."""
        self._is_held = held
        self.verb.setEnabled(self._is_armed and not held)

    def warn(self) -> None:
        """Draw the warning sign on the button that agrees."""
        warning = qt.QStyle.StandardPixmap.SP_MessageBoxWarning
        self.verb.setIcon(self.style().standardIcon(warning))

    def show_reason(self, text: str) -> None:
        """Show the line for a reason, with a text that was typed before."""
        self.with_reason.setVisible(False)
        self.ways.setVisible(self.mute is not None)  # else the menu would be empty
        self.reason.setText(text)
        self.reason.show()

    def clear(self) -> None:
        """Hide every button and the reason; the widgets above them stay."""
        for part in (self.decline, self.ways, self.reason, self.cancel, self.verb):
            part.hide()

    @qt.Slot()
    def _open_menu(self) -> None:
        """Open the menu above the button, and go on: nothing waits for its end."""
        corner = self.ways.mapToGlobal(qt.QPoint())
        self.menu.popup(corner - qt.QPoint(0, self.menu.sizeHint().height()))

    @qt.Slot()
    def _ask_reason(self) -> None:
        self.show_reason("")
        self.reason.setFocus()

    @qt.Slot()
    def _arm(self) -> None:
        self._is_armed = True
        self.verb.setEnabled(not self._is_held)


class Countdown(qt.QWidget):
    """A line of text that counts down, with a button that starts the time again.

    The time stands still until the line is painted for the first time, while nobody can see the
    dialog, and for some seconds after each `touch`. It always ends at the latest end. In the last
    half minute, or the second half of a time shorter than a minute, a sentence warns of the end,
    and a screen reader says so once.

    Attributes:
        expired: Emitted once the time is up.
        warning: The sentence that warns of the end; hidden before.
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
        self._warning_s = min(_MAX_WARNING_S, min(soon, latest) / 2)
        self._last_tick = now()
        self._last_touch = now() - _TOUCH_PAUSE_S
        self._is_drawn = False
        self.warning = qt.QLabel(tr("Time is nearly up."))
        scale(self.warning, SMALL, bold=True)
        self.warning.hide()
        self.left = qt.QLabel()
        scale(self.left, SMALL)
        text = mnemonics.mark(tr("More time"))
        self.more = small(text, flat=False)
        self.more.clicked.connect(self.begin_anew)
        row = qt.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        add_all(row, self.warning, self.left, self.more, None)
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
        self._warn(left)
        if now >= self._ends and self._timer.isActive():
            self._timer.stop()
            self.expired.emit()

    def _warn(self, left: int) -> None:
        """Show the warning in the last part of the time; as it appears, a screen reader says it."""
        is_near = self._is_drawn and left <= self._warning_s
        appears = is_near and self.warning.isHidden()
        self.warning.setVisible(is_near)
        if appears:
            text = tr("This question closes in {seconds} seconds.", seconds=left)
            announce(self.warning, text, is_urgent=True)

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
    """The offers besides an answer.

    Attributes:
        handed_over: Emitted when the person wants to answer in the client.
        remember: The check box that agrees in advance, or None where that is not offered.
        hand_over: The button that moves the question elsewhere, or None where that is not offered.
    """

    handed_over = qt.Signal()

    def __init__(self, offers: OffersView, mnemonics: Mnemonics) -> None:
        """Draw the offers of a question."""
        super().__init__()
        self.remember: qt.QCheckBox | None = None
        self.hand_over: Button | None = None
        row = qt.QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        if offers.remember:
            in_advance = WrappedBox(offers.remember, offers.remembers)
            self.remember = in_advance.box
            row.addWidget(in_advance, 1)
        if offers.hand_over:
            self.hand_over = small(mnemonics.mark(offers.hand_over))
            self.hand_over.clicked.connect(self.handed_over)
            row.addWidget(self.hand_over)
        if not offers.remember:
            row.addStretch(1)
        self.setVisible(bool(offers.remember or offers.hand_over))
